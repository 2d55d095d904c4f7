"""The schedules of a Silo: files, jobs and the command."""

import json
import os
import signal
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from recordsilo import Silo
from silowork.broker import Broker
from silowork.due.timetable import Timetable, timetable_of_texts
from silowork.embedded import EmbeddedWorker
from silowork.errors import JobRefused
from silowork.ledger import JobLedger
from silowork.schedule_commands import schedule as command
from silowork.schedules import (
    Schedule,
    ScheduleNotFound,
    add_schedule,
    due_of,
    load_schedule,
    pause_schedule,
    remove_schedule,
    run_now,
    runs_of,
    schedule_names,
    start_due,
)
from silowork.values import Ending, Job, State

NIGHT = timetable_of_texts({"times": ["02:00"], "zone": "Europe/London", "jitter": "10m"})
DAY = timedelta(days=1)


@pytest.fixture
def path(tmp_path: Path) -> str:
    found = str(tmp_path / "myrepo")
    with Silo(found):
        pass
    return found


def audit(name: str = "nightly", wish: Timetable = NIGHT) -> Schedule:
    return Schedule(name, "audit", wish, {"share": "5"}, "Nightly audit", "ada")


def tomorrow() -> datetime:
    return datetime.now(UTC) + 2 * DAY


def test_a_schedule_is_read_as_it_was_stored(path: str) -> None:
    made = add_schedule(path, audit())
    assert made.made
    assert load_schedule(path, "nightly") == made
    text = Path(path, "curation/schedules/nightly.toml").read_text()
    assert 'times = [\n    "02:00",\n]' in text
    assert schedule_names(path) == ["nightly"]
    with pytest.raises(JobRefused, match="there is a schedule 'nightly' already"):
        add_schedule(path, audit())
    remove_schedule(path, "nightly")
    with pytest.raises(ScheduleNotFound):
        load_schedule(path, "nightly")


def test_a_schedule_whose_job_would_be_refused_is_refused(path: str) -> None:
    with pytest.raises(JobRefused, match="share of an audit"):
        add_schedule(path, replace(audit(), fields={"share": "none"}))
    with pytest.raises(JobRefused, match="cannot be the name"):
        add_schedule(path, audit("../up"))
    assert schedule_names(path) == []


def test_a_due_schedule_starts_one_job_until_that_is_over(path: str) -> None:
    add_schedule(path, audit())
    assert start_due(path) == []
    (job,) = start_due(path, tomorrow())
    assert (job.kind, job.agent) == ("audit", "schedule:nightly")
    assert job.arguments["share"] == 0.05
    assert start_due(path, tomorrow() + 9 * DAY) == []
    with pytest.raises(JobRefused, match="is not finished"):
        run_now(path, "nightly")
    ledger = JobLedger(path)
    ledger.claim(job.job_id, 3)
    ledger.end(job.job_id, Ending(True))
    assert start_due(path) == []
    assert len(start_due(path, tomorrow())) == 1


def test_a_paused_schedule_starts_nothing_but_can_be_run_now(path: str) -> None:
    add_schedule(path, audit())
    pause_schedule(path, "nightly")
    assert start_due(path, tomorrow()) == []
    assert run_now(path, "nightly").state is State.QUEUED
    assert due_of(load_schedule(path, "nightly"), runs_of(JobLedger(path), "nightly")) is None


def test_a_broken_file_does_not_hold_up_the_others(path: str) -> None:
    add_schedule(path, audit())
    Path(path, "curation/schedules/broken.toml").write_text("times = 5")
    assert [job.agent for job in start_due(path, tomorrow())] == ["schedule:nightly"]
    with pytest.raises(JobRefused, match=r"schedules/broken\.toml is invalid"):
        load_schedule(path, "broken")


