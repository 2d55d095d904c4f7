"""What is given of each record, and since when: a table that follows the index of the Silo.

The datestamp of an item is when its record was changed here, to the second. A change that was not
visible yet when this was brought up to date last, although it is older, has the time at which it
was seen: who harvested in between would miss it otherwise.

The file is made from the manifests and may be deleted while nobody provides.
"""

import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from itertools import islice
from sqlite3 import Connection
from threading import Lock

from oaipmhprovider.arguments import SET_SPEC
from recordsilo import Silo
from recordsilo.disk.locks import Locks
from recordsilo.disk.stamps import stamp_of
from recordsilo.errors import RecordSiloError
from recordsilo.index import Entry
from recordsilo.index.changes import Changes
from recordsilo.removals import removals_file, removed_at
from siloprovider import item_table, kept, members
from siloprovider.choosing import DUBLIN_CORE, READY, WITHHELD, Given, given_of, prefixes_among
from siloprovider.errors import ItemsUnreadable
from siloprovider.item_table import (
    Bits,
    Item,
    ItemTable,
    Turn,
    datestamp_at,
    into_sets,
    out_of_sets,
    specs_in,
)
from silowork.ledger_file import LedgerFile, LedgerKind

_TOGETHER = 1000
_UNTIL_NEXT_LOOK = 1.0
"""Seconds for which files with the times of before are not looked into: a writer that was killed
may have left its change to who looks next."""
_KIND = LedgerKind(
    f"""
    {item_table.SCHEMA};
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


class Items(ItemTable):
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
        super().__init__(LedgerFile(path, _KIND), now)
        self._silo, self._only_ready, self._feeding = silo, only_ready, Lock()
        self._looked: tuple[object, float] = (None, 0.0)
        self._name = "" if path == ":memory:" else os.path.basename(path)
        self.documents = kept.KeptDocuments(self._file, is_kept=bool(self._name))

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

    def round(self) -> tuple[str, str]:
        """A text that changes when records do, and the earliest datestamp for what is seen now."""
        about = dict(self._file.rows("SELECT key, value FROM about"))
        return about.get("mark", ""), max(datestamp_at(self._now()), about.get("fed", ""))

    def fed(self) -> str:
        """When this was brought in step last; empty if never."""
        return str(dict(self._file.rows("SELECT key, value FROM about")).get("fed", ""))

    def changed_since(self, fed: str) -> Iterator[Item]:
        """The items whose datestamps are not before a time, in their order.

        Args:
            fed: What `fed` returned once; empty for all.
        """
        place: tuple[str, str] | None = None
        while some := self.next_since(fed, place):
            yield from some
            place = some[-1].datestamp, some[-1].identifier

    def token_key(self) -> bytes:
        """See `ItemTable.token_key`; in memory it has to be the same after a restart, too."""
        if not self._name:
            return f"{self._silo.path} {self._only_ready}".encode()
        return super().token_key()

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
        turn = Turn(fed, max(datestamp_at(self._now()), fed), secrets.randbits(62))
        entries, done = iter(self._silo.changed_entries(changes)), 0
        while some := list(islice(entries, _TOGETHER)):
            found = [(number, entry, self._given(entry)) for number, entry in some]
            with self._file.transaction() as connection:
                bits = Bits(connection)
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


def datestamp_of(seconds: int) -> str:
    """A time in seconds since 0001-01-01, as a datestamp."""
    return datestamp_at(_EPOCH + timedelta(seconds=seconds))


def _write(
    connection: Connection, bits: Bits, turn: Turn, seen: tuple[int, Entry, Given | None]
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
        out_of_sets(connection, known[3], known[0], identifier)
    connection.execute(
        "INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (identifier, stamp, version, held, "\n".join(sets), revision, number, turn.round),
    )
    into_sets(connection, sets, stamp, identifier)


def _remove(connection: Connection, turn: Turn, identifier: str, date: str) -> None:
    """Give a record as deleted that is not in the Silo any more."""
    before, sets = connection.execute(
        "SELECT datestamp, sets FROM item WHERE identifier = ?", (identifier,)
    ).fetchone()
    stamp = turn.stamp(f"{date}Z") if date else turn.at
    out_of_sets(connection, sets, before, identifier)
    connection.execute(
        "UPDATE item SET number = NULL, datestamp = ?, version = '' WHERE identifier = ?",
        (stamp, identifier),
    )
    into_sets(connection, specs_in(sets), stamp, identifier)
    kept.forget(connection, identifier)


def _note_removed(connection: Connection, removed: Mapping[str, str]) -> None:
    """Give what was removed before anybody provided as deleted, too."""
    bit = Bits(connection).of((DUBLIN_CORE,))
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
