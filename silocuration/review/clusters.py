"""Find probable variants among the values of a field (pure).

There are three methods, with OpenRefine's names: *fingerprint* (the same words, in any order,
case and punctuation), *n-gram fingerprint* (almost the same sequence of letters) and *nearest
neighbour* (a few letters differ). The first two are exact and linear; the third compares only
pairs that share a piece, and misses none within its distance.

A differing letter is not always a misspelling: ``Swan, S.`` and ``Swan, J.``, ``2016`` and
``2017``, or two Chinese names with the same given name are different. Therefore neighbours may
differ in long words only, in one letter of five, neither in the first letter of a word nor in
digits, Han or Hangul; and two frequent names are two.

Source: OpenRefine, "Clustering methods in-depth"; Li and others, "Pass-Join: a
partition-based method for similarity joins", VLDB 2011.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import regex

from silocuration.review.edit_distance import edits, letters_of

_PUNCTUATION = regex.compile(r"[\p{P}\p{S}\p{C}]+")
_MARKS = regex.compile(r"(?V1)[[\p{Mn}&&[\p{Inherited}\p{Arabic}\p{Hebrew}]]--[\u3099\u309a]]+")
"""Accents and optional vowel signs. Others are letters: ``सुनीता``, and ``が`` beside ``か``."""
_WORD = regex.compile(r"\S+")
NO_MISSPELLING = regex.compile(r"[\p{N}\p{Han}\p{Hangul}]")
_LONG_WORD = 5
"""Minimum length of a word in which a differing letter may be a misspelling: not ``Joan``."""
_SIGNS = regex.compile(r"\p{M}+")
_FREQUENT_NAME = 5
"""Records of a name that is no misspelling of another with not even ten times as many."""
_LETTERS = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_DELICATE = regex.compile(r"\S*(?:\p{N}|\b\p{L}\b)\S*")
"""What has a number or a single letter in it: ``S.``, ``C++``, ``1.5``."""
_SHORT = 4
"""Minimum number of letters of a value that can be the same as another for certain."""
_FREQUENT = 2000
"""Most values that may share a piece; pairs that share a more common piece are not compared."""


class Method(StrEnum):
    """The method by which values are compared."""

    FINGERPRINT = "fingerprint"
    NGRAM = "ngram"
    NEAREST = "nearest"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Values that are probably variants of one.

    Attributes:
        values: (value, how many records have it), the most frequent first, which is
            probably correct.
    """

    values: tuple[tuple[str, int], ...]

    @property
    def records(self) -> int:
        """Return how many records have the values, counting a record once for each."""
        return sum(count for _, count in self.values)

    @property
    def certain(self) -> frozenset[str]:
        """The values that `are_surely_same` as the first; with it, unless it is alone."""
        first = self.values[0][0]
        same = {value for value, _ in self.values[1:] if are_surely_same(value, first)}
        return frozenset(same and {first, *same})


def clusters(
    counts: Mapping[str, int],
    method: Method = Method.FINGERPRINT,
    *,
    distance: int = 1,
    size: int = 2,
) -> list[Cluster]:
    """Find clusters among the values of a field.

    Args:
        counts: Value → how many records have it.
        method: See `Method`.
        distance: For `Method.NEAREST`: the maximum number of differing letters, 1 to 3, and at
            most a quarter of the shorter value; see `is_misspelling`.
        size: For `Method.NGRAM`: the letters in a piece.

    Returns:
        Clusters of two or more values, those with the most records first.

    Cost: 100,000 values in 1 to 3 s.
    """
    if method is Method.NEAREST:
        groups = _nearest(counts, max(1, min(3, distance)))
    else:
        key = fingerprint if method is Method.FINGERPRINT else _ngram_key(size)
        groups = _by_key(counts, key)
    found = [_cluster(group, counts) for group in groups]
    return sorted(found, key=lambda one: (-one.records, one.values))


def fingerprint(value: str) -> str:
    """Return the distinct words of a value, sorted, without case, accents and punctuation."""
    return " ".join(sorted(set(plain(value).split())))


def ngram_fingerprint(value: str, size: int = 2) -> str:
    """Return the distinct pieces of ``size`` letters of a value, sorted."""
    text = "".join(plain(value).split())
    return "".join(sorted({text[n : n + size] for n in range(max(1, len(text) - size + 1))}))


def are_surely_same(one: str, other: str) -> bool:
    """Whether two values differ only in case, spaces or punctuation, whatever the method.

    They have the same words in the same order. Initials and numbers also have the same
    punctuation (``C++`` is not ``C#``), and a value of fewer than `_SHORT` letters is never
    certain (``US`` and ``us``). Accents and other spellings (``ß``, ``ss``) are a difference.
    """
    one, other = (unicodedata.normalize("NFC", text).lower() for text in (one, other))
    words = _LETTERS.findall(one)
    return (
        len("".join(words)) >= _SHORT
        and words == _LETTERS.findall(other)
        and _DELICATE.findall(one) == _DELICATE.findall(other)
    )


def plain(value: str) -> str:
    if not value.isascii():
        value = _MARKS.sub("", unicodedata.normalize("NFKD", value))
    return str(_PUNCTUATION.sub(" ", value.casefold()))


def _ngram_key(size: int) -> Callable[[str], str]:
    return lambda value: ngram_fingerprint(value, size)


