"""A directory of Silos as a site: what its handlers use."""

import os
from dataclasses import dataclass

from silofleet.search.everywhere import Everywhere
from silofleet.wishes import wishes_path
from siloprovider.providing import StandingProvider
from webui.fleet_lines import FleetLines
from webui.navigation import FLEET_MENU, Menu
from webui.open_silos import OpenSilos
from webui.people.authentication import Gate
from webui.route import Scope
from webui.silo_lines import SiloLines
from webui.site import AnyCall, AnySite, Described, SiteSettings


@dataclass(frozen=True, slots=True)
class Directory(AnySite):
    """A directory of Silos and the settings of its page.

    Attributes:
        silos: Those that are open.
        lines: What the list says of each.
        everywhere: The search over all of them.
        fleet: Their harvests; None if the directory is no fleet.
        provider: Their records, for harvesters.
    """

    silos: OpenSilos
    lines: SiloLines
    everywhere: Everywhere
    fleet: FleetLines | None
    provider: StandingProvider

    @classmethod
    def of(
        cls,
        silos: OpenSilos,
        settings: SiteSettings,
        described: Described,
        gate: Gate | None = None,
    ) -> "Directory":
        """Make the site of a directory.

        Args:
            gate: Who may see the list; by default everybody on this machine.
        """
        granary, path = silos.granary, silos.granary.dir_of_silos
        fleet = FleetLines(path) if os.path.isfile(wishes_path(path)) else None
        scopes = frozenset({Scope.DIRECTORY} if fleet is None else {Scope.DIRECTORY, Scope.FLEET})
        gate = gate or Gate.of(os.path.abspath(path), settings.agent, sign_in=False)
        own = (silos, SiloLines(granary), Everywhere(granary), fleet, StandingProvider(granary))
        return cls(path, scopes, settings, gate, described, *own)

    @property
    def navigation(self) -> tuple[Menu, ...]:
        """The menu of a fleet; a directory that is none has only its list."""
        return FLEET_MENU if self.fleet is not None else ()

    def close(self) -> None:
        """Close the Silos that were opened, and the files of the fleet."""
        self.silos.close()
        self.provider.close()
        if self.fleet is not None:
            self.fleet.close()

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
