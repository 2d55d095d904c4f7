"""Read elements of a response by their names, in any namespace or case (pure).

Some repositories write the protocol's elements in a namespace of the wrong version, in none, in
another case (``dateStamp``, pycsw 2.6.2), or in an extra ``<record>``. Their meaning is clear all
the same.

Source: OAI-PMH 2.0, sections 2.5, 2.6, 3.5, 4.3, 4.4 and 4.5.
"""

from collections.abc import Iterator
from dataclasses import replace

from lxml import etree

from oaipmhclient.pages.xml_pages import Serialiser, text_of
from oaipmhprotocol import Header, MetadataFormat, Record, ResumptionToken, Set
from politeweb.answers import number_of

MOST_DIGITS = 11
"""Of a number of records; the sum over the days of many years can still be stored."""


class Unusable(Exception):
    """One item lacks a necessary part; its neighbours are not affected.

    The message completes "a record, which …".
    """


class Kinds(dict[object, str]):
    """Maps tags to kinds: the local name in lower case; empty for a comment.

    A tag is computed once for each page; further elements cost a dictionary access.

    Attributes:
        namespace: Of the response, in Clark's notation.
        serialise: Serialises elements of the response.
        serialise_metadata: Serialises the metadata of its records.
    """

    def __init__(self, namespace: str, serialise: Serialiser, *, keeps_roots: bool = False) -> None:
        super().__init__()
        self.namespace = namespace
        self.serialise = serialise
        self.serialise_metadata = serialise.with_root if keeps_roots else serialise

    def __missing__(self, tag: object) -> str:
        kind = tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""
        self[tag] = kind
        return kind

    def is_own(self, element: etree._Element) -> bool:
        """Whether an element has the response's own namespace."""
        tag = element.tag
        return tag.rpartition("}")[0] == self.namespace[:-1]


def items_of(listed: etree._Element | None, kinds: Kinds, name: str) -> Iterator[etree._Element]:
    """Return the list's elements of a name; headers also in ``<record>``, as in pycsw 2.6.2."""
    wanted = name.lower()
    for child in () if listed is None else listed:
        kind = kinds[child.tag]
        if kind == wanted:
            yield child
        elif kind == "record":
            yield from (inner for inner in child if kinds[inner.tag] == wanted)


def record_of(element: etree._Element, kinds: Kinds) -> Record:
    """Read a ``<record>``; serialise its metadata and about containers separately.

    Raises:
        Unusable: It has no header, or the header no identifier.
    """
    header: Header | None = None
    metadata: bytes | None = None
    about: list[bytes] = []
    for child in element:
        kind = kinds[child.tag]
        if kind == "header":
            header = header_of(child, kinds)
        elif kind == "metadata":
            metadata = kinds.serialise_metadata(child)
        elif kind == "about":
            about.append(kinds.serialise(child))
    if header is None:
        raise Unusable("has no header")
    if metadata is None and _is_deleted(element):
        header = replace(header, deleted=True)
    return Record(header, metadata, tuple(about))


def header_of(element: etree._Element, kinds: Kinds) -> Header:
    """Read a ``<header>``; texts without outer white space, otherwise as sent.

    Raises:
        Unusable: It has no identifier.
    """
    identifier = datestamp = ""
    sets: list[str] = []
    for child in element:
        kind = kinds[child.tag]
        if kind == "identifier":
            if not identifier or kinds.is_own(child):
                identifier = text_of(child)
        elif kind == "datestamp":
            datestamp = text_of(child)
        elif kind == "setspec":
            sets.append(text_of(child))
    if not identifier:
        raise Unusable("has no identifier")
    return Header(identifier, datestamp, tuple(filter(None, sets)), _is_deleted(element))


def _is_deleted(element: etree._Element) -> bool:
    """Whether the status is deleted: the header's, or the record's as in OAI-PMH 1.1."""
    status = element.get("status")
    return status is not None and status.strip().lower() == "deleted"


def metadata_format_of(element: etree._Element, kinds: Kinds) -> MetadataFormat:
    """Read a ``<metadataFormat>``.

    Raises:
        Unusable: It has no prefix.
    """
    found = _fields(element, kinds)
    prefix = text_of(found.get("metadataprefix"))
    if not prefix:
        raise Unusable("has no metadataPrefix")
    return MetadataFormat(
        prefix, text_of(found.get("schema")), text_of(found.get("metadatanamespace"))
    )


def set_of(element: etree._Element, kinds: Kinds) -> Set:
    """Read a ``<set>``.

    Raises:
        Unusable: It has no setSpec.
    """
    found = _fields(element, kinds)
    spec = text_of(found.get("setspec"))
    if not spec:
        raise Unusable("has no setSpec")
    description = found.get("setdescription")
    return Set(
        spec,
        text_of(found.get("setname")),
        None if description is None else kinds.serialise(description),
    )


def _fields(element: etree._Element, kinds: Kinds) -> dict[str, etree._Element]:
    """Return the first child of each kind."""
    found: dict[str, etree._Element] = {}
    for child in element:
        found.setdefault(kinds[child.tag], child)
    return found


def token_of(listed: etree._Element | None, kinds: Kinds) -> ResumptionToken | None:
    """Return the token that ends an incomplete list, or None.

    The expiry is in ``expirationDate``, ``expires`` (arXiv) or
    ``expiration_date`` (oai_repo).
    """
    if listed is None:
        return None
    element = next((child for child in listed if kinds[child.tag] == "resumptiontoken"), None)
    if element is None:
        return None
    attributes = element.items()
    found = {str(name).lower().replace("_", ""): str(value) for name, value in attributes}
    return ResumptionToken(
        text_of(element),
        number_of(found.get("completelistsize"), most_digits=MOST_DIGITS),
        number_of(found.get("cursor"), most_digits=MOST_DIGITS),
        found.get("expirationdate", found.get("expires")),
    )
