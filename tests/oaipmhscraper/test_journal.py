"""The journal: another process reads what was written."""

import os
import sqlite3
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import pytest

from oaipmhclient.pages.requests_and_pages import SetAside
from oaipmhclient.walk.endpoint_memory import Companions, EndpointMemory, Spelling
from oaipmhclient.walk.values import ListJob, WindowPosition
from oaipmhclient.walk.windows import Window
from oaipmhscraper.documents.journal import FetchJournal
from oaipmhscraper.errors import HarvestRunning, JournalUnreadable
from oaipmhscraper.harvests.job import keep_receipt
from oaipmhscraper.lists.journal import LONGEST_REST, Journal
from oaipmhscraper.lists.journal_rows import ListFacts, ListRow, WindowRow
from oaipmhscraper.lists.listed_identifiers import Loss, PageTally
from oaipmhscraper.receipt import Counts, Outcome
from recordsilo.errors import VERSION_FILE, SiloGone
from silocuration.batch.journal import JobJournal

URL = "http://repo.example/oai"
NOW = datetime(2026, 11, 21, 21, 13, 31, 123456, UTC)
JOBS = [ListJob("oai_dc", "a", "2010-01-01", None, True), ListJob("pmc")]


@pytest.fixture
def path(tmp_path):
    (tmp_path / VERSION_FILE).touch()
    return str(tmp_path)


@pytest.fixture
def journal(path):
    with Journal(path) as made:
        yield made


def test_nothing_is_made_where_the_disk_of_the_silo_was_mounted(journal, path):
    os.rename(path, f"{path}-away")
    os.mkdir(path)
    uses = (
        lambda: Journal(path),
        lambda: journal.beginning().__enter__(),
        lambda: journal.held("request").__enter__(),
        lambda: FetchJournal(f"{path}/.silo", "choice"),
        lambda: keep_receipt(path, Mock(started=NOW)),
        lambda: JobJournal.create(path, {}, []),
    )
    for use in uses:
        with pytest.raises(SiloGone):
            use()
        assert os.listdir(path) == []


def again(path):
    """The journal as another process finds it."""
    return Journal(path)


def test_a_job_is_found_by_its_request_and_knows_when_it_began(journal, path):
    job = journal.begin("request", URL, JOBS, NOW)
    assert job.id == "20261121T211331.123456Z"
    with again(path) as other:
        found = other.job_of("request")
        assert (found, found.started) == (job, NOW)
        assert other.job_of("another") is None
        assert [row.job for row in other.lists(found)] == JOBS


def test_two_jobs_of_one_moment_have_ids_of_their_own(journal):
    one, other = (journal.begin(text, URL, JOBS, NOW) for text in ("one", "other"))
    assert one.id < other.id
    assert [job.id for job in journal.jobs()] == [one.id, other.id]


def test_a_list_begins_as_one_window_with_its_bounds(journal):
    job = journal.begin("request", URL, JOBS, NOW)
    row = journal.lists(job)[0]
    (window,) = journal.windows(row.id)
    assert window.window == Window("2010-01-01", None)
    assert (window.state, window.position) == ("open", None)


def test_what_is_noted_of_windows_and_lists_is_there_again(journal, path):
    row = journal.lists(journal.begin("request", URL, JOBS, NOW))[1]
    position = WindowPosition("tok|en&", 3, 30, 99, "2010-05-01", ("d1", "d2"))
    counts = Counts(99, 7, {Outcome.NEW: 30, Outcome.DELETED: 1})
    made = WindowRow(0, "open", Window(None, "2011"), "list", True, True, 2, "why", 3, position)
    facts = ListFacts(99, NOW, True, True, 12, (("bare ampersand escaped", 4),), ("a remark",))
    with journal.changing():
        (added,) = journal.add_windows(row.id, [made])
        journal.put_window(WindowRow(**{**fields_of(added), "counts": counts}))
        journal.put_list(ListRow(row.id, row.job, facts))
    with again(path) as other:
        found = other.windows(row.id)[-1]
        assert fields_of(found) == {**fields_of(added), "counts": found.counts}
        assert found.counts.to_json() == counts.to_json()
        assert other.lists(other.job_of("request"))[1].facts == facts


