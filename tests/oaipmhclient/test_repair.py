"""Malformed pages: which records are read from them, with which content and notes."""

import time
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from examples import family
from lxml import etree

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.mending.malformed_pages import NO_IDENTIFIER
from oaipmhclient.mending.repair import (
    read_headers_mended,
    read_mended,
    read_record_mended,
    read_records_mended,
)
from oaipmhclient.mending.repairs import Repair
from oaipmhclient.pages.requests_and_pages import read_identify, read_records, read_sets
from oaipmhprotocol import NoRecordsMatch

DC = "http://purl.org/dc/elements/1.1/"
OPEN = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    "<responseDate>2010-11-20T12:00:00Z</responseDate><request>http://repo.example/oai</request>"
)
CLOSE = (
    '<resumptionToken completeListSize="9" cursor="3">a&amp;b c</resumptionToken>'
    "</ListRecords></OAI-PMH>"
)


def record(number, title="A title", metadata=None):
    if metadata is None:
        metadata = (
            '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"'
            f' xmlns:dc="{DC}"><dc:title>{title}</dc:title><dc:type>x</dc:type></oai_dc:dc>'
        )
    return (
        f"<record><header><identifier>oai:x:{number}</identifier>"
        f"<datestamp>2010-01-0{number}</datestamp></header>"
        f"<metadata>{metadata}</metadata></record>"
    )


def page(*records, close=CLOSE):
    return OPEN + "<ListRecords>" + "\n".join(records) + close


def read(body):
    return read_records_mended(body.encode() if isinstance(body, str) else body)


def identifiers(found):
    return [one.header.identifier for one in found.items]


def title(item):
    parser = etree.XMLParser(huge_tree=True)
    element = etree.fromstring(item.metadata, parser).find(f".//{{{DC}}}title")
    assert element is not None
    return "".join(element.itertext())


def assert_only_second_mended(found, *kinds):
    """The page holds records 1 to 3, its token, and only the second one was touched."""
    assert identifiers(found) == ["oai:x:1", "oai:x:2", "oai:x:3"]
    assert found.set_aside == ()
    assert found.mended == {1: tuple(kind.value for kind in kinds)}
    assert found.next_token == "a&b c"
    assert found.token.complete_list_size == 9
    assert found.response_date == datetime(2010, 11, 20, 12, tzinfo=UTC)
    assert not found.end_lost


# --- what has one meaning is mended


@pytest.mark.parametrize(
    ("written", "meant", "kinds"),
    [
        (
            "Smith & Sons <5 items",
            "Smith & Sons <5 items",
            (Repair.AMPERSAND, Repair.LESS_THAN),
        ),
        ("?a=1&b=2&amp;c", "?a=1&b=2&c", (Repair.AMPERSAND,)),
        ("&unknown; &copy 2010", "&unknown; &copy 2010", (Repair.AMPERSAND,)),
        ("caf&eacute;&nbsp;&ldquo;&amp;&rdquo;", "café\xa0“&”", (Repair.HTML_ENTITY,)),
        ("&LT;b&GT; &AMP;", "<b> &", (Repair.HTML_ENTITY,)),
        ("a\x0bb\x1a\x03c", "abc", (Repair.CONTROL_CHARACTER,)),
        ("a￾b", "ab", (Repair.CONTROL_CHARACTER,)),
        ("a&#11;b&#0;c&#xfffe;&#x110000;&#65;", "abcA", (Repair.ILLEGAL_REFERENCE,)),
        ("&#55349;&#56320;", "\U0001d400", (Repair.SURROGATE_PAIR,)),
        ("&#xD835;&#xDC00;", "\U0001d400", (Repair.SURROGATE_PAIR,)),
        ("a&#xD835;&#65;b&#xDC00;", "aAb", (Repair.ILLEGAL_REFERENCE,)),
        ("&#X41;", "A", (Repair.HTML_ENTITY,)),
        ("a]]>b", "a]]>b", (Repair.CDATA_END,)),
        ("x < y and z > y", "x < y and z > y", (Repair.LESS_THAN,)),
        ("mail <john@x.org>", "mail <john@x.org>", (Repair.LESS_THAN,)),
        ("see <http://x.org/?a=1&amp;b>", "see <http://x.org/?a=1&b>", (Repair.LESS_THAN,)),
        ("for all <n> in N", "for all <n> in N", (Repair.LESS_THAN,)),
        ("a<br>b<BR>c", "abc", (Repair.HTML_TAG,)),
        ("<i>a</i><br>b <n> c", "ab <n> c", (Repair.LESS_THAN, Repair.HTML_TAG)),
        ("<a h='1&2' h='1&2'>b</a>", "b", (Repair.AMPERSAND, Repair.ATTRIBUTE)),
        ("<?xml version='1.0'?>a", "a", (Repair.XML_DECLARATION,)),
        ("a<!-- b -- c --->d", "ad", (Repair.COMMENT,)),
        ("<![CDATA[ &eacute; <b> & ]]>&", " &eacute; <b> & &", (Repair.AMPERSAND,)),
        ("<!DOCTYPE x SYSTEM 'x.dtd'>a", "a", (Repair.DOCTYPE,)),
    ],
)
def test_a_record_with_one_meaning_is_mended_to_exactly_that(written, meant, kinds):
    found = read(page(record(1), record(2, written), record(3)))
    assert_only_second_mended(found, *sorted(kinds))
    assert title(found.items[1]) == meant


