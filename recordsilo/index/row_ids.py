"""Sets of row ids as Roaring bitmaps: from results of SQLite, and from plain bits.

Source: Lemire and others, "Roaring bitmaps: implementation of an optimized software library",
2018; the serialized form is that of https://github.com/RoaringBitmap/RoaringFormatSpec.
"""

import json
import sqlite3
import struct
from array import array

from pyroaring import BitMap

_CONTAINER = 1 << 16
"""Bits of a part of a bitmap."""
_LEAST = 4096
"""The largest part that is serialized as a list."""
_HALF = _CONTAINER // 2
_FILLED = BitMap(array("I", range(_HALF, _CONTAINER, 2)))
"""Numbers with which the half of a part before them is serialized as bits."""
_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_PLACES = [[bit for bit in range(8) if byte >> bit & 1] for byte in range(256)]


def of_rows(cursor: sqlite3.Cursor) -> BitMap:
    """The row ids that are the only column of a result."""
    return BitMap(array("I", [number for (number,) in cursor]))


def of_text(text: str | None) -> BitMap:
    """The row ids in a text that SQLite's ``group_concat`` made of them.

    One text is read in half the time of one row for each.
    """
    return BitMap(array("I", json.loads(f"[{text or ''}]")))


def of_bits(bits: bytes) -> BitMap:
    """The set of the places of bits that are set, of which the highest of a byte is the first."""
    octets = bits.translate(_REVERSED)
    heads, parts = [], []
    for key, start in enumerate(range(0, len(octets), _CONTAINER // 8)):
        part = octets[start : start + _CONTAINER // 8].ljust(_CONTAINER // 8, b"\0")
        if size := int.from_bytes(part, "little").bit_count():
            heads.append(struct.pack("<HH", key, size - 1))
            parts.append(part if size > _LEAST else _listed(part))
    lengths = [*map(len, parts)]
    begin = 8 + 8 * len(parts)
    starts = [begin + sum(lengths[:place]) for place in range(len(parts))]
    return BitMap.deserialize(
        struct.pack("<II", 12346, len(parts))
        + b"".join(heads)
        + struct.pack(f"<{len(starts)}I", *starts)
        + b"".join(parts)
    )


def _listed(part: bytes) -> bytes:
    places = [at * 8 + bit for at, byte in enumerate(part) if byte for bit in _PLACES[byte]]
    return struct.pack(f"<{len(places)}H", *places)


def bits_of(ids: BitMap, first: int, size: int) -> bytes:
    """The bits of so many row ids from the first on, the highest bit of a byte first."""
    parts = []
    for start in range(first, first + size, _HALF):
        some = (ids & BitMap(range(start, start + _HALF))).shift(-start)
        parts.append((some | _FILLED).serialize()[-_CONTAINER // 8 :][: _HALF // 8])
    return b"".join(parts).translate(_REVERSED)[: (size + 7) // 8]
