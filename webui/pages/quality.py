"""Findings in descriptions, by code, and probable duplicates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recordsilo import Row
from recordsilo.formats.quality import UNREADABLE
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.index.facets import labels_of
from recordsilo.index.projection import DUPLICATE_OF
from silocuration.editing.repairs import REPAIRS
from silocuration.review.counts import finding_counts, records_by_set
from silocuration.review.duplicates import mark_distinct, mark_duplicate
from webui import urls
from webui.charts.pictures import BarFigures, Series, bars
from webui.found_duplicates import found_duplicates, note_marks
from webui.http.errors import BadRequest
from webui.http.messages import Response, redirect
from webui.record.rows import RowView, row_views
from webui.rendering import View, json_answer
from webui.search.request import facet_label
from webui.site import Call, Site, name_of_set
from webui.words.dates import for_people
from webui.words.texts import text as _

PAGE = 10
"""Number of groups of probable duplicates per page."""
MOST_SETS = 12
"""Number of sets, the largest ones, whose quality is drawn."""
MISSING = {"Q101": "Title", "Q301": "Creator", "Q201": "Date", "Q501": "Type"}
"""Finding of a missing field → the field."""
MARKED_CODE = "Q901"
DONE: Mapping[str, str] = {
    "duplicates": "Marked as duplicates; they are listed below.",
    "distinct": "Marked as distinct.",
    "revoke": "No longer marked as distinct.",
    "unmark": "Mark removed.",
}
"""English texts of the catalogue."""
LONGEST_UNDO = 4000
"""Maximum number of characters of the records that an address names."""
MOST_MARKED = 200


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A row of the table.

    Attributes:
        url: The list of the records.
        queue_url: The first of them, to be corrected; empty if that is not done in a form.
        search: The query of the list, if all of them can be repaired at once; else empty.
    """

    code: str
    said: str
    count: int
    url: str
    queue_url: str
    search: str = ""


def show(call: Call) -> View:
    """Show how many records have each finding, in all or in a set."""
    spec = call.request.query.get("set", "")
    counts = finding_counts(call.site.silo, spec or None)
    of_set = (("set", spec),) if spec else ()
    labels = labels_of("finding")
    rows = [
        FindingRow(
            code,
            _(labels.get(code, code)),
            count,
            urls.search(pairs := (("finding", code), *of_set)),
            "" if code in (UNREADABLE, MARKED_CODE) else urls.queue(pairs),
            urls.query(pairs) if code in REPAIRS else "",
        )
        for code, count in counts.items()
    ]
    names = call.site.set_names
    sets = [(one, name_of_set(names, one)) for one in call.site.set_counts()]
    complete = _completeness(call, spec, counts)
    by_set = {} if spec else _quality_by_set(call)
    shares = [
        BarFigures(name_of_set(names, one), (share,), urls.with_query(urls.quality(), {"set": one}))
        for one, share in by_set.items()
    ]
    data: dict[str, Any] = {
        "complete": bars(
            _("Records that have the field"),
            _("Field"),
            Series(_("Records")),
            [BarFigures(_(name), (share,)) for name, share in complete.items()],
            top=100,
            unit="%",
        ),
        "by_set": bars(
            _("Records without findings, in the largest sets"),
            _("Set"),
            Series(_("Records")),
            shares,
            top=100,
            unit="%",
            whole=True,
        ),
    }
    data |= {"rows": rows, "sets": sets, "spec": spec, "set_name": call.site.set_name(spec)}
    twin = {
        "set": spec or None,
        "findings": [
            {"code": one.code, "means": one.said, "count": one.count, "url": one.url}
            for one in rows
        ],
        "complete": complete,
        "without_findings": by_set,
    }
    return View("quality.mako", data, twin, urls.with_query(urls.quality(), {"set": spec}))


def _completeness(call: Call, spec: str, counts: Mapping[str, int]) -> dict[str, float]:
    """Field → percent of the records, without deleted ones, that have it."""
    filters = SearchFilters({"deleted": False}, {"set": [spec]} if spec else {})
    total = call.site.silo.search("", filters, page=PageRequest(limit=1)).total
    if not total:
        return {}
    return {name: _percent(total - counts.get(code, 0), total) for code, name in MISSING.items()}


def _quality_by_set(call: Call) -> dict[str, float]:
    """Largest sets → percent of their records without a finding."""
    found = records_by_set(call.site.silo, MOST_SETS, with_findings=True)
    return {
        one: _percent(total - found.get(one, 0), total)
        for one, total in records_by_set(call.site.silo, MOST_SETS).items()
    }