def test_the_neighbours_of_a_mended_record_are_byte_for_byte_those_of_a_sound_page():
    sound = read_records(page(record(1), record(2), record(3)).encode())
    found = read(page(record(1), record(2, "a & b"), record(3)))
    assert (found.items[0], found.items[2]) == (sound.items[0], sound.items[2])
    assert found.token == sound.token
    assert found.repairs == {
        "bare ampersand escaped": 1,
        "page read record by record": 1,
        "token by pattern": 1,
    }


def test_what_is_mended_in_attributes_stays_what_it_was():
    found = read(page(record(1), record(2, '<a href="?a=1&b=<2>">t</a>'), record(3)))
    assert_only_second_mended(found, Repair.AMPERSAND, Repair.LESS_THAN)
    assert etree.fromstring(found.items[1].metadata).find(".//{*}a").get("href") == "?a=1&b=<2>"


@pytest.mark.parametrize("missing", ["</header>", "</metadata>", "</record>"])
def test_an_end_tag_of_the_protocol_is_added_where_its_content_is_over(missing):
    found = read(page(record(1), record(2).replace(missing, ""), record(3)))
    assert_only_second_mended(found, Repair.END_TAG)
    assert found.items[1] == read_records(page(record(2)).encode()).items[0]


def test_a_prefix_is_declared_as_the_rest_of_the_page_has_it():
    known = record(1, metadata='<p:a xmlns:p="urn:p"/>')
    found = read(page(known, record(2, metadata="<p:a/>"), record(3)))
    assert_only_second_mended(found, Repair.PREFIX)
    assert etree.fromstring(found.items[1].metadata)[0].tag == "{urn:p}a"


def test_a_prefix_that_everyone_knows_is_declared_on_the_envelope_too():
    body = page(record(1)).replace(' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"', "")
    body = body.replace("<record>", '<record xsi:schemaLocation="a b">')
    found = read(body)
    assert identifiers(found) == ["oai:x:1"]
    assert found.mended == {0: ("undeclared namespace prefix declared",)}


# --- encodings


def test_a_record_in_windows_1252_among_utf_8_is_read_as_such():
    body = page(record(1, "é"), "SECOND", record(3, "ü")).encode()
    body = body.replace(b"SECOND", record(2, "“Zürich” – 5 €").encode("cp1252"))
    found = read(body)
    assert_only_second_mended(found, Repair.WINDOWS_1252)
    assert [title(item) for item in found.items] == ["é", "“Zürich” – 5 €", "ü"]


def test_single_bytes_of_windows_1252_beside_utf_8_are_read_in_the_same_text():
    body = page(record(1), record(2, "é XX ü"), record(3)).encode().replace(b"XX", b"\xe9\x80")
    found = read(body)
    assert title(found.items[1]) == "é é€ ü"


