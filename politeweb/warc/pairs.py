"""The records of WARC 1.1 files: files, exchanges, and requests without an answer.

Content is stored as the server sent it, in its content coding. Secrets are not stored: of a request
only the headers that identify the sender, of a response no cookies. The head of a response is as it
was received, but for fields that no longer hold: how long the content was, and its transfer coding.

Source: WARC 1.1 (ISO 28500:2017), sections 5, 6.2 to 6.4, and 6.6.
"""

import re
from base64 import b32encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha1
from http.client import responses as status_phrases
from random import getrandbits
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID

from politeweb.addresses import without_credentials
from politeweb.answers import Answer
from politeweb.settings import HttpSettings, own_name
from politeweb.warc.files import packed

if TYPE_CHECKING:
    from politeweb.exchange import Taken

CUT = "Silo-Cut"
"""Record field: why the content is shorter than announced."""
_TOLD_OF_US = ("User-Agent", "From", "Accept", "Accept-Encoding")
_NEVER_KEPT = frozenset({"set-cookie", "set-cookie2", "cookie", "authorization"})
_AS_RECEIVED = frozenset({"transfer-encoding", "content-length"})
_LINE_BREAKS = re.compile(r"[\r\n]+\s*")


def packed_warcinfo(filename: str, about: Mapping[str, str]) -> bytes:
    """Return a file's first record, with the program and other fields."""
    info = {
        "software": own_name(),
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        **about,
    }
    told = {name: without_credentials(value) for name, value in info.items()}
    date = _date(datetime.now(UTC))
    return _of_fields("warcinfo", told, {"WARC-Date": date, "WARC-Filename": filename})


def packed_metadata(
    url: str, began: datetime, said: Mapping[str, str], about: Mapping[str, str]
) -> bytes:
    """Return the record ``metadata`` of a request that had no answer.

    Args:
        began: When the request began, aware.
        said: The content: names and values.
        about: Further fields of the record.
    """
    return _of_fields(
        "metadata", said, {"WARC-Target-URI": url, "WARC-Date": _date(began), **about}
    )


def _of_fields(kind: str, said: Mapping[str, str], about: Mapping[str, str]) -> bytes:
    """A record whose content is fields."""
    lines = (f"{name}: {_one_line(value)}\r\n" for name, value in said.items())
    content = "".join(lines).encode("utf-8", "replace")
    block = _Block(kind, b"", lambda: [content], len(content))
    return b"".join(_record(block, {"WARC-Record-ID": _new_id(), **about}))


def packed_pair(
    answer: Answer, fields: Mapping[str, str], settings: HttpSettings, form: str = ""
) -> bytes:
    """Return the records ``request`` and ``response`` of an exchange, each a gzip member.

    Args:
        fields: Further fields of both records.
        settings: The settings of the request, for the headers that identify the sender.
        form: The body of a POST request, percent-encoded.
    """
    url = without_credentials(answer.url)
    body = form.encode("ascii") if settings.post else b""
    content = answer.body if answer.raw is None else answer.raw
    request = _Block("request", _request_head(url, len(body), settings), lambda: [body], len(body))
    response = _Block(
        "response", _response_head(answer, len(content)), lambda: [content], len(content),
        packs=answer.raw is None,
    )  # fmt: skip
    common = {
        "WARC-Target-URI": url,
        "WARC-Date": _date(answer.received or datetime.now(UTC)),
        **fields,
    }
    cut = {"WARC-Truncated": "disconnect", CUT: answer.cut} if answer.cut else {}
    return b"".join(_pair(request, response, common, cut))


@dataclass(frozen=True, slots=True)
class Revisit:
    """The earlier capture whose body an answer has, too.

    Attributes:
        url: Its address.
        date: Its WARC-Date.
        digest: Of its body, in base 32.
        is_unmodified: Whether the server said so (304), instead of sending the same body.
    """

    url: str
    date: str
    digest: str
    is_unmodified: bool = False

    @property
    def fields(self) -> dict[str, str]:
        """Return the fields of the record that refer to the earlier one (section 6.7)."""
        profile = "server-not-modified" if self.is_unmodified else "identical-payload-digest"
        return {
            "WARC-Profile": f"http://netpreserve.org/warc/1.1/revisit/{profile}",
            "WARC-Refers-To-Target-URI": self.url,
            "WARC-Refers-To-Date": self.date,
        }


def exchange_records(
    taken: "Taken", fields: Mapping[str, str], revisit: Revisit | None = None
) -> tuple[Iterator[bytes], Iterator[bytes]]:
    """Return the records ``response`` (or ``revisit``) and ``request``, each a gzip member.

    Both come in pieces. The body is read twice from where it is, and is never in memory as a
    whole.

    Args:
        taken: An exchange with an answer.
        fields: Further fields of both records.
        revisit: The earlier capture with the same body, which is then left out.
    """
    assert taken.head is not None, "there is no answer to record"
    body, first, second = taken.body, _new_id(), _new_id()
    common = {"WARC-Target-URI": taken.url, "WARC-Date": _date(taken.began), **fields}
    if revisit is None:
        response = _Block(
            "response", _kept_head(taken.head.raw, body.length), body.pieces, body.length,
            packs=not taken.head.get("content-encoding"), payload=body.digest,
        )  # fmt: skip
    else:
        length = None if revisit.is_unmodified else body.length
        head = _kept_head(taken.head.raw, length)
        response = _Block("revisit", head, tuple, 0, payload=revisit.digest)
        common |= revisit.fields
    about = {"WARC-IP-Address": taken.made.address, "WARC-Truncated": taken.truncated}
    answering = {"WARC-Record-ID": second, "WARC-Concurrent-To": first, **common}
    answering |= {name: value for name, value in about.items() if value}
    asking = {"WARC-Record-ID": first, "WARC-Concurrent-To": second, "WARC-Target-URI": taken.url}
    asking |= {"WARC-Date": _date(taken.began), **fields}
    sent = taken.sent
    request = _Block("request", taken.asked, lambda: [sent], len(sent))
    return _record(response, answering), _record(request, asking)


