"""What the logs of a checkpoint say: when its crawl began, and which WARC files it has."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from recordsilo.disk.regular_file import open_regular
from silocrawl.moments import logged, moment_or_none
from silocrawl.packages.values import LogRange, PackagingError, check_warc_name

_NAMED = re.compile(rb'"warcFilename"\s*:\s*"[^"\\]*"')
_FOUND = re.compile(rb"stream: (\S{1,200}) FOUND")
"""An annotation of UKWA's `ViralContentProcessor`: ``1: stream: Eicar-Test-Signature FOUND``."""
_LONGEST, _PIECE = 1 << 20, 1 << 20


@dataclass(slots=True)
class LogFacts:
    """What crawl logs say.

    Attributes:
        started: When the first of their addresses was fetched; None without lines.
        lines: How many there are.
        answered: Of them, those with an answer, which are in a WARC file.
        warcs: The WARC files that they name, each with the number of its lines.
        viral: What was found in those of them that have something harmful.
    """

    started: datetime | None = None
    lines: int = 0
    answered: int = 0
    warcs: dict[str, int] = field(default_factory=dict)
    viral: dict[str, str] = field(default_factory=dict)


def facts_of(logs: Iterable[LogRange]) -> LogFacts:
    """Read the crawl logs among some logs; lines may have 12 fields, and be in any encoding.

    Raises:
        PackagingError: A log cannot be read, or names what cannot be a WARC file.
    """
    facts = LogFacts()
    last, spelled = "", b""
    for one in logs:
        for line in lines_of(one) if one.is_crawl else ():
            fields = line.split(None, 11)
            if len(fields) < 11:
                continue
            facts.lines += 1
            facts.answered += fields[1].isdigit() and fields[1] != b"0"
            begun = _moment(fields) if facts.started is None else None
            facts.started = begun or facts.started
            if not spelled or spelled not in line:  # most lines name the file of the line before
                last, spelled = _named(line, fields)
            if last:
                facts.warcs[last] = facts.warcs.get(last, 0) + 1
                if found := _FOUND.search(fields[-1]):
                    facts.viral.setdefault(last, found[1].decode("ascii", "replace"))
    return facts


def lines_of(one: LogRange) -> Iterator[bytes]:
    """Yield the complete lines of a part of a log; of a line that is too long, the begin.

    Raises:
        PackagingError: It cannot be read.
    """
    try:
        with open_regular(one.path) as file:
            file.seek(one.begin)
            end = one.end if one.end >= 0 else os.fstat(file.fileno()).st_size
            while (left := end - file.tell()) > 0:
                line = file.readline(min(left, _LONGEST))
                if not line:
                    raise PackagingError(f"the log {one.path} is shorter than it was")
                while not line.endswith(b"\n") and file.tell() < end:
                    if file.readline(min(_LONGEST, end - file.tell())).endswith(b"\n"):
                        break
                yield line
    except OSError as error:
        raise PackagingError(f"the log {one.path} cannot be read: {error.strerror}") from None


def _named(line: bytes, fields: list[bytes]) -> tuple[str, bytes]:
    """The WARC file that a line names, and how; empty if it names none.

    An annotation may have blanks and braces, so the JSON is what can be read as that at the end.
    """
    found = _NAMED.search(fields[-1])
    at = line.find(b" {")
    while found and at >= 0:
        try:
            name = json.loads(line[at:])["warcFilename"]
        except (ValueError, LookupError, TypeError, RecursionError):
            at = line.find(b" {", at + 1)
        else:
            return (check_warc_name(name), found[0]) if isinstance(name, str) else ("", b"")
    return "", b""


def _moment(fields: list[bytes]) -> datetime | None:
    """When the address of a line was begun, or else when it was done."""
    when, begun = (fields[at].decode("ascii", "replace") for at in (0, 8))
    return moment_or_none(begun[:14]) if begun[:14].isdigit() else logged(when)
