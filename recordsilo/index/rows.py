"""Writing a record's rows: what an `Entry` becomes in the tables of the index."""

import hashlib
import json
import sqlite3
import unicodedata
from array import array
from collections.abc import Sequence

from recordsilo.index.columns import FLAGS, LARGE_FIELDS, SMALL_FIELDS
from recordsilo.index.projection import Entry, ManifestStamp, Text
from recordsilo.index.schema import TEXT_COLUMNS

_COLUMNS = (
    "identifier, datestamp, title, sets, deleted, curated, upstream_newer, current_version, "
    "versions, revision, title_key, seconds, flags, facets, facets_large, text_digest, "
    "mtime_ns, size, inode, change, generation"
)
_MARKS = ", ".join("?" * len(_COLUMNS.split(",")))
_UPDATE = (
    f"UPDATE record SET {', '.join(f'{name} = ?' for name in _COLUMNS.split(', '))} "  # noqa: S608
    "WHERE id = ?"
)
_TEXT_COLUMNS = ", ".join(TEXT_COLUMNS)
_KEPT_VALUES = 300_000


class RowWriter:
    """Writes entries; remembers the numbers of facet values between them.

    One for each open database file: the numbers are those of that file.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._change = self._generation = 0

    def begin(self, connection: sqlite3.Connection) -> None:
        """Begin a transaction: all that it writes is one numbered change."""
        connection.execute("UPDATE about SET value = value + 1 WHERE key = 'change'")
        about = dict(connection.execute("SELECT key, value FROM about"))
        self._change, self._generation = about["change"], about["generation"]

    def forget(self) -> None:
        """Forget the numbers: the transaction that gave some was rolled back."""
        self._numbers.clear()

    def write_new(
        self, connection: sqlite3.Connection, found: Sequence[tuple[Entry, ManifestStamp]]
    ) -> None:
        """Write all rows of records that have none, many at a time."""
        highest = connection.execute(
            "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'record'"
        ).fetchone()
        first = (highest[0] if highest else 0) + 1
        numbered = list(enumerate(found, first))
        connection.executemany(
            f"INSERT INTO record (id, {_COLUMNS}) VALUES ({_MARKS}, ?)",  # noqa: S608 - constants
            ((number, *self._row(connection, *one)) for number, one in numbered),
        )
        connection.executemany(
            f"INSERT INTO text (rowid, {_TEXT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            ((number, *entry.text.columns) for number, (entry, _) in numbered),
        )
        _write_sets(connection, [entry for entry, _ in found])

    def write(self, connection: sqlite3.Connection, entry: Entry, stamp: ManifestStamp) -> None:
        """Write, or replace, all rows of a record; with another text it gets another row id."""
        identifier = entry.row.identifier
        old = connection.execute(
            "SELECT id, sets, text_digest FROM record WHERE identifier = ?", (identifier,)
        ).fetchone()
        if old is None or _digest(entry.text) != old[2]:
            self.delete(connection, identifier)
            self.write_new(connection, [(entry, stamp)])
            return
        number, sets, _ = old
        connection.execute(_UPDATE, (*self._row(connection, entry, stamp), number))
        if _sets(entry) != sets:
            _delete_sets(connection, identifier, sets)
            _write_sets(connection, [entry])

    def _row(
        self, connection: sqlite3.Connection, entry: Entry, stamp: ManifestStamp
    ) -> tuple[object, ...]:
        """The values of `_COLUMNS`."""
        row = entry.row
        return (
            row.identifier, row.datestamp, row.title, _sets(entry), row.deleted, row.curated,
            row.upstream_newer, row.current_version, row.versions, row.revision,
            _title_key(row.title), entry.seconds, _flags(entry),
            self._codes(connection, entry, SMALL_FIELDS),
            self._codes(connection, entry, LARGE_FIELDS), _digest(entry.text),
            stamp.mtime_ns, stamp.size, stamp.inode, self._change, self._generation,
        )  # fmt: skip

    def delete(self, connection: sqlite3.Connection, identifier: str) -> None:
        """Delete all rows of a record, and note that it is gone."""
        found = connection.execute(
            "DELETE FROM record WHERE identifier = ? RETURNING id, sets", (identifier,)
        ).fetchone()
        if found is not None:
            number, sets = found
            connection.execute("DELETE FROM text WHERE rowid = ?", (number,))
            connection.execute("INSERT INTO gone VALUES (?, ?)", (number, self._change))
            _delete_sets(connection, identifier, sets)

    def _codes(
        self, connection: sqlite3.Connection, entry: Entry, fields: tuple[str, ...]
    ) -> bytes:
        codes = array(
            "i",
            [
                self._number(connection, field, value)
                for field in fields
                for value in entry.facets.get(field, ())
            ],
        )
        return codes.tobytes()

    def _number(self, connection: sqlite3.Connection, field: str, value: str) -> int:
        key = (field, value)
        found = self._numbers.get(key)
        if found is None:
            if len(self._numbers) >= _KEPT_VALUES:
                self._numbers.clear()
            found = self._numbers[key] = _number_in(connection, field, value)
        return found


def _number_in(connection: sqlite3.Connection, field: str, value: str) -> int:
    found = connection.execute(
        "SELECT id FROM facet_value WHERE field = ? AND value = ?", (field, value)
    ).fetchone()
    if found is None:
        found = connection.execute(
            "INSERT INTO facet_value (field, value) VALUES (?, ?) RETURNING id", (field, value)
        ).fetchone()
    return int(found[0])


def _write_sets(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO record_set VALUES (?, ?)",
        ((spec, entry.row.identifier) for entry in entries for spec in entry.row.sets),
    )


def _delete_sets(connection: sqlite3.Connection, identifier: str, sets: str) -> None:
    connection.executemany(
        "DELETE FROM record_set WHERE set_spec = ? AND identifier = ?",
        ((spec, identifier) for spec in json.loads(sets)),
    )


def _sets(entry: Entry) -> str:
    return json.dumps(entry.row.sets, ensure_ascii=False)


def _flags(entry: Entry) -> int:
    flags = {
        "deleted": entry.row.deleted,
        "curated": entry.row.curated,
        "upstream_newer": entry.row.upstream_newer,
        "has_file": entry.has_file,
    }
    return sum(1 << bit for bit, name in enumerate(FLAGS) if flags[name])


def _title_key(title: str) -> str:
    """The title without case, accents, and what stands before its first letter or digit."""
    if title.isascii():
        folded = title.lower()
        start = next((i for i, character in enumerate(folded) if character.isalnum()), 0)
        return folded[start : start + 200]
    decomposed = unicodedata.normalize("NFKD", title).casefold()
    folded = "".join(c for c in decomposed if not unicodedata.combining(c))
    start = next((i for i, character in enumerate(folded) if character.isalnum()), 0)
    return folded[start : start + 200]


def _digest(text: Text) -> bytes:
    joined = "\0".join(text.columns).encode("utf-8", "replace")
    return hashlib.blake2b(joined, digest_size=12).digest()
