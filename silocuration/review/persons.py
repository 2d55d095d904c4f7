"""Whether two names are of the same person (pure).

``Lovelace, Ada``, ``Lovelace, A.``, ``Ada Lovelace`` and ``Lovelace A`` may be one person;
``Swan, S.`` and ``Swan, J.``, or ``Smith, John`` and ``Smith, Joan``, are two.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from silocuration.review.clusters import NO_MISSPELLING, fingerprint, plain
from silocuration.review.edit_distance import edits

_PARTICLES = frozenset(
    plain("""van von de der den del della di da dos du la le ten ter al el bin ibn""").split()
)
_LONG_NAME, _SHORT_NAME = 5, 3
"""Letters of a surname that may be misspelt, beside initials and beside the same given names."""


@dataclass(frozen=True, slots=True)
class PersonName:
    """A name in its parts.

    Attributes:
        surname: In lower case, without accents, spaces and hyphens.
        given: The words of the given names, or their initials.
    """

    surname: str
    given: tuple[str, ...]


@lru_cache(maxsize=1 << 14)
def person(name: str) -> PersonName:
    """Take a name apart, in the order that it has."""
    surname, comma, given = name.partition(",")
    if comma:
        return PersonName("".join(plain(surname).split()), tuple(_initials(given)))
    words = name.split()
    if len(words) > 1 and words[-1].strip(".").isupper() and len(words[-1].strip(".")) < 4:
        return PersonName("".join(plain(" ".join(words[:-1])).split()), tuple(_initials(words[-1])))
    folded = plain(name).split()
    if not folded:
        return PersonName("", ())
    start = len(folded) - 1
    while start > 1 and folded[start - 1] in _PARTICLES:
        start -= 1
    return PersonName("".join(folded[start:]), tuple(folded[:start]))


def _initials(given: str) -> list[str]:
    """The given names; capitals that stand together are one initial each."""
    found = []
    for word in given.replace(".", " ").replace("-", " ").split():
        is_initials = word.isascii() and word.isupper() and len(word) < 4
        found += list(word.casefold()) if is_initials else plain(word).split()
    return found


def are_same_person(one: str, other: str) -> bool:
    """Whether two names may be of one person."""
    if (folded := fingerprint(one)) and folded == fingerprint(other):
        return True
    mine, theirs = person(one), person(other)
    is_same_given = mine.given == theirs.given and len("".join(mine.given)) > 2  # no initials
    shortest = _SHORT_NAME if is_same_given else _LONG_NAME
    if not mine.surname or not _is_near(mine.surname, theirs.surname, shortest):
        return False
    return all(
        own == their or (min(len(own), len(their)) == 1 and own[0] == their[0])
        for own, their in zip(mine.given, theirs.given, strict=False)
    )


def _is_near(one: str, other: str, shortest: int) -> bool:
    if one == other:
        return True
    if NO_MISSPELLING.search(one + other) or min(len(one), len(other)) < shortest:
        return False
    return one[:1] == other[:1] and edits(one, other, 1) is not None


def shared_persons(some: Sequence[str], others: Sequence[str]) -> int:
    """How many persons two lists of creators have in common.

    If one of them names a single person, that is the first of the other: the others were left
    out.
    """
    if not some or not others:
        return 0
    if len(some) == 1 or len(others) == 1:
        return int(are_same_person(some[0], others[0]))
    rest, shared = list(others), 0
    for name in some:
        found = next((one for one in rest if are_same_person(name, one)), None)
        if found is not None:
            rest.remove(found)
            shared += 1
    return shared
