"""Crawl logs and indexes, read into the tables of ``steps.sql`` block by block.

Source: Heritrix 3, `UriProcessingFormatter` (crawl.log) and `CrawlLogJsonBuilder` (the
same as JSON); the CDX formats of the Internet Archive, with 9 and 11 fields; CDXJ.
"""

import hashlib
import json
import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from typing import Any

import numpy as np

from crawlmatch.errors import CrawlError
from crawlmatch.rules import Rules
from crawlmatch.uris import redirect_target
from silosteps.engine import Engine
from silosteps.inputs import STDIN, open_input
from silosteps.lines import Block, blocks

PASSED_OVER = frozenset({"blank", "header", "prerequisite", "other record"})
"""Reasons of lines that say nothing about a page, and are sound; all other ones name a fault."""
_PRINTABLE = string.printable.replace("\x0b", "").replace("\x0c", "").encode()
_OTHER = re.compile(rb"[^\t\n\r -~]+")
_BLANK, _LF = ord(" "), ord("\n")
_LOCATIONS_AT_ONCE = 100_000


class Kind(StrEnum):
    """What an input is."""

    LOG = "crawl log"
    JSON = "JSON crawl log"
    CDX = "index"
    WARC = "WARC"
    SHARD = "shard"
    EARLIER = "earlier crawl"


_READ = {Kind.LOG: "read_log", Kind.JSON: "read_json"}
_CDX_FIELDS = {9: "NbamskrVg", 11: "NbamskrMSVg"}


@dataclass(frozen=True, slots=True)
class InputReceipt:
    """What was read of an input.

    Attributes:
        name: As given.
        kind: See `Kind`.
        sha256: Of the file's bytes; of standard input, of what came.
        size: Its bytes.
        lines: How many lines it has; of a WARC, records.
        reasons: How many of them say nothing about a page, by reason; see `PASSED_OVER`.
    """

    name: str
    kind: str
    sha256: str
    size: int
    lines: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def used(self) -> int:
        """How many lines tell of a page."""
        return self.lines - sum(self.reasons.values())

    @property
    def set_aside(self) -> int:
        """How many lines are none."""
        return sum(n for reason, n in self.reasons.items() if reason not in PASSED_OVER)

    def to_json(self) -> dict[str, Any]:
        """As JSON values; what is used and set aside as well."""
        return {
            "name": self.name, "kind": self.kind, "sha256": self.sha256, "size": self.size,
            "lines": self.lines, "used": self.used, "set_aside": self.set_aside,
            "reasons": dict(sorted(self.reasons.items())),
        }  # fmt: skip

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "InputReceipt":
        """The receipt that `to_json` gave."""
        names = ("name", "kind", "sha256", "size", "lines", "reasons")
        return cls(**{name: values[name] for name in names})


SetAside = Callable[[str, str, str], None]
"""Takes a line that is none: the input's name, the reason, the line."""


def file_digest(name: str) -> tuple[str, int]:
    """The SHA-256 of a file, and its size."""
    with open(name, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return digest, file.tell()


def kind_of_lines(first: bytes) -> Kind:
    """Which of the kinds of lines an input has, by its first lines."""
    for line in first.split(b"\n", 20):
        text = line.strip()
        if text.startswith(b"WARC/"):
            return Kind.WARC
        if text.startswith((b"CDX ", b"!")) or re.match(rb"\S+ \d{14} (\{|\S+ )", text):
            return Kind.CDX
        if text.startswith(b"{"):
            return Kind.JSON
        if text:
            break
    return Kind.LOG


def read_lines(
    engine: Engine, name: str, rules: Rules, *, source: int | None, set_aside: SetAside
) -> InputReceipt:
    """Read a log or an index into the tables ``event``, ``capture`` and ``location``.

    Args:
        name: A file, plain or compressed, or ``-``.
        source: See ``steps.sql``; None: 0 for a log, 1 for an index.
        set_aside: Called with each line that is none.

    Raises:
        InputUnreadable: It is not there, or breaks off.
        CrawlError: It is a WARC and comes from standard input.
    """
    digest = hashlib.sha256()
    with open_input(name) as stream:
        cut = blocks(stream)
        first = next(cut, None)
        kind = kind_of_lines(first.data[:100_000] if first else b"")
        if kind is Kind.WARC:
            raise CrawlError("a WARC cannot be read from standard input: name the file")
        reader = _Reader(engine, rules, kind, (kind is Kind.CDX) if source is None else source)
        lines = 0
        reasons: dict[str, int] = {}
        for block in chain([first] if first else [], cut):
            if name == STDIN:
                digest.update(block.data)
            lines += block.lines
            if block.cut:
                reasons["too-long"] = reasons.get("too-long", 0) + 1
                set_aside(name, "too-long", block.data[:10_000].decode("latin-1"))
                continue
            for reason, count in reader.read(block):
                reasons[reason] = reasons.get(reason, 0) + count
            for reason, line in reader.bad_lines():
                set_aside(name, reason, line)
    found, size = (digest.hexdigest(), -1) if name == STDIN else file_digest(name)
    return InputReceipt(name, kind, found, size, lines, reasons)


class _Reader:
    """Feeds blocks of one input to the steps."""

    def __init__(self, engine: Engine, rules: Rules, kind: Kind, source: int) -> None:
        self._engine, self._rules, self._kind, self._source = engine, rules, kind, int(source)
        self._fields = ""

    def read(self, block: Block) -> list[tuple[str, int]]:
        """Read a block; how many of its lines have which reason."""
        data = plain_lines(block.data)
        self._engine.table_of_lines("line", data)
        if self._kind is Kind.CDX:
            self._fields = self._fields or _cdx_fields(data)
            self._engine.run("read_cdx", fields=len(self._fields), **_places(self._fields))
            self._engine.run("cdx_captures")
        else:
            self._engine.run(_READ[self._kind])
        rows = self._engine.run("reasons").all()
        self._bad = any(reason and reason not in PASSED_OVER for reason, _ in rows)
        keep_rows(self._engine, self._rules, self._source)
        return [(reason, count) for reason, count in rows if reason]

    def bad_lines(self) -> Iterator[tuple[str, str]]:
        """The lines of the block that are none."""
        if self._bad:
            yield from self._engine.run("set_aside").all()


def escaped(data: bytes) -> bytes:
    """Lines with every byte that is not printable ASCII as ``%XX``, as Heritrix escapes it.

    So an address is the same whether a log has it escaped or not, whatever its charset;
    tabs and line ends stay.
    """
    if not data.translate(None, _PRINTABLE):
        return data
    return _OTHER.sub(lambda match: b"".join(b"%%%02X" % byte for byte in match[0]), data)


def plain_lines(data: bytes) -> bytes:
    """Lines as `escaped` gives them, with one blank for several and none where a line begins.

    So the fields of a line lie between single blanks. Line ends are LF.
    """
    data = escaped(data)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").removesuffix(b"\r")
    letters = np.frombuffer(data, np.uint8)
    is_blank = letters == _BLANK
    keeps = np.empty(len(letters), bool)
    keeps[:1] = ~is_blank[:1]
    np.logical_not(is_blank[:-1] | (letters[:-1] == _LF), out=keeps[1:])
    keeps[1:] |= ~is_blank[1:]
    return letters[keeps].tobytes()


def keep_rows(engine: Engine, rules: Rules, source: int) -> None:
    """Put what was just read into the tables ``event`` and ``location``, redirects resolved."""
    engine.run("judge_types", hits=rules.hits, pages=rules.pages)
    engine.run("keep_events", source=source)
    found = engine.run("redirects").all()
    for begin in range(0, len(found), _LOCATIONS_AT_ONCE):
        pairs = [
            (url, target)
            for url, location in found[begin : begin + _LOCATIONS_AT_ONCE]
            if (target := redirect_target(url, location)) is not None and target != url
        ]
        engine.table("located", columns(("url", "target"), pairs))
        engine.run("add_locations")


def columns(names: tuple[str, ...], rows: list[Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Rows as columns of texts."""
    made = {}
    for place, name in enumerate(names):
        column = np.empty(len(rows), dtype=object)
        column[:] = [row[place] for row in rows]
        made[name] = column
    return made


def _cdx_fields(data: bytes) -> str:
    """The letters of an index's fields, by its header or by how many it has."""
    for line in data.split(b"\n", 20):
        parts = line.decode("latin-1").split()
        if parts[:1] == ["CDX"]:
            return "".join(part[0] for part in parts[1:])
        if parts and not parts[0].startswith("!"):
            return _CDX_FIELDS.get(len(parts), _CDX_FIELDS[11])
    return _CDX_FIELDS[11]


def _places(fields: str) -> dict[str, int]:
    return {letter: fields.find(letter) + 1 for letter in "abmskr"}


def set_aside_line(name: str, reason: str, line: str) -> bytes:
    """A line that is none, as a line of JSON."""
    shown = {"input": name, "reason": reason, "line": line}
    return json.dumps(shown, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"


def merged(receipts: list[InputReceipt]) -> list[InputReceipt]:
    """Each input once, whichever parts it came with; in the order of their digests' names."""
    once = {(one.sha256, one.kind): one for one in reversed(receipts)}
    return sorted(
        (replace(one, reasons=dict(one.reasons)) for one in once.values()),
        key=lambda one: (one.kind, one.name, one.sha256),
    )
