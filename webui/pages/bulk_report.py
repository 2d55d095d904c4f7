"""Batch edits: the progress of each, the records that it skipped, and undo."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tomli_w

from recordsilo import Row
from silocuration.batch.job import JobReport, job_report
from silocuration.batch.journal import (
    CHANGED,
    Change,
    DistinctChange,
    Doing,
    JobJournal,
    JournalEntry,
    job_ids,
)
from silocuration.batch.planned import PREVIEW, discard, is_discardable, is_untouched, noted_preview
from silocuration.batch.specs import summary
from silocuration.errors import JobNotFound, JobUnreadable
from silocuration.jobs import CHANGE, UNDO
from silocuration.jobs import PREVIEW as PREVIEWING
from silowork.errors import JobsError, NoSuchJob
from silowork.values import ACTIVE, Job
from webui import urls
from webui.activity import note
from webui.bulk.jobs import begun, start_bulk_job, start_bulk_undo
from webui.http.errors import ChangeConflict, from_curation
from webui.http.messages import Response, redirect, whole_number
from webui.job_view import JobOutcome, Shown, outcome_of, some_skipped, undone_outcome
from webui.rendering import View, json_answer
from webui.search.renaming import Elsewhere
from webui.site import Call
from webui.words.texts import text as _

logger = logging.getLogger("webui")
PAGE = 50
DISTINCT = 100
"""Maximum number of distinct changes on the page of a batch edit."""
DOING_LABELS = {
    Doing.DONE: "changed",
    Doing.PLANNED: "waiting",
    Doing.BEGUN: "being changed",
    Doing.LEFT_OUT: "left out",
    Doing.UNCHANGED: "unchanged",
    Doing.DELETED: "deleted records left out",
    Doing.SKIPPED: "skipped",
    Doing.UNDOING: "being undone",
    Doing.UNDONE: "undone",
    Doing.KEPT: "not undone: changed later",
}
"""English texts of the catalogue."""
NOTES = {"undoing": "This batch edit is already being undone."}
"""The same, for messages after a redirect."""


def show(call: Call) -> View:
    """List the batch edits, the newest first; those that were only previewed apart."""
    before = call.request.query.get("before", "")
    earlier = [one for one in job_ids(call.site.silo.path) if not before or one < before]
    active = _active(call)
    found, faults = _reports(call, earlier[:PAGE])
    rest = earlier[PAGE:]
    following = urls.with_query(urls.bulk_jobs(), {"before": earlier[PAGE - 1]}) if rest else ""
    twin = {
        "jobs": [report.to_json() for report in found],
        "problems": faults,
        "next": urls.twin(following) if following else None,
    }
    first = urls.bulk_jobs() if before else ""
    lines = [_line(call, report, active) for report in found]
    data = {
        "faults": faults,
        "lines": [one for one in lines if not one.is_preview],
        "previews": [one for one in lines if one.is_preview],
        "is_live": not before and any(one.shown for one in lines),
        "kinds": " ".join(one.name for one in (CHANGE, UNDO, PREVIEWING)),
        "changed": lambda report: sum(report.counts.get(state, 0) for state in CHANGED),
        "summary": summary,
        "first": first,
        "following": following,
    }
    return View("bulk_jobs.mako", data, twin, urls.bulk_jobs())


def _reports(call: Call, job_ids: Sequence[str]) -> tuple[list[JobReport], list[str]]:
    """The batch edits, and a sentence for each whose journal cannot be read."""
    found, faults = [], []
    for one in job_ids:
        try:
            found.append(job_report(call.site.silo, one))
        except JobNotFound:  # discarded in the meantime
            continue
        except JobUnreadable as error:
            faults.append(from_curation(error, call.site.silo.path).message)
    return found, faults


@dataclass(frozen=True, slots=True)
class EditLine:
    """A batch edit in the list.

    Attributes:
        shown: The job that works on it; None if none waits or runs.
        is_preview: Whether it was previewed, and not applied.
    """

    report: JobReport
    outcome: JobOutcome
    shown: Shown | None
    is_preview: bool


def _line(call: Call, report: JobReport, active: Sequence[Job]) -> EditLine:
    job = _job_about(call, report, active)
    shown = Shown.of(job, call.user) if job is not None and job.state in ACTIVE else None
    is_preview = shown is None and _is_planned(report)
    return EditLine(report, _outcome(report, job), shown, is_preview)


def show_one(call: Call) -> View:
    """Show a batch edit: what it changes, its progress, the records changed, and undo."""
    active = _active(call)
    report = job_report(call.site.silo, call.params["job"])
    job = _job_about(call, report, active)
    after = whole_number(call.request.query.get("after", ""), 0, 10**11) or 0
    start = whole_number(call.request.query.get("changes", ""), 0, 10**11) or 0
    with JobJournal.open(call.site.silo.path, report.job_id) as journal:
        distinct = journal.distinct_changes(DISTINCT + 1, start)
        to_change = journal.to_change()
        found = journal.changed_records(PAGE + 1, after)
    rows = call.site.silo.rows(entry.identifier for _number, entry, _values in found[:PAGE])
    records = [
        _changed(entry, values, rows.get(entry.identifier))
        for _number, entry, values in found[:PAGE]
    ]
    url = urls.bulk_job(report.job_id)
    following = urls.with_query(url, {"after": found[PAGE - 1][0]}) if found[PAGE:] else ""
    data = _state_of(call, report, job) | {
        "distinct": distinct[:DISTINCT],
        "start": start,
        "changes_first": url if start else "",
        "changes_following": urls.with_query(url, {"changes": start + DISTINCT})
        if distinct[DISTINCT:]
        else "",
        "to_change": to_change,
        "records": records,
        "first": url if after else "",
        "following": following,
        "url": url,
        "elsewhere": Elsewhere.of(report.about),
    }
    outcome = data["outcome"]
    twin = report.to_json() | {
        "outcome": {"name": outcome.name, "word": outcome.word},
        "changes": [_change_json(one) for one in distinct[:DISTINCT]],
        "records": [one.to_json() for one in records],
        "next": urls.twin(following) if following else None,
    }
    return View("bulk_job.mako", data, twin, url)


def _state_of(call: Call, report: JobReport, job: Job | None) -> dict[str, Any]:
    """What the page says of the edit as a whole, and what can be done with it."""
    active = job is not None and job.state in ACTIVE
    is_begun = active and job is not None and job.kind == CHANGE.name
    is_planned = _is_planned(report) and not is_begun
    outcome = _outcome(report, job)
    return {
        "report": report,
        "outcome": outcome,
        "shown": Shown.of(job, call.user, active=call.site.jobs.ledger.active()) if job else None,
        "is_active": active,
        "problem": call.site.jobs.problem(is_waiting=active),
        "is_planned": is_planned,
        "toml": tomli_w.dumps(report.about["rules"]) if "rules" in report.about else "",
        "preview": noted_preview(report.about) if is_planned else None,
        "summary": summary(report.about),
        "counts": [
            (_(label), report.counts[state])
            for state, label in DOING_LABELS.items()
            if report.counts.get(state)
        ],
        "can_discard": is_discardable(report.counts) and not active,
        "can_undo": _can_undo(report) and (job is None or job.is_over),
        "can_resume": not report.is_finished and outcome.name != "undone",
        "note": _(NOTES.get(call.request.query.get("done", ""), "")),
    }


def _change_json(change: DistinctChange) -> dict[str, Any]:
    return {name: getattr(change, name) for name in ("what", "old", "new", "count", "left_out")}


@dataclass(frozen=True, slots=True)
class ChangedRecord:
    """A record that a batch edit changed.

    Attributes:
        title: Its title now; its identifier if there is none.
        state: What else was done with it, in words; empty if it was only changed.
        values: What changed: (field or file, before, after).
    """

    identifier: str
    title: str
    state: str
    values: Sequence[Change]

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values."""
        values = [{"what": what, "old": old, "new": new} for what, old, new in self.values]
        return {"identifier": self.identifier, "state": self.state, "values": values}


