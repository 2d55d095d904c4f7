"""Any bytes give records or a named error, and well-formed records are never changed."""

from dataclasses import replace

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.mending.doctypes import Doctype
from oaipmhclient.mending.encodings import NotText, text_of
from oaipmhclient.mending.pieces import mend
from oaipmhclient.mending.references import EntityRefused
from oaipmhclient.mending.repair import read_headers_mended, read_record_mended, read_records_mended
from oaipmhclient.pages.requests_and_pages import read_records

OPEN = (
    '<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    "<responseDate>2010-11-20T12:00:00Z</responseDate><request>http://r/oai</request><ListRecords>"
)
CLOSE = "<resumptionToken completeListSize='9'>t&amp;1</resumptionToken></ListRecords></OAI-PMH>"
RECORD = (
    "<record><header><identifier>oai:x:{}</identifier><datestamp>2010-01-01</datestamp></header>"
    '<metadata><dc:dc xmlns:dc="http://purl.org/dc/elements/1.1/" xsi:schemaLocation="a b">'
    "<dc:title>{}</dc:title><dc:creator>Müller &amp; Łoś</dc:creator></dc:dc></metadata></record>"
)
FRAGMENTS = [
    b"&", b"<", b">", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"<?xml version='1.0'?>", b"<?x ",
    b"&eacute;", b"&#0;", b"&#xD800;", b"\x00", b"\x0b", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xe9",
    b"</record>", b"<record>", b"<record><header>", b"</metadata>", b"</ListRecords>", b"<br>",
    b"<a b='", b'"', b"'", b"</OAI-PMH>", b"<resumptionToken>x", b"</resumptionToken>", b"<x:y>",
    b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"<OAI-PMH>", b"</dc:title>", b"<dc:title>",
]  # fmt: skip
PAGE = (OPEN + "".join(RECORD.format(n, f"Title é {n}") for n in range(3)) + CLOSE).encode()

pieces = st.one_of(st.sampled_from(FRAGMENTS), st.binary(max_size=6))


@st.composite
def damaged(draw, sound=PAGE):
    """A sound page with bytes put in, taken out or doubled at some places."""
    body = sound
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(body)))
        until = min(at + draw(st.integers(0, 60)), len(body))
        piece = draw(pieces) if draw(st.booleans()) else body[at:until] * draw(st.integers(0, 2))
        body = body[:at] + piece + body[until if draw(st.booleans()) else at :]
    return body


def assert_sound(found):
    for item in found.items:
        assert item.header.identifier
        for content in (item.metadata, *item.about):
            assert content is None or etree.fromstring(content) is not None
    assert set(found.mended) <= set(range(len(found.items)))
    assert all(found.repairs.values())


@settings(max_examples=examples(400))
@given(damaged())
def test_any_damage_gives_sound_records_or_a_named_error(body):
    try:
        found = read_records_mended(body)
    except PageUnreadable:
        return
    assert_sound(found)


@given(st.one_of(st.binary(max_size=300), st.lists(pieces, max_size=40).map(b"".join)))
def test_any_bytes_are_an_answer_or_a_named_error(body):
    for read in (read_records_mended, read_headers_mended, read_record_mended):
        for content in (body, b"<OAI-PMH>" + body, PAGE[:400] + body):
            try:
                read(content)
            except PageUnreadable:
                continue


@settings(max_examples=examples(300))
@given(st.lists(st.one_of(pieces, st.text(max_size=8).map(str.encode)), max_size=6))
def test_whatever_stands_in_a_title_costs_no_other_record(written):
    """Only what looks like the begin of a record or the end of the root is out of bounds."""
    title = b"".join(written)
    if any(word in title for word in (b"<record><header", b"OAI-PMH", b"ListRecords>")):
        return
    body = PAGE.replace("Title é 1".encode(), title)
    sound = read_records(PAGE).items
    found = read_records_mended(body)
    kept = {item.header.identifier: item for item in found.items}
    assert kept["oai:x:0"] == sound[0]
    assert kept["oai:x:2"] == sound[2]
    assert found.next_token == "t&1"
    came = [item.header.identifier for item in found.items if item.header.identifier == "oai:x:1"]
    aside = [one for one in found.set_aside if one.identifier == "oai:x:1"]
    assert len(came) + len(aside) == 1
    assert all(one.raw in body for one in found.set_aside)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
def test_text_nobody_escaped_comes_back_as_it_was_meant(text):
    """What is not a markup: every character that is not a letter is followed by a blank."""
    text = "".join(c if c.isalnum() or c.isspace() else f"{c} " for c in text)
    body = PAGE.replace("Title é 1".encode(), text.encode())
    found = {one.header.identifier: one for one in read_records_mended(body).items}
    element = etree.fromstring(found["oai:x:1"].metadata).find(".//{*}title")
    legal = "".join(c for c in text if c in "\t\n\r" or (c >= " " and c not in "￾￿"))
    assert (element.text or "") == legal.replace("\r\n", "\n").replace("\r", "\n")


# --- well-formed documents

names = st.sampled_from(["a", "br", "record", "metadata", "about", "p", "header"])
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="￾￿"))


@st.composite
def trees(draw, depth=3):
    namespace = draw(st.sampled_from(["", "{urn:x}", "{http://www.openarchives.org/OAI/2.0/}"]))
    element = etree.Element(namespace + draw(names))
    element.text = draw(texts)
    for name in draw(st.lists(names, max_size=2, unique=True)):
        element.set(name, draw(texts))
    for _ in range(draw(st.integers(0, 2 if depth else 0))):
        child = draw(st.sampled_from(["element", "comment"]))
        added = draw(trees(depth=depth - 1)) if child == "element" else etree.Comment("a <b> & c")
        added.tail = draw(texts)
        element.append(added)
    return element


def page_with(tree, more=""):
    record = RECORD.format(7, etree.tostring(tree, encoding="unicode"))
    return (OPEN + RECORD.format(1, "a") + record + RECORD.format(8, "b") + more + CLOSE).encode()


@given(trees())
def test_a_well_formed_page_is_read_as_the_strict_reader_reads_it(tree):
    assert read_records_mended(page_with(tree)) == read_records(page_with(tree))


@given(trees())
def test_a_well_formed_record_is_untouched_in_a_broken_page(tree):
    sound = read_records(page_with(tree))
    found = read_records_mended(page_with(tree, RECORD.format(9, "a & b")))
    assert found.items[:3] == sound.items
    assert found.mended == {3: ("bare ampersand escaped",)}
    assert replace(found.token) == sound.token


@given(trees())
def test_mending_changes_nothing_in_what_is_well_formed(tree):
    text = etree.tostring(tree, encoding="unicode")
    mended = mend(text, frozenset(), Doctype())
    assert mended.text == text
    assert not mended.repairs
    assert not mended.undeclared


@given(st.lists(pieces, max_size=20).map(b"".join))
def test_mending_ends_and_mending_twice_is_mending_once(raw):
    try:
        text, _ = text_of(raw)
        once = mend(text, frozenset(), Doctype()).text
        etree.fromstring(once)
    except (NotText, EntityRefused, etree.XMLSyntaxError):
        return
    assert mend(once, frozenset(), Doctype()).text == once


@given(st.text())
def test_decoding_utf_8_changes_nothing(text):
    raw = text.encode("utf-8", "surrogatepass")
    decoded, repairs = text_of(raw)
    if not repairs:
        assert decoded == text


@given(st.binary())
def test_any_bytes_are_text_or_named_as_none(raw):
    try:
        text, repairs = text_of(raw)
    except NotText:
        return
    text.encode()
    assert bool(repairs) is (raw != text.encode())
