"""SqliteIndex: the index in an SQLite file, read by `search` and `query` (see `interface`).

Three rules keep it in step. Identifiers are noted as *unsettled* before their manifests
are renamed, and the note is removed in the transaction that writes their rows. A note
whose record is not locked was left by a killed writer; the record is read again before
the next query. An index that is missing, damaged or of another schema is rebuilt from
the manifests.
"""

import contextlib
import json
import logging
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from recordsilo.disk import atomic_file
from recordsilo.disk.database_log import keep_log, read_only_uri
from recordsilo.disk.full_disk import is_full_disk
from recordsilo.errors import IndexProblem, SiloGone
from recordsilo.index import query
from recordsilo.index.beside import bring_in_step, is_in_step
from recordsilo.index.facets import Facet
from recordsilo.index.interface import IndexLost
from recordsilo.index.projection import MAX_FACET, Described, Entry, ManifestStamp, Row, Unread
from recordsilo.index.rows import Prepared, RowWriter, prepare
from recordsilo.index.schema import (
    IDENTIFIER,
    INDEXES,
    NAME,
    RECENT_TABLE,
    SCHEMA,
    TEXT_TABLE,
    VERSION,
)
from recordsilo.index.search_values import (
    LARGE_FIELDS,
    Around,
    PageRequest,
    ResultPage,
    SearchFilters,
    Suggestion,
)
from recordsilo.records.description import storable

if TYPE_CHECKING:
    from pyroaring import BitMap

    from recordsilo.index.changes import Changes
    from recordsilo.index.columns import Columns
    from recordsilo.index.kept_columns import KeptColumns

logger = logging.getLogger("RecordSilo")

_NOT_DAMAGE = (
    "SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_NOMEM", "SQLITE_INTERRUPT",
    "SQLITE_IOERR_SHM", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNCATE",
    "SQLITE_IOERR_NOMEM",
)  # fmt: skip
"""Errors of SQLite on a full disk or a busy machine; deleting the file would not help."""
_CACHE_KIB = 32_768  # SQLite's default of 2 MB is too small for a large index
_LOG_PAGES = 10_000  # 40 MB, so that not every batch is copied into the file at once
REFUGE = 600.0
"""Seconds for which the index is in memory when the disk was full."""
_PATIENCE = 60
"""Seconds for which a statement waits for other writers."""
_PROBLEMS = (
    "SELECT path, sentence FROM problem UNION SELECT path, sentence FROM unreadable ORDER BY 1"
)
_WAS_READ = "SELECT was_read FROM unreadable WHERE identifier = ?"
_HAS_PARTIAL = "SELECT 1 FROM sqlite_schema WHERE name = 'record_partial'"
_PARTIAL = (
    f"SELECT {IDENTIFIER} AS identifier FROM entry INDEXED BY record_partial "  # noqa: S608
    f"WHERE described = x'' AND name > {NAME} "
    "AND identifier NOT IN (SELECT identifier FROM unreadable) ORDER BY name LIMIT ?"
)
_TICKET = "SELECT value FROM about WHERE key = 'rebuild'"
_INHERITED: list[sqlite3.Connection] = []
"""Connections of the parent process. They are kept because closing them here, even by garbage
collection, could release its locks (SQLite, "How To Corrupt", 2.7)."""


class OtherSchema(sqlite3.DatabaseError):
    """The index was made by another release."""

    def __init__(self, number: int) -> None:
        super().__init__(f"its schema has number {number}; this release uses {VERSION}")


