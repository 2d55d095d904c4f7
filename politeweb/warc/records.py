"""Read the records of WARC files within limits of memory, whatever a file says.

warcio 1.8 takes a header of any length, and holds a chunk of a transfer coding as a whole.

Source: WARC 1.1 (ISO 28500:2017), sections 4 and 5.
"""

from typing import Any, BinaryIO

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import DecompressingBufferedReader
from warcio.exceptions import ArchiveLoadFailed

MAX_HEAD = 1 << 20
"""Most bytes of the header of a record, or of the response in it."""
MAX_CHUNK = 64 << 20
"""Most bytes of a chunk of a transfer coding, and of any other piece read at once."""


class _BoundedRecords(DecompressingBufferedReader):  # type: ignore[misc]  # warcio is untyped
    """A stream that refuses long headers, records within headers, and long pieces."""

    _head = 0
    _is_record = False

    def readline(self, length: int | None = None) -> bytes:
        """Read a line; a header ends with an empty one, or where its content is read.

        A record that begins within the header of another is refused, because reading continues
        at each beginning: a file of nothing else would be read once for each of its lines.

        Raises:
            ArchiveLoadFailed: The header is longer than `MAX_HEAD`, or another record begins in it.
        """
        room = MAX_HEAD - self._head + 1
        line: bytes = super().readline(room if length is None else min(length, room))
        is_start = line.startswith(b"WARC/")
        if self._head and self._is_record and is_start:
            raise ArchiveLoadFailed("another record begins in its header")
        if not self._head:
            self._is_record = is_start
        self._head = self._head + len(line) if line.strip() else 0
        if self._head > MAX_HEAD:
            raise ArchiveLoadFailed(f"a header is longer than {MAX_HEAD >> 20} MiB")
        return line

    def read(self, length: int | None = None) -> bytes:
        """Read a piece.

        Raises:
            ArchiveLoadFailed: More than `MAX_CHUNK` is asked for.
        """
        self._head = 0
        if length is None or length > MAX_CHUNK:
            raise ArchiveLoadFailed(f"a chunk is longer than {MAX_CHUNK >> 20} MiB")
        piece: bytes = super().read(length)
        return piece


def warc_records(file: BinaryIO, *, check_digests: bool = False) -> ArchiveIterator:
    """Return the records of a WARC file, from the file's position on.

    Iteration raises `ArchiveLoadFailed` for a header over `MAX_HEAD`, and reading a record's
    content for a chunk over `MAX_CHUNK`.

    Args:
        file: Plain, or compressed with one gzip member for each record.
        check_digests: Whether the content is compared with its digests.
    """
    records = ArchiveIterator(file, check_digests=check_digests)
    records.reader = _BoundedRecords(records.fh)
    return records


def is_framed(record: Any, records: ArchiveIterator) -> bool:
    """Whether a record really ends where it was read to.

    warcio does not detect a member that cannot be decompressed completely, or a record without
    a length that includes all that follows.
    """
    packed = records.reader.decompressor
    is_whole = packed is None or packed.eof
    return is_whole and getattr(record.raw_stream, "limit", 1) == 0 and not records.err_count
