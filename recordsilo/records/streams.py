"""Streams into the store: accepted sources, and the staged copy behind a writeable stream."""

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from typing import Any

from recordsilo.disk import atomic_file
from recordsilo.disk.names import check_path
from recordsilo.errors import MetadataMalformed, SourceFailed
from recordsilo.formats.documents import MAX_BYTES, NoDocument, parsed_whole
from recordsilo.formats.table import is_xml

Source = str | bytes | bytearray | memoryview | Any
"""Text, bytes, or an open text or binary file."""


class WriteableStream(io.BufferedRandom):
    """A staged copy of a file: closing it stores it, an exception in its block discards it.

    Args:
        store: Called when the stream is closed.
        discard: Called after an exception in the ``with`` block.
    """

    def __init__(self, path: str, store: Callable[[], None], discard: Callable[[], None]) -> None:
        super().__init__(io.FileIO(path, "a+"))
        self.seek(0)
        self._store, self._discard = store, discard

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        self._store()

    def __exit__(self, kind: type[BaseException] | None = None, *_exception: object) -> None:
        if kind is None:
            self.close()
        else:
            super().close()
            self._discard()

    def __del__(self) -> None:
        if not self.closed:
            super().close()
            self._discard()


def chunks(
    filename: str, source: Source, watch: Callable[[bytes], object] | None
) -> Iterator[bytes]:
    """A source's content in chunks of bytes; its exceptions become `SourceFailed`.

    Args:
        filename: For the error message.
        source: Text is encoded as UTF-8; an open file is read from its start if it can seek.
        watch: Called with each chunk.

    Raises:
        SourceFailed: The source raised anything other than `KeyboardInterrupt`.
    """
    try:
        for chunk in _raw_chunks(source):
            octets = chunk.encode("utf-8") if isinstance(chunk, str) else bytes(chunk)
            if watch:
                watch(octets)
            yield octets
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except Exception as error:
        raise SourceFailed(filename, f"{type(error).__name__}: {error}") from error


def _raw_chunks(source: Source) -> Iterator[str | bytes]:
    if isinstance(source, str | bytes | bytearray | memoryview):
        yield source if isinstance(source, str) else bytes(source)
        return
    if not callable(getattr(source, "read", None)):
        raise TypeError(f"{type(source).__name__} is neither text, bytes nor an open file")
    with contextlib.suppress(OSError, AttributeError, ValueError):
        if source.seekable():
            source.seek(0)
    while (chunk := source.read(atomic_file.CHUNK)) is None or chunk:
        if not isinstance(chunk, str | bytes | bytearray | memoryview):
            raise TypeError(f"read() returned {type(chunk).__name__}")
        yield chunk if isinstance(chunk, str) else bytes(chunk)


def plain_files(directory: str) -> list[str]:
    """Paths of the files below a directory, if a version can hold them all.

    Raises:
        PathNameError: A file has a name that is invalid in a version.
        SourceFailed: There is a link or a special file.
    """
    found = []
    stack = [""]
    while stack:
        below = stack.pop()
        with os.scandir(os.path.join(directory, below)) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                path = check_path(below + entry.name)
                if entry.is_dir(follow_symlinks=False):
                    stack.append(path + "/")
                elif entry.is_file(follow_symlinks=False):
                    found.append(path)
                else:
                    raise _not_plain(path)
    return sorted(found)


def _not_plain(path: str) -> SourceFailed:
    return SourceFailed(path, "it is a link or a special file; a version holds plain files")


def read_metadata(path: str, source: Source) -> Source:
    """A metadata file that someone puts, once it is known that it can be read as metadata.

    Args:
        path: Of the file; one with an extension other than ``.xml`` need not be XML.

    Returns:
        The same source; for XML, its bytes.

    Raises:
        SourceFailed: See `chunks`.
        MetadataMalformed: It is not XML, has a document type, or is beyond 64 MiB.
    """
    if not is_xml(path):
        return source
    content = bytearray()
    for chunk in chunks(path, source, None):
        content += chunk
        if len(content) > MAX_BYTES:
            break
    try:
        parsed_whole(bytes(content))
    except NoDocument as error:
        raise MetadataMalformed(path, error.reason) from None
    return bytes(content)
