"""The list of all records by identifier, for programs; people use the search."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from recordsilo.errors import RecordNotFound
from silocuration.activity import log_one
from webui import urls
from webui.editing.changes import changed
from webui.http.errors import BadRequest, ChangeConflict
from webui.http.messages import Response, redirect
from webui.record.rows import RowView, row_views, rows_json
from webui.rendering import json_answer
from webui.search.request import page_size
from webui.site import Call, Site

DEFAULT_SIZE = 50
_FILTERS = {
    "set": "set",
    "deleted": "deleted",
    "curated": "curated",
    "newer": "upstream_newer",
    "find": "q",
    "q": "q",
    "limit": "limit",
    "done": "done",
}
"""Field of the list → the equivalent field of the search."""
_TRUTH = {"yes": "true", "no": "false"}
_FLAGS = ("deleted", "curated", "newer")
_YES_NO = {"": None, "yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class ListQuery:
    """A request for a part of the list; the attributes are fields of the address.

    Attributes:
        after, before: Identifiers of the rows next to this page, exclusive.
        start: An identifier at which the page starts, even if no record has it.
    """

    set_spec: str = ""
    deleted: str = ""
    curated: str = ""
    newer: str = ""
    limit: int = DEFAULT_SIZE
    after: str = ""
    before: str = ""
    start: str = ""

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> "ListQuery":
        """Read the address.

        Raises:
            BadRequest: An invalid value.
        """
        for name in _FLAGS:
            if fields.get(name, "") not in _YES_NO:
                raise BadRequest("The filter {name} must be yes, no or empty.", name=name)
        return cls(
            set_spec=fields.get("set", ""),
            deleted=fields.get("deleted", ""),
            curated=fields.get("curated", ""),
            newer=fields.get("newer", ""),
            limit=page_size(fields.get("limit", ""), DEFAULT_SIZE),
            after=fields.get("after", ""),
            before=fields.get("before", ""),
            start=fields.get("from", ""),
        )

    @property
    def filters(self) -> dict[str, str]:
        """The filters in use, as fields of the address."""
        fields = {
            "set": self.set_spec,
            "deleted": self.deleted,
            "curated": self.curated,
            "newer": self.newer,
        }
        return {name: value for name, value in fields.items() if value}

    def url(self, **cursor: str) -> str:
        """The address of the same list at another position."""
        size = {} if self.limit == DEFAULT_SIZE else {"limit": self.limit}
        return urls.records(**self.filters, **size, **cursor)


@dataclass(frozen=True, slots=True)
class ListView:
    """A page of the list, with the addresses of the next and previous pages."""

    query: ListQuery
    rows: tuple[RowView, ...]
    total: int
    next_url: str
    previous_url: str
    after: str


def show(call: Call) -> Response:
    """Show a page of the list; ``find`` redirects to a record, or to its place in the list.

    Browsers are redirected to the search with the same filters.
    """
    fields = dict(call.request.query)
    query = ListQuery.of(fields)
    if not call.wants_json:
        return redirect(
            urls.search(
                (_FILTERS[name], _TRUTH.get(value, value) if name in _FLAGS else value)
                for name, value in fields.items()
                if name in _FILTERS and value
            )
        )
    wanted = fields.get("find", "").strip()
    if wanted:
        try:
            url = urls.record(call.site.identifier(wanted))
            return redirect(urls.twin(url) if call.is_twin else url)
        except RecordNotFound:
            query = replace(query, start=wanted)
    return json_answer(_as_json(call.site, _list(call.site, query)))


def _list(site: Site, query: ListQuery) -> ListView:
    filters: dict[str, Any] = {
        "set_spec": query.set_spec or None,
        "deleted": _YES_NO[query.deleted],
        "curated": _YES_NO[query.curated],
        "upstream_newer": _YES_NO[query.newer],
    }
    page = site.silo.page(
        limit=query.limit,
        after=query.after or None,
        before=query.before or None,
        from_identifier=query.start or None,
        **filters,
    )
    rows = page.rows
    return ListView(
        query=query,
        rows=row_views(site, rows),
        total=page.total,
        next_url=query.url(after=rows[-1].identifier) if rows and page.has_next else "",
        previous_url=query.url(before=rows[0].identifier) if rows and page.has_previous else "",
        after=rows[-1].identifier if rows and page.has_next else "",
    )


def _as_json(site: Site, found: ListView) -> dict[str, Any]:
    return {
        "records": list(rows_json(site, found.rows)),
        "total": found.total,
        "limit": found.query.limit,
        "filters": found.query.filters,
        "after": found.after or None,
        "next": urls.twin(found.next_url) if found.next_url else None,
        "previous": urls.twin(found.previous_url) if found.previous_url else None,
    }


def create(call: Call) -> Response:
    """Create a record by its identifier (field ``id``), with an empty version 1.

    Raises:
        BadRequest: The identifier is empty.
        ChangeConflict: The record exists.
    """
    identifier = call.field("id")
    if not identifier:
        raise BadRequest("Enter an identifier (field id).")
    silo = call.site.silo
    if identifier in silo:
        raise ChangeConflict("Record {identifier} already exists.", identifier=identifier)
    silo.restore_removed([identifier])  # to make it anew was asked for
    record = silo.get_item(identifier)
    record.sync(agent=call.user.name, message=call.field("message"))
    log_one(silo.path, "new record", record.item_id, "1", agent=call.user.name)
    return changed(call, record, urls.record(record.item_id), 201)
