"""Read many records for the index, in this process and in a second one.

Reading and describing records takes longer than writing rows. On two cores, a second
process does most of the reading; this process writes the rows, and reads whenever it
would have to wait. The second process receives identifiers and returns prepared rows.
Chunks are returned in order, so the result does not depend on which process read them.
The second process has no state and may end at any time; unanswered chunks are then read
here.
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from recordsilo.disk.identifier import ppath
from recordsilo.disk.names import MANIFEST_NAME
from recordsilo.errors import RecordSiloError
from recordsilo.formats import Description
from recordsilo.garbage import collect_rarely
from recordsilo.index import Entry, ManifestStamp, project
from recordsilo.index.facets import ValuesOf
from recordsilo.index.projection import description_of
from recordsilo.index.rows import Prepared, prepare
from recordsilo.records.manifest import Manifest
from recordsilo.records.place import RecordPlace

PlaceOf = Callable[[str], RecordPlace]
Problem = tuple[str, str]
BESIDE_FROM = 1000
"""The number of records after which a second process is started (0.4 s on another core)."""
_PACKAGES = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from recordsilo.index.record_reading import main; main()"
)
_AHEAD = 2
"""The largest number of unanswered chunks of the second process: one current, one next."""
_HELD = 6
"""The number of chunks kept while an earlier one is not read; then that one is waited for."""


@dataclass(frozen=True, slots=True)
class ReadRecords:
    """The result of reading records; an identifier without a record is in neither list.

    Attributes:
        problems: (path, sentence) for each path that could not be read.
    """

    found: list[Prepared]
    problems: list[Problem]


def entry_of(place: RecordPlace, manifest: Manifest) -> Entry:
    """The index entry of a record as it is on disk."""
    return project(manifest, lambda version, path: place.content(manifest, version, path))


def read_entry(place: RecordPlace) -> tuple[Entry, ManifestStamp] | None:
    """A record's entry, and the stamp that its manifest had before it was read.

    Returns:
        None if there is no such record.

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
    """Read records in this process."""
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


def described(values_of: Callable[[Manifest, Description], Iterable[str]]) -> ValuesOf:
    """Make a `Facet.values` that reads each record's manifest and current description.

    Records that cannot be read have no values; `silo check` reports them.

    Cost: reads each record's files, as indexing does.
    """

    def values(path: str, identifiers: Sequence[str]) -> Mapping[str, Sequence[str]]:
        root, found = f"{path}/pairtree_root", {}
        for identifier in identifiers:
            place = RecordPlace(identifier, f"{root}/{ppath(identifier)}", root)
            try:
                manifest = place.read_manifest()
            except RecordSiloError:
                continue
            if manifest is not None and manifest.versions:
                found[identifier] = tuple(values_of(manifest, _description(place, manifest)))
        return found

    return values


def _description(place: RecordPlace, manifest: Manifest) -> Description:
    return description_of(
        manifest.current, lambda version, path: place.content(manifest, version, path)
    )


def read_chunks(
    place_of: PlaceOf, root: str, chunks: Iterable[Sequence[str]]
) -> Iterator[ReadRecords]:
    """Read chunks of records, each when it is requested or shortly before.

    Args:
        place_of: Identifier → the record's place.
        root: The Silo's ``pairtree_root``.
        chunks: Taken as they are read; at most `_HELD` more than were returned.
    """
    remaining = iter(chunks)
    read = 0
    for chunk in remaining:
        yield read_records(place_of, chunk)
        read += len(chunk)
        if read >= BESIDE_FROM and _is_plain(place_of) and _cores() > 1:
            break
    with contextlib.closing(_Beside(root)) as beside:
        yield from _read_by_both(place_of, remaining, beside)


def _read_by_both(
    place_of: PlaceOf, chunks: Iterator[Sequence[str]], beside: "_Beside"
) -> Iterator[ReadRecords]:
    waiting: deque[tuple[Sequence[str], ReadRecords | None]] = deque()

    def first() -> ReadRecords:
        chunk, read = waiting[0]
        found = read or beside.answer() or read_records(place_of, chunk)
        waiting.popleft()
        return found

    for chunk in chunks:
        if beside.is_listening() and beside.unanswered < _AHEAD:
            beside.ask(chunk)
            waiting.append((chunk, None))
        else:
            waiting.append((chunk, read_records(place_of, chunk)))
        while waiting and (waiting[0][1] or beside.has_answer() or len(waiting) > _HELD):
            yield first()
    while waiting:
        yield first()


