"""Findings in descriptions, by code."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recordsilo.formats.quality import UNREADABLE
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.index.facets import labels_of
from silocuration.editing.repairs import REPAIRS
from silocuration.review.counts import finding_counts, records_by_set
from webui import urls
from webui.charts.pictures import BarFigures, Series, bars
from webui.rendering import View
from webui.site import Call, name_of_set
from webui.words.texts import text as _

MISSING = {"Q101": "Title", "Q301": "Creator", "Q201": "Date", "Q501": "Type"}
"""Finding of a missing field → the field, an English text of the catalogue."""
MARKED_CODE = "Q901"


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
            [
                BarFigures(_(name), (share,), _blank_or_not(name, of_set))
                for name, share in complete.items()
            ],
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
    data["blank_query"] = urls.query([("kind", "blank"), *([("set", spec)] if spec else [])])
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


def _blank_or_not(name: str, of_set: tuple[tuple[str, str], ...]) -> str:
    """Where the records that are counted are grouped by whether they have the field."""
    asked = (("deleted", "false"), *of_set, ("field", name.lower()), ("kind", "blank"))
    return urls.search(asked, "fields")


def _quality_by_set(call: Call) -> dict[str, float]:
    """Largest sets → percent of their records without a finding."""
    found = records_by_set(call.site.silo, with_findings=True)
    return {
        one: _percent(total - found.get(one, 0), total)
        for one, total in records_by_set(call.site.silo).items()
    }


def _percent(part: int, whole: int) -> float:
    return max(0, part * 1000 // whole) / 10
