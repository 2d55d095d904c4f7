"""The file that `silo sheet export` writes, which may hold a user's edits afterwards.

``curation/sheets/<digest of the path>.json`` in the Silo has the path and the digest of
what was last written there. A file with other bytes is replaced only on request.
"""

import errno
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from recordsilo.disk.atomic_file import digest_of, make_parents, replace_file
from recordsilo.disk.whole_file import whole_file
from silocuration.errors import SheetChanged

SHEETS = "curation/sheets"
_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


@contextmanager
def exported_sheet(silo_path: str, path: str, *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """Open a sheet for writing; it gets its name when it is complete.

    The digest is stored before the new file gets its name. A Silo that cannot be written
    to stores none, so a sheet exported from it is replaced only with ``overwrite``. A
    device or a pipe is written to directly.

    Args:
        path: Where the sheet goes; a symbolic link is followed.
        overwrite: Whether to replace a file that this function did not write last.

    Raises:
        SheetChanged: Such a file exists, and ``overwrite`` is false; it stays as it is.
        OSError: The disk refused; an existing file stays as it is.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with whole_file(path) as file:
            yield file
        return
    note = os.path.join(silo_path, SHEETS, _name(target))

    def check() -> list[str]:
        """Return the digest of the existing file if it was exported here; else an empty list."""
        try:
            found = _digest(target)
        except FileNotFoundError:
            return []
        if found in _written(note):
            return [found]
        if overwrite:
            return []
        raise SheetChanged(path)

    def remember(staged: str) -> None:
        _remember(note, target, [*check(), _digest(staged)])

    check()
    with whole_file(path, remember) as file:
        yield file
    _remember(note, target, _written(note)[-1:])


def _name(target: str) -> str:
    return hashlib.sha256(os.fsencode(target)).hexdigest()[:32] + ".json"


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return digest_of(file).sha256


def _written(note: str) -> list[str]:
    """Return the SHA-256 that the file may have; two only after a kill, none if unknown."""
    try:
        with open(note, "rb") as file:
            return [str(one) for one in json.load(file)["sha256"]]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError, RecursionError):
        return []  # no file counts as exported here, so none is replaced without overwrite


def _remember(note: str, target: str, digests: list[str]) -> None:
    path = os.fsencode(target).decode("utf-8", "replace")
    try:
        make_parents(note)
        replace_file(note, json.dumps({"path": path, "sha256": digests}).encode())
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise
