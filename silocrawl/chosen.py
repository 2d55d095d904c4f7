"""Which captures belong to records, to a target or to a launch: a table that needs no memory.

The log of a launch says which seed each address was reached from, and where it is archived;
the index says how long that record is, and has what was taken in from elsewhere.
"""

import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from crawlmatch.errors import BadAddress
from crawlmatch.record_links import links_of_records
from recordsilo import Silo
from recordsilo.disk.regular_file import regular_fd
from recordsilo.selection import Selection
from silocrawl.addresses import DOM, PICTURE, REQUESTS, TEXT, fetched_form
from silocrawl.cdxj import Segments, key_of
from silocrawl.crawl_log import place_of
from silocrawl.paths import log_files

MOST_LOOKED_UP = 5_000
"""Keys that are looked up one by one; for more, the whole index is read."""
REVISIT = "warc/revisit"
_AT_ONCE = 1_000
_SEEN = re.compile(r"urn:[A-Za-z]+:(?P<url>http.*)")
_LOG = re.compile(r"(?P<target>.+)-(?P<time>\d{8}T\d{6}Z)\.log")
_SCHEMA = """
CREATE TABLE seed (url TEXT PRIMARY KEY, key TEXT) WITHOUT ROWID;
CREATE INDEX key_of_seed ON seed (key);
CREATE TABLE capture (
  filename TEXT, offset INTEGER, key TEXT, line TEXT, place INTEGER, length INTEGER,
  PRIMARY KEY (filename, offset)) WITHOUT ROWID;
CREATE INDEX key_of_capture ON capture (key);
"""


@dataclass(frozen=True, slots=True)
class IndexLine:
    """A line of the index.

    Attributes:
        key, timestamp: What it is sorted by.
        fields: The rest.
    """

    key: str
    timestamp: str
    fields: dict[str, Any]

    @classmethod
    def read(cls, text: str) -> "IndexLine":
        """Read a line.

        Raises:
            ValueError: It is not one.
        """
        key, timestamp, table = text.split(" ", 2)
        return cls(key, timestamp, json.loads(table))

    def __str__(self) -> str:
        return f"{self.key} {self.timestamp} {json.dumps(self.fields)}\n"

    @property
    def place(self) -> tuple[str, int]:
        """The file, and where in it the record begins."""
        return str(self.fields["filename"]), int(self.fields["offset"])


