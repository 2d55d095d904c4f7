"""A previewed batch edit: the records of one of its changes, and what of it is left out."""

from typing import Any

from recordsilo import Row
from silocuration.batch.job import held
from silocuration.batch.journal import Change, Doing, JobJournal, JournalEntry
from silocuration.batch.planned import is_untouched
from silocuration.errors import JobBusy
from webui import urls
from webui.bulk.jobs import begun, start_bulk_job
from webui.http.errors import BadRequest, ChangeConflict, NotFound
from webui.http.messages import Response, redirect
from webui.people.authentication import own_path
from webui.rendering import View, json_answer
from webui.site import Call

PAGE = 50
MOST = 1000
"""Changes or records of one form."""


def show(call: Call) -> View:
    """Show the records of one change (``number``, in the order of the batch edit's page)."""
    job_id, number = call.params["job"], _number(call.request.query.get("number", "0"))
    after = _number(call.request.query.get("after", "0"))
    with JobJournal.open(call.site.silo.path, job_id) as journal:
        known = journal.distinct_changes(1, number)
        if not known:
            raise NotFound("This batch edit has no such change.")
        found = journal.records_of(known[0].change, PAGE + 1, after)
        is_planned = is_untouched(journal.counts())
        about = journal.about()
    rows = call.site.silo.rows(entry.identifier for _number, entry in found[:PAGE])
    records = [_record(entry, rows.get(entry.identifier)) for _number, entry in found[:PAGE]]
    url = urls.bulk_changes(job_id, number=number, after=after or None)
    following = ""
    if found[PAGE:]:
        following = urls.bulk_changes(job_id, number=number, after=found[PAGE - 1][0])
    data = {
        "title_of_job": about.get("title") or job_id,
        "job_url": urls.bulk_job(job_id),
        "action": urls.bulk_changes(job_id),
        "one": known[0],
        "number": number,
        "records": records,
        "is_planned": is_planned,
        "url": url,
        "first": urls.bulk_changes(job_id, number=number) if after else "",
        "following": following,
    }
    one = known[0]
    twin = {
        "change": {"what": one.what, "old": one.old, "new": one.new, "count": one.count},
        "left_out": one.left_out,
        "records": records,
        "next": urls.twin(following) if following else None,
    }
    return View("bulk_changes.mako", data, twin, url)


def _record(entry: JournalEntry, row: Row | None) -> dict[str, Any]:
    title, left_out = row.title if row else "", entry.state is Doing.LEFT_OUT
    return {"identifier": entry.identifier, "title": title, "left_out": left_out}


def choose(call: Call) -> Response:
    """Leave out what is not ticked (``change-N`` or ``row-N`` without ``tick-N``); or apply.

    Raises:
        ChangeConflict: It has been started.
    """
    job_id, path = call.params["job"], call.site.silo.path
    changes, records = _wanted(call)
    try:
        with held(call.site.silo, job_id), JobJournal.open(path, job_id) as journal:
            if not is_untouched(journal.counts()):
                raise _started()
            journal.choose(_by_change(journal, changes))
            for state, is_made in ((Doing.PLANNED, True), (Doing.LEFT_OUT, False)):
                journal.move([one for one, made in records.items() if made is is_made], state)
            if message := call.field("message"):
                journal.note(message=message)
            to_change, values = journal.to_change()
    except JobBusy:
        raise _started() from None
    if call.field("do") == "apply":
        if not to_change:
            raise BadRequest("Nothing is ticked; nothing would change.")
        start_bulk_job(call, job_id)
        return begun(call, job_id)
    if call.wants_json:
        return json_answer({"job": job_id, "records": to_change, "values": values})
    return redirect(own_path(call.field("back") or urls.bulk_job(job_id)))


def _wanted(call: Call) -> tuple[dict[int, bool], dict[str, bool]]:
    """The changes by number, and the records by identifier: whether each is to be made."""
    fields = call.form.fields
    changes: dict[int, bool] = {}
    records: dict[str, bool] = {}
    for name, value in fields.items():
        begin, _dash, number = name.partition("-")
        if begin == "change":
            changes[_number(number)] = f"tick-{number}" in fields
        elif begin == "row":
            records[value] = f"tick-{number}" in fields
    if len(changes) + len(records) > MOST:
        raise BadRequest("Choose at most {most} changes or records at once.", most=MOST)
    return changes, records


def _by_change(journal: JobJournal, numbers: dict[int, bool]) -> dict[Change, bool]:
    if not numbers:
        return {}
    first, last = min(numbers), max(numbers)
    if last - first >= MOST:
        raise BadRequest("Choose at most {most} changes or records at once.", most=MOST)
    known = dict(enumerate(journal.distinct_changes(last - first + 1, first), first))
    if not numbers.keys() <= known.keys():
        raise BadRequest("This batch edit has no such change.")
    return {known[number].change: is_made for number, is_made in numbers.items()}


def _started() -> ChangeConflict:
    return ChangeConflict(
        "This batch edit has already been started, so its changes can no longer be chosen."
    )


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise BadRequest("The number of a change, or the place in a list, is a number.")
    return int(text)
