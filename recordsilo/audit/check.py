"""Check a Silo: its own files, the pairtree in order, each record, the index, and the data
of other packages.

Nothing is changed. What looks wrong is checked again while no writer is working on it, so
that the work of concurrent writers is never reported.

On two cores, a second process looks at part of the records. It says of each only whether it
is clean; this process looks again at the others.
"""

import contextlib
import errno
import os
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

from recordsilo.audit.contributed import contributed_findings
from recordsilo.audit.findings import Code, Finding, shown
from recordsilo.audit.index_check import PATH as INDEX
from recordsilo.audit.index_check import IndexCheck
from recordsilo.audit.plain_record import plain_record
from recordsilo.audit.reading import UnreadableError, entries, look
from recordsilo.audit.record_check import Checked, RecordCheck
from recordsilo.audit.silo_files import ROOT, VERSION_FILE, check_silo_files, is_silo
from recordsilo.audit.tree_check import TreeDirectory, look_again, walk
from recordsilo.disk.identifier import ppath
from recordsilo.disk.locks import STRIPES, Locks
from recordsilo.disk.names import COPYING, MANIFEST_NAME
from recordsilo.errors import NotASilo, SiloNotFound
from recordsilo.index import ManifestStamp
from recordsilo.sampling import is_drawn
from recordsilo.second_process import SecondProcess, cores, serve, shared

T = TypeVar("T")
Clean = tuple[int, bool, int]
"""Of a record without findings: whether it is one (0 or 1), whether and how much was read of it."""
SECOND_FROM = 1000
"""The number of directories after which a second process is started (0.4 s on another core)."""
_CHUNK = 64
_CANNOT_LOCK = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True, slots=True)
class AuditStep:
    """A completed part of the audit.

    Attributes:
        place: The directory below ``pairtree_root`` up to which everything is checked;
            None before the first.
        records: How many records this part checked: 0 or 1.
        hashed: Whether the record's bytes were read.
    """

    findings: tuple[Finding, ...]
    place: str | None = None
    records: int = 0
    hashed: bool = False
    bytes_read: int = 0


