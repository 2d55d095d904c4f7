"""Whether an error says that a disk is full (pure)."""

import errno

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_OF_SQLITE = ("SQLITE_FULL", "SQLITE_IOERR_SHM")
"""Beginnings of names; the latter: the memory shared beside a log cannot grow."""


def is_full_disk(error: BaseException | None) -> bool:
    """Whether an error, or one that caused it, is that a disk has no space left."""
    while error is not None:
        if getattr(error, "errno", None) in FULL:
            return True
        if getattr(error, "sqlite_errorname", "").startswith(_OF_SQLITE):
            return True
        error = error.__cause__
    return False
