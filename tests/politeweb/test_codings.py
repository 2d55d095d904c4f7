"""Bodies without their content codings: whole ones, damaged ones, and ones that are too large."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from politeweb.codings import CodingBroken, accepts_gzip, decoded, unpack
from politeweb.errors import ResponseTooLarge

URL = "http://r.example/"
Unpack = Callable[[bytes, str, int], bytes]


def raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(content) + packer.flush()


CODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "X-GZIP": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "identity": bytes,
}


def pieces_of(content: bytes, size: int) -> Iterator[bytes]:
    return (content[at : at + size] for at in range(0, len(content), size))


def in_pieces(size: int) -> Unpack:
    def read(raw: bytes, coding: str, limit: int) -> bytes:
        return b"".join(decoded(pieces_of(raw, size), coding, limit, URL))

    return read


def at_once(raw: bytes, coding: str, limit: int) -> bytes:
    return unpack(raw, coding, limit, URL)


WAYS = pytest.mark.parametrize(
    "read", [at_once, in_pieces(1), in_pieces(7), in_pieces(10_000)], ids=["all", "1", "7", "10000"]
)


@WAYS
@given(
    content=st.binary(max_size=2_000).filter(lambda content: content[:2] != b"\x1f\x8b"),
    codings=st.lists(st.sampled_from(sorted(CODERS)), max_size=3),
)
def test_codings_are_undone_in_the_reverse_order(
    read: Unpack, content: bytes, codings: list[str]
) -> None:
    raw = content
    for coding in codings:
        raw = CODERS[coding](raw)
    assert read(raw, " , ".join(codings), 10_000) == content


@WAYS
@pytest.mark.parametrize("coding", [*CODERS, ""])
def test_content_of_just_the_limit_is_whole(read: Unpack, coding: str) -> None:
    content = b"content " * 40
    raw = CODERS[coding or "identity"](content)
    assert read(raw, coding, len(content)) == content
    with pytest.raises(ResponseTooLarge) as refused:
        read(raw, coding, len(content) - 1)
    assert refused.value.limit == len(content) - 1


@WAYS
@given(contents=st.lists(st.binary(max_size=50), min_size=1, max_size=5))
def test_members_in_a_row_are_one_content(read: Unpack, contents: list[bytes]) -> None:
    raw = b"".join(map(gzip.compress, contents))
    whole = b"".join(contents)
    if not whole.startswith(b"\x1f\x8b"):
        assert read(raw, "gzip", 1_000) == whole
        assert read(raw + b"padding", "gzip", 1_000) == whole, "what follows is no member"


@WAYS
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_body_cut_anywhere_is_broken_or_empty(read: Unpack, coding: str) -> None:
    raw = CODERS[coding](b"content " * 40 + bytes(range(256)))
    assert read(b"", coding, 1_000) == b""
    for length in range(2, len(raw) - 9):
        with pytest.raises(CodingBroken, match="truncated"):
            read(raw[:length], coding, 1_000)


def test_what_was_decoded_before_the_end_or_the_damage_is_kept() -> None:
    content = b"".join(b"line %d\n" % number for number in range(5_000))
    raw = gzip.compress(content)
    with pytest.raises(CodingBroken) as cut:
        at_once(raw[:-1_000], "gzip", 100_000)
    assert content.startswith(cut.value.got)
    assert len(cut.value.got) > len(content) // 2
    with pytest.raises(CodingBroken, match="damaged") as damaged:
        at_once(raw[:-8] + b"no check", "gzip", 100_000)
    assert content.startswith(damaged.value.got)
    assert len(damaged.value.got) > len(content) * 0.9
    with pytest.raises(CodingBroken) as second:
        at_once(gzip.compress(b"first") + raw[:-8] + b"no check", "gzip", 100_000)
    assert second.value.got == b"first" + damaged.value.got


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "gzip, deflate", ""]))
def test_any_bytes_are_content_or_an_error(raw: bytes, coding: str) -> None:
    for read in (at_once, in_pieces(3)):
        with suppress(CodingBroken, ResponseTooLarge):
            assert len(read(raw, coding, 1_000)) <= 1_000


@WAYS
def test_codings_that_were_not_requested_are_told_by_name(read: Unpack) -> None:
    for coding in ("br", "gzip, br"):
        with pytest.raises(CodingBroken, match="the content coding br, which was not requested"):
            read(b"x", coding, 9)
    with pytest.raises(CodingBroken, match="4 content codings"):
        read(b"x", "gzip, gzip, gzip, gzip", 9)


@WAYS
@pytest.mark.parametrize("body", [b"<OAI-PMH/>", b"\x1f", b"x", b""])
def test_what_is_called_gzip_and_is_not_is_taken_as_it_is(read: Unpack, body: bytes) -> None:
    assert read(body, "gzip", 100) == body


def test_gzip_that_is_not_called_so_is_recognized() -> None:
    assert at_once(gzip.compress(b"page"), "", 100) == b"page"
    assert at_once(gzip.compress(gzip.compress(b"page")), "gzip", 100) == b"page"


def test_a_bomb_ends_at_the_limit() -> None:
    bomb = gzip.compress(bytes(3_000_000))
    pieces = decoded([bomb], "gzip", 2_000_000, URL)
    assert len(next(pieces)) <= 1 << 20
    with pytest.raises(ResponseTooLarge):
        list(pieces)
    with pytest.raises(ResponseTooLarge):
        at_once(bomb, "gzip", 2_000_000)


@pytest.mark.parametrize(
    ("header", "accepts"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5", True),
        ("br;q=1.0, x-gzip", True),
        ("*", True),
        ("gzip;q=0.001", True),
        ("gzip ; q=1", True),
        ("gzip;q=0", False),
        ("gzip;q=0.000", False),
        ("*;q=0", False),
        ("identity", False),
        ("notgzip", False),
        ("gzipped", False),
        ("", False),
    ],
)
def test_who_accepts_gzip_says_so(header: str, *, accepts: bool) -> None:
    assert accepts_gzip(header) is accepts
