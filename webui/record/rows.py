"""A line of a list of records, for people and for programs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recordsilo import Row
from recordsilo.contributions import warn_once
from recordsilo.errors import SearchError
from recordsilo.index.facets import contributed_facets, values_of
from webui import urls
from webui.record.view import SetView, sets_of
from webui.site import Site, name_of_set
from webui.words.texts import text as _


@dataclass(frozen=True, slots=True)
class RowView:
    """A line of the list.

    Attributes:
        columns: Title and values of the columns that packages contribute, where the record
            has any.
    """

    row: Row
    url: str
    sets: tuple[SetView, ...]
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()


def row_views(site: Site, rows: Iterable[Row]) -> tuple[RowView, ...]:
    """The lines of a list; names of sets and contributed columns are looked up once for all."""
    rows, names = tuple(rows), site.set_names
    columns = _columns(site, [row.identifier for row in rows])
    return tuple(
        RowView(
            row,
            urls.record(row.identifier),
            sets_of(names, row.sets),
            tuple(
                (_(title), tuple(v[row.identifier]))
                for title, v in columns
                if v.get(row.identifier)
            ),
        )
        for row in rows
    )


def _columns(
    site: Site, identifiers: Sequence[str]
) -> list[tuple[str, Mapping[str, Sequence[str]]]]:
    """What packages say of the records, by the title of the column; a broken one is left out."""
    found = []
    for facet in contributed_facets():
        if facet.is_column and identifiers:
            try:
                found.append((facet.title, values_of(facet, site.silo.path, identifiers)))
            except SearchError as error:
                warn_once(str(error))
    return found


def rows_json(site: Site, rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """The lines of a list, for programs; as lazy as `rows`."""
    names = site.set_names
    for row in rows:
        yield {
            "identifier": row.identifier,
            "url": urls.record(row.identifier),
            "title": row.title,
            "datestamp": row.datestamp,
            "sets": [{"spec": spec, "name": name_of_set(names, spec)} for spec in row.sets],
            "deleted": row.deleted,
            "curated": row.curated,
            "upstream_newer": row.upstream_newer,
            "current_version": row.current_version,
            "versions": row.versions,
            "revision": row.revision,
        }
