"""What is given of each record, and since when: a table that follows the index of the Silo.

The datestamp of an item is when its record was changed here, to the second. A change that was not
visible yet when this was brought up to date last, although it is older, has the time at which it
was seen: who harvested in between would miss it otherwise.

The file is made from the manifests and may be deleted while nobody provides.
"""

import os
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from sqlite3 import Connection
from threading import Lock
from typing import NamedTuple

from oaipmhprotocol import Granularity
from oaipmhprotocol.datestamps import format_datestamp
from oaipmhprovider.arguments import SET_SPEC
from recordsilo import Silo
from recordsilo.disk.locks import Locks
from recordsilo.disk.stamps import stamp_of
from recordsilo.errors import RecordSiloError
from recordsilo.index import Entry
from recordsilo.index.changes import Changes
from recordsilo.removals import removals_file, removed_at
from siloprovider import kept, members
from siloprovider.choosing import DUBLIN_CORE, READY, WITHHELD, Given, given_of, prefixes_among
from siloprovider.errors import ItemsUnreadable
from siloprovider.set_names import with_parents
from silowork.ledger_file import LedgerFile, LedgerKind

MOST_PREFIXES = 62
"""Formats that are told apart: the bits of a number in SQLite, but for the sign and one."""
_TOGETHER = 1000
_UNTIL_NEXT_LOOK = 1.0
"""Seconds for which files with the times of before are not looked into: a writer that was killed
may have left its change to who looks next."""
_KIND = LedgerKind(
    f"""
    CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS prefix (bit INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE IF NOT EXISTS item (
        identifier TEXT PRIMARY KEY,
        datestamp TEXT NOT NULL,
        version TEXT NOT NULL,            -- that is given, empty if it is deleted
        prefixes INTEGER NOT NULL,        -- bits
        sets TEXT NOT NULL,               -- setSpecs, separated by line ends
        revision INTEGER NOT NULL,        -- of the manifest
        number INTEGER,                   -- of the record in the index, none once it is removed
        round INTEGER NOT NULL            -- in which it was seen in the index last
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS item_order ON item (datestamp, identifier);
    CREATE INDEX IF NOT EXISTS item_number ON item (number);
    CREATE TABLE IF NOT EXISTS in_set (   -- also in the sets above its own
        spec TEXT NOT NULL,
        datestamp TEXT NOT NULL,
        identifier TEXT NOT NULL,
        PRIMARY KEY (spec, datestamp, identifier)
    ) WITHOUT ROWID;
    {kept.SCHEMA};
    {members.SCHEMA}
    """,
    ItemsUnreadable,
    version=1,
    added=frozenset({kept.TABLE}) | members.TABLES,
    synchronous="NORMAL",
    has_log=True,
)
_EPOCH = datetime(1, 1, 1, tzinfo=UTC)
_UNKNOWN = Given("", ())
"""Of a record that cannot be read: it stays as it was."""
Progress = Callable[[int], object]


