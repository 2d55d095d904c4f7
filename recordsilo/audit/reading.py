"""Read the disk for an audit, without changing anything."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from recordsilo.disk.regular_file import regular_fd

CHUNK, _FIRST_CHUNK = 1 << 20, 1 << 14
_GONE = {errno.ENOENT, errno.ENOTDIR}
_NO_NAME = UnicodeEncodeError
"""Lone surrogates, which JSON may contain but file names cannot."""
_FAULTS = {
    errno.EACCES, errno.EPERM, errno.EIO, errno.ELOOP, errno.EISDIR, errno.ENAMETOOLONG,
    errno.EINVAL,
}  # fmt: skip
"""Errors of a single file; any other error concerns this process and stops it."""


class UnreadableError(Exception):
    """A path cannot be read; the message says why."""


class DirectoryEntry(NamedTuple):
    """An entry of a directory; ``kind`` is ``file``, ``directory``, ``link`` or ``special``."""

    name: str
    kind: str


def kind_of(mode: int) -> str:
    """The kind of a file, from its mode in ``lstat``."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "special"


def look(path: str) -> os.stat_result | None:
    """``lstat``; None if the path does not exist.

    Raises:
        UnreadableError: It cannot be read.
    """
    try:
        return os.lstat(path)
    except _NO_NAME:
        return None
    except OSError as error:
        if error.errno in _GONE:
            return None
        raise _as_unreadable(error) from None


def entries(path: str) -> list[DirectoryEntry]:
    """A directory's entries, by name; empty if it no longer exists.

    Raises:
        UnreadableError: It cannot be read.
    """
    try:
        with os.scandir(path) as found:
            return sorted([_entry(one) for one in found])
    except _NO_NAME:
        return []
    except OSError as error:
        if error.errno in _GONE:
            return []
        raise _as_unreadable(error) from None


def _entry(found: "os.DirEntry[str]") -> DirectoryEntry:
    if found.is_dir(follow_symlinks=False):
        return DirectoryEntry(found.name, "directory")
    if found.is_file(follow_symlinks=False):
        return DirectoryEntry(found.name, "file")
    return DirectoryEntry(found.name, "link" if found.is_symlink() else "special")


def tree(path: str) -> Iterator[DirectoryEntry]:
    """Everything below a directory, named by relative path; links are not followed.

    Raises:
        UnreadableError: A directory cannot be listed.
    """
    stack = [""]
    while stack:
        below = stack.pop()
        for entry in entries(f"{path}/{below}"):
            yield DirectoryEntry(below + entry.name, entry.kind)
            if entry.kind == "directory":
                stack.append(f"{below}{entry.name}/")


def read_whole(path: str) -> bytes | None:
    """A plain file's bytes; None if it does not exist.

    Raises:
        UnreadableError: It cannot be read.
    """
    try:
        with open(path, "rb", opener=_open) as file:
            return file.read()
    except OSError as error:
        if error.errno in _GONE:
            return None
        raise _as_unreadable(error) from None


def sha256_of(path: str) -> tuple[str, int]:
    """A plain file's SHA-256 in hex, and its size.

    Raises:
        UnreadableError: The file cannot be read, or no longer exists.
    """
    sha256, size, most = hashlib.sha256(), 0, _FIRST_CHUNK
    try:
        with open(path, "rb", opener=_open, buffering=0) as file:
            while chunk := file.read(most):
                sha256.update(chunk)
                size += len(chunk)
                most = CHUNK if len(chunk) == most else most
    except OSError as error:
        if error.errno in _GONE | _FAULTS:
            raise _as_unreadable(error) from None
        raise
    return sha256.hexdigest(), size


def _open(path: str, flags: int) -> int:
    """Open without following links."""
    return regular_fd(path, flags | os.O_NOFOLLOW)


def _as_unreadable(error: OSError) -> UnreadableError:
    if error.errno not in _FAULTS | _GONE:
        raise error
    return UnreadableError(error.strerror or str(error))
