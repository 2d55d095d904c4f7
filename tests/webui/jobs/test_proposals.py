"""Harvest, curate, harvest again: merges are proposed, conflicts wait, nothing is lost."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from oaipmhprovider import sample_repository
from oaipmhprovider.sample.mutable_source import MutableSource
from oaipmhprovider.server import ProviderServer
from oaipmhscraper.scraper import OAIPMHScraper
from recordsilo import Silo
from silocuration import proposal_jobs
from silocuration.upstream import ReviewKind, reviews
from silowork.running import run_job
from silowork.service import Jobs
from silowork.stop import Stop
from silowork.values import Job, State

CLEAN, CONFLICTING, PLAIN = (f"oai:repo.example:{name}" for name in ("clean", "conflict", "plain"))
BEGIN = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)


def document(title: str, kind: str = "Article") -> bytes:
    return (
        '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"'
        f' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title>'
        f"<dc:type>{kind}</dc:type></oai_dc:dc>"
    ).encode()


@dataclass
class Repository:
    """A repository with a clock of its own, and the Silo that is harvested from it."""

    source: MutableSource
    path: str
    now: datetime = BEGIN
    url: str = ""

    def publish(self, identifier: str, content: bytes) -> None:
        self.source.publish(identifier, {"oai_dc": content}, self.now)

    def run(self, kind: str, arguments: dict[str, Any]) -> Job:
        """A job of the page, done here."""
        jobs = Jobs.of(self.path)
        job = jobs.begin(kind, kind, arguments, "ada")
        run_job(self.path, job.job_id)
        self.now += timedelta(hours=1)
        return jobs.ledger.job(job.job_id)

    def curate(self, *identifiers: str) -> None:
        with Silo(self.path, create=False) as silo:
            for identifier in identifiers:
                record = silo[identifier]
                record.clone_version("1", "workingcopy")
                with record.get_stream("oai_dc") as stream:
                    content = stream.read().replace(b">A title<", b">The curated title<")
                record.put_stream("oai_dc", content, None, True)


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    path = str(tmp_path / "myrepo")
    Silo(path).close()
    found = Repository(MutableSource(sample_repository(20)), path)
    with ProviderServer(found.source, clock=lambda: found.now) as server:
        found.url = server.base_url
        for identifier in (CLEAN, CONFLICTING, PLAIN):
            found.publish(identifier, document("A title"))
        found.now += timedelta(hours=1)
        yield found


@pytest.fixture
def changed(repository: Repository) -> Repository:
    """Harvested, curated, and changed at the source since: everything is ready to meet."""
    arguments = {"prefixes": ["oai_dc"], "url": repository.url}
    first = repository.run("harvest", arguments)
    assert first.state is State.DONE, first.sentence
    assert first.report["proposals"] == {"proposed": 0, "waiting": {}, "failed": 0}
    repository.curate(CLEAN, CONFLICTING)
    repository.publish(CLEAN, document("A title", "Thesis"))
    repository.publish(CONFLICTING, document("Another title"))
    repository.publish(PLAIN, document("Another title"))
    repository.now += timedelta(hours=1)
    return repository


def contents(path: str) -> dict[tuple[str, str, str], bytes]:
    """Every file of the three records: (identifier, version, path) → its bytes."""
    found = {}
    with Silo(path, create=False) as silo:
        for identifier in (CLEAN, CONFLICTING, PLAIN):
            for version in silo[identifier].versions:
                for name in silo[identifier].paths(version):
                    with silo[identifier].get_stream(name, version) as stream:
                        found[identifier, version, name] = stream.read()
    return found


def kinds(path: str) -> dict[str, ReviewKind]:
    with Silo(path, create=False) as silo:
        return {one.identifier: one.kind for one in reviews(silo)}


def test_a_harvest_after_changes_at_the_source_proposes_queues_and_loses_nothing(
    changed: Repository,
) -> None:
    before = contents(changed.path)
    job = changed.run("update", {})
    assert job.state is State.DONE, job.sentence
    assert job.report["proposals"] == {
        "proposed": 1, "waiting": {"conflict": 1, "proposed": 1}, "failed": 0,
    }  # fmt: skip
    assert (job.counts["proposed"], job.counts["to decide"]) == (1, 2)
    assert "1 proposed now; to decide: 1 conflict, 1 proposed." in job.text
    assert kinds(changed.path) == {CLEAN: ReviewKind.PROPOSED, CONFLICTING: ReviewKind.CONFLICT}
    after = contents(changed.path)
    assert before.items() <= after.items()
    proposal = after[CLEAN, "workingcopy-from-2", "oai_dc"]
    assert b">The curated title<" in proposal
    assert b">Thesis<" in proposal
    with Silo(changed.path, create=False) as silo:
        assert silo[CLEAN].currentversion == silo[CONFLICTING].currentversion == "workingcopy"
        assert silo[CONFLICTING].versions == ["1", "workingcopy", "2"]
        assert silo[PLAIN].currentversion == "2"
        assert silo[CLEAN].origin("workingcopy-from-2").agent == "ada"


def test_a_harvest_of_the_whole_again_proposes_nothing_twice(changed: Repository) -> None:
    changed.run("update", {})
    before = contents(changed.path)
    job = changed.run("harvest", {"prefixes": ["oai_dc"], "url": changed.url})
    assert job.report["proposals"]["proposed"] == 0
    assert contents(changed.path) == before


def test_a_job_interrupted_while_it_proposes_does_not_harvest_again(
    changed: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object, **_named: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(proposal_jobs, "propose_all", interrupted)
        job = changed.run("update", {})
    assert job.state is State.QUEUED
    listed = changed.source.records
    monkeypatch.setattr(changed.source, "records", lambda *_: pytest.fail("it was listed again"))
    run_job(changed.path, job.job_id)
    monkeypatch.setattr(changed.source, "records", listed)
    job = Jobs.of(changed.path).ledger.job(job.job_id)
    assert job.state is State.DONE, job.sentence
    assert job.counts["updated"] == 3
    assert job.report["proposals"]["proposed"] == 1


def test_a_harvest_whose_proposals_fail_says_so_and_is_tried_again(changed: Repository) -> None:
    rules = Path(changed.path, "curation", "rules")
    rules.mkdir(parents=True)
    (rules / "broken.toml").write_text("no TOML", encoding="utf-8")
    job = changed.run("update", {})
    jobs = Jobs.of(changed.path)
    (problem,) = (one for _, one in jobs.ledger.problems(job.job_id, 9))
    assert job.state is State.FAILED
    assert problem.reason.startswith("clean merges were not proposed: ")
    assert job.counts["updated"] == 3
    assert contents(changed.path)[PLAIN, "2", "oai_dc"]
    (rules / "broken.toml").unlink()
    jobs.ledger.requeue(job.job_id, (State.FAILED,))
    run_job(changed.path, job.job_id)
    assert jobs.ledger.job(job.job_id).state is State.DONE
    assert kinds(changed.path)[CLEAN] is ReviewKind.PROPOSED


def test_proposals_are_a_job_of_their_own(changed: Repository) -> None:
    with OAIPMHScraper(changed.path, changed.url, quiet=True) as scraper:
        scraper.update()
    done = changed.run("propose", {})
    assert (done.state, done.counts) == (State.DONE, {"proposed": 1, "to decide": 2})
    assert kinds(changed.path) == {CLEAN: ReviewKind.PROPOSED, CONFLICTING: ReviewKind.CONFLICT}
    again = changed.run("propose", {})
    assert (again.state, again.report["proposals"]["proposed"]) == (State.DONE, 0)


def test_nothing_to_propose_is_said(repository: Repository) -> None:
    done = repository.run("propose", {})
    assert done.state is State.DONE
    assert "Nothing to propose" in done.text


def test_a_job_of_proposals_goes_on_after_a_stop(changed: Repository) -> None:
    with OAIPMHScraper(changed.path, changed.url, quiet=True) as scraper:
        scraper.update()
    jobs = Jobs.of(changed.path)
    job = jobs.begin("propose", "propose", {}, "ada")
    stopping = Stop()
    stopping.ask()
    assert run_job(changed.path, job.job_id, stopping) is State.QUEUED
    assert kinds(changed.path)[CLEAN] is ReviewKind.CLEAN
    assert run_job(changed.path, job.job_id) is State.DONE
    assert kinds(changed.path)[CLEAN] is ReviewKind.PROPOSED
