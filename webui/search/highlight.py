"""Mark in titles and abstracts the words that a search found. Pure."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from recordsilo.index.query_syntax import Term, is_unspaced, parse_query

AROUND = 90
"""Characters of an abstract before and behind the first word that was found."""
_WORD = re.compile(r"\w+")
Piece = tuple[str, bool]
"""A part of a text, and whether it was found."""


@dataclass(frozen=True, slots=True)
class FoundWords:
    """The words of a query, to be marked in records.

    Attributes:
        terms: What records have to match.
        abstracts: Record → its abstract.
    """

    terms: tuple[Term, ...]
    abstracts: Mapping[str, str]

    @classmethod
    def of(cls, query: str, abstracts: Mapping[str, str]) -> "FoundWords":
        """The words of a query as typed; those to be excluded are not marked."""
        groups = parse_query(query).groups
        return cls(tuple(term for group in groups for term in group), abstracts)

    def title(self, text: str) -> list[Piece]:
        """A title in parts."""
        return _pieces(text, _ranges(text, self._within("title")))

    def snippet(self, identifier: str, title: str = "") -> list[Piece]:
        """The part of a record's abstract that has the first word.

        Returns:
            Nothing if the abstract has none, or the title has one already.
        """
        if _ranges(title, self._within("title")):
            return []
        text = self.abstracts.get(identifier, "")
        ranges = _ranges(text, self._within("abstract"))
        if not ranges:
            return []
        first = max(0, ranges[0][0] - AROUND)
        first = text.find(" ", first, ranges[0][0]) + 1 if first else 0
        last = min(len(text), ranges[0][1] + AROUND)
        last = max(text.rfind(" ", ranges[0][1], last), ranges[0][1]) if last < len(text) else last
        shown = [(start - first, end - first) for start, end in ranges if end <= last]
        before, behind = "… " if first else "", " …" if last < len(text) else ""
        pieces = _pieces(text[first:last], shown)
        return [*([(before, False)] if before else []), *pieces, (behind, False)]

    def _within(self, field: str) -> list[Term]:
        return [term for term in self.terms if term.field in ("", field)]


def _ranges(text: str, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Where the terms are, in order, without overlaps."""
    tokens = list(_tokens(text))
    wanted = [([word for _, _, word in _tokens(term.text)], term.prefix) for term in terms]
    found: list[tuple[int, int]] = []
    for place in range(len(tokens)):
        sizes = [len(w) for w, prefix in wanted if w and _is_at(tokens, place, w, prefix=prefix)]
        if sizes:
            start, end = tokens[place][0], tokens[place + max(sizes) - 1][1]
            if found and start < found[-1][1]:
                found[-1] = (found[-1][0], max(end, found[-1][1]))
            else:
                found.append((start, end))
    return found


def _is_at(
    tokens: Sequence[tuple[int, int, str]], place: int, words: Sequence[str], *, prefix: bool
) -> bool:
    """Whether the tokens from a place on are these words."""
    there = [word for _, _, word in tokens[place : place + len(words)]]
    if prefix and len(there) == len(words) and there[-1].startswith(words[-1]):
        there[-1] = words[-1]
    return there == list(words)


def _tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """The words of a text as the index has them, each with its beginning and its end."""
    for match in _WORD.finditer(text):
        start = match.start()
        for place, letter in enumerate(match[0], match.start()):
            if is_unspaced(letter):
                if start < place:
                    yield start, place, _folded(text[start:place])
                yield place, place + 1, letter
                start = place + 1
        if start < match.end():
            yield start, match.end(), _folded(text[start : match.end()])


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    apart = unicodedata.normalize("NFD", word.lower())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _pieces(text: str, ranges: Sequence[tuple[int, int]]) -> list[Piece]:
    pieces, done = [], 0
    for start, end in ranges:
        pieces += [(text[done:start], False), (text[start:end], True)]
        done = end
    return [piece for piece in (*pieces, (text[done:], False)) if piece[0]]
