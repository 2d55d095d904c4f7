"""Reading many records for the index, in this process and in one beside it.

Reading and describing is more work than writing rows. On two cores a second process
does most of it, and this one, which writes the rows, reads too whenever it would have
to wait. The other is given identifiers and gives back rows made ready; chunks are
given back in their order whoever read them, so the outcome is the same. It holds
nothing, so it can end, or be ended, at any time: what it did not answer is read here.
"""

import contextlib
import gc
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
from recordsilo.index import Entry, ManifestStamp, project
from recordsilo.index.facets import ValuesOf
from recordsilo.index.projection import description_of
from recordsilo.index.rows import Prepared, prepare
from recordsilo.records.manifest import Manifest
from recordsilo.records.place import RecordPlace

PlaceOf = Callable[[str], RecordPlace]
Problem = tuple[str, str]
BESIDE_FROM = 1000
"""Records after which a second process is started, which takes some 0.4 s of another core."""
_PACKAGES = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from recordsilo.index.record_reading import main; main()"
)
_AHEAD = 2
"""Chunks that the second process has been given and not answered: one to do, one to come."""
_HELD = 6
"""Chunks of which one is not read yet, while later ones are: then it is waited for."""


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
    return project(manifest, lambda version, path: place.content(manifest, version, path))


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


def described(values_of: Callable[[Manifest, Description], Iterable[str]]) -> ValuesOf:
    """Read `Facet.values` from the records: from the manifest and the current description.

    Records that cannot be read have none; `silo check` tells of them.

    Cost: reads each record's files, as indexing it does.
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
    """Read chunks of records, each when it is asked for or a little before.

    Args:
        place_of: Identifier → where the record lies.
        root: The Silo's ``pairtree_root``.
        chunks: Asked for as they are read; up to `_HELD` more than were given back.
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
    """Whether the other process would find records as they are found here."""
    return type(place_of("x")) is RecordPlace


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


class _Beside:
    """The process beside this one; started by the first look whether it listens.

    Attributes:
        unanswered: How many questions were asked and their answers not taken.
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
        """Whether it can be asked: it is started, and said so; never waits."""
        self._start()
        return self._listens.is_set() and not self._is_gone

    def ask(self, identifiers: Sequence[str]) -> None:
        """Have some records read; never waits."""
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
        except (OSError, ValueError):  # no interpreter by that name, no more processes
            self._is_gone = True
        else:
            for thread in self._threads:
                thread.start()

    def _send(self) -> None:
        """In a thread of its own: the process may be writing and not reading just then."""
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            while (identifiers := self._questions.get()) is not None:
                _write(self._process.stdin, list(identifiers))

    def _receive(self) -> None:
        """In a thread of its own: the process need not wait until its answer is wanted."""
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
        """The answer to the oldest question that has none; None once the process is gone."""
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
            if thread.ident is not None:  # else we were interrupted before it was started
                thread.join()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


def _write(stream: IO[bytes], value: Any) -> None:
    """Write a value behind its size, so that it is read in one piece: marshal reads by words."""
    content = marshal.dumps(value)
    stream.write(len(content).to_bytes(_SIZE, "little"))
    stream.write(content)
    stream.flush()


def _read(stream: IO[bytes]) -> bytes:
    """The next value's bytes.

    Raises:
        EOFError: The stream ended before, or within, a value.
    """
    size = stream.read(_SIZE)
    content = stream.read(int.from_bytes(size, "little"))
    if len(size) < _SIZE or len(content) < int.from_bytes(size, "little"):
        raise EOFError
    return content


_SIZE = 8


def serve(root: str, questions: IO[bytes], answers: IO[bytes]) -> None:
    """Announce readiness, then answer each list of identifiers with what was read of them.

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
    """Run the reader process until its parent stops asking."""
    gc.freeze()
    gc.set_threshold(50_000)  # what was read is plain values: there are no cycles to look for
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the other, which ends this one
    serve(sys.argv[2], sys.stdin.buffer, sys.stdout.buffer)
