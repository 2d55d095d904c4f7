"""Values → RDF terms, and statements → N-Triples. Pure."""

import re
from collections.abc import Callable, Iterable
from datetime import date, datetime
from urllib.parse import urlsplit

import langcodes
from rdflib import Literal, URIRef
from rdflib.namespace import DCTERMS, XSD
from rdflib.term import Node

Term = URIRef | Literal
Statement = tuple[URIRef, URIRef, Term]


def text(value: str, language: str = "") -> Literal:
    """Return a literal with its language; an invalid language tag is left out."""
    return Literal(value, lang=tag_of(language) or None)


def _plain(value: str, _language: str) -> Literal:
    return Literal(value)


def link_or_text(value: str, language: str = "") -> Term:
    """Return a link if the value is an absolute URI; else a literal."""
    return URIRef(value) if is_uri(value) else text(value, language)


def _language(value: str, language: str) -> Literal:
    tag = tag_of(value)
    return Literal(tag, datatype=DCTERMS.RFC5646) if tag else text(value, language)


def _licence(value: str, language: str) -> Term:
    """Return the address of a Creative Commons licence for its code in EPrints or SPDX."""
    code = value.replace("_", "-").replace(" ", "-").lower()
    if match := _CC.fullmatch(code):
        version = match["version"] if "." in match["version"] else f"{match['version']}.0"
        return URIRef(f"https://creativecommons.org/licenses/{match['terms']}/{version}/")
    if code in _CC0:
        return URIRef("https://creativecommons.org/publicdomain/zero/1.0/")
    return link_or_text(value, language)


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
TERMS: dict[str, Callable[[str, str], Term]] = {
    "text": text, "plain": _plain, "uri": link_or_text, "date": _date, "language": _language,
    "licence": _licence,
}  # fmt: skip
"""What `as` of a field says → makes the term of a text and its language."""
_CC = re.compile(r"cc-(?P<terms>by(?:-nc)?(?:-nd|-sa)?)-(?P<version>[234]|[234]\.0|2\.5)")
_CC0 = ("cc0", "cc-0", "cc0-1.0")

_URI = re.compile(
    r"(?:https?|ftp|urn|info|doi|hdl|mailto|tel|geo|oai|tag|ark):[!-;=?-\[\]_a-z~]+", re.IGNORECASE
)


def is_uri(value: str) -> bool:
    """Whether a value is an absolute URI by RFC 3986; servers refuse descriptions with others."""
    if not _URI.fullmatch(value) or re.search(r"%(?![0-9A-Fa-f]{2})|[\[\]\\^`{|}]", value):
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(parts.netloc) if parts.scheme in {"http", "https", "ftp"} else True


def tag_of(text: str) -> str:
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
