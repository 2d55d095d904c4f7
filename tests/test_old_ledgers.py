"""Ledgers and journals written in November 2026 (``old_ledgers/*.sql``) are read and continued.

The first line of each dump says where in a Silo the file lies.
"""

import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from oaipmhscraper.documents.journal import FetchJournal
from oaipmhscraper.lists.journal import Journal
from recordsilo.errors import VERSION_FILE
from silocuration.batch.journal import Doing, JobJournal, job_ids
from siloexport.ledger import Ledger
from siloexport.values import DepositState
from silowork.ledger import JobLedger
from silowork.values import Advance, Problem, State

DUMPS = Path(__file__).parent / "old_ledgers"
KEY = "files /tmp/x"


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[str]:
    """A Silo's directory with the old files; they may get tables, and keep all they have."""
    before = {
        place: schema_of(place)
        for place in (restored(one, tmp_path) for one in DUMPS.glob("*.sql"))
    }
    assert len(before) == 5
    (tmp_path / VERSION_FILE).touch()
    yield str(tmp_path)
    for place, rows in before.items():
        assert set(rows) <= set(schema_of(place))


def restored(dump: Path, root: Path) -> Path:
    text = dump.read_text("utf-8")
    place = root / text.partition("\n")[0].removeprefix("-- ")
    place.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(place)
    connection.executescript(text)
    connection.close()
    return place


def schema_of(place: Path) -> list[tuple[str, ...]]:
    connection = sqlite3.connect(place)
    found = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall()
    found += connection.execute("PRAGMA user_version").fetchall()
    found += connection.execute("PRAGMA journal_mode").fetchall()
    connection.close()
    return found


def test_jobs(silo: str) -> None:
    ledger = JobLedger(silo)
    running, waiting = ledger.active()
    assert (running.state, running.advance, running.mark) == (
        State.RUNNING, Advance(3, 10, "reading"), {"place": "oa"}
    )  # fmt: skip
    assert ledger.problems(running.job_id) == [(1, Problem("a:1", "is gone"))]
    assert (running.since, running.done_before) == ("", 0)
    assert (waiting.kind, waiting.arguments) == ("change", {"job": "x"})
    ledger.advance(running.job_id, Advance(4, 10))
    now = ledger.job(running.job_id)
    assert (now.advance.done, now.done_before, now.since > "2026") == (4, 4, True)
    assert len(ledger.ledger_id()) == 32
    assert ledger.claim(waiting.job_id, 3)
    assert ledger.add("audit", "Audit", {}, "ada").job_id > waiting.job_id


def test_a_bulk_change(silo: str) -> None:
    (job_id,) = job_ids(silo)
    with JobJournal.open(silo, job_id) as journal:
        assert journal.about() == {"kind": "rules", "title": "Types"}
        done, begun, planned = journal.entries(*Doing)
        assert (done.state, done.files, done.changed) == (Doing.DONE, {"x": b"\xff", "y": None}, 2)
        assert (begun.state, begun.given, planned.state) == (Doing.BEGUN, '{"n": 1}', Doing.PLANNED)
        journal.move(["a:2"], Doing.PLANNED)
        journal.note(title="Other")
    with JobJournal.open(silo, job_id) as journal:
        assert journal.counts() == {Doing.DONE: 1, Doing.PLANNED: 2}


def test_an_export(silo: str) -> None:
    with Ledger.look(silo, KEY) as ledger:
        (run,) = ledger.runs()
        assert (run.arguments, run.how, run.counts) == ({"jobs": 1}, "done", {"records": 1})
        assert ledger.versions("a:1") == [("1", "k1", "u/1")]
    with Ledger.open(silo, KEY, "the directory x") as ledger:
        (entry,) = ledger.unfinished()
        assert (entry.identifier, entry.state) == ("a:2", DepositState.OPEN)
        ledger.fail(entry.number, DepositState.FAILED, "gone")
        assert ledger.begin_run({}).run_id > run.run_id


def test_an_open_harvest(silo: str) -> None:
    now = datetime(2026, 11, 22, tzinfo=UTC)
    with Journal(silo) as journal:
        (job,) = journal.jobs()
        assert (job.id, job.said) == ("20261121T211331.123456Z", "the endpoint is down")
        first, second = journal.lists(job)
        assert (first.facts.promised, second.job.metadata_prefix) == (99, "pmc")
        assert list(journal.listed(first.id)) == [b"12345678"]
        assert [loss.what.identifier for loss in journal.losses(first.id)] == ["b"]
        assert journal.rest_of(job.base_url, now) == (
            datetime(2026, 11, 28, 21, 13, 31, 123456, UTC),
            503,
        )
        journal.forget(job)
        assert journal.lists(job) == []


def test_what_has_nothing_left_to_fetch(silo: str) -> None:
    with FetchJournal(os.path.join(silo, ".silo"), "all") as journal:
        assert journal.is_done("a:1", 3)
        assert not journal.is_done("a:1", 4)
        journal.note("a:1", 4)
        assert journal.is_done("a:1", 4)
