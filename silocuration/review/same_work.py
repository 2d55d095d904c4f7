"""Whether two descriptions are of the same work (pure).

The title must be the same, but for a few misspelt words or a subtitle; the creators must be the
same persons as far as both descriptions name them; neither year, type, language, number of a
part nor DOI may say otherwise. A title such as *Editorial* says nothing.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import langcodes

from silocuration.review.clusters import NO_MISSPELLING, plain
from silocuration.review.edit_distance import edits
from silocuration.review.persons import shared_persons

Frequency = Callable[[str], int]
"""In how many titles a word is; 0 if that is not known."""


@dataclass(frozen=True, slots=True)
class WorkDescription:
    """What a description says of a work.

    Attributes:
        year: Four digits, or empty.
        doi: The first DOI among its identifiers, without ``doi:``; may be empty.
    """

    title: str
    creators: tuple[str, ...] = ()
    year: str = ""
    types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    publishers: tuple[str, ...] = ()
    doi: str = ""


def likeness(
    one: WorkDescription, other: WorkDescription, frequency: Frequency = lambda _word: 0
) -> float:
    """How sure it is that two descriptions are of the same work.

    Args:
        one, other: Two descriptions.
        frequency: A word that differs in one letter is no misspelling if several titles have
            each of the two.

    Returns:
        0 if they are probably of different works; otherwise the more, the more creators they
        share, and if they have the same DOI, year and title.
    """
    dois = {one.doi.casefold(), other.doi.casefold()} - {""}
    if len(dois) == 2:
        return 0.0
    is_same_doi = bool(dois and one.doi and other.doi)
    title = same_title(one.title, other.title, frequency)
    if not title and not is_same_doi:
        return 0.0
    shared = shared_persons(one.creators, other.creators)
    if is_same_doi:
        is_near = shared > 0 and _shared_words(one.title, other.title) >= 0.5
        sure = 4.0 if title or is_near else 0.0
    elif _are_apart(one, other) or not title or is_generic(one.title):
        sure = 0.0
    else:
        sure = _by_creators(one, other, title, shared)
    if not sure:
        return 0.0
    fewest = min(len(one.creators), len(other.creators)) or 1
    year = 1.0 if one.year and one.year == other.year else 0.3
    return sure + title + year + 2 * shared / fewest + 0.1 * min(shared, 10)


def _by_creators(one: WorkDescription, other: WorkDescription, title: float, shared: int) -> float:
    """1 if the creators, or else long titles, tell that the works are the same; 0 otherwise."""
    fewest = min(len(one.creators), len(other.creators))
    if fewest:
        return float(3 * shared >= 2 * fewest)
    is_told = title == 1.0 and one.year == other.year != "" and len(words_of(one.title)) > 5
    if one.creators or other.creators:
        return float(is_told)
    return float(is_told and bool({*one.publishers} & {*other.publishers}))


# ---------------------------------------------------------------------------- titles

_SUBTITLE = re.compile(r"\s*[:;?!]\s+|\s+[-–—=/]\s+|\.\s+")
PARALLEL = re.compile(r"\s+[=/]\s+")
_SMALL = frozenset(
    plain(
        """the a an and of der die das und le la les l et des du el los las y il lo e s"""
    ).split()
)
_NUMBER_WORDS = """one first i eins erste erster erstes un une premier première uno primera primero
two second ii zwei zweite zweiter zweites deux deuxième dos segunda segundo
three third iii drei dritte dritter drittes trois troisième tres tercera tercero
four fourth iv vier vierte vierter viertes quatre quatrième cuatro
five fifth v fünf fünfte fünfter fünftes cinq cinquième cinco
six sixth vi\nseven seventh vii\neight eighth viii\nnine ninth ix\nten tenth x
eleven eleventh xi\ntwelve twelfth xii"""
_NUMBERS = {
    word: str(number)
    for number, words in enumerate(_NUMBER_WORDS.splitlines(), 1)
    for word in plain(words).split()
}
TOLD_APART = re.compile(r"\d|^[b-z]$")
"""A word that tells a part from another: a number, or a letter."""
_GENERIC_WORDS = """
abstract abstracts acknowledgements acknowledgments agenda annual announcement appendix author
bibliography book books commentary conclusion conclusions contents contributors correction
corrigendum cover discussion editor editorial editors errata erratum for foreword from front
glossary in index introduction issue journal letter letters list magazine matter meeting message
minutes new news newsletter no note notes notice number obituary on page papers part preface
proceedings programme program references report reply response review reviews schedule section
summary supplement table thesis title to untitled volume welcome with buchbesprechung
buchbesprechungen bericht dissertation einführung einleitung heft inhalt inhaltsverzeichnis
jahresbericht literatur nachruf nachrichten rezension rezensionen vorwort zum zur avant propos
bibliographie compte comptes introduction préface rendu rendus rapport sommaire éditorial índice
introducción prólogo reseña reseñas resumen
"""
_LONG_WORD = 5
_OFTEN = 100
"""How much more frequent a word is than its misspelling, if several titles have that."""
_LONG_HEAD = 3
_MOST_SLIPS = 3


_BRITISH = {"our": "or", "is(?=[aei])": "iz", "ys(?=[ei])": "yz", "[ao]e": "e", "ll": "l",
            "tre$": "ter", "gramme": "gram", "ogue": "og"}  # fmt: skip
"""Spellings that British titles have → those of American ones."""
_SPELLINGS = [(re.compile(pattern), instead) for pattern, instead in _BRITISH.items()]


_MAY_BE_BRITISH = re.compile("|".join(_BRITISH))


@lru_cache(maxsize=1 << 16)
def _american(word: str) -> str:
    if _MAY_BE_BRITISH.search(word):
        for pattern, instead in _SPELLINGS:
            word = pattern.sub(instead, word)
    return word


_GENERIC = frozenset(map(_american, plain(_GENERIC_WORDS).split()))


@lru_cache(maxsize=1 << 12)
def words_of(title: str) -> tuple[str, ...]:
    """The words of a title without articles, case and accents, in American spelling.

    Numbers are digits, also those that are words or Roman.
    """
    found = (_NUMBERS.get(word) or _american(word) for word in plain(title).split())
    return tuple([word for word in found if word not in _SMALL])


def is_generic(title: str) -> bool:
    """Whether works of any kind have this title, such as *Annual report 2016*."""
    return all(word in _GENERIC or TOLD_APART.search(word) for word in words_of(title))


def head_of(title: str) -> str:
    """A title without its subtitle; empty if it has none, or is too short without it."""
    head, *rest = _SUBTITLE.split(title.strip(), maxsplit=1)
    return head if rest and rest[0] and len(words_of(head)) >= _LONG_HEAD else ""


def same_title(one: str, other: str, frequency: Frequency = lambda _word: 0) -> float:
    """1 if two titles have the same words, less for misspelt ones or a subtitle; 0 otherwise."""
    words, others = words_of(one), words_of(other)
    if sorted(words) == sorted(others) or "".join(words) == "".join(others):
        return float(bool(words))
    if _are_misspelt(words, others, frequency):
        return 0.9
    for long, short in ((one, others), (other, words)):
        head = head_of(long)
        tail = words_of(long)[len(words_of(head)) :]
        if head and words_of(head) == short and not any(map(TOLD_APART.search, tail)):
            return 0.7
        if any(words_of(part) == short for part in PARALLEL.split(long)) and len(short) > 1:
            return 0.8
    return 0.0


def _are_misspelt(words: Sequence[str], others: Sequence[str], frequency: Frequency) -> bool:
    """Whether few words differ, each by a misspelling, or by a space."""
    own, theirs = Counter(words) - Counter(others), Counter(others) - Counter(words)
    mine = [word for word in words if word in own]
    other = [word for word in others if word in theirs]
    if any(map(TOLD_APART.search, (*mine, *other))):
        return False
    if "".join(mine) == "".join(other):
        return True
    most = min(_MOST_SLIPS, max(1, len(words) // 3))
    return len(mine) == len(other) <= most and all(
        is_slip(*pair, frequency) for pair in zip(mine, other, strict=True)
    )


_OPPOSITES = (
    "micro", "macro", "hyper", "hypo", "inter", "intra", "infra", "pre", "pro", "per", "endo",
    "ecto", "mono", "homo", "hetero", "under", "over",
)  # fmt: skip
_ENDINGS = ("ate", "ite", "ide", "ane", "ene", "yne", "ol", "al", "in", "ine", "ose", "ase")
"""Of chemicals: ``nitrate`` is not ``nitrite``."""


def is_slip(one: str, other: str, frequency: Frequency = lambda _word: 0) -> bool:
    """Whether two words are probably one word, once misspelt."""
    if min(len(one), len(other)) < _LONG_WORD or one[0] != other[0]:
        return False
    if NO_MISSPELLING.search(one + other) or _are_opposite(one, other):
        return False
    fewest, most = sorted((frequency(one), frequency(other)))
    if fewest > 1 and fewest * _OFTEN > most:
        return False
    return edits(one, other, 1) is not None or _is_transposed(one, other)


def _are_opposite(one: str, other: str) -> bool:
    starts = [[prefix for prefix in _OPPOSITES if word.startswith(prefix)] for word in (one, other)]
    ends = [[ending for ending in _ENDINGS if word.endswith(ending)] for word in (one, other)]
    return any(some and others and some != others for some, others in (starts, ends))


def _is_transposed(one: str, other: str) -> bool:
    differing = [n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    if len(one) != len(other) or len(differing) != 2:
        return False
    first, second = differing
    return second == first + 1 and one[first] == other[second] and one[second] == other[first]


def _shared_words(one: str, other: str) -> float:
    """The share of the shorter title's words that the other has, if no number differs."""
    words, others = {*words_of(one)}, {*words_of(other)}
    if any(map(TOLD_APART.search, words ^ others)):
        return 0.0
    return len(words & others) / (min(len(words), len(others)) or 1)


