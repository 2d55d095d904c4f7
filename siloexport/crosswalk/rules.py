"""The rules of a crosswalk as values, and how a document becomes terms by them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from lxml import etree
from rdflib import URIRef
from rdflib.namespace import DC, DCTERMS

from recordsilo.formats import describe
from recordsilo.formats.collect import language_of, text_of
from recordsilo.formats.values import FIELD_OF_ELEMENT
from siloexport.crosswalk.source import CrosswalkError
from siloexport.crosswalk.terms import TERMS, Term


class MergeRule(StrEnum):
    """What happens with several metadata files of one version."""

    FIRST = "first"
    """All are used; of each predicate, only the values of the first file that has any."""
    UNION = "union"
    """All values of all files."""
    FORMAT = "format"
    """Only the first file that has a format is used, as in files of version 1."""


@dataclass(frozen=True, slots=True)
class XPath:
    """A compiled expression; ``failed`` makes the error where it cannot be evaluated."""

    select: Callable[[etree._Element], Any]
    failed: Callable[[str], CrosswalkError]

    def __call__(self, root: etree._Element) -> Any:
        try:
            return self.select(root)
        except etree.XPathEvalError as error:
            raise self.failed(str(error)) from error


@dataclass(frozen=True, slots=True)
class ValueTable:
    """Values of the source → values to write; letters' case makes no difference.

    Attributes:
        keeps_others: Whether a value that it does not have stays as it is, or is left out.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    keeps_others: bool = True

    def __call__(self, text: str) -> str:
        return self.values.get(text.casefold(), text if self.keeps_others else "")


@dataclass(frozen=True, slots=True)
class FieldRule:
    """One field of a format.

    Attributes:
        select: What to take from the document; None for a constant.
        constant: The text of the constant.
        predicate: Of the statements; also by this, fields of several formats are one.
        of_uris: The predicate of values that become links.
        kind: A key of `siloexport.crosswalk.terms.TERMS`.
        table: Replaces values.
        split: Separates several values in one text; ``""`` for none.
        language: Of texts without one.
        condition: Whether the field applies to a document.
        merge: None for that of the mapping.
    """

    select: XPath | None
    constant: str
    predicate: URIRef
    of_uris: URIRef
    kind: str = "text"
    table: ValueTable = ValueTable()
    split: str = ""
    language: str = ""
    condition: XPath | None = None
    merge: MergeRule | None = None

    def terms(self, root: etree._Element) -> Iterator[Term]:
        """Yield the terms for a document."""
        if self.condition is not None and not _is_true(self.condition(root)):
            return
        found = self.constant if self.select is None else self.select(root)
        for text, language in _texts(found):
            for part in text.split(self.split) if self.split else (text,):
                if value := self.table(part.strip()):
                    yield TERMS[self.kind](value, language or self.language)


@dataclass(frozen=True, slots=True)
class FormatRule:
    """A format: ``root`` is in Clark's notation, or ``*``; without fields, `describe` is used."""

    root: str
    fields: tuple[FieldRule, ...]
    condition: XPath | None = None
    language: str = ""

    def fits(self, root: etree._Element) -> bool:
        """Whether it applies to a document."""
        if self.root not in ("*", root.tag):
            return False
        return self.condition is None or _is_true(self.condition(root))


@dataclass(frozen=True, slots=True)
class FileRule:
    """What files with names of a pattern are called in their own descriptions.

    Attributes:
        pattern: As in a shell: ``*.pdf``; of the whole path, or of the name alone.
        uses: URIs of classes, such as ``http://pcdm.org/use#OriginalFile``.
    """

    pattern: str
    title: str = ""
    language: str = ""
    uses: tuple[URIRef, ...] = ()

    def fits(self, path: str) -> bool:
        """Whether it applies to a file."""
        names = {path, path.rpartition("/")[2]}
        return any(fnmatchcase(name.casefold(), self.pattern.casefold()) for name in names)


def _is_true(found: Any) -> bool:
    return bool(found.strip() if isinstance(found, str) else found)


def _texts(found: Any) -> Iterator[tuple[str, str]]:
    """Yield texts and languages from the result of an XPath: nodes or a single value."""
    for one in found if isinstance(found, list) else [found]:
        if isinstance(one, etree._Element):
            yield " ".join(text_of(one).split()), language_of(one)
        elif not isinstance(one, bool):
            yield " ".join(str(one).split()), ""


_ELEMENT_OF_FIELD = {field: element for element, field in FIELD_OF_ELEMENT.items()}
_KIND = {
    "date": "date", "type": "uri", "identifier": "plain", "source": "uri",
    "language": "language", "relation": "uri", "rights": "licence",
}  # fmt: skip
_OF_TEXTS = frozenset({"title", "description", "date", "identifier"})
"""Elements whose Dublin Core terms DCMI means for texts; the others mean things."""
_LINKS = frozenset({"creator", "contributor", "subject", "publisher", "format", "coverage"})


def described(
    name: str, content: bytes, version: int, usual: str = ""
) -> Iterator[tuple[URIRef, URIRef, Term]]:
    """Yield what the page shows of a metadata file: field, predicate, term.

    Args:
        name: Of the file.
        version: 1 for Dublin Core terms only; 2 for texts under Dublin Core 1.1.
        usual: Language of texts without one.
    """
    description = describe(name, content)
    for field_name, values in description.items() if description else ():
        element = _ELEMENT_OF_FIELD[field_name]
        kind = _KIND.get(element, "uri" if version > 1 and element in _LINKS else "text")
        texts = DCTERMS[element] if version < 2 or element in _OF_TEXTS else DC[element]
        for value in values:
            term = TERMS[kind](value.text, value.lang or usual)
            yield texts, DCTERMS[element] if isinstance(term, URIRef) else texts, term