def test_a_character_cut_in_its_middle_is_marked_as_lost():
    body = page(record(1), record(2, "naïf éXX"), record(3)).encode().replace(b"XX", b"\xc3")
    found = read(body)
    assert_only_second_mended(found, Repair.LOST_CHARACTER)
    assert title(found.items[1]) == "naïf é�"


def test_surrogates_written_one_by_one_in_utf_8_are_joined():
    body = page(record(1), record(2, "XX"), record(3)).encode()
    found = read(body.replace(b"XX", "\ud835\udc00".encode("utf-8", "surrogatepass")))
    assert_only_second_mended(found, Repair.SURROGATE_PAIR)
    assert title(found.items[1]) == "\U0001d400"


def test_text_in_an_encoding_nobody_names_is_set_aside_rather_than_guessed():
    body = page(record(1), "SECOND", record(3)).encode()
    body = body.replace(b"SECOND", record(2, "Привет").encode("cp1251"))
    found = read(body)
    assert identifiers(found) == ["oai:x:1", "oai:x:3"]
    assert found.set_aside[0].reason == "is in an encoding that is neither UTF-8 nor declared"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_page_in_utf_16_is_read(encoding):
    body = page(record(1, "é\U0001d400")).replace("UTF-8", "UTF-16").encode(encoding)
    found = read(body)
    assert title(found.items[0]) == "é\U0001d400"
    assert found.repairs == {"encoding other than UTF-8 converted": 1}


@pytest.mark.parametrize(
    ("declared", "text"), [("Shift_JIS", "日本"), ("koi8-r", "Привет"), ("gb2312", "中文")]
)
def test_a_declared_encoding_is_believed_where_the_bytes_are_not_utf_8(declared, text):
    body = page(record(1, text)).replace("UTF-8", declared).encode(declared)
    found = read(body)
    assert title(found.items[0]) == text
    assert found.repairs == {"encoding other than UTF-8 converted": 1}


@pytest.mark.parametrize("declared", ["UTF-16", "us-ascii", "nonsense", "UTF-7", "IBM037"])
def test_utf_8_is_read_whatever_is_declared(declared):
    found = read(page(record(1, "é & ü")).replace("UTF-8", declared))
    assert title(found.items[0]) == "é & ü"


def test_a_declared_latin_1_stays_latin_1_where_a_record_is_broken():
    body = page(record(1, "é"), record(2, "ü & ö")).replace("UTF-8", "ISO-8859-1")
    found = read(body.encode("latin-1"))
    assert [title(item) for item in found.items] == ["é", "ü & ö"]


def test_utf_8_declared_as_latin_1_is_read_as_utf_8_and_that_is_told():
    body = page(record(1, "naïve")).replace("UTF-8", "ISO-8859-1")
    found = read(body)
    assert title(found.items[0]) == "naïve"
    assert found.repairs == {"wrong encoding declaration overruled": 1}
    assert read(body.replace("ï", "i")).repairs == {}
    assert title(read(body.encode("latin-1")).items[0]) == "naïve"
    assert read(body.encode("latin-1")).repairs == {}


# --- what stands around


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\n  ", ""),
        ("<br />\n<b>Notice</b>: Undefined index in <b>/var/oai.php</b><br />\n", ""),
        ("", "<br /><b>Warning</b>: session & such"),
        ("\ufeff\ufeff", "<!-- 0.2 s --><script>x</script>"),
    ],
)
def test_what_stands_before_and_after_the_answer_is_cut_off(before, after):
    found = read(before + page(record(1), record(2)) + after)
    assert found.items == read_records(page(record(1), record(2)).encode()).items
    assert found.mended == {}
    wanted = {"junk before the answer cut": before, "junk after the answer cut": after}
    assert found.repairs == {kind: 1 for kind, junk in wanted.items() if junk}


def test_a_byte_order_mark_alone_is_no_fault():
    assert read("\ufeff" + page(record(1))).repairs == {}


