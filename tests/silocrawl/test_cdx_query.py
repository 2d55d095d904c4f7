"""What a CDX query means, and what is refused."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silocrawl import cdx_query
from silocrawl.cdx_query import QueryRefused, answer, query_of
from silocrawl.cdxj import Segments, line_of
from silocrawl.crawl_log import CrawlOutcome

CAPTURES = (
    ("https://example.org/", "20240101000000", 200, "text/html"),
    ("https://example.org/", "20250101000000", 304, "text/html"),
    ("https://example.org/", "20260101000000", 200, "text/html; charset=utf-8"),
    ("https://example.org/a.pdf?x=1", "20250601120000", 200, "application/pdf"),
    ("https://example.org/a/b", "20250602120000", 301, "text/html"),
    ("https://docs.example.org/c", "20250603120000", 404, "text/html"),
    ("https://example.organic/d", "20250604120000", 200, "text/html"),
)


def outcome(url: str, timestamp: str, status: int, mimetype: str, **more: Any) -> CrawlOutcome:
    given = {"content_digest": "sha1:ABC", "warc_filename": "a.warc.gz", "warc_offset": 7}
    return CrawlOutcome(timestamp, url, status, mimetype, **given | more)


@pytest.fixture
def index(tmp_path: Path) -> Segments:
    made = Segments(str(tmp_path / "index"))
    for one in CAPTURES:
        made.add([line_of(outcome(*one), 9)])
    return made


def asked(index: Segments, query: str) -> list[str]:
    return answer(query_of(parse_qsl(query)), index)


def times(index: Segments, query: str) -> list[str]:
    return [line.split()[1] for line in asked(index, query)]


@pytest.mark.parametrize(
    "query",
    [
        "url=localhost:8081/3002/",
        "url=http://localhost:8081/3002/",
        "url=localhost:8081/3*",
        "url=localhost:8081*",
        "url=localhost:8081&matchType=host",
        "url=*.localhost:8081",
    ],
)
def test_a_host_with_a_port_needs_no_scheme(index: Segments, query: str) -> None:
    index.add([line_of(outcome("http://localhost:8081/3002/", "20250101000000", 200, "a/b"), 9)])
    assert times(index, query) == ["20250101000000"]


@pytest.mark.parametrize("port", [80, 443])
def test_a_usual_port_is_no_other_address(index: Segments, port: int) -> None:
    assert len(times(index, f"url=example.org:{port}/")) == 3


def test_a_line_has_the_eleven_fields(index: Segments) -> None:
    where = "http://b.example/ä b"
    index.add([line_of(outcome("https://r.example/", "20250101000000", 302, "a / b", redirect=where,
                               annotations=("duplicate:digest",)), 9)])  # fmt: skip
    (line,) = asked(index, "url=r.example")
    assert line == (
        "example,r)/ 20250101000000 https://r.example/ warc/revisit 302 ABC "
        "http://b.example/%C3%A4%20b - 9 7 a.warc.gz\n"
    )


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("url=example.org", ["2024", "2025", "2026"]),
        ("url=http://EXAMPLE.org:80/%23top", ["2024", "2025", "2026"]),
        ("url=example.org&from=2025", ["2025", "2026"]),
        ("url=example.org&to=2025", ["2024", "2025"]),
        ("url=example.org&from=2025&to=202501", ["2025"]),
        ("url=example.org&limit=2", ["2024", "2025"]),
        ("url=example.org&sort=reverse", ["2026", "2025", "2024"]),
        ("url=example.org&sort=reverse&limit=1", ["2026"]),
        ("url=example.org&sort=closest&closest=20250201", ["2025", "2026", "2024"]),
        ("url=example.org&closest=2030&limit=1", ["2026"]),
        ("url=example.org&filter=status:304", ["2025"]),
        ("url=example.org&filter=!status:304", ["2024", "2026"]),
        ("url=example.org&filter=%3Dstatus:20", []),
        ("url=example.org&filter=!%3Dstatus:200&filter=mime:html", ["2025"]),
        ("url=example.org&filter=~timestamp:202[56]", ["2025", "2026"]),
        ("url=example.org&from=&filter=&limit=", ["2024", "2025", "2026"]),
        ("url=nowhere.example", []),
    ],
)
def test_captures_of_an_address(index: Segments, query: str, found: list[str]) -> None:
    assert [one[:4] for one in times(index, query)] == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("url=example.org/a*", ["/a.pdf?x=1", "/a/b"]),
        ("url=example.org/a/&matchType=prefix", ["/a/b"]),
        ("url=example.org/a.pdf?&matchType=prefix", ["/a.pdf?x=1"]),
        ("url=example.org/a.pdf&matchType=host&from=2025&to=2025", ["/", "/a.pdf?x=1", "/a/b"]),
        ("url=*.example.org&from=202506", ["/", "/a.pdf?x=1", "/a/b", "https://docs.example.org/c"]),
        ("url=org&matchType=domain&filter=!status:200&filter=!status:304",
         ["/a/b", "https://docs.example.org/c"]),
    ],
)  # fmt: skip
def test_captures_below_an_address(index: Segments, query: str, found: list[str]) -> None:
    said = [line.split()[2].removeprefix("https://example.org") for line in asked(index, query)]
    assert said == found


def test_fields_are_chosen_by_name_or_letter_also_in_json(index: Segments) -> None:
    query = "url=example.org/a/b&fl=timestamp,original,s,redirect"
    assert asked(index, query) == ["20250602120000 https://example.org/a/b 301 -\n"]
    (line,) = asked(index, f"{query}&output=json")
    assert json.loads(line) == {
        "timestamp": "20250602120000", "url": "https://example.org/a/b", "status": "301"
    }  # fmt: skip
    (line,) = asked(index, "url=example.org/a/b&output=json")
    assert list(json.loads(line)) == [
        "urlkey", "timestamp", "url", "mime", "status", "digest", "length", "offset", "filename"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "url is missing"),
        ("url=" + "a" * 4001, "longer"),
        ("url=http://a:99999/", "url is not an address: Port out of range"),
        ("url=a&matchType=regex", "matchType is exact or prefix or host or domain"),
        ("url=a&url=b", "url is given twice"),
        ("url=a&collapseTime=8", "there is no parameter 'collapseTime'; those here: closest,"),
        ("url=a&from=yesterday", "from is a time of at most 14 digits"),
        ("url=a&to=" + "1" * 15, "to is a time"),
        ("url=a&closest=20259999", "closest is not a time"),
        ("url=a&sort=closest", "needs closest"),
        ("url=a&sort=size", "sort is reverse or closest"),
        ("url=a&sort=reverse&closest=2025", "exclude"),
        ("url=a&limit=0", "limit is a number"),
        ("url=a&limit=-1", "limit is a number"),
        ("url=a&limit=1e3", "limit is a number"),
        ("url=a&output=xml", "output is text or json"),
        ("url=a&fl=url,size", "there is no field 'size'; those here: urlkey,"),
        ("url=a&filter=200", "a filter is FIELD:VALUE"),
        ("url=a&filter=size:200", "there is no field"),
        ("url=a&filter=~url:(", "not a regular expression"),
        ("url=a&filter=~url:(a%2B)%2B$", "repeats a group"),
        ("url=a&filter=~url:.*.*.*x", "more than 2 repetitions"),
        ("url=a&filter=~url:a{9}{999999999999}", "not a regular expression"),
        ("url=a&filter=" + "&filter=".join(["mime:x"] * 11), "at most 10 filters"),
        ("url=a&filter=mime:" + "x" * 300, "at most 200 characters"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(index: Segments, query: str, said: str) -> None:
    with pytest.raises(QueryRefused, match=said.replace("'", "."[:1])):
        asked(index, query)


def test_an_answer_is_never_cut_silently(index: Segments, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cdx_query, "MOST_LINES", 2)
    for order in ("", "&sort=reverse", "&closest=2025"):
        with pytest.raises(QueryRefused, match="more than 2 lines"):
            asked(index, f"url=example.org{order}")
        assert len(asked(index, f"url=example.org&limit=9{order}")) == 2
    monkeypatch.setattr(cdx_query, "MOST_READ", 2)
    with pytest.raises(QueryRefused, match="more than 2 lines of the index"):
        asked(index, "url=example.org&filter=status:500")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["url", "matchType", "from", "closest", "sort", "filter", "fl"]),
            st.text() | st.sampled_from(["exact", "domain", "closest", "~url:a", "2025"]),
        )
    )
)  # fmt: skip
def test_any_query_is_answered_or_refused(parameters: list[tuple[str, str]]) -> None:
    class Nothing:
        def find(self, key: str, *, is_prefix: bool = False) -> Iterator[str]:
            return iter(())

    with suppress(QueryRefused):
        assert answer(query_of(parameters), Nothing()) == []


def test_a_merge_between_listing_and_opening_loses_no_line(
    index: Segments, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = index.names()
    listed: list[list[str]] = [["000099-0.cdxj", *names], names]
    monkeypatch.setattr(index, "names", lambda: listed.pop(0))
    assert len(list(index.find("org,example)/"))) == 3
