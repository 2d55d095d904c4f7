"""The light reading of a page gives the parser's result, or leaves the page to the parser."""

from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oaipmhclient import light_pages
from oaipmhclient.errors import PageUnreadable
from oaipmhclient.light_pages import read_lightly
from oaipmhclient.mending.repair import read_records_mended
from oaipmhclient.pages.requests_and_pages import ListPage, read_records

NAMESPACE = 'xmlns="http://www.openarchives.org/OAI/2.0/"'
DC = "<metadata><dc:dc xmlns:dc='d'><dc:title>A</dc:title></dc:dc></metadata>"
TEXT = st.text(
    st.characters(min_codepoint=33, exclude_categories=("Cs", "Cc"), exclude_characters="￾￿"),
    min_size=1,
)


def page(
    records: str, token: str = "", head: str = '<?xml version="1.0" encoding="UTF-8"?>'
) -> bytes:
    return (
        f"{head}\n<OAI-PMH {NAMESPACE}>\n<responseDate>2010-11-20T12:00:00Z</responseDate>\n"
        f'<request verb="ListRecords">http://r.example/oai?a&amp;b</request>\n'
        f"<ListRecords>{records}{token}</ListRecords></OAI-PMH>\n"
    ).encode()


def record(identifier: str = "oai:x:1", status: str = "", metadata: str = DC) -> str:
    return (
        f"<record> <header{status}><identifier> {escape(identifier)}</identifier>"
        f"<datestamp>2010-01-01</datestamp><setSpec>a</setSpec></header>{metadata}</record>"
    )


def seen(found: ListPage) -> tuple:
    headers = [
        (one.header.identifier, one.header.datestamp, one.header.deleted) for one in found.items
    ]
    return headers, found.token, found.response_date, found.request_url, [*map(str, found.errors)]


def parsed(body: bytes, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a page was left to the parser."""
    calls = []
    real = light_pages.read_records_mended
    with monkeypatch.context() as patch:
        patch.setattr(light_pages, "read_records_mended", lambda b: calls.append(b) or real(b))
        read_lightly(body)
    return bool(calls)


@given(
    st.lists(st.tuples(TEXT, st.booleans()), min_size=1), TEXT | st.none(), st.integers(0, 10**9)
)
def test_a_light_look_sees_what_the_parser_sees(records, token, size):
    content = "".join(
        record(identifier, ' status="deleted"' if deleted else "", "" if deleted else DC)
        for identifier, deleted in records
    )
    end = ""
    if token is not None:
        end = f"<resumptionToken completeListSize='{size}'>{escape(token)}</resumptionToken>"
    body = page(content, end)
    assert seen(read_lightly(body)) == seen(read_records(body))


@pytest.mark.parametrize(
    "body",
    [
        page(record()),
        page(
            record(),
            "<resumptionToken expirationDate='2010-01-01T00:00:00Z' cursor='5'>t</resumptionToken>",
        ),
        page(record(), "<resumptionToken></resumptionToken>"),
        page(record(), '<resumptionToken completeListSize="3"/>'),
        page(record(), '<resumptionToken completeListSize="999999999999">t</resumptionToken>'),
        page(record() * 3, head=""),
        b"\xef\xbb\xbf" + page(record()),
        page(record("a&b<c>")),
        page(
            record(metadata="<metadata><record xmlns='marc'><leader>x</leader></record></metadata>")
        ),
    ],
)
def test_a_page_of_the_usual_form_is_not_parsed(body, monkeypatch):
    assert not parsed(body, monkeypatch)
    assert seen(read_lightly(body)) == seen(read_records(body))


@pytest.mark.parametrize(
    "body",
    [
        page(record(metadata="<metadata><!-- <record><header> --></metadata>")),
        page(record(metadata="<metadata><a><![CDATA[<record>]]></a></metadata>")),
        page(record(metadata="<metadata><header>of its own</header></metadata>")),
        page("<record><header><datestamp>2010-01-01</datestamp></header></record>"),
        page(record().replace("oai:x:1", "")),
        page(record("&#233;").replace("&amp;", "&")),
        page(record("é"), head='<?xml version="1.0" encoding="ISO-8859-1"?>'),
        page(record(), "<resumptionToken/>"),
        page(record(metadata="<metadata><resumptionToken>no</resumptionToken></metadata>")),
        page(
            record(metadata="<metadata><resumptionToken>no</resumptionToken></metadata>"),
            "<resumptionToken>t</resumptionToken>",
        ),
        page(record() + record().replace("oai:x:1", ""), "<resumptionToken>t</resumptionToken>"),
        page(record() + "<record id='1'><header><identifier>x</identifier></header></record>"),
        page("<x/>" + record()),
        page("<error code='noRecordsMatch'/>"),
        page(record()).replace(b"</ListRecords>", b"</ListRecords><error code='badVerb'/>"),
        page(record()).replace(b"<record>", b"<oai:record xmlns:oai='http://www.openarchives.org/OAI/2.0/'>")
        .replace(b"</record>", b"</oai:record>"),
    ],
)  # fmt: skip
def test_anything_unusual_is_left_to_the_parser(body, monkeypatch):
    assert parsed(body, monkeypatch)
    assert seen(read_lightly(body)) == seen(read_records_mended(body))


def test_what_is_no_page_is_no_page_lightly_either():
    with pytest.raises(PageUnreadable):
        read_lightly(b"<html>busy</html>")


def test_a_page_cut_short_is_not_taken_for_a_whole_one(monkeypatch):
    body = page(record() * 3)
    calls = []
    monkeypatch.setattr(
        light_pages, "read_records_mended", lambda b: calls.append(b) or read_records(page(""))
    )
    for cut in (len(body) - 12, len(body) // 2, len(body) - 40):
        read_lightly(body[:cut])
    assert len(calls) == 3
