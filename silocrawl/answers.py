"""What addresses answered last, for conditional requests and revisits; what was spent; failures.

The file may be deleted: everything is then fetched and archived once more, and limits count again.
"""

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass

from politeweb.exchange import Known
from recordsilo.closing import Closing
from silocrawl.errors import CrawlingError
from silowork.ledger_file import LedgerFile, LedgerKind, Mode

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answer (
  url TEXT PRIMARY KEY, timestamp TEXT NOT NULL, digest TEXT NOT NULL, status INTEGER NOT NULL,
  mimetype TEXT NOT NULL, etag TEXT NOT NULL, modified TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spent (
  launch TEXT NOT NULL, seed TEXT NOT NULL, pages INTEGER NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (launch, seed)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failure (
  launch TEXT NOT NULL, url TEXT NOT NULL, PRIMARY KEY (launch, url)) WITHOUT ROWID
"""

SECONDS_OF_SPENT = 0.5
"""How long is remembered what was spent: it is noted about as often."""


class AnswersUnreadable(CrawlingError):
    """The file of answers cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be read: {reason}; it may be deleted")


KIND = LedgerKind(_SCHEMA, AnswersUnreadable, version=1, has_log=True)


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """The last archived answer of an address.

    Attributes:
        timestamp: When it was archived; 14 digits.
        digest: Of its body, in base 32.
        status, mimetype: As archived.
        known: Its validators.
    """

    timestamp: str
    digest: str
    status: int
    mimetype: str
    known: Known

    @property
    def date(self) -> str:
        """The time as in WARC files."""
        one = self.timestamp
        return f"{one[:4]}-{one[4:6]}-{one[6:8]}T{one[8:10]}:{one[10:12]}:{one[12:14]}Z"


@dataclass(frozen=True, slots=True)
class Spent:
    """What the crawl of a seed has fetched in a launch."""

    pages: int = 0
    bytes: int = 0


class Answers(Closing):
    """The file; threads may share it.

    Args:
        mode: As of `LedgerFile`.
    """

    def __init__(self, path: str, mode: Mode = "create") -> None:
        self._file = LedgerFile(path, KIND, mode)
        self._spent: dict[tuple[str, str], tuple[float, Spent]] = {}

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def last(self, url: str) -> LastAnswer | None:
        """Return the last archived answer of an address; None if there is none."""
        columns = "timestamp, digest, status, mimetype, etag, modified"
        rows = self._file.rows(f"SELECT {columns} FROM answer WHERE url = ?", (url,))  # noqa: S608
        for timestamp, digest, status, mimetype, etag, modified in rows:
            return LastAnswer(timestamp, digest, status, mimetype, Known(etag, modified))
        return None

    def spent(self, launch: str, seed: str) -> Spent:
        """Return what the crawl of a seed has fetched in a launch.

        What other processes have noted may be missing for `SECONDS_OF_SPENT`.
        """
        now, place = time.monotonic(), (launch, seed)
        until, spent = self._spent.get(place, (now, Spent()))
        if until <= now:
            where = "SELECT pages, bytes FROM spent WHERE launch = ? AND seed = ?"
            spent = Spent(*next(iter(self._file.rows(where, place)), ()))
            self._spent[place] = now + SECONDS_OF_SPENT, spent
        return spent

    def spent_in(self, launch: str) -> Spent:
        """Return what the crawls of all seeds have fetched in a launch.

        Cost: reads a row for each seed, 100,000 of them in some hundredths of a second.
        """
        where = "SELECT total(pages), total(bytes) FROM spent WHERE launch = ?"
        ((pages, size),) = self._file.rows(where, (launch,)) or [(0, 0)]
        return Spent(int(pages), int(size))

    def has_failed(self, launch: str, url: str) -> bool:
        """Whether an address has an outcome in a launch, and nothing to be archived."""
        where = "SELECT 1 FROM failure WHERE launch = ? AND url = ?"
        return bool(self._file.rows(where, (launch, url)))

    def keep(
        self,
        answers: Iterable[tuple[str, LastAnswer]],
        spent: Iterable[tuple[str, str, int]],
        failures: Iterable[tuple[str, str]],
    ) -> None:
        """Note answers, what was spent, and failures, in one transaction.

        Args:
            answers: Address and its answer.
            spent: Launch, seed and the bytes of a page.
            failures: Launch and address of what has an outcome, and no record.
        """

        def rows() -> Iterable[tuple[object, ...]]:
            for url, one in answers:
                yield (
                    url, one.timestamp, one.digest, one.status, one.mimetype, one.known.etag,
                    one.known.last_modified,
                )  # fmt: skip

        with self._file.transaction() as connection:
            _note(connection, rows(), spent)
            connection.executemany("INSERT OR IGNORE INTO failure VALUES (?, ?)", failures)
        self._spent = {}


def _note(
    connection: sqlite3.Connection,
    answers: Iterable[tuple[object, ...]],
    spent: Iterable[tuple[str, str, int]],
) -> None:
    connection.executemany("INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?, ?, ?)", answers)
    connection.executemany(
        "INSERT INTO spent VALUES (?, ?, 1, ?) ON CONFLICT (launch, seed) DO UPDATE"
        " SET pages = pages + 1, bytes = bytes + excluded.bytes",
        spent,
    )
