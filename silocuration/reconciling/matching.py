"""Find the names most like another one, among up to a million (pure).

The score of a pair is 0 to 100: 100 for the same name, `FOLDED` for the same words in any order
and without case, accents and punctuation, and less for what differs in words or letters. An
initial counts as most of the name that it begins: ``Swan, A.`` is like ``Swan, Alma``, but never
certain.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from heapq import nlargest, nsmallest

from silocuration.review.clusters import fingerprint

FOLDED = 97.0
"""The score of names that have the same words."""
_MOST = 94.0
"""The highest score of names that have not."""
_LEAST = 40.0
_INITIAL, _NEAR = 0.8, 0.75
"""How much of a word its initial is; how like two words are that may be spellings of one."""
_COMPARED, _FREQUENT = 120, 5_000
"""Names that are compared with one text; names that may share a piece that is looked at."""
_PIECE = 3
_WORDS = 40
"""Words of a name that are compared: the time is that of all pairs. Titles have fewer."""


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """Something that has names.

    Attributes:
        id: Identifies it.
        names: Its own name, then its aliases.
        types: Ids of its types.
        description: What tells it from another of this name.
        weight: Of two that are equally like a text, the greater one comes first.
    """

    id: str
    names: tuple[str, ...]
    types: tuple[str, ...] = ()
    description: str = ""
    weight: int = 0


@dataclass(frozen=True, slots=True)
class EntityMatch:
    """A result.

    Attributes:
        score: 0 to 100.
        matches: Whether it is the only one with its words, so that it is taken for certain.
    """

    named: NamedEntity
    score: float
    matches: bool = False


class Names:
    """Names to be asked for.

    Args:
        all_named: Whatever has names.

    Cost: about 1 KB and 15 µs for each name; a question takes some ms.
    """

    def __init__(self, all_named: Iterable[NamedEntity]) -> None:
        self._named: list[NamedEntity] = []
        self._of_name = array("L")
        self._folded: list[str] = []
        by_key: defaultdict[str, array[int]] = defaultdict(lambda: array("L"))
        self._by_id: dict[str, NamedEntity] = {}
        for one in all_named:
            if one.id in self._by_id:
                continue
            self._by_id[one.id] = one
            for name in one.names:
                folded = fingerprint(name)
                for key in {folded, *_pieces(folded)}:
                    by_key[key].append(len(self._folded))
                self._folded.append(folded)
                self._of_name.append(len(self._named))
            self._named.append(one)
        self._by_key: dict[str, Sequence[int]] = dict(by_key)

    def __len__(self) -> int:
        return len(self._named)

    def get(self, key: str) -> NamedEntity | None:
        """Return what has this id; None if nothing has."""
        return self._by_id.get(key)

    def find(self, text: str, limit: int = 5, types: Collection[str] = ()) -> list[EntityMatch]:
        """Return what is most like a name, the best first.

        Args:
            text: The name.
            limit: At most so many.
            types: Only what has one of these types; all if there are none.
        """
        wanted = fingerprint(text)
        scores: dict[int, float] = {}
        for place in self._candidates(wanted, types):
            number = self._of_name[place]
            scores[number] = max(scores.get(number, 0.0), score_of(wanted, self._folded[place]))
        exact = {one for one in scores if text.strip() in self._named[one].names}
        scored = ((100.0 if one in exact else score, one) for one, score in scores.items())
        best = nlargest(
            limit,
            ((score, self._named[one].weight, -one) for score, one in scored if score >= _LEAST),
        )
        certain = [one for one in best if one[0] >= FOLDED]
        return [
            EntityMatch(self._named[-one], round(score, 1), len(certain) == 1 and score >= FOLDED)
            for score, _weight, one in best
        ]

    def begin_with(self, text: str, limit: int = 10) -> list[NamedEntity]:
        """Return what is named in the way that somebody has begun to write, the best first."""
        words = [f" {word}" for word in fingerprint(text).split()]
        found: dict[int, tuple[bool, int]] = {}
        for place, folded in enumerate(self._folded):
            if words and all(word in f" {folded}" for word in words):
                number = self._of_name[place]
                one = self._named[number]
                begins = one.names[0].casefold().startswith(text.strip().casefold())
                found[number] = (not begins, -one.weight)
        best = nsmallest(limit, found, key=lambda one: (found[one], one))
        return [self._named[one] for one in best]

    def _candidates(self, folded: str, types: Collection[str]) -> Iterable[int]:
        """The names that share most with a folded text, the rare more than the frequent."""
        shared: Counter[int] = Counter()
        wanted = set(types)

        def is_meant(place: int) -> bool:
            return not wanted or not wanted.isdisjoint(self._named[self._of_name[place]].types)

        pieces = (self._by_key.get(key, ()) for key in _pieces(folded))
        for known in sorted(filter(None, pieces), key=len):
            if len(known) > _FREQUENT and shared:
                break
            for place in known[:_FREQUENT]:
                shared[place] += 1_000_000 // len(known)
        same = [*filter(is_meant, self._by_key.get(folded, ())[:_COMPARED])]
        near = [one for one, _worth in shared.most_common(_FREQUENT) if is_meant(one)]
        return dict.fromkeys([*same, *near[:_COMPARED]])


def score_of(one: str, other: str) -> float:
    """Return how like two names are, 0 to 100, both as `fingerprint` gives them."""
    if one == other:
        return FOLDED if one else 0.0
    words, others = one.split(), other.split()
    size = sum(map(_size, words)) + sum(map(_size, others))
    if not words or not others:
        return 0.0
    words, others = words[:_WORDS], others[:_WORDS]
    pairs = sorted(
        ((_likeness(a, b), n, m) for n, a in enumerate(words) for m, b in enumerate(others)),
        reverse=True,
    )
    used, other_used, common = set[int](), set[int](), 0.0
    for likeness, n, m in pairs:
        if likeness and n not in used and m not in other_used:
            used.add(n)
            other_used.add(m)
            common += likeness * (_size(words[n]) + _size(others[m]))
    return _MOST * common / size


def _likeness(one: str, other: str) -> float:
    if one == other:
        return 1.0
    if min(len(one), len(other)) == 1:
        return _INITIAL if one[0] == other[0] else 0.0
    if one.isdigit() or other.isdigit():
        return 0.0
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.quick_ratio() < _NEAR:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= _NEAR else 0.0


def _size(word: str) -> int:
    return max(2, min(len(word), 8))


def _pieces(folded: str) -> set[str]:
    """The words of a name; of each, also the beginning and the end."""
    found = set()
    for word in folded.split():
        found |= {word, word[:_PIECE] + "·", "·" + word[-_PIECE:]}
    return found
