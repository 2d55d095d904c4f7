"""Facet any field of the records found: by value, length, shape, number, date, blank, double."""

from dataclasses import dataclass
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

from recordsilo import Silo
from silocuration.batch.spreadsheet import fields_of
from silocuration.review.any_field import (
    NO_DATE,
    NO_NUMBER,
    Grouping,
    Scan,
    ValueGroup,
    groups,
    scan,
)
from silocuration.review.counts import CLUSTERED
from webui import urls
from webui.editing.edit_form import DUBLIN_CORE
from webui.http.errors import BadRequest
from webui.rendering import View
from webui.search.renaming import rename_url
from webui.search.request import SearchRequest
from webui.site import Call
from webui.words.field_labels import field_label
from webui.words.texts import counted, numeral
from webui.words.texts import text as _

MOST = 200
"""Groups on the page."""
LISTED = 100
"""Records of a group that are listed."""
LOOKED_AT = 20
"""Records whose fields are offered."""
LABELS: dict[Grouping, str] = {
    Grouping.VALUE: "Value",
    Grouping.LENGTH: "Length of the text",
    Grouping.SHAPE: "Pattern",
    Grouping.NUMBER: "Number",
    Grouping.DATE: "Year in the text",
    Grouping.AMOUNT: "Values per record",
    Grouping.BLANK: "Blank or not",
    Grouping.DUPLICATE: "Duplicate values",
}
"""English texts of the catalogue."""
SAID: dict[str, str] = {
    NO_NUMBER: "Not a number",
    NO_DATE: "No year",
    "no value": "No value",
    "a value": "Has a value",
    "an empty value": "Has an empty value",
    "twice in one record": "Several times in one record",
    "in several records": "In several records",
    "in one record": "In one record only",
}
"""Groups that are no values, in English texts of the catalogue."""
_FACETS = {element: facet for facet, element in CLUSTERED.items()}
_LATEST: WeakKeyDictionary[Silo, tuple[object, Scan]] = WeakKeyDictionary()
"""The latest scan of a Silo, for its other groupings: with its search, field and `index_stamp`."""


@dataclass(frozen=True, slots=True)
class Line:
    """A group on the page, with the addresses of its records and of its renaming."""

    label: str
    values: int
    records: int
    url: str
    rename_url: str


def show(call: Call) -> View:
    """Show the groups of a ``field`` by ``kind``; of one ``group``, its records."""
    asked = call.request.query
    request = SearchRequest.of(call.request.pairs, also=("field", "kind", "group"))
    kind, chosen = _kind(asked.get("kind", "")), asked.get("group", "")
    silo = call.site.silo
    offered = _fields(call, request)
    field = asked.get("field", "") or offered[0]
    found = _scanned(silo, request, field)
    made = groups(found, kind)
    one = next((group for group in made if group.label == chosen), None) if chosen else None
    own = (*request.asked, ("field", field), ("kind", kind.value))
    lines = [] if chosen else [_line(group, kind, request, own) for group in made[:MOST]]
    url = urls.search((*own, *((("group", chosen),) if chosen else ())), "fields")
    data: dict[str, Any] = {
        "request": request,
        "field": field,
        "label": field_label(field),
        "fields": tuple(dict.fromkeys((*offered, field))),
        "field_label": field_label,
        "kinds": [(how.value, _(label)) for how, label in LABELS.items()],
        "kind": kind.value,
        "kind_label": _(LABELS[kind]),
        "told": _told(found),
        "whole": found.whole,
        "lines": lines,
        "groups": len(made),
        "group": chosen,
        "group_label": _said(kind, chosen),
        "one": one,
        "rows": _rows(call, one),
        "every": urls.search(own, "fields"),
        "rename_url": _rename(kind, request, field, chosen),
        "facet_url": request.url(("field", _FACETS[field]), action="values")
        if field in _FACETS
        else "",
        "is_value": kind is Grouping.VALUE,
    }
    twin = {
        "field": field,
        "kind": kind.value,
        "read": len(found.found),
        "records": found.records,
        "complete": found.whole,
        "groups": [
            {"group": group.label, "values": group.values, "records": len(group.records)}
            for group in made[:MOST]
        ],
        "of_group": list(one.records) if one else None,
    }
    return View("any_field.mako", data, twin, url)


def _scanned(silo: Silo, request: SearchRequest, field: str) -> Scan:
    stamp = silo.index_stamp()
    key = (urls.query(request.asked), field, stamp)
    known = _LATEST.get(silo)
    if stamp is not None and known is not None and known[0] == key:
        return known[1]
    found = scan(silo, request.selection, field)
    _LATEST[silo] = key, found
    return found


def _kind(name: str) -> Grouping:
    try:
        return Grouping(name or Grouping.VALUE)
    except ValueError:
        raise BadRequest(
            "Unknown kind of facet; choose one of {known} (kind).", known=", ".join(Grouping)
        ) from None


def _fields(call: Call, request: SearchRequest) -> tuple[str, ...]:
    first = islice(request.selection.iterate(call.site.silo), LOOKED_AT)
    known = dict.fromkeys(fields_of(call.site.silo, first)) or dict.fromkeys(DUBLIN_CORE)
    others = tuple(name for name in known if name not in DUBLIN_CORE)
    return (*(name for name in DUBLIN_CORE if name in known), *others)


def _line(group: ValueGroup, kind: Grouping, request: SearchRequest, own: tuple[Any, ...]) -> Line:
    field = dict(own)["field"]
    return Line(
        _said(kind, group.label),
        group.values,
        len(group.records),
        urls.search((*own, ("group", group.label)), "fields") if group.label else "",
        _rename(kind, request, field, group.label),
    )


def _rename(kind: Grouping, request: SearchRequest, field: str, label: str) -> str:
    if kind is not Grouping.VALUE or not label:
        return ""
    return rename_url(urls.query(request.asked), field, [label])


def _said(kind: Grouping, label: str) -> str:
    if label in SAID and kind is not Grouping.VALUE and kind is not Grouping.SHAPE:
        return _(SAID[label])
    if kind is Grouping.LENGTH:
        return _("{n} characters", n=label)
    return label or _("(empty)")


def _rows(call: Call, one: ValueGroup | None) -> list[tuple[str, str]]:
    """(Identifier, title) of the first records of a group."""
    if one is None:
        return []
    some = one.records[:LISTED]
    rows = call.site.silo.rows(some)
    return [(name, rows[name].title or name) for name in some if name in rows]


def _told(found: Scan) -> str:
    read = len(found.found)
    if found.whole:
        said = counted("{n} record was read.", "{n} records were read.", read)
    else:
        said = _(
            "This is a sample: the first {read} of {all} records, by identifier, which were read "
            "in two seconds. Narrow the search to see all.",
            read=numeral(read),
            all=numeral(found.records),
        )
    if not found.unread:
        return said
    unread = counted(
        "{n} has no fields that can be read.", "{n} have no fields that can be read.", found.unread
    )
    return f"{said} {unread}"
