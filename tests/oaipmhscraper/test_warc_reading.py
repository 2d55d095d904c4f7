"""Exchanges read from WARC files: our own, those of other tools, and damaged ones."""

import gzip
import random
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from oaipmhscraper.warc.reading import StoredResponse, read_warc
from oaipmhscraper.warc.responses import ResponseRecorder
from politeweb.answers import Answer
from politeweb.errors import WarcUnreadable
from politeweb.warc.reading import About, Damaged, warc_paths

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


def by_others(
    path: Path, *responses: tuple[str, dict[str, str], bytes], packed: bool = True
) -> Path:
    """What another tool's crawl looks like: WARC 1.0, response first, none of our fields."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=packed)
        for url, headers, content in responses:
            head = StatusAndHeaders("200 OK", list(headers.items()), protocol="HTTP/1.1")
            response = writer.create_warc_record(
                url, "response", payload=BytesIO(content), length=len(content), http_headers=head
            )
            ask = StatusAndHeaders(f"GET /{url} HTTP/1.1", [], is_http_request=True)
            request = writer.create_warc_record(url, "request", http_headers=ask)
            writer.write_request_response_pair(request, response)
    return path


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


def test_an_answer_cut_short_stays_one(tmp_path):
    raw = gzip.compress(b"a" * 1000 + bytes(range(256)))[:-20]
    sent = Answer(b"", URL, 200, {"content-encoding": "gzip"}, raw, RECEIVED, cut="broken off")
    [found] = exchanges(recorded(tmp_path, sent))
    assert found.answer.cut == "broken off"
    assert found.answer.body.startswith(b"a" * 900)


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


def test_files_that_are_not_packed_are_read(tmp_path):
    path = by_others(tmp_path / "crawl.warc", (f"{URL}?verb=Identify", {}, b"x"), packed=False)
    assert [one.answer.body for one in exchanges(path)] == [b"x"]


def test_half_a_record_at_the_end_is_told_and_not_used(tmp_path):
    path = recorded(tmp_path, Answer(b"one" * 500, URL), Answer(bytes(range(256)) * 40, URL))
    whole = path.read_bytes()
    for cut in (200, 300, 600):
        path.write_bytes(whole[:-cut])
        first, torn = exchanges(path)
        assert first.answer.body == b"one" * 500
        assert torn == Damaged(path.name, "ends in a half-written record", is_end=True)


def test_content_that_is_not_what_was_recorded_is_told_and_not_used(tmp_path):
    path = by_others(
        tmp_path / "a.warc", *[(f"{URL}?verb=Identify", {}, b"first")] * 2, packed=False
    )
    path.write_bytes(path.read_bytes().replace(b"first", b"thirst"[:5], 1))
    damaged, sound = exchanges(path)
    assert str(damaged) == "record 1 of a.warc has another digest than the recorded one"
    assert not damaged.is_end
    assert sound.answer.body == b"first"


def test_a_header_ends_where_another_record_begins(tmp_path):
    path = by_others(tmp_path / "a.warc", (f"{URL}?verb=Identify", {}, b"sound"), packed=False)
    path.write_bytes(b"WARC/1.1\r\nWARC-Type: response\r\n" * 3 + path.read_bytes())
    *damaged, sound = exchanges(path)
    assert len(damaged) == 3
    assert all("another record begins in its header" in str(one) for one in damaged)
    assert sound.answer.body == b"sound"


def test_an_answer_beyond_the_limit_is_not_read(tmp_path):
    bomb = Answer(b"", URL, 200, {"content-encoding": "gzip"}, gzip.compress(bytes(10**6)))
    found = exchanges(
        recorded(tmp_path, bomb, Answer(b"x" * 5000, URL), Answer(b"y", URL)), limit=2000
    )
    assert ["more than" in str(found[0]), "longer than" in str(found[1])] == [True, True]
    assert found[2].answer.body == b"y"


@pytest.mark.parametrize(
    "content", [b"<html>", b"\x1f\x8b\x08 no", gzip.compress(b"text\n" * 90, mtime=0)]
)
def test_what_is_no_warc_file_is_refused_in_a_sentence(tmp_path, content):
    path = tmp_path / "a.warc.gz"
    path.write_bytes(content)
    with pytest.raises(WarcUnreadable, match=r"a.warc.gz is not a WARC file"):
        exchanges(path)


def test_a_file_that_was_only_begun_is_told(tmp_path):
    (tmp_path / "a.warc.gz").touch()
    assert exchanges(tmp_path / "a.warc.gz") == [Damaged("a.warc.gz", "is empty", is_end=True)]


def test_paths_are_files_or_directories_in_order(tmp_path):
    names = [f"{HARVEST}-00002.warc.gz", f"{HARVEST}-00001.warc.gz", "notes.txt"]
    for name in names:
        (tmp_path / name).write_bytes(b"")
    one = str(tmp_path / names[0])
    assert warc_paths([str(tmp_path)]) == [str(tmp_path / names[1]), one]
    assert warc_paths([one]) == [one]
    for wrong in (str(tmp_path / "nowhere"), str(tmp_path / "nowhere.warc")):
        with pytest.raises(WarcUnreadable, match="does not exist"):
            warc_paths([wrong])
    (tmp_path / "empty").mkdir()
    with pytest.raises(WarcUnreadable, match="has no"):
        warc_paths([str(tmp_path / "empty")])


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


def _is_what_it_is(size: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(size)


@pytest.mark.parametrize("packed", [True, False], ids=["packed", "not packed"])
@pytest.mark.parametrize("place", [0, 1, 2, 3], ids=lambda place: f"record {place}")
def test_reading_goes_on_after_damage_with_the_next_record(tmp_path, packed, place):
    pages = [_is_what_it_is(50_000, seed) for seed in range(4)]
    answers = [(f"{URL}?verb=Identify", {}, page) for page in pages]
    path = by_others(tmp_path / "a.warc", *answers, packed=packed)
    content = bytearray(path.read_bytes())
    quarter = len(content) // 4
    for begin in range(place * quarter, (place + 1) * quarter, 5_000):  # bytes, lengths, heads
        damaged = content[:]
        damaged[begin : begin + 700] = bytes(700)
        path.write_bytes(damaged)
        found = exchanges(path)
        bodies = [one.answer.body for one in found if isinstance(one, StoredResponse)]
        assert bodies == [page for page in pages if page in bodies]
        assert set(bodies) >= {*pages[:place], *pages[place + 2 :]}
        assert len(bodies) < 4
        told = [one for one in found if isinstance(one, Damaged)]
        assert told
        assert not (packed and any(one.is_end for one in told))


def test_every_place_that_cannot_be_read_is_counted(tmp_path):
    pages = [_is_what_it_is(40_000, seed) for seed in range(9)]
    path = recorded(tmp_path, *[Answer(page, URL) for page in pages])
    content = bytearray(path.read_bytes())
    for begin in (60_000, 200_000):
        content[begin : begin + 40] = bytes(40)
    path.write_bytes(content)
    found = exchanges(path)
    bodies = [one.answer.body for one in found if isinstance(one, StoredResponse)]
    assert bodies == [page for page in pages if page in bodies]
    assert len(bodies) == 7
    told = [one for one in found if isinstance(one, Damaged)]
    assert len(told) == 2
    assert all(40_000 < one.skipped < 45_000 and "bytes are skipped" in str(one) for one in told)


def test_a_length_that_takes_other_records_in_hides_none(tmp_path):
    pages = [b"one", b"two", b"three"]
    path = by_others(
        tmp_path / "a.warc", *[(f"{URL}?verb=Identify", {}, page) for page in pages], packed=False
    )
    content = path.read_bytes()
    head, sound, rest = content.partition(b"Content-Length: ")
    for length in (b"9", b"999999", b"1" * 30, b"-5", b"x"):
        path.write_bytes(head + sound + length + rest[rest.index(b"\r\n") :])
        found = exchanges(path)
        bodies = [one.answer.body for one in found if isinstance(one, StoredResponse)]
        assert bodies == pages[1:]
        assert any(isinstance(one, Damaged) for one in found)


@pytest.mark.parametrize("packed", [True, False], ids=["packed", "not packed"])
def test_a_file_cut_anywhere_is_told(tmp_path, packed):
    answers = [(f"{URL}?verb=Identify", {}, page) for page in (b"one" * 50, b"two" * 50)]
    name = "a.warc.gz" if packed else "a.warc"
    path = by_others(tmp_path / name, *answers, packed=packed)
    content = path.read_bytes()
    sound = exchanges(path)
    last = content.rindex(b"\x1f\x8b\x08" if packed else b"WARC/1.")
    for length in range(len(content) - 1, last, -7):
        path.write_bytes(content[:length])
        found = exchanges(path)
        is_missing = [one for one in found if isinstance(one, StoredResponse)] != sound
        assert not is_missing or any(isinstance(one, Damaged) for one in found), length
