"""Find the row ids of words: by FTS5 for rare words, by bitmaps for very frequent ones.

Reading a million row ids from FTS5 takes 150 ms; reading a bitmap of them takes 1 ms. So
row ids are divided into *blocks*. Once a block is full, words and prefixes that many of its
records have get a bitmap each, and the table ``word`` counts all of its words; until then, the
table ``recent`` has the words of its records.
A bitmap never becomes wrong: row ids are not reused, a record whose text changes gets a new
one (`RowWriter`), and a deleted record is in no segment of the columns.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from pyroaring import BitMap

from recordsilo.index.packing import Unpacker, bits_in, pack_bits
from recordsilo.index.query_syntax import Term, TextQuery, is_unspaced
from recordsilo.index.row_ids import bits_of, of_bits, of_text
from recordsilo.index.schema import LONGEST_PREFIX, TOKENIZE

BLOCK = 32_768
"""Row ids per block; block ``n`` begins at ``n * BLOCK``."""
FREQUENT = 20
"""A word gets a bitmap if more than one record in this many of a block has it."""
SHORTEST, LONGEST = 4, 24
"""Letters of the words that a query may have meant; shorter ones have too many neighbours."""
FEW = 2
"""A word is in the table ``word`` if so many records of a block have it."""


# -- what is frequent ---------------------------------------------------------------------


def fill_blocks(connection: sqlite3.Connection) -> bool:
    """Make the bitmaps of the blocks that were filled since the last call.

    Called in the transaction that filled them. The cost per block is constant: it reads the
    table ``recent``, which has the words of the last block only.

    Returns:
        Whether there were any such blocks.
    """
    done, full = _blocks(connection), _highest(connection) // BLOCK
    if full == done:
        return False
    counted = connection.execute("SELECT term, doc FROM recent_word").fetchall()
    connection.executemany(
        "INSERT INTO word VALUES (?, ?) "
        "ON CONFLICT (term) DO UPDATE SET records = records + excluded.records",
        ((term, count) for term, count in counted if count >= FEW and is_spelled(term)),
    )
    for expression, ids in _sets(connection, counted):
        for block in range(done, full):
            first = block * BLOCK
            if ids.range_cardinality(first, first + BLOCK) * FREQUENT > BLOCK:
                write_bits(connection, expression, block, bits_of(ids, first, BLOCK))
    connection.execute("INSERT INTO recent (recent) VALUES ('delete-all')")
    connection.executemany(
        "INSERT INTO recent (rowid, words) VALUES (?, ?)", texts_of_rows(connection, full * BLOCK)
    )
    connection.execute("UPDATE about SET value = ? WHERE key = 'blocks'", (full,))
    return True


def texts_of_rows(
    connection: sqlite3.Connection, first: int, end: int = 1 << 62
) -> list[tuple[int, str]]:
    """The row ids of records, each with all of its texts as one.

    Args:
        first: The lowest row id.
        end: The row id at which to stop, exclusive.
    """
    read = Unpacker(connection).texts
    rows = connection.execute(
        "SELECT id, packed, title, identifier FROM record WHERE id >= ? AND id < ?", (first, end)
    )
    return [(number, " ".join(read(*one))) for number, *one in rows]


_PART = 500
"""Bytes of a bitmap in one row; SQLite fills its pages with small rows, not with large ones."""
_PARTS = 1 << 4
_EXPRESSIONS = 1 << 20
"""The largest numbers of parts and of frequent expressions, which are digits of a part's id.

