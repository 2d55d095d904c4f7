"""Crosswalk: a metadata file → RDF statements about its record, by a configurable mapping.

The mapping is TOML; `crosswalks/default.toml` is the default, and its first lines describe the
format.

    >>> crosswalk = Crosswalk.default()
    >>> statements = crosswalk.statements({"oai_dc": content}, URIRef("http://f/rest/silo/x"))

Loads rdflib; import it only where RDF is made.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import langcodes
from lxml import etree
from rdflib import Literal, URIRef
from rdflib.namespace import DCTERMS, XSD
from rdflib.term import Node

from recordsilo.formats import describe, main_first
from recordsilo.formats.collect import language_of, text_of
from recordsilo.formats.documents import parsed, unwrap
from recordsilo.formats.values import FIELD_OF_ELEMENT
from siloexport.errors import ExportError

Term = URIRef | Literal
Statement = tuple[URIRef, URIRef, Term]
_RULES = 3
"""Incremented when the same mapping gives different statements; part of every key."""


class CrosswalkError(ExportError):
    """A mapping that cannot be read or is invalid.

    Attributes:
        path: Of the file.
        line: Number of the line, from 1; 0 if it is not known.
    """

    def __init__(self, path: str, reason: str, line: int = 0) -> None:
        self.path, self.line = path, line
        where = f"{path}, line {line}," if line else path
        super().__init__(f"the crosswalk {where} {reason}")


@dataclass(frozen=True, slots=True)
class _Source:
    """The text of the mapping, to find the line of an error."""

    path: str
    text: str
    prefixes: Mapping[str, str]

    def error(self, reason: str, *named: Any) -> CrosswalkError:
        """Return an error that names the first line with all these values."""
        lines = enumerate(self.text.splitlines(), 1)
        line = next((n for n, line in lines if all(str(one) in line for one in named)), 0)
        return CrosswalkError(self.path, reason, line if named else 0)

    def check_keys(self, listed: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        """Refuse an unknown key, which would be ignored."""
        for key in listed:
            if key not in known:
                reason = f"has the unknown key {key!r} {where}; there are {', '.join(known)}"
                raise self.error(reason, key)


@dataclass(frozen=True, slots=True)
class _Field:
    """``failed`` makes the error for an XPath that cannot be evaluated."""

    select: etree.XPath
    predicate: URIRef
    kind: str
    failed: Callable[[str], CrosswalkError]


@dataclass(frozen=True, slots=True)
class _Format:
    """``root`` is in Clark's notation, or ``*``; without fields, `describe` gives the values."""

    root: str
    fields: tuple[_Field, ...]


@dataclass(frozen=True, slots=True)
class Crosswalk:
    """A mapping, read and checked.

    Attributes:
        id: Its name and a digest of its content, without comments and spaces.
        formats: Its formats in order.
        path: Name of the file.
    """

    id: str
    formats: tuple[_Format, ...]
    path: str

    @classmethod
    def default(cls) -> "Crosswalk":
        """Return the default mapping: oai_dc by fields, other formats as the page shows them."""
        shipped = files("siloexport").joinpath("crosswalks/default.toml")
        return cls.parse(shipped.read_text(encoding="utf-8"), "default.toml")

    @classmethod
    def read(cls, path: str) -> "Crosswalk":
        """Read a mapping.

        Raises:
            CrosswalkError: The file cannot be read or is invalid.
        """
        try:
            with open(path, encoding="utf-8") as file:
                return cls.parse(file.read(), path)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise CrosswalkError(path, f"cannot be read: {reason}") from error

    @classmethod
    def parse(cls, text: str, path: str = "given") -> "Crosswalk":
        """Parse the text of a mapping.

        Raises:
            CrosswalkError: It is invalid.
        """
        try:
            mapping = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise CrosswalkError(path, f"is not TOML: {error}") from error
        listed = mapping.get("format")
        if not isinstance(listed, list) or not listed:
            raise CrosswalkError(path, "has no [[format]]")
        prefixes = mapping.get("prefixes", {})
        source = _Source(path, text, prefixes if isinstance(prefixes, dict) else {})
        source.check_keys(mapping, _KEYS, "at its top")
        formats = tuple(_format(one, source) for one in listed)
        content = json.dumps([_RULES, mapping], sort_keys=True, default=str)
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        return cls(f"{mapping.get('name', 'crosswalk')} {digest}", formats, path)

    def statements(self, metadata: Mapping[str, bytes], subject: URIRef) -> tuple[Statement, ...]:
        """Map metadata files to statements about a subject, each once.

        The first format of the mapping that one of the files has is used; if several files have
        it, the main one.

        Args:
            metadata: Name → content, wrapped in the element of OAI-PMH or not.
            subject: Address of the object.

        Raises:
            CrosswalkError: An XPath of the mapping cannot be evaluated.
        """
        if (fitting := self._fitting(metadata)) is None:
            return ()
        one, name, root = fitting
        found = _mapped(one, root) if one.fields else _described(name, metadata[name])
        return tuple(dict.fromkeys((subject, to, term) for to, term in found))

    def fits(self, metadata: Mapping[str, bytes]) -> bool:
        """Whether one of the metadata files has a format of the mapping."""
        return self._fitting(metadata) is not None

    def _fitting(self, metadata: Mapping[str, bytes]) -> tuple[_Format, str, etree._Element] | None:
        documents = {name: _document(metadata[name]) for name in main_first(metadata)}
        for one in self.formats:
            for name, root in documents.items():
                if root is not None and one.root in ("*", root.tag):
                    return one, name, root
        return None


