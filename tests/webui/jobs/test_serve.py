"""`silo serve` runs a worker and leaves nothing behind; `silo jobs` shows the jobs."""

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from click.testing import CliRunner
from examples import family
from running_processes import descendants_of, is_alive

from silowork.commands import jobs as jobs_command
from silowork.ledger import JobLedger
from silowork.service import Jobs
from silowork.values import Ending, Problem, State

Until = Callable[..., None]
PYTHON = [sys.executable, "-c", "from recordsilo.cli import main; main()"]
pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at /proc")


@pytest.fixture
def serving(silo_path: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`silo serve`, and its port."""
    with page_of(silo_path) as found:
        yield found


@contextmanager
def page_of(path: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`silo serve` of a Silo or a directory of Silos, and its port."""
    command = [*PYTHON, "serve", path, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())
        assert found
        yield process, int(found[1])
    finally:
        process.kill()
        process.communicate()


def begin_audit(port: int, path: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = json.dumps({"kind": "audit"})
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    job_id = json.loads(answer.read())["job"]
    answer.close()
    connection.close()
    return str(job_id)


def sessions_of(pid: int) -> set[int]:
    """The sessions of the processes below a process, but for its own and that of its worker."""
    worker, *others = descendants_of(pid)
    found = set()
    for one in others:
        with suppress(ProcessLookupError):  # it has ended
            found.add(os.getsid(one))
    return found - {worker}


@pytest.mark.parametrize("number", family([signal.SIGINT, signal.SIGTERM, signal.SIGKILL], 1))
@pytest.mark.long
def test_however_the_page_ends_no_process_is_left_and_no_job_is_lost(
    serving: tuple[subprocess.Popen[str], int],
    silo_path: str,
    number: signal.Signals,
    until: Until,
) -> None:
    process, port = serving
    ledger = JobLedger(silo_path)
    job_id = begin_audit(port, "/jobs")
    until(lambda: ledger.job(job_id).state is not State.QUEUED)
    family = descendants_of(process.pid)
    assert family
    process.send_signal(number)
    code = process.wait(timeout=60)
    assert code == (0 if number is not signal.SIGKILL else -signal.SIGKILL)
    until(lambda: not any(is_alive(pid) for pid in family))
    assert ledger.job(job_id).state in {State.QUEUED, State.RUNNING, State.DONE}


@pytest.mark.long
def test_the_page_of_a_directory_has_one_worker_for_all_its_silos(
    silo_path: str, tmp_path: Any, until: Until
) -> None:
    many = tmp_path / "many"
    for name in ("a", "b"):
        shutil.copytree(silo_path, many / name)
    with page_of(str(many)) as (process, port):
        made = [
            (JobLedger(str(many / name)), begin_audit(port, f"/silos/{name}/jobs"))
            for name in ("a", "b")
        ]
        until(lambda: all(ledger.job(job_id).is_over for ledger, job_id in made))
        until(lambda: not sessions_of(process.pid))  # the processes of the jobs have ended
        family = descendants_of(process.pid)
        process.terminate()
        assert process.wait(timeout=60) == 0
    assert [ledger.job(job_id).state for ledger, job_id in made] == [State.DONE] * 2
    assert not any(is_alive(pid) for pid in family)


def test_the_jobs_are_listed_and_one_is_shown_with_what_it_did_not_do(silo_path: str) -> None:
    ledger = JobLedger(silo_path)
    job = ledger.add("change", "Types in one spelling", {"job": "x"}, "ada")
    ledger.claim(job.job_id, 3)
    problems = [Problem("a:1", "is gone"), Problem("", "the disk is full")]
    ledger.end(job.job_id, Ending(False, text="   599  records done", problems=problems))
    run: Any = CliRunner().invoke
    listed = run(jobs_command, [silo_path], standalone_mode=False)
    assert f"{job.job_id}  " in listed.output
    assert "failed" in listed.output
    shown = run(jobs_command, [silo_path, job.job_id], standalone_mode=False)
    assert shown.return_value == 1
    assert shown.output.endswith("   599  records done\na:1: is gone\nthe disk is full\n")
    as_json = run(jobs_command, [silo_path, job.job_id, "--json"], standalone_mode=False)
    assert json.loads(as_json.output)["failed"][0] == {"identifier": "a:1", "reason": "is gone"}


def test_a_job_is_paused_from_the_command_line(silo_path: str, jobs: Jobs) -> None:
    job = jobs.begin("audit", "Audit", {}, "ada")
    run: Any = CliRunner().invoke
    for action, state in (("pause", State.PAUSED), ("resume", State.QUEUED), ("stop", "stopped")):
        result = run(jobs_command, [silo_path, job.job_id, "--do", action])
        assert result.exit_code == 0, result.output
        assert jobs.ledger.job(job.job_id).state == state
    refused = run(jobs_command, [silo_path, job.job_id, "--do", "pause"])
    assert (refused.exit_code, refused.output) == (
        2,
        f"silo: the job {job.job_id} is stopped and cannot be paused\n",
    )
    unknown = run(jobs_command, [silo_path, "20000101T000000Z-000000"])
    assert unknown.exit_code == 2
    assert "there is no job" in unknown.output
