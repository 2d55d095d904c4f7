"""The checkpoints of a real Heritrix, killed and resumed, on their whole way.

Into a store in a directory and into one in S3, verified there, merged on two access nodes, and
replayed by a real pywb from each.
"""

import time
from datetime import timedelta
from pathlib import Path

import fsspec
import pytest
import real_heritrix
import real_pywb
import requests
from click.testing import CliRunner
from object_store import BUCKET, s3_server, use_s3
from site_of_traps import Site, page
from waiting import wait_until

from recordsilo import Silo
from recordsilo.cli import silo_command
from silocrawl.heritrix.jobs import JobPlan
from silocrawl.heritrix.making import make_job, resume_job
from silocrawl.heritrix.states import HeritrixAction, HeritrixState
from silocrawl.packages.kept import load_packages
from silocrawl.packages.values import PackageState as Reached
from silocrawl.scope import Scope, ScopeKind
from silocrawl.targets import CrawlTarget, add_target
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues

pytestmark = pytest.mark.long
PAGES = 30


def test_a_job_that_was_killed_is_packaged_and_replayed_from_access_nodes(
    silo: Silo,
    queues: SqliteQueues,
    site: Site,
    tmp_path: Path,
    program: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    links = [f"/theses/{number}" for number in range(PAGES)]
    for link in links:
        site.pages[link] = lambda _headers: (time.sleep(0.05), page("x"))[1]
    site.pages["/theses/"] = page("".join(f'<a href="{link}">x</a>' for link in links))
    target = CrawlTarget(
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
        wait_until(lambda: site.asked["/theses/3"])
        real.client.checkpoint("theses")
        wait_until(lambda: sum(site.asked[one] > 0 for one in links) > PAGES / 2)
        real.kill()
        real.start()
        resume_job(real.client, "theses")
        real.wait_for("theses", HeritrixState.FINISHED)
        real.client.act("theses", HeritrixAction.TEARDOWN)
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
    pages = [f"{site.url}{link}" for link in links]
    _shown_by_two_nodes(silo.path, str(tmp_path / "store"), tmp_path, program, pages)
    with s3_server() as address, Silo(str(tmp_path / "other")) as other:
        use_s3(monkeypatch, address)
        fsspec.filesystem("s3", skip_instance_cache=True).mkdir(BUCKET)
        _silo("package", other.path, "--store", f"s3://{BUCKET}/crawls", "--heritrix", job)
        (tmp_path / "afar").mkdir()
        _shown_by_two_nodes(other.path, f"s3://{BUCKET}/crawls", tmp_path / "afar", program, pages)


def _shown_by_two_nodes(
    silo_path: str, store: str, directory: Path, program: str, pages: list[str]
) -> None:
    """Verify a store, merge it on two nodes, and ask the pywb of each for all pages."""
    assert " is well: " in _silo("verify", silo_path, "--store", store)
    for name in ("reading-room", "web"):
        access = directory / name
        _silo("merge", "--store", store, "--node", name, access)
        with real_pywb.serving(program, str(access)) as root:
            for url in pages:
                seen = requests.get(f"{root}/2026id_/{url}", timeout=60)
                assert (url, seen.status_code, seen.content) == (url, 200, page("x").body)


def _silo(command: str, *words: str | Path) -> str:
    given = ["crawl", command, *map(str, words)]
    return CliRunner().invoke(silo_command, given, standalone_mode=False).output
