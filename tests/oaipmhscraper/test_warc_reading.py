"""Exchanges read from WARC files: our own, those of other tools, and damaged ones."""

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from warcs_of_others import by_others

from oaipmhscraper.warc.reading import StoredResponse, read_warc
from oaipmhscraper.warc.responses import ResponseRecorder
from politeweb.answers import Answer
from politeweb.warc.reading import About, Damaged

HARVEST = "20261121T211331.123456Z"
URL = "https://repo.example/oai"
RECEIVED = datetime(2026, 11, 21, 21, 13, 31, 123456, tzinfo=UTC)


def recorded(directory: Path, *answers: Answer) -> Path:
    with ResponseRecorder(str(directory), HARVEST, about={"agent": "silo harvest"}) as recorder:
        for number, answer in enumerate(answers):
            params = {"verb": "ListRecords", "resumptionToken": f"+ %{number}&é"}
            recorder.record(params, answer, "oai_dc")
    [path] = directory.glob("*.warc.gz")
    return path


def exchanges(path: Path, **more) -> list[StoredResponse | Damaged]:
    return [one for one in read_warc(str(path), **more) if not isinstance(one, About)]


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.tuples(st.binary(max_size=2000), st.booleans()), max_size=4))
def test_what_was_recorded_is_read_as_it_was(tmp_path_factory, sent):
    directory = tmp_path_factory.mktemp("warc")
    answers = [
        Answer(
            body,
            URL,
            404,
            {"x": "1"} | ({"content-encoding": "gzip"} if packed else {}),
            gzip.compress(body) if packed else None,
            RECEIVED,
        )
        for body, packed in sent
        if not body.startswith(b"\x1f\x8b")
    ]
    if not answers:
        return
    path = recorded(directory, *answers)
    about, *found = list(read_warc(str(path)))
    assert isinstance(about, About)
    assert about.fields["agent"] == "silo harvest"
    assert len(found) == len(answers)
    for number, (one, answer) in enumerate(zip(found, answers, strict=True)):
        assert one.params == {"verb": "ListRecords", "resumptionToken": f"+ %{number}&é"}
        assert (one.harvest_id, one.metadata_prefix) == (HARVEST, "oai_dc")
        got = one.answer
        assert (got.body, got.raw, got.status) == (answer.body, answer.raw, 404)
        assert (got.received, got.cut, got.headers["x"]) == (RECEIVED, "", "1")


def test_files_of_other_tools_are_read(tmp_path):
    page = b"<OAI-PMH/>"
    path = by_others(
        tmp_path / "crawl.warc.gz",
        (f"{URL}?verb=ListRecords&metadataPrefix=oai_dc", {}, page),
        ("https://repo.example/style.css", {}, b"body {}"),
        (f"{URL}?verb=Identify", {"Transfer-Encoding": "chunked"}, b"a\r\n<OAI-PMH/>\r\n0\r\n\r\n"),
        (f"{URL}?verb=ListSets", {"Content-Encoding": "gzip"}, gzip.compress(page)),
    )
    found = exchanges(path)
    assert [one.params["verb"] for one in found] == ["ListRecords", "Identify", "ListSets"]
    assert [one.answer.body for one in found] == [page] * 3
    assert found[0].metadata_prefix == found[0].harvest_id == ""


@pytest.mark.parametrize("name", ["../../../outside", "/tmp/outside", "a\\0b", "nul\x00", "ä"])
def test_a_harvest_of_another_form_of_name_is_no_harvest(tmp_path, name):
    path = recorded(tmp_path, Answer(b"<OAI-PMH/>", URL))
    content = gzip.decompress(path.read_bytes())
    assert content.count(HARVEST.encode()) > 1
    changed = tmp_path / "changed.warc"
    other = name.encode().ljust(len(HARVEST), b"x")  # lengths are part of the records
    changed.write_bytes(content.replace(HARVEST.encode(), other))
    assert [one.harvest_id for one in exchanges(path)] == [HARVEST]
    assert [one.harvest_id for one in exchanges(changed) if isinstance(one, StoredResponse)] == [""]
