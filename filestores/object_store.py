"""Files in a store behind addresses: an object store (S3), or another machine.

Nothing is overwritten or deleted unless that is asked for.
"""

import hashlib
import importlib
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, cast

from filestores.errors import ObjectDiffers, StoreFailed, StoreUnreachable
from filestores.schemes import check_address, scheme_of, service_of
from politeweb.errors import shortened
from recordsilo.disk.digest import Digest
from recordsilo.disk.full_disk import is_full_disk

_PIECE = 8 << 20
_AT_ONCE = 2
"""Pieces in flight: four of them are in memory."""
_USER = re.compile(r"//[^/@\s]*@")

Told = Callable[[int], object]


class ObjectStore:
    """The service behind addresses of one scheme; one thread uses it.

    Args:
        address: Of the store, or of a file in it.

    Raises:
        RequestRefused: Not a valid address.
        StoreFailed: The extra is not installed.
        StoreUnreachable: Another machine does not answer.
    """

    def __init__(self, address: str) -> None:
        scheme = scheme_of(check_address(address, or_machine=True))
        with _failures(address):
            self._files: Any = service_of(address)
        self._is_s3 = scheme != "sftp"

    def has(self, address: str) -> bool:
        """Whether there is a file.

        Raises:
            StoreFailed: The store refuses to say it.
            StoreUnreachable: It does not answer.
        """
        return self.size(address) is not None

    def size(self, address: str) -> int | None:
        """The bytes of a file; None if there is none.

        Raises:
            StoreFailed, StoreUnreachable: See `has`.
        """
        with suppress(ObjectDiffers), _failures(address):
            found = self._files.info(address)
            if found["type"] == "file":
                return int(found["size"])
        return None

    def put(self, path: str, address: str, told: Told = int) -> None:
        """Send a file.

        Args:
            address: Where there is no file yet; in an object store it is there when all of it is.
            told: Called with the bytes that were sent since the last call.

        Raises:
            StoreFailed: There is no such bucket, or the store refuses it.
            StoreUnreachable: It does not answer.
        """
        how = {"chunksize": _PIECE, "max_concurrency": _AT_ONCE} if self._is_s3 else {}
        with self._sending(address):
            self._files.put_file(path, self._native(address), callback=_callback(told), **how)

    def put_bytes(self, content: bytes, address: str) -> None:
        """Send the content of a small file, or replace it; see `put`."""
        with self._sending(address):
            if not self._is_s3:
                self._files.makedirs(self._native(address).rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(self._native(address), content)

    def move(self, source: str, target: str) -> None:
        """Give a file another name on another machine, at once; an existing one is replaced.

        Raises:
            StoreFailed, StoreUnreachable: See `has`.
        """
        with self._sending(target):
            self._files.makedirs(self._native(target).rpartition("/")[0], exist_ok=True)
            self._files.mv(source, target)

    def delete(self, address: str) -> None:
        """Delete a file, if there is one.

        Raises:
            StoreFailed, StoreUnreachable: See `has`.
        """
        with suppress(ObjectDiffers), _failures(address):
            self._files.rm_file(self._native(address))

    def names(self, address: str) -> list[str]:
        """The names of the files below an address, relative to it, as the store says them; sorted.

        Raises:
            StoreFailed: The store refuses, or has something else there, such as a symbolic link.
            StoreUnreachable: It does not answer.
        """
        root = self._native(address)
        with suppress(ObjectDiffers), _failures(address):
            found = self._files.find(root, detail=True)
            for path, about in found.items():
                if about["type"] != "file":
                    raise StoreFailed(f"{_place(address, root, path)} is not a regular file")
            return sorted(path[len(root) :].lstrip("/") for path in found)
        return []

    def open(self, address: str, offset: int = 0) -> BinaryIO:
        """Open a file to read it from a place on; also what is read later fails in sentences.

        Raises:
            ObjectDiffers: It is not there.
            StoreFailed, StoreUnreachable: See `has`.
        """
        how = {"cache_type": "readahead", "block_size": 1 << 20} if self._is_s3 else {}
        with _failures(address):
            file = self._files.open(self._native(address), "rb", **how)
            file.seek(offset)
        return cast(BinaryIO, io.BufferedReader(_Told(file, address), 1 << 16))

    def read(self, address: str, most: int) -> Iterator[bytes]:
        """Yield the content of a file, in pieces.

        Args:
            address: Of the file.
            most: Bytes that it should have; of a longer file, at least one more is read.

        Raises:
            ObjectDiffers: It is not there.
            StoreFailed: The store refuses it.
            StoreUnreachable: It does not answer.
        """
        how = {"cache_type": "none"} if self._is_s3 else {}
        with _failures(address):
            file = self._files.open(self._native(address), "rb", **how)
        with file:
            while most >= 0:
                with _failures(address):
                    piece = file.read(min(_PIECE, most + 1))
                if not piece:
                    return
                most -= len(piece)
                yield piece

    def check(self, address: str, wanted: Digest, told: Told) -> None:
        """Read a file and compare it with a digest.

        Raises:
            ObjectDiffers: It is not there, or is another one.
            StoreFailed, StoreUnreachable: See `read`.
        """
        for piece in self.compared(address, wanted):
            told(len(piece))

    def compared(self, address: str, wanted: Digest) -> Iterator[bytes]:
        """Yield the content of a file; it may be used once all of it was yielded.

        Raises:
            ObjectDiffers: It is not there; or at the end: it is another one.
            StoreFailed, StoreUnreachable: See `read`.
        """
        digest, size = hashlib.sha256(), 0
        for piece in self.read(address, wanted.size):
            digest.update(piece)
            size += len(piece)
            yield piece
        if Digest(digest.hexdigest(), size) != wanted:
            raise ObjectDiffers(f"{address} has another content than the file that was sent")

    def _native(self, address: str) -> str:
        """An address as the file system has it in its lists."""
        return str(self._files._strip_protocol(address))

    @contextmanager
    def _sending(self, address: str) -> Iterator[None]:
        try:
            with _failures(address):
                yield
        except ObjectDiffers as error:
            raise StoreFailed(
                f"{_bucket(address)} is not there ({_words(error.__cause__ or error)});"
                " create it, or correct the address"
            ) from error


class _Told(io.RawIOBase):
    """A file of a store whose failures are errors of ours."""

    def __init__(self, file: Any, address: str) -> None:
        self._file, self._address = file, address

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with _failures(self._address):
            self._file.seek(offset, whence)
            return int(self._file.tell())

    def readinto(self, room: Any) -> int:
        with _failures(self._address):
            piece = self._file.read(len(room))
        room[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            with _failures(self._address):
                self._file.close()
        super().close()


def _callback(told: Told) -> Any:
    """What fsspec calls while it sends a file."""
    base: Any = importlib.import_module("fsspec.callbacks").Callback

    class Telling(base):  # type: ignore[misc]  # fsspec is loaded by name
        def relative_update(self, inc: int = 1) -> None:
            told(inc)

    return Telling()


@contextmanager
def _failures(address: str) -> Iterator[None]:
    """Turn whatever the libraries raise into an error of ours; it has no credentials."""
    try:
        yield
    except StoreFailed:
        raise
    except FileNotFoundError as error:
        raise ObjectDiffers(f"{address} is not there ({_words(error)})") from error
    except Exception as error:
        store = _bucket(address)
        kind = type(error).__name__
        if isinstance(error, PermissionError) or "Credentials" in kind or "Authentic" in kind:
            raise StoreFailed(f"{store} may not be used: {_words(error)}") from error
        if "not found in known_hosts" in str(error):
            raise StoreFailed(
                f"{store} is not known ({_words(error)}); log in once by ssh to see whether it is"
                " the right machine"
            ) from error
        if is_full_disk(error):
            raise StoreFailed(
                f"{store} is full; make room, then the same command goes on"
            ) from error
        raise StoreUnreachable(f"{store} gives no answer: {_words(error)}") from error


def _bucket(address: str) -> str:
    return "/".join(address.split("/")[:3])


def _place(address: str, root: str, path: str) -> str:
    return shortened(repr(address + path.removeprefix(root)), 300)


def _words(error: BaseException) -> str:
    """An error in one line, without users and passwords of addresses."""
    text = _USER.sub("//", " ".join(str(error).split())) or type(error).__name__
    return shortened(text, 300)
