"""Bulk changes that were made: how far each is, what it passed over, and taking it back."""

from curation.bulk import JobReport, job_report
from curation.job_journal import Doing, job_ids
from webui import urls
from webui.bulk_jobs import start_bulk_job, start_bulk_undo
from webui.http_values import Response, redirect
from webui.rendering import View, json_answer
from webui.site import Call
from webui.texts import text as _

PAGE = 50
DOING_LABELS = {
    Doing.PLANNED: "not reached yet",
    Doing.BEGUN: "being written",
    Doing.DONE: "changed",
    Doing.UNCHANGED: "nothing to do",
    Doing.SKIPPED: "passed over",
    Doing.UNDOING: "being taken back",
    Doing.UNDONE: "taken back",
    Doing.KEPT: "kept: changed since",
}
"""English texts of the catalogue."""


def show(call: Call) -> View:
    """The bulk changes, the newest first."""
    before = call.request.query.get("before", "")
    earlier = [one for one in job_ids(call.site.silo.path) if not before or one < before]
    found = [job_report(call.site.silo, one) for one in earlier[:PAGE]]
    rest = earlier[PAGE:]
    following = urls.with_query(urls.BULK_JOBS, {"before": earlier[PAGE - 1]}) if rest else ""
    twin = {
        "jobs": [report.to_json() for report in found],
        "next": urls.twin(following) if following else None,
    }
    first = urls.BULK_JOBS if before else ""
    data = {"reports": found, "said": said, "first": first, "following": following}
    return View("bulk_jobs.mako", data, twin, urls.BULK_JOBS)


def show_one(call: Call) -> View:
    """How far a bulk change is."""
    report = job_report(call.site.silo, call.params["job"])
    data = {
        "report": report,
        "said": said(report),
        "counts": [(_(DOING_LABELS[state]), n) for state, n in report.counts.items() if n],
        "can_undo": report.counts.get(Doing.DONE, 0) + report.counts.get(Doing.KEPT, 0) > 0,
        "url": urls.bulk_job(report.job_id),
    }
    return View("bulk_job.mako", data, report.to_json(), urls.bulk_job(report.job_id))


def said(report: JobReport) -> str:
    """How far a change is, in words; never that it is well where something was passed over."""
    if not report.is_finished:
        return _("under way, or stopped before its end")
    if report.counts.get(Doing.KEPT):
        return _("taken back, but for what was changed since")
    if report.counts.get(Doing.UNDONE):
        return _("taken back")
    if report.counts.get(Doing.SKIPPED):
        return _("done, but for what was passed over")
    return _("done")


def resume(call: Call) -> Response:
    """Go on with a change that was stopped."""
    report = job_report(call.site.silo, call.params["job"])
    start_bulk_job(call, report.job_id)
    return _begun(call, report)


def undo(call: Call) -> Response:
    """Take back what a change did."""
    report = job_report(call.site.silo, call.params["job"])
    start_bulk_undo(call, report.job_id)
    return _begun(call, report)


def _begun(call: Call, report: JobReport) -> Response:
    location = urls.bulk_job(report.job_id)
    if call.wants_json:
        return json_answer({"job": report.job_id, "url": location}, 202, {"Location": location})
    return redirect(location)
