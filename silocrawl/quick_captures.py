"""The captures of a WARC file, in a fraction of the time that warcio takes for each record.

Only what is usual is read here: a gzip member for each record, of the right length, and heads of
HTTP/1 in ASCII. Whatever else there is, the caller reads by warcio, so that it means the same.
"""

import importlib
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from crawlmatch.warcs import Capture, plain

_PIECE, _HEAD, _BODY = 64 << 10, 16 << 10, 1 << 20
_GZIP, _FLAGS = zlib.MAX_WBITS + 16, 3
_STATUS = re.compile(r"HTTP/1\.[01] ([0-9]{3})(?: |$)")
_OTHER_THAN_DIGITS = re.compile("[^0-9]+")
_NO_CAPTURES = {"request", "warcinfo", "metadata"}


try:
    _module: Any = importlib.import_module("isal.isal_zlib")
except ImportError:
    _module = zlib
_UNPACKER, _BROKEN = _module.decompressobj, (zlib.error, _module.error)


class Unusual(ValueError):
    """What follows is no member with one record.

    Attributes:
        offset: Where it begins.
    """

    def __init__(self, offset: int) -> None:
        self.offset = offset
        super().__init__(offset)


def quick_captures(
    file: BinaryIO, begin: int, one_at: Callable[[int], Capture | None]
) -> Iterator[Capture]:
    """Yield the captures of a WARC file.

    Args:
        file: It can seek, and is read by nobody else meanwhile but `one_at`.
        begin: Where the first record is.
        one_at: Reads the record at a place, which has an unusual head.

    Raises:
        Unusual: What follows a place is to be read by other means.
    """
    for offset, length, head, size in _members(file, begin):
        if not head.startswith(b"WARC/"):
            raise Unusual(offset)  # `one_at` would read on from each of many empty members
        fields, content = _table(head, b"WARC/1.")
        if fields and fields.get("content-length") != str(size - content - 4):
            raise Unusual(offset)
        if fields and fields.get("warc-type") in _NO_CAPTURES:
            continue
        found = _capture(fields, head[content:], size - content - 4) if fields else None
        if found is None:
            place = file.tell()
            found = one_at(offset)
            file.seek(place)
        if found is not None:
            yield replace(found, offset=offset, length=length)


def _members(file: BinaryIO, begin: int) -> Iterator[tuple[int, int, bytes, int]]:
    """Yield of each member: where it is, its length, its first content, and the size of all."""
    offset, block = file.seek(begin), b""
    while block := block or file.read(_PIECE):
        if len(block) < _FLAGS + 1:
            block += file.read(_PIECE)
        if block[_FLAGS : _FLAGS + 1] >= b"\x20":  # reserved (RFC 1952, 2.3.1.2); isal reads it
            raise Unusual(offset)
        unpacker, head, size, length = _UNPACKER(_GZIP), b"", 0, len(block)
        try:
            while not unpacker.eof:
                if not block:
                    block = file.read(_PIECE)
                    length += len(block)
                    if not block:
                        raise Unusual(offset)
                got = unpacker.decompress(block, _BODY if len(head) >= _HEAD else _HEAD)
                block, size = unpacker.unconsumed_tail, size + len(got)
                head += got if len(head) < _HEAD else b""
        except _BROKEN:
            raise Unusual(offset) from None
        block = unpacker.unused_data
        length -= len(block)
        yield offset, length, head, size
        offset += length


def _table(head: bytes, begin: bytes) -> tuple[dict[str, str], int]:
    """The fields of a head, and where it ends; empty if it is not usual."""
    end = head.find(b"\r\n\r\n")
    if end < 0 or not head.startswith(begin):
        return {}, 0
    text = head[:end]
    if not text.isascii() or text.count(b"\n") != text.count(b"\r\n"):
        return {}, 0
    status, *lines = text.decode("ascii").split("\r\n")
    found = {"": status}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or name != name.strip():
            return {}, 0
        found.setdefault(name.lower(), value.strip())
    return found, end + 4


def _capture(fields: dict[str, str], content: bytes, size: int) -> Capture | None:
    """The capture of a record, as `crawlmatch.warcs.capture_of`; None if its head is not usual."""
    http, end = _table(content, b"HTTP/1.")
    status = _STATUS.match(http.get("", ""))
    url = fields.get("warc-target-uri", "").strip("<>")
    moment = _OTHER_THAN_DIGITS.sub("", fields.get("warc-date", ""))[:14]
    kind = fields.get("warc-type")
    is_usual = kind in {"response", "revisit"} and url.startswith(("http://", "https://"))
    if status is None or not is_usual or len(moment) != 14:
        return None
    return Capture(
        url=plain(url),
        ts=moment,
        status=int(status[1]),
        size=-1 if kind == "revisit" else size - end,
        mime=plain(http.get("content-type", "").partition(";")[0].strip()).replace(" ", ""),
        sha1=plain(fields.get("warc-payload-digest", "")).removeprefix("sha1:"),
        is_revisit=kind == "revisit",
        redirect=plain(http.get("location", "")),
        offset=0,
        length=0,
    )
