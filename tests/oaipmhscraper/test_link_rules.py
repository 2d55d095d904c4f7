"""Which addresses are fetched, which answers count as the file, and the file's name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oaipmhscraper.documents.file_types import SNIFFED, file_name, objection, sniff
from oaipmhscraper.documents.link_rules import LinkRule, chosen, expected_types, looks_like_file
from politeweb.answers import media_type
from politeweb.errors import RequestRefused
from recordsilo.disk.names import check_path
from recordsilo.formats import Link
from recordsilo.patterns import PatternRefused

PDF = "http://r.example/1/a.pdf"


def urls(links: list[Link]) -> list[str]:
    return [link.url for link in links]


def test_without_rules_what_looks_like_a_file_is_fetched_once():
    found = [
        Link("http://r.example/1/", "dc:relation"),
        Link(PDF, "dc:identifier"),
        Link(PDF, "jats:self-uri", "application/pdf"),
        Link("http://r.example/b.pdf", "dc:source"),
        Link("http://r.example/bitstream/123/1/thesis", "dc:identifier"),
        Link("http://r.example/page", "dc:identifier", "text/html"),
        Link("http://r.example/x", "eprints:file", "image/png"),
    ]
    taken = chosen(found, [])
    assert urls(taken) == [PDF, "http://r.example/bitstream/123/1/thesis", "http://r.example/x"]
    assert taken[0].type == "application/pdf"


def test_rules_take_what_matches_as_a_whole_and_nothing_else():
    found = [Link(PDF, "dc:identifier"), Link(PDF + "?x", "dc:identifier"), Link(PDF, "dc:source")]
    rule = LinkRule.parse(r" dc:identifier =~ https?://r\.example/.*\.pdf ")
    assert chosen(found, [rule]) == [found[0]]
    assert chosen(found, [LinkRule.parse("dc:*")]) == [found[0], found[1]]
    assert chosen(found, [LinkRule.parse("dc:source"), rule]) == [found[0]]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a b",
        "dc:identifier=http://",
        "x=~",
        "dc:title=~(",
        "*=~(?:(?:(?:x{100}){100}){100}){30}",
    ],
)
def test_what_is_no_rule_is_refused_in_a_sentence(text):
    with pytest.raises(RequestRefused, match=r"is not a rule|is invalid"):
        LinkRule.parse(text)


def test_a_pattern_that_takes_long_ends_with_a_sentence():
    rule = LinkRule.parse(r"dc:identifier=~(a|aa)+")
    assert chosen([Link("aaaa", "dc:identifier")], [rule])
    with pytest.raises(PatternRefused, match="takes too long for the address aaa"):
        chosen([Link("a" * 3_000 + "!", "dc:identifier")], [rule])


def test_the_expected_type_is_that_of_the_metadata_and_of_the_extension():
    assert expected_types(Link(PDF, "x")) == ("application/pdf",)
    assert expected_types(Link(PDF, "x", "image/png")) == ("image/png", "application/pdf")
    assert expected_types(Link("http://r.example/1", "x")) == ()
    assert expected_types(Link(PDF, "x"), ["text/html"]) == ("text/html",)
    assert not looks_like_file(Link("http://r.example/10.1234/5.6", "x"))


@pytest.mark.parametrize(
    ("beginning", "expected"),
    [
        (b"%PDF-1.4", "application/pdf"),
        (b"\n\n%PDF-1.4", "application/pdf"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b\x08", "application/gzip"),
        (b"x" * 257 + b"ustar", "application/x-tar"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\0\0\0\x18ftypmp42", "video/mp4"),
        (b"RIFF\0\0\0\0WAVE", "audio/wav"),
        (b"<!DOCTYPE html>", "text/html"),
        (b"\xef\xbb\xbf\n<?xml version='1.0'?>\n<!-- a -->\n<html>", "text/html"),
        (b"plain text", ""),
        (b"", ""),
    ],
)
def test_a_file_is_known_by_its_first_bytes(beginning, expected):
    assert sniff(beginning) == expected


@pytest.mark.parametrize(
    ("expected", "served", "beginning", "reason"),
    [
        (["application/pdf"], "application/pdf", b"%PDF-1.4", ""),
        (["application/pdf"], "text/html", b"%PDF-1.4", ""),
        (["application/pdf"], "application/pdf", b"<html>", "is a web page (perhaps for login)"),
        (["application/pdf"], "application/pdf", b"nothing", "does not begin like application/pdf"),
        (["application/pdf"], "", b"", "does not begin like application/pdf"),
        (["application/pdf"], "application/pdf", b"GIF89a", "is image/gif, not application/pdf"),
        (["application/pdf"], "text/plain", b"sorry", "has the type text/plain by the server"),
        (["text/csv"], "text/plain", b"a,b", ""),
        (["text/csv"], "application/octet-stream", b"a,b", ""),
        (["text/csv"], "text/html", b"<html>", "is a web page"),
        (["application/epub+zip"], "application/octet-stream", b"PK\x03\x04", ""),
        (["application/msword"], "x/y", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ""),
        (["image/*"], "image/png", b"\x89PNG\r\n\x1a\n", ""),
        (["image/*"], "application/pdf", b"%PDF-1", "is application/pdf, not image/*"),
        (["text/html"], "text/html", b"<html>", ""),
        ([], "application/pdf", b"%PDF-1.4", ""),
        ([], "text/html", b"words", "is a web page, not a file"),
        ([], "", b"<html>", "is a web page, not a file"),
        ([], "text/html", b"%PDF-1.4", ""),
    ],
)
def test_a_page_instead_of_a_file_is_told(expected, served, beginning, reason):
    found = objection(expected, served, sniff(beginning))
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


@given(st.binary(max_size=SNIFFED))
def test_anything_can_be_sniffed(content):
    objection(["application/pdf"], "", sniff(content))


@pytest.mark.parametrize(
    ("url", "disposition", "expected"),
    [
        (PDF, "", "a.pdf"),
        ("http://r.example/1/a%20b%2Fc.pdf?x=1", "", "c.pdf"),
        (
            "http://r.example/get?id=1",
            'attachment; filename="Thesis \\"one\\".pdf"',
            "Thesis _one_.pdf",
        ),
        (PDF, "attachment; filename=b.pdf; filename*=UTF-8''d%C3%A9.pdf", "dé.pdf"),
        (PDF, 'inline; filename="../../etc/passwd"', "passwd"),
        (PDF, 'inline; filename="C:\\\\temp\\\\x.pdf"', "x.pdf"),
        (PDF, 'inline; filename=".."', "a.pdf"),
        ("http://r.example/", "", "file"),
        ("http://r.example/.htaccess", "", "htaccess"),
        ("http://r.example/%00%0a.pdf", "", "_.pdf"),
    ],
)
def test_files_get_safe_names(url, disposition, expected):
    assert file_name(url, disposition, ()) == expected


def test_a_name_in_use_gets_a_number():
    assert file_name(PDF, "", {"a.pdf", "a-2.pdf"}) == "a-3.pdf"


@given(st.text(), st.text())
def test_whatever_a_server_says_is_a_name_that_a_version_takes(path, said):
    name = file_name(f"http://r.example/{path}", f'attachment; filename="{said}"', ())
    assert check_path(f"files/{name}") == f"files/{name}"
    assert "/" not in name
    assert len(name.encode()) <= 120


def test_a_media_type_is_read_without_its_parameters():
    assert media_type("Text/HTML; charset=utf-8") == "text/html"
