"""Where the page hands over a bulk change to be done, or undone, beside its requests."""

from silocuration.batch.job import create_job
from silocuration.batch.journal import JobJournal
from silocuration.batch.specs import JobSpec, summary
from silocuration.jobs import PREVIEW, begin_change, begin_undo
from silowork.values import Job
from webui import urls
from webui.activity import note_job
from webui.http.messages import Response, redirect
from webui.rendering import json_answer
from webui.site import Call
from webui.words.texts import text as _


def start_bulk_job(call: Call, job_id: str) -> Job:
    """Begin, or go on with, a planned change; what it comes to is in its journal."""
    title = _("Batch edit: {title}", title=_title(call, job_id))
    job = begin_change(call.site.jobs, job_id, title, call.user.name)
    note_job(call, job, job.kind)
    return job


def start_preview(call: Call, job_id: str) -> Job:
    """Begin to look at all that a planned change would do; its journal names the job."""
    title = _("Preview: {title}", title=_title(call, job_id))
    job = call.site.jobs.begin(PREVIEW.name, title, {"job": job_id}, call.user.name)
    with JobJournal.open(call.site.silo.path, job_id) as journal:
        journal.note(preview_job=job.job_id)
    note_job(call, job, job.kind)
    return job


def start_bulk_undo(call: Call, job_id: str) -> Job:
    """Begin to undo a change."""
    title = _("Undo: {title}", title=_title(call, job_id))
    job = begin_undo(call.site.jobs, job_id, title, call.user.name)
    note_job(call, job, job.kind)
    return job


def _title(call: Call, job_id: str) -> str:
    """Such as ``type: Article → article``; with its own title where a rule has one."""
    with JobJournal.open(call.site.silo.path, job_id) as journal:
        about = journal.about()
    title, what = str(about.get("title", "")), summary(about)
    return f"{title} ({what})" if title and what and what != title else title or what


def apply(call: Call, spec: JobSpec) -> Response:
    """Make a job of a change, start it, and lead to where it is watched."""
    job_id = create_job(call.site.silo, spec, agent=call.user.name, message=call.field("message"))
    start_bulk_job(call, job_id)
    return begun(call, job_id)


def look_at_all(call: Call, spec: JobSpec) -> Response:
    """Plan a change, and look at all that it would do as a job; nothing is written to records."""
    job_id = create_job(call.site.silo, spec, agent=call.user.name, message=call.field("message"))
    job = start_preview(call, job_id)
    if call.wants_json:
        told = {"job": job_id, "url": urls.bulk_job(job_id), "preview_job": job.job_id}
        return json_answer(told, 202, {"Location": urls.job(job.job_id)})
    return redirect(urls.bulk_job(job_id))


def begun(call: Call, job_id: str) -> Response:
    """Lead to the page of a change, where it and its undoing are watched."""
    location = urls.bulk_job(job_id)
    if call.wants_json:
        return json_answer({"job": job_id, "url": location}, 202, {"Location": location})
    return redirect(location)