# ---------------------------------------------------------------------------- the rest

_KINDS = {
    "thesis": ("thes", "dissert", "habilit", "diplom", "doctoral", "master", "bachelor"),
    "data": ("dataset", "data set", "datensatz"),
    "software": ("software", "source code"),
    "image": ("image", "photograph", "painting", "drawing", "bild"),
    "sound": ("sound", "audio"),
    "video": ("video", "movingimage", "moving image", "film"),
    "talk": ("poster", "presentation", "slide", "lecture", "vortrag"),
    "conference": ("conference", "proceedings", "konferenz", "congres"),
    "part": ("chapter", "section", "bookpart", "book part", "kapitel"),
    "book": ("book", "monograph", "buch"),
    "review": ("review",),
    "article": ("article", "preprint", "working", "report", "artikel", "manuscript"),
}
_LEVELS = {"doctoral": ("doctor", "phd"), "master": ("master",), "bachelor": ("bachelor",)}
_EARLY = ("preprint", "working", "report", "submitted", "manuscript")
_PREPRINT_YEARS = 3


def _are_apart(one: WorkDescription, other: WorkDescription) -> bool:
    """Whether year, type or language tell that two works are not the same."""
    if one.year and other.year:
        both = " ".join((*one.types, *other.types)).casefold()
        most = _PREPRINT_YEARS if any(word in both for word in _EARLY) else 1
        if abs(int(one.year) - int(other.year)) > most:
            return True
    tables = ((_KINDS, one.types, other.types), (_LEVELS, one.types, other.types))
    if any(_differ(_named(table, some), _named(table, others)) for table, some, others in tables):
        return True
    return _differ(set(filter(None, map(_language, one.languages))),
                   set(filter(None, map(_language, other.languages))))  # fmt: skip


def _differ(some: set[str], others: set[str]) -> bool:
    return bool(some and others and not some & others)


def _named(table: dict[str, tuple[str, ...]], texts: Iterable[str]) -> set[str]:
    found = set()
    for text in texts:
        folded = text.rpartition("/")[2].casefold()
        if "peerreviewed" not in folded.replace(" ", "").replace("-", ""):
            fits = (name for name, parts in table.items() if any(part in folded for part in parts))
            found |= {*[*fits][:1]}
    return found


def _language(text: str) -> str:
    try:
        return langcodes.standardize_tag(text).partition("-")[0]
    except ValueError:
        return ""
