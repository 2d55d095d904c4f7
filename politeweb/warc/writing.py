"""Write responses as received to WARC 1.1 files, each with its request.

Content is stored as the server sent it, in its content coding. Secrets are not stored: of a request
only the headers that identify the sender, of a response no cookies.

Source: WARC 1.1 (ISO 28500:2017), sections 6.2 to 6.4 and annex D.
"""

import fcntl
import os
import re
import threading
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha1
from http.client import responses as status_phrases
from urllib.parse import urlsplit
from uuid import uuid4

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from politeweb.addresses import without_credentials
from politeweb.answers import Answer
from politeweb.settings import HttpSettings, own_name
from politeweb.warc.files import GzipMember, WarcName, warc_names, whole_length

CUT = "Silo-Cut"
"""Record field: why the content is shorter than announced."""

ROTATE_AT = 1_000_000_000
_TOLD_OF_US = ("User-Agent", "From", "Accept", "Accept-Encoding")
_NEVER_KEPT = frozenset({"set-cookie", "set-cookie2", "cookie", "authorization"})
_AS_RECEIVED = frozenset({"transfer-encoding", "content-length"})
_LINE_BREAKS = re.compile(r"[\r\n]+\s*")


class WarcFiles:
    """A series of WARC files to which many threads may append records.

    The first record creates a file. After a kill, the last file is continued, after an incomplete
    record was cut off. When `append` returns, the operating system has the data.

    Args:
        directory: The files' directory; created with the first record.
        series: The prefix of their names: a UTC time (``20261121T211331.123456Z``).
        about: The fields of each file's ``warcinfo``.
        rotate_at: Bytes after which the next file begins.
    """

    def __init__(
        self, directory: str, series: str, about: Mapping[str, str], rotate_at: int = ROTATE_AT
    ) -> None:
        self._directory = directory
        self._series = series
        self._about = dict(about)
        self._rotate_at = rotate_at
        self._lock = threading.Lock()
        self._file = -1
        self._size = 0
        self._name = ""

    def append(self, records: bytes) -> tuple[str, int]:
        """Write complete records, all into one file.

        Returns:
            The file's name, and the place in it where the records begin.

        Raises:
            OSError: The disk refused; the files are unchanged.
        """
        with self._lock:
            if self._file < 0 or self._size >= self._rotate_at:
                self._open_next()
            place = self._name, self._size
            self._write(records)
            return place

    def flush(self) -> None:
        """Return once all records are on the medium.

        Raises:
            OSError: Flushing failed.
        """
        with self._lock:
            file = os.dup(self._file) if self._file >= 0 else -1
        if file >= 0:  # others may write meanwhile, or begin the next file
            try:
                os.fsync(file)
            finally:
                os.close(file)

    def close(self) -> None:
        """Close the file; another record opens it again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open_next(self) -> None:
        if self._file >= 0:
            os.fsync(self._file)
        self._close()
        os.makedirs(self._directory, exist_ok=True)
        known = warc_names(self._directory, self._series)
        if not known or not self._go_on_with(str(known[-1])):
            self._begin(str(WarcName(self._series, known[-1].number + 1 if known else 1)))
        for path in (self._directory, os.path.dirname(os.path.abspath(self._directory))):
            _flush_directory(path)

    def _begin(self, name: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._file = os.open(os.path.join(self._directory, name), flags, 0o666)
        self._name = name
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._size = 0
        self._write(packed_warcinfo(name, self._about))

    def _go_on_with(self, name: str) -> bool:
        """Open an existing file, cut off an incomplete record; return False if not continued."""
        with open(os.path.join(self._directory, name), "r+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
            size = whole_length(file)
            if size >= self._rotate_at:
                return False
            file.truncate(size)
            self._file = os.dup(file.fileno())
            self._name = name
        self._size = os.lseek(self._file, size, os.SEEK_SET)
        if size == 0:
            self._write(packed_warcinfo(name, self._about))
        return True

    def _write(self, content: bytes) -> None:
        """Append; after an error, cut off the incomplete part, so that the file stays valid."""
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            os.ftruncate(self._file, self._size)
            os.lseek(self._file, self._size, os.SEEK_SET)
            error.filename = error.filename or os.path.join(self._directory, self._name)
            raise
        self._size += len(content)


def _flush_directory(path: str) -> None:
    """Flush the names in a directory; without them, a power failure loses flushed files."""
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


# --------------------------------------------------------------------------- records


def packed_warcinfo(filename: str, about: Mapping[str, str]) -> bytes:
    """Return a file's first record, with the program and other fields."""
    info = {
        "software": own_name(),
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        **about,
    }
    member = GzipMember()
    writer = WARCWriter(member, gzip=False, warc_version="1.1")
    cleaned = {name: _one_line(without_credentials(value)) for name, value in info.items()}
    writer.write_record(writer.create_warcinfo_record(filename, cleaned))
    return member.packed()


