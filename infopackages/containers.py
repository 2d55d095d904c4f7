"""The files of a package as it came: in a directory, a tar file (also gzip) or a zip; read only.

Whoever made it may mean harm: nothing is unpacked to a path, links and devices are refused, and
what would unpack to far more than it is, too. A compressed tar file is unpacked into a file
without a name, which is gone when the process is.

Source: RFC 8493, section 5.2; POSIX.1-2001 (pax); APPNOTE 6.3 (zip).
"""

import gzip
import lzma
import os
import stat
import struct
import tarfile
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import IO, BinaryIO, Protocol, cast

from infopackages.files import CHUNK, PackageUnreadable, SlicedFile, open_plain

MOST_FILES = 1_000_000
"""The largest number of files of a package."""
LEAST = 100 << 20
RATIO = 200
"""What is packed may unpack to so many times its size, or to `LEAST` bytes."""
_MOST_AT_ONCE = 64 << 20
"""The largest part of a tar file that is read at once; a header of pax may claim any size."""
_LINK = 0o120000
BROKEN_ZIP = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, IndexError,
    NotImplementedError, RuntimeError,
)  # fmt: skip
"""What zipfile raises for a damaged or hostile zip, besides OSError and ValueError.

`IndexError` is for a file without a name, `NotImplementedError` for an unknown compression, and
`RuntimeError` for an encrypted file.
"""
BROKEN_TAR = (
    tarfile.TarError, zlib.error, EOFError, ValueError, OverflowError, RecursionError
)  # fmt: skip
"""What tarfile raises for a damaged or hostile tar file, besides OSError.

`zlib.error` is for damage in the content of a file, `OverflowError` for a huge number, and
`RecursionError` for many headers that describe the next one.
"""
ENDINGS = (".tar", ".tar.gz", ".tgz", ".zip")


class Container(Protocol):
    """The files of a package."""

    @property
    def sizes(self) -> Mapping[str, int]:
        """Path → size in bytes of each file, in their order."""

    def open(self, path: str) -> BinaryIO:
        """Open a file.

        Raises:
            PackageUnreadable: It cannot be read.
        """


def open_container(path: str) -> Container:
    """Open the package at a path.

    Raises:
        PackageUnreadable: It is none, or holds what is not allowed.
    """
    if os.path.isdir(path) and not os.path.islink(path):
        return _DirectoryContainer(path)
    file = open_plain(os.path.dirname(path) or ".", os.path.basename(path))
    with file:
        start = file.read(4)
    try:
        if start.startswith(b"PK"):
            return _Zip(path)
        return _Tar(path, compressed=start.startswith(b"\x1f\x8b"))
    except PackageUnreadable:
        raise
    except RecursionError:  # tarfile calls itself for each header that describes the next
        raise PackageUnreadable("it has too many headers before a file") from None
    except (tarfile.TarError, *BROKEN_ZIP, ValueError, OverflowError) as why:
        # ValueError: a name that is not UTF-8, a size that is no number; OverflowError: a huge one
        raise PackageUnreadable(f"it is not a tar file or zip that can be read: {why}") from None
    except OSError as error:
        raise PackageUnreadable(f"it cannot be read: {error.strerror or error}") from None


class _DirectoryContainer:
    def __init__(self, path: str) -> None:
        self._path = path
        self.sizes: dict[str, int] = {}
        try:
            for name, size in _sizes_below(path):
                _add(self.sizes, name, size)
        except RecursionError:
            raise PackageUnreadable("its directories are nested too deeply") from None

    def open(self, path: str) -> BinaryIO:
        return open_plain(self._path, path)


def _sizes_below(directory: str, below: str = "") -> Iterator[tuple[str, int]]:
    try:
        with os.scandir(os.path.join(directory, below)) as entries:
            found = sorted(entries, key=lambda one: one.name)
        for one in found:
            name = f"{below}/{one.name}" if below else one.name
            if one.is_dir(follow_symlinks=False):
                yield from _sizes_below(directory, name)
            elif one.is_file(follow_symlinks=False):
                yield name, one.stat(follow_symlinks=False).st_size
            else:
                kind = "a symbolic link" if one.is_symlink() else "not a plain file"
                raise PackageUnreadable(f"{name} is {kind}, which is not read")
    except OSError as error:
        raise PackageUnreadable(f"{error.filename} cannot be read: {error.strerror}") from None