class ChosenCaptures:
    """Captures, each once, and where they were written to; in a temporary file if they are many."""

    def __init__(self, index: Segments) -> None:
        self._index = index
        self._base = sqlite3.connect("")
        self._base.executescript(_SCHEMA)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._base.close()

    # ------------------------------------------------------------------ choosing

    def add_all(self) -> None:
        """Choose every capture of the index."""
        for text in self._index.find("", is_prefix=True):
            self.add(IndexLine.read(text))

    def add_logs(self, paths: Iterable[str]) -> None:
        """Choose what is archived of the addresses in crawl logs."""
        self._add_logs(paths, "")
        self._look_up()

    def add_records(self, silo: Silo, selection: Selection) -> None:
        """Choose what was reached from the links of records, and all captures of the links."""
        for link in links_of_records(silo, selection):
            try:
                url = fetched_form(link.url)
                row = url, key_of(url)
            except (BadAddress, ValueError):
                continue  # such a link was never fetched
            self._base.execute("INSERT OR IGNORE INTO seed VALUES (?, ?)", row)
        self._add_logs(logs_of(silo.path), "WHERE EXISTS (SELECT 1 FROM seed WHERE url = ?4)")
        self._look_up()

    def add(self, line: IndexLine) -> None:
        """Choose a capture."""
        row = (*line.place, line.key, str(line))
        sql = (
            "INSERT INTO capture VALUES (?, ?, ?, ?, NULL, NULL)"
            " ON CONFLICT DO UPDATE SET line = excluded.line WHERE line IS NULL"
        )
        self._base.execute(sql, row)

    def _add_logs(self, paths: Iterable[str], condition: str) -> None:
        sql = f"INSERT OR IGNORE INTO capture SELECT ?1, ?2, ?3, NULL, NULL, NULL {condition}"
        for path in paths:
            with open(path, encoding="utf-8", errors="surrogateescape", opener=regular_fd) as file:
                for text in file:
                    if (one := place_of(text)) is not None:
                        row = one.filename, one.offset, key_of(one.url), one.seed
                        self._base.execute(sql, row if condition else row[:3])

    def _look_up(self) -> None:
        """Find the lines of what logs name; what has none was fetched again (a killed crawl)."""
        keys = "SELECT key FROM capture UNION SELECT key FROM seed"
        some = [key for (key,) in self._base.execute(f"{keys} LIMIT {MOST_LOOKED_UP + 1}")]
        if len(some) > MOST_LOOKED_UP:
            self._note(self._index.find("", is_prefix=True))
        else:
            for key in some:
                self._note(self._index.find(key))
        self._add_seen(are_many=len(some) > MOST_LOOKED_UP)

    def _add_seen(self, *, are_many: bool) -> None:
        """Choose what a browser showed of the pages: records of the same moment."""
        if are_many:
            self._note_seen(self._index.find("urn:", is_prefix=True))
            return
        sql = "SELECT line FROM capture WHERE line LIKE '%\"text/html\"%'"
        for (text,) in self._base.execute(sql).fetchall():
            url = IndexLine.read(text).fields["url"]
            for name in (PICTURE, DOM, TEXT, REQUESTS):
                self._note_seen(self._index.find(key_of(f"{name}{url}")))

    def _note_seen(self, lines: Iterable[str]) -> None:
        known = "SELECT 1 FROM capture WHERE key = ? AND instr(line, ?) = 1"
        for line in map(IndexLine.read, lines):
            if page := _SEEN.fullmatch(line.fields["url"]):
                key = key_of(page["url"])
                if self._base.execute(known, (key, f"{key} {line.timestamp} ")).fetchone():
                    self.add(line)

    def _note(self, lines: Iterable[str]) -> None:
        known = (
            "SELECT 1 FROM capture WHERE filename = ? AND offset = ?"
            " UNION ALL SELECT 1 FROM seed WHERE key = ?"
        )
        for line in map(IndexLine.read, lines):
            if self._base.execute(known, (*line.place, line.key)).fetchone():
                self.add(line)

    # ------------------------------------------------------------------ what is chosen

    def __len__(self) -> int:
        (count,) = self._base.execute("SELECT count(*) FROM capture WHERE line > ''").fetchone()
        return int(count)

    def pending(self) -> Iterator[IndexLine]:
        """Yield what was not yet written, by files and places, also what is chosen meanwhile."""
        sql = (
            "SELECT line FROM capture WHERE line > '' AND place IS NULL"
            " ORDER BY filename, offset LIMIT ?"
        )
        while some := self._base.execute(sql, (_AT_ONCE,)).fetchall():
            for (text,) in some:
                yield IndexLine.read(text)

    def written(self, line: IndexLine, place: int, length: int) -> None:
        """Note where a capture is now; -1 for one that cannot be read."""
        sql = "UPDATE capture SET place = ?, length = ? WHERE filename = ? AND offset = ?"
        self._base.execute(sql, (place, length, *line.place))

    def lines(self, filename: str) -> Iterator[IndexLine]:
        """Yield the lines of what was written, sorted, as they are for a file of that name."""
        sql = "SELECT line, place, length FROM capture WHERE place >= 0 ORDER BY line"
        for text, place, length in self._base.execute(sql):
            line = IndexLine.read(text)
            new = {"offset": str(place), "length": str(length), "filename": filename}
            yield IndexLine(line.key, line.timestamp, line.fields | new)

    def origin_of(self, line: IndexLine, url: str, timestamp: str) -> IndexLine | None:
        """The capture that has the body of a revisit; None if the index has none.

        Args:
            line: The line of the revisit.
            url, timestamp: What it refers to; empty if it does not say.
        """
        key, found = line.key, None
        with suppress(ValueError):  # an address that is none
            key = key_of(url) if url else key
        for one in map(IndexLine.read, self._index.find(key)):
            is_same = one.fields["digest"] == line.fields["digest"]
            if is_same and one.fields["mime"] != REVISIT:
                found = one
                if one.timestamp == timestamp:
                    break
        return found


def logs_of(silo_path: str, target: str = "") -> list[str]:
    """The paths of the crawl logs of all launches, or of those of a target, sorted."""
    names = ((one, _LOG.fullmatch(os.path.basename(one))) for one in log_files(silo_path))
    return [one for one, m in names if not target or (m and m["target"] == target)]


def launches_of(silo_path: str) -> list[str]:
    """The names of the launches that have a log, such as ``links/20261201T020000Z``, oldest first.

    ``injected`` is among them if single addresses were crawled.
    """
    names = [os.path.basename(one) for one in logs_of(silo_path)]
    found = [(m["time"], f"{m['target']}/{m['time']}") for m in map(_LOG.fullmatch, names) if m]
    injected = ["injected"] if "injected.log" in names else []
    return [*injected, *(name for _, name in sorted(found))]
