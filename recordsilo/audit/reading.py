"""How an audit reads the disk: everything it does there, and nothing of it changes anything."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

CHUNK = 1 << 20
_GONE = {errno.ENOENT, errno.ENOTDIR}
_NO_NAME = UnicodeEncodeError
"""Half of a surrogate pair, as JSON may hold one: no file has such a name."""
_FAULTS = {errno.EACCES, errno.EPERM, errno.EIO, errno.ELOOP, errno.EISDIR, errno.ENAMETOOLONG}
"""What the disk says of the one file; anything else is trouble of this process, and stops it."""


class UnreadableError(Exception):
    """The disk refuses to give what lies at a path; its text says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a directory; ``kind`` is ``file``, ``directory``, ``link`` or ``special``."""

    name: str
    kind: str


def kind_of(mode: int) -> str:
    """What a mode of ``lstat`` is of."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "special"


def look(path: str) -> os.stat_result | None:
    """``lstat``; None where there is nothing.

    Raises:
        UnreadableError: The disk refuses.
    """
    try:
        return os.lstat(path)
    except _NO_NAME:
        return None
    except OSError as error:
        if error.errno in _GONE:
            return None
        raise _as_unreadable(error) from None


def entries(path: str) -> list[Entry]:
    """A directory's entries, by name; none where it is gone.

    Raises:
        UnreadableError: The disk refuses.
    """
    try:
        with os.scandir(path) as found:
            return sorted((_entry(one) for one in found), key=lambda entry: entry.name)
    except _NO_NAME:
        return []
    except OSError as error:
        if error.errno in _GONE:
            return []
        raise _as_unreadable(error) from None


def _entry(found: "os.DirEntry[str]") -> Entry:
    if found.is_symlink():
        return Entry(found.name, "link")
    if found.is_dir(follow_symlinks=False):
        return Entry(found.name, "directory")
    return Entry(found.name, "file" if found.is_file(follow_symlinks=False) else "special")


def tree(path: str) -> Iterator[Entry]:
    """All that lies below a directory, named by its path below it; links are not followed.

    Raises:
        UnreadableError: The disk refuses to list a directory.
    """
    stack = [""]
    while stack:
        below = stack.pop()
        for entry in entries(f"{path}/{below}"):
            yield Entry(below + entry.name, entry.kind)
            if entry.kind == "directory":
                stack.append(f"{below}{entry.name}/")


def read_whole(path: str) -> bytes | None:
    """A plain file's bytes; None where there is nothing.

    Raises:
        UnreadableError: The disk refuses.
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
        UnreadableError: The disk refuses, or it is gone meanwhile.
    """
    sha256, size = hashlib.sha256(), 0
    try:
        with open(path, "rb", opener=_open, buffering=0) as file:
            while chunk := file.read(CHUNK):
                sha256.update(chunk)
                size += len(chunk)
    except OSError as error:
        if error.errno in _GONE | _FAULTS:
            raise _as_unreadable(error) from None
        raise
    return sha256.hexdigest(), size


def _open(path: str, flags: int) -> int:
    """Follows no link, and does not wait for the other end of a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _as_unreadable(error: OSError) -> UnreadableError:
    if error.errno not in _FAULTS | _GONE:
        raise error
    return UnreadableError(error.strerror or str(error))
