"""Reading many records for the index, in this process or in one beside it.

Half the work of indexing is reading and describing, half is writing rows; on two
cores the first half is done by a process of its own. It is given identifiers and
gives back rows made ready, in the same order, so the outcome is the same; it holds
nothing, so it can end, or be ended, at any time: what it did not answer is read here.
"""

import contextlib
import marshal
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from recordsilo.errors import RecordSiloError
from recordsilo.identifier import ppath
from recordsilo.index import Entry, ManifestStamp, project
from recordsilo.index.rows import Prepared, prepare
from recordsilo.manifest import Manifest
from recordsilo.names import MANIFEST_NAME
from recordsilo.place import RecordPlace

PlaceOf = Callable[[str], RecordPlace]
Problem = tuple[str, str]
BESIDE_FROM = 3000
"""Records after which a second process is worth its start, of about half a second."""
_PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); from recordsilo.record_reading import main; main()"
)
_AHEAD = 3
"""Chunks that are given to the second process before the first is asked back."""


@dataclass(frozen=True, slots=True)
class ReadRecords:
    """What became of some identifiers; one without a record is in neither list.

    Attributes:
        problems: (path, sentence) of what could not be read.
    """

    found: list[Prepared]
    problems: list[Problem]


def entry_of(place: RecordPlace, manifest: Manifest) -> Entry:
    """What the index holds of a record as it is on disk."""

    def read(version: str, path: str) -> bytes:
        with place.open(manifest, version, path) as file:
            return file.read()

    return project(manifest, read)


def read_entry(place: RecordPlace) -> tuple[Entry, ManifestStamp] | None:
    """A record's entry, and the stamp of its manifest from before it was read.

    Returns:
        None where there is no such record.

    Raises:
        RecordSiloError: Its manifest cannot be read.
    """
    try:
        stamp = ManifestStamp.of(f"{place.dirpath}/{MANIFEST_NAME}")
    except OSError:
        stamp = ManifestStamp(0, 0, 0)
    manifest = place.read_manifest()
    return None if manifest is None else (entry_of(place, manifest), stamp)


def read_records(place_of: PlaceOf, identifiers: Iterable[str]) -> ReadRecords:
    """Read some records here."""
    read = ReadRecords([], [])
    for identifier in identifiers:
        place = place_of(identifier)
        try:
            one = read_entry(place)
        except RecordSiloError as error:
            read.problems.append((place.dirpath, str(error)))
            continue
        if one is not None:
            read.found.append(prepare(*one))
    return read


def read_chunks(
    place_of: PlaceOf, root: str, chunks: Iterable[Sequence[str]]
) -> Iterator[ReadRecords]:
    """Read chunks of records, each when it is asked for or a little before.

    Args:
        place_of: Identifier → where the record lies.
        root: The Silo's ``pairtree_root``.
        chunks: Asked for as they are read; up to `_AHEAD` more than were given back.
    """
    remaining = iter(chunks)
    read = 0
    for chunk in remaining:
        yield read_records(place_of, chunk)
        read += len(chunk)
        if read >= BESIDE_FROM and _is_plain(place_of) and _cores() > 1:
            break
    with contextlib.closing(_Beside(root)) as beside:
        waiting: deque[Sequence[str]] = deque()
        for chunk in remaining:
            waiting.append(chunk)
            beside.ask(chunk)
            if len(waiting) > _AHEAD:
                yield beside.answer() or read_records(place_of, waiting[0])
                waiting.popleft()
        while waiting:
            yield beside.answer() or read_records(place_of, waiting[0])
            waiting.popleft()


def _is_plain(place_of: PlaceOf) -> bool:
    """Whether the other process would find records as they are found here."""
    return type(place_of("x")) is RecordPlace


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


class _Beside:
    """The process beside this one; started by the first question."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._process: subprocess.Popen[bytes] | None = None
        self._questions: queue.SimpleQueue[Sequence[str] | None] = queue.SimpleQueue()
        self._sender = threading.Thread(target=self._send, daemon=True)
        self._is_gone = False

    def ask(self, identifiers: Sequence[str]) -> None:
        """Have some records read; never waits."""
        if self._process is None and not self._is_gone:
            self._start()
        self._questions.put(identifiers)

    def _start(self) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter and this module
                [sys.executable, "-P", "-c", _PROGRAM, _PACKAGES, self._root],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, ValueError):  # no interpreter by that name, no more processes
            self._is_gone = True
        else:
            self._sender.start()

    def _send(self) -> None:
        """In a thread of its own: the process may be writing and not reading just then."""
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            while (identifiers := self._questions.get()) is not None:
                _write(self._process.stdin, list(identifiers))

    def answer(self) -> ReadRecords | None:
        """The answer to the oldest question that has none; None once the process is gone."""
        if self._is_gone or self._process is None:
            return None
        assert self._process.stdout is not None
        try:
            found, problems = marshal.load(self._process.stdout)  # noqa: S302 - a process of ours
        except (EOFError, ValueError, TypeError, OSError):
            self._is_gone = True
            return None
        return ReadRecords(list(map(Prepared._make, found)), problems)

    def close(self) -> None:
        """End the process at once."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        self._questions.put(None)
        self._sender.join()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


def _write(stream: IO[bytes], value: Any) -> None:
    stream.write(marshal.dumps(value))
    stream.flush()


def serve(root: str, questions: IO[bytes], answers: IO[bytes]) -> None:
    """Answer lists of identifiers by what was read, until there are no more."""

    def place_of(identifier: str) -> RecordPlace:
        return RecordPlace(identifier, f"{root}/{ppath(identifier)}", root)

    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            read = read_records(place_of, marshal.load(questions))  # noqa: S302 - our parent
            _write(answers, (list(map(tuple, read.found)), read.problems))


def main() -> None:
    """The process beside: as long as the one that started it asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the other, which ends this one
    serve(sys.argv[2], sys.stdin.buffer, sys.stdout.buffer)