def test_what_php_writes_between_records_is_cut_out():
    found = read(page(record(1), "<br />\n<b>Warning</b>: a & b<br>", record(2)))
    assert identifiers(found) == ["oai:x:1", "oai:x:2"]
    assert found.mended == {}
    assert found.repairs["junk between records cut"] == 1


def test_a_fault_in_the_envelope_costs_no_record():
    body = page(record(1)).replace("/oai<", "/oai?verb=ListRecords&metadataPrefix=oai_dc<")
    found = read(body)
    assert identifiers(found) == ["oai:x:1"]
    assert found.request_url == "http://repo.example/oai?verb=ListRecords&metadataPrefix=oai_dc"
    assert found.mended == {}


def test_an_envelope_beyond_repair_costs_no_record_and_is_told():
    found = read(page(record(1)).replace("</responseDate>", "</p></p>"))
    assert identifiers(found) == ["oai:x:1"]
    assert found.next_token == "a&b c"
    assert found.response_date is None
    assert found.repairs["envelope read in part"] == 1


def test_an_error_is_read_from_an_answer_with_junk_before_it():
    found = read("Notice: x & y" + OPEN + '<error code="noRecordsMatch">a & b</error></OAI-PMH>')
    with pytest.raises(NoRecordsMatch, match="a & b"):
        found.raise_errors()


def test_errors_beside_broken_records_are_kept():
    body = page(record(1, "a & b")).replace("<ListRecords>", '<error code="x"/><ListRecords>')
    body = body.replace("</OAI-PMH>", '<error code="y"/></OAI-PMH>')
    found = read(body)
    assert identifiers(found) == ["oai:x:1"]
    assert [error.code for error in found.errors] == ["x", "y"]


# --- what cannot be mended is set aside


def broken(found, reason):
    """Records 1 and 3 came, the second was set aside for this reason."""
    assert identifiers(found) == ["oai:x:1", "oai:x:3"]
    assert found.mended == {}
    assert found.next_token == "a&b c"
    (aside,) = found.set_aside
    assert aside.identifier == "oai:x:2"
    assert reason in aside.reason
    assert aside.where.startswith("record 2 of the page, from byte ")
    return aside


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (("</dc:title>", ""), "tag mismatch: title"),
        (("<dc:type>", "<dc:type"), "tag mismatch"),
        (("A title", '<a href="http://x </a>'), "not well-formed"),
        (("A title", "<unknown:a/>"), "prefix unknown"),
        (("A title", "<![CDATA[ x"), "CData section not finished"),
        (("A title", "<!-- x"), "not well-formed"),
        (("A title", "<a>" * 3000 + "</a>" * 3000), "depth"),
        (("A title", "</record>"), "not well-formed"),
        (("</identifier>", ""), "not well-formed"),
        (("A title", '<a x="1" x="2"/>'), "redefined"),
    ],
)
def test_a_record_with_several_meanings_is_set_aside_with_its_bytes(damage, reason):
    second = record(2).replace(*damage)
    body = page(record(1), second, record(3)).encode()
    aside = broken(read(body), reason)
    assert aside.raw.strip() == second.encode()
    assert body.index(aside.raw) == int(aside.where.rpartition(" ")[2].replace(",", ""))


@pytest.mark.parametrize(
    "written",
    [
        b"oai:x:\x002",
        b"oai:x:2&#1;",
        b"oai:x:2&#x0;",
        b"oai:x:2\xe2\x80",
        b"<![CDATA[oai:x:\x1f2]]>",
    ],
)
def test_no_identifier_is_made_of_another_by_leaving_out_a_character(written):
    """The record would be stored as a version of oai:x:2, which may be another one."""
    second = record(2).encode().replace(b"oai:x:2", written)
    body = page(record(2), "HERE", record(3)).encode().replace(b"HERE", second)
    found = read(body)
    assert identifiers(found) == ["oai:x:2", "oai:x:3"]
    (aside,) = found.set_aside
    assert (aside.reason, aside.raw.strip()) == (NO_IDENTIFIER, second)
    header = b"<header><identifier>%b</identifier><datestamp>2010</datestamp></header>" % written
    listed = b"%b<ListIdentifiers>%b</ListIdentifiers></OAI-PMH>" % (OPEN.encode(), header)
    headers = read_headers_mended(listed)
    assert headers.items == ()
    assert [one.reason for one in headers.set_aside] == [NO_IDENTIFIER]


