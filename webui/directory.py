"""A directory of Silos as a site: what its handlers use."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recordsilo import Granary
from silofleet.search.everywhere import Everywhere
from silofleet.wishes import wishes_path
from webui.fleet_lines import FleetLines
from webui.navigation import Menu
from webui.open_silos import OpenSilos
from webui.people.authentication import Gate
from webui.route import Scope
from webui.silo_lines import SiloLines
from webui.site import AnyCall, Settings


@dataclass(frozen=True, slots=True)
class Directory:
    """A directory of Silos and the settings of its page.

    Attributes:
        silos: Those that are open.
        lines: What the list says of each.
        everywhere: The search over all of them.
        fleet: Their harvests; None if the directory is no fleet.
    """

    granary: Granary
    settings: Settings
    gate: Gate
    silos: OpenSilos
    lines: SiloLines
    everywhere: Everywhere
    fleet: FleetLines | None
    described: Callable[[frozenset[Scope]], Mapping[str, Any]]

    @classmethod
    def of(
        cls,
        silos: OpenSilos,
        settings: Settings,
        described: Callable[[frozenset[Scope]], Mapping[str, Any]],
        gate: Gate | None = None,
    ) -> "Directory":
        """Make the site of a directory.

        Args:
            described: See `Site.of`.
            gate: Who may see the list; by default everybody on this machine.
        """
        granary = silos.granary
        path = granary.dir_of_silos
        fleet = FleetLines(path) if os.path.isfile(wishes_path(path)) else None
        gate = gate or Gate.of(os.path.abspath(path), settings.agent, sign_in=False)
        lines, everywhere = SiloLines(granary), Everywhere(granary)
        return cls(granary, settings, gate, silos, lines, everywhere, fleet, described)

    def close(self) -> None:
        """Close the Silos that were opened, and the files of the fleet."""
        self.silos.close()
        if self.fleet is not None:
            self.fleet.close()

    @property
    def scopes(self) -> frozenset[Scope]:
        """The lines of the route table that it answers."""
        return frozenset({Scope.DIRECTORY} | ({Scope.FLEET} if self.fleet is not None else set()))

    @property
    def path(self) -> str:
        """The directory as it was named."""
        return self.granary.dir_of_silos

    @property
    def name(self) -> str:
        """The directory's own name."""
        return self.path.rstrip("/").rpartition("/")[2] or "Silos"

    @property
    def navigation(self) -> tuple[Menu, ...]:
        """No menu: the list leads to everything."""
        return ()

    @property
    def spool_dir(self) -> str:
        """The directory for uploads in progress."""
        return os.path.join(self.path, ".silo", "uploads")

    def openapi(self) -> Mapping[str, Any]:
        """The OpenAPI document of its addresses."""
        return self.described(self.scopes)

    @property
    def call(self) -> "type[DirectoryCall]":
        """What its handlers get."""
        return DirectoryCall


@dataclass(frozen=True, slots=True)
class DirectoryCall(AnyCall):
    """One request about a directory of Silos, for a handler."""

    site: Directory

    @property
    def fleet(self) -> FleetLines:
        """The fleet; only addresses of fleets may ask for it."""
        assert self.site.fleet is not None, self.site.path
        return self.site.fleet
