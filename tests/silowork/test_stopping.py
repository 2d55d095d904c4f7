"""Ctrl-C, once or twice, SIGTERM and the page stop long work; afterwards it continues."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from examples import family

from oaipmhprovider.sample import sample_repository
from oaipmhprovider.server import ProviderServer
from recordsilo import Silo
from silocuration.batch.job import create_job
from silocuration.batch.journal import job_ids
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Add
from silocuration.jobs import begin_change
from silowork.running import run_job
from silowork.service import Jobs
from silowork.values import Job, JobAction, State

Until = Callable[..., None]
RULES = RuleSet("Everything is a report", rules=(Add("type", "report"),))
RULE = '[[change]]\ndo = "add"\nfield = "type"\nvalue = "report"\n'
HELD_JOB = """
import sys
from pathlib import Path
from silowork.work import Work
advanced = Work.advanced
def held(self, done, *rest):
    advanced(self, done, *rest)
    if done:
        Path(sys.argv[1]).touch()
        self.stop.wait(3)
Work.advanced = held
from silowork.running import main
main(*sys.argv[2:], sys.stdin.fileno())
"""
"""A job's process that rests at each progress until it is asked to end.

Not for ever: a harvest takes signals between two pages, not while it shows its progress.
"""
HELD_COMMAND = """
import sys, time
from pathlib import Path
from {module} import {name}
done, ready, asked = {name}.{method}, Path(sys.argv[1]), Path(sys.argv[1] + " asked")
def held(*given):
    found = done(*given)
    if not ready.exists():
        ready.touch()
        end = time.monotonic() + 120
        while not asked.exists() and time.monotonic() < end:
            time.sleep(0.05)
    return found
{name}.{method} = held
sys.argv[:2] = ["silo"]
from recordsilo.cli import main
main()
"""
"""A command that rests, once, after its first records, until it was asked to end."""


def begun(kind: str, jobs: Jobs, silo_path: str, url: str) -> Job:
    if kind == "change":
        with Silo(silo_path, create=False) as silo:
            change = create_job(silo, rules_job(RULES), agent="ada")
        return begin_change(jobs, change, RULES.title, "ada")
    arguments = {
        "harvest": {"prefixes": ["oai_dc"], "url": url},
        "export": {"form": "files", "name": "out"},
        "audit": {"records": 600},
        "facet": {"select": {}, "field": "title"},
    }
    return jobs.begin(kind, kind, arguments[kind], "ada")


@pytest.mark.parametrize(
    ("how", "kind"),
    family(
        product(
            [State.QUEUED, State.STOPPED, State.PAUSED],
            ["harvest", "change", "export", "audit", "facet"],
        ),
        1,
    ),
)
@pytest.mark.long
def test_a_job_ends_by_sigterm_or_as_the_page_asks_and_goes_on(
    silo_path: str, jobs: Jobs, tmp_path: Path, until: Until, kind: str, how: State
) -> None:
    ready = tmp_path / "ready"
    with ProviderServer(sample_repository(300)) as server:
        if kind == "harvest":
            silo_path = str(tmp_path / "another")
            Silo(silo_path).close()
            jobs = Jobs.of(silo_path)
        job = begun(kind, jobs, silo_path, server.base_url)
        command = [sys.executable, "-c", HELD_JOB, str(ready), silo_path, job.job_id]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            until(lambda: ready.exists() or process.poll() is not None)
            assert process.poll() is None
            if how is State.QUEUED:
                process.send_signal(signal.SIGTERM)
            else:
                jobs.act(job.job_id, JobAction.STOP if how is State.STOPPED else JobAction.PAUSE)
            assert process.wait(60) == 0
        assert jobs.ledger.job(job.job_id).state is how
        if how is not State.QUEUED:
            jobs.act(job.job_id, JobAction.RETRY if how is State.STOPPED else JobAction.RESUME)
        assert run_job(silo_path, job.job_id) is State.DONE


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        pytest.param([signal.SIGINT], 130, id="Ctrl-C"),
        pytest.param([signal.SIGINT] * 2, 130, id="Ctrl-C twice", marks=pytest.mark.long),
        pytest.param([signal.SIGTERM], 75, id="SIGTERM", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize(
    ("held", "command", "again"),
    family(
        [
            (
                ("silocuration.batch.journal", "JobJournal", "keep"),
                "rules apply {silo} {rule}",
                "bulk resume {silo} {job}",
            ),
            (
                ("siloexport.ledger", "Ledger", "end_all"),
                "export files {silo} {out}",
                "export files {silo} {out}",
            ),
            (("recordsilo.audit.passes", "Pass", "after"), "check {silo}", "check {silo} --resume"),
        ],
        1,
    ),
    ids=["change", "export", "audit"],
)
@pytest.mark.long
def test_a_command_ends_by_a_signal_and_goes_on(
    silo_path: str,
    tmp_path: Path,
    until: Until,
    held: tuple[str, str, str],
    command: str,
    again: str,
    numbers: list[signal.Signals],
    code: int,
) -> None:
    (tmp_path / "rule.toml").write_text(RULE)
    ready, names = tmp_path / "ready", {"silo": silo_path, "rule": str(tmp_path / "rule.toml")}
    names |= {"out": str(tmp_path / "out")}
    script = HELD_COMMAND.format(**dict(zip(("module", "name", "method"), held, strict=True)))
    words = command.format(**names).split()
    with subprocess.Popen([sys.executable, "-c", script, str(ready), *words]) as process:
        until(lambda: ready.exists() or process.poll() is not None)
        for number in numbers:
            process.send_signal(number)
            time.sleep(0.3)
        Path(f"{ready} asked").touch()
        ended = process.wait(60)
        assert (
            128 - ended if ended < 0 else ended
        ) == code  # by a signal at its very end: 128 + it
    if "{job}" in again:
        (names["job"],) = job_ids(silo_path)
    main = "from recordsilo.cli import main; main()"
    words = again.format(**names).split()
    done = subprocess.run([sys.executable, "-c", main, *words], check=False)
    assert done.returncode == os.EX_OK