def test_characters_left_out_elsewhere_leave_the_identifier_known():
    found = read(page(record(1), record(2, "A\x00 title&#1;"), record(3)))
    assert identifiers(found) == ["oai:x:1", "oai:x:2", "oai:x:3"]
    assert title(found.items[1]) == "A title"


def test_a_record_without_identifier_is_set_aside_with_its_bytes():
    found = read(page(record(1), record(2, "&").replace("oai:x:2", ""), record(3)))
    assert [(one.identifier, one.reason) for one in found.set_aside] == [("", "has no identifier")]
    assert b"2010-01-02" in found.set_aside[0].raw


def test_a_record_without_header_costs_none_of_its_neighbours():
    found = read(page(record(1), "<record><metadata/></record>", record(2, "a & b")))
    assert identifiers(found) == ["oai:x:1", "oai:x:2"]
    assert [one.reason for one in found.set_aside] == ["has no header"]


def test_an_identifier_is_told_as_far_as_it_can_be_read():
    body = page(record(1), record(2).replace("oai:x:2", "oai:x:2&amp;a&3").replace("</dc:t", "<"))
    assert [one.identifier for one in read(body).set_aside] == ["oai:x:2&a&3"]


def test_records_quoted_within_a_record_are_no_records():
    quoted = record(2).replace(
        "</record>", f"<about><quote>{record(8)}{record(9)}</quote></about></record>"
    )
    found = read(page(record(1), quoted, record(3, "a & b")))
    assert identifiers(found) == ["oai:x:1", "oai:x:2", "oai:x:3"]
    assert found.mended == {2: ("bare ampersand escaped",)}
    assert b"oai:x:9" in found.items[1].about[0]


def test_records_of_other_formats_within_metadata_are_no_records():
    marc = (
        "<collection xmlns='http://www.loc.gov/MARC21/slim'>"
        "<record><leader>a</leader></record><record><leader>b & c</leader></record></collection>"
    )
    found = read(page(record(1), record(2, metadata=marc), record(3)))
    assert_only_second_mended(found, Repair.AMPERSAND)
    assert found.items[1].metadata.count(b"leader>") == 4


# --- entities


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY nbsp "x">]>'


@pytest.mark.parametrize(
    "doctype",
    [
        BOMB,
        '<!DOCTYPE x [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">',
        '<!DOCTYPE x [<!ENTITY % b SYSTEM "http://127.0.0.1:1/x.dtd"> %b;]>',
        '<!DOCTYPE x [<!-- "> --><!ENTITY b "<OAI-PMH>">]>',
    ],
)
def test_entities_of_a_dtd_are_never_resolved_and_cost_only_who_refers_to_them(doctype):
    body = page(record(1), record(2, "x &b; y"), record(3)).replace("?>", "?>" + doctype)
    broken(read(body), "refers to the entity 'b' of a DTD, which is never resolved")


def test_a_declared_entity_with_a_name_of_html_is_not_taken_for_that():
    body = page(record(1), record(2, "&nbsp;"), record(3)).replace("?>", "?>" + BOMB)
    broken(read(body), "refers to the entity 'nbsp'")


def test_a_doctype_within_a_record_counts_for_it():
    second = record(2, f"{BOMB}&a;")
    broken(read(page(record(1), second, record(3))), "refers to the entity 'a'")


def test_a_page_with_entities_nobody_refers_to_is_read_whole():
    found = read(page(record(1), record(2)).replace("?>", "?>" + BOMB))
    assert identifiers(found) == ["oai:x:1", "oai:x:2"]
    assert found.repairs == {"DOCTYPE removed": 1}


# --- pages that were cut


WHOLE = page(record(1), record(2, "a & b"), record(3))


