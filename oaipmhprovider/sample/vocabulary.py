"""The words of the sample repository, read from ``vocabulary.toml``."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

UNIVERSITY = "University of Wexcombe"

Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Discipline:
    """A subject of the repository, with the words for its works.

    Attributes:
        path: Library of Congress classes from the broadest to the narrowest.
        faculty: Code and name of the faculty.
        school: Code and name of the school within the faculty.
        topics: Noun phrases in the plural, as objects of study.
        settings: Places, times or contexts, each with its preposition.
        methods: Noun phrases in the singular, with their article.
        keywords: Uncontrolled keywords.
        journals: Title and ISSN.
    """

    path: Texts
    names: Texts
    faculty: tuple[str, str]
    school: tuple[str, str]
    topics: Texts
    settings: Texts
    methods: Texts
    keywords: Texts
    journals: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Tongue:
    """A language other than English, with the words for works in it.

    Attributes:
        code: BCP 47 language tag.
        iso639_2: The code that EPrints writes into dc:language.
        topics: Objects of study; each with its title in English and its narrowest class.
        contexts: Second parts of titles.
        titles: Patterns of ``{topic}``, ``{other}`` and ``{context}``.
        sentences: For abstracts; patterns of ``{topic}``, ``{other}``, ``{many}``.
    """

    code: str
    iso639_2: str
    topics: tuple[tuple[str, str, str], ...]
    contexts: Texts
    titles: Texts
    sentences: Texts


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All words.

    Attributes:
        phrases: Patterns for works in English, by their place in a work; see ``vocabulary.toml``.
        families, given: Names by the language tag of their script.
    """

    disciplines: tuple[Discipline, ...]
    tongues: tuple[Tongue, ...]
    phrases: Mapping[str, Texts]
    families: Mapping[str, Texts]
    given: Mapping[str, Texts]
    publishers: Texts
    cities: Texts
    funders: Texts


@cache
def vocabulary() -> Vocabulary:
    """Read the words once."""
    found = tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text("utf-8"))
    disciplines, tongues = found.pop("disciplines"), found.pop("tongues")
    return Vocabulary(
        disciplines=tuple(Discipline(**_frozen(one)) for one in disciplines),
        tongues=tuple(Tongue(**_frozen(one)) for one in tongues),
        **_frozen(found),
    )


def _frozen(value: Any) -> Any:
    """Turn the arrays in a value into tuples."""
    if isinstance(value, dict):
        return {key: _frozen(one) for key, one in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
