"""Jobs: the list, the page of one job, and its actions."""

import os
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from wsgiref.util import FileWrapper

from recordsilo.contributions import ContributionBroken
from recordsilo.disk.regular_file import open_regular
from silocuration.batch.job import undone_counts
from silocuration.batch.journal import Doing, job_ids
from silocuration.errors import CurationError
from silocuration.jobs import CHANGE
from siloexport.errors import ExportError
from siloexport.jobs import DRY_RUN, EXPORT, export_of_preview, place_of
from siloexport.target_kinds import kind_named
from silowork.ledger import KEPT_PROBLEMS
from silowork.values import ACTIVE, Job, JobAction, Problem, State
from webui import urls
from webui.activity import note_job
from webui.asked_jobs import asked_of, form_of
from webui.http.errors import NotFound, refusal
from webui.http.messages import Response, redirect, whole_number
from webui.http.streams import BLOCK
from webui.job_events import CLOSING, JobEvents, Look, TooManyStreams, active_jobs, one_job
from webui.job_view import Shown, failures, job_json, may_steer, page_of, receipt_of
from webui.people.roles import Role
from webui.rendering import View, changed_answer
from webui.site import Call
from webui.words.texts import text as _

DOWNLOADS = {"zip": "Download zip", "links": "Download list"}
"""Form of an export → the label of its file, an English text of the catalogue."""
PAGE = 50
PROBLEMS = 200
"""Maximum number of problems on the page of a job."""


def show(call: Call) -> View:
    """List the jobs, the newest first."""
    found = call.site.jobs.ledger.jobs(PAGE + 1, call.request.query.get("before", ""))
    shown, rest = [(job, _undone(call, job)) for job in found[:PAGE]], found[PAGE:]
    following = urls.jobs(before=found[PAGE - 1].job_id) if rest else None
    problem = call.site.jobs.problem(is_waiting=_waits(found[:PAGE]))
    active = call.site.jobs.ledger.active()
    twin = {
        "jobs": [_listed(job, undone, active) for job, undone in shown],
        "next": following,
        "problem": problem,
    }
    data = {
        "jobs": [Shown.of(job, call.user, undone, active) for job, undone in shown],
        "is_first": "before" not in call.request.query,
        "is_active": _waits(found[:PAGE]),
        "following": following,
        "problem": problem,
        "may_begin": call.user.may(Role.MANAGER),
    }
    return View("jobs.mako", data, twin, urls.jobs())


def show_one(call: Call) -> View | Response:
    """Show one job; batch edits have their own page."""
    jobs = call.site.jobs
    job = jobs.ledger.job(call.params["job"])
    undone = _undone(call, job)
    if not call.wants_json and _has_journal(call, job):
        return redirect(page_of(job))
    after = whole_number(call.request.query.get("after", ""), 0, 10**11) or 0
    problems = jobs.ledger.problems(job.job_id, PROBLEMS, after)
    named = min(job.problems, KEPT_PROBLEMS)
    more = len(problems) == PROBLEMS and problems[-1][0] < named
    url = urls.job(job.job_id)
    following = urls.job(job.job_id, after=problems[-1][0]) if more else None
    active = jobs.ledger.active()
    twin = job_json(job, undone, active) | {
        "problem": jobs.problem(is_waiting=_waits([job])),
        "failed": [{"identifier": one.identifier, "reason": one.reason} for _n, one in problems],
        "next": following,
    }
    data = {
        "job": job,
        "shown": Shown.of(job, call.user, undone, active),
        "receipt": receipt_of(job, call.site.set_name),
        "again": _again(call, job),
        "asked": asked_of(job.kind, job.arguments, call.site.set_name),
        "export": export_of_preview(job.arguments) if _is_preview(call, job) else {},
        "download": urls.job_file(job.job_id)
        if any(job.counts.values()) and _table_of(call, job)
        else "",
        "download_label": _(DOWNLOADS.get(str(job.arguments.get("form")), "Download table")),
        "problem": twin["problem"],
        "problems": [one for one in problems if one[1] != Problem("", job.sentence)],
        "named": named,
        "failures": failures(job),
        "following": following,
        "url": url,
    }
    return View("job.mako", data, twin, url)


