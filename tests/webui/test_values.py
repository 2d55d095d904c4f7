"""Small pure modules: languages, links, dates, sizes, file types, request headers."""

import gc
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webui.http import downloads
from webui.http.bodies import human_size
from webui.http.messages import expected_revisions, prefers_json
from webui.record import links
from webui.record.xml_view import pretty
from webui.server import long_lived
from webui.words import dates
from webui.words.language import language_tag, text_language


@pytest.mark.parametrize(
    ("given_", "tag"),
    [
        ("en", "en"), ("eng", "en"), ("GER", "de"), ("deu", "de"), ("pt_BR", "pt-BR"),
        ("zh-Hant", "zh-Hant"), ("English", None), ("", None), (None, None), ("xx", None),
        ("en;", None), ("mul", None), ("und", None), ('en" onload="x', None), ("haw", "haw"),
    ],
)  # fmt: skip
def test_language_codes_become_valid_tags_or_none(given_: str | None, tag: str | None) -> None:
    assert language_tag(given_) == tag


@pytest.mark.parametrize(
    ("text", "own", "of_record", "lang"),
    [
        ("A title", "fr", "eng", "fr"),
        ("A title", None, "eng", "en"),
        ("A title", None, "ara", None),
        ("مقدمة", None, "ara", "ar"),
        ("مقدمة", None, "eng", None),
        ("奇怪", "", "zho", "zh"),
        ("Заглавие", None, "rus", "ru"),
        ("123", None, "eng", "en"),
        ("A title", None, None, None),
        ("मौलिक", None, "hin", "hi"),
    ],
)
def test_a_value_takes_the_records_language_only_where_its_script_fits(
    text: str, own: str | None, of_record: str | None, lang: str | None
) -> None:
    assert text_language(text, own, of_record) == lang


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("https://example.org/?a=1&b=2", "https://example.org/?a=1&b=2"),
        ("HTTP://EXAMPLE.ORG/", "HTTP://EXAMPLE.ORG/"),
        ("doi:10.1234/abc", "https://doi.org/10.1234/abc"),
        ("10.1234/a<b>", "https://doi.org/10.1234/a%3Cb%3E"),
        ("info:doi/10.1234/abc", "https://doi.org/10.1234/abc"),
        ("hdl:1721.1/12", "https://hdl.handle.net/1721.1/12"),
        ("hdl:1721.1", None),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("see http://example.org/", None),
        ('http://example.org/"onmouseover="x', None),
        ("http://", None),
        ("//example.org", None),
        ("http://[bad", None),
        ("ISBN 978-90-04-16545-8", None),
    ],
)
def test_only_web_addresses_dois_and_handles_become_links(text: str, href: str | None) -> None:
    assert links.href(text) == href


@pytest.mark.parametrize(
    ("text", "people", "machines"),
    [
        ("2004-06-24T00:00:00", "24 Jun 2004", "2004-06-24T00:00:00Z"),
        ("2004-06-24T10:20:30.123456", "24 Jun 2004, 10:20 UTC", "2004-06-24T10:20:30Z"),
        ("circa 1900", "circa 1900", ""),
        ("", "", ""),
    ],
)
def test_dates_are_shown_to_the_minute_and_given_whole(
    text: str, people: str, machines: str
) -> None:
    assert (dates.for_people(text), dates.for_machines(text)) == (people, machines)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (1, "1 byte"), (1023, "1,023 bytes"), (1024, "1 KiB"), (2 << 30, "2 GiB"),
     (5 << 50, "5,120 TiB"), (1536, "1.5 KiB"), (3 << 19, "1.5 MiB")],
)  # fmt: skip
def test_sizes_have_a_unit_and_one_decimal_unless_they_are_whole(size: int, text: str) -> None:
    assert human_size(size) == text


