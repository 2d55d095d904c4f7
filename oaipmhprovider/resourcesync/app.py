"""ResourceSync as a WSGI application, in front of that of OAI-PMH."""

import logging
import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote, urlsplit

from oaipmhprotocol import CannotDisseminateFormat, Granularity, IdDoesNotExist
from oaipmhprotocol.datestamps import format_datestamp
from oaipmhprovider.resourcesync import dumps
from oaipmhprovider.resourcesync.addresses import (
    LISTS,
    WELL_KNOWN,
    AskedDocument,
    DocumentKind,
    ListPart,
    asked_at,
    path_of,
)
from oaipmhprovider.resourcesync.documents import Head, ResourceEntry, written
from oaipmhprovider.resourcesync.parts import Parts, headers_of
from oaipmhprovider.source import RecordSource, SourceUnavailable
from oaipmhprovider.wsgi import TOO_MUCH, ProviderApp
from politeweb.codings import accepts_gzip

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_XML = "application/xml; charset=utf-8"
_CHUNK = 64 << 10
_METHODS = ("GET", "HEAD")
_AFTER = "60"
logger = logging.getLogger("oaipmhprovider")


class ResourceSyncApp:
    """Answers the addresses of ResourceSync, and leaves all others to the provider.

    They are below the provider's base URL, and `WELL_KNOWN`. Lists are written as they are sent.

    Args:
        app: The provider; with its source, clock and settings.
        largest: Most entries of a document.
    """

    def __init__(self, app: ProviderApp, *, largest: int = 50_000) -> None:
        self._app, self._largest = app, largest
        self._parts = Parts(app.source)

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        path = _raw_path(environ)
        below = f"{self._app.path.rstrip('/')}/"
        if path == WELL_KNOWN:
            asked: AskedDocument | None = AskedDocument(None)
        elif path.startswith(f"{below}resourcesync"):
            asked = asked_at(path.removeprefix(below))
        else:
            return self._app(environ, start_response)
        is_head = environ["REQUEST_METHOD"] == "HEAD"
        if seconds := self._app.seconds_to_wait(environ):
            after = ("Retry-After", str(seconds))
            return _refused(start_response, "503 Service Unavailable", TOO_MUCH, after)
        if environ["REQUEST_METHOD"] not in _METHODS:
            allow = ("Allow", ", ".join(_METHODS))
            return _refused(start_response, "405 Method Not Allowed", "Use GET.", allow)
        try:
            found = None if asked is None else self._answer(asked)
            if found is None:
                sentence = "There is no such document."
                return _refused(start_response, "404 Not Found", sentence, is_head=is_head)
            return _sent(environ, start_response, *found)
        except dumps.PartChanged:
            sentence = "There is no such package any more; read the list again."
            return _refused(start_response, "404 Not Found", sentence, is_head=is_head)
        except SourceUnavailable as error:
            logger.warning("a request was answered with 503: %s", error)
            sentence, after = "Try again later.", ("Retry-After", _AFTER)
            return _refused(start_response, "503 Service Unavailable", sentence, after)

    # ------------------------------------------------------------------ documents

    def _answer(self, asked: AskedDocument) -> "tuple[str, str, Iterable[bytes] | BinaryIO] | None":
        """The type of an answer, the date of its content, and itself; None if there is none."""
        self._source.identify()  # a source may be brought up to date by it, as for OAI-PMH
        if asked.kind is None:
            return _XML, "", self._description()
        if asked.prefix not in {one.prefix for one in self._source.formats()}:
            return None
        if asked.kind is DocumentKind.CAPABILITIES:
            return _XML, "", self._capabilities(asked.prefix)
        if asked.kind is DocumentKind.RECORD:
            return self._record(asked)
        if asked.kind is DocumentKind.PACKAGE:
            assert asked.part is not None
            address = partial(self._record_address, asked.prefix)
            made = dumps.package(self._source, asked.prefix, asked.part, address, self._now())
            return "application/zip", "", made
        if asked.kind is DocumentKind.DUMP:
            return _XML, "", self._dump(asked.prefix)
        return _XML, "", self._list(asked)

    def _description(self) -> Iterator[bytes]:
        entries = [
            ResourceEntry(self._address(AskedDocument(DocumentKind.CAPABILITIES, one.prefix)), "",
                  {"capability": DocumentKind.CAPABILITIES})
            for one in self._source.formats()
        ]  # fmt: skip
        return written(Head({"capability": "description"}), entries)

    def _capabilities(self, prefix: str) -> Iterator[bytes]:
        head = Head(
            {"capability": DocumentKind.CAPABILITIES}, {"up": self._address(AskedDocument(None))}
        )
        entries = [
            ResourceEntry(self._address(AskedDocument(kind, prefix)), "", {"capability": kind})
            for kind in LISTS
        ]
        return written(head, entries)

    def _record(self, asked: AskedDocument) -> "tuple[str, str, Iterable[bytes]] | None":
        try:
            record = self._source.record(asked.identifier, asked.prefix)
        except (IdDoesNotExist, CannotDisseminateFormat):
            return None
        if record.metadata is None:
            return None
        return _XML, record.header.datestamp, [dumps.document_of(record)]

    def _list(self, asked: AskedDocument) -> Iterator[bytes]:
        """A resource list or a change list: whole, a part of it, or an index of its parts."""
        assert asked.kind is not None
        parts = [] if asked.part is not None else self._parts.of(asked.prefix, self._largest)
        links = {"up": self._address(AskedDocument(DocumentKind.CAPABILITIES, asked.prefix))}
        if len(parts) > 1:
            entries = [
                ResourceEntry(self._address(AskedDocument(asked.kind, asked.prefix, one)), "",
                      self._bounds(asked.kind, one) if asked.kind is DocumentKind.CHANGES else {})
                for one in parts
            ]  # fmt: skip
            said = {"capability": asked.kind, **self._bounds(asked.kind, ListPart())}
            return written(Head(said, links, is_index=True), entries)
        part = asked.part or ListPart()
        if not part.is_all:
            links["index"] = self._address(AskedDocument(asked.kind, asked.prefix))
        said = {"capability": asked.kind, **self._bounds(asked.kind, part)}
        return written(Head(said, links), self._entries(asked.kind, asked.prefix, part))

    def _bounds(self, kind: DocumentKind, part: ListPart) -> dict[str, str]:
        """Of what time a list is: the state now, or the changes of a while, open to the future."""
        if kind is not DocumentKind.CHANGES:
            return {"at": self._now()}
        since = part.after.datestamp if part.after else self._source.identify().earliest_datestamp
        return {"from": since, "until": part.last.datestamp if part.last else ""}

    def _entries(self, kind: DocumentKind, prefix: str, part: ListPart) -> Iterator[ResourceEntry]:
        for header in headers_of(self._source, prefix, part):
            address, stamp = self._record_address(prefix, header.identifier), header.datestamp
            if kind is DocumentKind.CHANGES:
                change = "deleted" if header.deleted else "updated"
                yield ResourceEntry(address, stamp, {"change": change, "datetime": stamp})
            elif not header.deleted:
                yield ResourceEntry(address, stamp, {"type": "application/xml"})

    def _dump(self, prefix: str) -> Iterator[bytes]:
        at = self._now()
        head = Head(
            {"capability": DocumentKind.DUMP, "at": at},
            {"up": self._address(AskedDocument(DocumentKind.CAPABILITIES, prefix))},
        )
        parts = self._parts.of(prefix, min(dumps.SIZE, self._largest))
        entries = [
            ResourceEntry(self._address(AskedDocument(DocumentKind.PACKAGE, prefix, one)), "",
                  {"at": at, "type": "application/zip"})
            for one in parts
        ]  # fmt: skip
        return written(head, entries)

    # ------------------------------------------------------------------ addresses and dates

    @property
    def _source(self) -> RecordSource:
        return self._app.source

    def _now(self) -> str:
        return format_datestamp(self._app.clock(), Granularity.SECOND)

    def _address(self, asked: AskedDocument) -> str:
        base = self._app.settings.base_url or self._source.identify().base_url
        if asked.kind is None:
            parts = urlsplit(base)
            return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}"
        return f"{base.rstrip('/')}/{path_of(asked)}"

    def _record_address(self, prefix: str, identifier: str) -> str:
        return self._address(AskedDocument(DocumentKind.RECORD, prefix, identifier=identifier))