class Item(NamedTuple):
    """What is given of a record; a tuple, which is made faster than other values.

    Attributes:
        datestamp: In OAI-PMH's form, to the second.
        version: Its name; empty if it is given as deleted.
        sets: Its setSpecs.
        revision: Of the manifest.
    """

    identifier: str
    datestamp: str
    version: str
    sets: tuple[str, ...]
    prefixes: int
    revision: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which items a list has.

    Attributes:
        prefix: The format.
        since, until: Datestamps, both inclusive; None for no bound.
        set_spec: Only those in this set or below it.
    """

    prefix: str
    since: str | None = None
    until: str | None = None
    set_spec: str | None = None


class Items:
    """The items of a Silo. Any thread may use it, and several processes its file.

    Args:
        silo: The Silo; this does not close it.
        only_ready: See `choosing.given_of`.
        path: The file; ``":memory:"`` where the Silo cannot be written.
        now: The current time, aware.

    Attributes:
        documents: Those that were given, in the same file.
    """

    def __init__(
        self, silo: Silo, path: str, *, only_ready: bool, now: Callable[[], datetime]
    ) -> None:
        self._silo, self._only_ready, self._now = silo, only_ready, now
        self._file, self._feeding = LedgerFile(path, _KIND), Lock()
        self._looked: tuple[object, float] = (None, 0.0)
        self._name = "" if path == ":memory:" else os.path.basename(path)
        self.documents = kept.KeptDocuments(self._file, is_kept=bool(self._name))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # ------------------------------------------------------------------ kept in step

    def catch_up(self, progress: Progress | None = None) -> None:
        """Take over what changed in the Silo since the last time.

        Args:
            progress: Called now and then with the number of records so far; may raise to end
                this, which begins again the next time.

        Raises:
            IndexProblem: The index of the Silo cannot be used now.
            ItemsUnreadable, OSError: The file cannot be used.

        Cost: a record's manifest is read only if it has several versions or is deleted.
        """
        stamp = self._silo.index_stamp(), stamp_of(removals_file(self._silo.path))
        now, (seen, at) = time.monotonic(), self._looked
        if stamp == seen and None not in stamp and now - at < _UNTIL_NEXT_LOOK:
            return
        with self._feeding:
            if self._news() is not None:
                with self._alone():
                    if (news := self._news()) is not None:
                        self._take_over(*news, progress)
            self._looked = stamp, now

    def awaits_all(self) -> bool:
        """Whether `catch_up` reads all records: the first time, or after the index was made anew.

        Raises:
            IndexProblem, ItemsUnreadable, OSError: See `catch_up`.
        """
        news = self._news()
        return news is not None and news[0].is_whole

    @property
    def file(self) -> LedgerFile:
        """The file, for what `members` notes in it."""
        return self._file

    def round(self) -> tuple[str, str]:
        """A text that changes when records do, and the earliest datestamp for what is seen now."""
        about = dict(self._file.rows("SELECT key, value FROM about"))
        return about.get("mark", ""), max(_text(self._now()), about.get("fed", ""))

    def token_key(self) -> bytes:
        """The key of this repository's resumption tokens, the same in every process.

        Tokens of other repositories are refused by it.
        """
        if not self._name:
            return f"{self._silo.path} {self._only_ready}".encode()
        with self._file.transaction() as connection:
            new = ("token key", secrets.token_hex(16))
            connection.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", new)
            sql = "SELECT value FROM about WHERE key = 'token key'"
            return str(connection.execute(sql).fetchone()[0]).encode()

    def _alone(self) -> AbstractContextManager[None]:
        """Keep other processes away: of two rounds at once, each takes the other's for removed."""
        if not self._name:
            return nullcontext()
        return Locks.of_silo(self._silo.path).hold_name(self._name)

    def _news(self) -> tuple[Changes, str, str] | None:
        """What changed in the Silo, the stamp of its removals, and when this was done last."""
        about = dict(self._file.rows("SELECT key, value FROM about"))
        changes = self._silo.changes(about.get("mark", ""), contributed=False)
        removals = str(stamp_of(removals_file(self._silo.path)))
        if (changes.mark, removals) == (about.get("mark"), about.get("removals")):
            return None
        return changes, removals, about.get("fed", "")

    def _take_over(
        self, changes: Changes, removals: str, fed: str, progress: Progress | None
    ) -> None:
        # A clock that was put back must not bring anything before what was given already.
        turn = _Turn(fed, max(_text(self._now()), fed), secrets.randbits(62))
        entries, done = iter(self._silo.changed_entries(changes)), 0
        while some := list(islice(entries, _TOGETHER)):
            found = [(number, entry, self._given(entry)) for number, entry in some]
            with self._file.transaction() as connection:
                bits = _Bits(connection)
                for seen in found:
                    _write(connection, bits, turn, seen)
            done += len(some)
            if progress is not None:
                progress(done)
        removed = removed_at(self._silo.path)
        with self._file.transaction() as connection:
            if changes.is_whole:
                sql = "SELECT identifier FROM item WHERE number IS NOT NULL AND round <> ?"
                gone = connection.execute(sql, (turn.round,)).fetchall()
            else:
                sql = "SELECT identifier FROM item WHERE number = ?"
                gone = [row for one in changes.gone for row in connection.execute(sql, (one,))]
            for (identifier,) in gone:
                _remove(connection, turn, identifier, removed.get(identifier, ""))
            _note_removed(connection, removed)
            connection.executemany(
                "INSERT OR REPLACE INTO about VALUES (?, ?)",
                [("mark", changes.mark), ("fed", turn.at), ("removals", removals)],
            )

    def _given(self, entry: Entry) -> Given | None:
        """What is given of a record; from its row, where that says it all.

        None if it is not to be given, `_UNKNOWN` if it cannot be read.
        """
        row, formats = entry.row, prefixes_among(entry.facets.get("format", ()))
        state = next(iter(entry.facets.get("state", ())), "")
        is_told = state == READY and row.versions == 1 if self._only_ready else state != WITHHELD
        if formats and is_told:
            return Given(row.current_version, tuple(dict.fromkeys((DUBLIN_CORE, *formats))))
        try:
            manifest = self._silo.get_item(row.identifier).state
        except (RecordSiloError, OSError):
            return _UNKNOWN
        if not manifest.versions:
            return _UNKNOWN  # it was removed meanwhile; the next changes say so
        return given_of(manifest, only_ready=self._only_ready)

    # ------------------------------------------------------------------ asked

    def prefixes(self) -> tuple[str, ...]:
        """The formats in which any record is given; `DUBLIN_CORE` first."""
        found = self._file.rows("SELECT name FROM prefix ORDER BY bit")
        return tuple(dict.fromkeys((DUBLIN_CORE, *(name for (name,) in found))))

    def some(self, prefix: str) -> Sequence[Item]:
        """A few records that are given in a format, and not as deleted."""
        sql, values = self._query(Wanted(prefix), is_live=True)
        return [_item(row) for row in self._file.rows(f"{_COLUMNS} {sql} LIMIT 5", values)]

    def prefixes_of(self, item: Item) -> tuple[str, ...]:
        """The formats in which a record is given."""
        found = self._file.rows("SELECT bit, name FROM prefix ORDER BY bit")
        return tuple(name for bit, name in found if item.prefixes >> bit & 1)

    def earliest(self) -> str:
        """The earliest datestamp; that of now if there is no record."""
        (found,) = self._file.rows("SELECT min(datestamp) FROM item")[0]
        return str(found or _text(self._now()))

    def item(self, identifier: str) -> Item | None:
        """An item; None if there is none."""
        found = self._file.rows(f"{_SELECT} WHERE identifier = ?", (identifier,))
        return _item(found[0]) if found else None

    def count(self, wanted: Wanted) -> int:
        """How many items a list has now."""
        sql, values = self._query(wanted)
        return int(self._file.rows(f"SELECT count(*) {sql}", values)[0][0])

    def after(self, wanted: Wanted, position: tuple[str, str] | None, limit: int) -> Sequence[Item]:
        """The next items of a list, by datestamp and identifier.

        Args:
            position: The datestamp and the identifier of the item before; None at the beginning.
            limit: At most so many.
        """
        sql, values = self._query(wanted, position)
        table = "in_set" if wanted.set_spec is not None else "item"
        order = f"ORDER BY {table}.datestamp, {table}.identifier LIMIT ?"
        # the date of an item that was in a search is that at which it left
        columns = _COLUMNS.replace("item.datestamp", f"{table}.datestamp")
        found = self._file.rows(f"{columns} {sql} {order}", (*values, limit))
        return [_item(row) for row in found]

    def _query(
        self, wanted: Wanted, position: tuple[str, str] | None = None, *, is_live: bool = False
    ) -> tuple[str, tuple[object, ...]]:
        terms = ["item.version <> ''"] if is_live else []
        values: list[object] = []
        table = "item"
        if wanted.set_spec is not None:
            table = "in_set CROSS JOIN item ON item.identifier = in_set.identifier"
            terms.append("in_set.spec = ?")
            values.append(wanted.set_spec)
        place = table.split(" ", 1)[0]
        if wanted.since is not None:
            terms.append(f"{place}.datestamp >= ?")
            values.append(wanted.since)
        if wanted.until is not None:
            terms.append(f"{place}.datestamp <= ?")
            values.append(wanted.until)
        if position is not None:
            terms.append(f"({place}.datestamp, {place}.identifier) > (?, ?)")
            values += position
        bits = {name: bit for bit, name in self._file.rows("SELECT bit, name FROM prefix")}
        if wanted.prefix not in bits:
            terms.append("0")
        elif wanted.prefix != DUBLIN_CORE:
            terms.append("item.prefixes & ?")
            values.append(1 << bits[wanted.prefix])
        where = f" WHERE {' AND '.join(terms)}" if terms else ""
        return f"FROM {table}{where}", tuple(values)


