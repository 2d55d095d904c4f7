"""Documents as they were given: the next harvester costs no file, no manifest and no parse.

They are in the file with the items, in the order of the first list. One counts as long as its item
has the seal and the version that it was made of, and is forgotten with them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from sqlite3 import Connection

from siloprovider.item_table import Joined
from siloprovider.reading import Document
from silowork.ledger_file import LedgerFile

TABLE = "document"
SCHEMA = f"""
    CREATE TABLE IF NOT EXISTS {TABLE} (
        number INTEGER PRIMARY KEY,       -- in the order in which they were given first
        identifier TEXT NOT NULL,
        prefix TEXT NOT NULL,
        version TEXT NOT NULL,
        revision INTEGER NOT NULL,
        way INTEGER NOT NULL,             -- RecordReader.way
        metadata BLOB NOT NULL,
        about BLOB NOT NULL,              -- the containers, each after its length
        UNIQUE (identifier, prefix)
    )"""
LARGEST = 64 << 10
"""Bytes of a document that is kept: reading a larger one again costs little beside sending it."""
_LENGTH = 4
_JOIN = (
    f"LEFT JOIN {TABLE} AS kept ON kept.identifier = item.identifier AND kept.prefix = ?"
    " AND kept.version = item.version AND kept.revision = item.revision AND kept.way = ?"
)
Key = tuple[str, int, int]
"""The version and the seal (`unread.sealed`) of a record, and how its document was made."""


class KeptDocuments:
    """The documents of one file. Any thread may use it.

    Args:
        file: With the table.
        is_kept: Whether anything is kept; not in memory.
    """

    def __init__(self, file: LedgerFile, *, is_kept: bool) -> None:
        self._file, self._is_kept = file, is_kept

    def of(self, identifiers: Sequence[str], prefix: str) -> Mapping[str, tuple[Key, Document]]:
        """What is kept of some records in a format."""
        if not self._is_kept or not identifiers:
            return {}
        sql = (
            "SELECT identifier, version, revision, way, metadata, about FROM json_each(?)"
            " CROSS JOIN document ON identifier = json_each.value AND prefix = ?"
        )
        found = self._file.rows(sql, (json.dumps(identifiers), prefix))
        return {row[0]: (row[1:4], Document(row[4], parts_of(row[5]))) for row in found}

    @staticmethod
    def beside(prefix: str, way: int) -> Joined:
        """What is kept in a format of items, as long as it counts, and not made in another way."""
        return Joined(_JOIN, (prefix, way), ("kept.metadata", "kept.about"))

    def keep(self, prefix: str, found: Iterable[tuple[str, Key, Document]]) -> None:
        """Keep what was read, in the order given; on a full disk nothing is kept."""
        rows = [
            (identifier, prefix, *key, one.metadata, joined(one.about))
            for identifier, key, one in found
            if len(one.metadata) + sum(map(len, one.about)) <= LARGEST
        ]
        if self._is_kept and rows:
            with suppress(OSError), self._file.transaction() as connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO document"
                    " (identifier, prefix, version, revision, way, metadata, about)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    rows,
                )


def forget(connection: Connection, identifier: str) -> None:
    """Forget what was kept of a record."""
    connection.execute("DELETE FROM document WHERE identifier = ?", (identifier,))


def joined(parts: Iterable[bytes]) -> bytes:
    """Parts, each after its length."""
    return b"".join(len(one).to_bytes(_LENGTH, "big") + one for one in parts)


def parts_of(content: bytes) -> tuple[bytes, ...]:
    """What `joined` joined."""
    if content and _LENGTH + int.from_bytes(content[:_LENGTH], "big") == len(content):
        return (content[_LENGTH:],)  # as nearly all are
    parts, at = [], 0
    while at < len(content):
        end = at + _LENGTH + int.from_bytes(content[at : at + _LENGTH], "big")
        parts.append(content[at + _LENGTH : end])
        at = end
    return tuple(parts)
