"""A line of a list of records, for people and for programs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recordsilo import Row
from recordsilo.batches import batched
from recordsilo.contributions import warn_once
from recordsilo.errors import SearchError
from recordsilo.formats.quality import UNREADABLE
from recordsilo.index import Described
from recordsilo.index.facets import Facet, contributed_facets, values_of
from webui import urls
from webui.record.view import SetView, sets_of
from webui.site import Site, name_of_set
from webui.words.texts import capital
from webui.words.texts import text as _

CHUNK = 500
"""Number of rows that are looked up at a time."""


@dataclass(frozen=True, slots=True)
class RowView:
    """A line of the list.

    Attributes:
        described: The fields of its description that are in the index.
        contributed: Name → values of the columns that packages contribute, if the record
            has any.
    """

    row: Row
    url: str
    sets: tuple[SetView, ...]
    described: Described
    contributed: Mapping[str, tuple[str, ...]]

    @property
    def unreadable(self) -> bool:
        """Whether the record cannot be read; this line is as it was last read."""
        return UNREADABLE in self.described.values.get("finding", ())

    @property
    def columns(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Title and values of the contributed columns, in words where the facet has them."""
        facets = {facet.name: facet for facet in contributed_columns()}
        return tuple(
            (_(facets[name].title), tuple(_in_words(facets[name], one) for one in values))
            for name, values in self.contributed.items()
        )


def row_views(site: Site, rows: Iterable[Row], query: str = "") -> tuple[RowView, ...]:
    """Return the lines of a list; sets, descriptions and columns are looked up together.

    Args:
        site: The site of the rows' Silo.
        rows: The rows of one page.
        query: The query of the search that found them, which is added to their addresses.
    """
    rows, names = tuple(rows), site.set_names
    found = _looked_up(site, rows)
    return tuple(
        RowView(
            row, urls.record(row.identifier, **{"from": query}), sets_of(names, row.sets), *more
        )
        for row, more in zip(rows, found, strict=True)
    )


def _in_words(facet: Facet, value: str) -> str:
    said = facet.labels.get(value)
    return value if said is None else capital(_(said))


def contributed_columns() -> Iterator[Facet]:
    """The columns that packages contribute."""
    return (facet for facet in contributed_facets() if facet.is_column)


def _looked_up(
    site: Site, rows: Sequence[Row]
) -> list[tuple[Described, Mapping[str, tuple[str, ...]]]]:
    identifiers = [row.identifier for row in rows]
    described = site.silo.described(identifiers)
    columns = _columns(site, identifiers)
    return [
        (
            described.get(one, Described()),
            {name: tuple(values[one]) for name, values in columns.items() if values.get(one)},
        )
        for one in identifiers
    ]


def _columns(site: Site, identifiers: Sequence[str]) -> dict[str, Mapping[str, Sequence[str]]]:
    """Values of contributed columns by name; a broken column is left out."""
    found = {}
    for facet in contributed_columns():
        if identifiers:
            try:
                found[facet.name] = values_of(facet, site.silo.path, identifiers)
            except SearchError as error:
                warn_once(str(error))
    return found


def lines(site: Site, rows: Iterable[Row]) -> Iterator[RowView]:
    """Yield the lines of a list of any length, looked up `CHUNK` at a time."""
    for some in batched(rows, CHUNK):
        yield from row_views(site, some)


def rows_json(site: Site, found: Iterable[RowView]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a list as JSON values, lazily."""
    names = site.set_names
    for line in found:
        row = line.row
        yield {
            **row.as_json(line.described),
            "url": urls.record(row.identifier),
            "sets": [{"spec": spec, "name": name_of_set(names, spec)} for spec in row.sets],
            "columns": {name: list(values) for name, values in line.contributed.items()},
        }