_COLUMNS = (
    "SELECT item.identifier, item.datestamp, item.version, item.sets, item.prefixes, item.revision"
)
_SELECT = f"{_COLUMNS} FROM item"


def _item(row: tuple[str, str, str, str, int, int]) -> Item:
    identifier, datestamp, version, sets, prefixes, revision = row
    return Item(identifier, datestamp, version, _specs_in(sets), prefixes, revision)


def _specs_in(sets: str) -> tuple[str, ...]:
    return tuple(sets.split("\n")) if sets else ()


def datestamp_of(seconds: int) -> str:
    """A time in seconds since 0001-01-01, as a datestamp."""
    return _text(_EPOCH + timedelta(seconds=seconds))


def _text(moment: datetime) -> str:
    return format_datestamp(moment, Granularity.SECOND)


def _into_sets(connection: Connection, specs: Iterable[str], stamp: str, identifier: str) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO in_set VALUES (?, ?, ?)",
        [(spec, stamp, identifier) for spec in with_parents(specs)],
    )


def _out_of_sets(connection: Connection, sets: str, stamp: str, identifier: str) -> None:
    connection.executemany(
        "DELETE FROM in_set WHERE spec = ? AND datestamp = ? AND identifier = ?",
        [(spec, stamp, identifier) for spec in with_parents(_specs_in(sets))],
    )