def _is_plain(place_of: PlaceOf) -> bool:
    """Whether the second process would find the same records as this one."""
    return type(place_of("x")) is RecordPlace


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


class _Beside:
    """The second process; the first check of `is_listening` starts it.

    Attributes:
        unanswered: The number of requests whose answers were not taken.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._process: subprocess.Popen[bytes] | None = None
        self._questions: queue.SimpleQueue[Sequence[str] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._send, self._receive)
        ]
        self._listens = threading.Event()
        self._is_gone = False
        self.unanswered = 0

    def is_listening(self) -> bool:
        """Whether it has announced that it is ready; does not wait."""
        self._start()
        return self._listens.is_set() and not self._is_gone

    def ask(self, identifiers: Sequence[str]) -> None:
        """Request records; does not wait."""
        self._start()
        self._questions.put(identifiers)
        self.unanswered += 1

    def _start(self) -> None:
        if self._process is not None or self._is_gone:
            return
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter and this module
                [sys.executable, "-P", "-c", _PROGRAM, _PACKAGES, self._root],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, ValueError):  # no such interpreter, or too many processes
            self._is_gone = True
        else:
            for thread in self._threads:
                thread.start()

    def _send(self) -> None:
        """Send requests in a separate thread, because the process may be busy writing."""
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            while (identifiers := self._questions.get()) is not None:
                _write(self._process.stdin, list(identifiers))

    def _receive(self) -> None:
        """Receive answers in a separate thread, so that the process need not wait."""
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            _read(self._process.stdout)
            self._listens.set()
            while True:
                self._answers.put(_read(self._process.stdout))
        except (EOFError, OSError, MemoryError):
            self._answers.put(None)

    def has_answer(self) -> bool:
        """Whether `answer` would not wait."""
        return self._is_gone or not self._answers.empty()

    def answer(self) -> ReadRecords | None:
        """The answer to the oldest open request; None if the process has ended."""
        self.unanswered -= 1
        if self._is_gone or self._process is None or (content := self._answers.get()) is None:
            self._is_gone = True
            return None
        try:
            found, problems = marshal.loads(content)  # noqa: S302 - a process of ours
        except (EOFError, ValueError, TypeError):
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
        for thread in self._threads:
            if thread.ident is not None:  # otherwise interrupted before it was started
                thread.join()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


def _write(stream: IO[bytes], value: Any) -> None:
    """Write a value after its size, so that it can be read at once; marshal reads word by word."""
    content = marshal.dumps(value)
    stream.write(len(content).to_bytes(_SIZE, "little"))
    stream.write(content)
    stream.flush()


def _read(stream: IO[bytes]) -> bytes:
    """Read the bytes of the next value.

    Raises:
        EOFError: The stream ended before or within a value.
    """
    size = stream.read(_SIZE)
    content = stream.read(int.from_bytes(size, "little"))
    if len(size) < _SIZE or len(content) < int.from_bytes(size, "little"):
        raise EOFError
    return content


_SIZE = 8


def serve(root: str, questions: IO[bytes], answers: IO[bytes]) -> None:
    """Announce readiness, then answer each list of identifiers with their entries.

    Args:
        root: The ``pairtree_root``.
        questions: Lists of identifiers, marshalled.
        answers: None first, then for each list the pair (entries found, problems), marshalled.
    """

    def place_of(identifier: str) -> RecordPlace:
        return RecordPlace(identifier, f"{root}/{ppath(identifier)}", root)

    with contextlib.suppress(EOFError, BrokenPipeError):
        _write(answers, None)
        while True:
            read = read_records(place_of, marshal.loads(_read(questions)))  # noqa: S302 - our parent
            _write(answers, (list(map(tuple, read.found)), read.problems))


def main() -> None:
    """Run the reader process until its parent closes the pipe."""
    collect_rarely()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    serve(sys.argv[2], sys.stdin.buffer, sys.stdout.buffer)
