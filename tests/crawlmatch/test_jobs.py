"""Matches as jobs: shards that any worker may make, and a match that needs none of them."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from known_truth import crawls
from truth_rows import rows_of

from crawlmatch.jobs import CRAWL_MATCH, SHARDS, arguments_of
from crawlmatch.kept import crawl_named, crawls_beside, inputs_beside
from crawlmatch.matching import MatchRequest, match_into
from crawlmatch.rules import LineRules
from crawlmatch.shards import ShardTask
from recordsilo import Silo
from recordsilo.disk.locks import Locks
from silowork.errors import JobRefused
from silowork.kinds import read_request
from silowork.running import run_job
from silowork.service import Jobs
from silowork.stop import Stop
from silowork.values import State

PARTS = 2
FORM = {"name": "spring", "seeds": "seeds.tsv"} | {f"input-log-{n}": "yes" for n in range(PARTS)}


@pytest.fixture
def beside(silo: Silo) -> Path:
    """The directory of inputs, with a log in parts and its seeds."""
    place = Path(crawls_beside(silo.path))
    place.mkdir()
    crawl = crawls(60)
    for part in range(PARTS):
        lines = (f"{line}\n" for line in crawl.lines[part::PARTS])
        (place / f"log-{part}").write_text("".join(lines))
    seeds = (f"{url}\t{identifier}\n" for url, identifier in crawl.seeds)
    (place / "seeds.tsv").write_text("".join(seeds))
    return place


@pytest.fixture
def rows(beside: Path, tmp_path: Path) -> list[Any]:
    """What a match of all parts at once gives."""
    logs = [str(beside / f"log-{n}") for n in range(PARTS)]
    match_into(str(tmp_path), MatchRequest(logs, seeds=[str(beside / "seeds.tsv")]), tables=False)
    return rows_of(tmp_path / "crawl_result.sqlite")


def begun(silo: Silo) -> tuple[Jobs, str]:
    jobs = Jobs.of(silo.path)
    asked = read_request("crawl-match", FORM, silo.path, 0)
    return jobs, jobs.begin("crawl-match", asked.title, asked.arguments, "ada").job_id


def stored(silo: Silo) -> list[Any]:
    return rows_of(Path(crawl_named(silo.path, "spring").database))


def test_a_match_makes_the_shards_that_no_worker_makes(silo: Silo, rows: list[Any]) -> None:
    jobs, job_id = begun(silo)
    assert run_job(silo.path, job_id) is State.FAILED  # the log has lines that are none
    job = jobs.ledger.job(job_id)
    assert job.counts["links"] == sum(row["terminal"] == 1 for row in rows)
    assert job.report == {"crawl": "spring"}
    assert not job.sentence
    assert stored(silo) == rows

    shards = [one.job_id for one in jobs.ledger.active()]
    assert shards == [f"{job_id}-{number:04}" for number in range(PARTS)]
    assert [run_job(silo.path, one) for one in shards] == [State.DONE] * PARTS
    assert not os.path.exists(f"{silo.path}/{SHARDS}/spring")


def test_a_match_takes_the_shards_that_workers_made(silo: Silo, rows: list[Any]) -> None:
    jobs, job_id = begun(silo)
    stop = Stop()
    stop.ask()
    assert run_job(silo.path, job_id, stop) is State.QUEUED  # its shards are jobs now
    shards = [one.job_id for one in jobs.ledger.active() if one.job_id != job_id]
    assert [run_job(silo.path, one) for one in shards] == [State.DONE] * PARTS
    made = Path(silo.path, SHARDS, "spring")
    kept = {one.name: one.stat().st_ino for one in made.iterdir()}
    assert len(kept) == PARTS
    assert run_job(silo.path, shards[0]) is None
    for one in shards:  # delivered once more
        jobs.ledger.requeue(one, (State.DONE,))
        assert run_job(silo.path, one) is State.DONE
    assert {one.name: one.stat().st_ino for one in made.iterdir()} == kept
    run_job(silo.path, job_id)
    assert stored(silo) == rows
    assert not made.exists()


def test_a_match_waits_for_a_shard_that_another_process_makes(
    silo: Silo, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs, job_id = begun(silo)
    monkeypatch.setattr(Stop, "wait", lambda self, _seconds: self.ask())
    with ExitStack() as held:
        for number in range(PARTS):
            name = ShardTask(str(beside / f"log-{number}"), LineRules()).name
            locks = Locks(os.path.join(silo.path, ".silo", "locks"))
            held.enter_context(locks.hold_name(f"shard-{name}"))
        assert run_job(silo.path, job_id) is State.QUEUED
    advance = jobs.ledger.job(job_id).advance
    assert (advance.done, advance.total, advance.step) == (0, PARTS, "inputs read")
    assert not os.path.exists(f"{silo.path}/{SHARDS}/spring")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"seeds": "../seeds.tsv"}, "no list of seeds '../seeds.tsv'"),
        ({"input-../log": "yes"}, "has no field 'input-../log' here"),
        ({"name": "../x"}, "'../x' is not a valid name"),
        ({f"input-log-{n}": "" for n in range(PARTS)}, "choose at least one log"),
    ],
)
def test_a_form_names_files_beside_the_silo_and_no_others(
    silo: Silo, beside: Path, fields: dict[str, str], told: str
) -> None:
    with pytest.raises(JobRefused, match=told.replace("(", r"\(")):
        read_request("crawl-match", FORM | fields, silo.path, 0)


def test_the_command_leaves_a_match_to_workers(
    silo: Silo, beside: Path, rows: list[Any], invoke: Callable[..., Any]
) -> None:
    logs = [beside / f"log-{n}" for n in range(PARTS)]
    more = ("--seeds", beside / "seeds.tsv", "--name", "spring", "--queue")
    done = invoke("match", silo.path, *logs, *more)
    job_id = done.stdout.partition(":")[0]
    assert "no worker is running" in done.stderr
    run_job(silo.path, job_id)
    assert stored(silo) == rows
    refused = invoke("match", silo.path, "-", *more, code=2)
    assert "cannot read standard input" in str(refused.exception)


def test_a_missing_input_ends_the_job_with_a_sentence(silo: Silo, beside: Path) -> None:
    jobs, job_id = begun(silo)
    (beside / "log-1").unlink()
    assert run_job(silo.path, job_id) is State.FAILED
    assert "log-1 cannot be read: No such file" in jobs.ledger.job(job_id).sentence
    assert silo.path not in jobs.ledger.job(job_id).sentence


@pytest.mark.long
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="kills by signals of Linux")
def test_workers_that_are_killed_are_continued_by_the_next(silo: Silo, rows: list[Any]) -> None:
    jobs, job_id = begun(silo)
    command = [sys.executable, "-c", "from recordsilo.cli import main; main()", "worker", silo.path]
    chance = random.Random(5)
    for _ in range(4):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as worker:
            time.sleep(chance.uniform(0.5, 3))
            worker.send_signal(signal.SIGKILL)
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as worker:
        end = time.monotonic() + 120
        while jobs.ledger.active() and time.monotonic() < end:
            time.sleep(0.1)
        worker.send_signal(signal.SIGTERM)
    assert jobs.ledger.job(job_id).counts, jobs.ledger.job(job_id)
    assert stored(silo) == rows
    assert os.listdir(f"{silo.path}/crawls") == ["spring"]


def test_links_pipes_and_devices_beside_the_silo_are_no_inputs(silo: Silo) -> None:
    place = Path(crawls_beside(silo.path))
    place.mkdir()
    (place / "shard").mkdir()
    (place / "crawl.log").touch()
    (place / "link.log").symlink_to("/etc/passwd")
    os.mkfifo(place / "pipe.log")
    assert inputs_beside(silo.path) == ["crawl.log", "shard"]
    asked = MatchRequest(inputs=[str(place / "crawl.log")])
    arguments = arguments_of("spring", asked, "600MB")
    jobs = Jobs.of(silo.path)
    for name in ("link.log", "pipe.log"):
        job = jobs.begin(CRAWL_MATCH.name, "Match", {**arguments, "inputs": [name]}, "ada")
        run_job(silo.path, job.job_id)
        ended = jobs.ledger.job(job.job_id)
        assert (ended.state, "is a symbolic link, or no file" in ended.sentence) == (
            State.FAILED,
            True,
        )
