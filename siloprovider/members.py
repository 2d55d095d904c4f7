"""Which records a saved search finds, as sets of the table of `items`.

A record that enters or leaves a search has the time at which that was seen as its datestamp, so
that who asks "from my last harvest on" hears of it. In the list of the set, one that has left is
given as deleted, with the time at which it left (docs/adr/0057).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from sqlite3 import Connection

from recordsilo.batches import batched
from siloprovider.set_names import with_parents
from silowork.ledger_file import LedgerFile

SCHEMA = """
    CREATE TABLE IF NOT EXISTS search (   -- saved searches that were looked at
        spec TEXT PRIMARY KEY,
        stamp TEXT NOT NULL,              -- of the index and the search then
        looked REAL NOT NULL,             -- seconds since 1970
        took REAL NOT NULL                -- seconds
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS member (
        identifier TEXT NOT NULL,
        spec TEXT NOT NULL,
        PRIMARY KEY (identifier, spec)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS member_spec ON member (spec);
    CREATE TABLE IF NOT EXISTS former (   -- that were members, also in in_set with this date
        identifier TEXT NOT NULL,
        spec TEXT NOT NULL,
        datestamp TEXT NOT NULL,
        PRIMARY KEY (identifier, spec)
    ) WITHOUT ROWID
"""
TABLES = frozenset({"search", "member", "former"})
_TOGETHER = 1000
_ENTERED = (
    "SELECT identifier FROM found WHERE identifier IN (SELECT identifier FROM item WHERE version "
    "<> '') AND NOT EXISTS (SELECT 1 FROM member WHERE member.identifier = found.identifier "
    "AND spec = ?) AND identifier > ? ORDER BY identifier LIMIT ?"
)
_LEFT = (
    "SELECT member.identifier FROM member JOIN item ON item.identifier = member.identifier "
    "WHERE member.spec = ? AND item.version <> '' "
    "AND member.identifier NOT IN (SELECT identifier FROM found) "
    "AND member.identifier > ? ORDER BY member.identifier LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class Looked:
    """When a search was looked at.

    Attributes:
        stamp: Of the index and the search then.
        at: Seconds since 1970.
        took: Seconds.
    """

    stamp: str
    at: float
    took: float


def looked_at(file: LedgerFile, spec: str) -> Looked | None:
    """When a search was looked at last; None if never."""
    found = file.rows("SELECT stamp, looked, took FROM search WHERE spec = ?", (spec,))
    return Looked(*found[0]) if found else None


def known_searches(file: LedgerFile) -> frozenset[str]:
    """The setSpecs of all searches that were ever looked at."""
    return frozenset(spec for (spec,) in file.rows("SELECT spec FROM search"))


def specs_of(connection: Connection, identifier: str) -> tuple[str, ...]:
    """The searches that find a record, as setSpecs."""
    sql = "SELECT spec FROM member WHERE identifier = ?"
    return tuple(spec for (spec,) in connection.execute(sql, (identifier,)))


def take_over(
    file: LedgerFile,
    spec: str,
    found: Iterable[str],
    looked: Looked,
    datestamp: str,
    *,
    is_new: bool,
) -> None:
    """Note what a search finds.

    Killed in the middle, the rest is noted the next time.

    Args:
        found: The identifiers, in any order, each once.
        datestamp: Of those who enter or leave.
        is_new: Whether the search was never looked at: nobody has harvested it, so that its
            members keep their datestamps.
    """
    with file.reading() as connection:
        connection.execute("CREATE TEMP TABLE IF NOT EXISTS found (identifier TEXT PRIMARY KEY)")
        connection.execute("DELETE FROM found")
    for some in batched(found, _TOGETHER):
        with file.reading() as connection:
            rows = [(one,) for one in some]
            connection.executemany("INSERT OR IGNORE INTO found VALUES (?)", rows)
    if not is_new:
        with file.transaction() as connection:  # what changed before and is seen later comes later
            sql = "UPDATE about SET value = ? WHERE key = 'fed' AND value < ?"
            connection.execute(sql, (datestamp, datestamp))
    for sql, change in ((_ENTERED, _enter), (_LEFT, _leave)):
        after: str | None = ""
        while after is not None:
            with file.transaction() as connection:
                rows = connection.execute(sql, (spec, after, _TOGETHER)).fetchall()
                for (identifier,) in rows:
                    change(connection, identifier, spec, "" if is_new else datestamp)
            after = rows[-1][0] if rows else None
    with file.transaction() as connection:
        row = (spec, looked.stamp, looked.at, looked.took)
        connection.execute("INSERT OR REPLACE INTO search VALUES (?, ?, ?, ?)", row)
        connection.execute("DELETE FROM found")


def _enter(connection: Connection, identifier: str, spec: str, datestamp: str) -> None:
    _forget_former(connection, identifier, spec)
    connection.execute("INSERT INTO member VALUES (?, ?)", (identifier, spec))
    now = _moved(connection, identifier, datestamp, with_=spec)
    connection.execute("INSERT OR IGNORE INTO in_set VALUES (?, ?, ?)", (spec, now, identifier))


def _leave(connection: Connection, identifier: str, spec: str, datestamp: str) -> None:
    sql = "DELETE FROM member WHERE identifier = ? AND spec = ?"
    connection.execute(sql, (identifier, spec))
    now = _moved(connection, identifier, datestamp, without=spec)
    connection.execute("INSERT OR IGNORE INTO in_set VALUES (?, ?, ?)", (spec, now, identifier))
    row = (identifier, spec, now)
    connection.execute("INSERT OR REPLACE INTO former VALUES (?, ?, ?)", row)


def _forget_former(connection: Connection, identifier: str, spec: str) -> None:
    sql = "SELECT datestamp FROM former WHERE identifier = ? AND spec = ?"
    for (datestamp,) in connection.execute(sql, (identifier, spec)).fetchall():
        sql = "DELETE FROM in_set WHERE spec = ? AND datestamp = ? AND identifier = ?"
        connection.execute(sql, (spec, datestamp, identifier))
        sql = "DELETE FROM former WHERE identifier = ? AND spec = ?"
        connection.execute(sql, (identifier, spec))


def _moved(
    connection: Connection, identifier: str, datestamp: str, *, with_: str = "", without: str = ""
) -> str:
    """Give an item another datestamp, and one set more or less; return its datestamp.

    Args:
        datestamp: Empty to leave it as it is.
    """
    sql = "SELECT datestamp, sets FROM item WHERE identifier = ?"
    before, sets = connection.execute(sql, (identifier,)).fetchone()
    now = datestamp or before
    specs = [spec for spec in sets.split("\n") if spec and spec != without]
    if now != before:
        sql = "UPDATE in_set SET datestamp = ? WHERE spec = ? AND datestamp = ? AND identifier = ?"
        rows = [(now, spec, before, identifier) for spec in with_parents(specs)]
        connection.executemany(sql, rows)
    if without:
        sql = "DELETE FROM in_set WHERE spec = ? AND datestamp = ? AND identifier = ?"
        connection.execute(sql, (without, before, identifier))
    specs += [with_] if with_ else []
    sql = "UPDATE item SET datestamp = ?, sets = ? WHERE identifier = ?"
    connection.execute(sql, (now, "\n".join(specs), identifier))
    return now
