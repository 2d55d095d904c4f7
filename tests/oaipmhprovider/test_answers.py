"""Answers as XML: whatever a source's texts and documents are, the answer is well-formed."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from oaipmhprotocol import Header, Record
from oaipmhprovider.answers import (
    NotEmbeddable,
    embeddable,
    escape,
    escape_attribute,
    page,
    record_element,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
xml_text = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
)
white = st.text(st.sampled_from("\t\n\r <&>\"']]>x"))
ROOT = b"<a xmlns='urn:a'>\xc3\xa9</a>"


@settings(deadline=None, derandomize=True)
@given(xml_text | white)
def test_text_reads_back_as_it_was(text: str) -> None:
    root = etree.fromstring(f'<r a="{escape_attribute(text)}">{escape(text)}</r>')
    assert (root.text or "") == text
    assert root.get("a") == text


@settings(deadline=None, derandomize=True)
@given(st.text(st.characters()))
def test_any_text_at_all_makes_well_formed_xml(text: str) -> None:
    escaped = escape(text)
    assert etree.fromstring(f"<r>{escaped}</r>".encode()).tag == "r"


def test_a_character_that_xml_forbids_is_replaced() -> None:
    assert escape("a\x00b\ufffe\ud800<") == "a\ufffdb\ufffd\ufffd&lt;"


@settings(deadline=None, derandomize=True)
@given(st.dictionaries(st.sampled_from(["verb", "set"]), xml_text | white), xml_text)
def test_what_a_request_said_is_repeated_as_it_was(
    attributes: dict[str, str], base_url: str
) -> None:
    root = etree.fromstring(page(NOW, base_url, attributes, [b"<error/>"]))
    request = root.find("{*}request")
    assert request is not None
    assert dict(request.attrib) == attributes
    assert (request.text or "") == base_url


def test_a_bare_document_is_embedded_unread() -> None:
    for document in (ROOT, b"\n " + ROOT, b"<not well-formed"):
        assert embeddable(document) is document


@pytest.mark.parametrize(
    "document",
    [
        b"<?xml version='1.0'?>" + ROOT,
        b"\xef\xbb\xbf" + ROOT,
        b"\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8'?>\n" + ROOT + b"\n<!-- end -->",
        "<?xml version='1.0' encoding='ISO-8859-1'?><a xmlns='urn:a'>é</a>".encode("latin-1"),
        "<?xml version='1.0' encoding='UTF-16'?><a xmlns='urn:a'>é</a>".encode("utf-16"),
        b"<!-- first -->" + ROOT,
        b"<!DOCTYPE a [<!ENTITY e '\xc3\xa9'>]><a xmlns='urn:a'>&e;</a>",
    ],
)
def test_what_stands_before_the_root_element_is_taken_off(document: bytes) -> None:
    embedded = embeddable(document)
    assert embedded == b'<a xmlns="urn:a">\xc3\xa9</a>'


@pytest.mark.parametrize(
    "document",
    [
        b"<?xml version='1.0'?><a>",
        b"<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/hostname'>]><a>&e;</a>",
        b"<!DOCTYPE a SYSTEM 'http://127.0.0.1:1/a.dtd'><a>&e;</a>",
        b"<!DOCTYPE a [<!ENTITY a '"
        + b"x" * 10_000
        + b"'>"
        + b"".join(b"<!ENTITY %c '%b'>" % (98 + n, b"&%c;" % (97 + n) * 20) for n in range(8))
        + b"]><a>&i;</a>",
    ],
    ids=["broken", "external entity", "external subset", "entities of entities"],
)
def test_a_document_that_needs_or_does_more_is_refused(document: bytes) -> None:
    with pytest.raises(NotEmbeddable):
        embeddable(document)


def test_a_record_is_written_with_header_metadata_and_abouts() -> None:
    header = Header("oai:x:<1>", "2026-03-01", ("a", "a:b"))
    record = Record(header, ROOT, (b"<b xmlns='urn:b'/>", b"<c xmlns='urn:c'/>"))
    root = etree.fromstring(record_element(record))
    assert [child.tag for child in root] == ["header", "metadata", "about", "about"]
    assert root.findtext("header/identifier") == "oai:x:<1>"
    assert [one.text for one in root.iter("setSpec")] == ["a", "a:b"]


def test_of_a_deleted_record_nothing_is_written_but_its_header() -> None:
    record = Record(Header("oai:x:1", "2026-03-01", deleted=True), ROOT, (ROOT,))
    root: Any = etree.fromstring(record_element(record))
    assert [child.tag for child in root] == ["header"]
    assert root[0].get("status") == "deleted"


def test_a_record_without_metadata_is_written_as_its_header() -> None:
    root = etree.fromstring(record_element(Record(Header("oai:x:1", "2026-03-01"))))
    assert [child.tag for child in root] == ["header"]
