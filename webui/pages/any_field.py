"""Facet any field of the records found: by value, length, shape, number, date, blank, double.

A request reads as many records as two seconds allow. A job counts all of a larger result; what it
counted is kept, and shown until somebody counts again.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

from recordsilo import Silo
from recordsilo.selection import Selection
from silocuration.batch.spreadsheet import fields_of
from silocuration.review.any_field import (
    NO_DATE,
    NO_NUMBER,
    Grouping,
    Scan,
    groups,
    scan,
)
from silocuration.review.counts import CLUSTERED
from silocuration.review.facet_job import begin_count, count_under_way
from silocuration.review.kept_duplicates import mark_of
from silocuration.review.kept_facets import KeptFacet, KeptGroup, read_facet
from silowork.errors import JobsError
from silowork.values import Job
from webui import urls
from webui.activity import note_job
from webui.editing.edit_form import DUBLIN_CORE
from webui.http.errors import BadRequest
from webui.http.messages import Response
from webui.job_view import Shown
from webui.people.roles import Role
from webui.rendering import View, changed_answer
from webui.search.renaming import rename_url
from webui.search.request import SearchRequest, pairs_of_query
from webui.site import Call
from webui.words.dates import for_people
from webui.words.field_labels import field_label
from webui.words.texts import counted, numeral
from webui.words.texts import text as _

logger = logging.getLogger("webui")
MOST = 200
"""Groups on the page."""
LISTED = 100
"""Records of a group that are listed."""
LOOKED_AT = 20
"""Records whose fields are offered."""
FEW = 1000
"""As many records are read again when what was counted is old."""
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
class FieldGroups:
    """The groups of a field, as they were counted now or by a job.

    Attributes:
        kept: What the job counted; None if they were counted now.
        is_current: Whether no record changed since.
        total: Records found by the search when they were counted.
        listed: The groups, or the first of them.
    """

    kept: KeptFacet | None
    is_current: bool
    read: int
    unread: int
    total: int
    groups: int
    listed: Sequence[KeptGroup]

    @property
    def whole(self) -> bool:
        """Whether all records were read."""
        return self.read + self.unread >= self.total

    def group(self, label: str) -> KeptGroup | None:
        """The group of a label; None if it is not listed."""
        return next((one for one in self.listed if one.label == label), None)


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
    offered = _fields(call, request)
    field = asked.get("field", "") or offered[0]
    job = _job(call, request.selection, field)  # before what it keeps when it ends
    found = _groups(call.site.silo, request, field, kind, chosen)
    one = found.group(chosen) if chosen else None
    own = (*request.asked, ("field", field), ("kind", kind.value))
    lines = [] if chosen else [_line(group, kind, request, own) for group in found.listed[:MOST]]
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
        "told": _told(found, may_count=not job and call.user.may(Role.CURATOR)),
        "found": found,
        "search": urls.query(request.asked),
        "job": Shown.of(job, call.user) if job else None,
        "job_problem": call.site.jobs.problem() if job else "",
        "lines": lines,
        "group": chosen,
        "group_label": _said(kind, chosen),
        "one": one,
        "rows": _rows(call, one),
        "url": url,
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
        "read": found.read,
        "records": found.total,
        "complete": found.whole,
        "counted": found.kept.date if found.kept else None,
        "current": found.is_current,
        "job": job.job_id if job else None,
        "groups": [
            {"group": group.label, "values": group.values, "records": group.records}
            for group in found.listed[:MOST]
        ],
        "of_group": list(one.first) if one else None,
    }
    return View("any_field.mako", data, twin, url)


def count(call: Call) -> Response:
    """Start a job that counts all groups of a field in the records of a search."""
    request = SearchRequest.of(pairs_of_query(call.field("search")))
    field, kind = call.field("field"), _kind(call.field("kind"))
    if not field:
        raise BadRequest("Enter the field to count (field field).")
    request.selection.check(call.site.silo)
    under_way = _job(call, request.selection, field)
    job = under_way or begin_count(call.site.jobs, request.selection, field, call.user.name)
    if under_way is None:
        note_job(call, job, job.kind)
    shown = urls.search((*request.asked, ("field", field), ("kind", kind.value)), "fields")
    told = {"job": job.job_id, "url": urls.job(job.job_id)}
    return changed_answer(call, shown, told, 202)


def _job(call: Call, select: Selection, field: str) -> Job | None:
    """The job that is counting all groups now."""
    try:
        return count_under_way(call.site.jobs, select, field)
    except JobsError:
        logger.exception("jobs")
        return None


def _groups(
    silo: Silo, request: SearchRequest, field: str, kind: Grouping, chosen: str
) -> FieldGroups:
    """What a job counted; the groups of a sample if none did, or if it left out the chosen one."""
    kept = read_facet(silo.path, request.selection, field, kind)
    is_current = kept is not None and kept.mark == mark_of(silo)
    if kept is not None and (is_current or request.selection.total(silo) > FEW):
        total = kept.read + kept.unread
        counts = (kept.read, kept.unread, total, kept.groups)
        shown = FieldGroups(kept, is_current, *counts, kept.first)
        if not chosen or shown.group(chosen):
            return shown
    found = _scanned(silo, request, field)
    listed = [
        KeptGroup(one.label, one.values, len(one.records), one.records)
        for one in groups(found, kind)
    ]
    counts = (len(found.found), found.unread, found.records, len(listed))
    return FieldGroups(None, True, *counts, listed)


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


def _line(group: KeptGroup, kind: Grouping, request: SearchRequest, own: tuple[Any, ...]) -> Line:
    field = dict(own)["field"]
    return Line(
        _said(kind, group.label),
        group.values,
        group.records,
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


def _rows(call: Call, one: KeptGroup | None) -> list[tuple[str, str]]:
    """(Identifier, title) of the first records of a group."""
    if one is None:
        return []
    some = one.first[:LISTED]
    rows = call.site.silo.rows(some)
    return [(name, rows[name].title or name) for name in some if name in rows]


def _told(found: FieldGroups, *, may_count: bool) -> str:
    if found.kept is not None:
        date = for_people(found.kept.date)
        said = counted(
            "{n} record was read, on {date}.",
            "{n} records were read, on {date}.",
            found.read,
            date=date,
        )
        if not found.is_current:
            said += " " + _("Records have changed since.")
    elif found.whole:
        said = counted("{n} record was read.", "{n} records were read.", found.read)
    else:
        said = _(
            "This is a sample: the first {read} of {all} records, by identifier, which were read "
            "in two seconds.",
            read=numeral(found.read),
            all=numeral(found.total),
        )
    if found.unread:
        said += " " + counted(
            "{n} has no fields that can be read.",
            "{n} have no fields that can be read.",
            found.unread,
        )
    if found.kept is not None or found.whole:
        return said
    if may_count:
        return f"{said} {_('To see all groups, narrow the search or count all records.')}"
    return f"{said} {_('To see all groups, narrow the search.')}"
