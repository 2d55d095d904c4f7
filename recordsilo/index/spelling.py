"""Spell the words of a query as the index has them, if it does not have them as they are typed.

The table ``word`` has the words of the full blocks with their numbers of records, ``recent_word``
those of the last one. What is one letter away from a word is written out, about 50 times its
length, and looked up; so the cost does not depend on the number of records.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator

from recordsilo.index.typed_filters import split, typed
from recordsilo.index.words import Tokenizer, expression_of, is_spelled

MOST = 4
"""Words of a query that are looked up."""
_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "αβγδεζηθικλμνξοπρστυφχψως",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
)
_WORD = re.compile(r"(?<![\w*-])\w+(?![\w*:])")
_OPERATORS = {"AND", "OR", "NOT"}


def near(word: str) -> set[str]:
    """What is one letter away: one more, one less, another one, or two neighbours swapped."""
    letters = {letter for one in _ALPHABETS if set(one) & set(word) for letter in one} | set(word)
    halves = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = {left + right[1:] for left, right in halves if right}
    found |= {left + right[1] + right[0] + right[2:] for left, right in halves if len(right) > 1}
    found |= {left + one + right[1:] for left, right in halves if right for one in letters}
    found |= {left + one + right for left, right in halves for one in letters}
    return found - {word}


def best_of(word: str, known: Counter[str]) -> str:
    """The spelling that most records have, first of those with the same first letter; or ``""``."""
    ranked = sorted(known, key=lambda one: (one[0] != word[0], -known[one], one))
    return ranked[0] if ranked else ""


def respelled(connection: sqlite3.Connection, query: str) -> str:
    """A query with its unknown words spelled as in the index.

    Args:
        connection: A connection with an open snapshot of the index.
        query: As typed.

    Returns:
        ``""`` if it has no unknown word, or one that no word of the index is near.
    """
    words, filters = split(query)
    changed: dict[str, str] = {}
    with Tokenizer() as tokenizer:
        for typed_word in _words(words):
            word = tokenizer.only_word(typed_word)
            if word is None or not is_spelled(word) or _is_known(connection, word):
                continue
            best = best_of(word, _known_near(connection, word)) if len(changed) < MOST else ""
            if not best:
                return ""
            changed[typed_word] = best
    if not changed:
        return ""
    said = _WORD.sub(lambda match: changed.get(match[0], match[0]), words)
    return " ".join([said, *typed(filters)]).strip()


def _words(query: str) -> Iterator[str]:
    yield from dict.fromkeys(one for one in _WORD.findall(query) if one not in _OPERATORS)


def _is_known(connection: sqlite3.Connection, word: str) -> bool:
    sql = "SELECT 1 FROM text WHERE text MATCH ? LIMIT 1"
    return connection.execute(sql, (expression_of(word, prefix=False),)).fetchone() is not None


def _known_near(connection: sqlite3.Connection, word: str) -> Counter[str]:
    """The words of the index that are near, with their numbers of records."""
    candidates = sorted(near(word))
    marks = ",".join("?" * len(candidates))
    sql = f"SELECT term, records FROM word WHERE term IN ({marks})"  # noqa: S608 - marks
    found = Counter(dict(connection.execute(sql, candidates).fetchall()))
    for first in {word[0], word[1]}:  # others are rare, and all words would be read
        rows = connection.execute(
            "SELECT term, doc FROM recent_word WHERE term >= ? AND term < ?",
            (first, chr(ord(first) + 1)),
        )
        wanted = set(candidates)
        for term, count in rows:
            if term in wanted:
                found[term] += count
    return found
