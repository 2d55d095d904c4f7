"""What a search filters, counts and sorts by: the store's own facets, and those of packages.

An entry point of the group ``recordsilo.facets`` names a `Facet`. One with a dot
(``finding.links``) adds values to the facet before the dot.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from recordsilo.contributions import ContributionBroken, contribution, contributions, points
from recordsilo.errors import SearchError
from recordsilo.formats.quality import CODES
from recordsilo.records.manifest import STATES

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "recordsilo.facets"
ValuesOf: TypeAlias = Callable[[str, Sequence[str]], Mapping[str, Sequence[str]]]
"""The Silo's directory, identifiers → the values of those that have any."""


class Kept(Enum):
    """Where the index has the values of a facet."""

    SMALL = "small"
    """In the record's row, loaded by the first search."""
    LARGE = "large"
    """In the record's row, loaded when they are asked for."""
    FLAG = "flag"
    """In the record's row: true or false."""
    BESIDE = "beside"
    """In a table of their own, read from the package that contributes them."""


def _none(_path: str, _identifiers: Sequence[str]) -> Mapping[str, Sequence[str]]:
    return {}


@dataclass(frozen=True, slots=True)
class Facet:
    """A field of the search.

    Attributes:
        name: As in ``--filter NAME=VALUE``; the entry point's name.
        title: What it is called, in English.
        values: The values of many records at once: what the package keeps beside the
            records, or what `record_reading.described` reads from them. Called with up to `CHUNK`
            identifiers: of all records when `stamp` changed, else of changed ones.
        stamp: The Silo's directory → a text that changes whenever the values may have
            changed other than by a change of their record; ``""``: no record has any.
        labels: Value → what it says, in English. Where there are any, a filter by
            another value is refused.
        is_facet: Its values are counted beside what a search finds.
        is_order: Its values are numbers, by which a search may be sorted (``NAME``: least
            first, ``-NAME``: greatest first, records without a number last).
        is_column: It is a column of tables.
        kept: `Kept.BESIDE` for all that is contributed.
    """

    name: str
    title: str
    values: ValuesOf = _none
    stamp: Callable[[str], str] = lambda _path: ""
    labels: Mapping[str, str] = field(default_factory=dict)
    is_facet: bool = True
    is_order: bool = False
    is_column: bool = False
    kept: Kept = Kept.BESIDE


OWN = (
    Facet("set", "Set", kept=Kept.SMALL),
    Facet("year", "Year", kept=Kept.SMALL),
    Facet("type", "Type", kept=Kept.SMALL),
    Facet("language", "Language", kept=Kept.SMALL),
    Facet("publisher", "Publisher", kept=Kept.SMALL),
    Facet("format", "Metadata format", kept=Kept.SMALL),
    Facet("state", "Status", labels={state: state for state in STATES}, kept=Kept.SMALL),
    Facet("finding", "Quality", labels=CODES, kept=Kept.SMALL),
    Facet("deleted", "Deleted at the source", kept=Kept.FLAG),
    Facet("curated", "Curated", kept=Kept.FLAG),
    Facet("upstream_newer", "Newer at the source", kept=Kept.FLAG),
    Facet("has_file", "Has a file", kept=Kept.FLAG),
    Facet("subject", "Subject", kept=Kept.LARGE),
    Facet("creator", "Creator", kept=Kept.LARGE),
)
"""The store's own, whose values the index has in the records' rows."""
_OWN = {facet.name: facet for facet in OWN}
CHUNK = 10_000
"""Identifiers of one call of `Facet.values`."""


def contributed_names() -> tuple[str, ...]:
    """The names of contributed facets, sorted; none is loaded."""
    return tuple(name for name in points(GROUP) if "." not in name and name not in _OWN)


def facet_names() -> tuple[str, ...]:
    """The names of all facets, the store's own first; none is loaded."""
    return (*_OWN, *contributed_names())


def values_of(facet: Facet, path: str, identifiers: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """The values of some records, as the package that contributes the facet has them now.

    Args:
        facet: Contributed by a package.
        path: The Silo's directory.
        identifiers: At most `CHUNK`.

    Raises:
        SearchError: The package fails.
    """
    try:
        return facet.values(path, identifiers)
    except Exception as error:
        raise SearchError(str(ContributionBroken(_point(facet), error))) from error


def stamp_of(facet: Facet, path: str) -> str:
    """The stamp of a facet's values now.

    Raises:
        SearchError: The package fails.
    """
    try:
        return facet.stamp(path)
    except Exception as error:
        raise SearchError(str(ContributionBroken(_point(facet), error))) from error


def _point(facet: Facet) -> "EntryPoint":
    """The entry point that contributes a facet."""
    return points(GROUP)[facet.name]


def facet_named(name: str) -> Facet:
    """A facet by one of `facet_names`.

    Raises:
        SearchError: The package that contributes it is broken.
    """
    try:
        return _OWN.get(name) or contribution(GROUP, name, Facet)
    except ContributionBroken as error:
        raise SearchError(str(error)) from error


def contributed_facets() -> Iterator[Facet]:
    """The contributed facets that can be loaded; a broken one is logged once."""
    return (one for one in contributions(GROUP, Facet) if one.name in contributed_names())


def additions_to(name: str) -> Iterator[Facet]:
    """What packages add to the values of a facet; a broken one is logged once."""
    if any(one.startswith(f"{name}.") for one in points(GROUP)):
        yield from (one for one in contributions(GROUP, Facet) if one.name.startswith(f"{name}."))


def labels_of(name: str) -> Mapping[str, str]:
    """The values that a facet may have with what they say; empty where any text is one."""
    known: dict[str, str] = {}
    for facet in (facet_named(name), *additions_to(name)):
        known |= facet.labels
    return known
