"""Answers of OAI-PMH repositories: parsed, mended, set aside."""

from collections.abc import Hashable, Iterable
from functools import partial

from fuzzing.target import Target
from lxml import etree
from misbehaving.faults import FAULTS, repository_with

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.mending.repair import (
    read_headers_mended,
    read_mended,
    read_record_mended,
    read_records_mended,
)
from oaipmhclient.mending.repairs import Repair
from oaipmhclient.pages.requests_and_pages import (
    read_headers,
    read_identify,
    read_metadata_formats,
    read_records,
    read_sets,
)
from oaipmhprotocol import OAIError

WORDS = (
    b"&", b"<", b">", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"<?xml version='1.0'?>", b"<?x ",
    b"?>", b" encoding='iso-8859-1'", b" encoding='utf-16'", b"&eacute;", b"&#0;", b"&#xD800;",
    b"&amp;", b"\x0b", b"\xe9", b"<record>", b"</record>", b"<record><header>", b"</header>",
    b"<metadata>", b"</metadata>", b"<about>", b"</ListRecords>", b"<ListRecords>", b"<br>",
    b"<a b='", b'"', b"'", b"<OAI-PMH>", b"</OAI-PMH>", b"<resumptionToken>x", b"<x:y>",
    b"</resumptionToken>", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"<!ENTITY b '&a;&a;'>",
    b"</dc:title>", b"<dc:title>", b' xmlns:dc="urn:x"', b"<identifier>", b"<datestamp>", b"<a/>",
    b"<error code='noRecordsMatch'>", b"\xa0", b"\x93", b"<request>", b"<responseDate>", b"<a>",
)  # fmt: skip
_OTHERS = (read_identify, read_metadata_formats, read_sets)
_QUERIES = (
    "verb=Identify", "verb=ListMetadataFormats", "verb=ListSets",
    "verb=ListRecords&metadataPrefix=oai_dc", "verb=ListIdentifiers&metadataPrefix=oai_dc",
    "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:misbehaving.example:0023",
)  # fmt: skip


class Pages(Target):
    promise = (
        "An answer is read, mended, or named unreadable; what is read is well-formed, a "
        "well-formed answer is read as it is, and what is set aside of a broken one has the "
        "bytes that were sent."
    )
    words = WORDS
    largest = 32_768
    iterations = 100

    def seeds(self) -> Iterable[bytes]:
        sound = repository_with()
        bodies = [sound.answer(query).body for query in _QUERIES]
        for name in FAULTS:
            repository = repository_with(name)
            repository.page_size = 3
            bodies.append(repository.answer(_QUERIES[3]).body)
        return list(dict.fromkeys(body for body in bodies if len(body) <= self.largest))

    def check(self, data: bytes) -> Hashable:
        met: list[Hashable] = []
        for mended, strict in ((read_records_mended, read_records),
                               (read_headers_mended, read_headers),
                               (read_record_mended, None)):  # fmt: skip
            try:
                page = mended(data)
            except PageUnreadable:
                met.append(None)
                if strict is not None:
                    assert not _is_read(partial(strict, data))
                continue
            _check_page(page, data)
            if strict is not None and not page.repairs:
                assert repr(page) == repr(strict(data))
            met.append((*page.repairs, len(page.items), len(page.set_aside), page.end_lost))
        for read in _OTHERS:
            try:
                met.append(tuple(read_mended(data, read)[1]))
            except (PageUnreadable, OAIError) as error:
                met.append(type(error))
        return tuple(met)


def _is_read(read) -> bool:
    try:
        read()
    except PageUnreadable:
        return False
    return True


def _check_page(page, data: bytes) -> None:
    for item in page.items:
        header = getattr(item, "header", item)
        assert header.identifier
        for content in (getattr(item, "metadata", None), *getattr(item, "about", ())):
            assert content is None or etree.fromstring(content) is not None
    if Repair.RECORD_BY_RECORD in page.repairs and Repair.ENCODING not in page.repairs:
        assert all(one.raw in data for one in page.set_aside), "set aside, but never sent"
    assert set(page.mended) <= set(range(len(page.items)))
