"""Harvest into a Silo, and update it, in one line: `recordsilo.harvest` and `Silo.update`.

The store knows no network. Who can harvest contributes a `Harvester` by the entry-point group
``recordsilo.harvesters``.
"""

import os
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from recordsilo.contributions import contribution, points
from recordsilo.errors import ArgumentUnknown, NoHarvester

GROUP = "recordsilo.harvesters"
PROTOCOL = "oai-pmh"
"""The name of the harvester that `harvest` uses."""


class HarvestReceipt(Protocol):
    """What a harvest brought; `oaipmhscraper.Receipt` is one."""

    @property
    def whole(self) -> bool:
        """Whether the Silo now has everything promised."""

    @property
    def losses(self) -> list[str]:
        """What is missing, as sentences; empty if it is whole."""

    def text(self) -> str:
        """The receipt as people read it."""

    def to_json(self) -> dict[str, Any]:
        """The receipt as JSON values."""


Harvest: TypeAlias = Callable[..., HarvestReceipt]


@dataclass(frozen=True, slots=True)
class Harvester:
    """Harvests repositories of one protocol into Silos.

    Attributes:
        name: The entry point's name.
        harvest: Takes what `harvest` does.
        update: Takes a Silo's directory, and what `Silo.update` does.
        foreseen: The errors whose message is a whole sentence; they are raised again without
            the frames below.
        harvest_options, update_options: The names of the options that each takes, besides the
            arguments of `harvest` and `Silo.update` here; None if they are not checked.
    """

    name: str
    harvest: Harvest
    update: Harvest
    foreseen: tuple[type[Exception], ...]
    harvest_options: frozenset[str] | None = None
    update_options: frozenset[str] | None = None


def harvest(
    url: str,
    directory: str | os.PathLike[str],
    metadata_prefixes: str | Sequence[str] = "oai_dc",
    *,
    set_spec: str | None = None,
    quiet: bool = False,
    **options: Any,
) -> HarvestReceipt:
    """Harvest a repository into the Silo in a directory, which is made if it does not exist.

        >>> receipt = recordsilo.harvest("https://eprints.example.org/cgi/oai2", "myrepo")

    The same call resumes a harvest that was stopped. If the repository refuses the request, a
    new directory is removed again.

    Args:
        url: Its OAI-PMH base URL.
        directory: A Silo of that repository, or a place for a new one.
        metadata_prefixes: The formats, or ``"all"``.
        set_spec: Only members of this set.
        quiet: Show no progress; it is shown in a terminal and in a notebook.
        options: ``from_``, ``until`` and others of `oaipmhscraper.OAIPMHScraper.harvest`.

    Returns:
        An `oaipmhscraper.Receipt`. Check its ``whole``.

    Raises:
        NoHarvester: The package that harvests is not installed.
        ArgumentUnknown: There is no such option; nothing was made.
        RequestRefused, HarvestStopped: See `oaipmhscraper.OAIPMHScraper.harvest`.
    """
    harvester = _harvester()
    own = {"metadata_prefixes", "set_spec", "quiet"}
    _check_options("harvest", options, harvester.harvest_options, own)
    try:
        return harvester.harvest(
            url,
            os.fspath(directory),
            metadata_prefixes,
            set_spec=set_spec,
            quiet=quiet,
            **options,
        )
    except harvester.foreseen as error:
        raise error.with_traceback(None) from None


def update(directory: str, *, quiet: bool = False, **options: Any) -> HarvestReceipt:
    """Harvest what has changed since the last harvests of a Silo; see `Silo.update`.

    Args:
        directory, quiet, options: See `harvest`.
    """
    harvester = _harvester()
    _check_options("update", options, harvester.update_options, {"quiet"})
    try:
        return harvester.update(directory, quiet=quiet, **options)
    except harvester.foreseen as error:
        raise error.with_traceback(None) from None


def _check_options(
    function: str, given: Iterable[str], known: Set[str] | None, own: Set[str]
) -> None:
    for name in given:
        if known is not None and name not in known:
            raise ArgumentUnknown(function, name, known | own)


def _harvester() -> Harvester:
    if PROTOCOL not in points(GROUP):
        raise NoHarvester
    return contribution(GROUP, PROTOCOL, Harvester)
