"""Outcomes of Heritrix: from lines of its crawl log or its messages to those of a queue (pure).

A message of ``uris-to-index`` has the fields that Heritrix's `AMQPCrawlLogFeed` sends, and for
what was read from a log also ``job`` and ``launch``. Source: `UriProcessingFormatter` and
`CrawlLogJsonBuilder` of Heritrix 3; shepherd, ``crawllogprocessor``.
"""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from silocrawl.crawl_log import as_word
from silocrawl.errors import MessageInvalid
from silocrawl.messages import INDEX, table_of
from silocrawl.moments import moment_or_none
from silocrawl.scope import LONGEST
from silowork.queues.values import Message

MOST_FIELDS = 13
_FIELDS = (
    "timestamp", "status_code", "content_length", "url", "hop_path", "via", "mimetype", "thread",
    "start_time_plus_duration", "content_digest", "seed",
)  # fmt: skip
"""Of a line of the log, by their names in a message."""
_BEGUN, _LAUNCH = re.compile(r"(\d{17})\+(\d{1,12})"), re.compile(r"(?:\d{14})?")
_WHEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_JOB = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,99})?")
_ARCHIVE = re.compile(r"[A-Za-z0-9_~%+@:,=-][A-Za-z0-9_.~%+@:,=-]{0,250}\.w?arc(?:\.gz|\.zst)?")
_NUMBER, _EXTRA = re.compile(r"-?\d{1,15}"), ' {"'


@dataclass(frozen=True, slots=True)
class Crawled:
    """What became of an address, as a Heritrix says it.

    Attributes:
        when: When the log was told, such as ``2026-11-24T06:11:49.123Z``.
        url: The address; also of ``dns:``.
        status: Of HTTP, or a negative one of Heritrix.
        size: Bytes of the content; -1 if there is none.
        hops: How it was reached, in letters; empty for a seed.
        via: Where it was found; empty for a seed.
        mimetype, digest: As in the log; empty if there is none.
        begun: When the request began (17 digits), and after ``+`` the milliseconds it took; empty
            if there was none.
        seed: The source tag; empty if the job does not tag.
        annotations: Such as ``duplicate:digest``.
        thread: Number of the thread.
        warc, offset: Where it is archived; empty and -1 if nowhere.
        job: Name of the job; empty if it is not known.
        launch: 14 digits, the name of its directory; empty if it is not known.
    """

    when: str
    url: str
    status: int
    size: int = -1
    hops: str = ""
    via: str = ""
    mimetype: str = ""
    digest: str = ""
    begun: str = ""
    seed: str = ""
    annotations: tuple[str, ...] = ()
    thread: int = 0
    warc: str = ""
    offset: int = -1
    job: str = ""
    launch: str = ""

    @property
    def is_archived(self) -> bool:
        """Whether it belongs into the index."""
        return bool(self.warc) and self.status > 0 and self.url.startswith(("http:", "https:"))

    @property
    def key(self) -> str:
        """Of its message: one fetch of an address has one, whoever tells of it."""
        return f"{self.url} {self.begun.partition('+')[0] or self.when}"

    @property
    def timestamp(self) -> str:
        """When it was fetched, or told; 14 digits."""
        return self.begun[:14] or re.sub(r"\D", "", self.when)[:14]


def crawled_in(line: bytes, job: str, launch: str) -> Crawled:
    """Read a line of a crawl log.

    Raises:
        MessageInvalid: It is none.
    """
    fields = line.decode("utf-8", "replace").split(None, MOST_FIELDS - 2)
    if len(fields) < MOST_FIELDS - 1:
        raise MessageInvalid("a line of a crawl log has at least 12 fields")
    said = ["" if one == "-" else one for one in fields[:-1]]
    notes, begin, rest = fields[-1].rstrip().partition(_EXTRA)
    extra: Any = {}
    with suppress(ValueError, RecursionError):
        extra = json.loads(f"{begin}{rest}" or "{}")
    if not isinstance(extra, dict):
        extra = {}
    return _checked({
        **dict(zip(_FIELDS, said, strict=True)),
        "annotations": notes.removesuffix(" {}"),
        "warc_filename": extra.get("warcFilename"),
        "warc_offset": extra.get("warcFileOffset"),
        "job": job,
        "launch": launch,
    })  # fmt: skip


def crawled_of(body: bytes) -> Crawled:
    """Read a message of the queue, which anybody may have put.

    Raises:
        MessageInvalid: It is none.
    """
    return _checked(
        {name: value for name, value in table_of(body).items() if value not in (None, "-")}
    )