def _again(call: Call, job: Job) -> str:
    """The address of the form of a job that failed, for a user who may start it."""
    if job.state is not State.FAILED or not job.sentence or not call.user.may(Role.MANAGER):
        return ""
    return form_of(job, call.site.silo.path)


def _is_preview(call: Call, job: Job) -> bool:
    """Whether a job is a finished preview of an export that the user may start."""
    is_preview = job.kind == EXPORT.name and job.arguments.get(DRY_RUN)
    return bool(is_preview and job.is_over and call.user.may(Role.MANAGER))


def act(call: Call) -> Response:
    """Pause, resume, stop or retry a job.

    Raises:
        NotFound: There is no such action.
        WebError: The user's role does not permit it (403, ``not_allowed``).
    """
    jobs = call.site.jobs
    job = jobs.ledger.job(call.params["job"])
    if not may_steer(call.user, job):
        sentence = _("Only managers may start, pause or stop this job.")
        raise refusal(HTTPStatus.FORBIDDEN, "not_allowed", sentence)
    try:
        action = JobAction(call.params["action"])
    except ValueError:
        raise NotFound("There is no page at this address.") from None
    job = jobs.act(job.job_id, action)
    note_job(call, job, action.value)
    return _led(call, job, 200)


def download(call: Call) -> Response:
    """Send the table that a job exported, from beside the Silo.

    Raises:
        NotFound: The job has no table, or the table no longer exists.
    """
    job = call.site.jobs.ledger.job(call.params["job"])
    path = _table_of(call, job)
    if not path:
        raise NotFound("This job has no table, or the table no longer exists.")
    file = open_regular(path, follow=False)
    headers = {"Content-Disposition": f'attachment; filename="{os.path.basename(path)}"'}
    size = os.fstat(file.fileno()).st_size
    media_type = kind_named(str(job.arguments["form"])).media_type
    return Response(200, FileWrapper(file, BLOCK), media_type, headers, size)


def _table_of(call: Call, job: Job) -> str:
    """The path of an export's table; empty if there is none."""
    form = str(job.arguments.get("form", ""))
    if job.kind != EXPORT.name or not _is_of_files(form):
        return ""
    path = place_of(call.site.silo.path, str(job.arguments["name"]), form)
    linked = any(map(os.path.islink, (os.path.dirname(path), path)))
    return path if os.path.isfile(path) and not linked else ""


def _is_of_files(form: str) -> bool:
    try:
        return kind_named(form).write is not None
    except (ExportError, ContributionBroken):  # a package that was installed at its start
        return False


def events(call: Call) -> Response:
    """Stream a job's progress (``text/event-stream``)."""
    ledger = call.site.jobs.ledger
    job = ledger.job(call.params["job"])
    return _stream(one_job(ledger, job.job_id))


def all_events(call: Call) -> Response:
    """Stream the progress of all waiting and running jobs (``text/event-stream``)."""
    return _stream(active_jobs(call.site.jobs.ledger))


def _stream(look: Look) -> Response:
    try:
        body = JobEvents(look, CLOSING)
    except TooManyStreams:
        raise refusal(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "busy",
            _("Too many people are watching jobs. Request the JSON of this page instead."),
        ) from None
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Response(200, body, "text/event-stream; charset=utf-8", headers, is_live=True)


# --------------------------------------------------------------------------- within


def _led(call: Call, job: Job, status: int) -> Response:
    return changed_answer(call, urls.job(job.job_id), job_json(job), status)


def _listed(
    job: Job, undone: Mapping[Doing, int] | None, active: Sequence[Job]
) -> Mapping[str, Any]:
    known = job_json(job, undone, active)
    left_out = {"report", "arguments"}
    short = {name: value for name, value in known.items() if name not in left_out}
    return short | {"url": urls.job(job.job_id)}


def _undone(call: Call, job: Job) -> Mapping[Doing, int] | None:
    """How much of a batch edit was undone; None for other jobs."""
    if job.kind != CHANGE.name:
        return None
    try:
        return undone_counts(call.site.silo.path, job.job_id)
    except CurationError:  # discarded, or unreadable: its own page says so
        return None


def _has_journal(call: Call, job: Job) -> bool:
    change = job.arguments.get("job")
    return bool(change) and str(change) in job_ids(call.site.silo.path)


def _waits(jobs: list[Job]) -> bool:
    return any(job.state in ACTIVE for job in jobs)
