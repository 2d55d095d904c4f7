"""Follows the crawl log of a job, over its checkpoints and launches.

A checkpoint renames ``crawl.log`` to ``crawl.log.cp00001-20261124061149`` and begins an empty one;
a launch has a directory of its own. How far the log was read is kept with its outcomes in one
transaction. Source: Heritrix 3.4.0-20220727 and 3.13.0, which name and rotate logs alike.
"""

import json
import logging
import os
import re
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TypeVar

from recordsilo.disk.regular_file import open_regular
from silocrawl.errors import CrawlingError, MessageInvalid
from silocrawl.heritrix.asking import PAUSES
from silocrawl.heritrix.client import Heritrix
from silocrawl.heritrix.errors import AnswerInvalid, FileNotThere, HeritrixJobNotFound
from silocrawl.heritrix.noted import LAUNCH
from silocrawl.heritrix.outcomes import crawled_in, message_of
from silocrawl.messages import INDEX
from silowork.queues.values import Message, Queues

MOST_READ = 1 << 20
"""Bytes of the log that are read at a time; of which a line has at most one."""
MOST_KEPT = 4_096
"""Bytes of a line that is none, which are kept to be looked at."""
CURRENT = "crawl.log"
_JOB_LOG, _ENDED = "job.log", re.compile(rb" FINISHED (\d{14,17})\b")
"""The log of a job, which is never renamed; and what it says at the end of a launch."""
_REPORT, _STATUS = "reports/crawl-report.txt", re.compile(rb"(?m)^crawl status: ([^\r\n]+)")
"""What a launch writes at its end, below its directory; and how it says how it ended."""
_OLD = re.compile(r"crawl\.log\.cp(\d{1,9})-(\d{1,17})")

T = TypeVar("T")
logger = logging.getLogger("silocrawl")


class LogChanged(CrawlingError):
    """A log is not what was read of it before."""


@dataclass(frozen=True, slots=True)
class JobAfar:
    """The files of a job that a Heritrix sends."""

    heritrix: Heritrix
    job: str

    def names(self, path: str) -> list[str]:
        """The names in a directory below that of the job; none if it is not there."""
        return self._tried(lambda: self.heritrix.names(self.job, path), [])

    def read(self, path: str, start: int, most: int) -> bytes:
        """Bytes of a file, from a position on; none behind its end, or if it is not there."""
        return self._tried(lambda: self.heritrix.read(self.job, path, start, most), b"")

    def _tried(self, ask: Callable[[], T], otherwise: T) -> T:
        """Ask, again if it fails: 3.13.0 now and then answers 500 for a log that is growing.

        Seen on 2026-11-28: Jetty logs a WritePendingException, and "content-length 335 != 0
        written".
        """
        for pause in PAUSES:
            try:
                return ask()
            except FileNotThere:
                return otherwise
            except AnswerInvalid as error:
                if error.status < 500:
                    raise
                time.sleep(pause)
        return ask()


@dataclass(frozen=True, slots=True)
class JobHere:
    """The files of a job in a directory; see `JobAfar`.

    Raises (every method):
        HeritrixJobNotFound: The directory is not there.
        OSError: It cannot be read.
    """

    directory: str

    def names(self, path: str) -> list[str]:
        with suppress(FileNotFoundError, NotADirectoryError):
            return os.listdir(self._path(path))
        return []

    def read(self, path: str, start: int, most: int) -> bytes:
        with suppress(FileNotFoundError), open_regular(self._path(path), follow=False) as file:
            file.seek(start)
            return file.read(most)
        return b""

    def _path(self, path: str) -> str:
        try:
            is_there = stat.S_ISDIR(os.stat(self.directory).st_mode)
        except FileNotFoundError:
            is_there = False
        if not is_there:
            raise HeritrixJobNotFound(os.path.basename(self.directory))
        return os.path.join(self.directory, path)


@dataclass(frozen=True, slots=True)
class Reached:
    """How far the log of a job was read.

    Attributes:
        launch: The directory of a launch; empty before the first.
        done: The part that was read last to its end; empty before the first.
        position: Bytes that were read of the part after it.
        cut: Whether a line that is too long was begun.
    """

    launch: str = ""
    done: str = ""
    position: int = 0
    cut: bool = False

    @classmethod
    def of(cls, mark: str) -> "Reached":
        """Read a mark; an empty one is that of a job of which nothing was read.

        Raises:
            CrawlingError: It is none.
        """
        try:
            found = cls(**json.loads(mark or "{}"))
            _ = found.position + 1, _order(found.done), found.launch + ""
        except (ValueError, TypeError, RecursionError):
            raise CrawlingError(f"the mark of a crawl log is damaged: {mark[:100]}") from None
        return found