# -- reading a mapping --------------------------------------------------------------------


_KEYS = ("name", "prefixes", "format")
_FORMAT_KEYS = ("root", "fields", "described")
_FIELD_KEYS = ("from", "to", "as")


def _format(listed: Any, source: _Source) -> _Format:
    if not isinstance(listed, dict) or not isinstance(listed.get("root"), str):
        raise source.error("has a [[format]] without a root")
    source.check_keys(listed, _FORMAT_KEYS, "in a [[format]]")
    named = listed["root"]
    root = named if named == "*" else _expanded(named, source, "{%s}%s")
    if listed.get("described"):
        return _Format(root, ())
    fields = tuple(_field(field, source) for field in listed.get("fields", ()))
    if not fields:
        raise source.error(f"has no fields for {named}; say described = true, or give some", named)
    return _Format(root, fields)


def _field(listed: Any, source: _Source) -> _Field:
    try:
        select, to, kind = listed["from"], listed["to"], listed.get("as", "text")
    except (TypeError, KeyError) as error:
        named = listed.values() if isinstance(listed, dict) else ()
        raise source.error("has a field without from or to", *named) from error
    source.check_keys(listed, _FIELD_KEYS, "in a field")
    if kind not in _TERMS:
        raise source.error(f'has as = "{kind}"; there are {", ".join(_TERMS)}', kind)
    try:
        compiled = etree.XPath(select, namespaces=dict(source.prefixes), smart_strings=False)
    except (etree.XPathSyntaxError, TypeError, ValueError) as error:
        raise source.error(f'has an invalid XPath in from = "{select}"', select) from error
    for prefix in _prefixes(select):
        _expanded(f"{prefix}:", source, "%s%s", select)

    def failed(reason: str) -> CrosswalkError:
        return source.error(f'cannot evaluate from = "{select}": {reason}', select, to)

    return _Field(compiled, URIRef(_expanded(to, source, "%s%s")), kind, failed)


def _prefixes(xpath: str) -> list[str]:
    """Return the namespace prefixes in an XPath, without axes (``child::``) and strings."""
    unquoted = re.sub(r"""'[^']*'|"[^"]*\"""", " ", xpath)
    found = re.findall(r"([\w.-]+):(?!:)", re.sub(r"[\w-]+::", " ", unquoted))
    return [prefix for prefix in found if prefix != "xml"]


def _expanded(name: str, source: _Source, form: str, *named: str) -> str:
    prefix, colon, local = str(name).partition(":")
    if colon and isinstance(source.prefixes.get(prefix), str):
        return form % (source.prefixes[prefix], local)
    if _is_uri(str(name)) and form == "%s%s":
        return str(name)
    if not colon and form != "%s%s":
        return str(name)
    reason = f"uses the prefix of {name}, which [prefixes] does not have"
    raise source.error(reason, *(named or [name]))


# -- documents → values -------------------------------------------------------------------


def _document(content: bytes) -> etree._Element | None:
    return parsed(unwrap(content) or content)


def _mapped(one: _Format, root: etree._Element) -> Iterator[tuple[URIRef, Term]]:
    for field in one.fields:
        try:
            found = field.select(root)
        except etree.XPathEvalError as error:
            raise field.failed(str(error)) from error
        for text, language in _texts(found):
            if text:
                yield field.predicate, _TERMS[field.kind](text, language)


def _texts(found: Any) -> Iterator[tuple[str, str]]:
    """Yield texts and languages from the result of an XPath: nodes or a single value."""
    for one in found if isinstance(found, list) else [found]:
        if isinstance(one, etree._Element):
            yield " ".join(text_of(one).split()), language_of(one)
        elif not isinstance(one, bool):
            yield " ".join(str(one).split()), ""


