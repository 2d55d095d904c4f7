"""What packages contribute by entry points: found by name, loaded only when used.

A contribution that cannot be loaded is reported in one sentence and does not stop the others.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from recordsilo.distribution import NAME
from recordsilo.errors import RecordSiloError

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

logger = logging.getLogger("RecordSilo")
OURS = NAME
"""The distribution whose contributions win over others of the same name."""
_told: set[str] = set()


class Named(Protocol):
    """A value that a package contributes; its entry point has the same name."""

    @property
    def name(self) -> str:
        """The name of its entry point."""


N = TypeVar("N", bound=Named)


class ContributionBroken(RecordSiloError):
    """A contribution of a package cannot be loaded, or failed."""

    def __init__(self, point: "EntryPoint", reason: object) -> None:
        self.group, self.name = point.group, point.name
        said = f"{type(reason).__name__}: {reason}" if isinstance(reason, Exception) else reason
        package = point.dist.name if point.dist else point.value
        super().__init__(f"{point.name!r} of the package {package} ({point.group}) failed: {said}")


def entry_points(*, group: str) -> "Iterable[EntryPoint]":
    """The installed entry points of a group."""
    found: Iterable[EntryPoint] = _installed().select(group=group)
    return found


@cache
def _installed() -> Any:
    """Those of all groups, read once: for one group, too, all packages are looked at (10 ms)."""
    from importlib.metadata import entry_points  # slow to import

    return entry_points()


@cache
def points(group: str) -> Mapping[str, "EntryPoint"]:
    """The entry points of a group by name, sorted; nothing is loaded.

    If several have the same name, ours wins, or else that of the first package by name.
    """
    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=_rank):
        first = found.setdefault(point.name, point)
        if first.value != point.value:
            warn_once(str(ContributionBroken(point, "another package has that name")))
    return found


def _rank(point: "EntryPoint") -> tuple[str, bool, str]:
    package = _name_of(point.dist) if point.dist else ""
    return point.name, package != OURS, package


@cache
def _name_of(package: "Distribution") -> str:
    """Its name; cached, because it is parsed from all metadata of the package each time."""
    return package.name


def load(point: "EntryPoint") -> Any:
    """Load what an entry point refers to.

    Raises:
        ContributionBroken: It cannot be loaded.
    """
    try:
        return point.load()
    except Exception as error:
        raise ContributionBroken(point, error) from error


def contribution(group: str, name: str, kind: type[N]) -> N:
    """The value that a package contributes under one of the names in `points`.

    Args:
        group: The group of entry points.
        name: The name of the entry point and of the value.
        kind: The type that the value must have.

    Raises:
        ContributionBroken: It cannot be loaded, is of another type, or has another name.
    """
    point = points(group)[name]
    found = load(point)
    if not isinstance(found, kind):
        raise ContributionBroken(point, f"{point.value} is not a {kind.__name__}")
    if found.name != name:
        raise ContributionBroken(point, f"{point.value} has the name {found.name!r}")
    return found


def contributions(group: str, kind: type[N]) -> Iterator[N]:
    """All values of a group, sorted by name; broken ones are logged once and omitted."""
    for name in points(group):
        try:
            yield contribution(group, name, kind)
        except ContributionBroken as error:
            warn_once(str(error))


def warn_once(sentence: str) -> None:
    """Log a sentence once per process."""
    if sentence not in _told:
        _told.add(sentence)
        logger.warning("%s", sentence)
