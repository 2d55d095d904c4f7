"""MARC 21, read for a bibliography.

Source: MARC 21 Format for Bibliographic Data.
"""

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

from recordsilo.formats import Description
from recordsilo.formats.collect import children_of, fold, local_name, text_of
from siloexport.bibliography.texts import identifier_of, name_of, relation_of, rights_of, role_code
from siloexport.bibliography.values import Dated, Degree, HostItem, Identifier, Name

_END = re.compile(r"\s*[/:;,=]+$|(?<=\w{2})\s*\.$")
_CREATORS = {"100": "person", "110": "organization", "111": "organization"}
_CONTRIBUTORS = {"700": "person", "710": "organization", "711": "organization", "720": ""}
_NUMBERS = {"020": "isbn", "022": "issn"}
_RELATIONS = {
    "773": "IsPartOf", "490": "IsPartOf", "830": "IsPartOf", "780": "Continues",
    "785": "IsContinuedBy", "776": "IsVariantFormOf", "775": "IsVersionOf", "787": "",
    "770": "IsSupplementedBy", "772": "IsSupplementTo", "774": "HasPart", "765": "IsTranslationOf",
    "767": "HasTranslation",
}  # fmt: skip


def read(root: etree._Element, described: Description) -> dict[str, Any]:
    """Return the fields that a ``<record>`` says, by name (`Bibliography`)."""
    if local_name(root) == "collection":
        root = next(children_of(root, "record"), root)
    fields = [(one.get("tag", ""), one) for one in children_of(root, "datafield")]
    creators = tuple(_names(fields, _CREATORS))
    contributors = tuple(_names(fields, _CONTRIBUTORS))
    authors = tuple(one for one in contributors if one.role in {"aut", "cre"})
    abstracts = {text for tag, one in fields if tag == "520" and (text := _text(one, "ab"))}
    return {
        "creators": (*creators, *authors),
        "contributors": tuple(one for one in contributors if one not in authors),
        "dates": _dates(fields, described),
        "identifiers": tuple(_identifiers(fields)),
        "rights": tuple(
            found
            for tag, one in fields
            if tag in {"506", "540"} and (found := rights_of(_text(one, "af"), _text(one, "u")))
        ),
        "abstracts": tuple(one for one in described.descriptions if one.text in abstracts),
        "notes": tuple(one for one in described.descriptions if one.text not in abstracts),
        "relations": tuple(_relations(fields)),
        "container": _container(fields),
        "degree": _degree(fields),
        "edition": next((_ended(_text(one, "a")) for tag, one in fields if tag == "250"), ""),
    }


_Fields = list[tuple[str, etree._Element]]


def _text(element: etree._Element, codes: str, between: str = " ") -> str:
    texts = (
        fold(text_of(one))
        for one in children_of(element, "subfield")
        if one.get("code", " ") in codes
    )
    return between.join(filter(None, texts))


def _ended(text: str) -> str:
    return _END.sub("", text)


def _names(fields: _Fields, tags: dict[str, str]) -> Iterator[Name]:
    for tag, kind in tags.items():
        for found, one in fields:
            if found != tag:
                continue
            roles = [_text(part, "4e") for part in _each(one, "4e")]
            roles.sort(key=lambda text: not role_code(text))
            name = name_of(
                _ended(_text(one, "abcq")),
                role=(roles or [""])[0],
                orcid=_text(one, "01"),
                kind=kind,
            )
            if name:
                yield name


def _each(element: etree._Element, codes: str) -> Iterator[etree._Element]:
    """Yield an element for each subfield with one of the codes."""
    for one in children_of(element, "subfield"):
        if one.get("code", " ") in codes:
            alone = etree.Element("datafield")
            etree.SubElement(alone, "subfield", code=one.get("code", "")).text = text_of(one)
            yield alone


def _dates(fields: _Fields, described: Description) -> tuple[Dated, ...]:
    kinds = {
        _ended(_text(one, "c").translate(_BRACKETS)): "copyrighted"
        for tag, one in fields
        if tag == "264" and one.get("ind2") == "4"
    }
    return tuple(Dated(kinds.get(one.text, "issued"), one.text) for one in described.dates)


_BRACKETS = str.maketrans("", "", "[]")


def _identifiers(fields: _Fields) -> Iterator[Identifier]:
    for tag in ("024", "020", "022", "027", "028", "037"):
        for found, one in fields:
            if found == tag:
                said = _NUMBERS.get(tag) or _text(one, "2")
                number = identifier_of(_ended(_text(one, "a").partition(" (")[0]), said)
                if number:
                    yield number
    for tag, one in fields:
        if tag == "856":
            for url in _each(one, "u"):
                if number := identifier_of(_text(url, "u"), "url"):
                    yield number


def _relations(fields: _Fields) -> Iterator[Any]:
    for tag, one in fields:
        if tag in _RELATIONS:
            kind = _RELATIONS[tag]
            title = _text(one, "av") if tag in {"490", "830"} else _ended(_text(one, "t"))
            yield from filter(None, [
                relation_of(title, kind),
                relation_of(_text(one, "x"), kind, "issn"),
                relation_of(_text(one, "o"), kind),
            ])  # fmt: skip


def _container(fields: _Fields) -> HostItem:
    for tag, one in fields:
        if tag == "773":
            issn, isbn = (
                identifier_of(_text(one, "x"), "issn"),
                identifier_of(_text(one, "z"), "isbn"),
            )
            return HostItem(
                title=_ended(_text(one, "t")),
                issn=issn.text if issn and issn.kind == "issn" else "",
                isbn=isbn.text if isbn and isbn.kind == "isbn" else "",
            )
    return HostItem()


def _degree(fields: _Fields) -> Degree:
    for tag, one in fields:
        if tag == "502":
            return Degree(name=_ended(_text(one, "b")), grantor=_ended(_text(one, "c")))
    return Degree()