def _changed(entry: JournalEntry, values: Sequence[Change], row: Row | None) -> ChangedRecord:
    title = row.title if row else ""
    state = "" if entry.state is Doing.DONE else _(DOING_LABELS[entry.state])
    return ChangedRecord(entry.identifier, title or entry.identifier, state, values)


def _active(call: Call) -> Sequence[Job]:
    """The jobs that wait or run.

    They are looked for before the journals are read: beside the journal of one that ended
    meanwhile, the page shows it as running, and is written anew when it hears of the end.
    """
    try:
        return call.site.jobs.ledger.active()
    except JobsError:
        logger.exception("jobs")
        return []


def _job_about(call: Call, report: JobReport, active: Sequence[Job]) -> Job | None:
    """The job that now applies, previews or undoes a batch edit; else the one that applied it."""
    for job in reversed(active):
        if job.arguments.get("job") == report.job_id:
            return job
    try:
        previewed = report.about.get("preview_job") if _is_planned(report) else None
        return call.site.jobs.ledger.job(str(previewed or report.job_id))
    except NoSuchJob:  # started by a command
        return None
    except JobsError:  # its journal says what it changed
        logger.exception("jobs")
        return None


def _is_planned(report: JobReport) -> bool:
    """Whether a batch edit was previewed, and not started."""
    about = report.about
    return bool({"preview_job", PREVIEW} & about.keys()) and is_untouched(report.counts)


