"""Whether an error says that a disk is full, or that a Silo cannot be written."""

import errno
import os

from recordsilo.errors import SiloNotWritable

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_OF_SQLITE = ("SQLITE_FULL", "SQLITE_IOERR_SHM")
"""Beginnings of names; the latter: the memory shared beside a log cannot grow."""
_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


def can_write_in(directory: str) -> bool:
    """Whether files can be made in a directory.

    A file system that has made itself read-only after an error of its disk still says that it
    can be written (ext4 with ``errors=remount-ro``, Linux 6.18), so a file without a name is made.
    Where there are no such files, what the file system says counts.
    """
    if not os.access(directory, os.W_OK):
        return False
    unnamed = getattr(os, "O_TMPFILE", os.O_DIRECTORY)
    try:
        os.close(os.open(directory, unnamed | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except OSError as error:
        return error.errno not in _REFUSED
    return True


def is_full_disk(error: BaseException | None) -> bool:
    """Whether an error, or one that caused it, is that a disk has no space left."""
    while error is not None:
        if getattr(error, "errno", None) in FULL:
            return True
        if getattr(error, "sqlite_errorname", "").startswith(_OF_SQLITE):
            return True
        error = error.__cause__
    return False


def not_writable(silo: str, error: Exception) -> SiloNotWritable | None:
    """What an error means for a Silo; None if it is not that the Silo cannot be written.

    Args:
        error: Of the system, or of a database; one that names a file elsewhere is none.
    """
    name, number = getattr(error, "filename", None), getattr(error, "errno", None)
    path = name if isinstance(name, str) else None
    if path is not None and not _is_in(path, silo):
        return None
    if is_full_disk(error):
        return SiloNotWritable(silo, number or errno.ENOSPC, path)
    if number == errno.EROFS:
        return SiloNotWritable(silo, number, path)
    if path is None or number not in {errno.EACCES, errno.EPERM}:
        return None
    is_unreadable = os.path.exists(path) and not os.access(path, os.R_OK)
    return None if is_unreadable else SiloNotWritable(silo, number, path)


def _is_in(path: str, directory: str) -> bool:
    place, above = os.path.realpath(path), os.path.realpath(directory)
    return place == above or place.startswith(above.rstrip("/") + "/")