The bits of a block, 4 kB, fit into nine parts even where they cannot be compressed."""


def write_bits(connection: sqlite3.Connection, expression: str, block: int, bits: bytes) -> None:
    """Write, or replace, the bits of a block for an expression."""
    number = _number(connection, expression)
    if number is None:
        sql = "INSERT INTO frequent (expression) VALUES (?) RETURNING id"
        number = int(connection.execute(sql, (expression,)).fetchone()[0])
    first = _first_part(number, block)
    packed = pack_bits(bits)
    assert len(packed) <= _PARTS * _PART, "a block has more bits than its parts hold"
    connection.execute("DELETE FROM bitmap WHERE id BETWEEN ? AND ?", (first, first + _PARTS - 1))
    connection.executemany(
        "INSERT INTO bitmap VALUES (?, ?)",
        ((first + at, packed[at * _PART : (at + 1) * _PART]) for at in range(_PARTS)
         if packed[at * _PART :]),
    )  # fmt: skip


def read_bits(
    connection: sqlite3.Connection, expression: str, blocks: Iterable[int]
) -> dict[int, bytes]:
    """Block → its bits for an expression; without those in which it is not frequent.

    Args:
        connection: To the index.
        expression: For a word or a prefix.
        blocks: The numbers of the blocks.

    Raises:
        sqlite3.DatabaseError: They are not as they were written.
    """
    number = _number(connection, expression)
    if number is None:
        return {}
    packed: dict[int, bytes] = {}
    firsts = [_first_part(number, block) for block in blocks]
    for first, part in connection.execute(_READ_PARTS, (json.dumps(firsts), _PARTS - 1)):
        block = first // (_EXPRESSIONS * _PARTS)
        packed[block] = packed.get(block, b"") + part
    return {block: bits_in(one) for block, one in packed.items()}


_READ_PARTS = (
    "SELECT one.value, part FROM json_each(?1) AS one "
    "CROSS JOIN bitmap ON bitmap.id BETWEEN one.value AND one.value + ?2 ORDER BY bitmap.id"
)


def _first_part(number: int, block: int) -> int:
    return (block * _EXPRESSIONS + number) * _PARTS


def _number(connection: sqlite3.Connection, expression: str) -> int | None:
    """The number of a frequent expression."""
    sql = "SELECT id FROM frequent WHERE expression = ?"
    found = connection.execute(sql, (expression,)).fetchone()
    return None if found is None else int(found[0])


def _blocks(connection: sqlite3.Connection) -> int:
    found = connection.execute("SELECT value FROM about WHERE key = 'blocks'").fetchone()
    return int(found[0])


def _highest(connection: sqlite3.Connection) -> int:
    """The highest row id ever used."""
    sql = "SELECT max(seq) FROM sqlite_sequence WHERE name = 'entry'"
    return int(connection.execute(sql).fetchone()[0] or 0)


def is_spelled(word: str) -> bool:
    """Whether a query may have meant a word of the index: letters of a script with spaces."""
    return SHORTEST <= len(word) <= LONGEST and word.isalpha() and not any(map(is_unspaced, word))


def _sets(
    connection: sqlite3.Connection, counted: Sequence[tuple[str, int]]
) -> Iterator[tuple[str, BitMap]]:
    """Expressions for the words and prefixes that may be frequent in the last block.

    Which record has which word is read once: of frequent words one by one, of the others for all
    neighbours that begin alike. What begins with a prefix is the union of them.

    Args:
        counted: Word → number of its records, in the order of words.

    Yields:
        The expression, and the row ids in the table ``recent`` that match it.
    """
    alike: Counter[str] = Counter()
    for term, count in counted:
        alike[term[:LONGEST_PREFIX]] += count
    records: Counter[str] = Counter()
    for text, count in alike.items():
        for beginning in _beginnings(text):
            records[beginning] += count
    begun = {text: BitMap() for text, count in records.items() if count * FREQUENT > BLOCK}
    for (beginning, is_frequent), some in groupby(counted, _kind):
        having = [begun[one] for one in _beginnings(beginning) if one in begun]
        terms = [term for term, _ in some]
        if is_frequent:
            for term in terms:
                ids = read_ids(connection, expression_of(term, prefix=False), table="recent")
                yield expression_of(term, prefix=False), ids
                _add(having, ids)
        elif having:
            (between,) = connection.execute(_BETWEEN, (terms[0], terms[-1])).fetchone()
            _add(having, of_text(between))
    for text, ids in begun.items():
        yield expression_of(text, prefix=True), ids


_BETWEEN = "SELECT group_concat(doc) FROM recent_instance WHERE term BETWEEN ? AND ?"


def _kind(counted: tuple[str, int]) -> tuple[str, bool]:
    """How a word begins, and whether it is frequent."""
    term, count = counted
    return term[:LONGEST_PREFIX], count * FREQUENT > BLOCK


def _beginnings(term: str) -> Iterable[str]:
    return [term[:length] for length in range(1, min(len(term), LONGEST_PREFIX) + 1)]


def _add(sets: Iterable[BitMap], ids: BitMap) -> None:
    for one in sets:
        one.update(ids)


class Tokenizer:
    """The index's tokenizer, to compare words as FTS5 does."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._connection.execute(
            f"CREATE VIRTUAL TABLE text USING fts5 (words, {TOKENIZE}, detail = none, content = '')"
        )
        self._connection.execute("CREATE VIRTUAL TABLE word USING fts5vocab (text, instance)")

    def __enter__(self) -> "Tokenizer":
        return self

    def __exit__(self, *_error: object) -> None:
        self._connection.close()

    def only_word(self, text: str) -> str | None:
        """The only word of a text; None if it has no word or several."""
        self._connection.execute("INSERT INTO text (rowid, words) VALUES (1, ?)", (text,))
        words = self._connection.execute("SELECT term FROM word").fetchall()
        self._connection.execute("INSERT INTO text (text) VALUES ('delete-all')")
        return words[0][0] if len(words) == 1 else None


