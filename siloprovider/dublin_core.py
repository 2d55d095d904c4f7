"""``oai_dc`` of a record that is held in other formats only (pure).

Source: OAI-PMH 2.0, section 6.1, *Dublin Core*; the schema oai_dc.xsd.
"""

from lxml import etree

from recordsilo.formats import Description
from recordsilo.formats.known.dublin_core import DC, ELEMENTS
from recordsilo.formats.values import FIELD_OF_ELEMENT

OAI_DC = "http://www.openarchives.org/OAI/2.0/oai_dc/"
SCHEMA = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def oai_dc_of(description: Description) -> bytes:
    """Write a description as ``oai_dc``: its values by the fifteen elements, in their order.

    Args:
        description: Read from another format; its texts come from XML.
    """
    root = etree.Element(f"{{{OAI_DC}}}dc", nsmap={"oai_dc": OAI_DC, "dc": DC, "xsi": _XSI})
    root.set(f"{{{_XSI}}}schemaLocation", f"{OAI_DC} {SCHEMA}")
    for name in ELEMENTS:
        for value in getattr(description, FIELD_OF_ELEMENT[name]):
            element = etree.SubElement(root, f"{{{DC}}}{name}")
            element.text = value.text
            if value.lang:
                element.set(_XML_LANG, value.lang)
    return etree.tostring(root, encoding="UTF-8", xml_declaration=False)
