"""A line of a list of records, for people and for programs."""

from dataclasses import dataclass
from typing import Any

from recordsilo import Row
from webui import urls
from webui.record_view import SetView, sets_of
from webui.site import Site


@dataclass(frozen=True, slots=True)
class RowView:
    """A line of the list."""

    row: Row
    url: str
    sets: tuple[SetView, ...]


def row_view(site: Site, row: Row) -> RowView:
    """A line of a list."""
    return RowView(row, urls.record(row.identifier), sets_of(site, row.sets))


def row_json(site: Site, row: Row) -> dict[str, Any]:
    """A line of a list, for programs."""
    return {
        "identifier": row.identifier,
        "url": urls.record(row.identifier),
        "title": row.title,
        "datestamp": row.datestamp,
        "sets": [{"spec": spec, "name": site.set_name(spec)} for spec in row.sets],
        "deleted": row.deleted,
        "curated": row.curated,
        "upstream_newer": row.upstream_newer,
        "current_version": row.current_version,
        "versions": row.versions,
        "revision": row.revision,
    }
