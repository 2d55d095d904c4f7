"""What is done in the page beside changes of records, as lines of the activity log."""

from silocuration.activity import ValueChange, changes_of, log_activity
from silowork.values import Job
from webui.site import Call


def note(
    call: Call, action: str, *values: ValueChange, agent: str = "", message: str = "", job: str = ""
) -> None:
    """Add what was done just now; by whoever asks, unless `agent` says by whom.

    Raises:
        OSError: The disk refused; what was done is done.
    """
    lines = changes_of(
        values,
        agent=agent or call.user.name,
        action=action,
        identifier="",
        version="",
        message=message,
        job=job,
    )
    log_activity(call.site.silo.path, lines)


def note_job(call: Call, job: Job, action: str) -> None:
    """Add who began a job, or did something to it."""
    note(call, action, message=job.title, job=job.job_id)