@pytest.mark.parametrize(
    ("path", "beginning", "metadata", "kind"),
    [
        ("oai_dc", b"<metadata/>", True, downloads.XML),
        ("a.xml", b"\xef\xbb\xbf<?xml version='1.0'?><a/>", False, downloads.XML),
        ("a.xml", b"no XML", False, downloads.TEXT),
        ("README", b"words", False, downloads.TEXT),
        ("README", "\u4e2d".encode() * 1400, False, downloads.TEXT),
        ("README", b"\x00\x01", False, downloads.UNKNOWN),
        ("a.txt", b"\xff\xfe", False, downloads.UNKNOWN),
        ("page.html", b"<script>alert(1)</script>", False, downloads.UNKNOWN),
        ("page.html", b"<html/>", True, downloads.XML),
        ("a.svg", b"<svg/>", False, downloads.UNKNOWN),
        ("a.js", b"alert(1)", False, downloads.UNKNOWN),
        ("a.css", b"body{}", False, downloads.UNKNOWN),
        ("a.pdf", b"%PDF", False, "application/pdf"),
        ("A.JPG", b"\xff\xd8", False, "image/jpeg"),
        ("empty.txt", b"", False, downloads.TEXT),
    ],
)
def test_a_file_is_sent_as_a_type_that_no_browser_runs(
    path: str, beginning: bytes, metadata: bool, kind: str
) -> None:
    sample = beginning[: downloads.SNIFFED]
    assert downloads.content_type(path, sample, metadata=metadata) == kind


@pytest.mark.parametrize(
    ("site", "words", "name"),
    [
        ("Wexcombe Research Repository", ["pollinator"], "wexcombe-pollinator-2026-11-24-bags.zip"),
        ("Wexcombe", [], "wexcombe-2026-11-24-bags.zip"),
        ("a/../b", ['"water" OR *'], "a-water-or-2026-11-24-bags.zip"),
        ("Ä", ["x " * 50], f"ä-{'x-' * 20}2026-11-24-bags.zip"),
    ],
)
def test_a_download_is_named_by_what_is_in_it(site: str, words: list[str], name: str) -> None:
    headers = downloads.saved_as(site, "bags.zip", *words, now=datetime(2026, 11, 24, tzinfo=UTC))
    assert headers["Content-Disposition"].endswith(f"filename*=UTF-8''{quote(name)}")


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_file_name_never_breaks_out_of_its_header(name: str) -> None:
    disposition = downloads.headers(name, downloads.UNKNOWN)["Content-Disposition"]
    assert disposition.isascii()
    assert disposition.isprintable()
    assert disposition.count('"') == 2
    assert disposition.startswith('attachment; filename="')


@pytest.mark.parametrize(
    ("header", "revisions"),
    [
        ("", None), ("*", None), ('"5"', {5}), ('"5", "6"', {5, 6}), ('W/"5"', set()),
        ("5", set()), ('"x"', set()), ('"\u0665"', set()),
    ],
)  # fmt: skip
def test_if_match_allows_the_revisions_it_names(header: str, revisions: set[int] | None) -> None:
    assert expected_revisions(header) == revisions


@pytest.mark.parametrize(
    ("method", "accept", "json"),
    [
        ("GET", "", False),
        ("GET", "*/*", False),
        ("GET", "application/json", True),
        ("GET", "text/html,application/xhtml+xml,application/json;q=0.5", False),
        ("GET", "text/html;q=0.1,application/json", True),
        ("GET", "application/json;q=nonsense", False),
        ("POST", "*/*", True),
        ("POST", "text/html,*/*;q=0.8", False),
        ("DELETE", "", True),
    ],
)
def test_programs_get_json_and_people_get_pages(method: str, accept: str, json: bool) -> None:
    assert prefers_json(method, accept) is json


def test_xml_is_indented_where_that_changes_nothing() -> None:
    assert pretty(b"<a><b>t <i>x</i> y</b><c/></a>") == (
        "<a>\n  <b>t <i>x</i> y</b>\n  <c/>\n</a>\n"
    )


def test_what_is_no_xml_is_shown_as_it_is() -> None:
    assert pretty(b"<a>\xff") == "<a>\ufffd"


def test_entities_of_stored_xml_are_not_expanded() -> None:
    bomb = b'<!DOCTYPE a [<!ENTITY x "boom"><!ENTITY f SYSTEM "file:///etc/passwd">]><a>&x;&f;</a>'
    shown = pretty(bomb)
    assert "root:" not in shown
    assert shown.rstrip().endswith("<a>&x;&f;</a>")


def test_what_is_loaded_is_no_garbage_while_the_page_is_served() -> None:
    before = gc.get_freeze_count()
    with long_lived():
        assert gc.get_freeze_count() > before + 1000
    assert gc.get_freeze_count() == 0