def expression_of(word: str, *, prefix: bool) -> str:
    """The FTS5 expression for a word or a prefix."""
    return '"' + word.replace('"', '""') + '"' + ("*" if prefix else "")


# -- what matches -------------------------------------------------------------------------


class Words:
    """Finds the records that match one query, in one snapshot of the index."""

    def __init__(self, connection: sqlite3.Connection, query: TextQuery) -> None:
        self._connection = connection
        self._end = _blocks(connection) * BLOCK
        self._query = query
        self._bitmaps: dict[Term, BitMap] = {}
        if self._end and (query.groups or query.without):
            self._load_bitmaps([*(term for group in query.groups for term in group)])
            self._load_bitmaps(query.without)

    def wanted(self) -> BitMap | None:
        """The row ids that match, and some of deleted records; None if the query has no words."""
        return self._matching(self._query.groups) if self._query.groups else None

    def excluded(self) -> BitMap | None:
        """The row ids to exclude; None if the query excludes no words."""
        return self._matching((self._query.without,)) if self._query.without else None

    def ranking(self) -> str:
        """The expression that ranks the matching records.

        Words that more than half of the records have are omitted: they do not count for
        bm25, and reading all their records would take most of the time. So are frequent
        prefixes, because FTS5 would read the records of each of their words. What remains
        matches all wanted records, and more.
        """
        groups = [group for group in self._query.groups if not any(map(self._is_costly, group))]
        return TextQuery(tuple(groups), ()).wanted or self._query.wanted or ""

    def _is_costly(self, term: Term) -> bool:
        bitmap = self._bitmaps.get(term)
        if bitmap is None:
            return False
        return term.prefix or 2 * len(bitmap) > max(self._end, _highest(self._connection) + 1)

    # -- bitmaps ------------------------------------------------------------------------

    def _load_bitmaps(self, terms: Iterable[Term]) -> None:
        with Tokenizer() as tokenizer:
            for term in terms:
                word = None if term.field else tokenizer.only_word(term.text)
                if word is None or term in self._bitmaps:
                    continue
                bitmap = self._bitmap(expression_of(word, prefix=term.prefix))
                if bitmap is not None:
                    self._bitmaps[term] = bitmap

    def _bitmap(self, expression: str) -> BitMap | None:
        """All its records; None if the word is frequent in less than half of the blocks."""
        blocks = self._end // BLOCK
        found = read_bits(self._connection, expression, range(blocks))
        if len(found) * 2 < blocks:
            return None
        none = bytes(BLOCK // 8)
        ids = of_bits(b"".join(found.get(block, none) for block in range(blocks)))
        missing = [block for block in range(blocks) if block not in found]
        runs = list(_runs(missing))
        if expression.endswith("*"):  # FTS5 reads all records of a prefix, whatever the range
            runs = [(missing[0], missing[-1])] if missing else []
        for first, last in runs:
            ids |= read_ids(self._connection, expression, first * BLOCK, (last + 1) * BLOCK)
        ids |= read_ids(self._connection, expression, self._end, table="recent")
        return ids

    # -- row ids ------------------------------------------------------------------------

    def _matching(self, groups: tuple[tuple[Term, ...], ...]) -> BitMap:
        frequent = [g for g in groups if any(term in self._bitmaps for term in g)]
        rare = tuple(g for g in groups if g not in frequent)
        found = [self._asked(TextQuery(rare, ()).wanted or "")] if rare else []
        found += (BitMap.union(*map(self._of_term, group)) for group in frequent)
        return BitMap.intersection(*found)

    def _of_term(self, term: Term) -> BitMap:
        bitmap = self._bitmaps.get(term)
        return self._asked(term.expression) if bitmap is None else bitmap

    def _asked(self, expression: str) -> BitMap:
        return read_ids(self._connection, expression)


def read_ids(
    connection: sqlite3.Connection,
    expression: str,
    first: int = 0,
    end: int = 1 << 62,
    *,
    table: str = "text",
) -> BitMap:
    """The row ids that match an FTS5 expression.

    Args:
        connection: To the index.
        expression: In the query syntax of FTS5.
        first: The lowest row id to return.
        end: The row id at which to stop, exclusive.
        table: The full-text table to query: ``text``, or ``recent`` for the last block.
    """
    return of_text(
        connection.execute(
            f"SELECT group_concat(rowid) FROM {table} "  # noqa: S608 - a constant
            f"WHERE {table} MATCH ? AND rowid >= ? AND rowid < ?",
            (expression, first, end),
        ).fetchone()[0]
    )


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """(first, last) of each run of consecutive ascending numbers."""
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        yield members[0], members[-1]
