"""What one may be typing: titles, people and subjects that begin so.

The first few of each are enough: titles are found by the order of their keys, values of
facets by their texts, and records that have the words by the full text. A beginning that very many
records have is not looked up there, because FTS5 reads all of them.
"""

import re
import sqlite3
from collections.abc import Iterator
from itertools import islice
from typing import Literal

from pyroaring import BitMap

from recordsilo.index.columns import Columns
from recordsilo.index.rows import title_key
from recordsilo.index.schema import LONGEST_PREFIX
from recordsilo.index.search_values import Suggestion
from recordsilo.index.titles import titles_between
from recordsilo.index.words import Tokenizer, expression_of
from recordsilo.records.description import storable

LONGEST = 100
"""Characters that are looked at."""
_READ = 60
"""Values and records from which the most frequent are chosen."""
_COLUMNS = {"creator": "creators", "subject": "subjects"}
_LAST = "\U0010ffff"


def suggested(
    connection: sqlite3.Connection, columns: Columns, typed: str, each: int
) -> list[Suggestion]:
    """What begins as typed, or has words that begin so; values with most records first.

    Args:
        connection: A connection with an open snapshot of the index.
        columns: The facet columns, in step with that snapshot, with the large fields.
        typed: The beginning; fewer than two characters suggest nothing.
        each: The largest number of each kind.
    """
    typed = storable(typed.strip()[:LONGEST])
    if len(typed) < 2:
        return []
    words = _expression(connection, typed)
    found = _titles(connection, columns, typed, words, each)
    kinds: tuple[Literal["creator", "subject"], ...] = ("creator", "subject")
    for kind in kinds:
        found += _values(connection, columns, kind, typed, words)[:each]
    return found


def _expression(connection: sqlite3.Connection, typed: str) -> str:
    """The FTS5 expression for the words, the last of which may be a beginning; or ``""``."""
    with Tokenizer() as tokenizer:
        words = [word for one in re.findall(r"\w+", typed) if (word := tokenizer.only_word(one))]
    if words and len(words[-1]) < LONGEST_PREFIX:
        return " AND ".join(expression_of(word, prefix=False) for word in words[:-1])
    if not words:
        return ""
    frequent = [expression_of(words[-1], prefix=False)]
    if len(words[-1]) <= LONGEST_PREFIX + 1:
        frequent.append(expression_of(words[-1][:LONGEST_PREFIX], prefix=True))
    marks = ",".join("?" * len(frequent))
    sql = f"SELECT 1 FROM frequent WHERE expression IN ({marks}) LIMIT 1"  # noqa: S608 - marks
    if connection.execute(sql, frequent).fetchone() is not None:
        return ""
    parts = [expression_of(word, prefix=False) for word in words[:-1]]
    return " AND ".join([*parts, expression_of(words[-1], prefix=True)])


def _rows(connection: sqlite3.Connection, column: str, words: str, limit: int) -> list[int]:
    """The first records that have the words in a column of the full text."""
    if not words:
        return []
    sql = "SELECT rowid FROM text WHERE text MATCH ? LIMIT ?"
    return [number for (number,) in connection.execute(sql, (f"{column} : ({words})", limit))]


def _titles(
    connection: sqlite3.Connection, columns: Columns, typed: str, words: str, each: int
) -> list[Suggestion]:
    key = title_key(typed)
    first = titles_between(connection, columns, key, key + _LAST) if key else iter(())
    rows = [(one.title, one.identifier) for one in islice(first, each)]
    if len(rows) < each:
        numbers = _rows(connection, "title", words, 2 * each)
        marks = ",".join("?" * len(numbers))
        sql = f"SELECT title, identifier FROM record WHERE id IN ({marks})"  # noqa: S608 - marks
        rows += connection.execute(sql, numbers).fetchall()
    unique = {identifier: title for title, identifier in rows if title}
    return [Suggestion("title", title, one, 1) for one, title in [*unique.items()][:each]]


def _values(
    connection: sqlite3.Connection,
    columns: Columns,
    kind: Literal["creator", "subject"],
    typed: str,
    words: str,
) -> list[Suggestion]:
    numbers = set(_beginning(connection, kind, typed))
    wanted = [" " + word for word in title_key(typed).split()]
    rows = BitMap(_rows(connection, _COLUMNS[kind], words, _READ))
    for number in columns.collected(rows & columns.alive):
        if columns.values.fields[number] == kind:
            text = " " + title_key(columns.values.texts[number])
            if all(word in text for word in wanted):
                numbers.add(number)
    counted = [(-len(columns.of(kind, number)), columns.values.texts[number]) for number in numbers]
    return [Suggestion(kind, text, "", -count) for count, text in sorted(counted) if count]


def _beginning(connection: sqlite3.Connection, kind: str, typed: str) -> Iterator[int]:
    """The numbers of values that begin as typed, in the usual spellings of their case."""
    for text in dict.fromkeys((typed, typed.lower(), typed[0].upper() + typed[1:], typed.title())):
        rows = connection.execute(
            "SELECT id FROM facet_value WHERE field = ? AND value >= ? AND value < ? LIMIT ?",
            (kind, text, text + _LAST, _READ),
        )
        yield from (number for (number,) in rows)
