"""Links of pages that are broken, endless or hostile."""

from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlmatch.errors import BadAddress
from silocrawl.addresses import fetched_form
from silocrawl.found_links import joined, links_of_html

BASE = "http://a.example/x/"


def urls(content: bytes, charset: str = "") -> list[str]:
    return [one.url for one in links_of_html(content, BASE, charset)]


def test_links_in_deeply_nested_elements_are_found() -> None:
    page = b"<a href=/1>" + b"<font>" * 3_000 + b"<a href=/2>"
    assert urls(page) == ["http://a.example/1", "http://a.example/2"]


@pytest.mark.parametrize("charset", ["\0", "\x01a", "no-such-charset", "x" * 5_000, "\x85"])
def test_a_charset_that_is_none_is_found_out(charset: str) -> None:
    assert urls(b"<a href=/1>", charset) == ["http://a.example/1"]


def test_a_page_is_read_up_to_a_number_of_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("silocrawl.found_links.MOST_ELEMENTS", 10)
    assert urls(b"<a href=/1>" + b"<b></b>" * 20 + b"<a href=/2>") == ["http://a.example/1"]


def test_a_base_holds_for_all_links_of_its_page() -> None:
    page = b"<a href=1></a><base href=/b/><base href=/c/><a href=2></a><base>"
    assert urls(page) == ["http://a.example/b/1", "http://a.example/b/2"]


PIECES = st.sampled_from(["/", "//", "..", ".", "a", "b.pdf", "?", "&x=1", ";p", ":", "#c", "http:",
                          "https://", "HTTP://b.example", " ", "%41", "@"])  # fmt: skip


@given(st.lists(PIECES, max_size=6).map("".join), st.lists(PIECES, max_size=5).map("".join))
def test_addresses_of_a_page_are_joined_as_with_its_whole_address(path: str, text: str) -> None:
    try:
        base = fetched_form(f"http://a.example/{path}")
        wanted = fetched_form(urljoin(base, text.strip()))
    except (BadAddress, ValueError):
        return
    if text.strip() and not text.strip().startswith("#"):
        assert joined(text, base) == wanted


@pytest.mark.parametrize("escaped", ["ld+json", "ld&#43;json"])
def test_works_of_json_ld_are_found(escaped: str) -> None:
    work = """{"@type": "Article", "encoding": {"contentUrl": "/1.pdf"}}"""
    page = f'<script type="application/{escaped}">{work}</script><a href=/2>'
    for charset in ("utf-8", "utf-16"):
        assert urls(page.encode(charset), charset)[0] == "http://a.example/1.pdf"
