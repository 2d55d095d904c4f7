"""Lines of the crawl log, whatever servers and messages say."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from silocrawl.crawl_log import CrawlOutcome, line_of, place_of
from silocrawl.fetching import media_type_of

NOW = datetime(2026, 12, 1, tzinfo=UTC)
PAGE = CrawlOutcome("20261201000000", "http://a/", 200, hop_path="L", via="http://a/")
FORGED = "x\n2026-12-01T00:00:00.000Z   200 1 http://forged/ - - a/b\x1b\x85\u2028\ud800"


@pytest.mark.parametrize("name", ["mimetype", "via", "seed", "content_digest"])
def test_no_field_can_forge_another(name: str) -> None:
    one = replace(PAGE, **{name: FORGED})  # type: ignore[arg-type]
    line = line_of(one, NOW, 1.0)
    assert line[:-1].isprintable()
    assert len(line.split()) == 14  # 13 fields, the last of which has a blank
    line.encode()


def test_a_reason_in_words_is_one_field() -> None:
    one = CrawlOutcome(
        "20261201000000", "http://a/", -2, annotations=("it has an address; a private",)
    )
    fields = line_of(one, NOW, 1.0).split()
    assert fields[11:] == ["it_has_an_address;_a_private", "{}"]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("Text/HTML; charset=utf-8", "text/html"),
        (" application/pdf , text/html", "application/pdf"),
        ("application/atom+xml", "application/atom+xml"),
        ("text/html\x1b[31m", ""),
        ("text/ html", ""),
        ("text/html charset=utf-8", "text/html"),
        ("t/" + "x" * 60_000, ""),
        ("pdf", ""),
        ("", ""),
    ],
)
def test_what_is_no_media_type_is_unknown(value: str, found: str) -> None:
    assert media_type_of(value) == found


@pytest.mark.parametrize("extra", ["1e999", "NaN", "[]", "9" * 5000, "[" * 100_000, '"\\ud800"'])
def test_what_is_no_place_in_a_file_is_none(extra: str) -> None:
    line = line_of(replace(PAGE, warc_filename="a.warc.gz", warc_offset=5), NOW, 1.0)
    assert place_of(line) is not None
    assert place_of(line.replace(":5", f":{extra}").replace(": 5", f": {extra}")) is None
