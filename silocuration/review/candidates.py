"""Which works are compared with each other: those whose titles have a part in common.

Each title has some keys: all its words, its first and its second half (so that a misspelling
leaves one of them), its beginning without the subtitle; a DOI is a key, too. Works with a key
in common make a block. Keys are kept in a temporary database on the disk, so memory holds the
words of the titles only.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from recordsilo.index.query import Titled
from silocuration.review.same_work import (
    PARALLEL,
    TOLD_APART,
    Frequency,
    head_of,
    is_generic,
    words_of,
)

LARGEST = 40
"""Works in a block that are all compared with each other."""
LARGEST_BY_HALF = 20
"""The same, of works that have half of their titles in common."""
_SHORTEST = 8
"""Bytes of UTF-8 in a title, or in half of one, that says enough."""
_BY_TITLE, _BY_HALF = 0, 1


def keys_of(title: str, doi: str = "") -> Iterator[tuple[int, str]]:
    """What makes a work a candidate: how far it tells, and the key."""
    if doi:
        yield _BY_TITLE, f"doi:{doi.casefold()}"
    words = words_of(title)
    if is_generic(title) or not _says_enough(words):
        return
    yield _BY_TITLE, " ".join(sorted(words))
    parts = [head_of(title), *(PARALLEL.split(title) if PARALLEL.search(title) else ())]
    for part in filter(None, parts):
        if _says_enough(found := words_of(part)) and not is_generic(part):
            yield _BY_TITLE, " ".join(sorted(found))
    half = len(words) // 2
    halves = (("<", words[:half]), (">", words[len(words) - half :]))
    for side, some in halves:
        if len(some) > 1 and _says_enough(some):
            numbers = sorted(word for word in words if TOLD_APART.search(word))
            yield _BY_HALF, " ".join((side, *some, *numbers))


def _says_enough(words: Sequence[str]) -> bool:
    return len("".join(words).encode("utf-8", "surrogatepass")) >= _SHORTEST


class Candidates:
    """Works, by the keys of their titles; closed after use."""

    def __init__(self) -> None:
        self._known = sqlite3.connect("", isolation_level=None)  # on the disk, and gone when closed
        self._known.execute("PRAGMA journal_mode = OFF")
        self._known.execute("CREATE TABLE work (number INTEGER PRIMARY KEY, identifier, title)")
        self._known.execute("CREATE TABLE key (hash INTEGER, how INTEGER, number INTEGER)")
        self._words: Counter[str] = Counter()

    def close(self) -> None:
        """Delete the database."""
        self._known.close()

    def add(self, works: Iterable[Titled]) -> None:
        """Add works; those added last need not be near those added before."""
        some = list(works)
        for one in some:
            self._words.update({*words_of(one.title)})
        keys = (
            (hash(key), how, one.number)
            for one in some
            for how, key in dict.fromkeys(keys_of(one.title, one.doi))
        )
        self._known.execute("BEGIN")
        self._known.executemany("INSERT INTO work VALUES (?, ?, ?)", (one[:3] for one in some))
        self._known.executemany("INSERT INTO key VALUES (?, ?, ?)", keys)
        self._known.execute("COMMIT")

    @property
    def frequency(self) -> Frequency:
        """In how many titles a word is."""
        return self._words.__getitem__

    def blocks(self) -> Iterator[list[int]]:
        """Yield the numbers of works that have a key in common, at least two.

        Blocks by half of a title are left out if they are large: they tell nothing.
        """
        found = self._known.execute(
            "SELECT group_concat(number) FROM key GROUP BY hash "
            "HAVING count(*) > 1 AND (count(*) <= ? OR max(how) = ?)",
            (LARGEST_BY_HALF, _BY_TITLE),
        )
        for (numbers,) in found:
            yield [*dict.fromkeys(map(int, numbers.split(",")))]

    def named(self, numbers: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Number → identifier and title."""
        return {
            number: found
            for number in numbers
            for found in self._known.execute(
                "SELECT identifier, title FROM work WHERE number = ?", (number,)
            )
        }
