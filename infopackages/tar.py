"""Tar files that depend on their content alone, also compressed, written as a stream.

Source: POSIX.1-2001 (pax); RFC 1952 (gzip).
"""

import io
import struct
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from infopackages.files import Add

_USUAL, _STORED = 6, 0
_COMPRESSED = (
    ".gz", ".zip", ".zst", ".wacz", ".bz2", ".xz", ".7z", ".jpg", ".jpeg", ".png", ".gif", ".webp",
    ".mp3", ".mp4", ".pdf", ".docx", ".xlsx", ".pptx", ".epub",
)  # fmt: skip


@contextmanager
def tar_writer(out: IO[bytes], seconds: int = 0, *, compress: bool = False) -> Iterator[Add]:
    """Write a tar file to which the block adds files.

    Files whose names say that they are compressed, such as WARC files, are stored and not
    compressed again.

    Args:
        out: Where to; nothing is read from it, and it is not closed.
        seconds: When every file was changed, since 1970.
        compress: By gzip, as one member without a name or a time.
    """
    packed = _Gzip(out) if compress else None
    file = _CountingWriter(packed or out)
    with tarfile.open(fileobj=cast(IO[bytes], file), mode="w", format=tarfile.PAX_FORMAT) as tar:

        def add(name: str, size: int, source: IO[bytes]) -> None:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = size, seconds, 0o644
            if packed:
                packed.set_level(_STORED if name.lower().endswith(_COMPRESSED) else _USUAL)
            tar.addfile(member, source)
            tar.members = []  # type: ignore[attr-defined]  # it would keep one for each file

        yield add
    if packed:
        packed.close()


class _CountingWriter(io.RawIOBase):
    """What `tarfile` needs to know of a file that it writes to."""

    def __init__(self, out: "IO[bytes] | _Gzip") -> None:
        self._out, self._at = out, 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def write(self, content: Any) -> int:
        self._out.write(content)
        self._at += len(content)
        return len(content)


class _Gzip:
    """A single gzip member, whose level of compression may change.

    Several members would be simpler, but not all readers of tar files go on after the first.
    """

    def __init__(self, out: IO[bytes]) -> None:
        self._out, self._level, self._crc, self._size = out, _USUAL, 0, 0
        self._deflate = _deflate(_USUAL)
        out.write(b"\x1f\x8b\x08\x00" + bytes(4) + b"\x00\xff")

    def set_level(self, level: int) -> None:
        """Compress what follows so much; a full flush ends what came before at a byte."""
        if level != self._level:
            self._out.write(self._deflate.flush(zlib.Z_FULL_FLUSH))
            self._level, self._deflate = level, _deflate(level)

    def write(self, content: bytes) -> None:
        self._crc = zlib.crc32(content, self._crc)
        self._size += len(content)
        self._out.write(self._deflate.compress(content))

    def close(self) -> None:
        self._out.write(self._deflate.flush())
        self._out.write(struct.pack("<LL", self._crc, self._size & 0xFFFFFFFF))


def _deflate(level: int) -> Any:
    return zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
