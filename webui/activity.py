"""Lines of the activity log for actions other than changes of records."""

from silocuration.activity import ValueChange, changes_of, log_activity
from silowork.values import Job
from webui.site import Call


def note(
    call: Call, action: str, *values: ValueChange, agent: str = "", message: str = "", job: str = ""
) -> None:
    """Log an action of the current user, or of `agent` if given.

    Args:
        call: The request; its user is the default agent.
        action: Code of the action, such as ``add schedule``.
        values: What changed.
        agent: Another agent than the user.
        message: The reason, or a title.
        job: Id of the job concerned.

    Raises:
        OSError: The line could not be written; the action itself is done.
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
    """Log who started a job or acted on it."""
    note(call, action, message=job.title, job=job.job_id)
