"""Where the page hands over a bulk change to be done, or undone, beside its requests."""

from silocuration.job_journal import JobJournal
from silocuration.jobs import PREVIEW, begin_change, begin_undo
from silowork.values import Job
from webui.activity import note_job
from webui.site import Call
from webui.words.texts import text as _


def start_bulk_job(call: Call, job_id: str) -> Job:
    """Begin, or go on with, a planned change; what it comes to is in its journal."""
    job = begin_change(call.site.jobs, job_id, _title(call, job_id), call.user.name)
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
    """Begin to take back what a change did."""
    title = _("Undo: {title}", title=_title(call, job_id))
    job = begin_undo(call.site.jobs, job_id, title, call.user.name)
    note_job(call, job, job.kind)
    return job


def _title(call: Call, job_id: str) -> str:
    with JobJournal.open(call.site.silo.path, job_id) as journal:
        about = journal.about()
    return str(about.get("title") or _("Changes of many records"))
