"""The protocol's words in other namespaces, other letter case and other places."""

import pytest

from oaipmhclient.pages.requests_and_pages import read_headers, read_records, read_sets
from oaipmhprotocol import Header

HEADER = (
    "<header><identifier>oai:x:1</identifier><datestamp>2010-01-01</datestamp>"
    "<setSpec>a</setSpec></header>"
)
RECORD = f"<record>{HEADER}<metadata><a xmlns='urn:a'/></metadata></record>"
KNOWN = Header("oai:x:1", "2010-01-01", ("a",))


def records(content, namespace="http://www.openarchives.org/OAI/2.0/"):
    declared = f' xmlns="{namespace}"' if namespace else ""
    body = f"<OAI-PMH{declared}><ListRecords>{content}</ListRecords></OAI-PMH>"
    return read_records(body.encode())


def headers(content):
    return read_headers(f"<OAI-PMH><ListIdentifiers>{content}</ListIdentifiers></OAI-PMH>".encode())


@pytest.mark.parametrize(
    "namespace",
    ["https://www.openarchives.org/OAI/2.0/", "http://www.openarchives.org/OAI/1.1/", ""],
)
def test_any_namespace_on_the_root_is_read(namespace):
    assert records(RECORD, namespace).items[0].header == KNOWN


@pytest.mark.parametrize(
    "content",
    [
        RECORD.replace("<record>", '<record xmlns="">'),
        RECORD.replace("<header>", '<header xmlns="http://www.openarchives.org/OAI/1.1/">'),
        RECORD.replace("datestamp>", "dateStamp>"),
        RECORD.replace("setSpec>", "SetSpec>").replace("identifier>", "Identifier>"),
        f"<!-- 1 --><?x y?>{RECORD}",
    ],
)
def test_elements_in_another_namespace_or_letter_case_are_read(content):
    (found,) = records(content).items
    assert found.header == KNOWN
    assert found.metadata is not None


@pytest.mark.parametrize("place", ["<identifier>", "<datestamp>"])
def test_an_identifier_of_another_vocabulary_does_not_take_the_place_of_the_records(place):
    other = '<dc:identifier xmlns:dc="urn:dc">10.1/x</dc:identifier>'
    content = HEADER.replace(place, other + place)
    assert records(f"<record>{content}</record>").items[0].header == KNOWN


def test_headers_within_records_are_read_as_headers():
    wrapped = f"<record>{HEADER}</record>"
    assert headers(HEADER + wrapped + wrapped).items == (KNOWN,) * 3


@pytest.mark.parametrize(
    "content",
    [
        RECORD.replace("<header>", "<header status='deleted'>"),
        RECORD.replace("<header>", "<header status=' Deleted '>"),
        f"<record status='deleted'>{HEADER}</record>",
    ],
)
def test_a_deletion_is_read_as_versions_and_repositories_write_it(content):
    assert records(content).items[0].header.deleted


def test_a_record_with_metadata_is_not_deleted_by_a_status_of_its_own():
    (found,) = records(RECORD.replace("<record>", "<record status='deleted'>")).items
    assert not found.header.deleted


@pytest.mark.parametrize("name", ["expirationDate", "expires", "expiration_date", "ExpirationDate"])
def test_a_tokens_expiry_is_read_whatever_it_is_called(name):
    token = f'<resumptionToken {name}="2012-01-01" CompleteListSize="7">t</resumptionToken>'
    found = records(token).token
    assert (found.value, found.expiration, found.complete_list_size) == ("t", "2012-01-01", 7)


def test_an_absurd_number_of_records_is_none():
    token = '<resumptionToken completeListSize="999999999999" cursor="10">t</resumptionToken>'
    found = records(token).token
    assert (found.complete_list_size, found.cursor) == (None, 10)


def test_a_verb_in_another_letter_case_is_read():
    body = b"<OAI-PMH><listSets><set><setspec>a</setspec></set></listSets></OAI-PMH>"
    assert read_sets(body).items[0].spec == "a"


def test_what_is_set_aside_brings_its_bytes():
    (one,) = records("<record><header><datestamp>2010</datestamp></header></record>").set_aside
    assert b"<datestamp>2010</datestamp>" in one.raw
