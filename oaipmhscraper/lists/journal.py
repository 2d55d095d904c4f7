"""The progress of open harvests: ``.silo/harvest.sqlite``.

A *job* is one request of a user, a *list* one format and set of it, a *window* a part of a list. A
window's position is updated in the transaction that counts the page, after the page is stored. So a
killed process repeats at most one page for each window, and storing a page again changes nothing.

A finished job leaves its receipt below ``harvests/`` and is removed here. Records that it listed
but could not get stay here as *owed*, and the next update requests them.

The file may be deleted at any time: then open harvests start again, and updates no longer request
owed records.
"""

import fcntl
import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from oaipmhclient.pages.requests_and_pages import SetAside
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.identifier_set import digest
from oaipmhclient.walk.values import ListJob
from oaipmhclient.walk.windows import Window
from oaipmhscraper.errors import HarvestRunning, JournalUnreadable
from oaipmhscraper.lists.journal_rows import (
    AGAIN,
    ListFacts,
    ListRow,
    OpenHarvest,
    WindowRow,
    facts_of,
    facts_text,
    job_id,
    job_row,
    loss_fields,
    storable,
    window_row,
    window_values,
)
from oaipmhscraper.lists.listed_identifiers import Loss, PageTally
from oaipmhscraper.receipt import Counts, Outcome
from oaipmhscraper.storing.fetched_pages import FetchedPage
from recordsilo.closing import Closing
from recordsilo.disk.atomic_file import make_in_silo
from recordsilo.disk.locks import Locks
from silowork.ledger_file import LedgerFile, LedgerKind, Mode

LONGEST_REST = timedelta(days=7)
"""A longer ``Retry-After`` is probably a mistake."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, request TEXT NOT NULL UNIQUE, base_url TEXT NOT NULL,
    said TEXT NOT NULL DEFAULT '', traffic TEXT NOT NULL DEFAULT '[0, 0, 0]'
);
CREATE TABLE IF NOT EXISTS lists (
    id INTEGER PRIMARY KEY, job TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
    what TEXT NOT NULL, facts TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS windows (
    id INTEGER PRIMARY KEY, list INTEGER NOT NULL REFERENCES lists ON DELETE CASCADE,
    state TEXT NOT NULL, what TEXT NOT NULL, position TEXT, counts TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS windows_of_list ON windows (list);
CREATE TABLE IF NOT EXISTS listed (
    list INTEGER NOT NULL REFERENCES lists ON DELETE CASCADE, digests BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS listed_in_list ON listed (list);
CREATE TABLE IF NOT EXISTS losses (
    list INTEGER NOT NULL REFERENCES lists ON DELETE CASCADE,
    kind TEXT NOT NULL, identifier TEXT NOT NULL, reason TEXT NOT NULL, place TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS losses_of_list ON losses (list, identifier);
CREATE TABLE IF NOT EXISTS fetched (
    id INTEGER PRIMARY KEY AUTOINCREMENT, list INTEGER NOT NULL REFERENCES lists ON DELETE CASCADE,
    what TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS fetched_of_list ON fetched (list);
CREATE TABLE IF NOT EXISTS endpoints (
    base_url TEXT PRIMARY KEY, quirks TEXT NOT NULL DEFAULT '{}',
    rest_until TEXT, rest_status INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS owed (
    prefix TEXT NOT NULL, set_spec TEXT NOT NULL, identifier TEXT NOT NULL,
    kind TEXT NOT NULL, reason TEXT NOT NULL, place TEXT NOT NULL,
    PRIMARY KEY (prefix, set_spec, identifier)
);
"""
_KIND = LedgerKind(
    _SCHEMA,
    JournalUnreadable,
    version=1,
    added=frozenset({"owed", "fetched"}),
    synchronous="NORMAL",
    has_log=True,
)


def journal_path(silo_path: str) -> str:
    """Return the path of a Silo's journal, which may not exist."""
    return os.path.join(silo_path, ".silo", "harvest.sqlite")


