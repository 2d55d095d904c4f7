"""Opens files by names that others may have made: no devices, no pipes, links where allowed."""

import errno
import os
import stat
from typing import BinaryIO


def open_regular(path: str, *, follow: bool = True) -> BinaryIO:
    """Open a regular file to read it; what is at the path is decided by the open file itself.

    A pipe without a writer does not block, and a device, which may have no end, is not read.

    Args:
        follow: Whether the last name of the path may be a symbolic link.

    Raises:
        OSError: It is not there, or is something else.
    """
    return open(regular_fd(path, 0 if follow else os.O_NOFOLLOW), "rb")


def regular_fd(path: str, flags: int = 0) -> int:
    """The descriptor of a regular file, as `open_regular` opens it; also an opener for `open`.

    Raises:
        OSError: It is not there, or is something else.
    """
    try:
        fd = os.open(path, flags | os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP and os.path.islink(path):
            raise OSError(errno.ELOOP, "it is a symbolic link", path) from None
        if error.errno == errno.ENXIO:  # a socket
            raise OSError(errno.EINVAL, "it is not a regular file", path) from None
        raise
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return fd


def end_of(path: str, most: int) -> bytes:
    """The last bytes of a regular file, at most so many, as `open_regular` opens it.

    Raises:
        OSError: It is not there, is something else, or cannot be read.
    """
    with open_regular(path) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - most))
        return file.read(most)