def message_of(one: Crawled) -> Message:
    """The message of an outcome."""
    table: dict[str, Any] = {
        "timestamp": one.when,
        "url": one.url,
        "status_code": one.status,
        "content_length": one.size if one.size >= 0 else None,
        "hop_path": one.hops,
        "via": one.via,
        "mimetype": one.mimetype,
        "content_digest": one.digest,
        "start_time_plus_duration": one.begun,
        "seed": one.seed,
        "annotations": ",".join(one.annotations),
        "thread": one.thread,
        "warc_filename": one.warc,
        "warc_offset": one.offset if one.warc else None,
        "job": one.job,
        "launch": one.launch,
    }
    said = {name: value for name, value in table.items() if value not in ("", None)}
    return Message(INDEX, json.dumps(said).encode(), one.key)


def log_line(one: Crawled, redirect: str = "") -> str:
    """The line of an outcome in a log of ours, with its line end.

    Args:
        one: The outcome.
        redirect: Where the archived answer leads to, which Heritrix does not say.
    """
    extra: dict[str, Any] = {"contentSize": one.size} if one.size >= 0 else {}
    if one.warc:
        extra |= {"warcFilename": one.warc, "warcFileOffset": one.offset}
    if redirect:
        extra["redirecturl"] = redirect
    words = (
        one.url, one.hops or "-", one.via or "-", one.mimetype or "unknown", f"#{one.thread:03}",
        one.begun or "-", one.digest or "-", one.seed or "-", ",".join(one.annotations) or "-",
    )  # fmt: skip
    size = one.size if one.size >= 0 else "-"
    return (
        " ".join(
            [one.when, f"{one.status:5}", f"{size:>10}", *map(as_word, words), json.dumps(extra)]
        )
        + "\n"
    )


def without_extra(line: bytes) -> bytes:
    """What is the same in each line of an outcome, however often it is written."""
    return b" ".join(line.split(None, MOST_FIELDS - 1)[: MOST_FIELDS - 1])


def _checked(said: dict[str, Any]) -> Crawled:
    """An outcome of values that may be anything, by the names of the feed.

    Raises:
        MessageInvalid: Says what is wrong.
    """
    url, when, status = said.get("url"), _text(said.get("timestamp")), said.get("status_code")
    if not isinstance(url, str) or not 1 < len(url) <= LONGEST or as_word(url) != url:
        raise MessageInvalid("an outcome has no address, or one with blanks, or too long")
    if url.find(":") < 1:
        raise MessageInvalid(f"{url[:80]} is not an address")
    if not (_WHEN.fullmatch(when) and moment_or_none(re.sub(r"\D", "", when)[:14])):
        raise MessageInvalid("an outcome has no time such as 2026-11-24T06:11:49.123Z")
    if abs(code := _number(status, 10**6)) >= 10**5:
        raise MessageInvalid("an outcome has no status")
    warc = _text(said.get("warc_filename")).removesuffix(".open")
    offset = _number(said.get("warc_offset"), -1)
    if warc and not (_ARCHIVE.fullmatch(warc) and offset >= 0):
        raise MessageInvalid(f"{warc[:80]!r} is not a WARC file, or no place in it is said")
    job, launch = _text(said.get("job", said.get("jobName"))), _text(said.get("launch"))
    if not (_JOB.fullmatch(job) and _LAUNCH.fullmatch(launch)):
        raise MessageInvalid("the job or the launch of an outcome has other characters")
    begun, notes = _text(said.get("start_time_plus_duration")), said.get("annotations")
    notes = ",".join(map(str, notes)) if isinstance(notes, list) else _text(notes)
    return Crawled(
        when=when,
        url=url,
        status=code,
        size=max(_number(said.get("content_length", said.get("size")), -1), -1),
        hops=as_word(_text(said.get("hop_path"))),
        via=as_word(_text(said.get("via"))),
        mimetype=as_word(_text(said.get("mimetype"))),
        digest=as_word(_text(said.get("content_digest"))),
        begun=begun if _BEGUN.fullmatch(begun) and moment_or_none(begun[:14]) else "",
        seed=as_word(_text(said.get("seed"))),
        annotations=tuple(as_word(one) for one in notes.split(",") if one not in ("", "-")),
        thread=max(_number(str(said.get("thread", 0)).lstrip("#"), 0), 0),
        warc=warc,
        offset=offset if warc else -1,
        job=job,
        launch=launch,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any, otherwise: int) -> int:
    text = str(value) if not isinstance(value, bool) else ""
    return int(text) if _NUMBER.fullmatch(text) else otherwise
