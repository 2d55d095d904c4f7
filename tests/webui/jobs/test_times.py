"""What a waiting job waits for, and how long a running one still takes."""

from dataclasses import replace
from datetime import UTC, datetime

from silowork.values import Advance, Job, State
from webui.job_times import blocker, time_to_go
from webui.job_view import share_of

BEGUN = "2026-11-24T10:00:00.000000"
NOW = datetime(2026, 11, 24, 10, 1, tzinfo=UTC)


def job(number: int, kind: str = "change", state: State = State.QUEUED, **more: object) -> Job:
    values = {"arguments": {}, "agent": "ada", "made": BEGUN, "begun": BEGUN, "since": BEGUN}
    return replace(Job(f"j{number}", kind, f"Job {number}", **values, state=state), **more)  # type: ignore[arg-type]


def test_a_job_waits_for_the_one_of_its_lane_that_runs_or_is_ahead() -> None:
    running, ahead, last = job(2, state=State.RUNNING), job(1), job(3)
    other = job(0, "no such kind")
    assert blocker(last, [other, ahead, running, last]) is running
    assert blocker(last, [other, ahead, last]) is ahead
    assert blocker(ahead, [ahead, last]) is None
    assert blocker(running, [running]) is None
    assert share_of(last, [ahead, last]) == "Waits for: Job 1"


def test_a_running_job_tells_the_time_to_go_at_its_pace() -> None:
    running = job(1, state=State.RUNNING, advance=Advance(100, 500))
    assert time_to_go(running, NOW) == "about 4 minutes left"
    ending = replace(running, advance=Advance(499, 500))
    assert time_to_go(ending, NOW) == "less than a second left"
    for one in (
        replace(running, state=State.QUEUED),
        replace(running, since=""),
        replace(running, since="2026-11-24T10:00:58Z"),
        replace(running, advance=Advance(1, 500)),
        replace(running, advance=Advance(100)),
        replace(running, advance=Advance(100, 500, "oai_dc")),
        replace(running, done_before=99),
        replace(running, done_before=100),
        replace(running, advance=Advance(500, 500)),
    ):
        assert time_to_go(one, NOW) == ""


def test_a_resumed_job_is_judged_by_its_pace_since_then() -> None:
    running = job(1, state=State.RUNNING, advance=Advance(400, 500), mark={"after": "x"})
    resumed = replace(running, begun="2026-11-01T00:00:00Z", done_before=300)
    assert time_to_go(resumed, NOW) == "about 60 seconds left"