@pytest.mark.long
def test_a_worker_starts_what_is_due(path: str) -> None:
    add_schedule(path, audit(wish=timetable_of_texts({"every": "30m"})))
    file = Path(path, "curation/schedules/nightly.toml")
    made = load_schedule(path, "nightly").made
    file.write_text(file.read_text().replace(made, "2020-01-01T00:00:00"))
    ledger = JobLedger(path)
    with EmbeddedWorker(Broker(path)):
        end = datetime.now(UTC) + timedelta(seconds=90)
        while not any(job.is_over for job in ledger.jobs()):
            assert datetime.now(UTC) < end
            time.sleep(0.05)
    assert [job.state for job in ledger.jobs()] == [State.DONE]


def test_the_command_adds_lists_pauses_and_removes(path: str) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(command, arguments)
        return done.exit_code, done.output

    empty = f"silo: no schedules; silo schedule add {path} makes one\n"
    assert run("list", path) == (0, empty)  # standard error, which click joins here
    code, said = run("add", path, "Every night", "audit", "--at", "02:00", "--field", "share=5")
    assert (code, said[:23]) == (0, "every-night: next run 2")
    assert "every-night\taudit\tevery day at 02:00 UTC\t2" in run("list", path)[1]
    assert run("pause", path, "every-night") == (0, "every-night is paused\n")
    assert "\tpaused\t-" in run("list", path)[1]
    assert run("resume", path, "every-night")[0] == 0
    assert "Audit: 5%" in run("run", path, "Every night")[1]
    assert "\trunning\tqueued" in run("list", path)[1]
    code, said = run("add", path, "other", "audit", "--at", "2 am")
    assert (code, "'2 am' is not a time of day; write 02:00" in said) == (2, True)
    assert run("add", path, "other", "change", "--every", "1d")[0] == 2
    assert run("remove", path, "every-night")[0] == 0
    assert run("remove", path, "every-night")[0] == 2
    assert os.listdir(Path(path, "curation/schedules")) == []


def test_a_list_has_the_other_schedules_where_some_are_invalid(path: str) -> None:
    for name in ("b", "d"):
        add_schedule(path, audit(name))
    directory = Path(path, "curation", "schedules")
    for name in ("a", "c"):
        (directory / f"{name}.toml").write_text("kind =")
    done = CliRunner().invoke(command, ["list", path])
    assert [line.partition("\t")[0] for line in done.stdout.splitlines()] == ["b", "d"]
    assert [line.partition(" is")[0] for line in done.stderr.splitlines()] == [
        f"silo: the schedule curation/schedules/{name}.toml" for name in ("a", "c")
    ]
    assert done.exit_code == 2
    done = CliRunner().invoke(command, ["list", path, "--json"])
    assert [json.loads(line)["name"] for line in done.stdout.splitlines()] == ["b", "d"]


@pytest.mark.parametrize(
    ("wish", "when"),
    [
        ({"times": ["02:00"], "weekdays": ["mon", "fri"]}, "mon,fri at 02:00 UTC"),
        ({"times": ["02:00", "14:30"], "zone": "Europe/London"},
         "every day at 02:00, 14:30 Europe/London"),
        ({"times": ["02:00"], "days": [1, 15], "months": [1, 7]},
         "day 1,15 of Jan,Jul at 02:00 UTC"),
        ({"times": ["02:00"], "months": [3]}, "every day of Mar at 02:00 UTC"),
        ({"every": "12h"}, "every 12h"),
        ({"once": "2126-12-01T02:00"}, "once at 2126-12-01T02:00:00+00:00"),
    ],
)  # fmt: skip
def test_a_list_says_when_in_words(path: str, wish: dict[str, Any], when: str) -> None:
    add_schedule(path, audit(wish=timetable_of_texts(wish)))
    done = CliRunner().invoke(command, ["list", path])
    assert done.stdout.split("\t")[:3] == ["nightly", "audit", when]


@pytest.mark.parametrize(
    "text",
    [
        "a=" + "[" * 50_000,
        'made = "9999-12-31T23:59:59Z"\nevery = "366d"',
        'made = "9999-12-31T23:59:59Z"\ntimes = ["02:00"]',
        'made = "0001-01-01T00:00:00Z"\ntimes = ["02:00"]\nzone = "America/New_York"',
    ],
)
def test_a_file_that_python_cannot_read_or_count_with_does_not_hold_up_the_others(
    path: str, text: str
) -> None:
    add_schedule(path, audit())
    Path(path, "curation/schedules/broken.toml").write_text(text)
    assert [job.agent for job in start_due(path, tomorrow())] == ["schedule:nightly"]
    with pytest.raises(JobRefused, match=r"schedules/broken\.toml is invalid"):
        load_schedule(path, "broken")