@dataclass(frozen=True, slots=True)
class _Message:
    """One side of an exchange.

    Attributes:
        kind: ``request`` or ``response``.
        head: The HTTP head.
        content: The body.
        is_plain: Whether to compress it: content that is already compressed is not.
    """

    kind: str
    head: StatusAndHeaders
    content: bytes
    is_plain: bool = True


def packed_pair(
    answer: Answer, fields: Mapping[str, str], settings: HttpSettings, form: str = ""
) -> bytes:
    """Return the records ``request`` and ``response`` of an exchange, each a gzip member.

    Args:
        answer: The response.
        fields: Further fields of both records.
        settings: The settings of the request, for the headers that identify the sender.
        form: The body of a POST request, percent-encoded.
    """
    url = without_credentials(answer.url)
    common = {
        "WARC-Target-URI": url,
        "WARC-Date": _date(answer.received or datetime.now(UTC)),
        **{name: _one_line(value) for name, value in fields.items()},
    }
    body = form.encode("ascii") if settings.post else b""
    request = _Message("request", _request_head(url, len(body), settings), body)
    content = answer.body if answer.raw is None else answer.raw
    is_plain = answer.raw is None
    response = _Message("response", _response_head(answer, len(content)), content, is_plain)
    first, second = f"<urn:uuid:{uuid4()}>", f"<urn:uuid:{uuid4()}>"
    asking = {"WARC-Record-ID": first, "WARC-Concurrent-To": second, **common}
    answering = {"WARC-Record-ID": second, "WARC-Concurrent-To": first, **common}
    if answer.cut:
        answering |= {"WARC-Truncated": "disconnect", CUT: _one_line(answer.cut)}
    return _packed(request, asking) + _packed(response, answering)


def _packed(message: _Message, fields: Mapping[str, str]) -> bytes:
    member = GzipMember(packs=message.is_plain)
    writer = WARCWriter(member, gzip=False, warc_version="1.1")
    record = writer.create_warc_record(
        fields["WARC-Target-URI"],
        message.kind,
        payload=_AtOnce(message.content),
        length=len(message.content),
        warc_headers_dict={**fields, "WARC-Type": message.kind, **_digests(message)},
        http_headers=message.head,
    )
    writer.write_record(record)
    return member.packed()


class _AtOnce:
    """A source of a record's content for warcio, which requests 16 kB at a time and gets all."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self, _size: int = -1) -> bytes:
        """Return all content; then nothing."""
        content, self._content = self._content, b""
        return content


def _digests(message: _Message) -> dict[str, str]:
    """Return the digests that warcio would compute in pieces of 16 kB, each computed at once."""
    message.head.compute_headers_buffer()
    block = sha1(message.head.headers_buff, usedforsecurity=False)
    block.update(message.content)
    payload = sha1(message.content, usedforsecurity=False)
    return {
        f"WARC-{of}-Digest": f"sha1:{b32encode(found.digest()).decode('ascii')}"
        for of, found in (("Payload", payload), ("Block", block))
    }


def _request_head(url: str, length: int, settings: HttpSettings) -> StatusAndHeaders:
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    said = settings.headers
    headers = [("Host", parts.netloc)]
    headers += [(name, said[name]) for name in _TOLD_OF_US if name in said]
    if settings.post:
        headers += [
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("Content-Length", str(length)),
        ]
    method = "POST" if settings.post else "GET"
    return StatusAndHeaders(f"{method} {path} HTTP/1.1", headers, is_http_request=True)


def _response_head(answer: Answer, length: int) -> StatusAndHeaders:
    """Return the response's head, with transfer headers renamed, as in web archives."""
    phrase = status_phrases.get(answer.status, "")
    headers = [
        (f"X-Archive-Orig-{name}" if name.lower() in _AS_RECEIVED else name, _one_line(value))
        for name, value in answer.headers.items()
        if name.lower() not in _NEVER_KEPT
        and not (name.lower() == "content-length" and value == str(length))
    ]
    headers.append(("content-length", str(length)))
    return StatusAndHeaders(f"{answer.status} {phrase}".rstrip(), headers, protocol="HTTP/1.1")


def _one_line(value: str) -> str:
    return _LINE_BREAKS.sub(" ", value).strip()


def _date(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
