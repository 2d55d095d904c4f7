"""The journal, book or conference that an item is a part of, from its metadata (pure).

Source: COUNTER Code of Practice 5.1, tables 3.j and 3.q.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from usagestats.reports.definitions import PARENT_DATA_TYPES

_ADDRESS = re.compile(r"[a-z][\w.+-]*:\S+", re.ASCII | re.IGNORECASE)
_PART = re.compile(
    r"\s*(?:;"
    r"|[,.(\[]?\s*\b(?:(?:(?:print|online|electronic)\s)?[ep]?-?issn|isbn|vol|volume|issue|no|nr|bd|band|jg|pp?|pages)\b"
    r"[\s.:]*(?=[\d(])"
    r"|[,(\[]\s*\d"
    r"|\s\d+\s*[(,]).*",
    re.IGNORECASE | re.DOTALL,
)
"""What follows the title in a source: the volume, the pages, a year, an ISSN."""
_WORD = re.compile(r"[^\W\d_]{2}")
_ISBN = re.compile(r"97[89]-\d+-\d+-\d+-\d(?!\d)", re.ASCII)
_LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class ParentItem:
    """What an item is a part of; texts that are unknown are empty."""

    title: str
    data_type: str
    issn: str = ""
    isbn: str = ""

    @property
    def identity(self) -> tuple[str, str]:
        """Equal for equal parents: an ISSN has one title, however its items spell it."""
        return self.data_type, self.issn or self.isbn or self.title


def parent_of(data_type: str, sources: Iterable[str], issn: str = "") -> ParentItem | None:
    """Return the parent of an item; None if nothing is known of one.

    Args:
        data_type: Of the item; only some types have a parent.
        sources: The item's values of ``dc:source``.
        issn: Of the item, which is the one of the serial that it is in.
    """
    if (of_parent := PARENT_DATA_TYPES.get(data_type)) is None:
        return None
    texts = [text[:_LONGEST] for text in sources]
    title = next(filter(None, map(title_of, texts)), "")
    found = next(filter(None, map(_ISBN.search, texts)), None)
    isbn = found[0] if found and len(found[0]) == 17 and of_parent == "Book" else ""
    return ParentItem(title, of_parent, issn, isbn) if title or issn or isbn else None


def title_of(source: str) -> str:
    """Return the title that a source begins with, without volume, pages, year and ISSN."""
    text = " ".join(source.split()).removeprefix("In: ").removeprefix("in: ")
    if _ADDRESS.fullmatch(text):
        return ""
    title = _PART.sub("", text).strip(" ,.:")
    return title if _WORD.search(title) else ""


def titles_of(parents: Iterable[ParentItem]) -> dict[tuple[str, str], str]:
    """Return one title for each parent: of those that items give, the first in the alphabet.

    Titles in capitals come last.
    """
    found: dict[tuple[str, str], str] = {}
    for one in parents:
        known = found.get(one.identity, "")
        given = filter(None, (known, one.title))
        found[one.identity] = min(given, key=lambda text: (text.isupper(), text), default="")
    return found
