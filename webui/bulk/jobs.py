"""Start batch edits, their previews and their undoing as jobs."""

from silocuration.batch.job import create_job
from silocuration.batch.journal import Doing, JobJournal
from silocuration.batch.planned import discard, preview_planned
from silocuration.batch.specs import JobSpec, summary
from silocuration.errors import CurationError, RuleRefused
from silocuration.jobs import PREVIEW, SAMPLES, begin_change, begin_undo
from silowork.values import Job
from webui import urls
from webui.activity import note_job
from webui.http.messages import Response, redirect
from webui.rendering import changed_answer, json_answer
from webui.site import Call
from webui.words.texts import text as _

AT_ONCE = 300
"""Records that a request previews itself: about a tenth of a second of them."""


def start_bulk_job(call: Call, job_id: str) -> Job:
    """Start or resume a planned batch edit; its journal has the result."""
    title = f"Batch edit: {_title(call.site.silo.path, job_id)}"
    job = begin_change(call.site.jobs, job_id, title, call.user.name)
    note_job(call, job, job.kind)
    return job


def start_preview(call: Call, job_id: str) -> Job:
    """Start the complete preview of a planned batch edit; its journal names the job."""
    title = f"Preview: {_title(call.site.silo.path, job_id)}"
    job = call.site.jobs.begin(PREVIEW.name, title, {"job": job_id}, call.user.name)
    with JobJournal.open(call.site.silo.path, job_id) as journal:
        journal.note(preview_job=job.job_id)
    note_job(call, job, job.kind)
    return job


def start_bulk_undo(call: Call, job_id: str) -> Job:
    """Start to undo a batch edit."""
    title = f"Undo: {_title(call.site.silo.path, job_id)}"
    job = begin_undo(call.site.jobs, job_id, title, call.user.name)
    note_job(call, job, job.kind)
    return job


def title_of_edit(silo_path: str, job_id: str) -> str:
    """What a batch edit is called; ``""`` if its journal is missing or cannot be read."""
    try:
        return _title(silo_path, job_id)
    except CurationError:
        return ""


def _title(silo_path: str, job_id: str) -> str:
    """Such as ``type: Article → article``; or the rule's own title if it has one."""
    with JobJournal.open(silo_path, job_id) as journal:
        about = journal.about()
    title, what = str(about.get("title", "")), summary(about)
    return f"{title} ({what})" if title and what and what != title else title or what


def _planned(call: Call, spec: JobSpec) -> tuple[str, int]:
    """Plan a batch edit; return its id and the number of its records.

    Raises:
        RuleRefused: It would be of no record; nothing is kept.
    """
    silo = call.site.silo
    job_id = create_job(silo, spec, agent=call.user.name, message=call.field("message"))
    with JobJournal.open(silo.path, job_id) as journal:
        records = journal.counts().get(Doing.PLANNED, 0)
    if not records:
        discard(silo, job_id)
        raise RuleRefused(_("no record is selected, so there is nothing to change"))
    return job_id, records


def apply(call: Call, spec: JobSpec) -> Response:
    """Start a batch edit as a job, and redirect to its page."""
    job_id, _records = _planned(call, spec)
    start_bulk_job(call, job_id)
    return begun(call, job_id)


def look_at_all(call: Call, spec: JobSpec) -> Response:
    """Plan a batch edit and preview it completely as a job; no record is changed."""
    return plan(call, spec, as_job=True)


def plan(call: Call, spec: JobSpec, *, as_job: bool = False) -> Response:
    """Plan a change, preview it, and lead to where its changes are chosen and applied.

    A small preview is there at once; a larger one is watched as a job.

    Raises:
        CurationError: The rules are too slow, or invalid, or no record is selected; nothing
            is kept.
    """
    silo = call.site.silo
    job_id, records = _planned(call, spec)
    page = urls.bulk_job(job_id)
    if as_job or records > AT_ONCE:
        job = start_preview(call, job_id)
        if call.wants_json:
            told = {"job": job_id, "url": page, "preview_job": job.job_id}
            return json_answer(told, 202, {"Location": urls.job(job.job_id)})
        return redirect(page)
    try:
        preview_planned(silo, job_id, samples=SAMPLES)
    except CurationError:
        discard(silo, job_id)
        raise
    if call.wants_json:
        return json_answer({"job": job_id, "url": page}, 201, {"Location": page})
    return redirect(page)


def begun(call: Call, job_id: str) -> Response:
    """Redirect to the page of a batch edit, which shows its progress and that of its undoing."""
    location = urls.bulk_job(job_id)
    return changed_answer(call, location, {"job": job_id, "url": location}, 202)
