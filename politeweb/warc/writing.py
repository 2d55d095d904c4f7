"""Append records to a series of WARC 1.1 files, from many threads.

Source: WARC 1.1 (ISO 28500:2017), annexes C and D.
"""

import fcntl
import os
import threading
from collections.abc import Iterable, Iterator, Mapping

from politeweb.warc.files import WarcName, warc_names, whole_length
from politeweb.warc.pairs import packed_warcinfo

ROTATE_AT = 1_000_000_000
_PIECE = 65_536


class WarcFiles:
    """A series of WARC files to which many threads may append records.

    The first record creates a file. After a kill, the last file is continued, after an incomplete
    record was cut off. When `append` returns, the operating system has the data.

    Args:
        directory: The files' directory; created with the first record.
        series: The prefix of their names: a UTC time (``20261121T211331.123456Z``).
        about: The fields of each file's ``warcinfo``.
        rotate_at: Bytes after which the next file begins.
    """

    def __init__(
        self, directory: str, series: str, about: Mapping[str, str], rotate_at: int = ROTATE_AT
    ) -> None:
        self._directory = directory
        self._series = series
        self._about = dict(about)
        self._rotate_at = rotate_at
        self._lock = threading.Lock()
        self._file = -1
        self._size = 0
        self._name = ""
        self._is_ended = False

    def append(self, records: bytes | Iterable[bytes]) -> tuple[str, int]:
        """Write complete records, all into one file.

        Args:
            records: Whole, or in pieces; others wait until the last piece is written.

        Returns:
            The file's name, and the place in it where the records begin.

        Raises:
            OSError: The disk refused; the files are unchanged, as after any error of the pieces.
        """
        with self._lock:
            if self._file < 0 or self._size >= self._rotate_at:
                self._open_next()
            place = self._name, self._size
            self._write((records,) if isinstance(records, bytes) else records)
            return place

    def flush(self) -> None:
        """Return once all records are on the medium.

        Raises:
            OSError: Flushing failed.
        """
        with self._lock:
            file = os.dup(self._file) if self._file >= 0 else -1
        if file >= 0:  # others may write meanwhile, or begin the next file
            try:
                os.fsync(file)
            finally:
                os.close(file)

    def close(self) -> None:
        """Close the file; another record opens it again."""
        with self._lock:
            self._close()

    def end_file(self) -> None:
        """End the file, which is on the medium then; the next record begins another one.

        Raises:
            OSError: Flushing failed.
        """
        with self._lock:
            if self._file >= 0:
                os.fsync(self._file)
                self._is_ended = True
            self._close()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open_next(self) -> None:
        if self._file >= 0:
            os.fsync(self._file)
        self._close()
        if not self._name:  # later, the directory may have been moved away: it is not made anew
            os.makedirs(self._directory, exist_ok=True)
        known = warc_names(self._directory, self._series)
        is_new, self._is_ended = not known or self._is_ended, False
        if is_new or not self._go_on_with(str(known[-1])):
            self._begin(str(WarcName(self._series, known[-1].number + 1 if known else 1)))
        for path in (self._directory, os.path.dirname(os.path.abspath(self._directory))):
            _flush_directory(path)

    def _begin(self, name: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._file = os.open(os.path.join(self._directory, name), flags, 0o666)
        self._name = name
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._size = 0
        self._write([packed_warcinfo(name, self._about)])

    def _go_on_with(self, name: str) -> bool:
        """Open an existing file, cut off an incomplete record; return False if not continued."""
        with open(os.path.join(self._directory, name), "r+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
            size = whole_length(file)
            if size >= self._rotate_at:
                return False
            file.truncate(size)
            self._file = os.dup(file.fileno())
            self._name = name
        self._size = os.lseek(self._file, size, os.SEEK_SET)
        if size == 0:
            self._write([packed_warcinfo(name, self._about)])
        return True

    def _write(self, pieces: Iterable[bytes]) -> None:
        """Append; after an error, cut off the incomplete part, so that the file stays valid."""
        size = self._size
        try:
            for piece in _together(pieces):
                size += len(piece)
                rest = memoryview(piece)
                while rest:
                    rest = rest[os.write(self._file, rest) :]
        except BaseException as error:
            os.ftruncate(self._file, self._size)
            os.lseek(self._file, self._size, os.SEEK_SET)
            if isinstance(error, OSError):
                error.filename = error.filename or os.path.join(self._directory, self._name)
            raise
        self._size = size


def _together(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Join small pieces, so that most records are written at once."""
    small: list[bytes] = []
    size = 0
    for piece in pieces:
        small.append(piece)
        size += len(piece)
        if size >= _PIECE:
            yield b"".join(small)
            small, size = [], 0
    if small:
        yield b"".join(small)


def _flush_directory(path: str) -> None:
    """Flush the names in a directory; without them, a power failure loses flushed files."""
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
