"""The fields that a search filters, counts and sorts by: the store's own and contributed ones.

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
from recordsilo.index.query_syntax import WORD_ALIASES
from recordsilo.records.manifest import STATES

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "recordsilo.facets"
ValuesOf: TypeAlias = Callable[[str, Sequence[str]], Mapping[str, Sequence[str]]]
"""(Silo's directory, identifiers) → the values of the records that have any."""


class Kept(Enum):
    """Where the index has the values of a facet."""

    SMALL = "small"
    """In the record's row, loaded by the first search."""
    LARGE = "large"
    """In the record's row, loaded when they are needed."""
    FLAG = "flag"
    """In the record's row, as true or false."""
    BESIDE = "beside"
    """In a separate table, read from the package that contributes them."""
    ASKED = "asked"
    """In a column of the rows, which filters ask (`recordsilo.index.asked`); never counted."""


def _none(_path: str, _identifiers: Sequence[str]) -> Mapping[str, Sequence[str]]:
    return {}


@dataclass(frozen=True, slots=True)
class Facet:
    """A field of the search.

    Attributes:
        name: As in ``--filter NAME=VALUE``; the entry point's name.
        title: Its label, in English.
        values: Returns the values of many records at once: what the package stores beside the
            records, or what `record_reading.described` reads from them. Called with up to `CHUNK`
            identifiers: those of all records if `stamp` changed, else of changed records.
        stamp: The Silo's directory → a text that changes whenever values may have changed
            without a change of their record; ``""`` if no record has any.
        labels: Value → its label, in English. If there are any, a filter by another value
            is refused.
        is_facet: Whether its values are counted in the records that a search finds.
        is_order: Whether its values are numbers, by which a search can be sorted (``NAME``:
            least first, ``-NAME``: greatest first; records without a number come last).
        is_number: Whether its values are numbers, so that a filter may be a range:
            ``2010..2016``.
        is_column: Whether it is a column of tables.
        kept: Where the index has the values; `Kept.BESIDE` for contributed facets.
    """

    name: str
    title: str
    values: ValuesOf = _none
    stamp: Callable[[str], str] = lambda _path: ""
    labels: Mapping[str, str] = field(default_factory=dict)
    is_facet: bool = True
    is_order: bool = False
    is_number: bool = False
    is_column: bool = False
    kept: Kept = Kept.BESIDE


OWN = (
    Facet("set", "Set", kept=Kept.SMALL),
    Facet("year", "Year", is_number=True, kept=Kept.SMALL),
    Facet("type", "Type", kept=Kept.SMALL),
    Facet("language", "Language", kept=Kept.SMALL),
    Facet("publisher", "Publisher", kept=Kept.SMALL),
    Facet("format", "Metadata format", kept=Kept.SMALL),
    Facet("state", "Status", labels={state: state for state in STATES}, kept=Kept.SMALL),
    Facet("finding", "Quality", labels=CODES, kept=Kept.SMALL),
    Facet("agent", "Changed here by", kept=Kept.SMALL),
    Facet("deleted", "Deleted at the source", kept=Kept.FLAG),
    Facet("curated", "Curated", kept=Kept.FLAG),
    Facet("upstream_newer", "Newer at the source", kept=Kept.FLAG),
    Facet("has_file", "Has a file", kept=Kept.FLAG),
    Facet("has_doi", "Has a DOI", kept=Kept.FLAG),
    Facet("subject", "Subject", kept=Kept.LARGE),
    Facet("creator", "Creator", kept=Kept.LARGE),
    Facet("changed", "Changed here", is_facet=False, kept=Kept.ASKED),
    Facet("title", "Title", is_facet=False, kept=Kept.ASKED),
)
"""The store's own facets, whose values are in the records' rows."""
_OWN = {facet.name: facet for facet in OWN}
ALIASES: Mapping[str, str] = {
    **WORD_ALIASES,
    "lang": "language",
    "date": "year",
    "published": "year",
    "genre": "type",
    "kind": "type",
    "collection": "set",
    "status": "state",
    "quality": "finding",
}
"""What people call a facet → its name."""
CHUNK = 10_000
"""The largest number of identifiers in a call of `Facet.values`."""


def contributed_names() -> tuple[str, ...]:
    """The names of contributed facets, sorted; loads none of them."""
    return tuple(name for name in points(GROUP) if "." not in name and name not in _OWN)


def facet_names() -> tuple[str, ...]:
    """The names of all facets, the store's own first; loads none of them."""
    return (*_OWN, *contributed_names())


def facet_called(key: str) -> str:
    """The name of a facet, of a filter: ``creator`` of ``author``, ``type!`` of ``genre!``.

    A name that no facet has is returned unchanged. Contributed facets come before `ALIASES`.
    """
    name = key.removesuffix("!")
    if name not in ALIASES or name in contributed_names():
        return key
    return ALIASES[name] + key[len(name) :]


def countable_names() -> tuple[str, ...]:
    """The facets whose values can be counted; loads none of them."""
    return tuple(
        name for name in facet_names() if name not in _OWN or _OWN[name].kept is not Kept.ASKED
    )


def values_of(facet: Facet, path: str, identifiers: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """The current values of records, from the package that contributes the facet.

    Args:
        facet: Contributed by a package.
        path: The Silo's directory.
        identifiers: Those of at most `CHUNK` records.

    Raises:
        SearchError: The package fails.
    """
    try:
        return facet.values(path, identifiers)
    except Exception as error:
        raise SearchError(str(ContributionBroken(_point(facet), error))) from error


def stamp_of(facet: Facet, path: str) -> str:
    """The current stamp of a facet's values.

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
    """The facet of a name in `facet_names`.

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


def contributed_orders() -> Mapping[str, str]:
    """The numeric orders that packages contribute (``-NAME``: greatest first) → their titles."""
    found = [one for one in contributed_facets() if one.is_order]
    return {f"{sign}{one.name}": one.title for one in found for sign in ("-", "")}


def additions_to(name: str) -> Iterator[Facet]:
    """The contributions that add values to a facet; a broken one is logged once."""
    if any(one.startswith(f"{name}.") for one in points(GROUP)):
        yield from (one for one in contributions(GROUP, Facet) if one.name.startswith(f"{name}."))


def labels_of(name: str) -> Mapping[str, str]:
    """Value → label of a facet with a fixed set of values; empty if it may have any text."""
    known: dict[str, str] = {}
    for facet in (facet_named(name), *additions_to(name)):
        known |= facet.labels
    return known
