"""The state of a fleet: ``fleet/fleet.sqlite``, on the clock's own disk.

It has the facts of each endpoint, the runs at work and those of the last month, the nodes, and
the hosts that asked for a pause. Every change is one transaction that reads a row again, so
the clock, the commands and the page may change it at the same time. A power cut may lose the
last changes: the truth about harvests is in the receipts of the Silos.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from typing import Any

from recordsilo.closing import Closing
from silofleet.errors import EndpointMoving, FleetRefused, FleetStateUnreadable, NoSuchEndpoint
from silofleet.fields import columns, moment_of, of_row, stored
from silofleet.values import Ended, Facts, Node, RunOutcome
from silowork.ledger_file import LedgerFile, LedgerKind, Mode
from silowork.telling import TOLD_TABLE, Told

RUNS_KEPT = timedelta(days=31)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS endpoint (
    name TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    added TEXT NOT NULL,
    node TEXT NOT NULL DEFAULT '',
    epoch INTEGER NOT NULL DEFAULT 0,
    run INTEGER NOT NULL DEFAULT 0,
    started TEXT,
    ended TEXT,
    outcome TEXT,
    said TEXT NOT NULL DEFAULT '',
    failures INTEGER NOT NULL DEFAULT 0,
    whole TEXT,
    records INTEGER NOT NULL DEFAULT 0,
    promised INTEGER,
    due TEXT,
    interval REAL,
    is_quarantined INTEGER NOT NULL DEFAULT 0,
    moved_to TEXT NOT NULL DEFAULT '',
    is_asked INTEGER NOT NULL DEFAULT 0,
    outcomes TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS run (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint TEXT NOT NULL,
    node TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    started TEXT NOT NULL,
    beat TEXT NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    total INTEGER,
    ended TEXT,
    outcome TEXT,
    said TEXT NOT NULL DEFAULT '',
    changed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS run_by_end ON run (ended);
CREATE INDEX IF NOT EXISTS run_by_endpoint ON run (endpoint, number);
CREATE TABLE IF NOT EXISTS hold (
    host TEXT PRIMARY KEY,
    until TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS node (
    name TEXT PRIMARY KEY,
    slots INTEGER NOT NULL,
    free_bytes INTEGER NOT NULL,
    free_inodes INTEGER NOT NULL,
    seen TEXT NOT NULL,
    is_open INTEGER NOT NULL DEFAULT 1
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changed (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS move (
    endpoint TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    began TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS clock (
    number INTEGER PRIMARY KEY CHECK (number = 1),
    beat TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS clock_end (  -- the beat after which the clock ended in order
    beat TEXT NOT NULL
);
"""
KIND = LedgerKind(
    _SCHEMA + TOLD_TABLE,
    FleetStateUnreadable,
    version=1,
    added=frozenset({"move", "clock", "clock_end"}),
    synchronous="NORMAL",
    has_log=True,
)
Endings = Mapping[tuple[datetime, RunOutcome], int]
"""Hour and outcome → number of runs."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of an endpoint, at work or ended.

    Attributes:
        number: Unique in the fleet.
        node: The node that it was sent to.
        epoch: Of the endpoint when it was sent.
        started: When it was sent.
        beat: When its node last reported on it.
        done, total: Records listed, so far if it is at work, and promised.
        ended: None while it is at work.
        outcome, said, changed: See `silofleet.values.Ended`.
    """

    number: int
    endpoint: str
    node: str
    epoch: int
    started: datetime
    beat: datetime
    done: int = 0
    total: int | None = None
    ended: datetime | None = None
    outcome: RunOutcome | None = None
    said: str = ""
    changed: int = 0

    def to_json(self) -> dict[str, Any]:
        """The run as JSON values."""
        return {
            "run": self.number,
            "node": self.node,
            "started": stored(self.started),
            "ended": stored(self.ended) if self.ended else None,
            "outcome": self.outcome.value if self.outcome else None,
            "said": self.said,
            "done": self.done,
            "total": self.total,
            "changed": self.changed,
        }


@dataclass(frozen=True, slots=True)
class SiloMove:
    """A Silo that is being moved; no run of its endpoint starts.

    Attributes:
        endpoint: Name of the endpoint.
        source, target: Nodes.
        epoch: Of the Silo at its new place.
        began: When.
    """

    endpoint: str
    source: str
    target: str
    epoch: int
    began: datetime