class Audit:
    """The audit of one Silo.

    Args:
        share: The share of records whose files are read byte for byte; for the others,
            names and sizes are compared.
        seed: Selects those records; the same seed selects the same ones.
        without: Names of contributed checks to leave out; None leaves out all.

    Raises:
        SiloNotFound: No such directory.
        NotASilo: The directory is not a Silo.
    """

    def __init__(
        self,
        path: str,
        *,
        share: float = 1.0,
        seed: str = "",
        without: Collection[str] | None = (),
    ) -> None:
        if not os.path.isdir(path):
            raise SiloNotFound.at(path)
        if not is_silo(path) or _is_being_made(path):
            raise NotASilo(path)
        self.path = os.path.abspath(path)
        self._root = f"{self.path}/{ROOT}"
        self._share, self._seed, self._without = share, seed, without
        self._locks = Locks.of_silo(self.path)

    def findings(self) -> Iterator[Finding]:
        """All findings, as they are found."""
        for step in self.steps():
            yield from step.findings

    def steps(self, after: str | None = None, *, hashing: bool = True) -> Iterator[AuditStep]:
        """Run the audit, one directory at a time, in a fixed order and with bounded memory.

        Args:
            after: Continue after the ``place`` of an earlier step.
            hashing: False compares names and sizes only.
        """
        index = IndexCheck(self.path)
        try:
            if after is None:
                yield AuditStep(tuple(check_silo_files(self.path)))
            if os.path.isdir(self._root) and not os.path.islink(self._root):
                found = walk(self._root, after or "")
                directories = (one for one in found if one.place or after != "")  # "" was before
                yield from self._directories(directories, index, hashing=hashing)
            yield from self._index(index)
            if self._without is not None:
                for finding in contributed_findings(self.path, self._without):
                    yield AuditStep((finding,))
        finally:
            index.close()

    # -- directories ------------------------------------------------------------------------

    def _directories(
        self, directories: Iterator[TreeDirectory], index: IndexCheck, *, hashing: bool
    ) -> Iterator[AuditStep]:
        """Check directories in their order, the records in them with a second process."""
        look = partial(self.look, index=index, hashing=hashing)

        def step(directory: TreeDirectory, clean: Clean | None) -> AuditStep:
            return self._directory(directory, clean, index, hashing=hashing)

        for directory in islice(directories, SECOND_FROM if cores() > 1 else None):
            (clean,) = look([directory.place]) if directory.has_record else (None,)
            yield step(directory, clean)
        begun: deque[list[TreeDirectory]] = deque()
        given = (self.path, str(self._share), self._seed, str(hashing))
        with contextlib.closing(SecondProcess(__name__, *given)) as second:
            for looked in shared(_places(directories, begun), second, look, list[Clean | None]):
                clean_ones = iter(looked)
                for directory in begun.popleft():
                    yield step(directory, next(clean_ones) if directory.has_record else None)

    def look(
        self, places: Iterable[str], index: IndexCheck, *, hashing: bool
    ) -> list[Clean | None]:
        """Look at records once, each without its lock; None for one that does not look clean."""
        return [self._look(place, index, hashing=hashing) for place in places]

    def _look(self, place: str, index: IndexCheck, *, hashing: bool) -> Clean | None:
        check = RecordCheck(self.path, place)
        drawn = is_drawn(self._seed, check.identifier, self._share)
        hashing = hashing and drawn
        plain = plain_record(check) if hashing else None
        if plain is None:
            before = _stamp(check.directory)
            checked = check.run(hashing=hashing)
        else:
            checked, before = plain
        if checked.findings:
            return None
        is_written = (
            hashing
            and checked.manifest is not None
            and index.is_as_written(checked.manifest, before)
        )
        if not is_written and _compared(check, checked, index, describing=drawn):
            index.close()  # a writer may be at work: a new connection sees its rows
            return None
        if index.problem and not is_written:
            return None
        return int(checked.is_record), hashing, checked.bytes_read

    def _directory(
        self, directory: TreeDirectory, clean: Clean | None, index: IndexCheck, *, hashing: bool
    ) -> AuditStep:
        place = directory.place
        findings = directory.findings
        if findings:
            findings = look_again(self._root, place).findings
        if directory.is_empty and place and self._is_left_empty(place):
            path = f"{ROOT}/{place}"
            findings = (*findings, Finding(Code.EMPTY_DIRECTORY, path, "a record", "nothing"))
        if not directory.has_record:
            return AuditStep(findings, place)
        if clean is None:
            return self._record(place, findings, index, hashing=hashing)
        return AuditStep(findings, place, *clean)

    def _record(
        self, place: str, findings: tuple[Finding, ...], index: IndexCheck, *, hashing: bool
    ) -> AuditStep:
        """Check a record that did not look clean again under its lock; only this counts."""
        check = RecordCheck(self.path, place)
        drawn = is_drawn(self._seed, check.identifier, self._share)

        def again() -> tuple[Checked, Finding | None]:
            checked = check.run(hashing=hashing and drawn)
            with contextlib.closing(IndexCheck(self.path)) as newest:
                found = _compared(check, checked, newest, describing=drawn)
                index.problem = index.problem or newest.problem
            return checked, found

        checked, found = self.under_lock(check.identifier, again)
        findings = (*findings, *checked.findings, *((found,) if found else ()))
        return AuditStep(
            findings, place, int(checked.is_record), hashing and drawn, checked.bytes_read
        )

    def under_lock(self, identifier: str, act: Callable[[], T]) -> T:
        """Call ``act`` under the record's lock; without one if no writer is possible."""
        with contextlib.ExitStack() as stack:
            if identifier:
                try:
                    stack.enter_context(self._locks.hold([identifier]))
                except OSError as error:
                    if error.errno not in _CANNOT_LOCK:
                        raise
            return act()

    def _is_left_empty(self, place: str) -> bool:
        """Whether an empty directory is a leftover: unchanged while no writer works on any record.

        A writer that creates a record first creates its directories, under a lock that
        cannot be told from their names.
        """
        path = f"{self._root}/{place}"
        before = _identity(path)
        try:
            for stripe in range(STRIPES):
                with self._locks.hold_name(f"{stripe:02x}"):
                    pass
        except OSError as error:
            if error.errno not in _CANNOT_LOCK:
                raise
        return before is not None and before == _identity(path)

    # -- the index --------------------------------------------------------------------------

    def _index(self, index: IndexCheck) -> Iterator[AuditStep]:
        for identifier in index.surplus():
            if self.under_lock(identifier, partial(self._is_surplus, identifier)):
                expected = shown(f"a manifest in {ROOT}/{ppath(identifier)}")
                found = Finding(Code.INDEX_SURPLUS, INDEX, expected, "none", identifier)
                yield AuditStep((found,))
        if self._share == 1.0 and (faults := index.of_searches()):
            yield AuditStep(tuple(faults))
        if index.problem:
            yield AuditStep((index.problem,))

    def _is_surplus(self, identifier: str) -> bool:
        with contextlib.closing(IndexCheck(self.path)) as newest:
            return newest.is_surplus(identifier)


def _identity(path: str) -> tuple[int, int] | None:
    """A value that changes with any change in an empty directory; None if it is not empty."""
    try:
        found = look(path)
        return None if found is None or entries(path) else (found.st_ino, found.st_ctime_ns)
    except UnreadableError:
        return None


def _stamp(directory: str) -> ManifestStamp | None:
    try:
        return ManifestStamp.of(f"{directory}/{MANIFEST_NAME}")
    except OSError:
        return None


def _compared(
    check: RecordCheck, checked: Checked, index: IndexCheck, *, describing: bool
) -> Finding | None:
    """Compare a record with its entry in the index.

    What is read from the files is compared only if these match the manifest; otherwise
    another finding explains the difference.
    """
    if checked.manifest is None:
        return None
    sound = describing and not checked.findings
    return index.of_record(checked.manifest, check.directory if sound else None)


def _places(
    directories: Iterator[TreeDirectory], begun: deque[list[TreeDirectory]]
) -> Iterator[list[str]]:
    """Yield the places of records in chunks, and note the directories of each chunk."""
    while some := list(islice(directories, _CHUNK)):
        begun.append(some)
        yield [one.place for one in some if one.has_record]


def main() -> None:
    """Run the second process."""
    path, share, seed, hashing = sys.argv[2:6]
    audit = Audit(path, share=float(share), seed=seed, without=None)
    with contextlib.closing(IndexCheck(path)) as index:
        serve(partial(audit.look, index=index, hashing=hashing == "True"))


def _is_being_made(path: str) -> bool:
    """Whether a copy into a directory was not finished: a repair would make it a Silo."""
    return os.path.exists(f"{path}/{COPYING}") and not os.path.exists(f"{path}/{VERSION_FILE}")
