"""siloexport.unwrap: the document within a harvested metadata element."""

import pytest
from lxml import etree

from recordsilo.formats.documents import unwrap

OAI = b'xmlns="http://www.openarchives.org/OAI/2.0/"'


def test_document_declares_what_the_wrapper_declared() -> None:
    wrapped = (
        b"<metadata "
        + OAI
        + b' xmlns:x="urn:x"><x:dc><x:title>A &amp; B</x:title></x:dc></metadata>'
    )
    document = unwrap(wrapped)
    assert document is not None
    root = etree.fromstring(document)
    assert root.tag == "{urn:x}dc"
    assert root.findtext("{urn:x}title") == "A & B"


def test_prefix_used_only_in_a_value_stays() -> None:
    wrapped = (
        b"<metadata " + OAI + b' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        b'xmlns:dcterms="urn:t"><a xmlns="urn:a" xsi:type="dcterms:W3CDTF">1</a></metadata>'
    )
    document = unwrap(wrapped)
    assert document is not None
    assert etree.fromstring(document).nsmap["dcterms"] == "urn:t"


def test_namespace_of_the_wrapper_goes_when_nothing_uses_it() -> None:
    document = unwrap(b"<metadata " + OAI + b'><x:dc xmlns:x="urn:x"/></metadata>')
    assert document is not None
    assert b"openarchives" not in document


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not xml",
        b"<metadata/>",
        b"<metadata><a/><b/></metadata>",
        b"<record><a/></record>",
        b'<metadata xmlns="urn:other"><a/></metadata>',
        b'<!DOCTYPE metadata [<!ENTITY e SYSTEM "file:///etc/passwd">]><metadata><a>&e;</a></metadata>',
    ],
)
def test_anything_else_is_no_wrapped_document(content: bytes) -> None:
    assert unwrap(content) is None


def test_names_outside_ascii_are_unwrapped() -> None:
    document = unwrap(b"<metadata " + OAI + '><a xmlns="urn:a" typ😀="x"/></metadata>'.encode())
    assert document is not None
    assert etree.fromstring(document).attrib == {"typ😀": "x"}