def _percent(part: int, whole: int) -> float:
    return max(0, part * 1000 // whole) / 10


def show_duplicates(call: Call) -> View:
    """Show groups of probable duplicates, and the records that are marked."""
    silo = call.site.silo
    start = call.request.start
    kept, is_current = found_duplicates(silo)
    found = kept.to_decide if kept is not None else []
    shown = found[start : start + PAGE]
    lines = _lines(call.site, [one for group in shown for one in group])
    groups = [[lines[one] for one in group] for group in shown]
    marked = _marked(call)
    has_next = start + PAGE < len(found)
    next_url = urls.with_query(urls.duplicates(), {"start": start + PAGE}) if has_next else ""
    data = {
        "groups": [(number, group, _compared(group)) for number, group in enumerate(groups, start)],
        "total": len(found),
        "found": kept.date if kept is not None else "",
        "is_current": is_current,
        "marked": marked,
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
        "distinct": call.request.query.get("distinct", ""),
        "first_url": urls.duplicates() if start else "",
        "next_url": next_url,
    }
    twin = {
        "total": len(found) if kept is not None else None,
        "found": kept.date if kept is not None else None,
        "current": is_current,
        "groups": [[_line_json(line) for line in group] for group in groups],
        "marked": marked,
        "next": urls.twin(next_url) if next_url else None,
    }
    return View("duplicates.mako", data, twin, urls.duplicates())


def _lines(site: Site, identifiers: Sequence[str]) -> dict[str, RowView]:
    """The rows of some records; a record that no longer exists has an empty row."""
    found = site.silo.rows(identifiers)
    rows = (
        found.get(one) or Row(one, "", "", (), False, False, False, "", 0, 0) for one in identifiers
    )
    return {line.row.identifier: line for line in row_views(site, rows)}


def _line_json(line: RowView) -> dict[str, Any]:
    row = line.row
    return {
        "identifier": row.identifier,
        "title": row.title or row.identifier,
        "date": row.datestamp,
        **line.described.as_json(),
    }


@dataclass(frozen=True, slots=True)
class Compared:
    """The values of one field in the records of a group, side by side.

    Attributes:
        cells: The values of each record, in the order of the group.
    """

    label: str
    cells: tuple[tuple[str, ...], ...]

    @property
    def differs(self) -> bool:
        """Whether the records differ in the field."""
        return len(set(self.cells)) > 1


def _compared(group: Sequence[RowView]) -> list[Compared]:
    """The fields that at least one of the records has."""
    fields = [
        Compared(_("Title"), tuple((line.row.title,) for line in group)),
        *(
            Compared(
                _(facet_label(name)), tuple(line.described.values.get(name, ()) for line in group)
            )
            for name in ("creator", "year", "type", "publisher", "subject", "language", "format")
        ),
        Compared(_("DOI"), tuple((line.described.doi,) for line in group)),
        Compared(_("Sets"), tuple(tuple(one.name for one in line.sets) for line in group)),
        Compared(_("Datestamp"), tuple((for_people(line.row.datestamp),) for line in group)),
        Compared(_("Versions"), tuple((str(line.row.versions),) for line in group)),
    ]
    return [one for one in fields if any("".join(cell) for cell in one.cells)]


def _marked(call: Call) -> list[dict[str, str]]:
    """The records that are marked, each with the one it is a duplicate of."""
    silo = call.site.silo
    filters = SearchFilters(values={"finding": [MARKED_CODE]})
    page = PageRequest(limit=MOST_MARKED, sort="identifier")
    found = []
    for row in silo.search("", filters, page=page).rows:
        record = silo.get(row.identifier)
        if record is not None:
            of = str(record.metadata.get(DUPLICATE_OF, ""))
            found.append({"identifier": row.identifier, "duplicate_of": of})
    return found


def mark(call: Call) -> Response:
    """Mark records as duplicates of one of them or as distinct, or remove such a mark.

    Raises:
        BadRequest: No records, no record to keep, or an unknown mark.
    """
    silo, agent, action = call.site.silo, call.user.name, call.field("do")
    lines = (line.strip() for line in call.field("identifiers").split("\n"))
    named = tuple(silo.resolve(line) for line in lines if line)
    if not named:
        raise BadRequest("Enter the records (field identifiers, one per line).")
    if action == "duplicates":
        if not call.field("of"):
            raise BadRequest("Choose the record to keep (field of).")
        of = silo.resolve(call.field("of"))
        for one in named:
            if one != of:
                mark_duplicate(silo, one, of, agent=agent)
    elif action in ("distinct", "revoke"):
        mark_distinct(silo, named, agent=agent, is_revoked=action == "revoke")
    elif action == "unmark":
        for one in named:
            mark_duplicate(silo, one, None, agent=agent)
    else:
        raise BadRequest("Unknown mark; choose duplicates, distinct, revoke or unmark (field do).")
    note_marks(silo, named)
    if call.wants_json:
        return json_answer({"done": action, "identifiers": list(named)})
    text = "\n".join(named) if action == "distinct" else ""
    undo = {"distinct": text} if len(text) <= LONGEST_UNDO else {}
    return redirect(urls.with_query(urls.duplicates(), {"done": action, **undo}))
