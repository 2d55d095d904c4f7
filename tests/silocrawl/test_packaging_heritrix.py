"""The checkpoints of a real Heritrix, killed and resumed, are packaged and well in the store."""

import time
from datetime import timedelta
from pathlib import Path

import pytest
import real_heritrix
from click.testing import CliRunner
from site_of_traps import Site, page
from waiting import wait_until

from recordsilo import Silo
from recordsilo.cli import silo_command
from silocrawl.heritrix.jobs import JobPlan
from silocrawl.heritrix.making import make_job, resume_job
from silocrawl.heritrix.states import Action, State
from silocrawl.packages.kept import load_packages
from silocrawl.packages.values import State as Reached
from silocrawl.scope import Scope, ScopeKind
from silocrawl.targets import Target, add_target
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues

pytestmark = pytest.mark.long
PAGES = 30


def test_checkpoints_of_a_job_that_was_killed_are_packaged(
    silo: Silo, queues: SqliteQueues, site: Site, tmp_path: Path
) -> None:
    links = [f"/theses/{number}" for number in range(PAGES)]
    for link in links:
        site.pages[link] = lambda _headers: (time.sleep(0.05), page("x"))[1]
    site.pages["/theses/"] = page("".join(f'<a href="{link}">x</a>' for link in links))
    target = Target(
        "theses",
        Timetable(every=timedelta(days=1)),
        f"{site.url}/theses/",
        scope=Scope(ScopeKind.PATH),
    )
    add_target(silo.path, target)
    plan = JobPlan("theses", target, "http://127.0.0.1/crawler", interval=0.0)
    with real_heritrix.running(real_heritrix.NEW, tmp_path / "work") as real:
        make_job(real.client, queues, plan)
        real.client.launch("theses")
        wait_until(lambda: site.asked["/theses/3"], 60)
        real.client.checkpoint("theses")
        wait_until(lambda: sum(site.asked[one] > 0 for one in links) > PAGES / 2, 60)
        real.kill()
        real.start()
        resume_job(real.client, "theses")
        real.wait_for("theses", State.FINISHED)
        real.client.act("theses", Action.TEARDOWN)
        job = real.jobs / "theses"
    for path in sorted(job.glob("2*/warcs/*.open")):  # of the launch that was killed
        told = _silo("package", silo.path, "--store", tmp_path / "store", "--heritrix", job)
        assert path.name.removesuffix(".open") in told
        path.rename(path.with_suffix(""))
    _silo("package", silo.path, "--store", tmp_path / "store", "--heritrix", job)
    packages, _ = load_packages(silo.path)
    assert all(one.state is Reached.VERIFIED for one in packages)
    assert {one.software.partition(" ")[0] for one in packages} == {"Heritrix/3.13.0"}
    names = [warc.name for one in packages for warc in one.warcs]
    assert sorted(names) == sorted(path.name for path in job.glob("2*/warcs/*.warc.gz"))
    assert len(packages) >= 3  # the checkpoint, and the ends of both launches


def _silo(command: str, *words: str | Path) -> str:
    given = ["crawl", command, *map(str, words)]
    return CliRunner().invoke(silo_command, given, standalone_mode=False).output
