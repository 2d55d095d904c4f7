"""The index of the archives: CDXJ lines in sorted files, each of which is whole.

pywb reads a directory of them again when it changes. A line that is appended out of order to
a file is not found by anybody, so lines are never appended: each moment adds a file, and files
are merged now and then. Source: pywb, *CDXJ Format*; OutbackCDX for the 11 fields.
"""

import fcntl
import heapq
import json
import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from typing import Any, BinaryIO

from recordsilo.contributions import warn_once
from recordsilo.disk.atomic_file import flush_directory, make_parents
from recordsilo.disk.regular_file import open_regular
from recordsilo.extras import later
from silocrawl.crawl_log import CrawlOutcome

MOST_SEGMENTS = 16
"""Files of the same size class, after which the older ones are merged."""
NEWEST = 4
"""Files that are not merged yet, so that who follows the index by numbers reads a line once."""
_NAME = re.compile(r"(\d{6,})-(\d)\.cdxj")
_SURT = later("surt", "The index of crawls", "crawl")


_PLAIN = re.compile(
    r"https?://(?!www)((?:[a-z0-9-]{1,63}\.)*[a-z][a-z-]{1,62})(:(?:[1-9][0-9]{3}|[1-5][0-9]{4}))?"
    r"((?:/[A-Za-z0-9_-]+)*/(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)?)"
)
"""Most of the addresses whose key needs no rule of `surt` but those of `_plain_key`."""


@lru_cache(10_000)
def key_of(url: str) -> str:
    """The key by which an index has an address, such as ``org,example)/a?b=c``."""
    plain = _PLAIN.fullmatch(url)
    return _plain_key(*plain.groups()) if plain else str(_SURT.surt(url))


def _plain_key(host: str, port: str | None, path: str) -> str:
    path = path.lower().rstrip("/") or "/"
    return f"{','.join(reversed(host.split('.')))}{port or ''}){path}"


def minute_of(timestamp: str) -> str:
    """A time of 14 digits for people, such as ``2026-03-01 02:30``; UTC."""
    at = timestamp
    return f"{at[:4]}-{at[4:6]}-{at[6:8]} {at[8:10]}:{at[10:12]}"


def line_of(one: CrawlOutcome, length: int) -> str:
    """Return the CDXJ line of an archived outcome, with its line end.

    Args:
        one: The outcome; it has a file and a place in it.
        length: Bytes of its record, compressed; -1 if they are not known.
    """
    is_revisit = any(note.startswith("duplicate:") for note in one.annotations)
    table: dict[str, Any] = {
        "url": one.url,
        "mime": "warc/revisit" if is_revisit else one.mimetype.split(";")[0].strip(),
        "status": str(one.status_code) if one.status_code > 0 else "-",
        "digest": one.content_digest.removeprefix("sha1:") or "-",
        "length": str(length) if length >= 0 else "-",
        "offset": str(one.warc_offset),
        "filename": one.warc_filename,
    }
    if one.redirect:
        table["redirect"] = one.redirect
    return f"{key_of(one.url)} {one.timestamp} {json.dumps(table)}\n"


