"""Exchanges read from WARC files: our own, those of other tools, and damaged ones."""

import gzip
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest
from warcs_of_others import by_others

from politeweb.answers import Answer
from politeweb.errors import WarcUnreadable
from politeweb.settings import HttpSettings
from politeweb.warc.pairs import packed_pair
from politeweb.warc.reading import (
    About,
    Damaged,
    Recorded,
    read_exchange_at,
    read_exchanges,
    warc_paths,
)
from politeweb.warc.writing import WarcFiles

HARVEST = "20261121T211331.123456Z"
URL = "https://repo.example/oai"
RECEIVED = datetime(2026, 11, 21, 21, 13, 31, 123456, tzinfo=UTC)


def recorded(directory: Path, *answers: Answer) -> Path:
    files = WarcFiles(str(directory), HARVEST, {})
    for answer in answers:
        files.append(packed_pair(answer, {}, HttpSettings()))
    files.close()
    [path] = directory.glob("*.warc.gz")
    return path


def exchanges(path: Path, **more) -> list[Recorded | Damaged]:
    found = read_exchanges(str(path), lambda _said: True, **more)
    return [one for one in found if not isinstance(one, About)]


def answers_in(found: list[Recorded | Damaged]) -> list[Answer]:
    return [one.answer for one in found if isinstance(one, Recorded)]


def test_an_answer_cut_short_stays_one(tmp_path):
    raw = gzip.compress(b"a" * 1000 + bytes(range(256)))[:-20]
    sent = Answer(b"", URL, 200, {"content-encoding": "gzip"}, raw, RECEIVED, cut="broken off")
    [found] = exchanges(recorded(tmp_path, sent))
    assert found.answer.cut == "broken off"
    assert found.answer.body.startswith(b"a" * 900)


def test_files_that_are_not_packed_are_read(tmp_path):
    path = by_others(tmp_path / "crawl.warc", (f"{URL}?verb=Identify", {}, b"x"), packed=False)
    assert [one.answer.body for one in exchanges(path)] == [b"x"]


def test_half_a_record_at_the_end_is_told_and_not_used(tmp_path):
    path = recorded(tmp_path, Answer(b"one" * 500, URL), Answer(_is_what_it_is(5_000, 1), URL))
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
        bodies = [one.answer.body for one in found if isinstance(one, Recorded)]
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
    bodies = [one.answer.body for one in found if isinstance(one, Recorded)]
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
        bodies = [one.answer.body for one in found if isinstance(one, Recorded)]
        assert bodies == pages[1:]
        assert any(isinstance(one, Damaged) for one in found)


@pytest.mark.parametrize("packed", [True, False], ids=["packed", "not packed"])
def test_a_file_cut_anywhere_is_told(tmp_path, packed):
    answers = [(f"{URL}?verb=Identify", {}, page) for page in (b"one" * 50, b"two" * 50)]
    name = "a.warc.gz" if packed else "a.warc"
    path = by_others(tmp_path / name, *answers, packed=packed)
    content = path.read_bytes()
    sound = answers_in(exchanges(path))
    last = content.rindex(b"\x1f\x8b\x08" if packed else b"WARC/1.")
    for length in range(len(content) - 1, last, -7):
        path.write_bytes(content[:length])
        found = exchanges(path)
        is_missing = answers_in(found) != sound
        assert not is_missing or any(isinstance(one, Damaged) for one in found), length


def placed(directory: Path, *answers: Answer) -> tuple[str, list[int]]:
    """A file with some answers, and the places at which they begin."""
    files = WarcFiles(str(directory), HARVEST, {})
    places = [files.append(packed_pair(one, {}, HttpSettings())) for one in answers]
    files.close()
    return str(directory / places[0][0]), [place for _, place in places]


def test_a_place_without_a_response_is_told(tmp_path):
    path, places = placed(tmp_path, Answer(b"one", URL), Answer(b"two", URL))
    size = Path(path).stat().st_size
    with pytest.raises(WarcUnreadable, match=f"has no response from byte {size:,} on"):
        read_exchange_at(path, size)
    with pytest.raises(WarcUnreadable, match="is damaged at byte 7: "):
        read_exchange_at(path, 7)
    with pytest.raises(WarcUnreadable, match="cannot be read: No such file"):
        read_exchange_at(path + "x", places[1])


