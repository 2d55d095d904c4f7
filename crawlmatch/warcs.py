"""Read captures from WARC files: address, time, status and redirects.

Source: WARC 1.1 (ISO 28500:2017), sections 6.3 (response) and 6.7 (revisit).
"""

import io
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, cast

from warcio.exceptions import ArchiveLoadFailed

from crawlmatch.inputs import columns, escaped, file_digest, keep_links
from crawlmatch.plan import keep_events
from crawlmatch.receipts import InputKind, InputReceipt
from crawlmatch.rules import LineRules
from politeweb.warc.records import warc_records
from silosteps.engine import Engine
from silosteps.errors import InputUnreadable
from silosteps.inputs import ZSTD, open_input

DAMAGED = (
    ArchiveLoadFailed, EOFError, ValueError, AttributeError, OverflowError, zlib.error,
    InputUnreadable,
)  # fmt: skip
"""Errors of warcio 1.8 for a malformed record: AttributeError if a header is truncated or has no
target URI, OverflowError if a length exceeds 2**63."""
_STATUS = re.compile("[0-9]{3}")
_OTHER_THAN_DIGITS = re.compile("[^0-9]+")
_AT_ONCE = 20_000
_COLUMNS = ("url", "ts", "status", "size", "mime", "sha1", "kind", "redirect", "line")


@dataclass(frozen=True, slots=True)
class Capture:
    """A response or a revisit in a WARC.

    Attributes:
        ts: The time in 14 digits; "" if the record does not have it.
        status: The HTTP status; 0 if the record does not have it.
        size: Size of the stored body in bytes; -1 if unknown.
        offset: Offset of the record in the file.
        length: Its length in the file.
    """

    url: str
    ts: str
    status: int
    size: int
    mime: str
    sha1: str
    is_revisit: bool
    redirect: str
    offset: int
    length: int

    def cdx(self, name: str) -> str:
        """Return the capture as a line of an index, without a key."""
        mime = "warc/revisit" if self.is_revisit else self.mime or "-"
        return (
            f"- {self.ts} {self.url} {mime} {self.status or '-'} {self.sha1 or '-'} "
            f"{self.redirect or '-'} - {self.length} {self.offset} {name}"
        )


@contextmanager
def opened_warc(name: str) -> Iterator[BinaryIO]:
    """Open a WARC: plain or with one gzip member per record, as warcio reads it, or Zstandard.

    Raises:
        InputUnreadable: It does not exist.
    """
    try:
        with open(name, "rb") as file:
            is_zstandard = file.read(4) == ZSTD
    except OSError as error:
        raise InputUnreadable(name, error.strerror or str(error)) from error
    if is_zstandard:
        with open_input(name) as stream:
            yield cast(BinaryIO, io.BufferedReader(stream))
    else:
        with open(name, "rb") as file:
            yield file


def captures(file: BinaryIO, passed_over: "Counter[str]") -> Iterator[Capture]:
    """Yield the captures in a WARC; count the other records.

    Raises:
        ArchiveLoadFailed: The next record is malformed.
    """
    iterator = warc_records(file)
    for record in iterator:
        found = capture_of(record)
        offset = iterator.get_record_offset()  # reads the record to its end
        passed_over["records"] += 1
        if record.length is None or getattr(record.raw_stream, "limit", 0) > 0:
            passed_over["broken"] += 1
        elif found is None:
            passed_over["other record"] += 1
        else:
            yield replace(found, offset=offset, length=iterator.get_record_length())
    if file.seekable() and iterator.offset < file.seek(0, os.SEEK_END):
        passed_over["records"] += 1
        passed_over["broken"] += 1


def capture_of(record: Any) -> Capture | None:
    """Return what a record captured; None if it is not a response to a request for a page."""
    if record.rec_type not in {"response", "revisit", "resource"}:
        return None
    headers, http = record.rec_headers, record.http_headers
    url = headers.get_header("WARC-Target-URI") or ""
    date = _OTHER_THAN_DIGITS.sub("", headers.get_header("WARC-Date") or "")[:14]
    if ":" not in url or url.startswith(("dns:", "whois:")) or len(date) != 14:
        return None
    code = http.get_statuscode() if http else ""
    usual = 200 if record.rec_type == "resource" else 0
    status = int(code) if _STATUS.fullmatch(code or "") else usual
    about = headers if record.rec_type == "resource" else http
    mime = (about.get_header("Content-Type") if about else None) or ""
    return Capture(
        url=plain(url.strip("<>")),
        ts=date,
        status=status,
        size=_size(record),
        mime=plain(mime.partition(";")[0].strip()).replace(" ", ""),
        sha1=plain(headers.get_header("WARC-Payload-Digest") or "").removeprefix("sha1:"),
        is_revisit=record.rec_type == "revisit",
        redirect=plain((http.get_header("Location") if http else None) or ""),
        offset=0,
        length=0,
    )


def read_warc(engine: Engine, name: str, rules: LineRules, *, source: int) -> InputReceipt:
    """Read a WARC into the tables ``event``, ``capture`` and ``location``.

    A truncated file, such as one of a killed crawler, is read up to its end; the receipt
    counts the incomplete record with the reason ``broken``.

    Raises:
        OSError: It cannot be read.
    """
    passed: Counter[str] = Counter()
    rows: list[tuple[Any, ...]] = []
    short = name.rpartition("/")[2]
    with opened_warc(name) as file:
        try:
            for one in captures(file, passed):
                rows.append(
                    (one.url, one.ts, str(one.status), str(one.size), one.mime, one.sha1,
                     "revisit" if one.is_revisit else "", one.redirect, one.cdx(short))
                )  # fmt: skip
                if len(rows) >= _AT_ONCE:
                    _add(engine, rules, source, rows)
                    rows = []
        except DAMAGED:
            passed["records"] += 1
            passed["broken"] += 1
    _add(engine, rules, source, rows)
    digest, size = file_digest(name)
    lines = passed.pop("records", 0)
    return InputReceipt(name, InputKind.WARC, digest, size, lines, dict(passed))


def _add(engine: Engine, rules: LineRules, source: int, rows: list[tuple[Any, ...]]) -> None:
    if rows:
        engine.table("warc_row", columns(_COLUMNS, rows))
        engine.run("warc_rows").run("warc_captures")
        keep_events(engine, rules, source)
        keep_links(engine)


def plain(text: str) -> str:
    """Return a header's text in printable ASCII, with other bytes escaped."""
    return escaped(text.encode("utf-8", "surrogateescape")).decode("ascii").strip()


def _size(record: Any) -> int:
    """Return the length of the stored body without HTTP headers; -1 if unknown."""
    return -1 if record.rec_type == "revisit" else int(getattr(record.raw_stream, "limit", -1))
