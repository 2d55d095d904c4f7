"""Any other format, described by element names that most formats share.

Many dumps of Dublin Core, EPrints XML and DIM have elements named title, creator, subject
and so on, at different depths. Leaf elements with those names are read; for ``dim:field``,
the attribute ``element`` is the name.
"""

from lxml import etree

from recordsilo.formats.collect import Collector, leaves, local_name
from recordsilo.formats.format import Format
from recordsilo.formats.values import FIELD_OF_ELEMENT, Description

_ALIASES = {
    "creatorName": "creators",
    "contributorName": "contributors",
    "abstract": "descriptions",
    "namePart": "creators",
    "topic": "subjects",
    "keyword": "subjects",
    "publicationYear": "dates",
    "dateIssued": "dates",
    "resourceType": "types",
    "languageTerm": "languages",
}
_FIELDS = FIELD_OF_ELEMENT | _ALIASES


def read(root: etree._Element) -> Description:
    """Describe a document by the local names of its leaf elements."""
    found = Collector()
    for element, language in leaves(root):
        name = local_name(element)
        if name == "field":
            name = element.get("element", "")
        if field := _FIELDS.get(name):
            found.add(field, element.text or "", language)
    return found.description()


OTHER = Format("another format", version=1, roots=(), prefixes=(), preference=99, read=read)
"""The format of documents that no other format recognises."""
