"""Responses that are not OAI-PMH, and harmful ones."""

import pytest

from oaipmhclient.errors import EntitiesRefused, PageUnreadable
from oaipmhclient.pages.requests_and_pages import read_records
from oaipmhclient.pages.xml_pages import parse_page, same_content

OAI = '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">{}</OAI-PMH>'


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "is empty"),
        (b" \r\n ", "is empty"),
        (b"Warning: mysql_connect()", "is not XML: it begins with"),
        (b"<html><head><title>Down</title></head><br></html>", "is an HTML page"),
        (b"<!DOCTYPE html>\n<html lang='en'><p>Just a moment...", "is an HTML page"),
        (b"<rss/>", "root element rss"),
        (b"<html xmlns='http://www.w3.org/1999/xhtml'/>", "root element .*html"),
        (OAI.format("<ListRecords>&nbsp;</ListRecords>").encode(), "not well-formed XML: .*nbsp"),
        (OAI.format("<ListRecords>\x0b</ListRecords>").encode(), "not well-formed XML"),
        (OAI.format("a & b").encode(), "not well-formed XML"),
        (OAI.format("é").encode("latin-1"), "not well-formed XML"),
        (OAI.format("<ListRecords><record>").encode()[:-10], "is cut short after 75 bytes"),
        (OAI.format("").encode("utf-16"), "is not XML"),
        (b"<?xml version='1.0' encoding='UTF-7'?><a/>", "declares the encoding UTF-7"),
        (b"<?xml version='1.0' encoding='IBM037'?><a/>", "declares the encoding IBM037"),
    ],
)
def test_what_is_no_answer_is_named(body, words):
    with pytest.raises(PageUnreadable, match=words):
        parse_page(body)


def test_a_byte_order_mark_and_blanks_before_the_declaration_do_no_harm():
    body = b"\xef\xbb\xbf\n <?xml version='1.0' encoding='UTF-8'?>" + OAI.format("").encode()
    assert parse_page(body).tag.endswith("OAI-PMH")


def test_a_declared_latin_1_is_read_as_such():
    body = b"<?xml version='1.0' encoding='ISO-8859-1'?>" + OAI.format("é").encode("latin-1")
    assert parse_page(body).text == "é"


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE x SYSTEM ">" [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        "<?pi ?><!-- <a> --><!DOCTYPE x [<!ENTITY % p SYSTEM 'http://127.0.0.1:1/x.dtd'> %p;]>",
    ],
)
def test_a_doctype_with_entities_is_refused_before_parsing(doctype):
    body = doctype + OAI.format("<ListRecords>&a;</ListRecords>")
    with pytest.raises(EntitiesRefused, match="never resolved"):
        parse_page(body.encode())


def test_an_external_dtd_is_not_loaded(tmp_path):
    dtd = tmp_path / "a.dtd"
    dtd.write_text("<!ATTLIST OAI-PMH read CDATA 'it was'>")
    body = f'<!DOCTYPE OAI-PMH SYSTEM "file://{dtd}">' + OAI.format("&lt;&#65;")
    root = parse_page(body.encode())
    assert root.text == "<A"
    assert not root.attrib


@pytest.mark.parametrize("content", ["<a>&secret;</a>", '<a b="&secret;"/>'])
def test_a_reference_into_an_external_dtd_is_refused(tmp_path, content):
    dtd = tmp_path / "evil.dtd"
    dtd.write_text('<!ENTITY secret "read">')
    body = f'<!DOCTYPE OAI-PMH SYSTEM "file://{dtd}">' + OAI.format(content)
    with pytest.raises(EntitiesRefused, match="never loaded"):
        parse_page(body.encode())


def test_the_word_entity_in_a_record_is_no_declaration():
    body = OAI.format("<ListRecords><![CDATA[<!DOCTYPE a [<!ENTITY b 'c'>]>]]></ListRecords>")
    assert read_records(body.encode()).items == ()


def test_texts_of_many_megabytes_are_read_whole():
    text = "x" * 12_000_000
    record = (
        "<record><header><identifier>i</identifier><datestamp>2010-01-01</datestamp></header>"
        f"<metadata><a>{text}</a></metadata></record>"
    )
    found = read_records(OAI.format(f"<ListRecords>{record}</ListRecords>").encode())
    assert found.items[0].metadata is not None
    assert len(found.items[0].metadata) > len(text)


def test_nesting_without_end_is_an_error_and_no_crash():
    body = OAI.format("<ListRecords>" + "<a>" * 200_000 + "</a>" * 200_000 + "</ListRecords>")
    with pytest.raises(PageUnreadable, match="depth"):
        read_records(body.encode())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (b"<a b='1' c='2'/>", b'<a c="2" b="1"></a>', True),
        (b"<a>&#233;</a>", "<a>é</a>".encode(), True),
        (b"<a xmlns:x='urn:unused'><b/></a>", b"<a><b/></a>", True),
        (b"<a><b/></a>", b"<a> <b/></a>", False),
        (b"<a><!-- 1 --></a>", b"<a><!-- 2 --></a>", False),
        (b"<a xmlns='urn:1'/>", b"<a xmlns='urn:2'/>", False),
        (b"no xml", b"no xml", True),
        (b"no xml", b"<a/>", False),
    ],
)
def test_content_is_compared_by_what_it_says(one, other, same):
    assert same_content(one, other) is same


def test_content_without_a_canonical_form_is_compared_by_its_bytes() -> None:
    relative = b"<a xmlns='x'><b/></a>"
    assert same_content(relative, relative)
    assert not same_content(relative, b'<a xmlns="x"><b/></a>')