class Journal(Closing):
    """The journal of one Silo, for one thread.

    Args:
        silo_path: The Silo's directory.

    Raises:
        JournalUnreadable: The file is damaged, or of a later version.
    """

    def __init__(self, silo_path: str, mode: Mode = "create") -> None:
        self.path = journal_path(silo_path)
        self.silo_path = silo_path
        if mode == "create":
            make_in_silo(silo_path, os.path.dirname(self.path))
        self._file = LedgerFile(self.path, _KIND, mode).open()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Run the block in one transaction."""
        with self._file.transaction():
            yield

    @contextmanager
    def beginning(self) -> Iterator[None]:
        """Let no other harvest of the Silo begin during the block; waits for those that do."""
        with Locks.of_silo(self.silo_path, in_silo=True).hold_name("harvest-begins"):
            yield

    @contextmanager
    def held(self, request: str) -> Iterator[None]:
        """Lock a request.

        Raises:
            HarvestRunning: Another process or thread has the lock.
        """
        directory = os.path.join(self.silo_path, ".silo", "locks")
        make_in_silo(self.silo_path, directory)
        name = f"harvest-{sha256(request.encode()).hexdigest()[:16]}"
        fd = os.open(os.path.join(directory, name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HarvestRunning(self.silo_path) from None
            yield
        finally:
            os.close(fd)

    def is_running(self, request: str) -> bool:
        """Whether another process or thread has the lock of a request."""
        try:
            with self.held(request):
                return False
        except HarvestRunning:
            return True
        except OSError:  # a Silo that cannot be written
            return False

    # ------------------------------------------------------------------ jobs

    def jobs(self) -> list[OpenHarvest]:
        """Return the open jobs, oldest first."""
        return [job_row(row) for row in self._ask("SELECT * FROM jobs ORDER BY id")]

    def job_of(self, request: str) -> OpenHarvest | None:
        """Return the open job of a request."""
        found = self._ask("SELECT * FROM jobs WHERE request = ?", request)
        return job_row(found[0]) if found else None

    def begin(
        self, request: str, base_url: str, lists: Iterable[ListJob], now: datetime
    ) -> OpenHarvest:
        """Create a job with its lists, each as one window."""
        with self.changing():
            while self._ask("SELECT 1 FROM jobs WHERE id = ?", job_id(now)):
                now += timedelta(microseconds=1)
            self._do(
                "INSERT INTO jobs (id, request, base_url) VALUES (?, ?, ?)",
                job_id(now),
                request,
                base_url,
            )
            job = OpenHarvest(job_id(now), base_url, request)
            for one in lists:
                self.add_list(job, one)
        return job

    def rename(self, job: OpenHarvest, request: str) -> None:
        """Change the request of a job; no other job may have it."""
        with self.changing():
            self._do("UPDATE jobs SET request = ? WHERE id = ?", request, job.id)

    def note_stop(self, job: OpenHarvest, said: str) -> None:
        """Note how an unfinished run ended."""
        with self.changing():
            self._do("UPDATE jobs SET said = ? WHERE id = ?", said, job.id)

    def note_traffic(self, job: OpenHarvest, traffic: Sequence[int]) -> None:
        """Note the traffic of a job in all its runs."""
        with self.changing():
            self._do("UPDATE jobs SET traffic = ? WHERE id = ?", json.dumps(list(traffic)), job.id)

    def forget(self, job: OpenHarvest) -> None:
        """Remove a job that is finished or no longer wanted."""
        with self.changing():
            self._do("DELETE FROM jobs WHERE id = ?", job.id)

    # ------------------------------------------------------------------ lists and windows

    def lists(self, job: OpenHarvest) -> list[ListRow]:
        """Return a job's lists, in the order of the request."""
        rows = self._ask("SELECT id, what, facts FROM lists WHERE job = ? ORDER BY id", job.id)
        return [
            ListRow(number, ListJob(**json.loads(what)), facts_of(facts))
            for number, what, facts in rows
        ]

    def add_list(self, job: OpenHarvest, what: ListJob) -> ListRow:
        """Add a list to a job, as one window."""
        number = self._insert_list(job, what)
        self.add_windows(number, [WindowRow(0, window=Window(what.from_, what.until))])
        return ListRow(number, what, ListFacts())

    def _insert_list(self, job: OpenHarvest, what: ListJob) -> int:
        return self._do(
            "INSERT INTO lists (job, what, facts) VALUES (?, ?, ?)",
            job.id,
            json.dumps(asdict(what)),
            facts_text(ListFacts()),
        )

    def adopt(self, found: ListRow, own: ListRow | None, job: OpenHarvest) -> None:
        """Move a list with its progress to another job, replacing that job's own list, if any."""
        with self.changing():
            self._do("UPDATE lists SET job = ? WHERE id = ?", job.id, found.id)
            if own is not None:
                self._do("DELETE FROM lists WHERE id = ?", own.id)

    def is_unfinished(self, row: ListRow) -> bool:
        """Whether a part of a list is not fetched or not stored yet."""
        is_open = any(one.state not in {"done", "cut"} for one in self.windows(row.id))
        return is_open or bool(self.fetched(row.id))

    def put_list(self, row: ListRow) -> None:
        """Store the facts of a list."""
        self._do("UPDATE lists SET facts = ? WHERE id = ?", facts_text(row.facts), row.id)

    def windows(self, list_id: int) -> list[WindowRow]:
        """Return a list's windows, in the order in which they were made."""
        rows = self._ask(
            "SELECT id, state, what, position, counts FROM windows WHERE list = ? ORDER BY id",
            list_id,
        )
        return [window_row(row) for row in rows]

    def add_windows(self, list_id: int, rows: Iterable[WindowRow]) -> list[WindowRow]:
        """Add windows; return them with their ids."""
        added = []
        for row in rows:
            number = self._do(
                "INSERT INTO windows (list, state, what, position, counts) VALUES (?, ?, ?, ?, ?)",
                list_id,
                *window_values(row),
            )
            added.append(replace(row, id=number))
        return added

    def put_window(self, row: WindowRow) -> None:
        """Store the state of a window."""
        self._do(
            "UPDATE windows SET state = ?, what = ?, position = ?, counts = ? WHERE id = ?",
            *window_values(row),
            row.id,
        )

    def drop_windows(self, rows: Iterable[WindowRow]) -> None:
        """Remove windows of which nothing was fetched."""
        with self._file.reading() as db:
            db.executemany("DELETE FROM windows WHERE id = ?", [(row.id,) for row in rows])

    # ------------------------------------------------------------------ pages to be stored

    def fetched(self, list_id: int) -> list[FetchedPage]:
        """Return a list's pages that are not stored yet, in the order in which to store them."""
        rows = self._ask("SELECT id, what FROM fetched WHERE list = ? ORDER BY id", list_id)
        return [FetchedPage(**json.loads(what), id=number) for number, what in rows]

    def files_to_store(self) -> set[str]:
        """Return the names of the WARC files with pages that are not stored yet."""
        return {json.loads(what)["file"] for (what,) in self._ask("SELECT what FROM fetched")}

    def add_fetched(self, list_id: int, page: FetchedPage) -> FetchedPage:
        """Note a page that is to be stored; return it with its number."""
        what = {name: value for name, value in asdict(page).items() if name != "id"}
        number = self._do(
            "INSERT INTO fetched (list, what) VALUES (?, ?)", list_id, json.dumps(what)
        )
        return replace(page, id=number)

    def drop_fetched(self, page: FetchedPage) -> None:
        """Note that a page is stored."""
        self._do("DELETE FROM fetched WHERE id = ?", page.id)

    # ------------------------------------------------------------------ listed identifiers

    def put_tally(self, list_id: int, tally: PageTally) -> None:
        """Store what a page added."""
        if tally.digests:
            self._do("INSERT INTO listed VALUES (?, ?)", list_id, tally.digests)
        if not tally.lost and not tally.found:  # nearly all pages
            return
        with self._file.reading() as db:
            db.executemany(
                "INSERT INTO losses VALUES (?, ?, ?, ?, ?)",
                [(list_id, loss.kind.value, *loss_fields(loss.what)) for loss in tally.lost],
            )
            db.executemany(
                "DELETE FROM losses WHERE list = ? AND identifier = ?",
                [(list_id, storable(identifier)) for identifier in tally.found],
            )

    def listed(self, list_id: int) -> Iterator[bytes]:
        """Yield the stored digests of a list."""
        with self._file.reading() as db:
            for (digests,) in db.execute("SELECT digests FROM listed WHERE list = ?", (list_id,)):
                yield digests

    def losses(self, list_id: int) -> list[Loss]:
        """Return the losses of a list, in order of occurrence."""
        rows = self._ask(
            "SELECT kind, identifier, reason, place FROM losses WHERE list = ? ORDER BY rowid",
            list_id,
        )
        return [Loss(Outcome(kind), SetAside(*fields)) for kind, *fields in rows]

    # ------------------------------------------------------------------ owed records

    def owed(self, what: ListJob) -> list[Loss]:
        """Return the owed records of a format and set: listed, but not available."""
        rows = self._ask(
            "SELECT kind, identifier, reason, place FROM owed"
            " WHERE prefix = ? AND set_spec = ? ORDER BY rowid",
            what.metadata_prefix,
            what.set_spec or "",
        )
        return [Loss(Outcome(kind), SetAside(*fields)) for kind, *fields in rows]

    def put_owed(self, what: ListJob, losses: Iterable[Loss]) -> None:
        """Store the owed records of a format and set, in the order in which to request them."""
        pair = what.metadata_prefix, what.set_spec or ""
        with self._file.transaction() as db:
            self._do("DELETE FROM owed WHERE prefix = ? AND set_spec = ?", *pair)
            db.executemany(
                "INSERT OR REPLACE INTO owed (prefix, set_spec, kind, identifier, reason, place)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [(*pair, loss.kind.value, *loss_fields(loss.what)) for loss in losses],
            )

    def owed_lists(self) -> list[tuple[ListJob, int]]:
        """Return how many records are owed, by format and set."""
        rows = self._ask("SELECT prefix, set_spec, count(*) FROM owed GROUP BY 1, 2 ORDER BY 1, 2")
        return [(ListJob(prefix, spec or None), number) for prefix, spec, number in rows]

    def add_owed(self, job: OpenHarvest) -> None:
        """Let an update request the owed records of its formats and sets."""
        jobs = [row.job for row in self.lists(job)]
        has_owed = {(one.metadata_prefix, one.set_spec) for one in jobs if one.owed}
        updated = {(one.metadata_prefix, one.set_spec) for one in jobs if one.update}
        for what in (ListJob(*pair, update=True, owed=True) for pair in updated - has_owed):
            losses = self.owed(what)
            if losses:
                with self.changing():
                    self._add_losses(job, what, losses)

    def _add_losses(self, job: OpenHarvest, what: ListJob, losses: Sequence[Loss]) -> None:
        number = self._insert_list(job, what)
        digests = b"".join(digest(loss.what.identifier) for loss in losses)
        self.put_tally(number, PageTally(Counter(), digests, tuple(losses), ()))
        counts = Counts(outcomes=Counter(loss.kind for loss in losses))
        self.add_windows(number, [WindowRow(0, mode=AGAIN, relists=True, counts=counts)])

    def give_up(self, identifiers: Collection[str] = ()) -> int:
        """Remove all or some owed records; return how many."""
        with self._file.transaction() as db:
            before = self._ask("SELECT count(*) FROM owed")[0][0]
            if identifiers:
                named = [(one,) for one in identifiers]
                db.executemany("DELETE FROM owed WHERE identifier = ?", named)
            else:
                self._do("DELETE FROM owed")
            self._do("DELETE FROM lists WHERE json_extract(what, '$.owed')")
            return int(before - self._ask("SELECT count(*) FROM owed")[0][0])

    # ------------------------------------------------------------------ endpoints

    def quirks(self, base_url: str) -> EndpointMemory:
        """Return the known habits of an endpoint."""
        found = self._ask("SELECT quirks FROM endpoints WHERE base_url = ?", base_url)
        return EndpointMemory.from_json(json.loads(found[0][0])) if found else EndpointMemory()

    def put_quirks(self, base_url: str, quirks: EndpointMemory) -> None:
        """Store the known habits of an endpoint."""
        self._do(
            "INSERT INTO endpoints (base_url, quirks) VALUES (?1, ?2)"
            " ON CONFLICT (base_url) DO UPDATE SET quirks = ?2",
            base_url,
            json.dumps(quirks.to_json()),
        )

    def rest_of(self, base_url: str, now: datetime) -> tuple[datetime, int] | None:
        """Return until when an endpoint requested a pause, and with which status.

        One that lies further ahead than `LONGEST_REST` was stored while the clock was wrong.
        """
        found = self._ask(
            "SELECT rest_until, rest_status FROM endpoints"
            " WHERE base_url = ? AND rest_until IS NOT NULL",
            base_url,
        )
        if not found:
            return None
        until = datetime.fromisoformat(found[0][0])
        return (until, found[0][1]) if now < until <= now + LONGEST_REST else None

    def put_rest(self, base_url: str, until: datetime, status: int, now: datetime) -> None:
        """Store until when an endpoint requested a pause, at most `LONGEST_REST`."""
        self._do(
            "INSERT INTO endpoints (base_url, rest_until, rest_status) VALUES (?1, ?2, ?3)"
            " ON CONFLICT (base_url) DO UPDATE SET rest_until = ?2, rest_status = ?3",
            base_url,
            min(until, now + LONGEST_REST).astimezone(UTC).isoformat(),
            status,
        )

    # ------------------------------------------------------------------ internal

    def _ask(self, statement: str, *values: Any) -> list[Any]:
        return self._file.rows(statement, values)

    def _do(self, statement: str, *values: Any) -> int:
        with self._file.reading() as db:
            return int(db.execute(statement, values).lastrowid or 0)