@pytest.mark.parametrize("cut", range(len(page(record(1))), len(WHOLE)))
def test_a_cut_page_gives_its_whole_records_and_never_seems_the_last(cut):
    found = read(WHOLE[:cut])
    whole_records = WHOLE[:cut].count("</record>")
    assert identifiers(found) == ["oai:x:1", "oai:x:2", "oai:x:3"][:whole_records]
    assert found.set_aside == ()
    token_came = "</resumptionToken>" in WHOLE[:cut]
    assert found.end_lost is not token_came
    assert found.next_token == ("a&b c" if token_came else None)


def test_a_page_cut_within_its_first_record_is_unreadable():
    with pytest.raises(PageUnreadable, match="is cut short"):
        read(WHOLE[: WHOLE.index("</record>")])


def test_a_page_that_lacks_only_end_tags_of_the_envelope_is_whole_where_its_token_came():
    found = read(WHOLE.removesuffix("</ListRecords></OAI-PMH>"))
    assert len(found.items) == 3
    assert not found.end_lost
    assert found.repairs["page cut short"] == 1


@pytest.mark.parametrize(
    "token", ["<resumptionToken>a", "<resumptionToken cursor='1>a</resumptionToken>"]
)
def test_a_token_that_cannot_be_read_does_not_make_a_last_page(token):
    found = read(page(record(1), close=f"{token}</ListRecords></OAI-PMH>"))
    assert identifiers(found) == ["oai:x:1"]
    assert found.next_token is None
    assert found.end_lost


def test_a_broken_page_without_a_token_is_the_last():
    found = read(page(record(1, "&"), close="</ListRecords></OAI-PMH>"))
    assert (found.token, found.end_lost) == (None, False)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("<resumptionToken>a&b=1</resumptionToken>", "a&b=1"),
        ("<resumptionToken><![CDATA[a|<b]]></resumptionToken>", "a|<b"),
        ("<resumptionToken cursor='1'/>", None),
        ("<resumptionToken/>", None),
        ("<resumptionToken />", None),
        ("<resumptionToken></resumptionToken>", None),
        ("<oai:resumptionToken>\n a+b \n</oai:resumptionToken>", "a+b"),
    ],
)
def test_a_token_is_read_whatever_way_it_is_written(written, value):
    body = page(record(1, "&"), close=f"{written}</ListRecords></OAI-PMH>")
    body = body.replace("<OAI-PMH", '<OAI-PMH xmlns:oai="http://www.openarchives.org/OAI/2.0/"')
    found = read(body)
    assert (found.next_token, found.end_lost) == (value, False)


def test_a_token_within_a_record_is_not_the_pages():
    quote = "<resumptionToken>of another list</resumptionToken>"
    body = page(record(1), record(2, quote + "&"), close="</ListRecords></OAI-PMH>")
    assert read(body).token is None


# --- other writings, other verbs


@pytest.mark.parametrize("namespace", ["https://www.openarchives.org/OAI/2.0/", None])
def test_broken_pages_are_read_whatever_their_namespace(namespace):
    declared = f'xmlns="{namespace}"' if namespace else ""
    body = page(record(1, "a & b")).replace(
        'xmlns="http://www.openarchives.org/OAI/2.0/"', declared
    )
    assert title(read(body).items[0]) == "a & b"


@pytest.mark.parametrize("declared", [True, False])
def test_broken_pages_with_a_prefix_on_everything_are_read(declared):
    names = "OAI-PMH|responseDate|request|ListRecords|record|header|identifier|datestamp|metadata"
    body = page(record(1, "a & b"), record(2))
    for name in (*names.split("|"), "resumptionToken"):
        body = body.replace(f"<{name}", f"<oai:{name}").replace(f"</{name}", f"</oai:{name}")
    body = body.replace("<oai:request>", "<oai:request>")
    body = body.replace("xmlns=", "xmlns:oai=" if declared else "xmlns:other=")
    found = read(body)
    assert identifiers(found) == ["oai:x:1", "oai:x:2"]
    assert title(found.items[0]) == "a & b"
    assert found.next_token == "a&b c"


