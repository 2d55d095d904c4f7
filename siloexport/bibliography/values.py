"""A bibliography: what the metadata of one version says, as structured values (pure)."""

import re
from dataclasses import dataclass, field, fields
from functools import lru_cache

from recordsilo.formats import Value
from recordsilo.value_identifiers import IdentifiersOfValues, ValueIdentifier


@dataclass(frozen=True, slots=True)
class Name:
    """A person or an organization.

    Attributes:
        text: As written; ``Family, Given`` if the format has only the parts.
        family, given: Both ``""`` if they cannot be told apart.
        orcid: ``0000-0002-1825-0097``, its check digit right; or ``""``.
        role: A code of the MARC relators, such as ``edt``; ``""`` if unknown.
        role_text: The role as written.
        kind: ``person``, ``organization``, or ``""`` if the format does not say.
        affiliations: Names of institutions.
        meant: The identifier that it has beside the metadata, as in an authority file.
    """

    text: str
    family: str = ""
    given: str = ""
    orcid: str = ""
    role: str = ""
    role_text: str = ""
    kind: str = ""
    affiliations: tuple[str, ...] = ()
    meant: ValueIdentifier | None = None


@dataclass(frozen=True, slots=True)
class Identifier:
    """An identifier.

    Attributes:
        kind: ``doi``, ``handle``, ``issn``, ``isbn``, ``url``, ``urn``, ``pmid``, ``pmcid``,
            ``arxiv``, ``citation`` (a reference in words), or ``other``.
        text: Without ``doi:`` and the like; a DOI as written, else in its usual form.
        said: The kind as the format names it; or ``""``.
    """

    kind: str
    text: str
    said: str = ""

    @property
    def address(self) -> str:
        """Return it as an address, which DOIs, handles and a few others have; or ``""``."""
        if self.kind == "url":
            return self.text
        resolver = _RESOLVERS.get(self.kind)
        return f"{resolver}{self.text}" if resolver else ""


_RESOLVERS = {
    "doi": "https://doi.org/",
    "handle": "https://hdl.handle.net/",
    "arxiv": "https://arxiv.org/abs/",
    "pmid": "https://pubmed.ncbi.nlm.nih.gov/",
    "pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/",
}


@dataclass(frozen=True, slots=True)
class Dated:
    """A date.

    Attributes:
        kind: ``issued``, ``created``, ``available``, ``modified``, ``accepted``, ``submitted``,
            ``copyrighted``, ``valid``, ``collected``, ``other``; ``""`` if the format does not say.
        text: As written.
    """

    kind: str
    text: str

    @property
    def w3c(self) -> str:
        """Return the first date in it as ``YYYY``, ``YYYY-MM`` or ``YYYY-MM-DD``; or ``""``."""
        return w3c_date(self.text)


@dataclass(frozen=True, slots=True)
class Rights:
    """A statement of rights: a text, an address (of a licence, say), or both."""

    text: str
    uri: str = ""
    lang: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """Something related.

    Attributes:
        kind: A relation type of DataCite, such as ``IsPartOf``; ``""`` if unknown.
        text: As written: a title, an address, an identifier.
        identifier: What the text says, if it is an identifier; its kind is never ``other``.
    """

    kind: str
    text: str
    identifier: Identifier | None = None


@dataclass(frozen=True, slots=True)
class HostItem:
    """What a work is published in: a journal, a book or a series."""

    title: str = ""
    issn: str = ""
    isbn: str = ""
    volume: str = ""
    issue: str = ""
    first_page: str = ""
    last_page: str = ""


@dataclass(frozen=True, slots=True)
class Degree:
    """The degree that a thesis is for."""

    name: str = ""
    level: str = ""
    discipline: str = ""
    grantor: str = ""
    department: str = ""


