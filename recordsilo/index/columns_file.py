"""The facet columns in a file beside the index, so that a process need not read every row.

The file is only a copy. It is used if it is complete, by its checksums, and if it was made of
this index: it names a *token*, a random number that the index stores in the same process,
after the rows that the columns were made of. Rows that changed since are read from the index
(`Columns.refresh`). A file that is torn, damaged, outdated or of another index is ignored.

The first line has a checksum of the second. The second is JSON: ``token``, ``change`` (the last
one that the columns include) and ``arrays``, a list of name, type, length and checksum (CRC-32).
The arrays follow in this order, in the byte order of the machine.
"""

import json
import os
import sqlite3
import sys
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordsilo.disk.atomic_file import remove_left_over, replace_file
from recordsilo.disk.regular_file import regular_fd
from recordsilo.index.columns import Base, Columns, Segment, ValueColumn
from recordsilo.index.query import WRONG
from recordsilo.index.search_values import FLAGS, LARGE_FIELDS, SMALL_FIELDS

ENDING = ".columns"
"""Of the file's name, behind that of the index."""
_FORMAT = f"silo columns 1 {sys.byteorder}"
Array = NDArray[Any]


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
    for name, array in _arrays_of(base, large=large).items():
        part = array.tobytes()
        kept.append(part)
        listed.append((name, array.dtype.str, len(part), zlib.crc32(part)))
    header = json.dumps({"token": token, "change": base.change, "arrays": listed}).encode()
    first = f"{_FORMAT} {zlib.crc32(header):08x}".encode()
    replace_file(path + ENDING, b"\n".join((first, header, b"".join(kept))))


def load(connection: sqlite3.Connection, path: str, *, large: bool) -> Columns | None:
    """The columns, from the file, in an open snapshot; None if there is none to be used.

    Args:
        path: Of the index.
        large: Whether subjects and creators are needed.
    """
    found = connection.execute("SELECT value FROM about WHERE key = 'columns'").fetchone()
    base = _read(path, found[0], large=large) if found else None
    if base is None:
        return None
    columns = Columns(connection, large=large, base=base)
    known = columns.values.texts
    fields = columns.segments[0].fields
    fits = all(int(one.codes.max(initial=-1)) < len(known[name]) for name, one in fields.items())
    return columns if fits else None


def _arrays_of(base: Base, *, large: bool) -> dict[str, Array]:
    segment = base.segment
    flags = sum(segment.flags[name].astype(np.uint8) << bit for bit, name in enumerate(FLAGS))
    arrays = {"ids": segment.ids, "datestamps": segment.datestamps, "flags": np.asarray(flags)}
    arrays |= {f"order.{name}": order for name, order in base.orders.items()}
    for name in SMALL_FIELDS + LARGE_FIELDS if large else SMALL_FIELDS:
        column = segment.fields[name]
        arrays[f"lengths.{name}"] = _short(column.lengths)
        arrays[f"codes.{name}"] = _short(column.codes)
    return arrays


def _short(array: Array) -> Array:
    """The array in the shortest type that fits."""
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


def _base_of(change: int, arrays: Mapping[str, Array]) -> Base:
    ids, flags = arrays["ids"], arrays["flags"]
    everyone = np.arange(len(ids), dtype=np.int32)
    fields = {}
    for key, codes in arrays.items():
        kind, _, name = key.partition(".")
        if kind == "codes":
            owners = np.repeat(everyone, arrays[f"lengths.{name}"])
            fields[name] = ValueColumn(owners, codes.astype(np.int32), len(ids))
    segment = Segment(
        ids=ids,
        alive=np.ones(len(ids), np.bool_),
        datestamps=arrays["datestamps"],
        flags={name: (flags & (1 << bit)) != 0 for bit, name in enumerate(FLAGS)},
        fields=fields,
    )
    orders = {k.partition(".")[2]: one for k, one in arrays.items() if k.startswith("order.")}
    return Base(change, segment, orders)


def _read(path: str, token: int, *, large: bool) -> Base | None:
    """What the file has; None if it is not to be used."""
    unwanted = () if large else tuple(f".{name}" for name in LARGE_FIELDS)
    fields = SMALL_FIELDS + LARGE_FIELDS if large else SMALL_FIELDS
    needed = {"ids", "datestamps", "flags", *(f"codes.{name}" for name in fields)}
    found: dict[str, Array] = {}
    try:
        with open(path + ENDING, "rb", opener=regular_fd) as file:
            first, header = file.readline(200), file.readline(1 << 20).rstrip(b"\n")
            if first != f"{_FORMAT} {zlib.crc32(header):08x}\n".encode():
                return None
            about = json.loads(header)
            if about["token"] != token:
                return None
            for name, kind, length, checksum in about["arrays"]:
                if name.endswith(unwanted):
                    file.seek(length, os.SEEK_CUR)
                    continue
                part = file.read(length)
                if len(part) != length or zlib.crc32(part) != checksum:
                    return None
                found[name] = np.frombuffer(part, kind)
                if found[name].dtype.kind not in "iu":
                    return None
        return _base_of(about["change"], found) if needed <= found.keys() else None
    except (OSError, *WRONG):
        return None
