"""Stamps of files, by which a reader knows that what it has read is still so."""

import os
import time
from datetime import UTC, datetime

SETTLED = 0.1
"""Seconds after which a write changes a file's time; the clocks of file systems have steps of up
to some hundredths of a second."""


def stamp_of(*paths: str) -> tuple[tuple[int, int, int] | None, ...] | None:
    """Return a value that changes with the files: inode, time and size of each.

    A file that does not exist has None in its place. The change of a database with a write-ahead
    log is in the log, which must be among the files.

    Returns:
        None if a file was changed so recently that a further change may leave the same time.
    """
    found: list[tuple[int, int, int] | None] = []
    settled = time.time() - SETTLED
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            found.append(None)
            continue
        if status.st_mtime >= settled:
            return None
        found.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(found)


def modified(path: str) -> str:
    """When a file was changed last, in the form of 2010: ISO 8601, UTC, without a zone."""
    at = datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
    return at.replace(tzinfo=None).isoformat(timespec="microseconds")