def _can_undo(report: JobReport) -> bool:
    """Whether there is something to undo, of a batch edit that is finished or was stopped."""
    left = (Doing.BEGUN, Doing.DONE, Doing.KEPT, Doing.UNDOING)
    return any(report.counts.get(state) for state in left)


def _outcome(report: JobReport, job: Job | None) -> JobOutcome:
    """How a batch edit stands, by its journal and by the job that works on it."""
    if job is not None and job.state in ACTIVE:
        if job.kind == UNDO.name and not job.wish and job.begun:
            return JobOutcome("running", _("Being undone"))
        return outcome_of(job)
    if _is_planned(report):
        return JobOutcome("waiting", _("Previewed, not applied"))
    if undone := undone_outcome(report.counts):
        return undone
    if not report.is_finished:
        return outcome_of(job) if job else JobOutcome("paused", _("Not finished"))
    if skipped := report.counts.get(Doing.SKIPPED):
        return JobOutcome("partial", some_skipped(skipped))
    return JobOutcome("done", _("Finished"))


def resume(call: Call) -> Response:
    """Resume a batch edit that was stopped, or start one that was planned."""
    report = job_report(call.site.silo, call.params["job"])
    if (message := call.field("message")) and _is_planned(report):
        with JobJournal.open(call.site.silo.path, report.job_id) as journal:
            journal.note(message=message)
    start_bulk_job(call, report.job_id)
    return begun(call, report.job_id)


def put_away(call: Call) -> Response:
    """Delete a batch edit that is not finished and has changed no record.

    Raises:
        ChangeConflict: It has changed records.
    """
    job_id = call.params["job"]
    report = job_report(call.site.silo, job_id)
    if not discard(call.site.silo, job_id):
        raise ChangeConflict("This batch edit has already changed records; undo it instead.")
    note(call, "discard change", message=str(report.about.get("title", "")), job=job_id)
    return json_answer({"deleted": job_id}) if call.wants_json else redirect(urls.bulk_jobs())


def undo(call: Call) -> Response:
    """Undo a batch edit.

    Raises:
        ChangeConflict: It is already undone or being undone, or has changed nothing.
    """
    active = _active(call)
    report = job_report(call.site.silo, call.params["job"])
    job = _job_about(call, report, active)
    if job is not None and job.state in ACTIVE and job.kind == UNDO.name:
        if call.wants_json:
            raise ChangeConflict("This batch edit is already being undone.")
        return redirect(urls.with_query(urls.bulk_job(report.job_id), {"done": "undoing"}))
    is_begun = job is not None and job.state in ACTIVE and job.kind == CHANGE.name
    if not is_begun and not _can_undo(report):
        if report.counts.get(Doing.UNDONE):
            raise ChangeConflict("This batch edit is already undone.")
        raise ChangeConflict("This batch edit has changed no record; there is nothing to undo.")
    start_bulk_undo(call, report.job_id)
    return begun(call, report.job_id)