@dataclass(frozen=True, slots=True)
class _Turn:
    """Bringing the items up to date once.

    Attributes:
        fed: When that was done before; empty if never.
        at: When it is done now.
        round: A number of its own.
    """

    fed: str
    at: str
    round: int

    def stamp(self, changed: str) -> str:
        """The datestamp of what changed at a time and is seen now."""
        return self.at if self.fed and changed <= self.fed else changed


class _Bits(dict[str, int]):
    """Format → its bit; new ones are noted in the file, up to `MOST_PREFIXES`."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection.execute("SELECT name, 1 << bit FROM prefix").fetchall())
        self._connection = connection

    def of(self, prefixes: Iterable[str]) -> int:
        """The bits of some formats."""
        bits = 0
        for name in prefixes:
            if name not in self and len(self) < MOST_PREFIXES:
                self._connection.execute("INSERT INTO prefix VALUES (?, ?)", (len(self), name))
                self[name] = 1 << len(self)
            bits |= self.get(name, 0)
        return bits


def _write(
    connection: Connection, bits: _Bits, turn: _Turn, seen: tuple[int, Entry, Given | None]
) -> None:
    number, entry, given = seen
    identifier, revision = entry.row.identifier, entry.row.revision
    # OAI-PMH.xsd refuses other setSpecs, and no harvester may ask for them.
    sets = tuple(filter(SET_SPEC.fullmatch, entry.row.sets))
    sets += members.specs_of(connection, identifier)
    known = connection.execute(
        "SELECT datestamp, version, prefixes, sets, revision FROM item WHERE identifier = ?",
        (identifier,),
    ).fetchone()
    if given is _UNKNOWN or (given is None and known is None):
        sql = "UPDATE item SET number = ?, round = ? WHERE identifier = ?"
        connection.execute(sql, (number, turn.round, identifier))
        return
    version, held = ("", 0) if given is None else (given.version, bits.of(given.prefixes))
    stamp = turn.stamp(datestamp_of(entry.changed))
    if known is not None:
        held |= 0 if version else known[2]
        if known[4] == revision and bool(known[1]) == bool(version):
            stamp = known[0]
        else:
            kept.forget(connection, identifier)
        _out_of_sets(connection, known[3], known[0], identifier)
    connection.execute(
        "INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (identifier, stamp, version, held, "\n".join(sets), revision, number, turn.round),
    )
    _into_sets(connection, sets, stamp, identifier)


def _remove(connection: Connection, turn: _Turn, identifier: str, date: str) -> None:
    """Give a record as deleted that is not in the Silo any more."""
    before, sets = connection.execute(
        "SELECT datestamp, sets FROM item WHERE identifier = ?", (identifier,)
    ).fetchone()
    stamp = turn.stamp(f"{date}Z") if date else turn.at
    _out_of_sets(connection, sets, before, identifier)
    connection.execute(
        "UPDATE item SET number = NULL, datestamp = ?, version = '' WHERE identifier = ?",
        (stamp, identifier),
    )
    _into_sets(connection, _specs_in(sets), stamp, identifier)
    kept.forget(connection, identifier)


def _note_removed(connection: Connection, removed: Mapping[str, str]) -> None:
    """Give what was removed before anybody provided as deleted, too."""
    bit = _Bits(connection).of((DUBLIN_CORE,))
    connection.executemany(
        "INSERT OR IGNORE INTO item VALUES (?, ?, '', ?, '', 0, NULL, 0)",
        [(identifier, f"{date}Z", bit) for identifier, date in removed.items()],
    )


def items_file(silo_path: str, *, only_ready: bool) -> str:
    """Where the items of a Silo are kept; in memory where nothing can be written there."""
    place = os.path.join(silo_path, ".silo")
    if not os.access(place, os.W_OK):
        return ":memory:"
    return os.path.join(place, "provider-ready.sqlite" if only_ready else "provider.sqlite")
