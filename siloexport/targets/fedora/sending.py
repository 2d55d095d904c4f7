"""Write one version of a record in a transaction: its files, then its description."""

import mimetypes
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO
from urllib.parse import quote

from siloexport.errors import SourceChanged
from siloexport.targets.fedora.answers import (
    Departed,
    MatchWanted,
)
from siloexport.targets.fedora.client import ARCHIVAL_GROUP, BINARY, NT, joined
from siloexport.targets.fedora.description import digest_of
from siloexport.targets.fedora.names import file_path
from siloexport.targets.fedora.transaction import Transaction
from siloexport.targets.remote.errors import (
    NotOfThisKind,
)
from siloexport.targets.remote.server import Body, ServerAnswer
from siloexport.targets.remote.uploads import CHUNK, OtherSize, Upload
from siloexport.values import ExportedFile, ExportedVersion

_OVERWRITE_TOMBSTONE = {"Overwrite-Tombstone": "true"}


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """The requests that make the object hold a version.

    Attributes:
        put: Files that are missing in the object or differ.
        remove: Addresses of files in the object that are not in the version.
        describe: Path of a file → its new description, in N-Triples.
    """

    put: tuple[ExportedFile, ...]
    remove: tuple[str, ...] = ()
    describe: Mapping[str, bytes] = field(default_factory=dict)


def file_uri(uri: str, path: str) -> str:
    """Return the address of a file of an object."""
    return joined(uri, *file_path(path).split("/"))


def change(
    uri: str,
    files: Iterable[ExportedFile],
    wanted: Mapping[str, str],
    there: Mapping[str, str],
) -> ObjectChange:
    """Return what has to be sent.

    Args:
        uri: Address of the object.
        files: Of the version.
        wanted: Path → SHA-512 of the files of the version.
        there: Path → SHA-512 of the files in the object.
    """
    return ObjectChange(
        tuple(file for file in files if there.get(file.path) != wanted[file.path]),
        tuple(file_uri(uri, path) for path in there if path not in wanted),
    )


def descriptions(
    wanted: Mapping[str, bytes], there: Mapping[str, str], files: Iterable[str]
) -> dict[str, bytes]:
    """Return the descriptions of files that have to be sent; an empty one removes an earlier.

    Args:
        wanted: Path → description.
        there: Path → digest of the description in the object.
        files: The paths of the version.
    """
    sent = {path: one for path, one in wanted.items() if there.get(path) != digest_of(one)}
    return sent | {path: b"" for path in files if path in there and path not in wanted}


def description_uri(uri: str, path: str) -> str:
    """Return the address of the description of a file."""
    return f"{file_uri(uri, path)}/fcr:metadata"


def make_group(transaction: Transaction, uri: str, *, over_tombstone: bool = False) -> None:
    """Create the object as an Archival Group, which is only possible at creation.

    Args:
        transaction: The open transaction.
        uri: Address of the object.
        over_tombstone: Whether to create it in place of a tombstone.

    Raises:
        ChangedMeanwhile: The object exists.
        Departed: There is a tombstone that the server does not replace.
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
    transaction: Transaction,
    uri: str,
    version: ExportedVersion,
    what: ObjectChange,
    *,
    is_new: bool,
) -> None:
    """Remove and put files.

    Args:
        transaction: The open transaction.
        uri: Address of the object.
        version: The version that has the files.
        what: The files to put and to remove.
        is_new: Whether the object was made in this transaction, so it holds no tombstones.

    Raises:
        SourceChanged: A file differs from its entry in the manifest.
    """
    for address in what.remove:
        transaction.send("DELETE", address, {})
    for file in what.put:
        try:
            _put(transaction, uri, version, file, {} if is_new else _OVERWRITE_TOMBSTONE)
        except Departed:
            # 6.0.0 ignores the header but lets us purge the tombstone; 6.5 does the opposite
            # (docs/fedora-servers.md, "Tombstones").
            transaction.send("DELETE", f"{file_uri(uri, file.path)}/fcr:tombstone", {})
            _put(transaction, uri, version, file, {})
    for path, content in what.describe.items():
        _put_rdf(transaction, description_uri(uri, path), content)


def _put(
    transaction: Transaction,
    uri: str,
    version: ExportedVersion,
    file: ExportedFile,
    more: dict[str, str],
) -> None:
    headers = {
        # Without it, a body in an RDF media type would become a container.
        "Link": f'<{BINARY}>;rel="type"',
        "Content-Type": media_type(file),
        "Content-Disposition": f'attachment; filename="{_file_name(file.path)}"',
        "Digest": f"sha-512={version.content.sha512(file.path)}",
        **more,
    }

    def send(matching: dict[str, str]) -> ServerAnswer:
        with version.content.open(file.path) as source, transaction.kept_alive(file.size):
            return transaction.send("PUT", address, {**headers, **matching}, _body(source, file))

    address = file_uri(uri, file.path)
    try:
        _matched(transaction, address, send)
    except OtherSize:
        raise SourceChanged("", version.name, file.path) from None


def _matched(
    transaction: Transaction, address: str, send: Callable[[dict[str, str]], ServerAnswer]
) -> ServerAnswer:
    """Send, and repeat with If-Match if the server requires it.

    The ETag of RDF is weak and If-Match compares strongly, so its ``W/`` is removed. It also
    depends on Accept, which is the same in all requests that do not set it.
    """
    try:
        return send({})
    except MatchWanted:
        etag = transaction.send("HEAD", address, {}).headers.get("ETag", "")
        return send({"If-Match": etag.removeprefix("W/")})


def media_type(file: ExportedFile) -> str:
    """Return the media type of a file: XML for metadata, by its name for others."""
    if file.is_metadata or file.document_of:
        return "application/xml"
    return mimetypes.guess_type(file.path)[0] or "application/octet-stream"


def _file_name(path: str) -> str:
    """Percent-encode a name for a header; 6.0.0 garbles ``filename*`` of RFC 6266."""
    return quote(path.rsplit("/", 1)[-1], safe=" !#$&'()+,;=@[]^`{}~")


def _body(source: BinaryIO, file: ExportedFile) -> Body:
    if file.size > CHUNK:
        return Upload(source, file.size)
    return source.read(file.size + 1)


def put_description(transaction: Transaction, uri: str, body: bytes, state: str = "") -> str:
    """Replace the description.

    Args:
        transaction: The open transaction.
        uri: Address of the object.
        body: The new description in N-Triples.
        state: Fedora's state token that the old one must have; ``""`` for any.

    Returns:
        The state token of the new description.

    Raises:
        ChangedMeanwhile: The old description has another state token.
        NotOfThisKind: The answer has no state token.
    """
    answer = _put_rdf(transaction, uri, body, {"X-If-State-Token": state} if state else {})
    if not (found := answer.headers.get("X-State-Token", "")):
        reason = "does not give the state token of the description"
        raise NotOfThisKind(answer.status, uri, reason)
    return found


def _put_rdf(
    transaction: Transaction, uri: str, body: bytes, more: Mapping[str, str] | None = None
) -> ServerAnswer:
    headers = {"Content-Type": NT, **(more or {})}
    return _matched(
        transaction, uri, lambda matching: transaction.send("PUT", uri, headers | matching, body)
    )
