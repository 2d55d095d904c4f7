"""What a waiting job waits for, and how long a running one still takes (pure)."""

from collections.abc import Iterable
from datetime import UTC, datetime

from silowork.values import Job, State
from silowork.watching import lane_of
from webui.words.durations import in_words
from webui.words.texts import text as _

LEAST_SECONDS = 5.0
"""A job that ran for less is not judged by its pace."""
LEAST_SHARE = 0.01
"""One that did a smaller share since then is not, either."""


def blocker(job: Job, active: Iterable[Job]) -> Job | None:
    """The job of the same lane that a waiting job waits for; None if nothing is in its way.

    Args:
        active: The jobs that wait or run, the oldest first.
    """
    if job.state is not State.QUEUED:
        return None
    lane, ahead = lane_of(job), None
    for one in active:
        if one.job_id == job.job_id or lane_of(one) != lane:
            continue
        if one.state is State.RUNNING:
            return one
        if one.job_id < job.job_id and ahead is None:
            ahead = one
    return ahead


def time_to_go(job: Job, now: datetime) -> str:
    """How long a running job still takes at its pace: ``about 4 minutes left``.

    The pace is that since it was started, or last resumed. Empty if it cannot be told: its end is
    not known, it has several steps, or it was started or resumed just now.
    """
    how_far = job.advance
    if job.state is not State.RUNNING or job.wish or how_far.step or not how_far.total:
        return ""
    try:
        since = datetime.fromisoformat(job.since)
    except ValueError:
        return ""
    seconds = (now - (since if since.tzinfo else since.replace(tzinfo=UTC))).total_seconds()
    done, left = how_far.done - job.done_before, how_far.total - how_far.done
    if seconds < LEAST_SECONDS or done < how_far.total * LEAST_SHARE or left <= 0:
        return ""
    to_go = seconds * left / done
    if round(to_go) < 1:
        return _("less than a second left")
    return _("about {time} left", time=in_words(to_go))