class _Tar:
    def __init__(self, path: str, *, compressed: bool) -> None:
        self._fd = _unpacked(path) if compressed else os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._fd)
        end = os.fstat(self._fd).st_size
        self.sizes: dict[str, int] = {}
        self._places: dict[str, int] = {}
        whole = cast(IO[bytes], _Careful(self._fd, 0, end))
        with tarfile.open(fileobj=whole, mode="r:") as tar:
            for member in tar:
                tar.members = []  # type: ignore[attr-defined]  # it would keep them all
                if member.isdir():
                    continue
                if not member.isreg() or member.issparse():
                    raise PackageUnreadable(f"{member.name} is not a plain file, which is not read")
                name = member.name.removeprefix("./")
                if member.offset_data + member.size > end:
                    raise PackageUnreadable(f"it ends within {name}")
                _add(self.sizes, name, member.size)
                self._places[name] = member.offset_data

    def open(self, path: str) -> BinaryIO:
        begin = self._places[path]
        return cast(BinaryIO, SlicedFile(self._fd, begin, begin + self.sizes[path], self))


class _Careful(SlicedFile):
    """Refuses to read very much at once."""

    def read(self, size: int = -1) -> bytes:
        if size > _MOST_AT_ONCE:
            raise tarfile.ReadError("it has a header that is too long")
        return super().read(size)


def _unpacked(path: str) -> int:
    """Return the descriptor of a nameless file with what a gzip file has in it."""
    most = max(LEAST, RATIO * os.path.getsize(path))
    with tempfile.TemporaryFile() as out, gzip.open(path) as packed:
        size = 0
        while chunk := packed.read(CHUNK):
            size += len(chunk)
            if size > most:
                raise PackageUnreadable(_too_much(most))
            out.write(chunk)
        out.flush()
        return os.dup(out.fileno())


class _Zip:
    def __init__(self, path: str) -> None:
        self._zip = zipfile.ZipFile(path)
        weakref.finalize(self, self._zip.close)
        most = max(LEAST, RATIO * os.path.getsize(path))
        self.sizes: dict[str, int] = {}
        for one in self._zip.infolist():
            if one.is_dir():
                continue
            if stat.S_IFMT(one.external_attr >> 16) == _LINK:
                raise PackageUnreadable(f"{one.filename} is a symbolic link, which is not read")
            if one.flag_bits & 1:
                raise PackageUnreadable(f"{one.filename} is encrypted")
            _add(self.sizes, one.filename, one.file_size)
        if sum(self.sizes.values()) > most:
            raise PackageUnreadable(_too_much(most))

    def open(self, path: str) -> BinaryIO:
        try:
            return cast(BinaryIO, _Checked(self._zip.open(path), path))
        except (*BROKEN_ZIP, OSError) as error:
            raise PackageUnreadable(f"{path} cannot be read: {error}") from None


class _Checked:
    """A member of a zip; what is wrong with it is said as of all packages."""

    def __init__(self, file: IO[bytes], path: str) -> None:
        self._file, self._path = file, path

    def read(self, size: int = -1) -> bytes:
        try:
            return self._file.read(size)
        except (*BROKEN_ZIP, OSError) as error:
            raise PackageUnreadable(f"{self._path} cannot be read: {error}") from None

    def __enter__(self) -> "_Checked":
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()


def _add(sizes: dict[str, int], name: str, size: int) -> None:
    if any(part in ("", ".", "..") for part in name.split("/")) or "\0" in name:
        raise PackageUnreadable(f"the path {name!r} in it is not allowed")
    if name in sizes:
        raise PackageUnreadable(f"it has {name} twice")
    if len(sizes) >= MOST_FILES:
        raise PackageUnreadable(f"it has more than {MOST_FILES:,} files")
    sizes[name] = size


def _too_much(most: int) -> str:
    return f"it would unpack to more than {most >> 20:,} MiB, {RATIO} times its size"
