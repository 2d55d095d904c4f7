"""The Atom entry that describes a deposit, with DCMI terms (pure).

Source: SWORD 2.0 Profile, section 6.3.3; DCMI Metadata Terms.
"""

import re
import uuid
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from lxml import etree

from infopackages.elements import legible
from siloexport.bibliography import Bibliography
from siloexport.plan import digest_of
from siloexport.targets.sword.documents import ATOM, DCTERMS
from siloexport.values import Deposit

Term = tuple[str, str, str]
"""(name, text, language or ``""``)."""
_SEAL = re.compile(r"version (.+), key ([0-9a-f]{64})")
_DATES = {
    "issued": "issued", "": "date", "other": "date", "collected": "date",
    "created": "created", "available": "available", "modified": "modified", "valid": "valid",
    "accepted": "dateAccepted", "submitted": "dateSubmitted", "copyrighted": "dateCopyrighted",
}  # fmt: skip
_RELATIONS = {
    "IsPartOf": "isPartOf", "HasPart": "hasPart", "IsVersionOf": "isVersionOf",
    "HasVersion": "hasVersion", "IsReferencedBy": "isReferencedBy", "References": "references",
    "IsRequiredBy": "isRequiredBy", "Requires": "requires", "IsFormatOf": "isFormatOf",
    "Replaces": "replaces", "Obsoletes": "replaces", "IsObsoletedBy": "isReplacedBy",
}  # fmt: skip
UNTITLED = "[untitled]"


def terms(deposit: Deposit, found: Bibliography) -> list[Term]:
    """Return the DCMI terms of a deposit, in order, without the one that names it.

    Args:
        found: What its last version says.
    """
    told = ((name, _line(text), lang) for name, text, lang in _terms(deposit, found))
    return list(dict.fromkeys(one for one in told if one[1]))


def _terms(deposit: Deposit, found: Bibliography) -> Iterator[Term]:
    yield "title", found.title.text or UNTITLED, found.title.lang
    yield from (("alternative", *one) for one in found.alternatives)
    yield from (("creator", one.text, "") for one in found.creators)
    yield from (("contributor", one.text, "") for one in found.contributors)
    yield from (("publisher", *one) for one in found.publishers)
    yield from ((_DATES.get(one.kind, "date"), one.w3c or one.text, "") for one in found.dates)
    yield from (("type", *one) for one in found.types)
    yield from (("subject", *one) for one in found.subjects)
    yield from (("language", one, "") for one in found.language_tags or found.languages)
    yield "identifier", deposit.identifier, ""
    for identifier in found.identifiers:
        is_citation = identifier.kind == "citation"
        name = "bibliographicCitation" if is_citation else "identifier"
        yield name, identifier.address or identifier.text, ""
    for right in found.rights:
        yield "rights", right.text, right.lang
        yield "license", right.uri, ""
    yield from (("abstract", *one) for one in found.abstracts)
    yield from (("description", *one) for one in found.notes)
    for relation in found.relations:
        address = relation.identifier.address if relation.identifier else ""
        yield _RELATIONS.get(relation.kind, "relation"), address or relation.text, ""
    yield from (("source", *one) for one in found.sources)
    yield from (("coverage", *one) for one in found.coverages)


def described_as(told: list[Term]) -> str:
    """Return the digest of the terms, by which a later change is found."""
    return _digest((name, text) for name, text, _lang in told)


def described_there(found: tuple[tuple[str, str], ...]) -> str:
    """Return the digest of the terms that a server gave back, without the one with the seal."""
    return _digest(one for one in found if one[0] != "provenance" or not _SEAL.search(one[1]))


def _digest(told: Iterator[tuple[str, str]]) -> str:
    return digest_of(sorted(dict.fromkeys(told)))


def sealed(found: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    """Return (version, key) of a deposit from the terms that a server gave back; or two ``""``."""
    for name, text in found:
        if name == "provenance" and (match := _SEAL.search(text)):
            return match[1], match[2]
    return "", ""


def entry(deposit: Deposit, found: Bibliography, *, is_whole: bool = True) -> bytes:
    """Return the Atom entry of a deposit.

    Args:
        found: What its last version says.
        is_whole: Whether to name the version and its key, which the last request of a deposit
            does: from it, a later run knows that the deposit is whole.
    """
    told = terms(deposit, found)
    prefixes: Any = {None: ATOM, "dcterms": DCTERMS}  # the stubs do not allow None here
    root = etree.Element(f"{{{ATOM}}}entry", nsmap=prefixes)
    _add(root, f"{{{ATOM}}}title", found.title.text or UNTITLED)
    _add(root, f"{{{ATOM}}}id", f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, deposit.identifier)}")
    _add(root, f"{{{ATOM}}}updated", _moment(deposit))
    for author in _authors(deposit, found):
        _add(etree.SubElement(root, f"{{{ATOM}}}author"), f"{{{ATOM}}}name", author)
    if found.abstracts:
        _add(root, f"{{{ATOM}}}summary", found.abstracts[0].text)
    for name, text, lang in told:
        _add(root, f"{{{DCTERMS}}}{name}", text, lang)
    where = f"Harvested from {deposit.source}. " if deposit.source else ""
    text = f"{where}Exported from {deposit.identifier}"
    if is_whole:
        text += f", version {deposit.version.name}, key {deposit.key}"
    _add(root, f"{{{DCTERMS}}}provenance", text)
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True)


def _authors(deposit: Deposit, found: Bibliography) -> list[str]:
    """Return the names of the authors, of which Atom needs one at least."""
    some = found.creators or found.contributors[:1] or found.publishers[:1]
    return [one.text for one in some] or [deposit.source or "unknown"]


def _moment(deposit: Deposit) -> str:
    version = deposit.version
    try:
        moment = datetime.fromisoformat(version.origin.date or version.date or version.datestamp)
    except ValueError:
        return "1970-01-01T00:00:00Z"
    return f"{moment:%Y-%m-%dT%H:%M:%S}Z"


def _add(above: etree._Element, name: str, text: str, lang: str = "") -> None:
    element = etree.SubElement(above, name)
    element.text = _line(text)
    if lang:
        element.set("{http://www.w3.org/XML/1998/namespace}lang", legible(lang))


def _line(text: str) -> str:
    return " ".join(legible(text).split())
