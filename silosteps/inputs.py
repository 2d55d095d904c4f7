"""Open files, compressed or not, as streams of bytes.

The compression is detected from the first bytes, not from the name, because rotated logs keep
neither name nor suffix.
"""

import contextlib
import importlib
import io
import sys
import zlib
from collections.abc import Iterator
from typing import IO, Any, BinaryIO, cast

from recordsilo.extras import needed
from silosteps.errors import InputUnreadable

STDIN = "-"
_CHUNK = 1 << 12  # expands to 128 MiB at worst
_MAX_WINDOW = 1 << 27
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_OF_PACKAGES = {"zstd", "zstandard", "isal", "igzip_lib"}
"""The modules that the errors of the packages for compressed files name."""


class InputStream(io.RawIOBase):
    """The decompressed content of a file; every read error names the file.

    Attributes:
        name: The file's name, or ``-``.
        compressed: Whether the file is compressed; such a file does not grow.
    """

    def __init__(self, name: str, stream: BinaryIO, *, compressed: bool) -> None:
        self.name, self.compressed = name, compressed
        self._stream = stream

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Whether `seek` moves to any place at once."""
        return not self.compressed and self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """As `io.RawIOBase`."""
        return self._stream.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        """As `io.RawIOBase`.

        Raises:
            InputUnreadable: It is truncated or damaged.
        """
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        """As `io.RawIOBase`, without copying.

        Raises:
            InputUnreadable: It is truncated or damaged.
        """
        if size < 0:
            return self.readall()
        try:
            return self._stream.read(size)
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise InputUnreadable(self.name, str(error) or type(error).__name__) from error
        except Exception as error:
            if type(error).__module__.split(".")[0] in _OF_PACKAGES:
                raise InputUnreadable(self.name, str(error)) from error
            raise


@contextlib.contextmanager
def open_input(name: str) -> Iterator[InputStream]:
    """Open a file: plain, gzip or Zstandard; ``-`` is standard input.

    Raises:
        InputUnreadable: It does not exist, or is not a file.
        PackageMissing: It is compressed with Zstandard, and the package is missing.
    """
    with contextlib.ExitStack() as open_files:
        try:
            raw = (
                _unclosed(sys.stdin.buffer)
                if name == STDIN
                else open_files.enter_context(open(name, "rb"))
            )
            head = raw.peek(4)[:4]
        except OSError as error:
            raise InputUnreadable(name, error.strerror or str(error)) from error
        stream: Any = raw
        if head.startswith(GZIP):
            stream = open_files.enter_context(_gzip(raw))
        elif head == ZSTD:
            stream = _zstandard(raw)
        yield InputStream(name, stream, compressed=stream is not raw)


def _unclosed(stream: BinaryIO) -> io.BufferedReader:
    """Return standard input, buffered, which is not closed."""
    if isinstance(stream, io.BufferedReader):
        return stream
    return io.BufferedReader(cast(io.RawIOBase, stream))


def _gzip(raw: BinaryIO) -> IO[bytes]:
    try:
        module = importlib.import_module(
            "isal.igzip"
        )  # three times as fast, but not available on every machine
    except ImportError:
        module = importlib.import_module("gzip")
    opened: IO[bytes] = module.open(raw, "rb")
    return opened


def _zstandard(raw: BinaryIO) -> "_Frames":
    module = needed("zstandard", "reading Zstandard (.zst)")
    return _Frames(raw, module.ZstdDecompressor(max_window_size=_MAX_WINDOW))


class _Frames(io.RawIOBase):
    """Reads successive Zstandard frames; the package's own reader ignores truncation."""

    def __init__(self, raw: BinaryIO, decompressor: Any) -> None:
        self._raw, self._decompressor = raw, decompressor
        self._frame = decompressor.decompressobj()
        self._begun = False
        self._ready = memoryview(b"")

    def read(self, size: int = -1) -> bytes:
        """Return some bytes; empty at the end.

        Raises:
            EOFError: The last frame is truncated.
        """
        while not self._ready:
            packed = self._raw.read(_CHUNK) if not self._frame.eof else b""
            if self._frame.eof:
                packed = self._frame.unused_data or self._raw.read(_CHUNK)
                self._frame, self._begun = self._decompressor.decompressobj(), False
            if not packed:
                if self._begun:
                    raise EOFError("it ends in the middle of a Zstandard frame")
                return b""
            self._begun = True
            self._ready = memoryview(self._frame.decompress(packed))
        data = bytes(self._ready[:size])
        self._ready = self._ready[size:]
        return data
