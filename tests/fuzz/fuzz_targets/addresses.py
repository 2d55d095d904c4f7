"""Addresses of links, in the forms of Heritrix and of browsers."""

import re
from collections.abc import Hashable, Iterable

from fuzzing.target import Target

from crawlmatch.errors import BadAddress
from crawlmatch.uris import (
    MAX_LENGTH,
    heritrix_form,
    host_of,
    is_plain,
    redirect_target,
    whatwg_form,
)


class Addresses(Target):
    promise = (
        "An address has a form or is refused; the form of the form is the form, but for odd "
        "hosts; what is plain is its own form, with both."
    )
    words = (
        b"http://", b"https:", b"ftp://", b"//", b"/", b"/../", b"/./", b"\\", b"@", b":80",
        b":443", b":0", b":65536", b"?", b"#", b"%", b"%2F", b"%zz", b"%00", b"[::1]", b"[", b"]",
        b"xn--",
        b"\xc3\xbc", b"\xe3\x80\x82", b"\xef\xbc\x8e", b".", b"..", b"0x7f.1", b" ", b"\t", b"\n",
        b"\xc2\xa0", b"\xe2\x80\x8b", b"|", b"{", b"}", b"^", b"`", b'"', b"<", b";jsessionid=x",
        b"www.", b"javascript:", b"\xf0\x9f\x98\x80",
    )  # fmt: skip
    largest = 3_000

    def seeds(self) -> Iterable[bytes]:
        return [
            b"http://a.example/b/../c.pdf?d=e&f#g", b"HTTPS://User:Pw@WWW.Example.ORG:443/%7Ea b",
            "http://bücher.example/ü?ö".encode(), b"http://[::1]:8080/x", b"http://a.example",
            b"ftp://a.example/x;type=i", b"  http:\\\\a.example\\b ", b"b.pdf", b"//b.example/c",
        ]  # fmt: skip

    def check(self, data: bytes) -> Hashable:
        text = data.decode("utf-8", "surrogateescape")
        forms = []
        for form in (heritrix_form, whatwg_form):
            try:
                found = form(text)
            except BadAddress:
                forms.append(None)
                continue
            if len(found) <= MAX_LENGTH and not _has_odd_host(text):
                assert form(found) == found
            host_of(found)
            forms.append(found)
        if is_plain(text):
            assert forms == [text, text]
        target = redirect_target("http://a.example/b/c?d", text)
        assert target is None or "://" in target
        return tuple(None if one is None else one == text for one in forms), target is None


_AUTHORITY = re.compile(r":[/\\]*([^/\\?#]*)")
_ODD = re.compile(r"\.:|:[0-9]*\.|:[0-9]*:|@")


def _has_odd_host(text: str) -> bool:
    """Whether Heritrix drops a part of the host that uncovers another of its kind.

    A dot beside a port or a user, and the second of two ports: `http://host:80:80/` becomes
    `http://host:80/` (recorded in tests/crawlmatch/data/heritrix_forms.tsv).
    """
    authority = _AUTHORITY.search(re.sub(r"[\t\r\n]", "", text))
    return authority is not None and _ODD.search(authority[1]) is not None
