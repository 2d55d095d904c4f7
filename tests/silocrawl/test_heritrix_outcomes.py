"""Outcomes of Heritrix: lines of its log, messages of its feed, and ours are the same."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silocrawl.crawl_log import place_of
from silocrawl.errors import MessageInvalid
from silocrawl.heritrix.outcomes import (
    Crawled,
    crawled_in,
    crawled_of,
    log_line,
    message_of,
    without_extra,
)

LINE = (
    b"2026-11-24T06:11:49.200Z   404        324 http://acid.example.com/img.png IE "
    b"http://acid.example.com/ text/html #189 20261124061148966+230 "
    b"sha1:44KA4PQA5TYRAXDIVJIAFD72RN55OQHJ http://acid.example.com/ ip:173.236.225.186,"
    b'duplicate:digest {"contentSize":511,"warcFilename":"BL-20161124-00001-35~c~8443.warc.gz",'
    b'"warcFileOffset":36748}\n'
)
FEED = {  # as AMQPCrawlLogFeed of the UK Web Archive sends it
    "annotations": "ip:173.236.225.186,duplicate:digest",
    "content_digest": "sha1:44KA4PQA5TYRAXDIVJIAFD72RN55OQHJ",
    "content_length": 324, "extra_info": {}, "hop_path": "IE", "host": "acid.example.com",
    "jobName": "frequent", "mimetype": "text/html", "seed": "http://acid.example.com/",
    "size": 511, "start_time_plus_duration": "20261124061148966+230", "status_code": 404,
    "thread": 189, "timestamp": "2026-11-24T06:11:49.200Z",
    "url": "http://acid.example.com/img.png", "via": "http://acid.example.com/",
    "warc_filename": "BL-20161124-00001-35~c~8443.warc.gz", "warc_offset": 36748,
}  # fmt: skip


def test_a_line_and_a_message_of_the_feed_say_the_same() -> None:
    found = crawled_in(LINE, "frequent", "")
    assert found == crawled_of(json.dumps(FEED).encode())
    assert found.is_archived
    assert (found.timestamp, found.key) == (
        "20261124061148", "http://acid.example.com/img.png 20261124061148966",
    )  # fmt: skip


NOT_FETCHED = (
    b"2026-11-24T06:11:49.200Z -9998          - http://a.example/x L http://a.example/ unknown"
    b" #001 - - http://a.example/ - {}"
)
OF_DNS = (
    b"2026-11-24T06:11:49.200Z     1         52 dns:a.example P http://a.example/ text/dns"
    b" #001 20261124061148966+2 sha1:44KA4PQA5TYRAXDIVJIAFD72RN55OQHJ - -"
    b' {"warcFilename":"x.warc.gz","warcFileOffset":9}'
)
WITHOUT_EXTRA = (
    b"2026-11-24T06:11:49.200Z   200         52 http://a.example/ - - text/html #001"
    b" 20261124061148966+2 sha1:44KA4PQA5TYRAXDIVJIAFD72RN55OQHJ - 2t,a note, with blanks"
)


@pytest.mark.parametrize(
    ("line", "status"), [(NOT_FETCHED, -9998), (OF_DNS, 1), (WITHOUT_EXTRA, 200)]
)
def test_lines_of_other_kinds_are_read(line: bytes, status: int) -> None:
    one = crawled_in(line, "j", "20261124061100")
    assert (one.status, one.is_archived, one.launch) == (status, False, "20261124061100")
    assert crawled_of(message_of(one).body) == one
    assert crawled_in(log_line(one).encode(), "j", one.launch) == one


def test_our_line_has_what_the_index_and_the_outcomes_need() -> None:
    one = crawled_in(LINE, "", "")
    line = log_line(one, "http://b.example/")
    place = place_of(line)
    assert place is not None
    assert (place.url, place.filename, place.offset) == (one.url, one.warc, one.offset)
    assert '"redirecturl": "http://b.example/"' in line
    assert without_extra(line.encode()) == without_extra(log_line(one).encode())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"url": "http://a.example/ b"}, "no address"),
        ({"url": "a" * 3_000}, "too long"),
        ({"url": 5}, "no address"),
        ({"url": "nothing"}, "nothing is not an address"),
        ({"timestamp": "yesterday"}, "no time such as"),
        ({"status_code": "all"}, "no status"),
        ({"status_code": True}, "no status"),
        ({"warc_filename": "../x.warc.gz"}, "not a WARC file"),
        ({"warc_filename": "x.warc.gz\t/etc"}, "not a WARC file"),
        ({"warc_offset": -3}, "no place in it"),
        ({"jobName": "../x"}, "other characters"),
        ({"launch": "latest"}, "other characters"),
    ],
)
def test_what_no_heritrix_says_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(MessageInvalid, match=said):
        crawled_of(json.dumps({**FEED, **changes}).encode())


@pytest.mark.parametrize("body", [b"", b"[1]", b"[" * 99_999, b"\xff"])
def test_what_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(MessageInvalid):
        crawled_of(body)


@given(st.binary(max_size=300) | st.text(" \t-{}\"',:1a", max_size=300).map(str.encode))
def test_any_line_is_refused_or_read(line: bytes) -> None:
    for begin in (b"", LINE[:60], LINE[:150]):
        try:
            one = crawled_in(begin + line, "j", "")
        except MessageInvalid:
            continue
        assert log_line(one).count("\n") == 1


@given(st.text(max_size=50), st.lists(st.text(max_size=9), max_size=3), st.integers(-9, 10**12))
def test_what_was_taken_comes_back(text: str, notes: list[str], size: int) -> None:
    said = {**FEED, "via": text, "seed": text, "annotations": notes, "content_length": size}
    one = crawled_of(json.dumps(said).encode())
    assert crawled_of(message_of(one).body) == one
    assert isinstance(one, Crawled)
    assert crawled_in(log_line(one).encode(), one.job, "") == replace(one)
