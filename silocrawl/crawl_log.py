"""The crawl log, as Heritrix writes it: a line of 13 fields for each address (pure).

Source: `UriProcessingFormatter` of Heritrix 3; docs/crawl.md has the fields.
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

DNS, CONNECT, LOST, TIME, BAD_ADDRESS = -1, -2, -3, -4, -7
ROBOTS_UNKNOWN, OUT_OF_SCOPE, ROBOTS = -61, -5000, -9998
TLS, PRIVATE = CONNECT, OUT_OF_SCOPE
"""Statuses of what has no status of HTTP: those of Heritrix."""
_MOST_HOPS, _LONGEST_WORD = 50, 4_096
_NO_WORD = re.compile(r"[\x00-\x20\x7f-\xa0\ud800-\udfff]|\s")


@dataclass(frozen=True, slots=True)
class CrawlOutcome:
    """What became of an address.

    Attributes:
        timestamp: When the request began; 14 digits.
        url: The address.
        status_code: Of HTTP, or a negative one of Heritrix.
        mimetype: Media type as the server said it; ``unknown`` if it did not.
        content_digest: ``sha1:`` and base 32; empty without a body.
        size: Bytes of the body.
        hop_path, via, seed: See `silocrawl.messages.CrawlAddress`.
        launch, record: See `silocrawl.messages.CrawlAddress`.
        warc_filename, warc_offset: Where it is archived; empty and -1 if nowhere.
        redirect: Where the answer leads to; empty if nowhere.
        annotations: Such as ``duplicate:digest``.
    """

    timestamp: str
    url: str
    status_code: int
    mimetype: str = "unknown"
    content_digest: str = ""
    size: int = 0
    hop_path: str = ""
    via: str = ""
    seed: str = ""
    launch: str = ""
    record: str = ""
    warc_filename: str = ""
    warc_offset: int = -1
    redirect: str = ""
    documents: tuple[str, ...] = ()
    annotations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArchivePlace:
    """Where an address of a log is archived.

    Attributes:
        url: The address.
        seed: From which it was reached.
        filename, offset: The WARC file, and where in it the record begins.
    """

    url: str
    seed: str
    filename: str
    offset: int


def place_of(line: str) -> ArchivePlace | None:
    """Where the address of a line is archived; None if nowhere, or if the line is incomplete."""
    fields = line.split(None, 12)
    try:
        extra = json.loads(fields[12])
        return ArchivePlace(
            fields[3], fields[10], extra["warcFilename"], int(extra["warcFileOffset"])
        )
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
        return None


def line_of(one: CrawlOutcome, began: datetime, seconds: float, worker: int = 0) -> str:
    """Return the line of an outcome, with its line end.

    Its fields have no blanks and control characters, whatever servers and messages say.

    Args:
        one: What became of an address.
        began: When the request began, aware.
        seconds: How long it took.
        worker: Number of the worker.
    """
    ended = began + timedelta(seconds=seconds)
    has_begun = one.status_code > 0 or one.size
    start = f"{began.astimezone(UTC):%Y%m%d%H%M%S}{began.microsecond // 1000:03}"
    extra: dict[str, Any] = {"contentSize": one.size} if one.status_code > 0 else {}
    if one.warc_filename:
        extra |= {"warcFilename": one.warc_filename, "warcFileOffset": one.warc_offset}
    if one.redirect:  # its target, as documents, may have been fetched because of another page
        extra["redirecturl"] = one.redirect
    if one.documents:
        extra["documents"] = one.documents
    fields = (
        f"{ended.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{ended.microsecond // 1000:03}Z",
        f"{one.status_code:5}",
        f"{one.size if one.status_code > 0 else '-':>10}",
        one.url,
        _path(one.hop_path),
        one.via if one.hop_path else "-",
        one.mimetype or "unknown",
        f"#{worker:03}",
        f"{start}+{round(seconds * 1000)}" if has_begun else "-",
        one.content_digest or "-",
        one.seed or "-",
        ",".join(one.annotations) or "-",
        json.dumps(extra),
    )
    padded, extras = fields[:3], fields[-1]
    return " ".join([*padded, *map(as_word, fields[3:-1]), extras]) + "\n"


def as_word(text: str) -> str:
    """A text as one field of a line."""
    return _NO_WORD.sub("_", text)[:_LONGEST_WORD]


def _path(path: str) -> str:
    if len(path) > _MOST_HOPS:
        return f"{len(path) - _MOST_HOPS}+{path[-_MOST_HOPS:]}"
    return path or "-"
