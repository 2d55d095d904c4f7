"""Content codings: whether gzip is accepted; decoded within limits (RFC 9110, section 8.4)."""

import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain

from politeweb.errors import ResponseTooLarge

_GZIP = re.compile(
    r"(?:^|,)\s*(?:gzip|x-gzip|\*)\s*(?:;\s*q\s*=\s*([0-9.]+)\s*)?(?=,|$)", re.IGNORECASE
)
_MAGIC = b"\x1f\x8b"
_MOST_AT_ONCE = 1 << 20
_FIRST_PIECE = 1 << 9
_UNKNOWN = "the content coding {}, which was not requested"
_DAMAGED = "a damaged compressed response ({})"
_TRUNCATED = "a truncated compressed response"


class CodingBroken(Exception):
    """An encoded body cannot be decoded: it is truncated, damaged, or in an unknown coding.

    Attributes:
        got: The bytes decoded before the error.
    """

    def __init__(self, reason: str, got: bytes = b"") -> None:
        self.got = got
        super().__init__(reason)


def accepts_gzip(accept_encoding: str) -> bool:
    """Whether an Accept-Encoding header allows gzip (RFC 9110, 12.5.3)."""
    weights = [match[1] for match in _GZIP.finditer(accept_encoding)]
    return any(weight is None or weight.strip("0.") for weight in weights)


def decoded(
    pieces: Iterable[bytes], content_encoding: str, limit: int, url: str
) -> Iterator[bytes]:
    """Decode content codings piece by piece, up to ``limit`` bytes; memory stays small.

    A body that is said to be gzip, and is not, is taken as it is.

    Raises:
        ResponseTooLarge: The result would have more than ``limit`` bytes.
        CodingBroken: The bytes are truncated, damaged, or in an unknown coding.
    """
    for coding in reversed(_codings(content_encoding)):
        if coding in {"gzip", "x-gzip", "deflate"}:
            pieces = _inflated(pieces, is_gzip=coding != "deflate")
        elif coding != "identity":
            raise CodingBroken(_UNKNOWN.format(coding))
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise ResponseTooLarge(url, limit)
        yield piece


def _codings(content_encoding: str) -> list[str]:
    codings = [name.strip().lower() for name in content_encoding.split(",") if name.strip()]
    if len(codings) > 3:
        raise CodingBroken(f"{len(codings)} content codings")
    return codings


def _inflated(pieces: Iterable[bytes], *, is_gzip: bool) -> Iterator[bytes]:
    rest = iter(pieces)
    first = b""
    while len(first) < 2 and (piece := next(rest, b"")):
        first += piece
    if not first or (is_gzip and not first.startswith(_MAGIC)):
        yield from (first, *rest) if first else ()
        return
    window = 31 if is_gzip else _window_of(first)
    stream = zlib.decompressobj(window)
    for piece in chain((first,), rest):
        waiting, out = piece, b""
        while waiting or len(out) == _MOST_AT_ONCE:
            if stream.eof:
                if not waiting.startswith(_MAGIC[:1]):
                    return  # what follows is no member
                stream = zlib.decompressobj(window)
            try:
                out = stream.decompress(waiting, _MOST_AT_ONCE)
            except zlib.error as error:
                raise CodingBroken(_DAMAGED.format(error)) from None
            if out:
                yield out
            waiting = stream.unused_data if stream.eof else stream.unconsumed_tail
    if not stream.eof:
        raise CodingBroken(_TRUNCATED)


def unpack(raw: bytes, content_encoding: str, limit: int, url: str) -> bytes:
    """Decode content codings, up to ``limit`` bytes.

    Gzip is also recognized by its first bytes: some servers send it without a header, others
    send the header without gzip.

    Raises:
        ResponseTooLarge: The result would have more than ``limit`` bytes.
        CodingBroken: The bytes are truncated, damaged, or in an unknown coding.
    """
    for coding in reversed(_codings(content_encoding)):
        raw = _undo(coding, raw, limit, url)
    if raw.startswith(b"\x1f\x8b"):
        raw = _inflate(raw, 31, limit, url)
    if len(raw) > limit:
        raise ResponseTooLarge(url, limit)
    return raw


def _undo(coding: str, raw: bytes, limit: int, url: str) -> bytes:
    if coding in {"gzip", "x-gzip"}:
        return _inflate(raw, 31, limit, url) if raw.startswith(b"\x1f\x8b") else raw
    if coding == "deflate":
        return _inflate(raw, _window_of(raw), limit, url)
    if coding == "identity":
        return raw
    raise CodingBroken(_UNKNOWN.format(coding))


def _window_of(deflated: bytes) -> int:
    """Return the window of a body in deflate, with or without the frame of zlib."""
    begin = deflated[:2]
    is_zlib = len(begin) > 1 and begin[0] & 15 == 8 and (begin[0] << 8 | begin[1]) % 31 == 0
    return 15 if is_zlib else -15


def _inflate(raw: bytes, window: int, limit: int, url: str) -> bytes:
    out, end = bytearray(), 0
    while end < len(raw) and (not end or raw.startswith(_MAGIC, end)):
        begin, known = end, len(out)
        try:
            end = _add_member(raw, begin, window, out, limit)
        except zlib.error as error:
            del out[known:]
            out += _before_damage(raw[begin:], window, limit + 1 - len(out))
            raise CodingBroken(_DAMAGED.format(error), bytes(out)) from None
        if len(out) > limit:
            raise ResponseTooLarge(url, limit)
    return bytes(out)


def _add_member(raw: bytes, begin: int, window: int, out: bytearray, limit: int) -> int:
    """Add what the member at ``begin`` holds to ``out``, and return where the member ends.

    It is read in pieces, because zlib copies all that follows a member in what it is given: 64 MiB
    of empty members took more than an hour.
    """
    stream, view, at, size = zlib.decompressobj(window), memoryview(raw), begin, _FIRST_PIECE
    while at < len(raw) and not stream.eof and len(out) <= limit:
        piece = view[at : at + size]
        out += stream.decompress(piece, limit + 1 - len(out))
        at += len(piece) - len(stream.unused_data) - len(stream.unconsumed_tail)
        size = min(2 * size, _MOST_AT_ONCE)
    if not stream.eof and len(out) <= limit:
        raise CodingBroken(_TRUNCATED, bytes(out))
    return at


def _before_damage(raw: bytes, window: int, limit: int) -> bytes:
    """Return the bytes before the damage; zlib returns nothing of a damaged piece."""
    stream = zlib.decompressobj(window)
    out = bytearray()
    with suppress(zlib.error):
        for start in range(0, len(raw), 512):
            out += stream.decompress(raw[start : start + 512])
            if len(out) >= limit:
                break
    return bytes(out[:limit])
