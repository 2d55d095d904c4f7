"""ETD-MS, for theses and dissertations: Dublin Core with the degree.

Source: ETD-MS 1.1, Networked Digital Library of Theses and Dissertations.
"""

from lxml import etree

from recordsilo.formats.collect import Collector, children_of, language_of, local_name, text_of
from recordsilo.formats.format import Format, Root
from recordsilo.formats.values import FIELD_OF_ELEMENT, Description

_OF_DEGREE = {"name": "types", "level": "types", "discipline": "subjects", "grantor": "publishers"}
_FIELDS = FIELD_OF_ELEMENT | {"alternativeTitle": "titles"}


def read(root: etree._Element) -> Description:
    """Describe a ``<thesis>``."""
    found = Collector()
    for element in root.iterchildren(etree.Element):
        if field := _FIELDS.get(local_name(element)):
            found.add(field, text_of(element), language_of(element))
    for degree in children_of(root, "degree"):
        for name, field in _OF_DEGREE.items():
            for element in children_of(degree, name):
                found.add(field, text_of(element), language_of(element))
    return found.description()


ETD_MS = Format(
    name="ETD-MS",
    version=1,
    roots=(Root("thesis", ("http://www.ndltd.org/standards/metadata/etdms/",)),),
    prefixes=("oai_etdms", "etdms", "etd_ms", "thesis"),
    preference=2,
    read=read,
    link_prefixes={
        f"http://www.ndltd.org/standards/metadata/etdms/{version}/": "etdms"
        for version in ("1.0", "1.1")
    },
    names={
        "": (
            "title", "alternativeTitle", "creator", "subject", "description", "publisher",
            "contributor", "date", "type", "format", "identifier", "language", "coverage",
            "rights",
        ),
    },
)  # fmt: skip
FORMATS = (ETD_MS,)
