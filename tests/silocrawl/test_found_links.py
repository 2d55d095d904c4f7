"""Links of pages that are broken, endless or hostile."""

import pytest

from silocrawl.found_links import links_of_html

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