def test_broken_headers_are_read_one_by_one():
    header = "<header><identifier>oai:x:{}</identifier><datestamp>2010</datestamp></header>"
    listed = header.format("1&2") + header.format("3").replace("</d", "<") + header.format("4")
    body = OPEN + f"<ListIdentifiers>{listed}</ListIdentifiers></OAI-PMH>"
    found = read_headers_mended(body.encode())
    assert [one.identifier for one in found.items] == ["oai:x:1&2", "oai:x:4"]
    assert found.mended == {0: ("bare ampersand escaped",)}
    assert [one.identifier for one in found.set_aside] == ["oai:x:3"]


def test_headers_within_records_are_read_in_a_broken_page_too():
    header = "<record><header><identifier>{}</identifier></header></record>"
    body = OPEN + f"<ListIdentifiers>{header.format('a&b')}{header.format('c')}</ListIdentifiers>"
    found = read_headers_mended((body + "</OAI-PMH>").encode())
    assert [one.identifier for one in found.items] == ["a&b", "c"]


def test_get_record_gives_a_mended_record():
    body = OPEN + f"<GetRecord>{record(1, 'a & b')}</GetRecord></OAI-PMH>"
    found = read_record_mended(body.encode())
    assert title(found.items[0]) == "a & b"
    assert found.mended == {0: ("bare ampersand escaped",)}


def test_identify_and_sets_are_mended_as_a_whole():
    body = OPEN + "<Identify><repositoryName>A & B</repositoryName></Identify></OAI-PMH>"
    found, repairs = read_mended(b"PHP Notice" + body.encode(), read_identify)
    assert found.repository_name == "A & B"
    assert repairs == {"bare ampersand escaped": 1, "junk before the answer cut": 1}
    sets = OPEN + "<ListSets><set><setSpec>a&b</setSpec></set></ListSets></OAI-PMH>"
    assert read_mended(sets.encode(), read_sets)[0].items[0].spec == "a&b"
    with pytest.raises(PageUnreadable, match="HTML"):
        read_mended(b"<html><body>", read_identify)


@pytest.mark.parametrize(
    "body", ["", "<html><br></html>", "Fatal error", "<rss><record/></rss>", OPEN, "<OAI-PMH"]
)
def test_what_is_no_answer_stays_unreadable_with_the_parsers_reason(body):
    with pytest.raises(PageUnreadable) as strict:
        read_records(body.encode())
    with pytest.raises(PageUnreadable) as mended:
        read(body)
    assert str(mended.value) == str(strict.value)


def test_an_answer_to_another_verb_is_unreadable():
    with pytest.raises(PageUnreadable, match="is a response to Identify"):
        read(OPEN + "<Identify/></OAI-PMH>")


# --- sizes


@pytest.mark.long
def test_a_broken_record_of_20_megabytes_is_mended():
    text = ("lorem ipsum " * 100 + "& ") * 17_000
    found = read(page(record(1), record(2, text), record(3)))
    assert_only_second_mended(found, Repair.AMPERSAND)
    assert title(found.items[1]) == text


@pytest.mark.parametrize(
    "unit",
    [
        "<record><header>",
        "<record><!--",
        "<record>",
        "</record>",
        "<!--",
        "<![CDATA[",
        "<?a",
        "<!DOCTYPE x [",
        '<a b="',
        '<a b=\'" c="',
        "<a b='1' ",
        "<a>",
        "</a>",
        "<b:a>",
        "<br>",
        "&",
        "&#",
        "&#1",
        "&a",
        "<resumptionToken>",
        "<resumptionToken ",
        "]]",
        "\xe9",
        "<header><identifier>",
        "<record><header/></record><record>",
        "</OAI-PMH>",
    ],
)
@pytest.mark.parametrize("place", family(["before", "within", "behind"], 1))
def test_no_bytes_take_more_than_linear_time(unit, place):
    nasty = unit * (120_000 // len(unit))
    bodies = {
        "before": nasty + page(record(1)),
        "within": page(record(1), record(2, nasty), record(3)),
        "behind": page(record(1), record(2, nasty), record(3))[: -len(CLOSE)] + nasty,
    }
    started = time.process_time()
    with suppress(PageUnreadable):
        read(bodies[place].encode("latin-1"))
    assert time.process_time() - started < 8
