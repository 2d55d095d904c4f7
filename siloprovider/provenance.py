"""Where a record was harvested, for its ``about`` containers (pure).

Source: OAI-PMH Implementation Guidelines, *XML schema to hold provenance information*.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lxml import etree

from oaipmhprotocol.words import XSI_NAMESPACE
from oaipmhprovider.answers import escape, escape_attribute
from recordsilo.formats.documents import NoDocument, parsed_whole

NAMESPACE = "http://www.openarchives.org/OAI/2.0/provenance"
SCHEMA = "http://www.openarchives.org/OAI/2.0/provenance.xsd"


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
    nested = next(filter(None, map(_origin_in, earlier)), b"")
    text = (
        f'{_BEGIN}<originDescription harvestDate="{escape_attribute(one.date)}"'
        f' altered="{"true" if one.is_altered else "false"}">'
        f"<baseURL>{escape(one.base_url)}</baseURL>"
        f"<identifier>{escape(one.identifier)}</identifier>"
        f"<datestamp>{escape(one.datestamp)}</datestamp>"
        f"<metadataNamespace>{escape(one.namespace)}</metadataNamespace>"
    )
    return b"%b%b%b" % (text.encode(), nested, _END)


_BEGIN = (
    f'<provenance xmlns="{NAMESPACE}" xmlns:xsi="{XSI_NAMESPACE}"'
    f' xsi:schemaLocation="{NAMESPACE} {SCHEMA}">'
)
_END = b"</originDescription></provenance>"


def _origin_in(document: bytes) -> bytes:
    """The first description of an origin in a document of the source; empty if none."""
    try:
        root = parsed_whole(document)
    except NoDocument:
        return b""
    found = next(root.iter(f"{{{NAMESPACE}}}originDescription"), None)
    return (
        b""
        if found is None
        else etree.tostring(found, encoding="UTF-8", xml_declaration=False, with_tail=False)
    )
