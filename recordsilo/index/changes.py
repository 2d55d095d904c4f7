"""What changed in the index since a mark, for other programs that keep a copy of it.

A mark names the file of the index, and the numbers of its last change and of the last change of
contributed values. Row ids are never used again in one file, and a deleted one is noted in
``gone``, so a copy by row id is brought in step by what was deleted and what was written since.
If the file is another one, or old notes of deletions were forgotten, everything is given out again.
"""

import json
import os
import re
import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recordsilo.index.beside import IDENTITY, Database
from recordsilo.index.columns import MERGE_AT
from recordsilo.index.packing import WRONG, Unpacker, damaged, numbers_in
from recordsilo.index.projection import Entry, Row, Text
from recordsilo.index.query import COLUMNS, rows_of

_NUMBERS = "SELECT value FROM about WHERE key IN ('beside', 'change') ORDER BY key DESC"
_ROWS = (
    "SELECT record.change, record.id, "  # noqa: S608 - constants
    f"{COLUMNS}, changed, "
    "flags, packed, facets, facets_large FROM "
)
_WRITTEN = (
    f"{_ROWS} record WHERE (record.change, record.id) > (?, ?) AND record.change <= ? "
    "ORDER BY record.change, record.id LIMIT ?"
)
# CROSS JOIN keeps the order of the tables; SQLite would read every row, or every value
_CONTRIBUTED = (
    f"{_ROWS} beside_change CROSS JOIN record ON record.id = beside_change.id "
    "WHERE beside_change.id > ? AND beside_change.change > ? AND record.change <= ? "
    "ORDER BY beside_change.id LIMIT ?"
)
_BESIDE = (
    "SELECT beside.id, beside.value FROM beside_facet "
    "CROSS JOIN beside ON beside.facet = beside_facet.facet "
    "WHERE stamp <> '' AND beside.id IN (SELECT value FROM json_each(?)) ORDER BY 1, 2"
)
_CHUNK = 1000
_KEPT_VALUES = 300_000


@dataclass(slots=True)
class Changes:
    """What changed since a mark.

    Attributes:
        mark: For the next time, after these changes have been taken over.
        is_whole: Whether all records are given out; forget those of before.
        gone: Numbers of records that were deleted since; none if `is_whole`.
    """

    mark: str
    is_whole: bool
    gone: tuple[int, ...]
    identity: int = 0
    since: tuple[int, int] = (-1, -1)
    newest: int = 0
    at: tuple[int, int] = (-1, 0)
    after: int = 0
    values: dict[int, tuple[str, str]] = field(default_factory=dict)


def changes_since(index: Database, mark: str) -> Changes:
    """What changed since a mark that this gave out; everything for any other text.

    Args:
        mark: `Changes.mark`, or ``""``.
    """
    with index.asking() as connection:
        named = connection.execute(IDENTITY).fetchone() is not None
    if not named:
        with index.changing() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO about VALUES ('identity', ?)", (secrets.randbits(62),)
            )
    with index.asking() as connection:
        identity = int(connection.execute(IDENTITY).fetchone()[0])
        newest, beside = (int(number) for (number,) in connection.execute(_NUMBERS))
        # the inode differs if an older copy of the file was put back
        inode = os.stat(index.path).st_ino if os.path.exists(index.path) else 0
        own = f"{identity}.{inode}"
        found = re.fullmatch(re.escape(own) + r"\.(\d+)\.(\d+)", mark, re.ASCII)
        since = (int(found[1]), int(found[2])) if found else (-1, -1)
        is_known = -1 < since[0] <= newest and since[1] <= beside
        gone = _gone(connection, since[0]) if is_known else None
    at = (-1, 0) if gone is None else (since[0], 1 << 62)
    return Changes(
        f"{own}.{newest}.{beside}", gone is None, gone or (), identity, since, newest, at
    )


def _gone(connection: sqlite3.Connection, since: int) -> tuple[int, ...] | None:
    """The row ids deleted after a change; None if notes of some may have been forgotten."""
    notes, oldest = connection.execute("SELECT count(*), min(change) FROM gone").fetchone()
    if notes > MERGE_AT and since + 1 < oldest:
        return None
    found = connection.execute("SELECT id FROM gone WHERE change > ?", (since,))
    return tuple(number for (number,) in found)


def next_entries(index: Database, changes: Changes) -> Sequence[tuple[int, Entry]]:
    """The next written records, each with its number and all values; empty at the end.

    A record that changes meanwhile may be missing; it is among the next changes then.

    Args:
        changes: From `changes_since`; remembers how far it was read.

    Raises:
        LookupError: The index was rebuilt meanwhile; begin again.
    """
    with index.asking() as connection:
        named = connection.execute(IDENTITY).fetchone()
        if named is None or int(named[0]) != changes.identity:
            raise LookupError("the index was rebuilt meanwhile")
        rows = connection.execute(_WRITTEN, (*changes.at, changes.newest, _CHUNK)).fetchall()
        if rows:
            changes.at = rows[-1][0], rows[-1][1]
        elif not changes.is_whole:  # then those whose contributed values alone have changed
            written, beside = changes.since
            page = (changes.after, beside, written, _CHUNK)
            rows = connection.execute(_CONTRIBUTED, page).fetchall()
            changes.after = rows[-1][1] if rows else changes.after
        try:
            codes = {row[1]: numbers_in(row[-2] + row[-1]) for row in rows}
        except WRONG as error:
            raise damaged(error) from error
        for number, code in connection.execute(_BESIDE, (json.dumps([*codes]),)):
            codes[number].append(code)
        _look_up(connection, changes.values, {code for some in codes.values() for code in some})
        shown = rows_of(connection, [row[2:13] for row in rows])
        read = Unpacker(connection).texts
        texts = [Text(*read(row[-3], row[4], row[2])) for row in rows]
    return [
        (row[1], _entry(one, text, row[12:15], _facets(codes[row[1]], changes.values)))
        for row, one, text in zip(rows, shown, texts, strict=True)
    ]


def _look_up(
    connection: sqlite3.Connection, known: dict[int, tuple[str, str]], codes: set[int]
) -> None:
    """Learn which field and value some numbers stand for."""
    if len(known) > _KEPT_VALUES:
        known.clear()
    found = connection.execute(
        "SELECT id, field, value FROM facet_value WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(codes - known.keys())),),
    )
    known.update({number: (name, value) for number, name, value in found})


def _facets(
    codes: Iterable[int], values: Mapping[int, tuple[str, str]]
) -> dict[str, tuple[str, ...]]:
    facets: dict[str, tuple[str, ...]] = {}
    for name, value in (values[code] for code in dict.fromkeys(codes) if code in values):
        facets[name] = (*facets.get(name, ()), value)
    return facets


def _entry(
    shown: Row, text: Text, plain: Sequence[int], facets: dict[str, tuple[str, ...]]
) -> Entry:
    """An entry of its parts; ``plain`` are the seconds, when it was changed, and the flags."""
    seconds, changed, flags = plain
    if shown.deleted and not shown.curated:
        facets.pop("finding", None)  # as in a search of the Silo
    return Entry(shown, text, seconds, facets, has_file=bool(flags >> 3 & 1), changed=changed)
