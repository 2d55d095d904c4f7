"""Dublin Core: ``oai_dc``, and the qualified form for theses, ``uketd_dc``.

Source: OAI-PMH 2.0 guidelines, "oai_dc"; DCMI Metadata Terms, "Properties in the /terms/
namespace"; UKETD_DC application profile (EThOS), whose elements are Dublin Core terms and
refinements of them.
"""

from lxml import etree

from recordsilo.formats.collect import Collector, fold, leaves, local_name, text_of
from recordsilo.formats.documents import OAI_NAMESPACES
from recordsilo.formats.format import Format, Root
from recordsilo.formats.values import FIELD_OF_ELEMENT, Description

FIELD_OF_REFINEMENT = {
    "alternative": "titles",
    "abstract": "descriptions",
    "tableOfContents": "descriptions",
    "advisor": "contributors",
    "sponsor": "contributors",
    "institution": "publishers",
    "department": "publishers",
    "commercial": "publishers",
    "issued": "dates",
    "created": "dates",
    "available": "dates",
    "modified": "dates",
    "dateAccepted": "dates",
    "qualificationlevel": "types",
    "qualificationname": "types",
    "extent": "formats",
    "medium": "formats",
    "isReferencedBy": "relations",
    "references": "relations",
    "isPartOf": "relations",
    "hasPart": "relations",
    "isVersionOf": "relations",
    "hasVersion": "relations",
    "spatial": "coverages",
    "temporal": "coverages",
    "license": "rights",
    "accessRights": "rights",
    "embargodate": "rights",
    "embargotype": "rights",
}
ELEMENTS = (
    "title", "creator", "subject", "description", "publisher", "contributor", "date", "type",
    "format", "identifier", "source", "language", "relation", "coverage", "rights",
)  # fmt: skip
"""The fifteen elements, in the order of the specification."""
DC = "http://purl.org/dc/elements/1.1/"
TERMS = "http://purl.org/dc/terms/"
_TERM_NAMES = (
    *ELEMENTS, "abstract", "accessRights", "accrualMethod", "accrualPeriodicity",
    "accrualPolicy", "alternative", "audience", "available", "bibliographicCitation",
    "conformsTo", "created", "dateAccepted", "dateCopyrighted", "dateSubmitted",
    "educationLevel", "extent", "hasFormat", "hasPart", "hasVersion", "instructionalMethod",
    "isFormatOf", "isPartOf", "isReferencedBy", "isReplacedBy", "isRequiredBy", "isVersionOf",
    "issued", "license", "mediator", "medium", "modified", "provenance", "references",
    "replaces", "requires", "rightsHolder", "spatial", "tableOfContents", "temporal", "valid",
)  # fmt: skip
_THESIS_NAMES = (
    "advisor", "checksum", "commercial", "department", "embargodate", "embargoreason",
    "embargotype", "grantnumber", "institution", "qualificationlevel", "qualificationname",
    "sponsor",
)  # fmt: skip
NAMES = {DC: ELEMENTS, TERMS: _TERM_NAMES}
"""Namespace → its names, for every format that uses these namespaces."""
FIELDS = FIELD_OF_ELEMENT | FIELD_OF_REFINEMENT


def read(root: etree._Element) -> Description:
    """Describe a Dublin Core document; other elements are ignored.

    Text with markup, such as ``<dc:title>On <i>Bufo bufo</i></dc:title>``, is read without it.
    """
    found = Collector()
    for element, language in leaves(root, FIELDS):
        if field := FIELDS.get(local_name(element)):
            found.add(field, text_of(element), language)
    return found.description()


def title(root: etree._Element) -> str:
    """The title of a Dublin Core document; ``""`` if it has none."""
    for element, _language in leaves(root, FIELDS):
        if FIELDS.get(local_name(element)) == "titles" and (found := fold(text_of(element))):
            return found
    return ""


OAI_DC = Format(
    name="Dublin Core",
    version=3,
    roots=(Root("dc", ("", OAI_NAMESPACES, "http://purl.org/dc/", "info:srw/schema/1/dc-schema")),),
    prefixes=("oai_dc",),
    preference=0,
    read=read,
    title=title,
    link_prefixes={DC: "dc", TERMS: "dcterms"},
    fields=ELEMENTS,
    names={DC: ELEMENTS},
)
UKETD_DC = Format(
    name="UKETD_DC",
    version=3,
    roots=(
        Root("uketddc", ("", OAI_NAMESPACES, "http://naca.central.cranfield.ac.uk/ethos-oai/")),
    ),
    prefixes=("uketd_dc",),
    preference=1,
    read=read,
    title=title,
    fields=ELEMENTS,
    names={**NAMES, "http://naca.central.cranfield.ac.uk/ethos-oai/terms/": _THESIS_NAMES},
)
FORMATS = (OAI_DC, UKETD_DC)
