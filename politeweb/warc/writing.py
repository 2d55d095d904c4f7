"""Answers as received, written to WARC 1.1 files, each with its request.

Evidence: content is kept as the server sent it, in its content coding. No secret is
kept: of a request only the headers that say who asked, of a response no cookie.

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
from importlib.metadata import version
from urllib.parse import urlsplit
from uuid import uuid4

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from politeweb.addresses import without_credentials
from politeweb.answers import Answer
from politeweb.settings import HttpSettings
from politeweb.warc.files import GzipMember, WarcName, warc_names, whole_length

CUT = "Silo-Cut"
"""Record field: why the content is less than was announced."""

ROTATE_AT = 1_000_000_000
_TOLD_OF_US = ("User-Agent", "From", "Accept", "Accept-Encoding")
_NEVER_KEPT = frozenset({"set-cookie", "set-cookie2", "cookie", "authorization"})
_AS_RECEIVED = frozenset({"transfer-encoding", "content-length"})
_LINE_BREAKS = re.compile(r"[\r\n]+\s*")


class WarcFiles:
    """A series of WARC files that records are appended to; usable by many threads.

    A file is begun with the first record. Where a process was killed, its last file is
    gone on with, after what it left half-written was cut off. What `append` was given is
    with the operating system when it returns.

    Args:
        directory: Where the files go; made with the first record.
        series: Begins their names: a UTC time (``20261121T211331.123456Z``).
        about: What is said in each file's ``warcinfo``.
        rotate_at: Bytes after which the next file is begun.
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

    def append(self, records: bytes) -> None:
        """Write whole records, all in one file.

        Raises:
            OSError: The disk refused; the files are as they were.
        """
        with self._lock:
            if self._file < 0 or self._size >= self._rotate_at:
                self._open_next()
            self._write(records)

    def close(self) -> None:
        """Close the file; a further record opens it again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open_next(self) -> None:
        self._close()
        os.makedirs(self._directory, exist_ok=True)
        known = warc_names(self._directory, self._series)
        if known and self._go_on_with(str(known[-1])):
            return
        name = str(WarcName(self._series, known[-1].number + 1 if known else 1))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._file = os.open(os.path.join(self._directory, name), flags, 0o666)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._size = 0
        self._write(packed_warcinfo(name, self._about))

    def _go_on_with(self, name: str) -> bool:
        """Open a file that there is, cut off what is no whole record; False if it is not to be."""
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
        self._size = os.lseek(self._file, size, os.SEEK_SET)
        if size == 0:
            self._write(packed_warcinfo(name, self._about))
        return True

    def _write(self, content: bytes) -> None:
        """Append; what an error left half-written is taken back, so that the file stays whole."""
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            os.ftruncate(self._file, self._size)
            os.lseek(self._file, self._size, os.SEEK_SET)
            raise
        self._size += len(content)


# --------------------------------------------------------------------------- records


def packed_warcinfo(filename: str, about: Mapping[str, str]) -> bytes:
    """A file's first record: by which program, and what else is said of it."""
    info = {
        "software": f"recordsilo/{version('recordsilo')}",
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
        content: What follows it.
        is_plain: Whether compressing it pays: what came compressed is not compressed again.
    """

    kind: str
    head: StatusAndHeaders
    content: bytes
    is_plain: bool = True


def packed_pair(
    answer: Answer, fields: Mapping[str, str], settings: HttpSettings, form: str = ""
) -> bytes:
    """The records ``request`` and ``response`` of one exchange, a gzip member each.

    Args:
        answer: What came.
        fields: Further fields of both records.
        settings: How the request was sent, for what it said of its sender.
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
    """What warcio reads a record's content from: it asks for 16 kB at a time, and gets it all."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self, _size: int = -1) -> bytes:
        """All there is; after that, nothing."""
        content, self._content = self._content, b""
        return content


def _digests(message: _Message) -> dict[str, str]:
    """What warcio would compute, in one look each: it reads by 16 kB, and hashes between."""
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
    """The answer's head; what it said of chunks and length has other names, as in web archives."""
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
