"""Compare the index with the manifests; the index is opened read-only."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TypeVar

from recordsilo.audit.findings import Code, Finding, shown
from recordsilo.audit.reading import UnreadableError, tree
from recordsilo.audit.search_check import damage_of, search_faults
from recordsilo.disk.database_log import (
    bears_shared_memory,
    has_log,
    is_logged,
    read_only_uri,
)
from recordsilo.disk.identifier import ppath
from recordsilo.disk.names import is_staged, is_tag, version_dirname
from recordsilo.disk.regular_file import regular_fd
from recordsilo.index import Entry, ManifestStamp, Row, project
from recordsilo.index.packing import Unpacker, numbers_in
from recordsilo.index.projection import changed_at, project_row, seconds_of_text
from recordsilo.index.query import COLUMNS, row, rows_of
from recordsilo.index.rows import (
    described_digest,
    digest_of_text,
    flags_of,
    prepare,
    title_key,
)
from recordsilo.index.schema import NAME, TEXT_COLUMNS, VERSION
from recordsilo.records.manifest import FORMAT, Manifest, with_listing

PATH = ".silo/index.sqlite"
_PAGE = 1000
_KEPT_VALUES = 300_000
_MALFORMED = "SQLITE_CORRUPT"
"""What a value means that SQLite returns, but that is no UTF-8, no JSON or of another type."""
_DAMAGE = ("SQLITE_NOTADB", _MALFORMED, "SQLITE_ERROR")
T = TypeVar("T")


class IndexCheck:
    """Checks a Silo's index; skips one that is missing, unfinished or of another release.

    Records in its tables ``unsettled`` and ``unreadable`` are skipped: the next reader indexes
    them, or those that were mended.
    """

    def __init__(self, silo: str) -> None:
        self._silo = silo
        self._connection: sqlite3.Connection | None = None
        self._unpacker: Unpacker | None = None
        self._values: dict[int, tuple[str, str]] = {}  # facet value by number
        self._specs: dict[int, str] = {}  # those that are setSpecs
        self.problem: Finding | None = None
        self._ask(lambda _connection: None)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = self._unpacker = None
            self._forget_values()

    def _forget_values(self) -> None:
        self._values.clear()
        self._specs.clear()

    def _ask(self, query: Callable[[sqlite3.Connection], T]) -> T | None:
        """Query the index; None if that is not possible.

        A failure counts only if it recurs on a new connection: a writer may have started
        to work on a file that was opened as immutable.
        """
        for attempt in range(2):
            if self.problem is not None:
                return None
            try:
                if self._connection is None:
                    self._connection = _open(f"{self._silo}/{PATH}")
                return None if self._connection is None else query(self._connection)
            except (sqlite3.DatabaseError, TypeError, ValueError) as error:
                self.close()
                if not getattr(error, "sqlite_errorname", _MALFORMED).startswith(_DAMAGE):
                    return None
                if attempt:
                    found = str(error)
                    self.problem = Finding(Code.INDEX_DAMAGED, PATH, "an SQLite database", found)
        return None

    def is_as_written(self, manifest: Manifest, stamp: ManifestStamp | None) -> bool:
        """Whether a record's entry is right because it is as this code wrote it.

        That is the case if the manifest that was indexed is still there, the entry matches it,
        and the digest of what was read from the files fits. The files have to be compared
        with their digests, which this does not do. Otherwise `of_record` says what differs.

        Args:
            stamp: That of its file.
        """
        if stamp is None or manifest.format != FORMAT or not _has_all_digests(manifest):
            return False
        return bool(self._ask(lambda connection: self._is_intact(connection, manifest, stamp)))

    def _is_intact(
        self, connection: sqlite3.Connection, manifest: Manifest, stamp: ManifestStamp
    ) -> bool:
        found = connection.execute(_INTACT, (manifest.item_id,)).fetchone()
        if found is None or found[:3] != (stamp.mtime_ns, stamp.size, stamp.inode):
            return False
        described, small, large, flags, changed, packed = found[3:9]
        facets = self._facets(connection, small + large)
        if facets is None:
            return False
        (listed,) = rows_of(connection, [found[9:]], self._specs)
        if listed != project_row(manifest, listed.title):
            return False
        if changed != changed_at(seconds_of_text(manifest.changed), stamp.mtime_ns):
            return False
        self._unpacker = self._unpacker or Unpacker(connection)
        text = digest_of_text(self._unpacker.texts(packed, listed.title, listed.identifier))
        plain = (listed.title, title_key(listed.title), found[-1], flags)
        return bool(described_digest(plain, facets, text) == described)

    def _facets(
        self, connection: sqlite3.Connection, numbers: bytes
    ) -> list[tuple[str, str]] | None:
        """The facet values of these numbers; None if one is unknown."""
        wanted = numbers_in(numbers)
        missing = [number for number in wanted if number not in self._values]
        if missing:
            if len(self._values) > _KEPT_VALUES:
                self._forget_values()
                missing = list(wanted)
            values = _values_of(connection, missing)
            self._values.update(values)
            self._specs.update({n: value for n, (name, value) in values.items() if name == "set"})
        found = [self._values.get(number) for number in wanted]
        return None if None in found else [one for one in found if one is not None]

    def of_record(self, manifest: Manifest, directory: str | None = None) -> Finding | None:
        """The fault in the index entry of a record, if any.

        Args:
            directory: The record's directory; without it, what is read from the files
                (title, full text, facets) is not compared.
        """
        identifier, stated = manifest.item_id, project_row(manifest, "")
        entry = described(directory, manifest) if directory else None

        def compare(connection: sqlite3.Connection) -> Finding | None:
            found = row(connection, identifier)
            listed = None if found is None else replace(found, title="")
            if _is_unsettled(connection, identifier):
                return None
            if listed != stated:
                return _difference(identifier, listed, stated)
            return _misdescribed(connection, entry) if entry else None

        return self._ask(compare)

    def of_searches(self) -> list[Finding]:
        """Faults in the search structures, compared with the rows and texts of the index."""

        def look(connection: sqlite3.Connection) -> list[Finding]:
            if damage := damage_of(connection):
                return [Finding(Code.INDEX_DAMAGED, PATH, "an SQLite database", damage)]
            return [Finding(Code.INDEX_SEARCH, PATH, *fault) for fault in search_faults(connection)]

        return self._ask(look) or []

    def surplus(self) -> Iterator[str]:
        """Identifiers that are in the index but not on disk, with bounded memory."""
        last: str | None = ""
        while last is not None:
            page = self._ask(partial(_identifiers_after, last=last)) or []
            yield from (one for one in page if not self._is_on_disk(one))
            last = page[-1] if page else None

    def is_surplus(self, identifier: str) -> bool:
        """Whether the index has a record that is not on disk, and that no reader will remove."""

        def has(connection: sqlite3.Connection) -> bool:
            is_listed = row(connection, identifier) is not None
            return is_listed and not _is_unsettled(connection, identifier)

        return not self._is_on_disk(identifier) and bool(self._ask(has))

    def _is_on_disk(self, identifier: str) -> bool:
        """Whether the record exists, even if damaged: then another finding reports it."""
        with contextlib.suppress(OSError):
            place = f"{self._silo}/pairtree_root/{ppath(identifier)}"
            return any(name.startswith("__manifest.json") for name in os.listdir(place))
        return False


def _has_all_digests(manifest: Manifest) -> bool:
    return all(None not in (one.digests or {}).values() for one in manifest.versions)


_INTACT = (
    "SELECT mtime_ns, size, inode, described, facets, facets_large, flags, changed, packed, "  # noqa: S608
    f"{COLUMNS} FROM record WHERE name = {NAME}"
)


def _identifiers_after(connection: sqlite3.Connection, last: str) -> list[str]:
    sql = f"SELECT identifier FROM record WHERE name > {NAME} ORDER BY name LIMIT ?"  # noqa: S608
    found = [one for (one,) in connection.execute(sql, (last, _PAGE))]
    if not all(isinstance(one, str) for one in found):
        raise TypeError("an identifier is not text")
    return found


def _is_unsettled(connection: sqlite3.Connection, identifier: str) -> bool:
    sql = (
        "SELECT 1 FROM unsettled WHERE identifier = ?1 "
        "UNION ALL SELECT 1 FROM unreadable WHERE identifier = ?1"
    )
    return connection.execute(sql, (identifier,)).fetchone() is not None


def _difference(identifier: str, listed: Row | None, stated: Row) -> Finding:
    if listed is None:
        return Finding(Code.INDEX_LACKS, PATH, "a row", "none", identifier)
    expected, found = asdict(stated), asdict(listed)
    keys = [key for key in expected if expected[key] != found[key]]
    return Finding(
        Code.INDEX_DIFFERS,
        PATH,
        shown({key: expected[key] for key in keys}),
        shown({key: found[key] for key in keys}),
        identifier,
    )


# -- what comes from the files ------------------------------------------------------------


def described(directory: str, manifest: Manifest) -> Entry | None:
    """The correct index entry of a record; None if the record changes meanwhile."""

    def walk(version: str) -> Iterator[str]:
        for one in tree(f"{directory}/{version_dirname(version)}"):
            is_file = one.kind != "directory"
            if is_file and not is_tag(one.name) and not is_staged(os.path.basename(one.name)):
                yield one.name

    def read(version: str, path: str) -> bytes:
        with open(
            f"{directory}/{version_dirname(version)}/{path}", "rb", opener=regular_fd
        ) as file:
            return file.read()

    try:
        return project(with_listing(manifest, walk), read)
    except UnreadableError:
        return None


def _misdescribed(connection: sqlite3.Connection, entry: Entry) -> Finding | None:
    identifier = entry.row.identifier
    stated, found = _expected_of(entry), _found_of(connection, identifier)
    keys = [key for key in stated if stated[key] != found.get(key)]
    if not keys:
        return None
    from_manifest = not set(keys).isdisjoint(_FROM_MANIFEST)
    return Finding(
        Code.INDEX_DIFFERS if from_manifest else Code.INDEX_DESCRIBES,
        PATH,
        shown({key: stated[key] for key in keys}),
        shown({key: found.get(key) for key in keys}),
        identifier,
    )


_FROM_MANIFEST = ("seconds", "changed", "flags")


def _expected_of(entry: Entry) -> dict[str, object]:
    one = prepare(entry, ManifestStamp(0, 0, 0))
    dated = {"changed": entry.changed} if entry.changed else {}
    return {
        **dated,
        "seconds": entry.seconds,
        "flags": flags_of(entry),
        "title": entry.row.title,
        "facets": [list(pair) for pair in (*one.facets, *one.facets_large)],
        **{f"text {name}": text for name, text in zip(TEXT_COLUMNS, one.text, strict=True)},
    }


def _found_of(connection: sqlite3.Connection, identifier: str) -> dict[str, object]:
    whole = connection.execute(
        "SELECT facets, facets_large, packed, changed, seconds, flags, title "  # noqa: S608
        f"FROM entry WHERE name = {NAME}",
        (identifier,),
    ).fetchone()
    if whole is None:  # deleted just now
        return {}
    small, large, packed, *plain = whole
    text = Unpacker(connection).texts(packed, plain[-1], identifier)
    return {
        **dict(zip(("changed", "seconds", "flags", "title"), plain, strict=True)),
        "facets": _facets_of(connection, bytes(small) + bytes(large)),
        **{f"text {name}": found for name, found in zip(TEXT_COLUMNS, text, strict=True)},
    }


def _facets_of(connection: sqlite3.Connection, numbers: bytes) -> list[list[str] | None]:
    """The (field, value) of each number; None for an unknown number."""
    wanted = [*numbers_in(numbers)]
    known = _values_of(connection, wanted)
    return [list(known[number]) if number in known else None for number in wanted]


def _values_of(
    connection: sqlite3.Connection, numbers: Sequence[int]
) -> dict[int, tuple[str, str]]:
    """Number → (field, value) of facet values."""
    rows = connection.execute(
        "SELECT id, field, value FROM facet_value WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(numbers),),
    )
    return {number: (field, value) for number, field, value in rows}


# -- the file -----------------------------------------------------------------------------


def _open(path: str) -> sqlite3.Connection | None:
    """A connection to an index that is complete, or None."""
    if not os.path.exists(path):
        return None
    if not bears_shared_memory(path) and has_log(path) and is_logged(path):
        return None  # the next reader checkpoints the log
    connection = _read_only(path)
    try:
        is_ready = _is_ready(connection)
    except BaseException:
        connection.close()
        raise
    if is_ready:
        return connection
    connection.close()
    return None


def _read_only(path: str) -> sqlite3.Connection:
    """Open a database without writing to it or creating files beside it."""
    return sqlite3.connect(read_only_uri(path), uri=True, timeout=60, isolation_level=None)


def _is_ready(connection: sqlite3.Connection) -> bool:
    if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
        return False
    found = connection.execute("SELECT value FROM about WHERE key = 'complete'").fetchone()
    return found is not None and found[0] == 1
