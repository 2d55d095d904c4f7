"""DataCite: the metadata with which DOIs of data sets, software and reports are registered.

``oai_datacite`` wraps it in an element that names the data centre.

Source: DataCite Metadata Schema 4.6, and its "DataCite to Dublin Core Mapping";
schema.datacite.org/oai/oai-1.1.
"""

from collections.abc import Iterator

from lxml import etree

from recordsilo.formats import generic
from recordsilo.formats.collect import (
    Collector,
    children_of,
    first_text,
    language_of,
    text_of,
)
from recordsilo.formats.format import Format, Root
from recordsilo.formats.values import Description, doi_address


def read(root: etree._Element) -> Description:
    """Describe a ``<resource>``."""
    found = Collector()
    titles = list(_listed(root, "titles", "title"))
    titles.sort(key=lambda one: one.get("titleType") is not None)  # the main title has none
    for title in titles:
        found.add_element("titles", title)
    _people(found, root)
    for field, listed, name in _PLAIN:
        for element in _listed(root, listed, name):
            found.add(field, text_of(element), language_of(element))
    for name, field in (("publisher", "publishers"), ("language", "languages")):
        found.add(field, first_text(root, name))
    _dates(found, root)
    _types(found, root)
    _identifiers(found, root)
    _rights(found, root)
    for place in _listed(root, "geoLocations", "geoLocation"):
        found.add("coverages", first_text(place, "geoLocationPlace"))
    return found.description()


_PLAIN = (
    ("subjects", "subjects", "subject"),
    ("descriptions", "descriptions", "description"),
    ("formats", "formats", "format"),
    ("formats", "sizes", "size"),
)
"""(field, parent element, element)."""


def _listed(root: etree._Element, around: str, name: str) -> Iterator[etree._Element]:
    for parent in children_of(root, around):
        yield from children_of(parent, name)


def _people(found: Collector, root: etree._Element) -> None:
    for field, name in (("creators", "creator"), ("contributors", "contributor")):
        for person in _listed(root, field, name):
            family, given = first_text(person, "familyName"), first_text(person, "givenName")
            parts = ", ".join(filter(None, [family, given])) if family else ""
            found.add(field, first_text(person, f"{name}Name") or parts)


def _dates(found: Collector, root: etree._Element) -> None:
    """Add the dates: that of issue, then the year of publication, then the others."""
    dates = list(_listed(root, "dates", "date"))
    year = first_text(root, "publicationYear")
    issued = [one for one in dates if one.get("dateType") == "Issued"]
    for date in issued:
        found.add("dates", text_of(date))
    if not any(text_of(one).strip().startswith(year) for one in issued):
        found.add("dates", year)
    for date in dates:
        if date not in issued:
            found.add("dates", text_of(date))


def _types(found: Collector, root: etree._Element) -> None:
    for element in children_of(root, "resourceType"):
        found.add("types", element.get("resourceTypeGeneral", ""))
        found.add("types", text_of(element))


def _identifiers(found: Collector, root: etree._Element) -> None:
    for element in children_of(root, "identifier"):
        found.add("identifiers", _address(element, element.get("identifierType", "")))
    for element in _listed(root, "alternateIdentifiers", "alternateIdentifier"):
        found.add("identifiers", text_of(element))
    for element in _listed(root, "relatedIdentifiers", "relatedIdentifier"):
        found.add("relations", _address(element, element.get("relatedIdentifierType", "")))
    for item in _listed(root, "relatedItems", "relatedItem"):
        for title in _listed(item, "titles", "title"):
            found.add_element("relations", title)


def _address(element: etree._Element, kind: str) -> str:
    text = text_of(element).strip()
    return doi_address(text) if kind.upper() == "DOI" else text


def _rights(found: Collector, root: etree._Element) -> None:
    for element in (*_listed(root, "rightsList", "rights"), *children_of(root, "rights")):
        found.add_element("rights", element)
        found.add("rights", element.get("rightsURI", ""))


def _payload(root: etree._Element) -> Iterator[etree._Element]:
    """The ``<resource>`` in an ``<oai_datacite>``."""
    for payload in children_of(root, "payload"):
        yield from payload.iterchildren(etree.Element)


DATACITE = Format(
    name="DataCite",
    version=1,
    roots=(Root("resource", ("http://datacite.org/schema/", "https://schema.datacite.org/")),),
    prefixes=("datacite", "oai_datacite", "datacite4", "oai_datacite4"),
    preference=2,
    read=read,
    link_prefixes={
        f"http://datacite.org/schema/kernel-{version}": "datacite"
        for version in ("2.1", "2.2", "3", "4")
    },
    names={"": ("publisher", "publicationYear", "language", "version")},
)
OAI_DATACITE = Format(
    name="OAI DataCite",
    version=1,
    roots=(Root("oai_datacite", ("http://schema.datacite.org/oai/",)),),
    prefixes=(),
    preference=2,
    read=generic.read,
    within=_payload,
    names={"": ("schemaVersion", "datacentreSymbol")},
)
FORMATS = (DATACITE, OAI_DATACITE)
