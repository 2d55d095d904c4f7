"""Any other format: what can be found by the names that most formats share.

Dublin Core dumps of many kinds, EPrints XML and DIM have elements called title, creator,
subject and so on, if nested differently; leaves of those names are taken, and for
``dim:field`` the element attribute names it.
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
"""What every document is in that no format knows."""
