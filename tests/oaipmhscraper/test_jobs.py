"""Harvests as jobs: stopped and continued, in windows, in several threads."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from examples import family
from misbehaving import SIZE, misbehaving

from oaipmhclient.client import Client
from oaipmhclient.fetchers import Fetchers
from oaipmhclient.transport.http_transport import HttpTransport
from oaipmhclient.walk.values import ListJob
from oaipmhscraper.errors import HarvestRunning, NothingToUpdate
from oaipmhscraper.harvests.past_harvests import harvests_of
from oaipmhscraper.lists.journal import Journal
from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.receipt import HarvestInterrupted, HarvestStopped
from oaipmhscraper.scraper import OAIPMHScraper
from politeweb.errors import RetryLater
from politeweb.warc.writing import WarcFiles
from recordsilo import Silo
from recordsilo.cli import silo_command
from silowork.ledger import JobLedger
from silowork.running import run_job
from silowork.values import State

URL = "http://repo.example/oai"
SILO = os.path.join(os.path.dirname(sys.executable), "silo")
WINDOWS = HarvestOptions(window=timedelta(days=60), max_in_flight=4)


def fill(repository, count, page_size=3):
    repository.page_size = page_size
    for number in range(count):
        repository.add(f"oai:x:{number}", f"2010-{number % 12 + 1:02}-01")


def stop_at(repository, offset, error=KeyboardInterrupt):
    def answer(params):
        if params.get("resumptionToken", "").endswith(f"|{offset}"):
            raise error

    repository.answers.append(answer)


def lists_sent(repository):
    return [r for r in repository.requests if r["verb"] == "ListRecords"]


def open_again(repository, silo_dir):
    return OAIPMHScraper(silo_dir, None, transport=repository)


# --- going on


def test_a_stopped_harvest_goes_on_with_the_next_token_in_another_process(repository, silo_dir):
    fill(repository, 10)
    stop_at(repository, 6)
    with (
        OAIPMHScraper(silo_dir, URL, transport=repository) as scraper,
        pytest.raises(HarvestInterrupted),
    ):
        scraper.getRecords("oai_dc")
    repository.answers.clear()
    repository.requests.clear()
    with open_again(repository, silo_dir) as scraper:
        receipt = scraper.getRecords("oai_dc")
        assert len(scraper.store) == 10
    assert [r.get("resumptionToken", "")[-1:] for r in lists_sent(repository)] == ["6", "9"]
    assert receipt.whole
    assert (receipt.counts.listed, receipt.counts.promised) == (10, 10)


def test_all_runs_of_a_harvest_leave_one_receipt(repository, scraper, silo):
    fill(repository, 10)
    stop_at(repository, 6)
    with pytest.raises(HarvestInterrupted):
        scraper.getRecords("oai_dc")
    repository.answers.clear()
    receipt = scraper.getRecords("oai_dc")
    names = [n for n in os.listdir(os.path.join(silo.path, "harvests")) if n.endswith("t.json")]
    assert len(names) == 1
    with open(os.path.join(silo.path, "harvests", names[0]), encoding="utf-8") as file:
        assert json.load(file) == receipt.to_json()


def test_a_receipt_has_the_time_of_this_run_and_says_what_it_brought(
    repository, scraper, silo, monkeypatch
):
    clock = [1000.0]
    monkeypatch.setattr("oaipmhscraper.lists.list_state.time.monotonic", lambda: clock[0])

    def takes_a_second(params):
        clock[0] += params["verb"] == "ListRecords"

    repository.answers.append(takes_a_second)
    fill(repository, 10)
    stop_at(repository, 6)
    with pytest.raises(HarvestInterrupted) as stopped:
        scraper.getRecords("oai_dc")
    assert "6 records listed in 3.0 s" in stopped.value.receipt.text()
    repository.answers[1:] = []
    clock[0] += 240
    receipt = scraper.update()
    assert "10 records listed, 4 of them in this run of 2.0 s" in receipt.text()
    assert receipt.to_json()["lists"][0]["seconds"] == 5.0, "the list's, of all runs"


class Killed(BaseException):
    """As if the process were killed: nobody catches it."""


@pytest.mark.parametrize(
    "place",
    [
        "harvests.job.JobRun.receipt",
        "harvests.job.keep_receipt",
        "repository_state.HarvesterState.note_end",
    ],
)
def test_a_harvest_killed_after_its_last_page_asks_nothing_again_and_says_all(
    repository, silo_dir, monkeypatch, place
):
    def killed(*_arguments):
        raise Killed

    fill(repository, 10)
    repository.promise = 10
    with (
        monkeypatch.context() as patch,
        OAIPMHScraper(silo_dir, URL, transport=repository) as scraper,
    ):
        patch.setattr(f"oaipmhscraper.{place}", killed)
        with pytest.raises(Killed):
            scraper.harvest(["oai_dc"])
    repository.requests.clear()
    with open_again(repository, silo_dir) as scraper:
        receipt = scraper.harvest(["oai_dc"])
        assert scraper.open_harvests() == []
        assert scraper.state["harvested"] == {"oai_dc": {"": "2010-11-20T12:00:00Z"}}
    assert lists_sent(repository) == []
    assert receipt.whole
    assert receipt.counts.listed == 10
    assert len(os.listdir(os.path.join(silo_dir, "harvests"))) == 2


def test_identifiers_counted_by_a_killed_run_are_not_counted_again(
    repository, silo_dir, monkeypatch
):
    def killed(*_arguments):
        raise Killed

    def identifiers_sent():
        return [one for one in repository.requests if one["verb"] == "ListIdentifiers"]

    fill(repository, 10)
    repository.promise = 11
    with (
        monkeypatch.context() as patch,
        OAIPMHScraper(silo_dir, URL, transport=repository) as scraper,
    ):
        patch.setattr("oaipmhscraper.harvests.job.keep_receipt", killed)
        with pytest.raises(Killed):
            scraper.harvest(["oai_dc"])
    assert identifiers_sent()
    repository.requests.clear()
    with open_again(repository, silo_dir) as scraper:
        scraper.harvest(["oai_dc"])
    assert not identifiers_sent()


def test_the_mark_is_the_clock_of_the_very_first_answer(repository, scraper):
    fill(repository, 10)
    stop_at(repository, 6)
    with pytest.raises(HarvestInterrupted):
        scraper.getRecords("oai_dc")
    repository.answers.clear()
    repository.date = "2011-03-01T00:00:00Z"
    scraper.getRecords("oai_dc")
    assert scraper.state["harvested"] == {"oai_dc": {"": "2010-11-20T12:00:00Z"}}


def test_a_harvest_can_be_begun_anew(repository, scraper):
    fill(repository, 10)
    stop_at(repository, 6)
    with pytest.raises(HarvestInterrupted):
        scraper.getRecords("oai_dc")
    repository.answers.clear()
    repository.requests.clear()
    scraper.harvest(["oai_dc"], options=HarvestOptions(anew=True))
    assert lists_sent(repository)[0] == {"verb": "ListRecords", "metadataPrefix": "oai_dc"}
    assert scraper.open_harvests() == []


def test_another_request_is_another_job(repository, scraper):
    fill(repository, 10)
    stop_at(repository, 6)
    with pytest.raises(HarvestInterrupted):
        scraper.getRecords("oai_dc")
    repository.answers.clear()
    scraper.getRecords("oai_dc", _from="2010-06-01")
    assert len(scraper.open_harvests()) == 1


def test_an_update_goes_on_with_a_first_harvest_that_was_stopped(repository, scraper, silo):
    fill(repository, 10)
    stop_at(repository, 6)
    with pytest.raises(HarvestInterrupted):
        scraper.getRecords("oai_dc")
    repository.answers.clear()
    repository.requests.clear()
    receipt = scraper.update()
    assert len(silo) == 10
    assert receipt.counts.listed == 10
    assert "metadataPrefix" not in lists_sent(repository)[0]
    assert scraper.open_harvests() == []


def test_an_update_has_one_row_for_a_list_and_says_whose_harvest_it_continued(
    repository, scraper, silo
):
    fill(repository, 10)
    scraper.getRecords("oai_dc")
    repository.now = "2011-01-01T00:00:00Z"
    stop_at(repository, 6)
    with pytest.raises(HarvestInterrupted):
        scraper.harvest(["oai_dc"], options=HarvestOptions(anew=True))
    repository.answers.clear()
    receipt = scraper.update()
    rows = [line.split()[0] for line in receipt.text().splitlines() if line.startswith("  oai_dc")]
    assert (len(receipt.lists), rows) == (2, ["oai_dc"])
    whole, stopped, update = harvests_of(silo.path)
    assert (whole.said, update.said) == ("", "")
    assert (stopped.state, stopped.said) == ("incomplete", f"continued by {update.id}")
    shown = CliRunner().invoke(silo_command, ["harvests", silo.path]).stdout
    assert f"\n    continued by {update.id}\n" in shown


def fill_in_formats(repository, count, *, formats=("oai_dc", "p", "q"), sets=("one", "two")):
    repository.page_size = 3
    for number in range(count):
        repository.add(f"oai:x:{number}", formats=dict.fromkeys(formats, "<a/>"), sets=sets)


def interrupted_at_first(repository, offset, harvest):
    stop_at(repository, offset)
    with pytest.raises(HarvestInterrupted):
        harvest()
    repository.answers.clear()


def formats_of(silo):
    return {prefix for one in silo for prefix in silo[one].origin("1").prefixes}


def names_of(receipt):
    return sorted((one.name, one.counts.listed) for one in receipt.lists)


@pytest.mark.parametrize("update", [False, True])
def test_an_update_goes_on_with_formats_of_which_nothing_came_yet(
    repository, scraper, silo, update
):
    fill_in_formats(repository, 10)
    interrupted_at_first(
        repository, 6, lambda: scraper.harvest(["oai_dc", "p", "q"], update=update)
    )
    receipt = scraper.update()
    assert names_of(receipt) == [("oai_dc", 10), ("p", 10), ("q", 10)]
    assert formats_of(silo) == {"oai_dc", "p", "q"}
    assert scraper.open_harvests() == []
    assert set(scraper.state["harvested"]) == {"oai_dc", "p", "q"}


def test_an_update_goes_on_with_open_sets_and_bounded_lists(repository, scraper):
    fill_in_formats(repository, 10)
    scraper.getRecords("oai_dc")
    interrupted_at_first(repository, 3, lambda: scraper.getRecords("oai_dc", set_id="one"))
    interrupted_at_first(repository, 6, lambda: scraper.getRecords("p", _from="2009-01-01"))
    interrupted_at_first(
        repository, 6, lambda: scraper.harvest(["q"], set_spec="two", until="2010-06-01")
    )
    receipt = scraper.update()
    assert receipt.whole
    bounds = {(one.name, one.from_, one.until): one.counts.listed for one in receipt.lists}
    assert bounds["oai_dc, set one", None, None] == 10
    assert bounds["p", "2009-01-01", None] == 10
    assert bounds["q, set two", None, "2010-06-01"] == 10
    assert scraper.open_harvests() == []


def test_an_update_tries_a_format_that_failed_at_first(repository, scraper):
    fill_in_formats(repository, 10)
    repository.answers.append(
        lambda params: b"<html>" if params.get("metadataPrefix") == "p" else None
    )
    with pytest.raises(HarvestStopped):
        scraper.harvest(["oai_dc", "p"])
    assert "p" not in scraper.state["harvested"]
    with pytest.raises(HarvestStopped):
        scraper.update()
    repository.answers.clear()
    assert ("p", 10) in names_of(scraper.update())
    assert scraper.open_harvests() == []


def test_a_format_that_keeps_failing_does_not_keep_others_from_updates(repository, scraper, silo):
    fill_in_formats(repository, 10)
    repository.answers.append(
        lambda params: b"<html>" if params.get("metadataPrefix") == "p" else None
    )
    with pytest.raises(HarvestStopped):
        scraper.harvest(["oai_dc", "p"])
    for count in (11, 12):
        repository.add(f"oai:x:{count}", "2010-11-21")
        with pytest.raises(HarvestStopped) as stopped:
            scraper.update()
        assert len(silo) == count
        assert [one.name for one in stopped.value.receipt.lists] == ["p", "oai_dc"]
        assert len(scraper.open_harvests()) == 1


def test_an_update_that_was_stopped_goes_on_with_harvests_begun_since(repository, scraper):
    fill_in_formats(repository, 10)
    interrupted_at_first(repository, 3, lambda: scraper.getRecords("oai_dc"))
    interrupted_at_first(repository, 6, scraper.update)
    interrupted_at_first(repository, 6, lambda: scraper.harvest(["p", "q"]))
    receipt = scraper.update()
    assert names_of(receipt) == [("oai_dc", 10), ("p", 10), ("q", 10)]
    assert scraper.open_harvests() == []


def test_an_update_anew_begins_open_lists_again_and_forgets_none(repository, scraper):
    fill_in_formats(repository, 10)
    interrupted_at_first(repository, 6, lambda: scraper.harvest(["oai_dc", "p"]))
    interrupted_at_first(repository, 6, scraper.update)
    repository.requests.clear()
    receipt = scraper.update(options=HarvestOptions(anew=True))
    assert names_of(receipt) == [("oai_dc", 10), ("p", 10)]
    assert len(lists_sent(repository)) == 8
    assert scraper.open_harvests() == []


def test_a_killed_update_goes_on_with_formats_harvested_since(repository, scraper):
    fill_in_formats(repository, 10)
    scraper.getRecords("oai_dc")
    repository.date = "2010-11-21T12:00:00Z"
    stop_at(repository, 6, Killed)
    for number in range(10, 20):
        repository.add(f"oai:x:{number}", "2010-11-21")
    with pytest.raises(Killed):
        scraper.update()
    repository.answers.clear()
    scraper.getRecords("p")
    receipt = scraper.update()
    assert sorted(one.name for one in receipt.lists) == ["oai_dc", "p"]
    assert receipt.counts.listed == 10


def test_an_update_leaves_a_harvest_of_pages_alone(repository, scraper):
    fill_in_formats(repository, 10)
    pages_only = HarvestOptions(pages_only=True)
    interrupted_at_first(repository, 6, lambda: scraper.harvest(["oai_dc"], options=pages_only))
    with pytest.raises(NothingToUpdate):
        scraper.update()
    assert len(scraper.open_harvests()) == 1


def test_the_same_harvest_is_not_run_twice_at_once(repository, scraper, silo_dir):
    fill(repository, 10)

    def meanwhile(params):
        if "resumptionToken" in params:
            repository.answers.clear()
            with open_again(repository, silo_dir) as other, pytest.raises(HarvestRunning):
                other.getRecords("oai_dc")

    repository.answers.append(meanwhile)
    assert scraper.getRecords("oai_dc").whole
    assert repository.answers == []


def during_the_first_page_of(repository, scraper, other_harvest):
    """Harvest, and try another harvest meanwhile; return why that was refused."""
    refused = []

    def meanwhile(params):
        if "resumptionToken" in params:
            repository.answers.clear()
            sent = len(repository.requests)
            with pytest.raises(HarvestRunning) as error:
                other_harvest()
            refused.append(str(error.value))
            assert len(repository.requests) == sent

    repository.answers.append(meanwhile)
    assert scraper.harvest(["oai_dc"]).whole
    return refused[0]


@pytest.mark.parametrize(
    "what",
    [
        lambda scraper: scraper.update(),
        lambda scraper: scraper.getRecords("oai_dc", update=True),
        lambda scraper: scraper.harvest(["oai_dc"], until="2010-05-01"),
        lambda scraper: scraper.harvest(["mets", "oai_dc"]),
    ],
    ids=["update", "one format", "dates", "several formats"],
)
def test_a_list_that_is_being_harvested_is_not_requested_twice(repository, scraper, silo_dir, what):
    fill_in_formats(repository, 10)

    def other_harvest():
        with open_again(repository, silo_dir) as other:
            what(other)

    said = during_the_first_page_of(repository, scraper, other_harvest)
    assert said.startswith("another process is harvesting oai_dc into ")
    assert scraper.open_harvests() == []


def test_lists_without_common_records_are_harvested_at_once(repository, scraper, silo_dir):
    fill_in_formats(repository, 10)
    done = []

    def meanwhile(params):
        if params["verb"] == "ListRecords":
            repository.answers.clear()
            with open_again(repository, silo_dir) as other:
                done.append(other.harvest(["mets"]).whole)
                done.append(other.harvest(["oai_dc"], until="2010-05-01").whole)

    repository.answers.append(meanwhile)
    scraper.harvest(["oai_dc"], from_="2010-05-02")
    assert done == [True, True]


def test_an_update_during_a_harvest_exits_75_with_a_sentence(repository, silo_dir):
    fill(repository, 10)
    with OAIPMHScraper(silo_dir, URL, transport=repository) as scraper:
        scraper.harvest(["oai_dc"])
        with Journal(scraper.store.path) as journal:
            job = journal.begin('{"harvest": "lists"}', URL, [ListJob("oai_dc")], datetime.now(UTC))
            with journal.held(job.request):
                result = CliRunner().invoke(silo_command, ["update", silo_dir])
    assert (result.exit_code, result.stdout) == (75, "")
    assert "another process is harvesting oai_dc into" in result.stderr


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("update", {}),
        ("harvest", {"prefixes": ["oai_dc"]}),
        ("harvest", {"prefixes": ["oai_dc"], "update": True}),
    ],
    ids=["update", "harvest", "harvest of what changed"],
)
def test_a_job_of_the_page_is_refused_during_a_harvest_of_its_list(silo_dir, kind, arguments):
    with misbehaving() as server:
        with OAIPMHScraper(silo_dir, server.base_url, quiet=True) as scraper:
            scraper.harvest(["oai_dc"])
        ledger = JobLedger(silo_dir)
        sent = len(server.repository.asked)
        with Journal(silo_dir) as journal:
            text = '{"harvest": "lists", "prefixes": ["mets", "oai_dc"]}'
            other = journal.begin(text, server.base_url, [ListJob("oai_dc")], datetime.now(UTC))
            with journal.held(text):
                refused = ledger.add(kind, "Refused", arguments, "anna").job_id
                assert run_job(silo_dir, refused) is State.FAILED
            said = ledger.job(refused).sentence
            assert said == (
                "another process is harvesting oai_dc into myrepo; try again when it has ended"
            )
            assert len(server.repository.asked) == sent, "nothing was requested"
            journal.forget(other)
        later = ledger.add(kind, "Later", arguments, "anna").job_id
        assert run_job(silo_dir, later) is State.DONE


def test_a_journal_that_was_deleted_costs_a_harvest_begun_anew(repository, scraper, silo):
    fill(repository, 10)
    stop_at(repository, 6)
    with pytest.raises(HarvestInterrupted):
        scraper.getRecords("oai_dc")
    repository.answers.clear()
    with Journal(silo.path) as journal:
        path = journal.path
    os.remove(path)
    counts = scraper.getRecords("oai_dc").counts.to_json()
    assert (counts["listed"], counts["unchanged"], counts["new"]) == (10, 6, 4)


# --- being asked to wait


def test_a_repository_that_asks_for_a_pause_is_left_alone_until_it_is_over(repository, silo_dir):
    fill(repository, 10)
    deadline = datetime.now(UTC) + timedelta(hours=3)
    stop_at(repository, 6, RetryLater(URL, 429, deadline))
    with OAIPMHScraper(silo_dir, URL, transport=repository) as scraper:
        with pytest.raises(HarvestStopped) as stopped:
            scraper.getRecords("oai_dc")
        assert isinstance(stopped.value.cause, RetryLater)
    repository.answers.clear()
    repository.requests.clear()
    with open_again(repository, silo_dir) as scraper, pytest.raises(RetryLater) as asked:
        scraper.getRecords("oai_dc")
    assert asked.value.deadline == deadline
    with pytest.raises(RetryLater):
        OAIPMHScraper(silo_dir, URL, transport=repository)
    assert repository.requests == []
    result = CliRunner().invoke(silo_command, ["update", silo_dir])
    assert result.exit_code == 75
    assert f"{deadline:%Y-%m-%d %H:%M}" in result.stderr


# --- windows, and several at once


def test_windows_in_flight_bring_what_one_list_brings(silo_dir):
    with misbehaving() as server, OAIPMHScraper(silo_dir, server.base_url) as scraper:
        receipt = scraper.harvest(["oai_dc"], options=WINDOWS)
        assert len(scraper.store) == SIZE
        assert receipt.whole
        assert len(receipt.lists[0].windows) > 5
        assert not [t for t in threading.enumerate() if t.name.startswith("fetcher")]
        windows = [one.query for one in server.repository.asked if "from=" in one.query]
        assert len(windows) > 5


def test_empty_windows_are_fetched_together(repository, scraper):
    for day in (1, 2):
        repository.add(f"oai:x:{day}", f"1995-01-0{day}")
    repository.add("oai:x:3", "2020-01-01")
    receipt = scraper.harvest(["oai_dc"], options=HarvestOptions(window=timedelta(days=30)))
    assert receipt.counts.listed == 3
    assert receipt.whole
    assert len(lists_sent(repository)) < 60


def test_an_update_begins_as_far_back_as_is_asked_for(repository, scraper):
    fill(repository, 2)
    scraper.getRecords("oai_dc")
    scraper.harvest(["oai_dc"], update=True, options=HarvestOptions(overlap=timedelta(days=10)))
    assert lists_sent(repository)[-1]["from"] == "2010-11-10"


@contextmanager
def held_from(number, repository):
    """Leave requests from the one of a number on without an answer, while the block lasts.

    Yields:
        An event that is set once there is such a request.
    """
    arrived, over, answer = threading.Event(), threading.Event(), repository.answer

    def held(*request):
        if len(repository.asked) >= number:
            arrived.set()
            over.wait()
        return answer(*request)

    repository.answer = held
    try:
        yield arrived
    finally:
        repository.answer = answer
        over.set()


@pytest.mark.parametrize(
    ("number", "code", "trap"),
    family([(signal.SIGINT, 130, "-"), (signal.SIGTERM, 75, "-"), (signal.SIGTERM, 75, "''")], 1),
    ids=["Ctrl-C", "SIGTERM", "SIGTERM where SIGINT is ignored"],
)
@pytest.mark.long
def test_a_signal_ends_all_requests_in_flight_and_the_same_command_goes_on(
    silo_dir, number, code, trap
):
    with misbehaving("a_slow_record") as server:
        command = [SILO, "harvest", server.base_url, silo_dir, "--window", "60d"]
        with held_from(4, server.repository) as arrived:
            process = subprocess.Popen(
                ["sh", "-c", f'trap {trap} INT; exec "$@"', "sh", *command],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            while not arrived.wait(0.1):
                assert process.poll() is None
            process.send_signal(number)
            receipt, said = process.communicate()
        assert process.returncode == code
        assert "stopped before the end of the list: interrupted" in receipt
        assert "run the same command to continue" in said
        done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["counts"]["listed"] == SIZE
    with Silo(silo_dir, create=False) as silo:
        assert len(silo) == SIZE


# --- telling


def test_harvests_are_listed_open_and_past(repository, scraper, silo_dir, silo):
    fill(repository, 10)
    scraper.getRecords("oai_dc", _from="2010-06-01")
    stop_at(repository, 6)
    with pytest.raises(HarvestInterrupted):
        scraper.getRecords("oai_dc")
    run = CliRunner().invoke
    found = json.loads(run(silo_command, ["harvests", silo_dir, "--json"]).stdout)
    assert [one["state"] for one in found] == ["whole", "open"]
    assert all(one["files"] and one["receipt"]["counts"]["listed"] for one in found)
    lines = run(silo_command, ["harvests", silo_dir]).stdout.splitlines()
    assert lines[0].split()[4:] == ["whole", "5", "listed", "5", "stored", "oai_dc"]
    assert lines[2].strip() == "interrupted"
    identifier = found[1]["id"]
    assert run(silo_command, ["harvests", silo_dir, "--forget", identifier]).exit_code == 0
    assert scraper.open_harvests() == []
    assert run(silo_command, ["harvests", silo_dir, "--forget", identifier]).exit_code == 2
    assert len(silo) == 10


def test_a_killed_harvest_is_listed_as_far_as_its_journal_has_it(repository, silo_dir):
    fill(repository, 10)
    repository.promise = 10
    stop_at(repository, 6, Killed)
    with OAIPMHScraper(silo_dir, URL, transport=repository) as scraper, pytest.raises(Killed):
        scraper.harvest(["oai_dc"])
    run = CliRunner().invoke
    lines = run(silo_command, ["harvests", silo_dir]).stdout.splitlines()
    assert lines[0].split()[4:] == ["open", "6", "listed", "6", "stored", "oai_dc"]
    assert lines[1].strip() == "interrupted"
    assert lines[2].strip() == "oai_dc: 6 of 10 listed; windows: 1 open"
    (found,) = json.loads(run(silo_command, ["harvests", silo_dir, "--json"]).stdout)
    assert found["receipt"] is None
    ((window,),) = (one["windows"] for one in found["so_far"])
    assert (window["state"], window["pages"], window["counts"]["listed"]) == ("open", 2, 6)


def test_a_harvest_killed_after_it_was_stopped_is_not_told_by_the_receipt_of_then(
    repository, silo_dir
):
    fill(repository, 10)
    stop_at(repository, 3)
    stopped = pytest.raises(HarvestInterrupted)
    with OAIPMHScraper(silo_dir, URL, transport=repository) as scraper, stopped:
        scraper.getRecords("oai_dc")
    repository.answers.clear()
    stop_at(repository, 9, Killed)
    with open_again(repository, silo_dir) as scraper, pytest.raises(Killed):
        scraper.getRecords("oai_dc")
    lines = CliRunner().invoke(silo_command, ["harvests", silo_dir]).stdout.splitlines()
    assert lines[0].split()[4:7] == ["open", "9", "listed"]


def test_a_mended_record_says_so_where_it_comes_from(silo_dir):
    with (
        misbehaving("bare_ampersands") as server,
        OAIPMHScraper(silo_dir, server.base_url) as scraper,
    ):
        receipt = scraper.getRecords("oai_dc")
        messages = {scraper.store[one].origin("1").message for one in scraper.store}
    assert receipt.repairs["bare ampersand escaped"] > 0
    assert any(m.endswith("; oai_dc was mended: bare ampersand escaped") for m in messages)


def test_pages_can_be_kept_without_making_records(repository, scraper, silo):
    fill(repository, 10)
    receipt = scraper.harvest(["oai_dc"], options=HarvestOptions(pages_only=True))
    assert (receipt.counts.to_json()["kept"], len(silo)) == (10, 0)
    assert "harvested" not in scraper.state
    assert receipt.text().endswith("makes records of them.")


def test_pages_are_updated_from_their_own_mark(repository, scraper, silo):
    fill(repository, 10)
    pages_only = HarvestOptions(pages_only=True)
    with pytest.raises(NothingToUpdate):
        scraper.update(options=pages_only)
    scraper.harvest(["oai_dc"], update=True, options=pages_only)
    with pytest.raises(NothingToUpdate, match="silo update --pages-only"):  # it has no records
        scraper.update()
    repository.date = "2010-11-21T12:00:00Z"
    repository.add("oai:x:10", "2010-11-21")
    for number, update in enumerate(
        (
            lambda: scraper.harvest(["oai_dc"], update=True, options=pages_only),
            lambda: scraper.update(options=pages_only),
        )
    ):
        repository.requests.clear()
        assert update().counts.listed == 1
        begins = [one["from"] for one in lists_sent(repository)]
        assert begins == [["2010-11-19", "2010-11-20"][number]]
    assert len(silo) == 0


def test_a_stopped_update_of_pages_goes_on(repository, scraper):
    fill(repository, 10)
    pages_only = HarvestOptions(pages_only=True)
    scraper.harvest(["oai_dc"], options=pages_only)
    repository.date = "2010-11-21T12:00:00Z"
    for number in range(10, 20):
        repository.add(f"oai:x:{number}", "2010-11-21")
    interrupted_at_first(
        repository, 3, lambda: scraper.harvest(["oai_dc"], update=True, options=pages_only)
    )
    with pytest.raises(NothingToUpdate):
        scraper.update()  # of records, which leaves it alone
    receipt = scraper.harvest(["oai_dc"], update=True, options=pages_only)
    assert receipt.whole
    assert receipt.counts.listed == 10


def test_of_pages_only_those_count_that_are_flushed(repository, scraper, monkeypatch):
    flush, flushed = WarcFiles.flush, []

    def fails_at_third(files):
        if len(flushed) == 2:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        flushed.append(flush(files))

    fill(repository, 10)
    monkeypatch.setattr(WarcFiles, "flush", fails_at_third)
    pages_only = HarvestOptions(pages_only=True)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        scraper.harvest(["oai_dc"], options=pages_only)
    monkeypatch.undo()
    assert scraper.harvest(["oai_dc"], options=pages_only).counts.listed == 10
    tokens = [one.get("resumptionToken", "") for one in lists_sent(repository)]
    assert [tokens.count(token) for token in dict.fromkeys(tokens)] == [1, 1, 2, 1]


def test_a_thread_that_waits_for_an_answer_is_cut_off(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/oai"

        def open_client(lane):
            return Client(HttpTransport(url, on_exchange=lane.on_exchange, sleep=lane.sleep))

        fetchers = Fetchers(open_client)
        fetchers.begin(1, lambda client, _: iter([client.identify()]))
        connection, _ = silent.accept()
        connection.recv(4096)
        fetchers.close()
        assert not [t for t in threading.enumerate() if t.name.startswith("fetcher")]
        connection.close()


def walk_of(ask):
    """A walk of one page: the results of a question about six numbers."""

    def walk(_client, together):
        yield together(ask, range(6))

    return walk


@pytest.mark.parametrize("most", [1, 3])
def test_records_asked_for_one_by_one_are_in_flight_at_once_up_to_a_limit(most):
    all_at_once = threading.Barrier(most)

    def ask(_client, number):
        all_at_once.wait(60)  # breaks if fewer are in flight
        return number

    with Fetchers(lambda _lane: Client(FakeTransport())) as fetchers:
        fetchers.begin(1, walk_of(ask), most)
        assert fetchers.next().page == [0, 1, 2, 3, 4, 5]


def test_the_first_failure_of_records_in_flight_is_that_of_the_walk():
    def ask(_client, number):
        if number == 2:
            raise RetryLater(URL, 503, datetime.now(UTC))

    with Fetchers(lambda _lane: Client(FakeTransport())) as fetchers:
        fetchers.begin(1, walk_of(ask), 3)
        assert isinstance(fetchers.next().failure, RetryLater)


class FakeTransport:
    """Is never asked."""

    base_url = URL


def test_a_signal_that_does_not_end_the_wait_for_a_page_is_handled_soon():
    def interrupt():  # given to this thread, as if it came just before the wait began
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    with Fetchers(lambda _lane: None) as fetchers:
        timer = threading.Timer(0.2, interrupt)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            fetchers.next()
        timer.join()


def test_the_receipt_says_where_a_repository_has_moved(silo_dir):
    with (
        misbehaving("redirected_to_a_path") as server,
        OAIPMHScraper(silo_dir, server.base_url) as scraper,
    ):
        receipt = scraper.getRecords("oai_dc")
    moved_to = receipt.to_json()["moved_to"]
    assert moved_to.startswith("http://127.0.0.1:")
    assert moved_to != server.base_url
    assert f"redirects to {moved_to}" in receipt.text()