class Segments:
    """The files of an index; processes write them one at a time, any number reads.

    A file has a number that is higher than all earlier ones. What is merged has the number of
    the newest of its parts, so all lines of the files up to a number stay in files up to it.

    Args:
        directory: Where they are; it need not exist.
        below: The Silo that it is in, if it is in one; see `make_within`.
    """

    def __init__(self, directory: str, below: str = "") -> None:
        self.directory, self._below = directory, below

    def add(self, lines: Iterable[str]) -> None:
        """Write lines as a new file, on the medium when this returns; merge if there are many."""
        if found := sorted(set(lines)):
            self.add_sorted(found)

    def add_sorted(self, lines: Iterable[str]) -> None:
        """Write lines that are sorted, of which there may be any number, as `add` does."""
        with self._alone():
            names = self.names()
            self._write(lines, number_of(names[-1]) + 1 if names else 1, 0)
            self._merge()

    def find(self, key: str, *, is_prefix: bool = False) -> Iterator[str]:
        """Yield the lines of a key, or of all keys that begin so, sorted.

        Args:
            key: See `key_of`.
            is_prefix: Whether keys that begin with it are meant.
        """
        begin = key.encode() if is_prefix else f"{key} ".encode()
        with ExitStack() as stack:
            parts = [_lines_from(file, begin) for file in self._opened(stack)]
            last = b""
            for line in heapq.merge(*parts):
                if line != last and line.endswith(b"\n"):
                    last = line
                    yield line.decode()

    def _opened(self, stack: ExitStack) -> list[BinaryIO]:
        """All files of one moment; if one was merged meanwhile, its lines are in a newer one."""
        while True:
            with ExitStack() as attempt, suppress(FileNotFoundError):
                paths = [os.path.join(self.directory, name) for name in self.names()]
                files = [attempt.enter_context(open_regular(path)) for path in paths]
                stack.push(attempt.pop_all())
                return files

    def names(self) -> list[str]:
        """The names of the files, the oldest first."""
        with suppress(FileNotFoundError):
            names = (one for one in os.listdir(self.directory) if _NAME.fullmatch(one))
            return sorted(names, key=lambda name: (number_of(name), name))
        return []

    @contextmanager
    def _alone(self) -> Iterator[None]:
        make_parents(f"{self.directory}/x", self._below)
        place = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(place, fcntl.LOCK_EX)
            yield
        finally:
            os.close(place)

    def _write(self, lines: Iterable[str], number: int, level: int) -> None:
        path = os.path.join(self.directory, f"{number:06}-{level}.cdxj")
        staged = f"{path}.tmp"
        with open(staged, "w", encoding="utf-8") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        os.rename(staged, path)
        flush_directory(self.directory)

    def _merge(self) -> None:
        """Merge the files of a level when there are many; a kill leaves lines twice, not lost.

        A damaged file is not merged, as what is whole in the others would be found no more.
        """
        for level in range(9):
            mine = [one for one in self.names() if one.endswith(f"-{level}.cdxj")]
            if len(mine) < MOST_SEGMENTS:
                return
            del mine[-NEWEST:]
            paths = [os.path.join(self.directory, one) for one in mine]
            try:
                with ExitStack() as stack:
                    files = [stack.enter_context(open_regular(path)) for path in paths]
                    parts = heapq.merge(*map(_whole, files))
                    merged = (line.decode() for line in _once(parts))
                    self._write(merged, number_of(mine[-1]), level + 1)
            except ValueError as error:
                warn_once(f"files of the index are damaged, and are not merged: {error}")
                return
            for path in paths:
                os.unlink(path)


def number_of(name: str) -> int:
    """The number of a file of the index."""
    return int(name.partition("-")[0])


def _whole(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file.

    Raises:
        ValueError: It is not sorted, or its last line has no end.
    """
    last = b""
    for line in file:
        if line < last or not line.endswith(b"\n"):
            raise ValueError(file.name)
        last = line
        yield line


def _once(lines: Iterable[bytes]) -> Iterator[bytes]:
    last = b""
    for line in lines:
        if line != last:
            last = line
            yield line


def _lines_from(file: Any, begin: bytes) -> Iterator[bytes]:
    """The lines of a sorted file that begin with something, found by halving."""
    place = _Offsets(file)
    file.seek(place.line_at(bisect_left(place, begin)))
    for line in file:
        if not line.startswith(begin):
            return
        yield line


class _Offsets:
    """A file as a sequence of the lines that begin at or after each place, for `bisect`."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: int) -> bytes:
        self._file.seek(self.line_at(place))
        return bytes(self._file.readline()) or b"\xff"

    def line_at(self, place: int) -> int:
        """Where the first line that begins at or after a place begins."""
        if place == 0:
            return 0
        self._file.seek(place - 1)
        self._file.readline()
        return int(self._file.tell())
