"""The structure of a discipline of the sample university."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Discipline:
    """A subject of the repository, with the words for its works.

    Attributes:
        path: Library of Congress classes from the broadest to the narrowest.
        names: Their names.
        faculty: Code and name of the faculty.
        school: Code and name of the school within the faculty.
        topics: Noun phrases in the plural, as objects of study.
        settings: Places, times or contexts, each with its preposition.
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
