"""A document of DataCite in JSON → the same in XML (pure).

Source: DataCite Metadata Schema 4.5, metadata.xsd.
"""

from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any

from infopackages.elements import XSI, Element, document, element
from siloexport.targets.datacite_document import NAMESPACE, Document

_XML = "http://www.w3.org/XML/1998/namespace"
_SCHEMA = f"{NAMESPACE} https://schema.datacite.org/meta/kernel-4.5/metadata.xsd"
_Made = Iterable[Element]
_LISTS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("titles", "title", "title", ("titleType", "lang")),
    ("subjects", "subject", "subject", ("subjectScheme", "schemeUri", "valueUri", "lang")),
    ("dates", "date", "date", ("dateType",)),
    ("alternateIdentifiers", "alternateIdentifier", "alternateIdentifier",
     ("alternateIdentifierType",)),
    ("relatedIdentifiers", "relatedIdentifier", "relatedIdentifier",
     ("relatedIdentifierType", "relationType")),
    ("rightsList", "rights", "rights",
     ("rightsUri", "rightsIdentifier", "rightsIdentifierScheme", "schemeUri", "lang")),
    ("descriptions", "description", "description", ("descriptionType", "lang")),
)  # fmt: skip
"""(list, its elements, the member that is their text, those that are attributes)."""
_IN_XML = {"lang": f"{{{_XML}}}lang", "rightsUri": "rightsURI", "schemeUri": "schemeURI",
           "valueUri": "valueURI"}  # fmt: skip


def xml_of(said: Document) -> bytes:
    """Return a document in XML.

    Args:
        said: From `siloexport.targets.datacite_document.document_of`.
    """
    out = BytesIO()
    spaces = {None: NAMESPACE, "xsi": XSI, "xml": _XML}
    with document(out, "resource", spaces, {f"{{{XSI}}}schemaLocation": _SCHEMA}) as root:
        for one in _parts(said):
            root.write(one)
    return out.getvalue()


def _parts(said: Document) -> _Made:
    yield Element("identifier", {"identifierType": "DOI"}, said["doi"])
    yield _around("creators", (_person("creator", one) for one in said["creators"]))
    publisher = said["publisher"]
    about = (*_identifier("publisherIdentifier"), "lang")
    yield Element("publisher", _attributes(publisher, about), publisher["name"])
    yield element("publicationYear", said["publicationYear"])
    types = said["types"]
    general = {"resourceTypeGeneral": types["resourceTypeGeneral"]}
    yield Element("resourceType", general, types.get("resourceType", ""))
    if people := said.get("contributors"):
        yield _around("contributors", (_person("contributor", one) for one in people))
    for around, name, text, attributes in _LISTS:
        if values := said.get(around):
            yield _around(
                around,
                (Element(name, _attributes(one, attributes), one.get(text, "")) for one in values),
            )
    for name in ("language", "version"):
        if name in said:
            yield element(name, said[name])
    for around, name in (("sizes", "size"), ("formats", "format")):
        if values := said.get(around):
            yield _around(around, (element(name, one) for one in values))
    if places := said.get("geoLocations"):
        yield _around(
            "geoLocations",
            (
                element("geoLocation", element("geoLocationPlace", one["geoLocationPlace"]))
                for one in places
            ),
        )
    if funders := said.get("fundingReferences"):
        yield _around(
            "fundingReferences",
            (
                element("fundingReference", element("funderName", one["funderName"]))
                for one in funders
            ),
        )
    if items := said.get("relatedItems"):
        yield _around("relatedItems", map(_item, items))


def _around(name: str, made: _Made) -> Element:
    return Element(name, {}, list(made))


def _attributes(one: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    return {_IN_XML.get(name, name): one[name] for name in names if name in one}


def _identifier(name: str) -> tuple[str, str, str]:
    return name, f"{name}Scheme", "schemeUri"


def _person(name: str, one: Mapping[str, Any]) -> Element:
    parts = [Element(f"{name}Name", _attributes(one, ("nameType",)), one["name"])]
    parts += [element(part, one[part]) for part in ("givenName", "familyName") if part in one]
    parts += [
        Element(
            "nameIdentifier",
            _attributes(number, ("nameIdentifierScheme", "schemeUri")),
            number["nameIdentifier"],
        )
        for number in one.get("nameIdentifiers", ())
    ]
    about = _identifier("affiliationIdentifier")
    parts += [
        Element("affiliation", _attributes(place, about), place["name"])
        for place in one.get("affiliation", ())
    ]
    return Element(name, _attributes(one, ("contributorType",)), parts)


def _item(one: Mapping[str, Any]) -> Element:
    parts = []
    if number := one.get("relatedItemIdentifier"):
        kind = _attributes(number, ("relatedItemIdentifierType",))
        parts.append(Element("relatedItemIdentifier", kind, number["relatedItemIdentifier"]))
    parts.append(_around("titles", (element("title", title["title"]) for title in one["titles"])))
    parts += [
        element(name, one[name])
        for name in ("volume", "issue", "firstPage", "lastPage")
        if name in one
    ]
    return Element("relatedItem", _attributes(one, ("relatedItemType", "relationType")), parts)
