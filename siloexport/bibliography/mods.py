"""MODS, read for a bibliography.

Source: MODS 3.8 (Library of Congress).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lxml import etree

from recordsilo.formats import Description, Value
from recordsilo.formats.collect import (
    children_of,
    first_text,
    fold,
    language_of,
    local_name,
    text_of,
)
from siloexport.bibliography.texts import identifier_of, name_of, relation_of, rights_of, role_code
from siloexport.bibliography.values import Dated, Degree, HostItem, Identifier, Name

_HREF = "{http://www.w3.org/1999/xlink}href"
_CREATORS = frozenset({"", "aut", "cre"})
_DATES = {
    "dateIssued": "issued", "copyrightDate": "copyrighted", "dateCreated": "created",
    "dateValid": "valid", "dateCaptured": "collected", "dateModified": "modified",
    "dateOther": "other",
}  # fmt: skip
_KINDS = {"personal": "person", "corporate": "organization", "conference": "organization"}
_RELATIONS = {
    "host": "IsPartOf", "series": "IsPartOf", "constituent": "HasPart", "preceding": "Continues",
    "succeeding": "IsContinuedBy", "otherVersion": "IsVersionOf",
    "otherFormat": "IsVariantFormOf", "isReferencedBy": "IsReferencedBy",
    "references": "References", "reviewOf": "Reviews", "original": "IsDerivedFrom",
}  # fmt: skip


def read(root: etree._Element, described: Description) -> dict[str, Any]:
    """Return the fields that a ``<mods>`` document says, by name (`Bibliography`)."""
    if local_name(root) == "modsCollection":
        root = next(children_of(root, "mods"), root)
    names = [name for one in children_of(root, "name") if (name := _name(one))]
    abstracts = tuple(_value(one) for one in children_of(root, "abstract"))
    known = {one.text for one in abstracts}
    creators = tuple(one for one in names if _is_creator(one))
    related = [
        found for one in children_of(root, "relatedItem") for found in _related(one) if found
    ]
    return {
        "title": described.titles[0] if described.titles else Value(""),
        "creators": creators,
        "contributors": tuple(one for one in names if one not in creators),
        "dates": tuple(_dates(root)),
        "identifiers": tuple(_identifiers(root)),
        "rights": tuple(
            found
            for one in children_of(root, "accessCondition")
            if (found := rights_of(text_of(one), one.get(_HREF, ""), _lang(one)))
        ),
        "abstracts": abstracts,
        "notes": tuple(one for one in described.descriptions if one.text not in known),
        "relations": tuple(related),
        "container": _container(root),
        "degree": Degree(grantor=next((one.text for one in names if one.role == "dgg"), "")),
        "edition": next(
            (first_text(one, "edition") for one in children_of(root, "originInfo")), ""
        ),
    }


def _lang(element: etree._Element) -> str:
    return element.get("lang") or language_of(element)


def _value(element: etree._Element) -> Value:
    return Value(fold(text_of(element)), _lang(element))


def _is_creator(name: Name) -> bool:
    return name.role in _CREATORS and (bool(name.role) or not name.role_text)


def _name(element: etree._Element) -> Name | None:
    terms = [
        term for role in children_of(element, "role") for term in children_of(role, "roleTerm")
    ]
    roles = sorted((fold(text_of(term)) for term in terms), key=lambda one: not role_code(one))
    creating = [one for one in roles if role_code(one) in {"aut", "cre"}]
    parts: dict[str, list[str]] = {}
    for part in children_of(element, "namePart"):
        parts.setdefault(part.get("type", ""), []).append(fold(text_of(part)))
    ids = [text_of(one) for one in children_of(element, "nameIdentifier")]
    found = name_of(
        ", ".join(parts.get("", ())) or "" if parts.get("", ()) else _displayed(element, parts),
        role=(creating or roles or [""])[0],
        orcid=" ".join([*ids, element.get("valueURI", "")]),
        kind=_KINDS.get(element.get("type", ""), ""),
        family=" ".join(parts.get("family", ())),
        given=" ".join(parts.get("given", ())),
    )
    if found is None:
        return None
    affiliations = (fold(text_of(one)) for one in children_of(element, "affiliation"))
    return replace(found, affiliations=tuple(filter(None, affiliations)))


def _displayed(element: etree._Element, parts: dict[str, list[str]]) -> str:
    has_parts = parts.get("family") or parts.get("given")
    return "" if has_parts else first_text(element, "displayForm")


def _dates(root: etree._Element) -> Iterator[Dated]:
    for origin in children_of(root, "originInfo"):
        for name, kind in _DATES.items():
            dates = list(children_of(origin, name))
            points = {one.get("point"): fold(text_of(one)) for one in dates}
            if "start" in points and "end" in points:
                yield Dated(kind, f"{points['start']}/{points['end']}")
                continue
            yield from (Dated(kind, text) for one in dates if (text := fold(text_of(one))))


def _identifiers(root: etree._Element) -> Iterator[Identifier]:
    for one in children_of(root, "identifier"):
        if one.get("invalid") != "yes" and (
            found := identifier_of(text_of(one), one.get("type", ""))
        ):
            yield found
    for location in children_of(root, "location"):
        for url in children_of(location, "url"):
            if found := identifier_of(text_of(url), "url"):
                yield found


def _related(item: etree._Element) -> Iterator[Any]:
    kind = _RELATIONS.get(item.get("type", ""), "")
    for title in children_of(item, "titleInfo"):
        yield relation_of(first_text(title, "title"), kind)
    for one in children_of(item, "identifier"):
        yield relation_of(text_of(one), kind, one.get("type", ""))
    for location in children_of(item, "location"):
        for url in children_of(location, "url"):
            yield relation_of(text_of(url), kind, "url")


def _container(root: etree._Element) -> HostItem:
    for item in children_of(root, "relatedItem"):
        if item.get("type") != "host":
            continue
        numbers = {
            found.kind: found.text
            for one in children_of(item, "identifier")
            if (found := identifier_of(text_of(one), one.get("type", "")))
        }
        details: dict[str, str] = {}
        for place in (*children_of(item, "part"), *children_of(root, "part")):
            for detail in children_of(place, "detail"):
                details.setdefault(detail.get("type", ""), first_text(detail, "number"))
            for extent in children_of(place, "extent"):
                for name in ("start", "end"):
                    details.setdefault(name, first_text(extent, name))
        titles = (first_text(one, "title") for one in children_of(item, "titleInfo"))
        return HostItem(
            next(titles, ""), numbers.get("issn", ""), numbers.get("isbn", ""),
            details.get("volume", ""), details.get("issue", details.get("number", "")),
            details.get("start", ""), details.get("end", ""),
        )  # fmt: skip
    return HostItem()
