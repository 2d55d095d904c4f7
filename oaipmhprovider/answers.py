"""Write responses as XML (OAI-PMH 2.0, sections 3.2 and 4).

Bytes are joined, not trees, because a source's documents are already serialised; a page of a
hundred records takes much less than a millisecond.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from lxml import etree

from oaipmhprotocol import (
    Granularity,
    Header,
    Identify,
    MetadataFormat,
    OAIError,
    Record,
    ResumptionToken,
    Set,
)
from oaipmhprotocol.datestamps import format_datestamp
from oaipmhprotocol.words import OAI_NAMESPACE, OAI_SCHEMA, PROTOCOL_VERSION, XSI_NAMESPACE
from oaipmhprovider.arguments import NOT_XML
from oaipmhprovider.source import Position, RecordSource, Selection, WritingSource, Written

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    f'<OAI-PMH xmlns="{OAI_NAMESPACE}" xmlns:xsi="{XSI_NAMESPACE}"'
    f' xsi:schemaLocation="{OAI_NAMESPACE} {OAI_SCHEMA}">\n'
)
_AWKWARD = re.compile("[^\t\n\u0020-%'-;=?-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PROLOG = (b"<?xml", b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe", b"<!")


class NotEmbeddable(ValueError):
    """A document of a source cannot be embedded in a response."""


def escape(text: str) -> str:
    """Escape text as element content; a character that XML does not allow becomes U+FFFD."""
    if not _AWKWARD.search(text):
        return text
    text = NOT_XML.sub("\ufffd", text)
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    )


def escape_attribute(text: str) -> str:
    """Escape text as the value of an attribute in double quotes; white space is kept."""
    escaped = escape(text).replace('"', "&quot;")
    return escaped.replace("\t", "&#9;").replace("\n", "&#10;")


def embeddable(document: bytes) -> bytes:
    """Return a document in a form that can be embedded: its root element, in UTF-8.

    Bytes that begin with the root element are returned unread. A document that begins with an
    XML declaration, a byte order mark, a comment or a document type is parsed and written
    again, with the entities that it declares replaced.

    Raises:
        NotEmbeddable: The document had to be parsed and is not well-formed, or uses
            an entity that is declared elsewhere; nothing is loaded.
    """
    is_root = document[:1] == b"<" and document[1:2] not in (b"?", b"!")
    if is_root or not document.lstrip().startswith(_PROLOG):
        return document
    # lxml 5 and later replace only entities declared in the document, and libxml2 limits them.
    parser = etree.XMLParser(no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(document, parser)
    except etree.XMLSyntaxError as error:
        raise NotEmbeddable(f"a document of the source is not well-formed: {error}") from error
    if next(root.iter(etree.Entity), None) is not None:
        raise NotEmbeddable("a document of the source uses an entity that it does not declare")
    return etree.tostring(root, encoding="UTF-8", xml_declaration=False, with_tail=False)


def page(
    now: datetime, base_url: str, attributes: Mapping[str, str], content: Sequence[bytes]
) -> bytes:
    """Write a whole response: its date, the request, and the content."""
    echoed = "".join(f' {name}="{escape_attribute(value)}"' for name, value in attributes.items())
    head = (
        f"{_HEAD}<responseDate>{format_datestamp(now, Granularity.SECOND)}</responseDate>\n"
        f"<request{echoed}>{escape(base_url)}</request>\n"
    )
    return b"".join((head.encode(), *content, b"</OAI-PMH>\n"))


def error_elements(conditions: Iterable[OAIError]) -> list[bytes]:
    """Write an ``error`` element for each condition (section 3.6)."""
    return [
        f'<error code="{escape_attribute(one.code)}">{escape(one.message)}</error>\n'.encode()
        for one in conditions
    ]


def identify_element(identity: Identify, base_url: str, compression: Sequence[str]) -> list[bytes]:
    """Write the ``Identify`` element (section 4.2)."""
    assert identity.granularity is not None
    texts = [
        ("repositoryName", identity.repository_name),
        ("baseURL", base_url),
        ("protocolVersion", PROTOCOL_VERSION),
        *(("adminEmail", address) for address in identity.admin_emails),
        ("earliestDatestamp", identity.earliest_datestamp),
        ("deletedRecord", identity.deleted_record),
        ("granularity", identity.granularity),
        *(("compression", encoding) for encoding in compression),
    ]
    lines = [f"<{name}>{escape(text)}</{name}>\n".encode() for name, text in texts]
    lines += [_wrapped("description", document) for document in identity.descriptions]
    return [b"<Identify>\n", *lines, b"</Identify>\n"]


def formats_element(formats: Iterable[MetadataFormat]) -> list[bytes]:
    """Write the ``ListMetadataFormats`` element (section 4.4)."""
    lines = [
        (
            f"<metadataFormat><metadataPrefix>{escape(one.prefix)}</metadataPrefix>"
            f"<schema>{escape(one.schema)}</schema>"
            f"<metadataNamespace>{escape(one.namespace)}</metadataNamespace></metadataFormat>\n"
        ).encode()
        for one in formats
    ]
    return [b"<ListMetadataFormats>\n", *lines, b"</ListMetadataFormats>\n"]


def set_elements(sets: Iterable[Set]) -> Iterator[bytes]:
    """Write a ``set`` element for each set (section 4.6)."""
    for one in sets:
        opening = f"<set><setSpec>{escape(one.spec)}</setSpec><setName>{escape(one.name)}</setName>"
        yield opening.encode()
        if one.description is not None:
            yield _wrapped("setDescription", one.description)
        yield b"</set>\n"


def header_element(header: Header) -> bytes:
    """Write a ``header`` element (section 2.5)."""
    identifier, datestamp = escape(header.identifier), escape(header.datestamp)
    sets = set_specs(header.set_specs)
    return header_of(identifier, datestamp, sets, deleted=header.deleted)


def header_of(identifier: str, datestamp: str, sets: str, *, deleted: bool) -> bytes:
    """Write a ``header`` element out of parts that are escaped; ``sets`` is from `set_specs`."""
    opening = '<header status="deleted">' if deleted else "<header>"
    return (
        f"{opening}<identifier>{identifier}</identifier>"
        f"<datestamp>{datestamp}</datestamp>{sets}</header>\n"
    ).encode()


def set_specs(specs: Iterable[str]) -> str:
    """Write the ``setSpec`` elements of a header."""
    return "".join([f"<setSpec>{escape(spec)}</setSpec>" for spec in specs])


def record_element(record: Record) -> bytes:
    """Write a ``record`` element (section 2.5); a deleted record has only the header."""
    head = header_element(record.header)
    if record.header.deleted or record.metadata is None:
        return record_of(head)
    return record_of(head, embeddable(record.metadata), *map(embeddable, record.about))


def record_of(header: bytes, metadata: bytes | None = None, *about: bytes) -> bytes:
    """Write a ``record`` element out of its header and of documents that can be embedded."""
    if metadata is None:
        return b"<record>%b</record>\n" % header
    abouts = b"".join([b"<about>%b</about>\n" % one for one in about])
    return b"<record>%b<metadata>%b</metadata>\n%b</record>\n" % (header, metadata, abouts)


def written(record: Record) -> Written:
    """Write a record, and keep its position."""
    header = record.header
    return Written(header.datestamp, header.identifier, record_element(record))


def written_by(
    source: RecordSource, selection: Selection, after: Position | None, limit: int
) -> Sequence[Written]:
    """Return the records of a source, written: by itself if it can, or else here."""
    if isinstance(source, WritingSource):
        return source.written(selection, after, limit)
    return [written(record) for record in source.records(selection, after, limit)]


def token_element(token: ResumptionToken) -> bytes:
    """Write a ``resumptionToken`` element (section 3.5)."""
    attributes = {
        "expirationDate": token.expiration,
        "completeListSize": token.complete_list_size,
        "cursor": token.cursor,
    }
    given = "".join(
        f' {name}="{escape_attribute(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<resumptionToken{given}>{escape(token.value)}</resumptionToken>\n".encode()


def _wrapped(name: str, document: bytes) -> bytes:
    return b"<%b>%b</%b>\n" % (name.encode(), embeddable(document), name.encode())
