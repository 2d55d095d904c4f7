"""Read crawl logs and indexes into the tables of ``steps.sql``, block by block.

Source: Heritrix 3, `UriProcessingFormatter` (crawl.log) and `CrawlLogJsonBuilder` (the JSON form);
the CDX formats of the Internet Archive, with 9 and 11 fields; CDXJ.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import string
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from crawlmatch.errors import CrawlError, NothingUsed
from crawlmatch.plan import cdx_places, keep_events
from crawlmatch.receipts import PASSED_OVER, InputKind, InputReceipt
from crawlmatch.rules import LineRules
from crawlmatch.uris import redirect_target
from recordsilo.extras import later
from silosteps.engine import Engine
from silosteps.inputs import GZIP, STDIN, open_input
from silosteps.lines import blocks

if TYPE_CHECKING:
    import numpy as np
else:
    np = later("numpy", "silo crawl", "crawl")

_PRINTABLE = string.printable.replace("\x0b", "").replace("\x0c", "").encode()
_OTHER = re.compile(rb"[^\t\n\r -~]+")
_BLANK, _LF = ord(" "), ord("\n")
_LOCATIONS_AT_ONCE = 100_000
_PIECE = 1 << 17
"""Bytes of lines whose arrays need no new pages of memory; larger ones cost three times as much."""
_BLOCK = 16 << 20
"""Bytes of lines at once; smaller blocks cost more CPU, larger ones more memory."""
_LINES = 1_000_000
"""Most lines at once: a block has more only if they are too short to be of a log."""
_SHORT = 100
"""Lines that are shorter on the average may be blank ones, of which there may be billions."""


_READ = {InputKind.LOG: "read_log", InputKind.JSON: "read_json"}
_CDX_FIELDS = {9: "NbamskrVg", 11: "NbamskrMSVg"}


SetAside = Callable[[str, str], None]
"""Called with a malformed line: the reason, the line."""


def file_digest(name: str) -> tuple[str, int]:
    """Return the SHA-256 of a file, and its size."""
    with open(name, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return digest, file.tell()


def kind_of_lines(first: bytes) -> InputKind:
    """Return the kind of an input of lines, by its first lines."""
    for line in first.split(b"\n", 20):
        text = line.strip()
        if text.startswith(b"WARC/"):
            return InputKind.WARC
        if text.startswith((b"CDX ", b"!")) or re.match(rb"\S+ \d{14} (\{|\S+ )", text):
            return InputKind.CDX
        if text.startswith(b"{"):
            return InputKind.JSON
        if text:
            break
    return InputKind.LOG


def kind_of_file(name: str) -> InputKind:
    """Return the kind of a file by its first bytes, also if it is compressed and truncated.

    Raises:
        InputUnreadable: It does not exist, or cannot be decompressed.
    """
    with open_input(name) as stream:
        if not stream.compressed:
            return kind_of_lines(stream.read(4096) or b"")
    with open(name, "rb") as file:
        packed = file.read(1 << 16)
    if packed.startswith(GZIP):
        with contextlib.suppress(zlib.error):
            return kind_of_lines(zlib.decompressobj(zlib.MAX_WBITS + 16).decompress(packed, 4096))
        return InputKind.LOG  # the reader reports that it is truncated
    with open_input(name) as stream:
        return kind_of_lines(stream.read(4096) or b"")


def read_lines(
    engine: Engine,
    name: str,
    rules: LineRules,
    *,
    source: int | None,
    set_aside: SetAside,
    after_logs: bool = False,
) -> InputReceipt:
    """Read a log or an index into the tables ``event``, ``capture`` and ``location``.

    Args:
        engine: Gets the rows.
        name: A file, plain or compressed, or ``-``.
        rules: What counts as a full text.
        source: See ``steps.sql``; None: 0 for a log, 1 for an index.
        set_aside: Called with each malformed line.
        after_logs: Whether logs were read before. Then lines of an index are kept only as captures,
            and `crawlmatch.plan.merge` makes events of those about pages of no log.

    Raises:
        InputUnreadable: It does not exist, or is truncated.
        NothingUsed: A million of its lines are malformed, and none tells of a page.
        CrawlError: It is a WARC on standard input.
    """
    digest = hashlib.sha256()
    with open_input(name) as stream:
        cut = blocks(stream, size=_BLOCK)
        first = next(cut, None)
        kind = kind_of_lines(first.data[:100_000] if first else b"")
        if kind is InputKind.WARC:
            raise CrawlError("a WARC cannot be read from standard input; name the file")
        source = (kind is InputKind.CDX) if source is None else source
        reader = _InputReader(engine, rules, kind, source=source, set_aside=set_aside)
        reader.events_later = after_logs and kind is InputKind.CDX
        total = 0
        reasons: dict[str, int] = {}
        for block in chain([first] if first else [], cut):
            if name == STDIN:
                digest.update(block.data)
            lines = block.lines
            total += lines
            if block.cut:
                reasons["too-long"] = reasons.get("too-long", 0) + 1
                set_aside("too-long", block.data[:10_000].decode("latin-1"))
                continue
            for reason, count in reader.read(block.data, lines):
                reasons[reason] = reasons.get(reason, 0) + count
                if not reader.used:
                    _check_bad(name, reasons)
    found, size = (digest.hexdigest(), -1) if name == STDIN else file_digest(name)
    return InputReceipt(name, kind, found, size, total, reasons, reader.scopes)


def _check_bad(name: str, reasons: Mapping[str, int]) -> None:
    """Give up an input of which no line was used, instead of setting aside each of its lines.

    Prerequisites show that it is a log.
    """
    bad = sum(count for reason, count in reasons.items() if reason not in PASSED_OVER)
    if bad >= _LINES and not reasons.get("prerequisite"):
        raise NothingUsed(sum(reasons.values()), name)


class _InputReader:
    """Passes blocks of one input to the steps; `used` says whether any line tells of a page."""

    def __init__(
        self, engine: Engine, rules: LineRules, kind: InputKind, *, source: int, set_aside: SetAside
    ) -> None:
        self._engine, self._rules, self._kind, self._source = engine, rules, kind, int(source)
        self._set_aside = set_aside
        self._fields = ""
        self.used = self.events_later = False
        self.scopes: dict[str, int] | None = None if kind is InputKind.CDX else {}

    def read(self, data: bytes, lines: int) -> Iterator[tuple[str, int]]:
        """Read so many lines; yield reasons, and the number of lines that each has set aside."""
        data = plain_lines(data)
        if lines > _LINES or lines * _SHORT > len(data):
            yield from self._read_short(without_blanks(data), lines)
        else:
            yield from self._read(data)

    def _read_short(self, data: bytes, lines: int) -> Iterator[tuple[str, int]]:
        """Read lines of which most are too short for a log, in parts; blank ones are dropped."""
        read = 0
        for part in _parts(data):
            read += part.count(b"\n") + (not part.endswith(b"\n"))
            yield from self._read(part)
        if blank := lines - read:
            yield "blank", blank

    def _read(self, data: bytes) -> list[tuple[str, int]]:
        self._engine.table_of_lines("line", data)
        if self._kind is InputKind.CDX:
            self._fields = self._fields or _cdx_fields(data) or "-"
            self._engine.run("read_cdx", **cdx_places(self._fields))
            later = self._fields if self.events_later else ""
            self._engine.run("cdx_captures", fields=later, source=self._source)
        else:
            self._engine.run(_READ[self._kind])
        rows = self._engine.run("reasons").all()
        if any(reason and reason not in PASSED_OVER for reason, _ in rows):
            for batch in self._engine.run("set_aside").rows():
                for reason, line in batch:
                    self._set_aside(reason, line)
        self.used = self.used or any(not reason for reason, _ in rows)
        if not self.events_later:
            keep_events(self._engine, self._rules, self._source)
        keep_links(self._engine)
        if self.scopes is not None:
            for scope, count in self._engine.run("scopes").all():
                self.scopes[scope] = self.scopes.get(scope, 0) + count
        return [(reason, count) for reason, count in rows if reason]


def _parts(data: bytes) -> Iterator[bytes]:
    """Yield lines in parts of at most `_LINES`; without any, nothing."""
    if data.count(b"\n") <= _LINES:
        yield from [data] if data else []
        return
    lines = data.split(b"\n")
    for begin in range(0, len(lines), _LINES):
        if part := b"\n".join(lines[begin : begin + _LINES]):
            yield part


def escaped(data: bytes) -> bytes:
    """Escape every byte that is not printable ASCII as ``%XX``, as Heritrix does.

    So an address is the same in a log that escapes it and in one that does not, in any charset.
    Tabs and line ends stay.
    """
    if not data.translate(None, _PRINTABLE):
        return data
    return _OTHER.sub(lambda match: b"".join(b"%%%02X" % byte for byte in match[0]), data)


def plain_lines(data: bytes) -> bytes:
    """Escape lines as `escaped` does, fold repeated spaces, and remove leading spaces.

    So single spaces separate the fields of a line. Line ends are LF.
    """
    data = escaped(data)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").removesuffix(b"\r")
    pieces, begin = [], 0
    while begin < len(data):
        end = data.find(b"\n", begin + _PIECE) + 1 or len(data)
        pieces.append(_folded(np.frombuffer(data, np.uint8, end - begin, begin)))
        begin = end
    return b"".join(pieces)


def _folded(letters: np.ndarray[Any, Any]) -> memoryview:
    """Drop each space after another one, and those at the beginning of a line."""
    dropped = letters == _BLANK
    ends = dropped | (letters == _LF)
    dropped[1:] &= ends[:-1]
    folded: memoryview = letters[~dropped].data
    return folded


def without_blanks(lines: bytes) -> bytes:
    """Drop the blank lines, of which a small packed file may have billions."""
    if not lines.startswith(b"\n") and b"\n\n" not in lines:
        return lines
    letters = np.frombuffer(lines, np.uint8)
    dropped = letters == _LF
    dropped[1:] &= dropped[:-1].copy()
    kept: bytes = letters[~dropped].tobytes()
    return kept


def keep_links(engine: Engine) -> None:
    """Add the links of the rows just read to ``location`` and ``edge``, and resolve redirects."""
    found = engine.run("redirects").all()
    for begin in range(0, len(found), _LOCATIONS_AT_ONCE):
        pairs = [
            (url, target)
            for url, location in found[begin : begin + _LOCATIONS_AT_ONCE]
            if (target := redirect_target(url, location)) is not None and target != url
        ]
        engine.table("located", columns(("url", "target"), pairs))
        engine.run("add_locations")
    links = [(one, page) for page, said in engine.run("documents").all() for one in _texts(said)]
    if links:
        engine.table("linked", columns(("child", "parent"), links))
        engine.run("add_documents")


def _texts(said: str | None) -> list[str]:
    """The texts of a JSON array; none for any other value."""
    try:
        found = json.loads(said or "[]")
    except ValueError:
        return []
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def columns(names: tuple[str, ...], rows: list[Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Return rows as columns of texts."""
    made = {}
    for place, name in enumerate(names):
        column = np.empty(len(rows), dtype=object)
        column[:] = [row[place] for row in rows]
        made[name] = column
    return made


def _cdx_fields(data: bytes) -> str:
    """Return the letters of an index's fields, from its header or their number."""
    for line in data.split(b"\n", 20):
        parts = line.decode("latin-1").split()
        if parts[:1] == ["CDX"]:
            return "".join(part[0] for part in parts[1:])
        if parts and not parts[0].startswith("!"):
            return _CDX_FIELDS.get(len(parts), _CDX_FIELDS[11])
    return _CDX_FIELDS[11]


def set_aside_line(name: str, reason: str, line: str) -> bytes:
    """Return a malformed line as a line of JSON."""
    shown = {"input": name, "reason": reason, "line": line}
    return json.dumps(shown, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"
