"""Files that people ask for, such as tables and sheets: each is whole, or is not there.

They lie outside of the Silo; what lies in it, only `atomic_file` writes.
"""

import errno
import io
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from recordsilo.disk.atomic_file import flush_directory, flush_fd


@contextmanager
def whole_file(
    path: str, before_replacing: Callable[[str], None] = lambda _staged: None
) -> Iterator[BinaryIO]:
    """A file that is there under its name once it is whole, in the place of one before.

    Where the path is a symbolic link, what it leads to is replaced. A device or a pipe,
    as ``/dev/null``, is written to and stays what it is.

    Args:
        before_replacing: Called with the path of the new file once it is whole and flushed,
            before it gets its name; what it raises leaves a file that was there.

    Raises:
        OSError: It cannot be written, and names the path; a file that was there stays.
    """
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path or target)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    with _renamed_when_whole(path, target, before_replacing) as file:
        yield file


@contextmanager
def _renamed_when_whole(
    path: str, target: str, before_replacing: Callable[[str], None]
) -> Iterator[BinaryIO]:
    staged = f"{target}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        with open(staged, "xb") as file:
            yield file
            file.flush()
            flush_fd(file.fileno())
        before_replacing(staged)
        os.rename(staged, target)
        flush_directory(os.path.dirname(target))
    except BaseException as error:
        if os.path.lexists(staged):
            os.unlink(staged)
        if isinstance(error, OSError) and error.filename == staged:
            error.filename, error.filename2 = path, None
        raise


@contextmanager
def as_text(file: BinaryIO, encoding: str = "utf-8") -> Iterator[io.TextIOWrapper]:
    """A file to write text to, line ends as they are written; it stays open."""
    text = io.TextIOWrapper(file, encoding=encoding, newline="")
    try:
        yield text
        text.flush()
    finally:
        text.detach()
