"""Write the rows of an `Entry` into the tables of the index."""

import hashlib
import json
import os
import sqlite3
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from recordsilo.formats.quality import UNREADABLE
from recordsilo.index.packing import Packer, Unpacker, pack_numbers
from recordsilo.index.projection import (
    Entry,
    ManifestStamp,
    Row,
    Text,
    changed_at,
    entry_of_unread,
)
from recordsilo.index.query import UNREAD, dated, row_of
from recordsilo.index.schema import NAME, NAMES, TEXT_COLUMNS, code_digest
from recordsilo.index.search_values import LARGE_FIELDS, SMALL_FIELDS

_COLUMNS = (
    "name, datestamp, title, current_version, versions, revision, seconds, flags, "
    "described, mtime_ns, size, inode, changed, packed, facets, facets_large, change, generation"
)
_MARKS = ", ".join("?" * len(_COLUMNS.split(",")))
_UPDATE = (  # without the name, which stays: so its index need not be written
    f"UPDATE entry SET {', '.join(f'{name} = ?' for name in _COLUMNS.split(', ')[1:])} "  # noqa: S608
    "WHERE id = ?"
)
_TEXT_COLUMNS = ", ".join(TEXT_COLUMNS)
_DELETE_TEXT = (
    f"INSERT INTO text (text, rowid, {_TEXT_COLUMNS}) VALUES ('delete', ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
)
_OF_RECORDS = f"SELECT identifier, id, packed, title FROM record WHERE name IN {NAMES}"  # noqa: S608
_OF_RECORD = f"SELECT id, packed, title, identifier FROM record WHERE name = {NAME}"  # noqa: S608
_KEPT_VALUES = 300_000
_NO_STAMP = ManifestStamp(0, 0, UNREAD)
_STAMP = len(Row.__slots__) + 5
"""Where `Prepared.fixed` has the time, size and inode of the manifest."""


class Prepared(NamedTuple):
    """An entry prepared for writing, as far as possible without the index; plain values only.

    Attributes:
        fixed: The row as in `Row`, with the sets as JSON; the title's key, seconds, flags, the
            digests of the texts and of all that was read, the stamp, and when it was changed.
        specs: The setSpecs, which are also among the facets; ``sets`` has them as JSON.
        facets: (field, value) pairs of the small fields; ``facets_large`` has the large ones.
        text: The texts, in the order of the full-text columns.
    """

    identifier: str
    fixed: tuple[object, ...]
    specs: tuple[str, ...]
    sets: str
    facets: tuple[tuple[str, str], ...]
    facets_large: tuple[tuple[str, str], ...]
    text: tuple[str, ...]
    text_digest: bytes
    stamp: tuple[int, int, int]

    @property
    def entry(self) -> tuple[Entry, ManifestStamp]:
        """The original entry and stamp, for an engine with other tables."""
        facets: dict[str, tuple[str, ...]] = {}
        for field, value in (*self.facets, *self.facets_large):
            facets[field] = (*facets.get(field, ()), value)
        seconds, flags, _, described = self.fixed[len(Row.__slots__) + 1 :][:4]
        row, bits = row_of(self.fixed[: len(Row.__slots__)], self.specs), int(str(flags))
        entry = Entry(
            row,
            Text(*self.text),
            int(str(seconds)),
            facets,
            has_file=bool(bits >> 3 & 1),
            changed=int(str(self.fixed[-1])),
            is_whole=bool(described),
        )
        return entry, ManifestStamp(*self.stamp)


def stamped(row: Prepared, stamp: tuple[int, int, int]) -> Prepared:
    """A row with the time, size and inode of its manifest."""
    before, after = row.fixed[:_STAMP], row.fixed[_STAMP + 3 :]
    return row._replace(fixed=(*before, *stamp, *after), stamp=stamp)


def prepare(entry: Entry, stamp: ManifestStamp) -> Prepared:
    """Prepare an entry for writing. Pure."""
    row, text = entry.row, entry.text.columns
    sets, digest, flags = sets_text(row.sets), digest_of_text(text), flags_of(entry)
    small, large = pairs_of(entry.facets, SMALL_FIELDS), pairs_of(entry.facets, LARGE_FIELDS)
    key = title_key(row.title)
    plain = row.title, key, entry.seconds, flags
    described = described_digest(plain, (*small, *large), digest) if entry.is_whole else b""
    found = (stamp.mtime_ns, stamp.size, stamp.inode)
    return Prepared(
        row.identifier,
        (
            row.identifier, row.datestamp, row.title, sets, row.deleted, row.curated,
            row.upstream_newer, row.current_version, row.versions, row.revision,
            key, entry.seconds, flags, digest, described, *found,
            changed_at(entry.changed, stamp.mtime_ns),
        ),
        row.sets,
        sets,
        small,
        large,
        text,
        digest,
        found,
    )  # fmt: skip