def _described(name: str, content: bytes) -> Iterator[tuple[URIRef, Term]]:
    description = describe(name, content)
    for field, values in description.items() if description else ():
        element = _ELEMENT_OF_FIELD[field]
        for value in values:
            yield DCTERMS[element], _TERMS[_KIND.get(element, "text")](value.text, value.lang)


_ELEMENT_OF_FIELD = {field: element for element, field in FIELD_OF_ELEMENT.items()}
_KIND = {
    "date": "date", "type": "uri", "identifier": "plain", "source": "uri",
    "language": "language", "relation": "uri", "rights": "licence",
}  # fmt: skip


# -- values → terms -----------------------------------------------------------------------


def text(value: str, language: str = "") -> Literal:
    """Return a literal with its language; an invalid language tag is left out."""
    return Literal(value, lang=_tag(language) or None)


def _plain(value: str, _language: str) -> Literal:
    return Literal(value)


def _uri(value: str, language: str) -> Term:
    return URIRef(value) if _is_uri(value) else text(value, language)


def _language(value: str, language: str) -> Literal:
    tag = _tag(value)
    return Literal(tag, datatype=DCTERMS.RFC5646) if tag else text(value, language)


def _licence(value: str, language: str) -> Term:
    """Return the address of a Creative Commons licence for its code in EPrints or SPDX."""
    code = value.replace("_", "-").replace(" ", "-").lower()
    if match := _CC.fullmatch(code):
        version = match["version"] if "." in match["version"] else f"{match['version']}.0"
        return URIRef(f"https://creativecommons.org/licenses/{match['terms']}/{version}/")
    if code in _CC0:
        return URIRef("https://creativecommons.org/publicdomain/zero/1.0/")
    return _uri(value, language)


def _date(value: str, language: str) -> Literal:
    for pattern, datatype, read in _DATES:
        if pattern.fullmatch(value) and _reads(value, read):
            return Literal(value, datatype=datatype, normalize=False)
    return text(value, language)


def _reads(value: str, read: Callable[[str], object]) -> bool:
    try:
        read(value)
    except ValueError:
        return False
    return True


_DATES: tuple[tuple[re.Pattern[str], URIRef, Callable[[str], object]], ...] = (
    (re.compile(r"\d{4}", re.ASCII), XSD.gYear, lambda year: date(int(year), 1, 1)),
    (
        re.compile(r"\d{4}-\d\d", re.ASCII),
        XSD.gYearMonth,
        lambda month: date.fromisoformat(f"{month}-01"),
    ),
    (re.compile(r"\d{4}-\d\d-\d\d", re.ASCII), XSD.date, date.fromisoformat),
    (
        re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?", re.ASCII),
        XSD.dateTime,
        datetime.fromisoformat,
    ),
)
_TERMS: dict[str, Callable[[str, str], Term]] = {
    "text": text, "plain": _plain, "uri": _uri, "date": _date, "language": _language,
    "licence": _licence,
}  # fmt: skip
_CC = re.compile(r"cc-(?P<terms>by(?:-nc)?(?:-nd|-sa)?)-(?P<version>[234]|[234]\.0|2\.5)")
_CC0 = ("cc0", "cc-0", "cc0-1.0")

_URI = re.compile(
    r"(?:https?|ftp|urn|info|doi|hdl|mailto|tel|geo|oai|tag|ark):[!-;=?-\[\]_a-z~]+", re.IGNORECASE
)


def _is_uri(value: str) -> bool:
    """Whether a value is an absolute URI by RFC 3986; servers refuse descriptions with others."""
    if not _URI.fullmatch(value) or re.search(r"%(?![0-9A-Fa-f]{2})|[\[\]\\^`{|}]", value):
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(parts.netloc) if parts.scheme in {"http", "https", "ftp"} else True


def _tag(text: str) -> str:
    """Return a standard language tag (BCP 47): ``de`` for ``deu`` and ``ger``; or ``""``."""
    tag = text.strip().replace("_", "-")
    is_one = re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", tag) and langcodes.tag_is_valid(tag)
    return langcodes.standardize_tag(tag) if is_one else ""


def ntriples(statements: Iterable[tuple[Node, Node, Node]]) -> bytes:
    """Return statements as sorted N-Triples: the same statements give the same bytes.

    Source: RDF 1.1 N-Triples, "Canonicalization".
    """
    return "".join(
        sorted(" ".join(term.n3() for term in one) + " .\n" for one in statements)
    ).encode()