class Tail:
    """Reads the log of a job into the queue of outcomes.

    Args:
        queues: Where they are put, and how far the log was read is noted.
        job: Its name.
        files: Its directory.
    """

    def __init__(self, queues: Queues, job: str, files: JobAfar | JobHere) -> None:
        self.job = job
        self._queues, self._files = queues, files
        self._mark = f"tail {job}"
        self.reached = Reached.of(queues.mark(self._mark))
        self.lines = self.new = self.refused = 0
        self._job_log = _JobLog(files)

    def read_once(self) -> bool:
        """Read the next piece of the log; return whether there was anything.

        Raises:
            LogChanged: The log is shorter than what was read of it.
            CrawlingError, OSError: It cannot be read; nothing is lost.
        """
        launches = sorted(filter(LAUNCH.fullmatch, self._files.names("")))
        now = self.reached
        if not now.launch:
            return bool(launches) and self._keep([], Reached(launches[0]), "")
        parts = self._parts()
        name = parts[0] if parts else CURRENT
        path, place = f"{now.launch}/logs/{name}", now.position
        content = self._files.read(path, place, MOST_READ)
        if self._parts() != parts:
            return True  # it was renamed meanwhile: what was read may be of the next part
        whole, after = _whole_lines(content, now)
        if whole:
            return self._keep(whole, after, f"{path} {place}")
        is_last = name == CURRENT
        later = [one for one in launches if one > now.launch]
        if is_last and not later:
            if place and not content and not self._files.read(path, place - 1, 1):
                raise LogChanged(f"{path} of the job {self.job} is shorter than what was read")
            return False
        after = Reached(later[0]) if is_last else Reached(now.launch, name)
        if content:  # a line that a kill cut off: nobody will end it
            return self._keep([content], after, f"{path} {place}")
        return self._keep([], after, "")

    def has_ended(self) -> bool:
        """Whether the last launch of which there was a log has ended; asked at the log's end.

        Raises:
            CrawlingError, OSError: The job's log cannot be read.
        """
        return bool(self.reached.launch) and self.reached.launch in self._job_log.ended()

    def outcome(self) -> str:
        """How the last launch ended, in the words of Heritrix, such as ``Finished``.

        Empty if it has not ended, or if its report is not there.

        Raises:
            CrawlingError, OSError: It cannot be read.
        """
        if not self.has_ended():
            return ""
        content = self._files.read(f"{self.reached.launch}/{_REPORT}", 0, MOST_READ)
        found = _STATUS.search(content)
        return "" if found is None else found[1].decode(errors="replace").strip()

    def _parts(self) -> list[str]:
        """The renamed parts of the launch that were not read to their end, the oldest first."""
        names = self._files.names(f"{self.reached.launch}/logs")
        after = _order(self.reached.done)
        return sorted((one for one in names if _OLD.fullmatch(one) and _order(one) > after),
                      key=_order)  # fmt: skip

    def _keep(self, lines: list[bytes], after: Reached, place: str) -> bool:
        """Put outcomes, and note how far the log was read, together."""
        messages = [
            self._message(line, f"{place} {number}")
            for number, line in enumerate(lines)
            if line.strip()
        ]
        new = self._queues.put(messages, mark=(self._mark, json.dumps(asdict(after))))
        self.reached = after
        self.new += new
        self.lines += len(messages)
        return True

    def _message(self, line: bytes, place: str) -> Message:
        try:
            return message_of(crawled_in(line, self.job, self.reached.launch))
        except MessageInvalid as error:
            self.refused += 1
            key = f"refused {self.job} {place}"
            return Message(INDEX, line[:MOST_KEPT], key, reason=f"{place}: {error}")


class _JobLog:
    """The log of a job, of which each byte is read once."""

    def __init__(self, files: JobAfar | JobHere) -> None:
        self._files, self._position, self._rest = files, 0, b""
        self._ended: set[str] = set()

    def ended(self) -> set[str]:
        """The launches that have ended."""
        while content := self._files.read(_JOB_LOG, self._position, MOST_READ):
            self._position += len(content)
            lines = self._rest + content
            self._ended.update(found[1].decode() for found in _ENDED.finditer(lines))
            self._rest = lines[lines.rfind(b"\n") + 1 :][-MOST_KEPT:]
        return self._ended


def _order(name: str) -> tuple[int, int]:
    found = _OLD.fullmatch(name)
    return (int(found[1]), int(found[2])) if found else (-1, -1)


def _whole_lines(content: bytes, now: Reached) -> tuple[list[bytes], Reached]:
    """The complete lines of what was read, and how far it then was."""
    whole, _, rest = content.rpartition(b"\n")
    size = len(content) - len(rest)
    if not size and len(content) < MOST_READ:
        return [], now
    is_cut = not size  # a line without an end: its begin is kept, the rest passed over
    size = size or len(content)
    lines = whole.split(b"\n") if not is_cut else [content]
    if now.cut:
        lines = lines[1:]
    after = Reached(now.launch, now.done, now.position + size, is_cut)
    return lines or [b""], after
