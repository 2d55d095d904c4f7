"""One version of a record written within a transaction: its files, then its description."""

import mimetypes
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO
from urllib.parse import quote

import requests

from siloexport.errors import SourceChanged
from siloexport.targets.fedora.answers import Departed, MatchWanted, NotFedora
from siloexport.targets.fedora.client import ARCHIVAL_GROUP, BINARY, NT, Body, joined
from siloexport.targets.fedora.names import file_path
from siloexport.targets.fedora.transaction import Transaction
from siloexport.values import ExportedFile, ExportedVersion

CHUNK = 1 << 20
_OVERWRITE_TOMBSTONE = {"Overwrite-Tombstone": "true"}


@dataclass(frozen=True, slots=True)
class Change:
    """What has to be sent so that the object holds a version.

    Attributes:
        put: Files that are not there, or have other content there.
        remove: Addresses of those that are there and not in the version.
    """

    put: tuple[ExportedFile, ...]
    remove: tuple[str, ...] = ()


def file_uri(uri: str, path: str) -> str:
    """The address of a file of an object."""
    return joined(uri, *file_path(path).split("/"))


def change(
    uri: str, files: Iterable[ExportedFile], wanted: dict[str, str], there: dict[str, str]
) -> Change:
    """What differs; both sides are path → SHA-512."""
    return Change(
        tuple(file for file in files if there.get(file.path) != wanted[file.path]),
        tuple(file_uri(uri, path) for path in there if path not in wanted),
    )


def make_group(transaction: Transaction, uri: str, *, over_tombstone: bool = False) -> None:
    """Create the object; fails where anything is.

    That it is an Archival Group can be said now and never again.

    Raises:
        ChangedMeanwhile: Something is there.
        Departed: A tombstone is there, and the server knows no way over it.
    """
    headers = {
        "Link": f'<{ARCHIVAL_GROUP}>;rel="type"',
        "Content-Type": "text/turtle",
        "If-None-Match": "*",
    }
    if over_tombstone:
        del headers["If-None-Match"]
        headers |= _OVERWRITE_TOMBSTONE
    transaction.send("PUT", uri, headers)


def send_files(
    transaction: Transaction, uri: str, version: ExportedVersion, what: Change, *, is_new: bool
) -> None:
    """Remove and put files.

    Args:
        is_new: Whether the object was made in this transaction, so holds no tombstones.
    """
    for address in what.remove:
        transaction.send("DELETE", address, {})
    for file in what.put:
        try:
            _put(transaction, uri, version, file, {} if is_new else _OVERWRITE_TOMBSTONE)
        except Departed:
            # 6.0.0 does not know the header, but lets the tombstone be purged; 6.5 the
            # other way round (docs/fedora.md, "Tombstones").
            transaction.send("DELETE", f"{file_uri(uri, file.path)}/fcr:tombstone", {})
            _put(transaction, uri, version, file, {})


def _put(
    transaction: Transaction,
    uri: str,
    version: ExportedVersion,
    file: ExportedFile,
    more: dict[str, str],
) -> None:
    headers = {
        # Without it a body in an RDF media type would become a container.
        "Link": f'<{BINARY}>;rel="type"',
        "Content-Type": media_type(file),
        "Content-Disposition": f'attachment; filename="{_file_name(file.path)}"',
        "Digest": f"sha-512={version.content.sha512(file.path)}",
        **more,
    }

    def send(matching: dict[str, str]) -> requests.Response:
        with version.content.open(file.path) as source, transaction.kept_alive(file.size):
            return transaction.send("PUT", address, {**headers, **matching}, _body(source, file))

    address = file_uri(uri, file.path)
    try:
        _matched(transaction, address, send)
    except _OtherSize:
        raise SourceChanged("", version.name, file.path) from None


def _matched(
    transaction: Transaction, address: str, send: Callable[[dict[str, str]], requests.Response]
) -> requests.Response:
    """Send, and again with If-Match where the server takes nothing without.

    An ETag of RDF is weak and If-Match compares strongly, so its ``W/`` has to go; it
    also depends on Accept, which is the same in all requests that name none.
    """
    try:
        return send({})
    except MatchWanted:
        etag = transaction.send("HEAD", address, {}).headers.get("ETag", "")
        return send({"If-Match": etag.removeprefix("W/")})


def media_type(file: ExportedFile) -> str:
    """The type a file is sent as: metadata is XML, others as their name says."""
    if file.is_metadata or file.document_of:
        return "application/xml"
    return mimetypes.guess_type(file.path)[0] or "application/octet-stream"


def _file_name(path: str) -> str:
    """A header's form of a name; 6.0.0 garbles ``filename*`` of RFC 6266, so percent-encoded."""
    return quote(path.rsplit("/", 1)[-1], safe=" !#$&'()+,;=@[]^`{}~")


class _OtherSize(Exception):
    """A file has more or fewer bytes than the manifest says."""


class _Upload:
    """A file's bytes with their number, so that they go in one piece and are not gathered."""

    def __init__(self, source: BinaryIO, size: int) -> None:
        self._source, self._size = source, size

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[bytes]:
        left = self._size
        while left and (chunk := self._source.read(min(CHUNK, left))):
            left -= len(chunk)
            yield chunk
        if left or self._source.read(1):
            raise _OtherSize


def _body(source: BinaryIO, file: ExportedFile) -> Body:
    if file.size > CHUNK:
        return _Upload(source, file.size)
    return source.read(file.size + 1)


def put_description(transaction: Transaction, uri: str, body: bytes, state: str = "") -> str:
    """Replace the description.

    Args:
        state: Fedora's token of the state it has to have; ``""`` for any.

    Returns:
        The token of its new state.

    Raises:
        ChangedMeanwhile: It has another.
        NotFedora: The answer has no token.
    """
    headers = {"Content-Type": NT}
    if state:
        headers["X-If-State-Token"] = state
    answer = _matched(
        transaction, uri, lambda matching: transaction.send("PUT", uri, headers | matching, body)
    )
    if not (found := answer.headers.get("X-State-Token", "")):
        raise NotFedora(answer.status_code, uri, "does not name the description's new state")
    return found
