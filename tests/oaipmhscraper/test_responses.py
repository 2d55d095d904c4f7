"""Responses as received: the content of the WARC files, also after a kill."""

from types import SimpleNamespace

import pytest
from warc_answers import BODY, HARVEST, URL, answer, only_file, read
from warcio.checker import Checker

from oaipmhscraper.warc.responses import RecordingTransport, ResponseRecorder
from politeweb.settings import HttpSettings

PARAMS = {"verb": "ListRecords", "resumptionToken": "a+b c|d"}


def test_each_answer_is_one_request_and_one_response_in_a_checkable_file(tmp_path):
    with ResponseRecorder(str(tmp_path), HARVEST, about={"agent": "silo harvest"}) as recorder:
        recorder.record(PARAMS, answer(headers={"content-type": "text/xml"}), "oai_dc")
    path = only_file(tmp_path)
    (info, about), (request, asked), (response, content) = read(path)
    assert path.name == f"{HARVEST}-00001.warc.gz"
    assert [info.kind, request.kind, response.kind] == ["warcinfo", "request", "response"]
    assert b"agent: silo harvest\r\n" in about
    assert b"software: recordsilo/" in about
    assert (asked, content) == (b"", BODY)
    assert request.http.protocol == "GET"
    assert request.http.statusline.startswith("/oai?verb=ListRecords&resumptionToken=a%2Bb")
    assert response.http.statusline == "200 OK"
    assert response.http.get_header("content-length") == str(len(BODY))
    for record, other in ((request, response), (response, request)):
        assert record.field("WARC-Concurrent-To") == other.field("WARC-Record-ID")
        assert record.field("WARC-Target-URI") == URL
        assert record.field("WARC-Date") == "2026-11-21T21:13:31.123456Z"
        assert record.field("Silo-Harvest") == HARVEST
        assert record.field("Silo-Metadata-Prefix") == "oai_dc"
        assert record.field("Silo-Request") == "verb=ListRecords&resumptionToken=a%2Bb%20c%7Cd"
        assert record.field("WARC-Block-Digest")
    found = Checker(SimpleNamespace(inputs=[str(path)], verbose=False))
    found.process_all()
    assert found.exit_value == 0


def test_a_posted_request_is_kept_with_its_form(tmp_path):
    settings = HttpSettings(post=True)
    with ResponseRecorder(str(tmp_path), HARVEST, settings=settings) as recorder:
        recorder.record(PARAMS, answer(url="https://repo.example/oai"))
    _, (request, form), _ = read(only_file(tmp_path))
    assert request.http.protocol == "POST"
    assert form == b"verb=ListRecords&resumptionToken=a%2Bb%20c%7Cd"


def test_an_error_page_is_kept_too(tmp_path):
    with ResponseRecorder(str(tmp_path), HARVEST) as recorder:
        recorder.record(PARAMS, answer(status=503, body=b"busy"))
    *_, (response, content) = read(only_file(tmp_path))
    assert (response.http.statusline, content) == ("503 Service Unavailable", b"busy")


def test_the_transport_records_before_it_hands_over_and_tells_what_the_inner_one_tells(tmp_path):
    class Inner:
        base_url = "https://repo.example/oai"

        def fetch(self, params):
            return answer(body=params["verb"].encode())

    with ResponseRecorder(str(tmp_path), HARVEST) as recorder:
        transport = RecordingTransport(Inner(), recorder, "oai_dc")
        assert transport.fetch({"verb": "Identify"}).body == b"Identify"
        *_, (_, content) = read(only_file(tmp_path))
        assert content == b"Identify"
        assert transport.base_url == "https://repo.example/oai"
        with pytest.raises(AttributeError):
            transport.no_such_thing  # noqa: B018 # the look-up is what is tested
