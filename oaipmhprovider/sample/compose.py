"""Compose a sample work from its number; the result is always the same.

No record is stored, even in a repository of a million.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from oaipmhprovider.sample.dice import Dice
from oaipmhprovider.sample.traits import Traits
from oaipmhprovider.sample.vocabulary import UNIVERSITY, Discipline, Tongue, vocabulary

_SALT = 2000
_WRITTEN_WITHOUT_BLANKS = ("zh", "ja")
_DEGREES = ("phd", "phd", "phd", "phd", "mphil", "md", "engd")
_VERSIONS = ("accepted", "accepted", "published", "submitted")


@dataclass(frozen=True, slots=True)
class LanguageText:
    """A text and its language."""

    content: str
    language: str


_Texts = tuple[tuple[LanguageText, ...], tuple[LanguageText, ...]]


@dataclass(frozen=True, slots=True)
class Person:
    """A name in two parts."""

    family: str
    given: str

    def __str__(self) -> str:
        return f"{self.family}, {self.given}" if self.given else self.family


@dataclass(frozen=True, slots=True)
class SampleWork:
    """The data of a work; each format uses a part of it.

    Attributes:
        titles: In the work's own language first, then in English.
        abstracts: Likewise; a text may have several paragraphs, divided by empty lines.
        journal: Title and ISSN; None unless the work is an article.
        doi: None if there is none.
        date_as_entered, type_as_entered, language_as_entered: Replace the true value;
            empty to keep it.
        is_titled: Whether the depositor entered the title.
        further_link: Another link that the depositor entered.
        site: Where its page is; empty for that of the examples.
        is_file_linked: Whether the record has the address of the file.
    """

    number: int
    traits: Traits
    titles: tuple[LanguageText, ...]
    creators: tuple[Person, ...]
    supervisors: tuple[Person, ...]
    abstracts: tuple[LanguageText, ...]
    keywords: tuple[str, ...]
    published: datetime
    publisher: str
    journal: tuple[str, str] | None
    volume: int
    pages: tuple[int, int]
    doi: str | None
    rights: str
    version: str
    degree: str
    funder: str | None
    event: str
    date_as_entered: str = ""
    type_as_entered: str = ""
    language_as_entered: str = ""
    is_titled: bool = True
    further_link: str = ""
    site: str = ""
    is_file_linked: bool = True

    @property
    def discipline(self) -> Discipline:
        """Return the subject of the work."""
        return vocabulary().disciplines[self.traits.discipline]

    @property
    def language(self) -> str:
        """Return the BCP 47 tag of the work's own language."""
        return self.titles[0].language

    @property
    def language_iso639_2(self) -> str:
        """Return the language code as EPrints writes it."""
        tongue = self.traits.tongue
        return "eng" if tongue is None else vocabulary().tongues[tongue].iso639_2


def compose(number: int, traits: Traits, deposited: datetime) -> SampleWork:
    """Compose the work of a record.

    Args:
        number: The record's number, as in its identifier.
        traits: The traits that follow from its number.
        deposited: The day of deposit; the work was published before.
    """
    dice = Dice(number, _SALT)
    discipline = vocabulary().disciplines[traits.discipline]
    if traits.tongue is None:
        titles, abstracts, language = *_in_english(dice, discipline, traits), "en"
    else:
        tongue = vocabulary().tongues[traits.tongue]
        titles, abstracts, language = *_in_tongue(dice, tongue, traits), tongue.code
    first_page = 1 + dice.below(900)
    return SampleWork(
        number=number,
        traits=traits,
        titles=titles,
        creators=_creators(dice, language, traits.kind),
        supervisors=_people(dice, "en", 1 + dice.below(2)),
        abstracts=abstracts,
        keywords=tuple(dice.several(discipline.keywords, 1 + dice.below(4))),
        published=deposited - timedelta(days=dice.below(900)),
        publisher=UNIVERSITY if traits.kind == "thesis" else dice.pick(vocabulary().publishers),
        journal=dice.pick(discipline.journals) if traits.kind == "article" else None,
        volume=1 + dice.below(80),
        pages=(first_page, first_page + 3 + dice.below(35)),
        doi=_doi(dice, number, traits.kind),
        rights=dice.pick(vocabulary().phrases["rights"]),
        version=dice.pick(_VERSIONS),
        degree=dice.pick(_DEGREES),
        funder=dice.pick(vocabulary().funders) if dice.chance(40) else None,
        event=f"{dice.pick(vocabulary().cities)}, {deposited.year - 1}",
    )