def fields_of(row):
    return {name: getattr(row, name) for name in WindowRow.__slots__}


def test_who_was_listed_and_lost_is_there_again(journal, path):
    row = journal.lists(journal.begin("request", URL, JOBS, NOW))[0]
    lost = Loss(Outcome.UNREACHABLE, SetAside("b\ud800", "is gone", "GetRecord"))
    kept = Loss(Outcome.QUARANTINED, SetAside("c", "is broken", "record 3"))
    with journal.changing():
        journal.put_tally(row.id, PageTally({}, b"12345678", (lost, kept), ()))
        journal.put_tally(row.id, PageTally({}, b"abcdefgh", (), ("b\ud800",)))
    with again(path) as other:
        assert b"".join(other.listed(row.id)) == b"12345678abcdefgh"
        assert other.losses(row.id) == [kept]


def test_a_transaction_that_fails_leaves_nothing(journal):
    row = journal.lists(journal.begin("request", URL, JOBS, NOW))[0]
    with pytest.raises(ZeroDivisionError), journal.changing():  # noqa: PT012 - it is the case
        journal.put_tally(row.id, PageTally({}, b"12345678", (), ()))
        raise ZeroDivisionError
    assert list(journal.listed(row.id)) == []


def test_a_job_that_is_forgotten_takes_everything_with_it(journal, path):
    job = journal.begin("request", URL, JOBS, NOW)
    row = journal.lists(job)[0]
    with journal.changing():
        journal.put_tally(row.id, PageTally({}, b"12345678", (), ()))
    journal.forget(job)
    assert journal.jobs() == []
    with sqlite3.connect(journal.path) as raw:
        for table in ("lists", "windows", "listed", "losses"):
            assert raw.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    raw.close()


def test_one_at_a_time_is_at_a_request(journal, path):
    with journal.held("request"):
        with pytest.raises(HarvestRunning), again(path) as other, other.held("request"):
            pass
        with again(path) as other, other.held("another"):
            pass
    with again(path) as other, other.held("request"):
        pass


def test_quirks_and_rests_of_an_endpoint_are_remembered(journal, path):
    quirks = EndpointMemory(
        spelling=Spelling.VERBATIM, companions=Companions.PREFIX, windows_work=False
    )
    until = NOW + timedelta(hours=3)
    with journal.changing():
        journal.put_quirks(URL, quirks)
        journal.put_rest(URL, until, 429, NOW)
    with again(path) as other:
        assert other.quirks(URL) == quirks
        assert other.quirks("http://else/") == EndpointMemory()
        assert other.rest_of(URL, NOW) == (until, 429)
        assert other.rest_of(URL, until) is None
        assert other.rest_of("http://else/", NOW) is None


def test_an_endpoint_cannot_ask_to_be_left_alone_for_ever(journal):
    with journal.changing():
        journal.put_rest(URL, datetime.max.replace(tzinfo=UTC), 503, NOW)
    assert journal.rest_of(URL, NOW) == (NOW + LONGEST_REST, 503)


def test_a_rest_of_a_clock_that_was_wrong_is_none(journal):
    with journal.changing():
        journal.put_rest(URL, NOW + timedelta(days=366), 503, NOW + timedelta(days=365))
    assert journal.rest_of(URL, NOW) is None


@pytest.mark.parametrize("content", [b"no database at all, but long enough to look at" * 40])
def test_a_damaged_journal_is_named_with_what_its_loss_costs(path, content):
    os.makedirs(os.path.join(path, ".silo"))
    file = os.path.join(path, ".silo", "harvest.sqlite")
    with open(file, "wb") as out:
        out.write(content)
    with pytest.raises(JournalUnreadable, match="may be deleted"):
        Journal(path)


def test_a_journal_of_a_later_version_is_left_alone(journal, path):
    with sqlite3.connect(journal.path) as raw:
        raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(JournalUnreadable, match="version 99"):
        Journal(path)