class SqliteIndex:
    """The `Index` of one Silo, in SQLite.

    Where its directory cannot be written, the file is read as it is. A change goes to a private
    copy, in a temporary file that SQLite deletes; without a usable file, to an index in memory.

    Args:
        path: The database file.
        is_empty: Says whether the Silo has no records, so that a new index is complete; raises
            `SiloGone` if it is no longer there.

    It uses one connection for the whole process, and runs one statement at a time.
    """

    SETTLED = 100_000_000
    """Nanoseconds after which a write changes a file's time; the clocks of file systems have
    steps of a few milliseconds."""

    def __init__(self, path: str, is_empty: Callable[[], bool]) -> None:
        self.path = path
        self._is_empty = is_empty
        self._locks = (os.getpid(), threading.RLock())
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        self._inode: int | None = None
        self._seen: tuple[tuple[int, int, int] | None, ...] = ()
        self._is_private = self._is_fixed = False
        self._refuge_until: float | None = None
        self._writer = RowWriter()
        self._kept: KeptColumns | None = None

    @property
    def _lock(self) -> threading.RLock:
        """This process's lock; after a fork a new one, as the old one may be held for ever."""
        if self._locks[0] != os.getpid():
            self._locks = (os.getpid(), threading.RLock())
        return self._locks[1]

    @property
    def is_private(self) -> bool:
        with self._lost_if_damaged(), self._lock:
            self._open()
            if not self._is_private and not _is_writable(os.path.dirname(self.path)):
                self.close()  # the disk became read-only
                self._open()
            return self._is_private

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for queries, which all see one snapshot."""
        with self._lock:
            connection = self._open()
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def writing(self, *, durable: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection in a write transaction: committed at the end, rolled back on an error."""
        with self._lock:
            connection = self._open()
            if self._is_fixed:
                connection = self._connection = self._private_copy(connection)
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                self._writer.forget()
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def asking(self) -> Iterator[sqlite3.Connection]:
        """The same as `reading`; a damaged file is deleted, and `IndexLost` is raised."""
        with self._lost_if_damaged(), self.reading() as connection:
            yield connection

    @contextlib.contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """The same as `writing`; a damaged file is deleted, and `IndexLost` is raised."""
        with self._lost_if_damaged(), self.writing() as connection:
            yield connection

    @contextlib.contextmanager
    def _lost_if_damaged(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            self.set_aside_if_damaged(error)
            raise IndexLost(self.path, str(error)) from error

    def stamp(self) -> object | None:
        """The existing files, with times and sizes."""
        if self.is_private and not self._is_fixed:
            return None
        found = []
        for ending in ("", "-wal"):
            with contextlib.suppress(OSError):
                status = os.stat(self.path + ending)
                found.append((status.st_ino, status.st_mtime_ns, status.st_size))
        settled = time.time_ns() - self.SETTLED
        return tuple(found) if found and all(at < settled for _, at, _ in found) else None

    # -- asked ----------------------------------------------------------------------------

    def rows(self, identifiers: Sequence[str]) -> dict[str, Row]:
        with self.asking() as connection:
            return query.rows(connection, identifiers)

    def described(self, identifiers: Sequence[str]) -> dict[str, Described]:
        with self.asking() as connection:
            return query.described(connection, identifiers)

    def abstracts(self, identifiers: Sequence[str]) -> dict[str, str]:
        with self.asking() as connection:
            return query.abstracts(connection, identifiers)

    def identified(self, spellings: Sequence[str]) -> list[str]:
        with self.asking() as connection:
            return query.identified(connection, spellings)

    def stamps(self, identifiers: Sequence[str]) -> dict[str, ManifestStamp]:
        with self.asking() as connection:
            return {} if _is_fresh(connection) else query.stamps(connection, list(identifiers))

    def page(
        self,
        filters: query.Filters,
        limit: int,
        *,
        after: str | None = None,
        before: str | None = None,
        starting: str | None = None,
    ) -> query.Page:
        """A page of the list, by identifier.

        Args:
            filters, limit, after, before, starting: See `query.page`.
        """
        with self.asking() as connection:
            members = self._members(connection, filters)
            return query.page(
                connection,
                filters,
                limit,
                members=members,
                after=after,
                before=before,
                starting=starting,
            )

    def _members(self, connection: sqlite3.Connection, filters: query.Filters) -> "BitMap | None":
        """The records that pass, if there is a condition on the set."""
        if filters.set_spec is None:
            return None
        return self.columns(connection, large=False).listed(filters)

    def neighbours(self, identifier: str, filters: query.Filters, limit: int) -> tuple[Row, ...]:
        with self.asking() as connection:
            members = self._members(connection, filters)
            return query.neighbours(connection, identifier, filters, limit, members)

    def titled(self, after: int, limit: int) -> list[query.Titled]:
        with self.asking() as connection:
            return query.titled(connection, after, limit)

    def indexed(self) -> list[str]:
        with self.asking() as connection:
            return query.indexed(connection)

    def count(self, filters: query.Filters) -> int:
        with self.asking() as connection:
            return query.count(connection, filters, self._members(connection, filters))

    def version_count(self) -> int:
        with self.asking() as connection:
            return query.version_count(connection)

    def set_counts(self) -> dict[str, int]:
        with self.asking() as connection:
            return self.columns(connection, large=False).set_counts()

    def set_years(self) -> dict[str, dict[str, int]]:
        """setSpec → year → number of its records; one pass over the facet columns."""
        with self.asking() as connection:
            return self.columns(connection, large=False).crossed("set", "year")

    def is_in_step(self, facet: Facet, path: str) -> bool:
        return is_in_step(self, facet, path)

    def bring_in_step(self, facet: Facet, path: str) -> None:
        """Read the changed values of a contributed facet; see `beside`."""
        bring_in_step(self, facet, path)

    def changes_since(self, mark: str) -> "Changes":
        """What changed since a mark; see `changes.changes_since`."""
        from recordsilo.index.changes import changes_since

        return changes_since(self, mark)

    def next_entries(self, changes: "Changes") -> Sequence[tuple[int, Entry]]:
        """The next records of these changes; see `changes.next_entries`."""
        from recordsilo.index.changes import next_entries

        return next_entries(self, changes)

    def search(
        self,
        words: str,
        filters: SearchFilters,
        facets: Sequence[str],
        page: PageRequest,
        *,
        beside: Sequence[str] = (),
    ) -> ResultPage:
        """Find records by words and filters.

        Args:
            words, filters, facets, page: See `recordsilo.index.search.search`.
            beside: The names of the contributed facets that the search uses.

        Raises:
            SearchError: See `recordsilo.index.search.search`.
        """
        from recordsilo.index.search import search

        large = any(name in LARGE_FIELDS for name in (*facets, *filters.fields))
        with self.asking() as connection:
            columns = self.columns(connection, large=large, beside=beside)
            found = search(connection, columns, words, filters, facets=facets, page=page)
        self._columns.store()
        return found

    def around(
        self,
        identifier: str,
        words: str,
        filters: SearchFilters,
        sort: str | None,
        *,
        beside: Sequence[str] = (),
    ) -> Around | None:
        """Where a record stands in a search; see `recordsilo.index.search.around`."""
        from recordsilo.index.search import around

        large = any(name in LARGE_FIELDS for name in filters.fields)
        with self.asking() as connection:
            columns = self.columns(connection, large=large, beside=beside)
            return around(connection, columns, words, filters, sort=sort, identifier=identifier)

    def respelled(self, words: str) -> str:
        """A query with its unknown words spelled as in the index; see `spelling.respelled`."""
        from recordsilo.index.spelling import respelled

        with self.asking() as connection:
            return respelled(connection, words)

    def suggested(self, typed: str, each: int) -> Sequence[Suggestion]:
        """What begins as typed; see `suggesting.suggested`."""
        from recordsilo.index.suggesting import suggested

        with self.asking() as connection:
            columns = self.columns(connection, large=True)
            return suggested(connection, columns, typed, each)

    @property
    def _columns(self) -> "KeptColumns":
        from recordsilo.index.kept_columns import KeptColumns

        if self._kept is None:
            self._kept = KeptColumns(self)
        return self._kept

    def columns(
        self, connection: sqlite3.Connection, *, large: bool, beside: Iterable[str] = ()
    ) -> "Columns":
        """The facet columns, in step with the snapshot of an open `reading`; see `KeptColumns`."""
        return self._columns.get(connection, large=large, beside=beside)

    def warm(self) -> None:
        """Load the facet columns and prepare them for counting.

        Other threads can search while the columns are prepared.
        """
        self._columns.load()
        self._columns.prepare()

    @contextlib.contextmanager
    def unless_busy(self) -> Iterator[None]:
        with self._lock:
            connection = self._open()
            connection.execute("PRAGMA busy_timeout = 0")
            try:
                yield
            finally:
                connection.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000}")

    # -- keeping in step ------------------------------------------------------------------

    def take_refuge(self) -> None:
        """Go on in memory, because the disk is full; the file is deleted, as it is not complete."""
        with self._lock:
            self._set_aside()
            self._connection = self._prepare(sqlite3.connect(":memory:", check_same_thread=False))
            self._pid, self._is_private = os.getpid(), True
            self._refuge_until = time.monotonic() + REFUGE

    def note_unsettled(self, identifiers: Iterable[str], *, durable: bool) -> None:
        """Note records that are about to be written; errors are only logged."""
        with self._not_in_the_way(), self._in_file(), self.writing(durable=durable) as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO unsettled VALUES (?)", ((i,) for i in identifiers)
            )

    @contextlib.contextmanager
    def _in_file(self) -> Iterator[None]:
        """Use the file and no refuge: others have to find the notes."""
        with self._lock:
            self._open()
            if self._refuge_until is not None:
                self.close()
                self._connection, self._pid = self._open_file(), os.getpid()
            yield

    def settle(
        self, entries: Iterable[tuple[Entry, ManifestStamp] | Prepared], gone: Iterable[str] = ()
    ) -> None:
        """Write the rows of records just written or deleted, and remove their notes."""
        found = [one if isinstance(one, Prepared) else prepare(*one) for one in entries]
        with self._not_in_the_way(), self.writing() as connection:
            self._write(connection, found)
            settled = [one.identifier for one in found]
            for identifier in gone:
                self._writer.delete(connection, identifier)
                settled.append(identifier)
            _take_notes_back(connection, settled)

    def take_in(self, found: Sequence[Prepared]) -> int:
        """Write the rows of records that were read without their locks.

        Returns:
            The number of changes written to the index before this one, by any process.
        """
        with self.changing() as connection:
            before = _about(connection, "change")
            self._write(connection, found)
        return before

    def _write(self, connection: sqlite3.Connection, found: Sequence[Prepared]) -> None:
        found = _last_of_each(found)
        self._writer.begin(connection)
        if _is_fresh(connection):
            self._writer.write_new(connection, found)
        else:
            self._writer.write(connection, found)
        if connection.execute("SELECT 1 FROM unreadable LIMIT 1").fetchone():
            connection.execute(
                "DELETE FROM unreadable WHERE identifier IN (SELECT value FROM json_each(?))",
                (json.dumps([one.identifier for one in found]),),
            )
        from recordsilo.index.columns import forget_gone
        from recordsilo.index.words import fill_blocks

        if fill_blocks(connection):
            forget_gone(connection)

    def number_of(self, connection: sqlite3.Connection, field: str, value: str) -> int:
        """The number of a facet value; a new one if it has none.

        Args:
            connection: The connection of an open `writing`.
            field: The facet's name.
            value: One of its values.
        """
        return self._writer.number_of(connection, field, storable(value[:MAX_FACET]))

    def changes(self) -> int:
        with self.asking() as connection:
            return _about(connection, "change")

    def confirm(self, stamps: Mapping[str, ManifestStamp]) -> set[str]:
        """The records that are indexed with these stamps; a rebuild keeps their rows."""
        with self.changing() as connection:
            found = query.stamps(connection, list(stamps))
            same = {i for i, stamp in found.items() if stamp == stamps[i]}
            connection.executemany(
                "UPDATE entry SET generation = "  # noqa: S608 - constants
                f"(SELECT value FROM about WHERE key = 'generation') WHERE name = {NAME}",
                ((identifier,) for identifier in same),
            )
        return same

    def note_unread(self, found: Iterable[Unread]) -> None:
        """Keep unreadable records as they were last read; see `Index.note_unread`."""
        with self.changing() as connection:
            self._writer.begin(connection)
            for one in found:
                known = connection.execute(_WAS_READ, (one.identifier,)).fetchone()
                marked = self._writer.mark_unread(connection, one.identifier)
                was_read = marked if known is None else known[0]
                shown = [storable_path(text) for text in one[1:4]]
                connection.execute(
                    "INSERT OR REPLACE INTO unreadable VALUES (?, ?, ?, ?, ?)",
                    (one.identifier, *shown, was_read),
                )
                _take_notes_back(connection, [one.identifier])

    def unread(self, after: str = "", limit: int | None = None) -> list[Unread]:
        sql = "SELECT * FROM unreadable WHERE identifier > ? ORDER BY identifier LIMIT ?"
        with self.asking() as connection:
            found = connection.execute(sql, (after, -1 if limit is None else limit)).fetchall()
        return [Unread(*one)._replace(was_read=bool(one[4])) for one in found]

    def partial(self, after: str, limit: int) -> list[str]:
        with self.asking() as connection:
            if not connection.execute(_HAS_PARTIAL).fetchone():
                return []  # the next rebuild makes the index of the table
            return [name for (name,) in connection.execute(_PARTIAL, (after, limit))]

    def unsettled(self) -> list[str]:
        """Records whose rows their writer has not written (yet)."""
        with self.asking() as connection:
            return [row[0] for row in connection.execute("SELECT identifier FROM unsettled")]

    @property
    def complete(self) -> bool:
        with self.asking() as connection:
            return _about(connection, "complete") == 1

    # -- rebuilding -----------------------------------------------------------------------

    def begin_rebuild(self) -> int:
        """Start a new generation: rows neither written nor confirmed in it will be deleted.

        Returns:
            A number by which `end_rebuild` recognises the file of this rebuild.
        """
        ticket = secrets.randbits(62)
        with self.changing() as connection:
            connection.execute("INSERT OR REPLACE INTO about VALUES ('rebuild', ?)", (ticket,))
            connection.execute("UPDATE about SET value = value + 1 WHERE key = 'generation'")
            connection.execute("DELETE FROM problem")
        return ticket

    def note_problem(self, path: str, sentence: str) -> None:
        """Store a path that could not be read, until the next rebuild."""
        shown = storable_path(path), storable_path(sentence)
        with self.changing() as connection:
            connection.execute("INSERT OR REPLACE INTO problem VALUES (?, ?)", shown)

    def end_rebuild(self, ticket: int) -> int | None:
        """Delete the rows of deleted records, and mark the index as complete.

        Returns:
            The number of records in the index. None if the file was replaced since the
            rebuild began; then nothing is done.
        """
        from recordsilo.index.columns import forget_gone

        with self.changing() as connection:
            if (ticket,) != connection.execute(_TICKET).fetchone():
                return None
            gone = connection.execute(
                "SELECT identifier FROM record "
                "WHERE generation < (SELECT value FROM about WHERE key = 'generation')"
            ).fetchall()
            self._writer.begin(connection)
            for (identifier,) in gone:
                self._writer.delete(connection, identifier)
            forget_gone(connection)
            _complete(connection)
            records = _about(connection, "records")
        self._columns.load_if_many(records)
        return records

    def problems(self) -> list[tuple[str, str]]:
        with self.asking() as connection:
            return connection.execute(_PROBLEMS).fetchall()

    def close(self) -> None:
        """Close the file; a later use opens it again."""
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            elif self._connection is not None:
                _INHERITED.append(self._connection)
            self._connection = self._inode = None
            if self._kept is not None:
                self._kept.forget()
            self._writer.forget()

    # -- the file -------------------------------------------------------------------------

    @contextlib.contextmanager
    def _not_in_the_way(self) -> Iterator[None]:
        """Log errors, so that the index never fails a write; an index with errors is rebuilt."""
        try:
            yield
        except (sqlite3.Error, IndexProblem) as error:
            logger.warning("the index %s failed (%s); it will be rebuilt", self.path, error)
            self._set_aside()

    def set_aside_if_damaged(self, error: sqlite3.DatabaseError) -> None:
        """Delete the file after a statement failed, if it is damaged or of another schema.

        Raises:
            IndexProblem: The file is not the reason (busy, disk full); a later try may succeed.
        """
        if isinstance(error, sqlite3.ProgrammingError):
            raise error
        name = getattr(error, "sqlite_errorname", "")
        no_room = name.startswith("SQLITE_CANTOPEN") and not os.path.isdir(self.path)
        if name.startswith(_NOT_DAMAGE) or no_room:  # for example too many open files
            full = "; the disk may be full" if name.startswith("SQLITE_IOERR") else ""
            raise IndexProblem(self.path, f"{error}{full}") from error
        if isinstance(error, OtherSchema):
            logger.info("the index %s was made by another release; rebuilding it", self.path)
        else:
            logger.warning("the index %s is damaged (%s); rebuilding it", self.path, error)
        self._set_aside()

    def _set_aside(self) -> None:
        with self._lock:
            self.close()
            for suffix in ("", "-wal", "-shm"):
                with contextlib.suppress(OSError):
                    atomic_file.remove_tree(self.path + suffix)

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._is_current():
            return self._connection
        self.close()
        self._refuge_until = None
        directory = os.path.dirname(self.path)
        try:
            if os.path.isdir(directory) and not _is_writable(directory):
                connection = self._open_fixed()
            else:
                connection = self._open_file()
        except sqlite3.DatabaseError as error:
            if is_full_disk(error):
                connection = self._open_fixed()
                self._refuge_until = time.monotonic() + REFUGE
            elif _is_writable(directory):
                self.set_aside_if_damaged(error)
                connection = self._open_file()
            else:
                connection = self._open_fixed()
        self._connection, self._pid = connection, os.getpid()
        with contextlib.suppress(OSError):
            self._inode = os.stat(self.path).st_ino
        return connection

    def _is_current(self) -> bool:
        """Whether this process opened the file, and it is still the one at the path."""
        if self._pid != os.getpid():
            return False
        if self._refuge_until is not None:
            return time.monotonic() < self._refuge_until
        if self._is_private:
            is_same = not self._is_fixed or self._seen == self._state()
            return is_same and not _is_writable(os.path.dirname(self.path))
        try:
            return self._inode is None or os.stat(self.path).st_ino == self._inode
        except OSError:
            return False

    def _open_fixed(self) -> sqlite3.Connection:
        """The file, for reading only; an empty index in memory if it cannot be used."""
        self._is_private, self._is_fixed = True, True
        try:
            self._seen = self._state()
            connection = sqlite3.connect(
                read_only_uri(self.path), uri=True, isolation_level=None, check_same_thread=False
            )
            try:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                if version == VERSION and _about(connection, "complete"):
                    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
                    return connection
            except sqlite3.Error:
                connection.close()
                raise
            connection.close()
        except (sqlite3.Error, OSError) as error:
            logger.info("the index %s cannot be read (%s)", self.path, error)
        self._is_fixed = False
        return self._prepare(sqlite3.connect(":memory:", check_same_thread=False))

    def _private_copy(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """A copy of the open file that can be changed, in place of it."""
        copy = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        try:
            connection.backup(copy)
            copy.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        except BaseException:
            copy.close()
            raise
        connection.close()
        self._is_fixed = False
        return copy

    def _state(self) -> tuple[tuple[int, int, int] | None, ...]:
        """What changes when another process writes the file or its log."""
        return tuple(map(_stat_of, (self.path, f"{self.path}-wal")))

    def _open_file(self) -> sqlite3.Connection:
        self._refuge_until = None
        self._is_private = self._is_fixed = False
        self._make_directory()
        return self._prepare(
            sqlite3.connect(
                self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
        )

    def _make_directory(self) -> None:
        """Make the directory of the file, if there is none.

        Raises:
            SiloGone: The Silo is no longer there.
        """
        directory = os.path.dirname(self.path)
        if os.path.isdir(directory):
            return
        self._is_empty()
        try:
            atomic_file.make_in_silo(os.path.dirname(directory), directory)
        except SiloGone:
            raise
        except OSError:  # opening the file reports it
            logger.debug("the directory of the index %s cannot be made", self.path)

    def _prepare(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        try:
            connection.isolation_level = None
            keep_log(connection, self.path)
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            if found not in {0, VERSION}:
                raise OtherSchema(found)
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                self._create(connection)
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection

    def _create(self, connection: sqlite3.Connection) -> None:
        statement = ""
        for line in (TEXT_TABLE + RECENT_TABLE + SCHEMA).splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                connection.execute(statement)
                statement = ""
        if self._is_empty():
            _complete(connection)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _stat_of(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _is_writable(directory: str) -> bool:
    return os.access(directory, os.W_OK)


def _about(connection: sqlite3.Connection, key: str) -> int:
    found = connection.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
    return int(found[0])


def _complete(connection: sqlite3.Connection) -> None:
    for statement in INDEXES:
        connection.execute(statement)
    connection.execute("UPDATE about SET value = 1 WHERE key = 'complete'")


def _is_fresh(connection: sqlite3.Connection) -> bool:
    return _about(connection, "records") == 0


def _last_of_each(found: Sequence[Prepared]) -> Sequence[Prepared]:
    """The last entry of each record."""
    last = {one.identifier: one for one in found}
    return found if len(last) == len(found) else list(last.values())


def storable_path(text: str) -> str:
    """The text with undecodable bytes of a path escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def _take_notes_back(connection: sqlite3.Connection, identifiers: Iterable[str]) -> None:
    connection.executemany(
        "DELETE FROM unsettled WHERE identifier = ?", ((i,) for i in identifiers)
    )
