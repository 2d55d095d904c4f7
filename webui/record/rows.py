"""A line of a list of records, for people and for programs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from recordsilo import Row
from webui import urls
from webui.record.view import SetView, sets_of
from webui.site import Site, name_of_set


@dataclass(frozen=True, slots=True)
class RowView:
    """A line of the list."""

    row: Row
    url: str
    sets: tuple[SetView, ...]


def row_views(site: Site, rows: Iterable[Row]) -> tuple[RowView, ...]:
    """The lines of a list; the names of sets are looked up once for all of them."""
    names = site.set_names
    return tuple(
        RowView(row, urls.record(row.identifier), sets_of(names, row.sets)) for row in rows
    )


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