def _in_english(dice: Dice, discipline: Discipline, traits: Traits) -> _Texts:
    words = _words(dice, discipline)
    title = dice.pick(vocabulary().phrases["titles"]).format_map(words)
    if dice.chance(2):
        title = f"{title} <i>(with a note on {words['other']} & their sources)</i>"
    abstract = _long_abstract(dice, words) if traits.kind == "thesis" else _abstract(dice, words)
    return (LanguageText(title, "en"),), (LanguageText(abstract, "en"),)


def _words(dice: Dice, discipline: Discipline) -> dict[str, str]:
    topic, other = dice.several(discipline.topics, 2)
    method = dice.pick(discipline.methods)
    many = 12 + dice.below(700)
    return {
        "topic": topic,
        "Topic": _capital(topic),
        "other": other,
        "setting": dice.pick(discipline.settings),
        "method": method,
        "Method": _capital(method),
        "many": str(many),
        "part": str(1 + many * (20 + dice.below(60)) // 100),
        "years": str(2 + dice.below(28)),
        "figure": dice.pick(vocabulary().phrases["figures"]),
    }


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _abstract(dice: Dice, words: dict[str, str]) -> str:
    patterns = [
        dice.pick(vocabulary().phrases["openings"]),
        dice.pick(vocabulary().phrases["approaches"]),
        *dice.several(vocabulary().phrases["findings"], 1 + dice.below(3)),
        dice.pick(vocabulary().phrases["closings"]),
    ]
    sentences = [pattern.format_map(words) for pattern in patterns]
    if dice.chance(8):
        sentences.insert(2, dice.pick(vocabulary().phrases["asides"]))
    return " ".join(sentences)


def _long_abstract(dice: Dice, words: dict[str, str]) -> str:
    """Return several paragraphs; in one of eight cases, many."""
    parts = [pattern.format_map(words) for pattern in vocabulary().phrases["thesis_parts"]]
    chapters = 8 if dice.chance(12) else dice.below(2)
    more = [f"Chapter {n + 2}. {_abstract(dice, words)}" for n in range(chapters)]
    return "\n\n".join([_abstract(dice, words), *parts[:-1], *more, parts[-1]])


def _in_tongue(
    dice: Dice, tongue: Tongue, traits: Traits
) -> tuple[tuple[LanguageText, ...], tuple[LanguageText, ...]]:
    subject = vocabulary().disciplines[traits.discipline].path[-1]
    topic, english, _ = dice.pick([one for one in tongue.topics if one[2] == subject])
    other = dice.pick([one[0] for one in tongue.topics if one[0] != topic])
    words = {
        "topic": topic,
        "other": other,
        "context": dice.pick(tongue.contexts),
        "many": str(12 + dice.below(700)),
    }
    title = dice.pick(tongue.titles).format_map(words)
    blank = "" if tongue.code in _WRITTEN_WITHOUT_BLANKS else " "
    first, *rest = tongue.sentences
    kept = rest[dice.below(2) :]
    abstract = blank.join(pattern.format_map(words) for pattern in (first, *kept))
    translated = (LanguageText(english, "en"),) if dice.chance(60) else ()
    return (LanguageText(title, tongue.code), *translated), (LanguageText(abstract, tongue.code),)


def _creators(dice: Dice, language: str, kind: str) -> tuple[Person, ...]:
    return _people(dice, language, 1 if kind == "thesis" else 1 + dice.below(dice.pick((2, 4, 7))))


def _people(dice: Dice, language: str, count: int) -> tuple[Person, ...]:
    return tuple(
        Person(dice.pick(vocabulary().families[script]), dice.pick(vocabulary().given[script]))
        for script in (language if n == 0 or dice.chance(50) else "en" for n in range(count))
    )


def _doi(dice: Dice, number: int, kind: str) -> str | None:
    if kind == "thesis" or dice.chance(25):
        return None
    return f"10.5555/wex.{kind[:4]}<{number}>" if dice.chance(2) else f"10.5555/wex.{number}"
