"""Content codings: whether gzip is accepted; decoded within limits (RFC 9110, section 8.4)."""

import re
import zlib
from contextlib import suppress

from politeweb.errors import ResponseTooLarge

_GZIP = re.compile(
    r"(?:^|,)\s*(?:gzip|x-gzip|\*)\s*(?:;\s*q\s*=\s*([0-9.]+)\s*)?(?=,|$)", re.IGNORECASE
)


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


def unpack(raw: bytes, content_encoding: str, limit: int, url: str) -> bytes:
    """Decode content codings, up to ``limit`` bytes.

    Gzip is also recognized by its first bytes: some servers send it without a header, others
    send the header without gzip.

    Raises:
        ResponseTooLarge: The result would have more than ``limit`` bytes.
        CodingBroken: The bytes are truncated, damaged, or in an unknown coding.
    """
    codings = [name.strip().lower() for name in content_encoding.split(",") if name.strip()]
    if len(codings) > 3:
        raise CodingBroken(f"{len(codings)} content codings")
    for coding in reversed(codings):
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
        is_zlib = len(raw) > 1 and raw[0] & 15 == 8 and (raw[0] << 8 | raw[1]) % 31 == 0
        return _inflate(raw, 15 if is_zlib else -15, limit, url)
    if coding == "identity":
        return raw
    raise CodingBroken(f"the content coding {coding}, which was not requested")


def _inflate(raw: bytes, window: int, limit: int, url: str) -> bytes:
    out = bytearray()
    while raw:
        stream = zlib.decompressobj(window)
        try:
            out += stream.decompress(raw, limit + 1 - len(out))
        except zlib.error as error:
            out += _before_damage(raw, window, limit + 1 - len(out))
            raise CodingBroken(f"a damaged compressed response ({error})", bytes(out)) from None
        if len(out) > limit:
            raise ResponseTooLarge(url, limit)
        if not stream.eof:
            raise CodingBroken("a truncated compressed response", bytes(out))
        raw = stream.unused_data if stream.unused_data.startswith(b"\x1f\x8b") else b""
    return bytes(out)


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