def _by_key(values: Iterable[str], key: Callable[[str], str]) -> list[list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for value in values:
        if made := key(value):
            groups[made].append(value)
    return [group for group in groups.values() if len(group) > 1]


def _cluster(values: Iterable[str], counts: Mapping[str, int]) -> Cluster:
    return Cluster(tuple(sorted(((one, counts[one]) for one in values), key=_most_first)))


def _most_first(one: tuple[str, int]) -> tuple[int, str]:
    return -one[1], one[0]


# --------------------------------------------------------------------------- neighbours


def _nearest(values: Mapping[str, int], distance: int) -> list[list[str]]:
    """Return groups of values that are connected by near pairs."""
    groups: dict[str, list[str]] = defaultdict(list)
    for value in values:
        groups[" ".join(plain(value).split())].append(value)
    texts = sorted((one for one in groups if one), key=lambda one: (len(one), one))
    parents = list(range(len(texts)))
    times = [sum(values[value] for value in groups[text]) for text in texts]
    for one, other in _near_pairs(texts, distance):
        names = groups[texts[one]][0], groups[texts[other]][0]
        if _are_both_names(*names, (times[one], times[other])):
            continue
        parents[_root(parents, one)] = _root(parents, other)
    joined: dict[int, list[str]] = defaultdict(list)
    for place, text in enumerate(texts):
        joined[_root(parents, place)] += groups[text]
    return [group for group in joined.values() if len(group) > 1]


def _root(parents: list[int], place: int) -> int:
    while parents[place] != place:
        parents[place] = parents[parents[place]]
        place = parents[place]
    return place


def _near_pairs(texts: list[str], distance: int) -> Iterator[tuple[int, int]]:
    """Yield the indices of each pair of texts (sorted by length) within ``distance`` edits.

    If a text is cut into ``distance + 1`` pieces, each text within ``distance`` of it contains
    at least one of them unchanged, moved by at most ``distance``.
    """
    pieces: dict[tuple[int, int, str], list[int]] = defaultdict(list)
    longest = len(texts[-1]) if texts else 0
    cuts = [_cuts(length, distance) for length in range(longest + 1)]
    letters = [*map(letters_of, texts)]
    for place, text in enumerate(texts):
        seen: set[int] = set()
        for length in range(max(1, len(text) - distance), len(text) + 1):
            for number, start, size in cuts[length]:
                for moved in _places(number, start, len(text) - length, distance):
                    found = pieces.get((length, number, text[moved : moved + size]))
                    if found is not None and len(found) <= _FREQUENT:
                        seen.update(found)
        own = letters[place]
        for other in seen:
            allowed = min(distance, len(texts[other]) // 4)
            if (
                (own ^ letters[other]).bit_count() <= 2 * allowed
                and allowed
                and is_misspelling(text, texts[other], allowed)
            ):
                yield place, other
        for number, start, size in cuts[len(text)]:
            pieces[len(text), number, text[start : start + size]].append(place)


def is_misspelling(one: str, other: str, most: int) -> bool:
    """Whether two texts differ in at most so many letters, all of long words, and in spaces."""
    found = [one for one in edits(one, other, most) or () if not (one.one + one.other).isspace()]
    if not found:
        return edits(one, other, most) is not None
    if any(NO_MISSPELLING.search(edit.one + edit.other) for edit in found):
        return False
    pairs = Counter((_word_at(one, at.place), _word_at(other, at.other_place)) for at in found)
    return all(_is_misspelt(*words, times) for words, times in pairs.items())


def _is_misspelt(one: str, other: str, times: int) -> bool:
    """Whether one word is another, so many letters of which differ.

    The first letter of a name is seldom wrong, and one letter of four is a third of it.
    """
    if one[:1] != other[:1]:
        return False
    if times == 2 and sorted(one) == sorted(other):
        times = 1  # two letters in the other order
    return min(map(_letters_in, (one, other))) >= _LONG_WORD * times


def _letters_in(word: str) -> int:
    """The letters of a word; vowel signs and the like belong to their letters."""
    return len(word) if word.isascii() else len(_SIGNS.sub("", word))


def _word_at(text: str, place: int) -> str:
    """Return the longest word at or next to a place."""
    found = (word[0] for word in _WORD.finditer(text) if word.start() <= place <= word.end())
    return max(found, key=len, default="")


def _are_both_names(one: str, other: str, counts: tuple[int, int]) -> bool:
    """Whether two names are both frequent, so that neither is the other, misspelt."""
    fewer, more = sorted(counts)
    return "," in one and "," in other and fewer >= _FREQUENT_NAME and fewer * 10 > more


def _places(number: int, start: int, longer: int, distance: int) -> range:
    """Return the places where a piece of a text can be in one that is ``longer``.

    These are Pass-Join's multi-match bounds: at most as many edits before the piece as its
    number, and at most the rest after it.
    """
    left = max(-number, longer - (distance - number))
    right = min(number, longer + (distance - number))
    return range(max(0, start + left), start + right + 1)


def _cuts(length: int, distance: int) -> list[tuple[int, int, int]]:
    """Return the pieces of a text of this length: (number, start, size)."""
    parts = distance + 1
    size, longer = divmod(length, parts)
    found, start = [], 0
    for number in range(parts):
        here = size + (number >= parts - longer)
        if here:
            found.append((number, start, here))
        start += here
    return found
