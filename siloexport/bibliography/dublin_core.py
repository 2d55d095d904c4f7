"""Dublin Core and its relatives, read for a bibliography: UKETD_DC, ETD-MS, DIM of DSpace.

Source: see `recordsilo.formats.known.dublin_core` and ``etd_ms``; DSpace Intermediate Metadata.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from lxml import etree

from recordsilo.formats import Value
from recordsilo.formats.collect import children_of, fold, leaves, local_name, text_of
from recordsilo.formats.known.dublin_core import FIELDS
from siloexport.bibliography.texts import (
    abstracts_and_notes,
    identifier_of,
    name_of,
    relation_of,
    rights_of,
)
from siloexport.bibliography.values import Dated, Degree, Name

DIM = "http://www.dspace.org/xmlns/dspace/dim"
_ROLES = {
    "advisor": "advisor", "sponsor": "sponsor", "editor": "editor", "illustrator": "illustrator",
    "committeemember": "committee member",
}  # fmt: skip
"""Refinement of contributor → its role."""
_DATES = {
    "issued": "issued", "created": "created", "available": "available", "modified": "modified",
    "dateAccepted": "accepted", "dateSubmitted": "submitted", "dateCopyrighted": "copyrighted",
    "valid": "valid", "date": "", "publicationYear": "issued", "dateIssued": "issued",
    "updated": "modified", "submitted": "submitted", "copyright": "copyrighted",
    "embargodate": "available",
}  # fmt: skip
"""Element or refinement → kind of date."""
_RELATIONS = {
    "relation": "", "isPartOf": "IsPartOf", "hasPart": "HasPart", "isVersionOf": "IsVersionOf",
    "hasVersion": "HasVersion", "isReferencedBy": "IsReferencedBy", "references": "References",
    "isFormatOf": "IsVariantFormOf", "hasFormat": "IsOriginalFormOf",
    "isReplacedBy": "IsObsoletedBy", "replaces": "Obsoletes",
    "isRequiredBy": "IsRequiredBy", "requires": "Requires",
    "conformsTo": "", "ispartof": "IsPartOf", "ispartofseries": "IsPartOf", "haspart": "HasPart",
    "isversionof": "IsVersionOf", "hasversion": "HasVersion", "isreferencedby": "IsReferencedBy",
    "isformatof": "IsVariantFormOf", "isreplacedby": "IsObsoletedBy", "isbasedon": "IsDerivedFrom",
}  # fmt: skip
_IDENTIFIERS = {
    "identifier": "", "uri": "", "doi": "doi", "issn": "issn", "isbn": "isbn", "ismn": "ismn",
    "govdoc": "govdoc", "slug": "slug", "bibliographicCitation": "citation",
    "citation": "citation", "other": "other", "pmid": "pmid", "arxiv": "arxiv",
}  # fmt: skip
_ABSTRACTS = frozenset({"abstract"})
_NOTES = frozenset({"tableOfContents", "tableofcontents", "provenance", "note"})
_RIGHTS = frozenset({"rights", "license", "accessRights"})
_DEGREE = {
    "qualificationlevel": "level", "qualificationname": "name", "institution": "grantor",
    "department": "department", "degreename": "name", "degreelevel": "level",
    "degreediscipline": "discipline", "degreegrantor": "grantor",
}  # fmt: skip


class Leaf(NamedTuple):
    """A value: the name of its element or refinement, its text, its language, its attributes."""

    name: str
    text: str
    lang: str
    attributes: tuple[str, ...]
    role: str


def read(root: etree._Element) -> dict[str, Any]:
    """Return the fields that a document says, by name (`Bibliography`)."""
    if root.tag == f"{{{DIM}}}dim":
        return fields_of(_leaves_of_dim(root))
    return fields_of(
        Leaf(
            local_name(one), fold(text_of(one)), lang, tuple(map(str, one.attrib.values())),
            one.get("role", ""),
        )
        for one, lang in leaves(root, FIELDS)
    )  # fmt: skip


def read_thesis(root: etree._Element) -> dict[str, Any]:
    """Return the fields of an ETD-MS document."""
    found = fields_of(
        Leaf(
            "abstract" if local_name(one) == "description" and one.get("role") == "abstract" else
            "alternative" if local_name(one) == "alternativeTitle" else local_name(one),
            fold(one.text or ""), one.get("lang", ""), tuple(map(str, one.attrib.values())),
            one.get("role", ""),
        )
        for one in root.iterchildren(etree.Element)
        if not len(one)
    )  # fmt: skip
    for degree in children_of(root, "degree"):
        said = {local_name(one): fold(one.text or "") for one in degree.iterchildren(etree.Element)}
        found["degree"] = Degree(*(said.get(name, "") for name in _ETD_DEGREE))
        break
    return found


_ETD_DEGREE = ("name", "level", "discipline", "grantor")


def fields_of(said: Iterator[Leaf]) -> dict[str, Any]:
    """Return the fields of a bibliography that values say; only those that any value says."""
    found: dict[str, list[Any]] = {}
    degree: dict[str, str] = {}
    for one in said:
        if one.text and one.name in _DEGREE:
            degree.setdefault(_DEGREE[one.name], one.text)
        elif one.text and (known := _FIELDS.get(one.name)):
            field, make = known
            if (value := make(one)) is not None:
                found.setdefault(field, []).append(value)
    return _together(found, degree)


def _value(one: Leaf) -> Value:
    return Value(one.text, one.lang)


def _creator(one: Leaf) -> Name | None:
    return name_of(one.text, orcid=" ".join(one.attributes))


def _contributor(one: Leaf) -> Name | None:
    role = _ROLES.get(one.name) or one.role
    return name_of(one.text, role=role, orcid=" ".join(one.attributes))


def _date(one: Leaf) -> Dated:
    return Dated("available" if "embargoEnd" in one.text else _DATES[one.name], one.text)


_FIELDS: dict[str, tuple[str, Callable[[Leaf], Any]]] = {
    "title": ("titles", _value),
    "alternative": ("alternatives", _value),
    **dict.fromkeys(("creator", "creatorName", "author"), ("creators", _creator)),
    **dict.fromkeys((*_ROLES, "contributor", "contributorName"), ("contributors", _contributor)),
    **dict.fromkeys(_DATES, ("dates", _date)),
    **dict.fromkeys(
        _RELATIONS, ("relations", lambda one: relation_of(one.text, _RELATIONS[one.name]))
    ),
    **dict.fromkeys(
        _IDENTIFIERS, ("identifiers", lambda one: identifier_of(one.text, _IDENTIFIERS[one.name]))
    ),
    **dict.fromkeys(_RIGHTS, ("rights", lambda one: rights_of(one.text, lang=one.lang))),
    **dict.fromkeys(_ABSTRACTS, ("abstracts", _value)),
    **dict.fromkeys(_NOTES, ("notes", _value)),
    "description": ("descriptions", _value),
    "publisher": ("publishers", _value),
    "commercial": ("publishers", _value),
    "type": ("types", _value),
}
"""Name of an element or refinement → field, and what makes its value."""


def _together(found: dict[str, list[Any]], degree: dict[str, str]) -> dict[str, Any]:
    titles, descriptions = found.pop("titles", []), found.pop("descriptions", [])
    fields: dict[str, Any] = {name: tuple(values) for name, values in found.items()}
    if titles:
        fields["title"] = titles[0]
        fields["alternatives"] = (*titles[1:], *fields.get("alternatives", ()))
    abstracts, notes = (
        ((), tuple(descriptions))
        if "abstracts" in fields
        else abstracts_and_notes(tuple(descriptions))
    )
    if abstracts:
        fields["abstracts"] = abstracts
    if notes:
        fields["notes"] = (*fields.get("notes", ()), *notes)
    if degree:
        fields["degree"] = Degree(**degree)
        grantor = degree.get("grantor")
        if grantor and "publishers" not in fields:
            fields["publishers"] = (Value(grantor),)
    return fields


def _leaves_of_dim(root: etree._Element) -> Iterator[Leaf]:
    """Yield the fields of DIM: those of the schema dc by their qualifier, if it has a meaning."""
    for one in root.iterchildren(etree.Element):
        schema, element = one.get("mdschema", "dc"), one.get("element", "")
        qualifier = one.get("qualifier") or ""
        name = qualifier if qualifier in _QUALIFIERS.get(element, ()) else element
        if element == "contributor" and qualifier == "author":
            name = "creator"
        elif element == "degree" or (schema, element) == ("thesis", "degree"):
            name = f"degree{qualifier}"
        if element == "date" and qualifier == "accessioned":
            continue
        attributes = tuple(map(str, one.attrib.values()))
        role = qualifier if element == "contributor" else ""
        yield Leaf(name, fold(one.text or ""), one.get("lang") or "", attributes, role)


_QUALIFIERS = {
    "contributor": frozenset(_ROLES),
    "date": frozenset(_DATES),
    "description": _ABSTRACTS | _NOTES,
    "identifier": frozenset(_IDENTIFIERS),
    "relation": frozenset(_RELATIONS),
    "rights": frozenset({"license"}),
    "title": frozenset({"alternative"}),
}
