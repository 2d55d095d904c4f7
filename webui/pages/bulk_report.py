"""Batch edits: the progress of each, the records that it skipped, and undo."""

import tomli_w

from silocuration.batch.job import JobReport, job_report
from silocuration.batch.journal import Doing, JobJournal, job_ids
from silocuration.batch.planned import discard, is_discardable, is_untouched, noted_preview
from silocuration.batch.specs import summary
from webui import urls
from webui.activity import note
from webui.bulk.jobs import begun, start_bulk_job, start_bulk_undo
from webui.http.errors import Conflict
from webui.http.messages import Response, redirect
from webui.rendering import View, json_answer
from webui.site import Call
from webui.words.texts import text as _

PAGE = 50
DOING_LABELS = {
    Doing.PLANNED: "waiting",
    Doing.BEGUN: "being changed",
    Doing.DONE: "changed",
    Doing.UNCHANGED: "unchanged",
    Doing.SKIPPED: "skipped",
    Doing.UNDOING: "being undone",
    Doing.UNDONE: "undone",
    Doing.KEPT: "not undone: changed later",
}
"""English texts of the catalogue."""


def show(call: Call) -> View:
    """List the batch edits, the newest first."""
    before = call.request.query.get("before", "")
    earlier = [one for one in job_ids(call.site.silo.path) if not before or one < before]
    found = [job_report(call.site.silo, one) for one in earlier[:PAGE]]
    rest = earlier[PAGE:]
    following = urls.with_query(urls.bulk_jobs(), {"before": earlier[PAGE - 1]}) if rest else ""
    twin = {
        "jobs": [report.to_json() for report in found],
        "next": urls.twin(following) if following else None,
    }
    first = urls.bulk_jobs() if before else ""
    data = {
        "reports": found,
        "said": said,
        "summary": summary,
        "first": first,
        "following": following,
    }
    return View("bulk_jobs.mako", data, twin, urls.bulk_jobs())


def show_one(call: Call) -> View:
    """Show the progress of a batch edit."""
    report = job_report(call.site.silo, call.params["job"])
    is_planned = _is_planned(report)
    data = {
        "report": report,
        "is_planned": is_planned,
        "toml": tomli_w.dumps(report.about["rules"]) if "rules" in report.about else "",
        "preview": noted_preview(report.about) if is_planned else None,
        "said": said(report),
        "summary": summary(report.about),
        "counts": [(_(DOING_LABELS[state]), n) for state, n in report.counts.items() if n],
        "can_discard": is_discardable(report.counts),
        "can_undo": report.counts.get(Doing.DONE, 0) + report.counts.get(Doing.KEPT, 0) > 0,
        "url": urls.bulk_job(report.job_id),
    }
    return View("bulk_job.mako", data, report.to_json(), urls.bulk_job(report.job_id))


def _is_planned(report: JobReport) -> bool:
    """Whether a batch edit was previewed, and not started."""
    return "preview_job" in report.about and is_untouched(report.counts)


def said(report: JobReport) -> str:
    """The progress of a batch edit in words, with the number of records skipped."""
    if _is_planned(report):
        return _("Previewed, not applied")
    if not report.is_finished:
        return _("Running")
    if report.counts.get(Doing.KEPT):
        return _("Undone, {n} skipped", n=f"{report.counts[Doing.KEPT]:,}")
    if report.counts.get(Doing.UNDONE):
        return _("Undone")
    if report.counts.get(Doing.SKIPPED):
        return _("Finished, {n} skipped", n=f"{report.counts[Doing.SKIPPED]:,}")
    return _("Finished")


def resume(call: Call) -> Response:
    """Resume a batch edit that was stopped, or start one that was planned."""
    report = job_report(call.site.silo, call.params["job"])
    if (message := call.field("message")) and _is_planned(report):
        with JobJournal.open(call.site.silo.path, report.job_id) as journal:
            journal.note(message=message)
    return begun(call, report.job_id, start_bulk_job(call, report.job_id))


def put_away(call: Call) -> Response:
    """Delete a batch edit that is not finished and has changed no record.

    Raises:
        Conflict: It has changed records.
    """
    job_id = call.params["job"]
    report = job_report(call.site.silo, job_id)
    if not discard(call.site.silo, job_id):
        raise Conflict("This batch edit has already changed records; undo it instead.")
    note(call, "discard change", message=str(report.about.get("title", "")), job=job_id)
    return json_answer({"deleted": job_id}) if call.wants_json else redirect(urls.bulk_jobs())


def undo(call: Call) -> Response:
    """Undo a batch edit.

    Raises:
        Conflict: Nothing is left to undo.
    """
    report = job_report(call.site.silo, call.params["job"])
    left = (Doing.DONE, Doing.KEPT, Doing.UNDOING)
    if report.is_finished and not any(report.counts.get(state) for state in left):
        raise Conflict("This batch edit is already undone.")
    return begun(call, report.job_id, start_bulk_undo(call, report.job_id))
