"""What is given of each record, and since when: a table that follows the index of the Silo.

The datestamp of an item is when its record was changed here, to the second. A change that was not
visible yet when this was brought up to date last, although it is older, has the time at which it
was seen: who harvested in between would miss it otherwise.

The file is made from the manifests and may be deleted while nobody provides.
"""

import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from threading import Lock

from recordsilo import Silo
from recordsilo.batches import batched
from recordsilo.disk.full_disk import can_write_in
from recordsilo.disk.locks import Locks
from recordsilo.disk.stamps import stamp_of
from recordsilo.errors import RecordSiloError
from recordsilo.formats.quality import UNREADABLE
from recordsilo.index import Entry
from recordsilo.index.changes import Changes
from recordsilo.removals import removals_file, removed_at
from siloprovider import feeding, item_table, kept, members, unread
from siloprovider.choosing import (
    DUBLIN_CORE,
    IN_WORK,
    READY,
    WITHHELD,
    Given,
    given_of,
    prefixes_among,
)
from siloprovider.errors import ItemsUnreadable
from siloprovider.feeding import UNKNOWN
from siloprovider.item_table import (
    Bits,
    Item,
    ItemTable,
    Turn,
    datestamp_at,
)
from siloprovider.unread import IndexedRecord
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
        revision INTEGER NOT NULL,        -- see `unread.sealed`
        number INTEGER,                   -- of the record in the index, none once it is removed
        round INTEGER NOT NULL            -- in which it was seen in the index last
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS item_order ON item (datestamp, identifier);
    CREATE INDEX IF NOT EXISTS item_number ON item (number);
    {kept.SCHEMA};
    {unread.SCHEMA};
    {members.SCHEMA}
    """,
    ItemsUnreadable,
    version=1,
    added=frozenset({kept.TABLE, unread.TABLE}) | members.TABLES,
    synchronous="NORMAL",
    has_log=True,
)
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
            self._look_again()
            self._looked = stamp, now

    def awaits_all(self) -> bool:
        """Whether `catch_up` reads all records: the first time, or after the index was made anew.

        Raises:
            IndexProblem, ItemsUnreadable, OSError: See `catch_up`.
        """
        news = self._news()
        return news is not None and news[0].is_whole

    def has_unread(self) -> bool:
        """Whether records are to be looked at again that could not be read."""
        return bool(self._file.rows("SELECT 1 FROM unread LIMIT 1"))

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
        entries, done = self._silo.changed_entries(changes), 0
        if changes.is_whole:
            with self._file.transaction() as connection:
                unread.forget_all(connection)
        for some in batched(entries, _TOGETHER):
            found = [(_seen(number, entry), self._given(entry)) for number, entry in some]
            with self._file.transaction() as connection:
                bits = Bits(connection)
                for seen, given in found:
                    feeding.write(connection, bits, turn, seen, given, is_whole=changes.is_whole)
            done += len(some)
            if progress is not None:
                progress(done)
        removed = removed_at(self._silo.path)
        with self._file.transaction() as connection:
            unread.forget(connection, changes.gone)
            if changes.is_whole:
                sql = "SELECT identifier FROM item WHERE number IS NOT NULL AND round <> ?"
                gone = connection.execute(sql, (turn.round,)).fetchall()
            else:
                sql = "SELECT identifier FROM item WHERE number = ?"
                gone = [row for one in changes.gone for row in connection.execute(sql, (one,))]
            for (identifier,) in gone:
                feeding.remove(connection, turn, identifier, removed.get(identifier, ""))
            feeding.note_removed(connection, removed)
            connection.executemany(
                "INSERT OR REPLACE INTO about VALUES (?, ?)",
                [("mark", changes.mark), ("fed", turn.at), ("removals", removals)],
            )

    def _look_again(self) -> None:
        """Look at records again that could not be read."""
        read = []
        for seen in unread.some(self._file):
            given = self._chosen(seen.identifier)
            if given is not UNKNOWN:
                read.append((seen, given))
        if not read:
            return
        with self._alone():
            fed = self.fed()
            turn = Turn(fed, max(datestamp_at(self._now()), fed), secrets.randbits(62))
            with self._file.transaction() as connection:
                bits = Bits(connection)
                for seen, given in read:
                    feeding.write(connection, bits, turn, seen, given, is_whole=True)
                connection.execute("INSERT OR REPLACE INTO about VALUES ('fed', ?)", (turn.at,))

    def _given(self, entry: Entry) -> Given | None:
        """What is given of a record; from its row, where that says it all.

        None if it is not to be given, `UNKNOWN` if it cannot be read.
        """
        row, formats = entry.row, prefixes_among(entry.facets.get("format", ()))
        if UNREADABLE in entry.facets.get("finding", ()):
            return UNKNOWN
        state = next(iter(entry.facets.get("state", ())), "")
        is_told = state not in (WITHHELD, IN_WORK)
        if self._only_ready:
            is_told = state == READY and row.versions == 1
        if formats and is_told:
            return Given(row.current_version, tuple(dict.fromkeys((DUBLIN_CORE, *formats))))
        return self._chosen(row.identifier)

    def _chosen(self, identifier: str) -> Given | None:
        """The same, from the manifest."""
        try:
            manifest = self._silo.get_item(identifier).state
        except (RecordSiloError, OSError):
            return UNKNOWN
        if not manifest.versions:
            return UNKNOWN  # it was removed meanwhile; the next changes say so
        return given_of(manifest, only_ready=self._only_ready)


def _seen(number: int, entry: Entry) -> IndexedRecord:
    row = entry.row
    seal = unread.sealed(row.revision, entry.changed)
    return IndexedRecord(number, row.identifier, seal, entry.changed, row.sets)


def items_file(silo_path: str, *, only_ready: bool) -> str:
    """Where the items of a Silo are kept; in memory where nothing can be written there."""
    place = os.path.join(silo_path, ".silo")
    if not can_write_in(place):
        return ":memory:"
    return os.path.join(place, "provider-ready.sqlite" if only_ready else "provider.sqlite")
