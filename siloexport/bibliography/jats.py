"""JATS, read for a bibliography.

Source: JATS Journal Archiving and Interchange Tag Set, ``<article-meta>`` and ``<journal-meta>``.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lxml import etree

from recordsilo.formats import Value
from recordsilo.formats.collect import fold, language_of, local_name, text_of, within
from siloexport.bibliography.texts import identifier_of, name_of, relation_of, rights_of
from siloexport.bibliography.values import Dated, HostItem, Identifier, Name

_HREF = "{http://www.w3.org/1999/xlink}href"
_REF = "{http://www.niso.org/schemas/ali/1.0/}license_ref"


def read(root: etree._Element) -> dict[str, Any]:
    """Return the fields that the front matter of an article says, by name (`Bibliography`)."""
    meta = next(within(root, "article-meta"), None)
    if meta is None:
        return {}
    people = list(_people(meta))
    journal = next(within(root, "journal-meta"), None)
    container = _container(journal, meta)
    abstracts = (*within(meta, "abstract"), *within(meta, "trans-abstract"))
    return {
        "creators": tuple(one for one in people if one.role in {"aut", "cre"}),
        "contributors": tuple(one for one in people if one.role not in {"aut", "cre"}),
        "dates": tuple(_dates(meta)),
        "identifiers": tuple(_identifiers(meta)),
        "rights": tuple(_rights(meta)),
        "abstracts": tuple(Value(fold(text_of(one)), language_of(one)) for one in abstracts),
        "relations": tuple(
            filter(None, [
                relation_of(container.title, "IsPublishedIn"),
                relation_of(container.issn, "IsPublishedIn", "issn"),
            ])
        ),
        "container": container,
    }  # fmt: skip


def _first(element: etree._Element | None, name: str) -> str:
    if element is None:
        return ""
    return next((fold(text_of(one)) for one in within(element, name)), "")


def _people(meta: etree._Element) -> Iterator[Name]:
    places = {one.get("id", ""): fold(text_of(one)) for one in within(meta, "aff")}
    for person in within(meta, "contrib"):
        role = person.get("contrib-type") or "author"
        numbers = " ".join(text_of(one) for one in within(person, "contrib-id"))
        refs = [one.get("rid") for one in within(person, "xref") if one.get("ref-type") == "aff"]
        named = [*within(person, "name"), *within(person, "string-name")]
        for name in named or list(within(person, "collab")):
            is_group = local_name(name) == "collab"
            family, given = _first(name, "surname"), _first(name, "given-names")
            found = name_of(
                "" if family else text_of(name),
                role=role,
                orcid=numbers,
                kind="organization" if is_group else "person",
                family=family,
                given=given,
            )
            if found:
                yield replace(
                    found, affiliations=tuple(places[one] for one in refs if one in places)
                )


def _dates(meta: etree._Element) -> Iterator[Dated]:
    for one in within(meta, "pub-date"):
        if text := _date(one):
            yield Dated("issued", text)
    for one in within(meta, "date"):
        kind = {"accepted": "accepted", "received": "submitted"}.get(one.get("date-type", ""))
        if kind and (text := _date(one)):
            yield Dated(kind, text)


def _date(element: etree._Element) -> str:
    parts = {local_name(part): fold(text_of(part)) for part in element.iterchildren(etree.Element)}
    year, month, day = (parts.get(name, "") for name in ("year", "month", "day"))
    if not (year and month.isdecimal()):
        return year
    return "-".join([year, month.zfill(2), *([day.zfill(2)] if day.isdecimal() else [])])


def _identifiers(meta: etree._Element) -> Iterator[Identifier]:
    for one in within(meta, "article-id"):
        if found := identifier_of(text_of(one), one.get("pub-id-type", "")):
            yield found
    for one in within(meta, "self-uri"):
        if found := identifier_of(one.get(_HREF, ""), "url"):
            yield found


def _rights(meta: etree._Element) -> Iterator[Any]:
    for one in within(meta, "license"):
        ref = next((fold(text_of(found)) for found in one.iter(_REF)), "")
        text = " ".join(fold(text_of(part)) for part in within(one, "license-p"))
        if found := rights_of(text, one.get(_HREF, "") or ref, language_of(one)):
            yield found
    for one in within(meta, "copyright-statement"):
        if found := rights_of(text_of(one), lang=language_of(one)):
            yield found


def _container(journal: etree._Element | None, meta: etree._Element) -> HostItem:
    numbers = [] if journal is None else list(within(journal, "issn"))
    found = [identifier_of(text_of(one), "issn") for one in numbers]
    own = {
        local_name(one): fold(text_of(one))
        for one in meta.iterchildren(etree.Element)
        if not len(one)
    }
    return HostItem(
        _first(journal, "journal-title"),
        next((one.text for one in found if one and one.kind == "issn"), ""),
        "",
        own.get("volume", ""),
        own.get("issue", ""),
        own.get("fpage", ""),
        own.get("lpage", ""),
    )