@dataclass(frozen=True, slots=True)
class Bibliography:
    """What the metadata of a version says; every list in the order of the richest format.

    Attributes:
        title: The main title; its text is ``""`` if there is none.
        alternatives: Other titles: subtitles, translations.
        creators: Without a role unless the format gives one.
        contributors: All other names.
        types: As written.
        languages: As written; see `language_tags`.
        abstracts: Of unqualified descriptions, those of 100 characters and more, or the first.
        notes: Other descriptions.
        source_formats: The names of the formats merged, the richest first.
        means: The identifiers that its values have beside the metadata; see `meanings`.
    """

    title: Value = Value("")  # noqa: RUF009 - a named tuple, which nobody can change
    alternatives: tuple[Value, ...] = ()
    creators: tuple[Name, ...] = ()
    contributors: tuple[Name, ...] = ()
    publishers: tuple[Value, ...] = ()
    dates: tuple[Dated, ...] = ()
    types: tuple[Value, ...] = ()
    subjects: tuple[Value, ...] = ()
    languages: tuple[str, ...] = ()
    identifiers: tuple[Identifier, ...] = ()
    rights: tuple[Rights, ...] = ()
    abstracts: tuple[Value, ...] = ()
    notes: tuple[Value, ...] = ()
    relations: tuple[Relation, ...] = ()
    sources: tuple[Value, ...] = ()
    formats: tuple[Value, ...] = ()
    coverages: tuple[Value, ...] = ()
    container: HostItem = HostItem()
    degree: Degree = Degree()
    edition: str = ""
    source_formats: tuple[str, ...] = ()
    means: IdentifiersOfValues = field(default_factory=dict)

    def meant(self, text: str, *of: str) -> ValueIdentifier | None:
        """Return the identifier that a value has beside the metadata.

        Args:
            text: The value.
            of: The fields that may have it, such as ``publisher``; the first that does counts.
        """
        found = (self.means.get(one, {}).get(text) for one in of)
        return next((one for one in found if one is not None), None)

    @property
    def issued(self) -> str:
        """Return when it was published, as `Dated.w3c`: the best evidence; or ``""``."""
        for kind in _EVIDENCE:
            for one in self.dates:
                if one.kind == kind and (found := one.w3c):
                    return found
        return ""

    @property
    def year(self) -> int | None:
        """Return the year of `issued`; None if it is unknown."""
        issued = self.issued
        return int(issued[:4]) if issued else None

    @property
    def doi(self) -> str:
        """Return the first DOI, without ``doi:``; or ``""``."""
        return next(iter(self.identified("doi")), "")

    @property
    def language_tags(self) -> tuple[str, ...]:
        """Return the languages as BCP 47 tags; those that are none are left out."""
        return tuple(dict.fromkeys(filter(None, map(language_tag, self.languages))))

    def identified(self, kind: str) -> tuple[str, ...]:
        """Return the texts of the identifiers of a kind."""
        return tuple(one.text for one in self.identifiers if one.kind == kind)


_EVIDENCE = (
    "issued", "", "available", "copyrighted", "accepted", "submitted", "created", "other",
)  # fmt: skip
"""Kinds of dates, the best evidence of publication first."""
FIELDS = tuple(one.name for one in fields(Bibliography))
_DATE = re.compile(
    r"(?<!\d)(1\d{3}|20\d{2})(?!\d)(?:-(0[1-9]|1[0-2])(?!\d)(?:-(0[1-9]|[12]\d|3[01])(?!\d))?)?",
    re.ASCII,
)


def w3c_date(text: str) -> str:
    """Return the first date in a text as ``YYYY``, ``YYYY-MM`` or ``YYYY-MM-DD``; or ``""``.

    Source: W3C Note "Date and Time Formats".
    """
    match = _DATE.search(text)
    return "-".join(filter(None, match.groups())) if match else ""


@lru_cache(maxsize=4096)
def language_tag(text: str) -> str:
    """Return a language code as the shortest BCP 47 tag (``eng`` → ``en``); ``""`` for others."""
    import langcodes  # noqa: PLC0415 - takes 40 ms

    tag = text.strip().replace("_", "-")
    try:
        return langcodes.standardize_tag(tag) if langcodes.tag_is_valid(tag) else ""
    except ValueError:
        return ""
