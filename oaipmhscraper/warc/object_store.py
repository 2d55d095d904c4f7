"""Files in an object store (S3), through fsspec and the extra ``s3``.

Credentials and the address of the service come from the environment and the configuration of AWS
(``AWS_ACCESS_KEY_ID``, ``AWS_ENDPOINT_URL``, ``~/.aws/`` …). Nothing is overwritten or deleted.
"""

import hashlib
import importlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from oaipmhscraper.errors import ObjectDiffers, StoreFailed, StoreUnreachable
from politeweb.errors import RequestRefused, shortened
from recordsilo.disk.digest import Digest
from recordsilo.extras import install_line

SCHEMES = frozenset({"s3"})
_ADDRESS = re.compile(
    r"(?P<scheme>[a-z0-9]+)://[A-Za-z0-9][A-Za-z0-9._-]*"
    r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9_.%+=,~!-]+)*"
)
_PIECE = 8 << 20
_AT_ONCE = 2
"""Pieces in flight: four of them are in memory."""
_ATTEMPTS = 2
"""Of s3fs, each with the attempts of AWS: its own 5 waited 7 minutes for a service that hangs."""
_USER = re.compile(r"//[^/@\s]*@")

Told = Callable[[int], object]


def check_address(address: str) -> str:
    """Return the address of a store or of a file in it, without a slash at its end.

    Raises:
        RequestRefused: Not a valid address.
    """
    found = _ADDRESS.fullmatch(address.rstrip("/"))
    if found is None or found["scheme"] not in SCHEMES:
        raise RequestRefused(
            "the address of an object store is s3://bucket or s3://bucket/prefix, of letters,"
            " digits and _.%+=,~!-, and without a user or password"
        )
    return found[0]


class ObjectStore:
    """The service behind addresses of one scheme; one thread uses it.

    Args:
        address: Of the store, or of a file in it.

    Raises:
        RequestRefused: Not a valid address.
        StoreFailed: The extra is not installed.
    """

    def __init__(self, address: str) -> None:
        scheme = check_address(address).partition(":")[0]
        try:
            fsspec = importlib.import_module("fsspec")
            kind = fsspec.get_filesystem_class(scheme)
        except ImportError:
            raise StoreFailed(
                f"{scheme}:// needs the package s3fs; install it: {install_line('s3fs', 's3')}"
            ) from None
        with _failures(address):
            self._files: Any = kind(use_listings_cache=False)  # one for a process; 0.2 s of CPU
            self._files.retries = _ATTEMPTS

    def has(self, address: str) -> bool:
        """Whether there is a file.

        Raises:
            StoreFailed: The store refuses to say it.
            StoreUnreachable: It does not answer.
        """
        try:
            with _failures(address):
                self._files.info(address)
        except ObjectDiffers:
            return False
        return True

    def put(self, path: str, address: str, told: Told) -> None:
        """Send a file.

        Args:
            path: Of the file.
            address: Where there is no file yet.
            told: Called with the bytes that were sent since the last call.

        Raises:
            StoreFailed: There is no such bucket, or the store refuses it.
            StoreUnreachable: It does not answer.
        """
        try:
            with _failures(address):
                self._files.put_file(
                    path, address, callback=_callback(told), chunksize=_PIECE,
                    max_concurrency=_AT_ONCE,
                )  # fmt: skip
        except ObjectDiffers as error:
            raise StoreFailed(
                f"{_bucket(address)} is not there ({_words(error.__cause__ or error)});"
                " create it, or correct the address"
            ) from error

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
        with _failures(address):
            file = self._files.open(address, "rb", cache_type="none")
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
    except FileNotFoundError as error:
        raise ObjectDiffers(f"{address} is not there ({_words(error)})") from error
    except Exception as error:
        store = _bucket(address)
        if isinstance(error, PermissionError) or "Credentials" in type(error).__name__:
            raise StoreFailed(f"{store} may not be used: {_words(error)}") from error
        raise StoreUnreachable(f"{store} gives no answer: {_words(error)}") from error


def _bucket(address: str) -> str:
    return "/".join(address.split("/")[:3])


def _words(error: BaseException) -> str:
    """An error in one line, without users and passwords of addresses."""
    text = _USER.sub("//", " ".join(str(error).split())) or type(error).__name__
    return shortened(text, 300)