# -------------------------------------------------------------------------- HTTP


def _raw_path(environ: "WSGIEnvironment") -> str:
    """The path as it was sent: identifiers may have slashes and percent signs of their own."""
    raw = environ.get("REQUEST_URI") or environ.get("RAW_URI")
    if raw:
        return urlsplit(str(raw)).path
    path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    return quote(path.encode("latin-1"), safe="/:@!$&'()*+,;=-._~")


def _sent(
    environ: "WSGIEnvironment",
    start_response: "StartResponse",
    kind: str,
    stamp: str,
    content: Iterable[bytes] | BinaryIO,
) -> Iterable[bytes]:
    headers = [("Content-Type", kind)]
    if stamp:
        modified = datetime.fromisoformat(stamp).replace(tzinfo=UTC)
        headers.append(("Last-Modified", format_datetime(modified, usegmt=True)))
    if environ["REQUEST_METHOD"] == "HEAD":
        if hasattr(content, "close"):
            content.close()
        start_response("200 OK", headers)
        return [b""]
    if hasattr(content, "read"):
        file: Any = content
        size = file.seek(0, 2)
        file.seek(0)
        start_response("200 OK", [*headers, ("Content-Length", str(size))])
        return _FilePieces(file)
    pieces = iter(content)
    first = next(pieces, b"")  # what cannot be answered is refused before anything is sent
    pieces = chain([first], pieces)
    headers.append(("Vary", "Accept-Encoding"))
    if accepts_gzip(environ.get("HTTP_ACCEPT_ENCODING", "")):
        headers.append(("Content-Encoding", "gzip"))
        pieces = _packed(pieces)
    start_response("200 OK", headers)
    return _gathered(pieces)


class _FilePieces:
    """A file as pieces; closed when they were sent, or nobody wants them any more."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __iter__(self) -> Iterator[bytes]:
        return iter(partial(self._file.read, _CHUNK), b"")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def _gathered(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces of some size: each is sent as a chunk of its own."""
    some: list[bytes] = []
    size = 0
    for piece in pieces:
        some.append(piece)
        size += len(piece)
        if size >= _CHUNK:
            yield b"".join(some)
            some, size = [], 0
    if size:
        yield b"".join(some)


def _refused(
    start_response: "StartResponse",
    status: str,
    sentence: str,
    *headers: tuple[str, str],
    is_head: bool = False,
) -> Iterable[bytes]:
    body = f"{sentence}\n".encode()
    told = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]
    start_response(status, [*told, *headers])
    return [b"" if is_head else body]
