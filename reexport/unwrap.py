"""Metadata as harvested → a document of its own: the OAI-PMH ``<metadata>`` wrapper taken off.

Source: OAI-PMH 2.0, section 2.5, "Record": metadata has one child, in the format's
own namespace.
"""

from lxml import etree

_WRAPPER = "metadata"
_OAI = "http://www.openarchives.org/OAI/2.0/"


def unwrap(content: bytes) -> bytes | None:
    """The document within a ``<metadata>`` element, with all namespaces in scope declared.

    Returns:
        UTF-8 with an XML declaration; None for bytes that are no such wrapper around
        exactly one element, not well-formed, or with a document type.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True
    )
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    name = etree.QName(root)
    elements = [child for child in root if isinstance(child.tag, str)]
    if root.getroottree().docinfo.internalDTD is not None or len(elements) != 1:
        return None
    if name.localname != _WRAPPER or name.namespace not in {_OAI, None}:
        return None
    # Written and read again: moved out of the wrapper, lxml would drop declarations.
    document = etree.fromstring(etree.tostring(elements[0], with_tail=False), parser)
    # The wrapper's own default namespace goes unless it is used; a prefix may be used in
    # a value (xsi:type="dcterms:W3CDTF"), where no parser sees it, so all of them stay.
    prefixes = {prefix for element in document.iter("*") for prefix in element.nsmap if prefix}
    etree.cleanup_namespaces(document, keep_ns_prefixes=sorted(prefixes))
    return etree.tostring(document, xml_declaration=True, encoding="UTF-8") + b"\n"
