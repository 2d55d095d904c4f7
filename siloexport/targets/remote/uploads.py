"""Bodies of requests that are sent as a stream with their length."""

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from siloexport.errors import SourceChanged
from siloexport.values import ExportedFile

CHUNK = 1 << 20


class Upload:
    """Bytes, then a file, then bytes; sent once.

    Args:
        before: Sent first.
        source: Then its bytes from where it stands.
        size: How many.
        after: Sent last.
    """

    def __init__(
        self, source: BinaryIO, size: int, before: bytes = b"", after: bytes = b""
    ) -> None:
        self._source, self._size = source, size
        self._before, self._after = before, after

    def __len__(self) -> int:
        return len(self._before) + self._size + len(self._after)

    def __iter__(self) -> Iterator[bytes]:
        if self._before:
            yield self._before
        left = self._size
        while left and (chunk := self._source.read(min(CHUNK, left))):
            left -= len(chunk)
            yield chunk
        if left or self._source.read(1):
            raise OtherSize
        if self._after:
            yield self._after


class OtherSize(Exception):
    """The size of a file differs from what was announced."""


def body_of(source: BinaryIO, file: ExportedFile, version: str) -> bytes | Iterable[bytes]:
    """Return the body for a file of a version: in memory if it is small.

    Raises:
        SourceChanged: A small file has another size.
    """
    if file.size > CHUNK:
        return Upload(source, file.size)
    content = source.read(file.size + 1)
    if len(content) != file.size:
        raise SourceChanged("", version, file.path)
    return content
