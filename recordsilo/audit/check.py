"""Check a Silo: its own files, the pairtree in order, each record, the index, and the data
of other packages.

Nothing is changed. What looks wrong is checked again while no writer is working on it, so
that the work of concurrent writers is never reported.
"""

import contextlib
import errno
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from recordsilo.audit.contributed import contributed_findings
from recordsilo.audit.findings import Code, Finding, shown
from recordsilo.audit.index_check import PATH as INDEX
from recordsilo.audit.index_check import IndexCheck
from recordsilo.audit.reading import UnreadableError, entries, look
from recordsilo.audit.record_check import Checked, RecordCheck
from recordsilo.audit.sampling import is_drawn
from recordsilo.audit.silo_files import ROOT, check_silo_files, is_silo
from recordsilo.audit.tree_check import Directory, look_again, walk
from recordsilo.disk.identifier import ppath
from recordsilo.disk.locks import STRIPES, Locks
from recordsilo.errors import NotASilo, SiloNotFound

T = TypeVar("T")
_CANNOT_LOCK = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True, slots=True)
class Step:
    """A completed part of the audit.

    Attributes:
        place: The directory below ``pairtree_root`` up to which everything is checked;
            None before the first.
        records: How many records this part checked: 0 or 1.
        hashed: Whether the record's bytes were read.
        bytes_read: The number of bytes read.
    """

    findings: tuple[Finding, ...]
    place: str | None = None
    records: int = 0
    hashed: bool = False
    bytes_read: int = 0


class Audit:
    """The audit of one Silo.

    Args:
        path: Its directory.
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
            raise SiloNotFound(f"there is no Silo at {path}")
        if not is_silo(path):
            raise NotASilo(path)
        self.path = os.path.abspath(path)
        self._root = f"{self.path}/{ROOT}"
        self._share, self._seed, self._without = share, seed, without
        self._locks = Locks(f"{self.path}/.silo/locks")

    def findings(self) -> Iterator[Finding]:
        """All findings, as they are found."""
        for step in self.steps():
            yield from step.findings

    def steps(self, after: str | None = None, *, hashing: bool = True) -> Iterator[Step]:
        """Run the audit, one directory at a time, in a fixed order and with bounded memory.

        Args:
            after: Continue after the ``place`` of an earlier step.
            hashing: False compares names and sizes only.
        """
        index = IndexCheck(self.path)
        try:
            if after is None:
                yield Step(tuple(check_silo_files(self.path)))
            if os.path.isdir(self._root) and not os.path.islink(self._root):
                for directory in walk(self._root, after or ""):
                    if directory.place or after != "":  # "" was yielded before
                        yield self._directory(directory, index, hashing=hashing)
            yield from self._index(index)
            if self._without is not None:
                for finding in contributed_findings(self.path, self._without):
                    yield Step((finding,))
        finally:
            index.close()

    # -- directories ------------------------------------------------------------------------

    def _directory(self, directory: Directory, index: IndexCheck, *, hashing: bool) -> Step:
        place = directory.place
        findings = directory.findings
        if findings:
            findings = look_again(self._root, place).findings
        if directory.is_empty and place and self._is_left_empty(place):
            path = f"{ROOT}/{place}"
            findings = (*findings, Finding(Code.EMPTY_DIRECTORY, path, "a record", "nothing"))
        if not directory.has_record:
            return Step(findings, place)
        check = RecordCheck(self.path, place)
        drawn = is_drawn(self._seed, check.identifier, self._share)
        checked = self.record(check, hashing=hashing and drawn)
        findings = (*findings, *checked.findings)
        if found := self._in_index(check, checked, index, describing=drawn):
            findings = (*findings, found)
        return Step(findings, place, int(checked.is_record), hashing and drawn, checked.bytes_read)

    def record(self, check: RecordCheck, *, hashing: bool) -> Checked:
        """Check a record's directory.

        If there are findings, it is checked again under the record's lock; only those count.
        """
        checked = check.run(hashing=hashing)
        if not checked.findings:
            return checked
        return self.under_lock(check.identifier, lambda: check.run(hashing=hashing))

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

    def _in_index(
        self, check: RecordCheck, checked: Checked, index: IndexCheck, *, describing: bool
    ) -> Finding | None:
        """Check a record's row; a fault counts if it remains while no writer is at work.

        What is read from the files is compared only if these match the manifest; otherwise
        another finding explains the difference.
        """

        def compare(looked: Checked, with_index: IndexCheck) -> Finding | None:
            if looked.manifest is None:
                return None
            sound = describing and not looked.findings
            return with_index.of_record(looked.manifest, check.directory if sound else None)

        if compare(checked, index) is None:
            return None

        def again() -> Finding | None:
            with contextlib.closing(IndexCheck(self.path)) as newest:
                return compare(check.run(hashing=False), newest)

        found = self.under_lock(checked.identifier, again)
        if found is None:  # a writer was at work: a new connection sees its rows
            index.close()
        return found

    def _index(self, index: IndexCheck) -> Iterator[Step]:
        for identifier in index.surplus():
            if self.under_lock(identifier, partial(self._is_surplus, identifier)):
                expected = shown(f"a manifest in {ROOT}/{ppath(identifier)}")
                found = Finding(Code.INDEX_SURPLUS, INDEX, expected, "none", identifier)
                yield Step((found,))
        if self._share == 1.0 and (faults := index.of_searches()):
            yield Step(tuple(faults))
        if index.problem:
            yield Step((index.problem,))

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