def test_a_damaged_response_is_not_given_as_an_answer(tmp_path):
    path, places = placed(tmp_path, Answer(b"one" * 999, URL), Answer(b"two", URL))
    with pytest.raises(WarcUnreadable, match=r"is longer than 100 bytes"):
        read_exchange_at(path, places[0], limit=100)
    content = bytearray(Path(path).read_bytes())
    Path(path).write_bytes(content[:-3])
    with pytest.raises(WarcUnreadable, match="is damaged"):
        read_exchange_at(path, places[1])
    assert read_exchange_at(path, places[0]).body == b"one" * 999


def test_an_answer_is_read_with_all_that_was_recorded_of_it(tmp_path):
    headers = {"content-type": "text/xml", "x": "a, b"}
    sent = Answer(b"page", f"{URL}?verb=Identify", 503, headers, None, RECEIVED)
    [found] = answers_in(exchanges(recorded(tmp_path, sent)))
    assert (found.url, found.status, found.received) == (sent.url, 503, RECEIVED)
    assert {name: found.headers[name] for name in headers} == headers
    assert (found.raw, found.cut) == (None, "")


def by_hand(directory: Path, block: bytes, *fields: bytes) -> Path:
    """A file with one response of another tool, without digests."""
    lines = [
        b"WARC/1.0", b"WARC-Type: response", b"WARC-Record-ID: <urn:uuid:0>", *fields,
        b"WARC-Target-URI: http://h.example/", b"Content-Type: application/http;msgtype=response",
        b"Content-Length: %d" % len(block), b"", block, b"", b"",
    ]  # fmt: skip
    path = directory / "a.warc"
    path.write_bytes(b"\r\n".join(lines))
    return path


def test_fields_that_are_told_twice_are_one_list(tmp_path):
    block = b"HTTP/1.1 200 OK\r\nLink: <a>\r\nETag: 1\r\nlink: <b>\r\n\r\nx"
    [found] = answers_in(exchanges(by_hand(tmp_path, block)))
    assert found.headers == {"link": "<a>, <b>", "etag": "1"}
    assert found.body == b"x"


def test_chunks_that_other_tools_keep_are_joined(tmp_path):
    block = (
        b"HTTP/1.1 404 Gone\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    )
    [found] = answers_in(exchanges(by_hand(tmp_path, block)))
    assert (found.status, found.body) == (404, b"abcde")


@pytest.mark.parametrize(
    ("date", "received"),
    [
        (b"2026-11-21T21:13:31.123456Z", RECEIVED),
        (b"2026-11-21T22:13:31.123456+01:00", RECEIVED),
        (b"2026-11-21T21:13:31.123456", RECEIVED),
        (b"yesterday", None),
        (None, None),
    ],
)
def test_the_date_of_a_record_is_in_utc_or_unknown(tmp_path, date, received):
    fields = [] if date is None else [b"WARC-Date: " + date]
    path = by_hand(tmp_path, b"HTTP/1.1 200 OK\r\n\r\nx", *fields)
    [found] = answers_in(exchanges(path))
    assert found.received == received


def test_only_wanted_responses_are_read(tmp_path):
    path = recorded(tmp_path, Answer(b"one", URL + "?1"), Answer(b"two", URL + "?2"))
    wanted = read_exchanges(str(path), lambda said: said("WARC-Target-URI") == URL + "?2")
    found = [one for one in wanted if not isinstance(one, About)]
    assert [one.answer.body for one in found] == [b"two"]


def test_what_a_file_says_of_itself_comes_first(tmp_path):
    files = WarcFiles(str(tmp_path), HARVEST, {"operator": "me", "note": "one\r\n two: three"})
    files.append(packed_pair(Answer(b"x", URL), {}, HttpSettings()))
    files.close()
    [path] = tmp_path.glob("*.warc.gz")
    about = next(read_exchanges(str(path), lambda _said: True))
    assert isinstance(about, About)
    assert about.fields["operator"] == "me"
    assert about.fields["note"] == "one two: three"
    assert about.fields["format"] == "WARC File Format 1.1"


def test_files_that_are_elsewhere_are_read_as_if_they_were_here(tmp_path):
    (tmp_path / "b.warc.gz").touch()
    names = warc_paths([str(tmp_path)], lambda directory: {"a.warc.gz", "c.warc"})
    assert [Path(one).name for one in names] == ["a.warc.gz", "b.warc.gz", "c.warc"]
    away = str(tmp_path / "a.warc.gz")
    assert warc_paths([away], lambda _directory: {"a.warc.gz"}) == [away]
    with pytest.raises(WarcUnreadable, match="does not exist"):
        warc_paths([away])


def test_a_file_that_cannot_be_opened_is_a_sentence(tmp_path):
    with pytest.raises(WarcUnreadable, match=r"a\.warc cannot be read: No such file"):
        exchanges(tmp_path / "a.warc")