def ended(path: str, job_id: str, made: datetime) -> None:
    """End a job, as if it had been made at another time."""
    ledger = JobLedger(path)
    ledger.claim(job_id, 3)
    ledger.end(job_id, Ending(True))
    with sqlite3.connect(ledger.path) as connection:
        text = made.replace(tzinfo=None).isoformat(timespec="microseconds")
        connection.execute("UPDATE job SET made = ? WHERE id = ?", (text, job_id))


def test_a_clock_that_was_in_the_future_loses_no_run_and_repeats_none(path: str) -> None:
    add_schedule(path, audit(wish=timetable_of_texts({"every": "1d"})))
    now = datetime.now(UTC)
    for number in range(25):  # more than are remembered
        (job,) = start_due(path, now + (number + 2) * DAY)
        ended(path, job.job_id, now + (1000 + number) * DAY)
    assert start_due(path, now + DAY / 2) == []
    (job,) = start_due(path, now + 2 * DAY)
    ended(path, job.job_id, now + 2 * DAY)
    assert start_due(path, now + 2 * DAY) == []
    assert len(start_due(path, now + 3 * DAY)) == 1


def test_a_clock_set_back_a_little_repeats_no_run(path: str) -> None:
    add_schedule(path, audit(wish=timetable_of_texts({"every": "1d"})))
    start = datetime.now(UTC) + 2 * DAY
    (job,) = start_due(path, start)
    ended(path, job.job_id, start)
    assert start_due(path, start - timedelta(minutes=5)) == []


def test_a_job_that_a_wrong_clock_dated_later_still_runs_alone(path: str) -> None:
    add_schedule(path, audit())
    (job,) = start_due(path, tomorrow())
    ended(path, job.job_id, tomorrow() + 1000 * DAY)
    JobLedger(path).requeue(job.job_id, (State.DONE,))
    assert start_due(path, tomorrow() + DAY) == []
    with pytest.raises(JobRefused, match="is not finished"):
        run_now(path, "nightly")


def test_a_schedule_made_with_a_clock_in_the_future_counts_from_now(path: str) -> None:
    made = add_schedule(path, audit(wish=timetable_of_texts({"every": "1d"}))).made
    file = Path(path, "curation/schedules/nightly.toml")
    file.write_text(file.read_text().replace(made, "2999-01-01T00:00:00"))
    assert start_due(path) == []
    assert len(start_due(path, tomorrow())) == 1


def test_an_unreadable_job_of_a_schedule_does_not_stop_it(path: str) -> None:
    add_schedule(path, audit())
    (job,) = start_due(path, tomorrow())
    with sqlite3.connect(JobLedger(path).path) as connection:
        connection.execute("UPDATE job SET arguments = '[' WHERE id = ?", (job.job_id,))
    assert len(start_due(path, tomorrow())) == 1


def test_workers_that_look_at_once_start_one_job(path: str) -> None:
    add_schedule(path, audit())
    with ThreadPoolExecutor(8) as workers:
        started = workers.map(lambda _: start_due(path, tomorrow()), range(8))
    assert sum(len(jobs) for jobs in started) == 1


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_worker_killed_around_the_start_of_a_job_starts_it_once(path: str, place: str) -> None:
    add_schedule(path, audit())
    worker = os.fork()
    if worker == 0:
        add = JobLedger.add

        def killed(ledger: JobLedger, *arguments: Any) -> Job:
            if place == "after":
                add(ledger, *arguments)
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError

        JobLedger.add = killed  # type: ignore[assignment,method-assign]
        start_due(path, tomorrow())
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) == -signal.SIGKILL
    assert len(start_due(path, tomorrow())) == (place == "before")
    assert len(JobLedger(path).jobs()) == 1
