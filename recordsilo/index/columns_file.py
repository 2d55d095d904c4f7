"""The facet columns in a file beside the index, so that a process need not read every row.

The file is only a copy. It is used if it is complete, by its checksums, and if it was made of
this index: it names a *token*, a random number that the index stores in the same process,
after the rows that the columns were made of. Rows that changed since are read from the index
(`Columns.refresh`). A file that is torn, damaged, outdated or of another index is ignored.

The first line has a checksum of the second. The second is JSON: ``token``, ``change`` (the last
one that the columns include), ``large`` (whether subjects and creators are among them) and
``arrays``, a list of name, type, length and checksum (CRC-32). The arrays follow in this order, in
the byte order of the machine. Bitmaps are read when they are needed.
"""

import json
import sqlite3
import sys
import zlib
from array import array
from collections.abc import Mapping

from pyroaring import BitMap

from recordsilo.disk.atomic_file import remove_left_over, replace_file
from recordsilo.disk.regular_file import regular_fd
from recordsilo.index.columns import STORED_ORDERS, Base, Columns, Order, Rows
from recordsilo.index.packing import WRONG

ENDING = ".columns"
"""Of the file's name, behind that of the index."""
_FORMAT = f"silo columns 4 {sys.byteorder}"
_TYPES = {
    "ids": "I", "seconds": "q", "flags": "B", "starts": "I", "numbers": "i",
    "values": "i", "ends": "Q", "bitmaps": "B", "keys.seconds": "q",
} | {f"order.{name}": "I" for name in STORED_ORDERS}  # fmt: skip
"""The arrays, and the types of their elements."""


def store(path: str, token: int, base: Base, *, large: bool) -> None:
    """Replace the file atomically.

    Args:
        path: Of the index.
        token: The one that the index has stored.
        large: Whether it has subjects and creators.

    Raises:
        OSError: It cannot be written; an existing file is kept.
    """
    remove_left_over(path + ENDING)
    kept, listed = [], []
    for name, part in _parts_of(base).items():
        kept.append(part)
        listed.append((name, _TYPES[name], len(part), zlib.crc32(part)))
    about = {"token": token, "change": base.change, "large": large, "arrays": listed}
    header = json.dumps(about).encode()
    first = f"{_FORMAT} {zlib.crc32(header):08x}".encode()
    replace_file(path + ENDING, b"\n".join((first, header, b"".join(kept))))


def load(connection: sqlite3.Connection, path: str, *, large: bool) -> Columns | None:
    """The columns, from the file, in an open snapshot; None if there is none to be used.

    Args:
        path: Of the index.
        large: Whether subjects and creators are needed.
    """
    found = connection.execute("SELECT value FROM about WHERE key = 'columns'").fetchone()
    read = _read(path, found[0]) if found else None
    if read is None or (large and not read[1]):
        return None
    base, has_large = read
    columns = Columns(connection, large=has_large, base=base)
    return columns if base.bitmaps.keys() <= columns.values.texts.keys() else None


def _parts_of(base: Base) -> dict[str, bytes]:
    rows, bitmaps, ends = base.rows, [], array("Q")
    for one in base.bitmaps.values():
        bitmaps.append(one.serialize() if isinstance(one, BitMap) else bytes(one))
        ends.append(len(bitmaps[-1]) + (ends[-1] if ends else 0))
    arrays = {
        "ids": rows.ids, "seconds": rows.seconds, "flags": rows.flags, "starts": rows.starts,
        "numbers": rows.numbers, "values": array("i", base.bitmaps), "ends": ends,
        "keys.seconds": base.orders["seconds"].keys,
    }  # fmt: skip
    arrays |= {f"order.{name}": base.orders[name].ids for name in STORED_ORDERS}
    return {name: bytes(one) for name, one in arrays.items()} | {"bitmaps": b"".join(bitmaps)}


def _base_of(change: int, parts: Mapping[str, bytes]) -> Base:
    arrays = {name: array(kind, parts[name]) for name, kind in _TYPES.items() if kind != "B"}
    packed, start, bitmaps = memoryview(parts["bitmaps"]), 0, {}
    for number, end in zip(arrays["values"], arrays["ends"], strict=True):
        bitmaps[number] = packed[start:end]
        start = end
    own = (arrays["ids"], arrays["seconds"], parts["flags"], arrays["starts"], arrays["numbers"])
    keys = {"seconds": arrays["keys.seconds"]}
    orders = {
        name: Order(arrays[f"order.{name}"], keys.get(name, array("q"))) for name in STORED_ORDERS
    }
    return Base(change, Rows(*own), bitmaps, orders)


def _read(path: str, token: int) -> tuple[Base, bool] | None:
    """What the file has, and whether it has large fields; None if it is not to be used."""
    found: dict[str, bytes] = {}
    try:
        with open(path + ENDING, "rb", opener=regular_fd) as file:
            first, header = file.readline(200), file.readline(1 << 20).rstrip(b"\n")
            if first != f"{_FORMAT} {zlib.crc32(header):08x}\n".encode():
                return None
            about = json.loads(header)
            if about["token"] != token:
                return None
            for name, kind, length, checksum in about["arrays"]:
                part = file.read(length)
                if len(part) != length or zlib.crc32(part) != checksum or kind != _TYPES.get(name):
                    return None
                found[name] = part
        if found.keys() != _TYPES.keys():
            return None
        return _base_of(about["change"], found), bool(about["large"])
    except (OSError, *WRONG):
        return None
