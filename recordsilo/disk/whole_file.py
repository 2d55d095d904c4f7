"""Write files that users request, such as tables and sheets, completely or not at all.

These files are outside the Silo; only `atomic_file` writes files inside it.
"""

import errno
import io
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from recordsilo.disk.atomic_file import flush_directory, flush_fd
from recordsilo.disk.full_disk import is_full_disk


@contextmanager
def whole_file(
    path: str,
    before_replacing: Callable[[str], None] = lambda _staged: None,
    *,
    follow: bool = True,
) -> Iterator[BinaryIO]:
    """A file that gets its name, replacing an existing one, when it is complete.

    If the path is a symbolic link, its target is replaced. A device or a pipe, such as
    ``/dev/null``, is written to directly.

    Args:
        before_replacing: Called with the temporary path of the complete, flushed file before
            it gets its name; if this raises, an existing file is kept.
        follow: False replaces whatever has the name, also a symbolic link, by the file.

    Raises:
        OSError: The file cannot be written; the error names the path, and an existing file
            is kept.
    """
    target = os.path.realpath(path) if follow else os.path.abspath(path)
    if os.path.isdir(target) and (follow or not os.path.islink(target)):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path or target)
    if follow and os.path.exists(target) and not os.path.isfile(target):
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
        if isinstance(error, OSError) and _is_of(error, staged):
            error.filename, error.filename2 = path, None
        raise


def _is_of(error: OSError, staged: str) -> bool:
    """Whether an error concerns the staged file; errors of writing name none."""
    return error.filename == staged or (error.filename is None and is_full_disk(error))


@contextmanager
def as_text(file: BinaryIO, encoding: str = "utf-8") -> Iterator[io.TextIOWrapper]:
    """A text file over a binary one, without newline translation; the binary one stays open."""
    text = io.TextIOWrapper(file, encoding=encoding, newline="")
    try:
        yield text
        text.flush()
    finally:
        text.detach()
