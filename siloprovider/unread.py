"""Records that could not be read when they had changed, to be looked at again until they can be.

What was given of them before is not given meanwhile: they may have been withheld.
"""

import json
from collections.abc import Iterable, Sequence
from sqlite3 import Connection
from typing import NamedTuple

from silowork.ledger_file import LedgerFile

TABLE = "unread"
SCHEMA = f"""
    CREATE TABLE IF NOT EXISTS {TABLE} (
        identifier TEXT PRIMARY KEY,
        number INTEGER NOT NULL,          -- of the record in the index
        seen TEXT NOT NULL                -- what the index has of it, in JSON
    ) WITHOUT ROWID"""
_AT_ONCE = 1000
_REVISIONS = 1 << 24
NOT_READ = -1
"""The seal of a record that could not be read; no document has it."""


class IndexedRecord(NamedTuple):
    """What the index has of a record.

    Attributes:
        number: Of the record in the index; another one if it was removed and made anew.
        seal: See `sealed`.
        changed: When it was changed, as seconds since 0001-01-01.
        sets: Its setSpecs.
    """

    number: int
    identifier: str
    seal: int
    changed: int
    sets: tuple[str, ...]


def sealed(revision: int, changed: int) -> int:
    """A number for what a record was at a time: it may be removed, and come to that revision again.

    Args:
        revision: Of its manifest.
        changed: When that was written, as seconds since 0001-01-01; 0 if it is not known.
    """
    return changed * _REVISIONS + revision % _REVISIONS


def is_same(one: int, other: int) -> bool:
    """Whether two seals are of the same state, as far as they tell."""
    if NOT_READ in (one, other):
        return False
    if one >= _REVISIONS and other >= _REVISIONS:
        return one == other
    return one % _REVISIONS == other % _REVISIONS


def note(connection: Connection, seen: IndexedRecord) -> None:
    """Note a record that could not be read."""
    row = seen.identifier, seen.number, json.dumps(seen)
    connection.execute("INSERT OR REPLACE INTO unread VALUES (?, ?, ?)", row)


def settle(connection: Connection, identifier: str) -> None:
    """Forget a record that was read."""
    connection.execute("DELETE FROM unread WHERE identifier = ?", (identifier,))


def forget(connection: Connection, gone: Iterable[int]) -> None:
    """Forget records that are not in the index any more, by their numbers."""
    connection.executemany("DELETE FROM unread WHERE number = ?", [(one,) for one in gone])


def forget_all(connection: Connection) -> None:
    """Forget all: every record is looked at now."""
    connection.execute("DELETE FROM unread")


def some(file: LedgerFile) -> Sequence[IndexedRecord]:
    """Some of the records to look at again; all come in turn, by chance."""
    sql = "SELECT seen FROM unread ORDER BY random() LIMIT ?"
    found = (json.loads(one) for (one,) in file.rows(sql, (_AT_ONCE,)))
    return [IndexedRecord._make((*one[:4], tuple(one[4]))) for one in found]
