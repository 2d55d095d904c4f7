"""Verbs → requests, bytes → values."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.pages.requests_and_pages import (
    get_record_request,
    identify_request,
    list_metadata_formats_request,
    list_request,
    list_sets_request,
    read_headers,
    read_identify,
    read_metadata_formats,
    read_record,
    read_records,
    read_sets,
    resume_request,
)
from oaipmhprotocol import (
    BadArgument,
    BadResumptionToken,
    BadVerb,
    CannotDisseminateFormat,
    Granularity,
    Header,
    IdDoesNotExist,
    MetadataFormat,
    NoMetadataFormats,
    NoRecordsMatch,
    NoSetHierarchy,
    OAIError,
    Set,
    Verb,
)
from oaipmhprotocol.words import DeletedRecord
from politeweb.errors import RequestRefused

RECORD = (
    "<record><header><identifier>oai:x:1</identifier><datestamp>2010-01-02</datestamp>"
    "<setSpec>a</setSpec><setSpec>a:b</setSpec></header><metadata>{}</metadata></record>"
)


# --- requests


def test_each_verb_has_its_request():
    assert identify_request().params == {"verb": "Identify"}
    assert list_sets_request().params == {"verb": "ListSets"}
    assert list_metadata_formats_request("oai:x:1").params == {
        "verb": "ListMetadataFormats",
        "identifier": "oai:x:1",
    }
    assert get_record_request("oai:x:1", "oai_dc").params == {
        "verb": "GetRecord",
        "identifier": "oai:x:1",
        "metadataPrefix": "oai_dc",
    }


def test_selective_list_request_sends_what_is_given():
    request = list_request(
        Verb.LIST_RECORDS, "oai_dc", from_="2010-01-01", until="2010-02-01", set_spec="a:b"
    )
    assert request.params == {
        "verb": "ListRecords",
        "metadataPrefix": "oai_dc",
        "from": "2010-01-01",
        "until": "2010-02-01",
        "set": "a:b",
    }


def test_an_empty_set_is_never_sent():
    assert "set" not in list_request(Verb.LIST_RECORDS, "oai_dc", set_spec="").params


def test_resuming_sends_the_token_alone_and_encodes_all_of_it():
    request = resume_request(Verb.LIST_RECORDS, "a+b|c d/é&=")
    assert request.params == {"verb": "ListRecords", "resumptionToken": "a+b|c d/é&="}
    assert str(request) == ("verb=ListRecords&resumptionToken=a%2Bb%7Cc%20d%2F%C3%A9%26%3D")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"from_": "2010-1-1"}, "not a datestamp"),
        ({"until": "yesterday"}, "not a datestamp"),
        ({"from_": "2010-01-01", "until": "2010-01-01T00:00:00Z"}, "granularity"),
        ({"from_": "2010-01-02", "until": "2010-01-01"}, "later than"),
    ],
)
def test_windows_that_cannot_be_are_refused(arguments, words):
    with pytest.raises(RequestRefused, match=words):
        list_request(Verb.LIST_RECORDS, "oai_dc", **arguments)


@pytest.mark.parametrize("prefix", ["", "..", ".", "oai dc", "../x", "a/b", "ü"])
def test_prefixes_that_cannot_name_a_file_are_refused(prefix):
    with pytest.raises(RequestRefused):
        list_request(Verb.LIST_RECORDS, prefix)


def test_an_empty_identifier_is_refused():
    with pytest.raises(RequestRefused, match="empty identifier"):
        get_record_request("", "oai_dc")


# --- pages


def test_a_page_of_records_is_read_whole(page):
    body = page(
        "<ListRecords>"
        + RECORD.format('<x xmlns="urn:x">&lt;1</x>')
        + '<record><header status="deleted"><identifier>oai:x:2</identifier>'
        "<datestamp>2010-01-03</datestamp></header></record>"
        '<resumptionToken completeListSize="7" cursor="2" expirationDate="2010-12-01T00:00:00Z">'
        " tok+1 \n</resumptionToken></ListRecords>"
    )
    found = read_records(body)
    first, second = found.items
    assert first.header == Header("oai:x:1", "2010-01-02", ("a", "a:b"))
    assert second.header == Header("oai:x:2", "2010-01-03", (), deleted=True)
    assert second.metadata is None
    assert found.response_date == datetime(2010, 11, 20, 12, tzinfo=UTC)
    assert found.request_url == "http://repo.example/oai"
    assert found.token is not None
    assert found.next_token == "tok+1"
    assert (found.token.complete_list_size, found.token.cursor) == (7, 2)
    assert found.token.expiration == "2010-12-01T00:00:00Z"


def test_metadata_is_well_formed_on_its_own_with_every_namespace_in_scope(page):
    body = page("<ListRecords>" + RECORD.format('<x xsi:type="y">é</x>') + "</ListRecords>")
    metadata = read_records(body).items[0].metadata
    assert (
        metadata
        == (
            '<metadata xmlns="http://www.openarchives.org/OAI/2.0/"'
            ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
            '<x xsi:type="y">é</x></metadata>'
        ).encode()
    )
    assert etree.fromstring(metadata).tag == "{http://www.openarchives.org/OAI/2.0/}metadata"


def test_about_containers_are_kept_in_order(page):
    record = RECORD.format("<x/>").replace("</record>", "<about>1</about><about>2</about></record>")
    about = read_records(page(f"<ListRecords>{record}</ListRecords>")).items[0].about
    assert [etree.fromstring(one).text for one in about] == ["1", "2"]


def test_a_prefix_on_every_element_is_read_alike():
    body = (
        b'<o:OAI-PMH xmlns:o="http://www.openarchives.org/OAI/2.0/"><o:ListRecords><o:record>'
        b"<o:header><o:identifier>i</o:identifier><o:datestamp>2010-01-01</o:datestamp></o:header>"
        b"<o:metadata><a/></o:metadata></o:record></o:ListRecords></o:OAI-PMH>"
    )
    assert read_records(body).items[0].header.identifier == "i"


def test_answers_without_a_namespace_are_read_alike():
    body = (
        b"<OAI-PMH><ListIdentifiers><header><identifier>i</identifier>"
        b"<datestamp>2010</datestamp></header></ListIdentifiers></OAI-PMH>"
    )
    assert read_headers(body).items == (Header("i", "2010"),)


def test_an_empty_token_ends_the_list_and_still_promises(page):
    body = page(
        '<ListIdentifiers><resumptionToken completeListSize="3" cursor="-1"/></ListIdentifiers>'
    )
    found = read_headers(body)
    assert found.next_token is None
    assert found.token is not None
    assert found.token.complete_list_size == 3
    assert found.token.cursor is None


def test_comments_within_texts_are_no_part_of_them(page):
    body = page(
        "<ListIdentifiers><header><identifier>oai:<!-- x -->x:1</identifier>"
        "<datestamp>2010-01-01</datestamp></header></ListIdentifiers>"
    )
    assert read_headers(body).items[0].identifier == "oai:x:1"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("badArgument", BadArgument),
        ("badResumptionToken", BadResumptionToken),
        ("badVerb", BadVerb),
        ("cannotDisseminateFormat", CannotDisseminateFormat),
        ("idDoesNotExist", IdDoesNotExist),
        ("noRecordsMatch", NoRecordsMatch),
        ("noMetadataFormats", NoMetadataFormats),
        ("noSetHierarchy", NoSetHierarchy),
    ],
)
def test_every_error_condition_is_its_own_exception(page, code, kind):
    found = read_records(page(f'<error code="{code}">in words</error>'))
    with pytest.raises(kind, match="in words"):
        found.raise_errors()


def test_an_unknown_error_code_is_told_as_received(page):
    with pytest.raises(OAIError, match="serverOnFire: help") as raised:
        read_identify(page('<error code="serverOnFire">help</error>'))
    assert raised.value.code == "serverOnFire"


def test_records_beside_an_error_are_kept(page):
    found = read_records(
        page(f'<error code="badArgument"/><ListRecords>{RECORD.format("<a/>")}</ListRecords>')
    )
    found.raise_errors()
    assert len(found.items) == 1
    assert [error.code for error in found.errors] == ["badArgument"]


def test_a_record_without_identifier_is_set_aside_and_its_neighbours_kept(page):
    nameless = RECORD.format("<a/>").replace("oai:x:1", " ")
    body = page(f"<ListRecords>{nameless}{RECORD.format('<a/>')}<record/></ListRecords>")
    found = read_records(body)
    assert [record.header.identifier for record in found.items] == ["oai:x:1"]
    assert [(one.reason, one.where) for one in found.set_aside] == [
        ("has no identifier", "record 1 of the page"),
        ("has no header", "record 3 of the page"),
    ]


def test_get_record_gives_the_record_or_says_why_not(page):
    assert read_record(page(f"<GetRecord>{RECORD.format('<a/>')}</GetRecord>")).metadata
    with pytest.raises(IdDoesNotExist):
        read_record(page('<error code="idDoesNotExist"/>'))
    with pytest.raises(PageUnreadable, match="no record"):
        read_record(page("<GetRecord/>"))


def test_formats_and_sets_are_read(page):
    formats = read_metadata_formats(
        page(
            "<ListMetadataFormats><metadataFormat><metadataPrefix>p</metadataPrefix>"
            "<schema>s</schema><metadataNamespace>n</metadataNamespace></metadataFormat>"
            "</ListMetadataFormats>"
        )
    )
    assert formats.items == (MetadataFormat("p", "s", "n"),)
    sets = read_sets(
        page(
            "<ListSets><set><setSpec>a</setSpec><setName>Name &amp; more</setName></set>"
            "<set><setSpec>b</setSpec><setName/><setDescription><d/></setDescription></set>"
            "</ListSets>"
        )
    )
    assert sets.items[0] == Set("a", "Name & more")
    assert sets.items[1].description is not None
    assert b"<d/>" in sets.items[1].description


def test_identify_is_read(page):
    found = read_identify(
        page(
            "<Identify><repositoryName>R</repositoryName><baseURL>http://r/</baseURL>"
            "<protocolVersion>2.0</protocolVersion><adminEmail>a@r</adminEmail>"
            "<adminEmail>b@r</adminEmail><earliestDatestamp>0001-01-01</earliestDatestamp>"
            "<deletedRecord>transient</deletedRecord><granularity>yyyy-mm-ddThh:mm:ssz"
            "</granularity><compression>gzip</compression><toolkit>T</toolkit>"
            "<description><d xmlns='urn:d'>1</d></description></Identify>"
        )
    )
    assert (found.repository_name, found.base_url) == ("R", "http://r/")
    assert found.admin_emails == ("a@r", "b@r")
    assert found.deleted_record is DeletedRecord.TRANSIENT
    assert found.granularity is Granularity.SECOND
    assert found.compression == ("gzip",)
    assert etree.fromstring(found.descriptions[0]).tag == "{urn:d}d"
    assert found.other == {"toolkit": "T"}


def test_an_identify_with_almost_nothing_in_it_is_read(page):
    found = read_identify(page("<Identify/>"))
    assert found.repository_name == ""
    assert found.granularity is None
    assert found.deleted_record is DeletedRecord.NO


def test_an_answer_to_another_verb_is_unreadable(page):
    with pytest.raises(PageUnreadable, match="is a response to Identify, not to ListRecords"):
        read_records(page("<Identify/>"))
    with pytest.raises(PageUnreadable, match="neither ListRecords nor an error"):
        read_records(page(""))


@given(st.binary(max_size=400))
def test_any_bytes_give_a_page_or_a_named_error(body):
    with pytest.raises(PageUnreadable):
        read_records(body)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="￾￿")))
def test_any_text_in_metadata_comes_back_as_it_was(text):
    root = etree.Element("x")
    root.text = text
    record = RECORD.format(etree.tostring(root, encoding="unicode"))
    body = (
        '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>'
        f"{record}</ListRecords></OAI-PMH>"
    ).encode()
    metadata = read_records(body).items[0].metadata
    assert metadata is not None
    assert (etree.fromstring(metadata)[0].text or "") == text
