"""Compare the search structures of the index with its rows and texts.

`index_check` compares the texts, flags and facets of each record with its files. This
module checks the structures built from them: SQLite's own, the words of the full text,
the bitmaps of frequent words, and the tables that lists use to count and filter.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing

from pyroaring import BitMap

from recordsilo.index import words
from recordsilo.index.packing import Unpacker
from recordsilo.index.row_ids import of_bits
from recordsilo.index.schema import RECENT_TABLE, TEXT_COLUMNS, TOKENIZE

Fault = tuple[str, str]
"""(what was expected, what was found)."""

_COLUMNS = ", ".join(TEXT_COLUMNS)
_CHUNK = 1000
_STATED = "SELECT term, group_concat(doc) FROM recent_instance GROUP BY term"
_FOUND = """
    SELECT term, (SELECT group_concat(rowid) FROM recent
        WHERE recent MATCH '"' || replace(term, '"', '""') || '"') FROM recent_word"""
"""Word → ids of rows, both in the order of words: as split again, and as a search finds them."""
_SURPLUS = "SELECT count(*) FROM text_docsize WHERE id NOT IN (SELECT id FROM record)"


def damage_of(connection: sqlite3.Connection) -> str:
    """Damage that SQLite finds in the file's tables and indexes; ``""`` for none."""
    found = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
    return "" if found == "ok" else found


def search_faults(connection: sqlite3.Connection) -> Iterator[Fault]:
    """Differences between the search structures and the rows, in one snapshot.

    Cost: splits every text into words again, about 0.2 ms per record.
    """
    connection.execute("BEGIN")
    try:
        yield from _counts(connection)
        yield from _words(connection)
        yield from _bitmaps(connection)
    finally:
        connection.execute("ROLLBACK")


def _counts(connection: sqlite3.Connection) -> Iterator[Fault]:
    noted = connection.execute("SELECT value FROM about WHERE key = 'records'").fetchone()[0]
    counted = connection.execute("SELECT count(*) FROM record").fetchone()[0]
    if noted != counted:
        yield f"{counted} records", f"{noted}"
    if surplus := connection.execute(_SURPLUS).fetchone()[0]:
        yield "words of a record", f"{surplus} of none"


def _words(connection: sqlite3.Connection) -> Iterator[Fault]:
    """Compare the words of the full text, with counts and positions, with the texts.

    Sums are compared, so that memory does not grow with the texts.
    """
    connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, text, col)")
    try:
        found = _sum_of(connection)
    finally:
        connection.execute("DROP TABLE temp.vocabulary")
    stated = 0
    texts = connection.execute("SELECT packed, title, identifier FROM record ORDER BY id")
    read = Unpacker(connection).texts
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
        memory.execute(
            f"CREATE VIRTUAL TABLE text USING fts5 ({_COLUMNS}, {TOKENIZE}, content = '')"
        )
        memory.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(text, col)")
        marks = ", ".join("?" * len(TEXT_COLUMNS))
        while chunk := texts.fetchmany(_CHUNK):
            memory.executemany(
                f"INSERT INTO text ({_COLUMNS}) VALUES ({marks})",  # noqa: S608 - constants
                [read(*one) for one in chunk],
            )
            stated += _sum_of(memory)
            memory.execute("INSERT INTO text (text) VALUES ('delete-all')")
    if found != stated % _MODULUS:
        yield "the words of the texts", "other words"


_MODULUS = 1 << 128


def _sum_of(connection: sqlite3.Connection) -> int:
    """A sum over (word, column, times), independent of order and grouping."""
    rows: Iterable[tuple[str, str, int, int]] = connection.execute(
        "SELECT term, col, doc, cnt FROM vocabulary"
    )
    numbers = (_number_of(term, col) * (doc + (cnt << 32)) for term, col, doc, cnt in rows)
    total: int = sum(numbers)
    return total % _MODULUS


def _number_of(term: str, column: str) -> int:
    digest = hashlib.blake2b(f"{column}\0{term}".encode(), digest_size=16).digest()
    return int.from_bytes(digest, "little")


def _bitmaps(connection: sqlite3.Connection) -> Iterator[Fault]:
    """Compare each bitmap, and the words of the last block, with the texts of the records."""
    blocks = connection.execute("SELECT value FROM about WHERE key = 'blocks'").fetchone()[0]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
        memory.execute(RECENT_TABLE)
        for block in range(blocks + 1):
            there = _read_block(connection, memory, block)
            if block == blocks:
                yield from _recent(connection, memory, there)
                return
            for (expression,) in connection.execute("SELECT expression FROM frequent").fetchall():
                stated = words.read_ids(memory, expression, table="recent")
                plain = words.read_bits(connection, expression, [block]).get(block)
                if plain is None:
                    continue
                found = of_bits(plain).shift(block * words.BLOCK)
                if len(plain) * 8 != words.BLOCK or found & there != stated:
                    yield f"a bitmap of the records with {expression}", "that of others"


def _read_block(connection: sqlite3.Connection, memory: sqlite3.Connection, block: int) -> BitMap:
    """Split the texts of a block into words again; return the row ids of its records."""
    memory.execute("INSERT INTO recent (recent) VALUES ('delete-all')")
    texts = words.texts_of_rows(connection, block * words.BLOCK, (block + 1) * words.BLOCK)
    memory.executemany("INSERT INTO recent (rowid, words) VALUES (?, ?)", texts)
    return BitMap([number for number, _ in texts])


def _recent(
    connection: sqlite3.Connection, memory: sqlite3.Connection, there: BitMap
) -> Iterator[Fault]:
    """Compare the words of the last block, which still has those of deleted records."""
    memory.execute("CREATE VIRTUAL TABLE recent_instance USING fts5vocab(recent, instance)")
    for word in _that_differ(memory.execute(_STATED), connection.execute(_FOUND)):
        expression = words.expression_of(word, prefix=False)
        stated = words.read_ids(memory, expression, table="recent")
        found = words.read_ids(connection, expression, table="recent")
        if found & there != stated:
            yield f"recent records with {expression}", "others"
            return


def _that_differ(
    stated: Iterator[tuple[str, str]], found: Iterator[tuple[str, str]]
) -> Iterator[str]:
    """The words that are not in both with the same rows."""
    one, other = next(stated, None), next(found, None)
    while one or other:
        if one == other:
            one, other = next(stated, None), next(found, None)
            continue
        word = min(pair[0] for pair in (one, other) if pair)
        yield word
        if one and one[0] == word:
            one = next(stated, None)
        if other and other[0] == word:
            other = next(found, None)
