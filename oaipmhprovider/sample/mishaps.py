"""Mistakes of depositors, a few of each kind, so that there is something to curate.

Works entered twice, spellings of names and keywords that differ, invalid dates, damaged
characters, titles in capitals or missing, types outside the vocabulary, links that lead
nowhere. The first eleven records have none of this; examples quote them.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import replace

from oaipmhprovider.sample.compose import LanguageText, Person, SampleWork
from oaipmhprovider.sample.dice import Dice

_SPARED = range(3000, 3011)
_SALT = 3000
_OFTEN = 1000
_TWICE = 25

_DATES = ("n.d.", "{year}-13", "{year}-02-31T", "200", "in press", "0000-00-00", "{year}-00-00")
_TYPES = ("Artcle", "journal art.", "Thesis (PhD)", "Conf. Item", "UNKNOWN")
_LANGUAGES = ("English", "eng; fre", "englisch", "n/a")
_LINKS = (
    "http://localhost:8080/{number}/",
    "http://staff.wexcombe.example/~{family}/papers/{number}.html",
    "http://intranet/eprints/{number}.pdf",
    "https://doi.org/10.5555",
    "http://www.wexcombe.example/old site/{number}.htm",
)


def with_mishap(work: SampleWork) -> SampleWork:
    """The work as it was entered: in about one case of eight with a mistake."""
    if work.number in _SPARED:
        return work
    dice = Dice(work.number, _SALT)
    place = dice.below(_OFTEN)
    for upper, mishap in _MISHAPS:
        if place < upper:
            return mishap(work, dice)
    return work


def is_entered_twice(number: int) -> bool:
    """Whether a record is the second one of the work before it, if that is of the same kind."""
    return number not in _SPARED and Dice(number, _SALT + 1).below(_OFTEN) < _TWICE


def _name(work: SampleWork, dice: Dice) -> SampleWork:
    """The first creator's name, written in another way."""
    first, *others = work.creators
    written = dice.pick(_SPELLINGS)(first)
    return replace(work, creators=(written, *others))


def _initials(person: Person) -> Person:
    return Person(person.family, " ".join(f"{part[0]}." for part in person.given.split()))


def _capitals(person: Person) -> Person:
    return Person(person.family.upper(), person.given)


def _given_first(person: Person) -> Person:
    return Person(f"{person.given} {person.family}".strip(), "")


def _without_accents(person: Person) -> Person:
    family, given = (_plain(part) for part in (person.family, person.given))
    return _initials(person) if (family, given) == _parts(person) else Person(family, given)


def _parts(person: Person) -> tuple[str, str]:
    return person.family, person.given


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text.replace("ø", "o").replace("ß", "ss"))
    return "".join(one for one in decomposed if not unicodedata.combining(one))


_SPELLINGS: tuple[Callable[[Person], Person], ...] = (
    _initials, _initials, _capitals, _given_first, _without_accents,
)  # fmt: skip


def _keyword(work: SampleWork, dice: Dice) -> SampleWork:
    """The first keyword with a capital, in capitals, or with a full stop."""
    first, *others = work.keywords
    written = dice.pick((first.capitalize(), first.upper(), f"{first}.", first.replace(" ", "-")))
    return replace(work, keywords=(written, *others))


def _date(work: SampleWork, dice: Dice) -> SampleWork:
    return replace(work, date_as_entered=dice.pick(_DATES).format(year=work.published.year))


def _damaged_characters(work: SampleWork, _dice: Dice) -> SampleWork:
    """Text in UTF-8 that was once read as Windows-1252."""
    titles = tuple(LanguageText(_damaged(one.content), one.language) for one in work.titles)
    creators = tuple(Person(_damaged(one.family), _damaged(one.given)) for one in work.creators)
    abstracts = tuple(
        LanguageText(_damaged(one.content.replace(". ", " – ", 1)), one.language)
        for one in work.abstracts
    )
    return replace(work, titles=titles, creators=creators, abstracts=abstracts)


def _damaged(text: str) -> str:
    try:
        return text.encode().decode("cp1252")
    except UnicodeDecodeError:
        return text


def _capital_title(work: SampleWork, _dice: Dice) -> SampleWork:
    return replace(
        work, titles=tuple(LanguageText(t.content.upper(), t.language) for t in work.titles)
    )


def _no_title(work: SampleWork, _dice: Dice) -> SampleWork:
    return replace(work, is_titled=False)


def _type(work: SampleWork, dice: Dice) -> SampleWork:
    return replace(work, type_as_entered=dice.pick(_TYPES))


def _language(work: SampleWork, dice: Dice) -> SampleWork:
    return replace(work, language_as_entered=dice.pick(_LANGUAGES))


def _link(work: SampleWork, dice: Dice) -> SampleWork:
    family = _plain(work.creators[0].family).casefold().replace(" ", "")
    link = dice.pick(_LINKS).format(number=work.number, family=family)
    return replace(work, further_link=link)


_MISHAPS: tuple[tuple[int, Callable[[SampleWork, Dice], SampleWork]], ...] = (
    (50, _name),
    (70, _keyword),
    (82, _date),
    (92, _damaged_characters),
    (99, _capital_title),
    (104, _no_title),
    (112, _type),
    (117, _language),
    (130, _link),
)
"""Of a thousand works, those below the number; each has at most one mishap."""