_json = json.JSONEncoder(ensure_ascii=False).encode


@lru_cache(maxsize=4096)  # many records are in the same sets
def sets_text(sets: tuple[str, ...]) -> str:
    """The setSpecs as a JSON list."""
    return _json(sets)


def pairs_of(
    facets: Mapping[str, Sequence[str]], fields: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """(field, value) of each value of some fields, in their order."""
    return tuple([(f, value) for f in fields if f in facets for value in facets[f]])


class RowWriter:
    """Writes entries; remembers the numbers of facet values, and how texts are packed.

    Each open database file needs its own, because they belong to the file.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._packer = Packer()
        self._beginning: str | None = None
        self._unpacker: Unpacker | None = None
        self._change = self._generation = 0

    def begin(self, connection: sqlite3.Connection) -> None:
        """Begin a transaction, whose writes are one numbered change."""
        connection.execute("UPDATE about SET value = value + 1 WHERE key = 'change'")
        about = dict(connection.execute("SELECT key, value FROM about"))
        self._change, self._generation = about["change"], about["generation"]
        if self._beginning is None:
            known = connection.execute("SELECT beginning FROM common").fetchone()
            self._beginning = None if known is None else str(known[0])
        self._unpacker = None

    def forget(self) -> None:
        """Forget what belongs to the file, after a transaction that wrote some was rolled back."""
        self._numbers.clear()
        self._packer.forget()
        self._beginning = None

    def write_new(self, connection: sqlite3.Connection, found: Sequence[Prepared]) -> None:
        """Write the rows of new records, many at a time."""
        highest = connection.execute(
            "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'entry'"
        ).fetchone()
        self._packer.prepare(connection, highest[0], [one.text for one in found])
        if self._beginning is None and found:
            self._beginning = _common_beginning([one.identifier for one in found])
            connection.execute("INSERT INTO common VALUES (1, ?)", (self._beginning,))
        numbered = list(enumerate(found, highest[0] + 1))
        connection.executemany(
            f"INSERT INTO entry (id, {_COLUMNS}) VALUES ({_MARKS}, ?)",  # noqa: S608 - constants
            [(number, *self._row(connection, one)) for number, one in numbered],
        )
        connection.executemany(
            f"INSERT INTO text (rowid, {_TEXT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            [(number, *one.text) for number, one in numbered],
        )
        connection.executemany(
            "INSERT INTO recent (rowid, words) VALUES (?, ?)",
            [(number, " ".join(one.text)) for number, one in numbered],
        )

    def write(self, connection: sqlite3.Connection, found: Sequence[Prepared]) -> None:
        """Write or replace all rows of records; one whose text changed gets a new row id.

        Args:
            connection: A connection to the index in a write transaction.
            found: Each record once.
        """
        names = json.dumps([one.identifier for one in found])
        there = {row[0]: row[1:] for row in connection.execute(_OF_RECORDS, (names,))}
        new, same = [], []
        for one in found:
            old = there.get(one.identifier)
            if old is None:
                new.append(one)
                continue
            number, packed, title = old
            texts = self._texts(connection, packed, title, one.identifier)
            if texts == tuple(one.text):
                kept = packed if title == one.fixed[2] else None
                same.append((*self._row(connection, one, kept)[1:], number))
            else:
                self._delete(connection, number, texts)
                new.append(one)
        connection.executemany(_UPDATE, same)
        if new:
            self.write_new(connection, new)

    def mark_unread(self, connection: sqlite3.Connection, identifier: str) -> bool:
        """Keep a record's rows, with the finding that it cannot be read.

        What the source deleted has no findings, so the record no longer counts as deleted.

        Returns:
            Whether anything but the identifier was ever read of it.
        """
        found = connection.execute(
            f"SELECT id, facets, inode FROM entry WHERE name = {NAME}",  # noqa: S608 - constants
            (identifier,),
        ).fetchone()
        if found is None:
            self.write_new(connection, [prepare(entry_of_unread(identifier), _NO_STAMP)])
            return False
        number, facets, inode = found
        code = self._packed(connection, (("finding", UNREADABLE),))
        connection.execute(
            "UPDATE entry SET facets = ?, flags = flags & ~1, described = x'', "
            "inode = ?, change = ?, generation = ? WHERE id = ?",
            (facets if inode == UNREAD else facets + code, UNREAD, self._change, self._generation,
             number),
        )  # fmt: skip
        return True

    def _texts(
        self, connection: sqlite3.Connection, packed: bytes, title: str, identifier: str
    ) -> tuple[str, ...]:
        if self._unpacker is None:
            self._unpacker = Unpacker(connection)
        return self._unpacker.texts(packed, title, identifier)

    def _row(
        self, connection: sqlite3.Connection, one: Prepared, packed: bytes | None = None
    ) -> tuple[object, ...]:
        """The values of `_COLUMNS`; with the texts as they are packed already, if they are."""
        (identifier, datestamp, title, _sets, _deleted, _curated, _newer, current, versions,
         revision, _key, seconds, flags, _digest, *rest) = one.fixed  # fmt: skip
        return (
            self._name(str(identifier)), None if datestamp == dated(seconds) else datestamp, title,
            current, versions, revision, seconds, flags, *rest,
            packed or self._packer.pack(connection, one.text, str(title), one.identifier),
            self._packed(connection, one.facets), self._packed(connection, one.facets_large),
            self._change, self._generation,
        )  # fmt: skip

    def _name(self, identifier: str) -> str:
        """The same as `recordsilo.index.schema.NAME`."""
        beginning = self._beginning
        assert beginning is not None, "no transaction was begun"
        if identifier.startswith(beginning):
            return "=" + identifier[len(beginning) :]
        return ("<" if identifier < beginning else ">") + identifier

    def delete(self, connection: sqlite3.Connection, identifier: str) -> None:
        """Delete all rows of a record, and note the deletion."""
        found = connection.execute(_OF_RECORD, (identifier,)).fetchone()
        if found is not None:
            texts = Unpacker(connection).texts(*found[1:])
            self._delete(connection, found[0], texts)

    def _delete(self, connection: sqlite3.Connection, number: int, texts: Sequence[str]) -> None:
        """Delete a record by its row id.

        Args:
            texts: Those of the row; others would leave words in the full text, or take some of
                other records out of its counts.
        """
        connection.execute(_DELETE_TEXT, (number, *texts))
        connection.execute("DELETE FROM entry WHERE id = ?", (number,))
        connection.execute("INSERT INTO gone VALUES (?, ?)", (number, self._change))

    def _packed(self, connection: sqlite3.Connection, values: tuple[tuple[str, str], ...]) -> bytes:
        """The numbers of facet values, packed; new values get new numbers."""
        known = self._numbers
        try:
            return pack_numbers([known[value] for value in values])
        except KeyError:
            numbers = [known.get(value) or self._number(connection, value) for value in values]
        return pack_numbers(numbers)

    def number_of(self, connection: sqlite3.Connection, field: str, value: str) -> int:
        """The number of a facet value; a new one if it has none.

        Args:
            connection: A connection to the index in a write transaction.
            field: The facet's name.
            value: One of its values.
        """
        return self._numbers.get((field, value)) or self._number(connection, (field, value))

    def _number(self, connection: sqlite3.Connection, value: tuple[str, str]) -> int:
        if len(self._numbers) >= _KEPT_VALUES:
            self._numbers.clear()
        found = self._numbers[value] = _number_in(connection, *value)
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


def _common_beginning(identifiers: Sequence[str]) -> str:
    """What identifiers have in common, up to a character between words; names leave it out."""
    both = os.path.commonprefix(identifiers)  # noqa: RUF071 - of texts, not of paths
    return both.rstrip("".join(filter(str.isalnum, both)))


def flags_of(entry: Entry) -> int:
    """The `FLAGS` as bits, the first one lowest."""
    row = entry.row
    newer, others = row.upstream_newer << 2, entry.has_file << 3 | entry.has_doi << 4
    return row.deleted | row.curated << 1 | newer | others


def title_key(title: str) -> str:
    """The title without case and accents, from its first letter or digit on."""
    if title.isascii():
        folded = title.lower()
    else:
        decomposed = unicodedata.normalize("NFKD", title).casefold()
        folded = "".join([c for c in decomposed if not unicodedata.combining(c)])
    if folded[:1].isalnum():  # the usual case
        return folded[:200]
    start = next((i for i, character in enumerate(folded) if character.isalnum()), 0)
    return folded[start : start + 200]


def described_digest(
    plain: tuple[str, str, int, int], facets: Iterable[tuple[str, str]], text_digest: bytes
) -> bytes:
    """A digest of all that the index has from a record's files, and of the code that read them.

    An audit need not describe a record again if its row has this digest, its files match its
    manifest, and its manifest is the one that was read.

    Args:
        plain: The title, its key, the seconds and the flags.
        facets: (field, value) of each value.
        text_digest: Of the texts.
    """
    values = [value for pair in facets for value in pair]
    joined = "\0".join([*map(str, plain), *values]).encode("utf-8", "replace")
    return hashlib.blake2b(joined + text_digest, digest_size=8, key=code_digest()).digest()


def digest_of_text(text: Sequence[str]) -> bytes:
    """A digest of the texts of a row."""
    joined = "\0".join(text).encode("utf-8", "replace")
    return hashlib.blake2b(joined, digest_size=12).digest()
