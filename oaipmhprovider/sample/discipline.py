"""What a discipline of the sample university is made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Discipline:
    """A subject of the repository and the words its works are composed of.

    Attributes:
        path: Library of Congress classes from the broadest to the narrowest.
        names: Their names.
        faculty: Where it is taught, code and name.
        school: The school within the faculty, code and name.
        topics: Noun phrases in the plural, as objects of study.
        settings: Where, when or in what; each with its preposition.
        methods: Noun phrases in the singular, with their article.
        keywords: Uncontrolled keywords.
        journals: Title and ISSN.
    """

    path: tuple[str, ...]
    names: tuple[str, ...]
    faculty: tuple[str, str]
    school: tuple[str, str]
    topics: tuple[str, ...]
    settings: tuple[str, ...]
    methods: tuple[str, ...]
    keywords: tuple[str, ...]
    journals: tuple[tuple[str, str], ...]