class FleetLedger(Closing):
    """The state of one fleet; any thread may use it.

    Args:
        directory: The Granary.
        mode: See `silowork.ledger_file.LedgerFile`.

    Attributes:
        told: The notices that were sent.

    Raises (every method):
        LedgerUnreadable: The file is not such a ledger, or damaged.
        OSError: The disk refuses it.
    """

    def __init__(self, directory: str, mode: Mode = "write") -> None:
        self.path = os.path.join(directory, "fleet", "fleet.sqlite")
        self._file = LedgerFile(self.path, KIND, mode)
        self.told = Told(self._file)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # ------------------------------------------------------------------ endpoints

    def facts(self, names: Iterable[str] | None = None) -> list[Facts]:
        """The facts of all endpoints, or of those of some names, by name."""
        if names is None:
            return self._facts("ORDER BY name")
        where = "WHERE name IN (SELECT value FROM json_each(?)) ORDER BY name"
        return self._facts(where, (json.dumps(list(names)),))

    def facts_of(self, name: str) -> Facts:
        """The facts of an endpoint.

        Raises:
            NoSuchEndpoint: There is none of that name.
        """
        found = self._facts("WHERE name = ?", (name,))
        if not found:
            raise NoSuchEndpoint(name)
        return found[0]

    def add(self, facts: Iterable[Facts]) -> int:
        """Add endpoints; those that exist stay as they are. Returns how many were added."""
        with self._file.transaction() as connection:
            added = 0
            for one in facts:
                done = connection.execute(
                    f"INSERT OR IGNORE INTO endpoint ({columns(Facts)})"  # noqa: S608  # our names
                    f" VALUES ({', '.join('?' * len(one))})",
                    [*map(stored, one)],
                )
                added += done.rowcount
                _note_changed(connection, one.name)
            return added

    def remove(self, names: Iterable[str]) -> None:
        """Remove endpoints and what is known of them."""
        with self._file.transaction() as connection:
            for name in names:
                connection.execute("DELETE FROM endpoint WHERE name = ?", (name,))
                connection.execute("DELETE FROM run WHERE endpoint = ?", (name,))
                connection.execute("DELETE FROM told WHERE endpoint = ?", (name,))
                connection.execute("DELETE FROM move WHERE endpoint = ?", (name,))
                _note_changed(connection, name)

    def change(self, name: str, change: Callable[[Facts], Facts]) -> Facts:
        """Change the facts of an endpoint in one transaction, and return them.

        Raises:
            NoSuchEndpoint: There is none of that name.
        """
        with self._file.transaction() as connection:
            return _put(connection, change(_one(connection, name)))

    def changed_since(self, number: int) -> tuple[int, set[str]]:
        """Names of endpoints whose facts were changed since; the first value is for the next call.

        Args:
            number: From the last call; -1 for the first, which returns no names.
        """
        rows = self._file.rows(
            "SELECT number, endpoint FROM changed WHERE number > ? ORDER BY number",
            (number if number >= 0 else 1 << 62,),
        )
        if rows:
            return int(rows[-1][0]), {name for _, name in rows}
        return number if number >= 0 else self.last_change(), set()

    def last_change(self) -> int:
        """A number that increases with every change of an endpoint's facts."""
        ((last,),) = self._file.rows("SELECT coalesce(max(number), 0) FROM changed")
        return int(last)

    def _facts(self, where: str, values: Sequence[Any] = ()) -> list[Facts]:
        statement = f"SELECT {columns(Facts)} FROM endpoint {where}"  # noqa: S608  # our own names
        return [of_row(Facts, row) for row in self._file.rows(statement, values)]

    # ------------------------------------------------------------------ runs

    def begin(self, name: str, node: str, now: datetime) -> Run:
        """Begin a run of an endpoint on a node.

        Raises:
            NoSuchEndpoint: There is none of that name.
            EndpointMoving: Its Silo is being moved, or is on another node.
        """
        moment = stored(now)
        with self._file.transaction() as connection:
            facts = _one(connection, name)
            if going := _move(connection, name):
                raise EndpointMoving(name, going.target)
            if facts.epoch and facts.node and facts.node != node:  # it was moved just now
                raise EndpointMoving(name, facts.node)
            cursor = connection.execute(
                "INSERT INTO run (endpoint, node, epoch, started, beat) VALUES (?, ?, ?, ?, ?)",
                (name, node, facts.epoch, moment, moment),
            )
            number = int(cursor.lastrowid or 0)
            _put(connection, facts._replace(run=number, node=node, started=now))
        return Run(number, name, node, facts.epoch, now, now)

    def beat(self, numbers: Iterable[tuple[int, int, int | None]], now: datetime) -> None:
        """Note that runs are alive: their numbers, records listed, and promised."""
        with self._file.transaction() as connection:
            connection.executemany(
                "UPDATE run SET beat = ?, done = ?, total = ? WHERE number = ? AND ended IS NULL",
                [(stored(now), done, total, number) for number, done, total in numbers],
            )

    def end(
        self, run: Run, ended: Ended, now: datetime, change: Callable[[Facts], Facts]
    ) -> Facts | None:
        """End a run, and change the facts of its endpoint in the same transaction.

        Returns:
            The facts; None if this run is not the endpoint's current one (it was begun again,
            ended before, or the endpoint was removed), and nothing was changed.
        """
        with self._file.transaction() as connection:
            connection.execute(
                "UPDATE run SET ended = ?, outcome = ?, said = ?, changed = ?,"
                " done = ifnull(?, done) WHERE number = ? AND ended IS NULL",
                (
                    *(stored(now), ended.outcome.value, ended.said, ended.changed, ended.listed),
                    run.number,
                ),
            )
            try:
                facts = _one(connection, run.endpoint)
            except NoSuchEndpoint:
                return None
            if facts.run != run.number:
                return None
            return _put(connection, change(facts))

    def open_runs(self) -> list[Run]:
        """The runs at work, oldest first."""
        return self._runs("WHERE ended IS NULL ORDER BY number")

    def runs_of(self, name: str, limit: int = 30) -> list[Run]:
        """The last runs of an endpoint, newest first."""
        return self._runs("WHERE endpoint = ? ORDER BY number DESC LIMIT ?", (name, limit))

    def ended_since(self, since: datetime) -> list[Run]:
        """The runs that ended since a moment, in the order of their ends."""
        return self._runs("WHERE ended >= ? ORDER BY ended", (stored(since),))

    def endings(self, since: datetime, names: Collection[str] | None = None) -> Endings:
        """How many runs ended since a moment, by the hour of their end and their outcome.

        Args:
            since: The moment.
            names: Only runs of these endpoints; by default of all.
        """
        rows = self._file.rows(
            "SELECT substr(ended, 1, 13), outcome, count(*) FROM run "
            "WHERE ended >= ? AND outcome IS NOT NULL "
            "AND (? OR +endpoint IN (SELECT value FROM json_each(?))) GROUP BY 1, 2",
            (stored(since), names is None, json.dumps([*(names or ())])),
        )
        return {
            (moment_of(f"{hour}:00:00+00:00"), RunOutcome(outcome)): number
            for hour, outcome, number in rows
        }

    def forget_old(self, now: datetime) -> None:
        """Delete what is older than `RUNS_KEPT`, and holds that are over."""
        with self._file.transaction() as connection:
            connection.execute("DELETE FROM run WHERE ended < ?", (stored(now - RUNS_KEPT),))
            connection.execute("DELETE FROM hold WHERE until < ?", (stored(now),))
            connection.execute(
                "DELETE FROM changed WHERE number < (SELECT max(number) - 100000 FROM changed)"
            )

    def _runs(self, where: str, values: Sequence[Any] = ()) -> list[Run]:
        statement = f"SELECT {columns(Run)} FROM run {where}"  # noqa: S608  # our own names
        return [of_row(Run, row) for row in self._file.rows(statement, values)]

    # ------------------------------------------------------------------ hosts and nodes

    def hold(self, host: str, until: datetime) -> None:
        """Note that a host asks for a pause."""
        with self._file.transaction() as connection:
            connection.execute(
                "INSERT INTO hold VALUES (?, ?) ON CONFLICT (host)"
                " DO UPDATE SET until = max(until, excluded.until)",
                (host, stored(until)),
            )

    def holds(self) -> dict[str, datetime]:
        """Hosts that asked for a pause, and until when; also pauses that are over."""
        return {host: moment_of(until) for host, until in self._file.rows("SELECT * FROM hold")}

    def see(self, node: Node) -> None:
        """Note what a node reports; whether it is open stays as it was."""
        with self._file.transaction() as connection:
            connection.execute(
                "INSERT INTO node VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
                " slots = excluded.slots, free_bytes = excluded.free_bytes,"
                " free_inodes = excluded.free_inodes, seen = excluded.seen",
                [*map(stored, astuple(node))],
            )

    def nodes(self) -> list[Node]:
        """The nodes, by name."""
        rows = self._file.rows(f"SELECT {columns(Node)} FROM node ORDER BY name")  # noqa: S608
        return [of_row(Node, row) for row in rows]

    def clock_beat(self, now: datetime) -> None:
        """Note that the clock is at work, and has seen the nodes that report to it."""
        with self._file.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO clock VALUES (1, ?)", (stored(now),))

    def clock_ended(self, now: datetime) -> None:
        """Note that the clock has ended in order: at once, it counts as not at work."""
        with self._file.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO clock VALUES (1, ?)", (stored(now),))
            connection.execute("DELETE FROM clock_end")
            connection.execute("INSERT INTO clock_end VALUES (?)", (stored(now),))

    def has_clock_ended(self) -> bool:
        """Whether the clock that was at work last has ended in order."""
        return bool(self._file.rows("SELECT 1 FROM clock JOIN clock_end USING (beat)"))

    def last_clock_beat(self) -> datetime | None:
        """When a clock was last at work; None if none has noted it."""
        rows = self._file.rows("SELECT beat FROM clock")
        return moment_of(rows[0][0]) if rows else None

    def change_node(self, name: str, *, is_open: bool | None = None, gone: bool = False) -> bool:
        """Open or close a node for new Silos, or forget it; returns whether there is such."""
        with self._file.transaction() as connection:
            if gone:
                done = connection.execute("DELETE FROM node WHERE name = ?", (name,))
            else:
                done = connection.execute(
                    "UPDATE node SET is_open = ? WHERE name = ?", (is_open, name)
                )
            return done.rowcount > 0

    # ------------------------------------------------------------------ moves

    def move_of(self, name: str) -> SiloMove | None:
        """The move of an endpoint's Silo that has begun; None if there is none."""
        with self._file.reading() as connection:
            return _move(connection, name)

    def moves(self) -> list[SiloMove]:
        """The moves that have begun and not ended."""
        names = self._file.rows("SELECT endpoint FROM move ORDER BY endpoint")
        return [move for (name,) in names if (move := self.move_of(name))]

    def begin_move(self, name: str, source: str, target: str, now: datetime) -> SiloMove:
        """Begin a move, or return the one that has begun; no run starts until it has ended.

        Raises:
            FleetRefused: The endpoint is at work.
            EndpointMoving: Its Silo is being moved to another node.
            NoSuchEndpoint: There is none of that name.
        """
        with self._file.transaction() as connection:
            going, facts = _move(connection, name), _one(connection, name)
            if going is not None:
                if going.target != target:
                    raise EndpointMoving(name, going.target)
                return going
            if facts.run:
                raise FleetRefused(f"{name} is at work; try again when its run has ended")
            going = SiloMove(name, source, target, max(1, facts.epoch) + 1, now)
            connection.execute(
                "INSERT INTO move VALUES (?, ?, ?, ?, ?)",
                [*map(stored, astuple(going))],
            )
            return _move(connection, name) or going

    def switch(self, move: SiloMove, *, has_silo: bool) -> None:
        """Note that the Silo is on its new node; without one, the next run makes it there."""

        def switched(facts: Facts) -> Facts:
            return facts._replace(node=move.target, epoch=move.epoch if has_silo else facts.epoch)

        self.change(move.endpoint, switched)

    def end_move(self, name: str) -> None:
        """Note that a move has ended."""
        with self._file.transaction() as connection:
            connection.execute("DELETE FROM move WHERE endpoint = ?", (name,))
            _note_changed(connection, name)

    def fold_log(self) -> None:
        """Move what is in the write-ahead log into the file."""
        with self._file.reading() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _one(connection: sqlite3.Connection, name: str) -> Facts:
    statement = f"SELECT {columns(Facts)} FROM endpoint WHERE name = ?"  # noqa: S608  # our own names
    row = connection.execute(statement, (name,)).fetchone()
    if row is None:
        raise NoSuchEndpoint(name)
    return of_row(Facts, row)


def _move(connection: sqlite3.Connection, name: str) -> SiloMove | None:
    row = connection.execute("SELECT * FROM move WHERE endpoint = ?", (name,)).fetchone()
    return None if row is None else of_row(SiloMove, row)


def _put(connection: sqlite3.Connection, facts: Facts) -> Facts:
    names = ", ".join(f"{name} = ?" for name in Facts._fields)
    connection.execute(
        f"UPDATE endpoint SET {names} WHERE name = ?",  # noqa: S608  # our own names
        (*map(stored, facts), facts.name),
    )
    _note_changed(connection, facts.name)
    return facts


def _note_changed(connection: sqlite3.Connection, name: str) -> None:
    connection.execute("INSERT INTO changed (endpoint) VALUES (?)", (name,))
