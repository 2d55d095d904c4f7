"""How often a job asks a repository that does not answer."""

from typing import Any

import pytest
from misbehaving import misbehaving
from misbehaving.repository import changed, html

from oaipmhscraper import jobs
from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.scraper import OAIPMHScraper
from politeweb.errors import EndpointError
from politeweb.settings import HttpSettings
from silowork.ledger import JobLedger
from silowork.running import run_job
from silowork.values import State


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        jobs, "SETTINGS", HttpSettings(first_attempts=jobs.SETTINGS.first_attempts, first_pause=0.0)
    )


def test_a_dead_repository_is_asked_twice_by_a_job_and_one_that_answered_more_often(
    silo_dir: str,
) -> None:
    failing = [0]

    with misbehaving() as server:

        @changed(server.repository, "reply")
        def reply(step: Any, asked: Any) -> Any:
            if failing[0]:
                failing[0] -= 1
                return html(503)
            return step(asked)

        with OAIPMHScraper(silo_dir, server.base_url) as scraper:
            scraper.getRecords("oai_dc")
        ledger = JobLedger(silo_dir)

        failing[0] = 1000
        dead = ledger.add("update", "Update", {}, "schedule:nightly").job_id
        assert run_job(silo_dir, dead) is State.FAILED
        assert 1000 - failing[0] == 4  # Identify, and then ListMetadataFormats, twice each

        failing[0] = 0
        waiting = [3]

        @changed(server.repository, "reply")
        def later(step: Any, asked: Any) -> Any:
            if asked.lists and waiting:  # Identify was answered; the list is after three failures
                failing[0] = waiting.pop()
            return step(asked)

        again = ledger.add("update", "Update", {}, "schedule:nightly").job_id
        assert run_job(silo_dir, again) is State.DONE
        assert (waiting, failing[0]) == ([], 0)


def test_without_responses_to_store_the_first_answer_is_awaited_too(silo_dir: str) -> None:
    options = HarvestOptions(warc=False)
    with misbehaving() as server:
        with OAIPMHScraper(silo_dir, server.base_url) as scraper:
            scraper.harvest(["oai_dc"], options=options)
        changed(server.repository, "reply")(lambda step, asked: html(503))
        asked = len(server.repository.asked)
        with (
            OAIPMHScraper(silo_dir, settings=jobs.SETTINGS) as scraper,
            pytest.raises(EndpointError),
        ):
            scraper.update(options=options)
        assert len(server.repository.asked) == asked + 4