def resource_record(url: str, mimetype: str, content: bytes, moment: datetime) -> Iterator[bytes]:
    """Return a record ``resource``: content that no server sent, as the picture of a page.

    Args:
        url: Its name, such as ``urn:fullPage:http://example.org/``.
        mimetype: Its media type.
        moment: When it was made; aware.
    """
    about = {"WARC-Record-ID": _new_id(), "WARC-Target-URI": url, "WARC-Date": _date(moment)}
    block = _Block("resource", b"", lambda: [content], len(content), mimetype=mimetype)
    return _record(block, about)


# --------------------------------------------------------------------------- records


@dataclass(frozen=True, slots=True)
class _Block:
    """The content of a record.

    Attributes:
        kind: The type of the record.
        head: A head of HTTP; empty in records of fields.
        pieces: Returns the body; called twice.
        length: Bytes of the body.
        packs: Whether to compress it: content that is already compressed is not.
        payload: The digest of the body, if it is known.
        mimetype: Of content without a head of HTTP.
    """

    kind: str
    head: bytes
    pieces: Callable[[], Iterable[bytes]]
    length: int
    packs: bool = True
    payload: str = ""
    mimetype: str = "application/warc-fields"


def _pair(
    request: _Block, response: _Block, common: Mapping[str, str], answered: Mapping[str, str]
) -> Iterator[bytes]:
    first, second = _new_id(), _new_id()
    asking = {"WARC-Record-ID": first, "WARC-Concurrent-To": second, **common}
    answering = {"WARC-Record-ID": second, "WARC-Concurrent-To": first, **common, **answered}
    yield from _record(request, asking)
    yield from _record(response, answering)


def _record(block: _Block, fields: Mapping[str, str]) -> Iterator[bytes]:
    whole, payload = sha1(block.head, usedforsecurity=False), sha1(usedforsecurity=False)
    for piece in block.pieces():
        whole.update(piece)
        if not block.payload:
            payload.update(piece)
    is_http = block.kind not in {"warcinfo", "metadata", "resource"}
    message = "request" if block.kind == "request" else "response"
    of_kind = f"application/http; msgtype={message}" if is_http else block.mimetype
    lines = {"WARC-Type": block.kind, **fields}
    if is_http:
        lines["WARC-Payload-Digest"] = f"sha1:{block.payload or _base32(payload.digest())}"
    lines |= {
        "WARC-Block-Digest": f"sha1:{_base32(whole.digest())}",
        "Content-Type": of_kind,
        "Content-Length": str(len(block.head) + block.length),
    }
    said = "".join(f"{name}: {_one_line(value)}\r\n" for name, value in lines.items())
    begin = f"WARC/1.1\r\n{said}\r\n".encode() + block.head

    def pieces() -> Iterator[bytes]:
        yield begin
        yield from block.pieces()
        yield b"\r\n\r\n"

    yield from packed(pieces(), packs=block.packs)


@lru_cache(16)  # most requests have the same payload: none
def _base32(digest: bytes) -> str:
    return b32encode(digest).decode("ascii")


def _new_id() -> str:
    return f"<urn:uuid:{UUID(int=getrandbits(128), version=4)}>"  # asks the system for nothing


# --------------------------------------------------------------------------- heads


def _request_head(url: str, length: int, settings: HttpSettings) -> bytes:
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
    return _head(f"{'POST' if settings.post else 'GET'} {path} HTTP/1.1", headers)


def _response_head(answer: Answer, length: int) -> bytes:
    status = f"{answer.status} {status_phrases.get(answer.status, '')}".rstrip()
    head = _head(f"HTTP/1.1 {status}", list(answer.headers.items()))
    return _kept_head(head, length)


def _head(start: str, headers: list[tuple[str, str]]) -> bytes:
    lines = [start, *(f"{name}: {_one_line(value)}" for name, value in headers), ""]
    text = "".join(f"{line}\r\n" for line in lines)
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _kept_head(head: bytes, length: int | None) -> bytes:
    """Return a response's head, with fields that do not hold renamed, as in web archives.

    Args:
        head: As received.
        length: Bytes of the body; None without one.
    """
    said = None if length is None else b"%d" % length
    start, *lines = head.split(b"\n")
    kept, has_length = [start + b"\n"], False
    for field in _unfolded(lines):
        name, _, value = field.partition(b":")
        known = name.strip().lower().decode("latin-1")
        holds = known == "content-length" and value.strip() == said
        if known in _NEVER_KEPT or (holds and has_length):
            continue
        has_length = has_length or holds
        kept.append(field if holds or known not in _AS_RECEIVED else b"X-Archive-Orig-" + field)
    if not has_length and said is not None:
        kept.append(b"Content-Length: " + said + b"\r\n")
    return b"".join([*kept, b"\r\n"])


def _unfolded(lines: Iterable[bytes]) -> list[bytes]:
    """Return fields of one or several lines, up to the empty line."""
    fields: list[bytes] = []
    for line in lines:
        if line in {b"", b"\r"}:
            break
        if not line.strip():
            continue  # readers would take it for the end
        if line[:1] in {b" ", b"\t"} and fields:
            fields[-1] += line + b"\n"
        else:
            fields.append(line + b"\n")
    return fields


def _one_line(value: str) -> str:
    if "\n" in value or "\r" in value:
        value = _LINE_BREAKS.sub(" ", value)
    return value.strip()


def _date(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
