"""Who changed what: search the activity log, and export it."""

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from datetime import datetime
from functools import partial

from silocuration.activity import Activity, ActivityFilter, Effort, activity, is_place
from silowork.errors import JobsError
from silowork.values import Job
from webui import urls
from webui.activity import (
    action_labels,
    entries,
    in_words,
    is_together,
    whole_entries,
    with_titles,
)
from webui.bulk.jobs import title_of_edit
from webui.http.downloads import saved_as
from webui.http.errors import BadRequest
from webui.http.messages import Response
from webui.http.streams import CSV, JSON_LINES, csv_cell, csv_line, encoded
from webui.record.field_differences import FieldValue, ValueDifference
from webui.rendering import View
from webui.site import Call
from webui.words.field_labels import field_label

logger = logging.getLogger("webui")
LIMIT = 50
"""Entries on a page."""
LOOKED_AT = 800
"""Lines that are read for a page."""
LOOKED_AT_OF_ONE = 1200
"""Further lines of its last entry; one of more lines is continued on the next page."""
EFFORT = 128_000_000
"""What is read of the log for a page: about 600,000 changed values, 150,000 for a text."""
SHOWN = 20
"""Lines of an entry that are shown; the page of a batch edit has them all."""
JOBS = 200
"""The newest jobs, whose titles are known."""
_DATE = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2}(T.+)?)?)?")
COLUMNS = tuple(one.name for one in fields(Activity))
FILTERS = {"text": "q", "agent": "agent", "action": "action", "identifier": "record",
           "since": "since", "until": "until"}  # fmt: skip
"""Member of `ActivityFilter` → field of the address."""


def show(call: Call) -> View:
    """Show the newest matching lines, with a link to older ones.

    Raises:
        BadRequest: ``before`` is not a position in the log.
    """
    wanted, before = _wanted(call), call.request.query.get("before", "")
    if before and not is_place(before):
        raise BadRequest("Unknown position in the log (before).")
    effort = Effort(EFFORT)
    jobs, lines = _jobs(call), activity(call.site.silo.path, wanted, before, effort)
    read, following = whole_entries(lines, jobs, LOOKED_AT, LOOKED_AT_OF_ONE)
    is_cut = bool(effort.stopped_at)
    if following:
        is_cut = is_together(read[-1][1], following[1], jobs)
    title_of = partial(title_of_edit, call.site.silo.path)
    found = entries((one for _, one in read), jobs, title_of, is_cut=is_cut)
    shown = read
    if found[LIMIT:]:
        place = next(n for n, (_, one) in enumerate(read) if one is found[LIMIT].lines[0])
        shown, following = read[:place], read[place]
        found = entries((one for _, one in shown), jobs, title_of)
    asked = _asked(wanted)
    next_url = ""
    if following:
        next_url = urls.with_query(urls.activity(), asked | {"before": shown[-1][0]})
    elif effort.stopped_at:
        next_url = urls.with_query(urls.activity(), asked | {"before": effort.stopped_at})
    downloads = {
        "CSV": urls.with_query(urls.activity() + "/log.csv", asked),
        "JSON lines": urls.with_query(urls.activity() + "/log.jsonl", asked),
    }
    data = {
        "entries": with_titles(call.site.silo, found, call.site.set_name),
        "most": SHOWN,
        "difference": partial(_difference, set_name=call.site.set_name),
        "actions": dict(sorted(action_labels().items(), key=lambda one: one[1])),
        "field_label": field_label,
        "wanted": wanted,
        "is_filtered": bool(any(asked.values()) or before),
        "next_url": next_url,
        "back_to": effort.back_to if effort.stopped_at and not following else "",
        "downloads": downloads,
    }

    def twin() -> Mapping[str, object]:
        return {
            "entries": [one.to_json() for one in found],
            "activity": [asdict(one) for _, one in shown],
            "next": urls.twin(next_url) if next_url else None,
        }

    return View("activity.mako", data, twin, urls.with_query(urls.activity(), asked))


def _jobs(call: Call) -> dict[str, Job]:
    try:
        return {job.job_id: job for job in call.site.jobs.ledger.jobs(JOBS)}
    except JobsError:
        logger.exception("jobs")
        return {}


def _difference(line: Activity, set_name: Callable[[str], str]) -> ValueDifference | None:
    """What a line says of a value; None if it has none."""
    old, new = (None if text is None else FieldValue(text) for text in in_words(line, set_name))
    if old is None and new is None:
        return None
    return ValueDifference("added" if old is None else "changed" if new else "removed", old, new)


def as_csv(call: Call) -> Response:
    """Return a row for each matching line, the newest first."""
    return _streamed(call, CSV, "csv", _csv(_lines(call)))


def as_json_lines(call: Call) -> Response:
    """Return a JSON object for each matching line, the newest first."""
    texts = (json.dumps(asdict(one)) + "\n" for one in _lines(call))
    return _streamed(call, JSON_LINES, "jsonl", texts)


def _lines(call: Call) -> Iterator[Activity]:
    return (one for _, one in activity(call.site.silo.path, _wanted(call)))


def _streamed(call: Call, kind: str, suffix: str, texts: Iterator[str]) -> Response:
    headers = saved_as(call.site.name, f"activity.{suffix}")
    return Response(200, encoded(texts), kind, headers)


def _csv(lines: Iterable[Activity]) -> Iterator[str]:
    yield "\ufeff" + csv_line(COLUMNS)
    for one in lines:
        yield csv_line(csv_cell(getattr(one, name) or "") for name in COLUMNS)


def _wanted(call: Call) -> ActivityFilter:
    query = call.request.query
    for name in ("since", "until"):
        if text := query.get(name, "").strip():
            _check_date(text)
    return ActivityFilter(
        **{member: query.get(name, "").strip() for member, name in FILTERS.items()}
    )


def _check_date(text: str) -> None:
    """Refuse a bound that is not a year, month, day or time in ISO 8601."""
    try:
        if not _DATE.fullmatch(text):
            raise ValueError
        datetime.fromisoformat(text + "-01-01"[len(text) - 4 :])
    except ValueError:
        raise BadRequest("“{text}” is not a date; write YYYY-MM-DD.", text=text) from None


def _asked(wanted: ActivityFilter) -> dict[str, str]:
    return {name: getattr(wanted, member) for member, name in FILTERS.items()}
