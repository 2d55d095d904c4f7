"""Repair what needs no guessing; all other findings are only reported.

Only empty directories and deleted records are removed. Files that no manifest lists are
moved to ``lost+found/`` in the Silo, into a directory named after the time of the repair.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from recordsilo.audit.check import Audit
from recordsilo.audit.findings import Code, Finding, Rule
from recordsilo.audit.index_check import PATH as INDEX
from recordsilo.audit.manifest_check import read_statement
from recordsilo.audit.reading import entries
from recordsilo.audit.record_check import RecordCheck, identifier_of
from recordsilo.audit.silo_files import ROOT, VERSION_TEXT, uri_base_of
from recordsilo.disk import atomic_file
from recordsilo.disk.atomic_file import Staging, StrictBarrier
from recordsilo.disk.identifier import ppath
from recordsilo.disk.names import MANIFEST_NAME, STAGED_MANIFEST, is_own
from recordsilo.records.commit import finish_pending, sweep_absent
from recordsilo.records.manifest import now_text
from recordsilo.records.manifest_json import from_json
from recordsilo.records.place import RecordPlace
from recordsilo.silo import Silo

LOST_AND_FOUND = "lost+found"
_TORN = frozenset(
    {
        Code.MANIFEST_MISSING,
        Code.MANIFEST_EMPTY,
        Code.MANIFEST_NOT_JSON,
        Code.MANIFEST_NOT_AN_OBJECT,
        Code.CHECKSUM_DIFFERS,
    }
)
_WRONG_ROWS = frozenset({Code.INDEX_DIFFERS, Code.INDEX_DESCRIBES, Code.INDEX_SEARCH})
_INDEX = frozenset({Code.INDEX_DAMAGED, Code.INDEX_LACKS, Code.INDEX_SURPLUS}) | _WRONG_ROWS
_STRAY = frozenset(
    {
        Code.DELETION_MARK,
        Code.ORPHAN_VERSION,
        Code.STAGED_FILE,
        Code.STAGED_VERSION,
        Code.STATE_LEFT_OVER,
    }
)


@dataclass(frozen=True, slots=True)
class MendedFinding:
    """A finding that is repaired, or would be.

    Attributes:
        done: What was done, as a sentence.
    """

    finding: Finding
    done: str


Outcome = MendedFinding | Finding
"""The outcome of a finding: `MendedFinding`, or the finding itself if it was not repaired."""


class SiloRepair:
    """The repair of one Silo.

    Args:
        dry_run: Report what would be done, and change nothing.
    """

    def __init__(self, path: str, *, dry_run: bool = False) -> None:
        self._audit = Audit(path, share=1.0, without=None)
        self._silo = self._audit.path
        self._dry_run = dry_run
        self._staging = Staging(f"{self._silo}/.silo/tmp", self._silo)
        self._lost = f"{LOST_AND_FOUND}/{now_text()}"
        self._is_index_stale = self._are_rows_wrong = False

    def run(self) -> Iterator[Outcome]:
        """Repair, one directory at a time; only names and sizes are compared, not every byte."""
        try:
            for step in self._audit.steps(hashing=False):
                if step.findings:
                    yield from self._step(step.place, step.findings)
            if self._is_index_stale and not self._dry_run:
                self._reindex()
        finally:
            self._staging.close()

    def _reindex(self) -> None:
        """Rebuild the index from scratch if rows are wrong although manifests are unchanged."""
        if self._are_rows_wrong:
            for suffix in ("", "-wal", "-shm"):
                atomic_file.remove_tree(f"{self._silo}/{INDEX}{suffix}")
        with Silo(self._silo, create=False) as silo:
            silo.reindex()

    def _step(self, place: str | None, findings: tuple[Finding, ...]) -> Iterator[Outcome]:
        """Repair one directory; a record is checked again under its lock first."""
        identifier = identifier_of(place) if place else ""
        if not identifier:
            yield from self._outcomes(findings)
            return
        yield from self._audit.under_lock(identifier, lambda: self._record(place or "", findings))

    def _record(self, place: str, findings: tuple[Finding, ...]) -> list[Outcome]:
        others = [one for one in findings if not one.identifier or one.code in _INDEX]
        now = RecordCheck(self._silo, place).run(hashing=False).findings
        outcomes = list(self._outcomes((*others, *now)))
        if not self._dry_run and any(isinstance(one, MendedFinding) for one in outcomes):
            mended = [one for one in outcomes if isinstance(one, MendedFinding)]
            was_restored = any(one.finding.code in _TORN for one in mended)
            left = RecordCheck(self._silo, place).run(hashing=was_restored).findings
            return [*mended, *(one for one in others if one in outcomes), *left]
        return outcomes

    def _outcomes(self, findings: tuple[Finding, ...]) -> Iterator[Outcome]:
        for finding in findings:
            done = self._mend(finding)
            yield MendedFinding(finding, done) if done else finding

    def _mend(self, finding: Finding) -> str:
        """Repair a finding; return what was done, or ``""`` for nothing."""
        code = finding.code
        if code in _STRAY:
            return self._move([finding.path])
        if code in _TORN:
            return self._restore_manifest(finding)
        if code in _INDEX:
            self._is_index_stale = True
            self._are_rows_wrong |= code in _WRONG_ROWS
            return "the index is rebuilt from the manifests"
        means: dict[Code | Rule, Callable[[Finding], str]] = {
            Code.WRITE_UNFINISHED: self._sweep_write,
            Code.CREATION_UNFINISHED: self._sweep_creation,
            Code.DELETION_UNFINISHED: self._finish_deletion,
            Code.PENDING_UNDONE: self._finish_pending,
            Code.EMPTY_DIRECTORY: self._prune,
            Code.UNLISTED_DIRECTORY: self._remove_empty,
            Code.NO_VERSION_FILE: self._write_version_file,
            Code.NO_PREFIX: self._write_prefix,
        }
        return means[code](finding) if code in means else ""

    # -- moving out of the way --------------------------------------------------------------

    def _move(self, paths: list[str]) -> str:
        """Move paths of the Silo to the same paths in lost+found."""
        barrier = StrictBarrier()
        for path in [] if self._dry_run else paths:
            target = f"{self._silo}/{self._lost}/{path}"
            parent = os.path.dirname(target)
            atomic_file.make_directories(parent, self._silo, barrier)
            atomic_file.move(f"{self._silo}/{path}", target, barrier)
            barrier.directory_changed(os.path.dirname(f"{self._silo}/{path}"))
        barrier.flush()
        return f"moved to {self._lost}: {', '.join(os.path.basename(path) for path in paths)}"

    def _sweep_write(self, finding: Finding) -> str:
        """Move leftovers of a write; the staged manifest last, because it identifies the rest."""
        check = self._check_of(os.path.dirname(finding.path))
        statement = read_statement(_bytes_of(f"{check.directory}/{MANIFEST_NAME}")).statement
        left = check.left_of_a_change(statement) if statement else []
        below = f"{ROOT}/{check.place}"
        return self._move([*(f"{below}/{path}" for path in left), finding.path])

    def _sweep_creation(self, finding: Finding) -> str:
        names = [entry.name for entry in entries(f"{self._silo}/{finding.path}")]
        own = sorted(filter(is_own, names), key=lambda name: (name == STAGED_MANIFEST, name))
        done = self._move([f"{finding.path}/{name}" for name in own])
        if not self._dry_run:
            atomic_file.prune_upwards(f"{self._silo}/{finding.path}", f"{self._silo}/{ROOT}")
        return done

    def _prune(self, finding: Finding) -> str:
        if not self._dry_run:
            atomic_file.prune_upwards(f"{self._silo}/{finding.path}", f"{self._silo}/{ROOT}")
        return "removed, with the directories above it that became empty"

    def _remove_empty(self, finding: Finding) -> str:
        """Remove a directory that an interrupted writer created for a file it never stored."""
        record = f"{ROOT}/{ppath(finding.identifier)}"
        version = finding.path.removeprefix(f"{record}/").partition("/")[0]
        if not self._dry_run:
            stop = f"{self._silo}/{record}/{version}"
            atomic_file.prune_upwards(f"{self._silo}/{finding.path}", stop)
        return "removed, with those above it that became empty"

    # -- finishing writes -------------------------------------------------------------------

    def _check_of(self, path: str) -> RecordCheck:
        return RecordCheck(self._silo, path.removeprefix(f"{ROOT}/"))

    def _finish_deletion(self, finding: Finding) -> str:
        check = self._check_of(finding.path)
        if not self._dry_run:
            place = RecordPlace(check.identifier, check.directory, check.root)
            sweep_absent(place, self._staging)
        return "removed the rest of the deleted record"

    def _finish_pending(self, finding: Finding) -> str:
        check, barrier = self._check_of(finding.path), StrictBarrier()
        if not self._dry_run:
            path = f"{check.directory}/{MANIFEST_NAME}"
            manifest = from_json(_bytes_of(path), path)
            finish_pending(manifest, check.directory, barrier, self._staging)
            barrier.flush()
        return f"completed: {finding.found}"

    # -- restoring --------------------------------------------------------------------------

    def _restore_manifest(self, finding: Finding) -> str:
        """Replace a torn manifest with the previous one; the torn one is kept."""
        check = self._check_of(os.path.dirname(finding.path))
        content = check.previous()
        if content is None:
            return ""
        revision = from_json(content, finding.path).revision
        if not self._dry_run:
            if finding.code is not Code.MANIFEST_MISSING:
                self._keep_torn(finding.path)
            self._publish(check.directory, content)
        self._is_index_stale = True
        return (
            f"restored as it was at revision {revision}; the manifest's later change is "
            "lost, and the remaining findings show what of it is on disk"
        )

    def _keep_torn(self, path: str) -> None:
        target = f"{self._silo}/{self._lost}/{path}"
        barrier = StrictBarrier()
        atomic_file.make_directories(os.path.dirname(target), self._silo, barrier)
        atomic_file.duplicate(f"{self._silo}/{path}", target)
        barrier.directory_changed(os.path.dirname(target))
        barrier.flush()

    @staticmethod
    def _publish(directory: str, content: bytes) -> None:
        barrier = StrictBarrier()
        staged = f"{directory}/{STAGED_MANIFEST}"
        atomic_file.write_over(staged, content, barrier)
        atomic_file.move(staged, f"{directory}/{MANIFEST_NAME}", barrier)
        barrier.flush()

    def _write_version_file(self, finding: Finding) -> str:
        if not self._dry_run:
            atomic_file.replace_file(f"{self._silo}/{finding.path}", VERSION_TEXT)
        return "written"

    def _write_prefix(self, finding: Finding) -> str:
        base = uri_base_of(self._silo)
        if base is None:
            return ""
        if not self._dry_run:
            atomic_file.replace_file(f"{self._silo}/{finding.path}", base.encode())
        return f"written from persisted_state.json: {base}"


def _bytes_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
