"""Where a record was harvested, for its ``about`` containers (pure).

Source: OAI-PMH Implementation Guidelines, *XML schema to hold provenance information*.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lxml import etree

from oaipmhprovider.arguments import NOT_XML
from recordsilo.formats.documents import NoDocument, parsed_whole

NAMESPACE = "http://www.openarchives.org/OAI/2.0/provenance"
SCHEMA = "http://www.openarchives.org/OAI/2.0/provenance.xsd"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"


@dataclass(frozen=True, slots=True)
class Harvested:
    """Where a record comes from.

    Attributes:
        base_url: Of the repository.
        identifier: The record's there.
        datestamp: The record's there.
        namespace: Of the metadata format.
        date: When it was harvested; UTC, with a Z.
        is_altered: Whether what is given differs from what was harvested.
    """

    base_url: str
    identifier: str
    datestamp: str
    namespace: str
    date: str
    is_altered: bool


def provenance_of(one: Harvested, earlier: Iterable[bytes] = ()) -> bytes:
    """Write the container, with that of the source, if it gave one, nested in it.

    Args:
        one: Where the record was harvested.
        earlier: The ``about`` documents of the source.
    """
    names: dict[Any, str] = {None: NAMESPACE, "xsi": _XSI}
    root = etree.Element(f"{{{NAMESPACE}}}provenance", nsmap=names)
    root.set(f"{{{_XSI}}}schemaLocation", f"{NAMESPACE} {SCHEMA}")
    origin = etree.SubElement(root, f"{{{NAMESPACE}}}originDescription")
    origin.set("harvestDate", one.date)
    origin.set("altered", "true" if one.is_altered else "false")
    texts = (
        ("baseURL", one.base_url), ("identifier", one.identifier),
        ("datestamp", one.datestamp), ("metadataNamespace", one.namespace),
    )  # fmt: skip
    for name, text in texts:
        etree.SubElement(origin, f"{{{NAMESPACE}}}{name}").text = NOT_XML.sub("\ufffd", text)
    for document in earlier:
        if (nested := _origin_in(document)) is not None:
            origin.append(nested)
            break
    return etree.tostring(root, encoding="UTF-8", xml_declaration=False)


def _origin_in(document: bytes) -> etree._Element | None:
    try:
        root = parsed_whole(document)
    except NoDocument:
        return None
    return next(root.iter(f"{{{NAMESPACE}}}originDescription"), None)
