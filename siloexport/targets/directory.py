"""A directory of exported records, in any form.

out/
  .silo-export                            marks the directory as an export, with its key
  .silo-notes/<name>.json                 key, version and digest of each exported record
  <name>                                  a record: a directory or a file, depending on the form

A record is written under a temporary name and renamed, so it is whole or not there. Its note
holds its key and its digest; if the digest differs later, someone else changed the record.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from stat import S_ISDIR, S_ISREG
from typing import Any, Protocol, TypeVar

from recordsilo.disk.atomic_file import (
    Barrier,
    GroupBarrier,
    StrictBarrier,
    digest_of,
    flush_directory,
    group_barrier,
    make_file,
    move,
    remove_tree,
    replace_file,
)
from recordsilo.disk.digest import Digest
from recordsilo.disk.identifier import clean
from recordsilo.disk.regular_file import regular_fd
from recordsilo.errors import FileNotInVersion
from siloexport.errors import (
    CannotTakeBack,
    Conflict,
    DepositFailed,
    ExportError,
    LedgerInUse,
    SourceChanged,
    TargetFull,
    TargetUnusable,
)
from siloexport.plan import digest_of as digest_of_json
from siloexport.targets import CHANGED, SIZE, DepositJournal, DepositSteps
from siloexport.values import (
    Capabilities,
    CreatedThing,
    Deletions,
    Deposit,
    Deposited,
    DepositState,
    Difference,
    FoundInTarget,
    FoundVersion,
    Held,
    SizeThen,
    UnfinishedDeposit,
    Withdrawal,
)

_T = TypeVar("_T")
MARKER = ".silo-export"
NOTES = ".silo-notes"
SETTINGS = "settings"
"""The line of the marker that holds the form's settings."""
DAY = "day"
"""The fact in the ledger that holds the day written into a record."""
_MAX_NAME = 200
_FEW = 3
"""So many records are flushed file by file; for more, the whole file system is flushed once."""
STAGED_MARKER = re.compile(re.escape(MARKER) + r"\.\d+-[0-9a-f]+\.tmp")
_STAGED = re.compile(re.escape(MARKER) + r"-\d+-[0-9a-f]{8}(-old)?")
_OLD = "-old"
_NO_FILE = Digest("", 0)
_OTHER = "something else"
"""Stands for the digest of what does not have the form of the records."""
_MOST_TIMES = 20
"""So many directories of a record are noted with their times."""
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_NO_MORE = {errno.EROFS, errno.EACCES, errno.EPERM}


class RecordForm(Protocol):
    """The form of a record in the directory."""

    @property
    def name(self) -> str:
        """Its name in the marker: ``files`` or ``bags``."""

    @property
    def suffix(self) -> str:
        """The suffix of a record's name: ``.tar``; or ``""``."""

    @property
    def variant(self) -> str:
        """Everything else that changes the form; part of every key."""

    @property
    def settings(self) -> str:
        """Settings that the marker stores for later runs, as one line; ``""`` for none."""

    def day(self, path: str, deposit: Deposit) -> str:
        """Return the day to write into a record; ``""`` if the form has none.

        It begins with YYYY-MM-DD; more that changes from run to run may follow.

        Args:
            path: Where the record is, or will be.
            deposit: What is exported.
        """

    def write(self, path: str, deposit: Deposit, day: str, barrier: Barrier) -> str:
        """Write a record to a new path, and return its digest.

        Args:
            path: New path.
            deposit: What is exported.
            day: From `day`.
            barrier: Makes what is written durable, when it is flushed.

        Raises:
            SourceChanged, FileNotInVersion, OSError: It cannot be written.
        """

    def digest(self, path: str) -> str:
        """Read a record and return its digest; ``""`` if there is none of this form."""

    def expected(self, deposit: Deposit) -> str | None:
        """Return the digest it would have; None if it is only known once written."""

    def differences(self, path: str, deposit: Deposit) -> Iterator[Difference]:
        """Yield the differences between a record and its deposit."""


@dataclass(frozen=True, slots=True)
class _Note:
    """What was exported as a record: its key, version and digest."""

    key: str
    version: str
    digest: str


class InDirectory(ABC):
    """What targets in a directory share: a key that is stored there, deposits that are flushed."""

    def __init__(self, directory: str) -> None:
        self.directory, self.shown, self._key = os.path.abspath(directory), directory, ""

    @property
    def key(self) -> str:
        """See `Target`: stored in the directory, so it stays the same when that is moved."""
        return self._key

    def deposit(self, deposit: Deposit, journal: DepositJournal) -> Deposited:
        return self._carried_out(partial(self.steps, deposit), journal)

    @abstractmethod
    def steps(self, deposit: Deposit, barrier: Barrier) -> DepositSteps: ...

    def _carried_out(
        self, steps_with: Callable[[Barrier], DepositSteps], journal: DepositJournal
    ) -> Deposited:
        barrier = StrictBarrier()
        with contextlib.closing(steps_with(barrier)) as steps:
            try:
                facts = next(steps)
                self.flush(barrier)
                journal.committing(**facts)
                next(steps)
                self.flush(barrier)
                next(steps)
            except StopIteration as end:
                came_to: Deposited = end.value
                return came_to
        raise AssertionError

    def barrier(self, deposits: int) -> Barrier:
        """See `GroupTarget`; a few records are flushed file by file."""
        return group_barrier(self.directory) if deposits > _FEW else StrictBarrier()

    def flush(self, barrier: Barrier) -> None:
        """Return once everything reported to the barrier is on the medium; see `Target`."""
        try:
            with self._failing_as(""):
                barrier.flush()
        except DepositFailed as error:
            raise TargetUnusable(f"{self.shown}: {error.reason}") from error

    def _failing_as(self, identifier: str) -> contextlib.AbstractContextManager[None]:
        return failing_as(self.shown, identifier)


class DirectoryTarget(InDirectory):
    """A `GroupTarget`: a directory that records are exported to.

    Records exported earlier and not selected now are kept.

    Args:
        directory: A new or empty directory, or one from an earlier export in the same form.

    Attributes:
        below: A directory in it that has the records and nothing else; ``""`` for none.
        writes_identifiers: See `siloexport.values.Capabilities.identifiers`.
    """

    below = ""
    writes_identifiers = False

    def __init__(self, directory: str, form: RecordForm) -> None:
        super().__init__(directory)
        self._form = form

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            each_version=False,
            deletions=frozenset({Deletions.DELETE}),
            groups=True,
            looks=True,
            identifiers=self.writes_identifiers,
        )

    @property
    def crosswalk(self) -> str:
        return self._form.variant

    # -- before ---------------------------------------------------------------------------

    def probe(self) -> None:
        if os.path.lexists(self.directory) and not os.path.isdir(self.directory):
            raise TargetUnusable(f"{self.shown} is not a directory; name a new or empty one")
        try:
            names = os.listdir(self.directory) if os.path.isdir(self.directory) else []
            if MARKER not in names and not self._may_become_ours(names):
                raise TargetUnusable(
                    f"{self.shown} holds something other than an earlier export; name a new or "
                    "empty directory"
                )
            kept = self._kept_key() if MARKER in names else ""
            self._take_marker(read_marker(self.directory))
        except OSError as error:
            raise TargetUnusable(f"{self.shown} cannot be read: {error.strerror}") from error
        self._key = kept or self._key or f"{self._form.name} {secrets.token_hex(16)}"

    def _take_marker(self, marker: bytes) -> None:
        """Take the settings from the marker of an earlier run; empty if there is none."""

    def _settings_in(self, marker: bytes, read: Callable[[str], _T]) -> _T | None:
        """Return the settings in a marker; None if it has none.

        Args:
            marker: From `read_marker`.
            read: Makes the settings from `RecordForm.settings`.

        Raises:
            TargetUnusable: They cannot be read.
        """
        text = marked(marker, SETTINGS)
        try:
            return read(text) if text else None
        except (ValueError, TypeError, AttributeError, RecursionError, ExportError):
            why = f"the settings in {self.shown} cannot be read"
            raise TargetUnusable(f"{why}; name another directory") from None

    def _may_become_ours(self, names: list[str]) -> bool:
        """Whether the directory is empty, or has only what a killed `prepare` left."""
        others = {name for name in names if not STAGED_MARKER.fullmatch(name)}
        return not others or (others == {NOTES} and not os.listdir(f"{self.directory}/{NOTES}"))

    def _kept_key(self) -> str:
        """Return the key in the marker; ``""`` if it names none.

        Raises:
            TargetUnusable: The directory holds records in another form.
        """
        key = marked(read_marker(self.directory), "export")
        form = key.partition(" ")[0]
        if key and form != self._form.name:
            raise TargetUnusable(
                f"{self.shown} holds an export as {form}; name another directory for "
                f"{self._form.name}"
            )
        return key

    def prepare(self) -> None:
        text = (
            "Records exported from a Silo, each under its identifier.\n"
            f"export: {self._key}\nform: {self._form.variant}\n"
        )
        if self._form.settings:
            text += f"{SETTINGS}: {self._form.settings}\n"
        content = text.encode()
        try:
            os.makedirs(f"{self.directory}/{NOTES}", exist_ok=True)
            mark(self.directory, self.shown, self._key, content)
            if self.below:
                os.makedirs(f"{self.directory}/{self.below}", exist_ok=True)
            self._sweep()
        except OSError as error:
            kind = TargetFull if error.errno in _NO_ROOM else TargetUnusable
            raise kind(f"{self.shown} cannot be written: {error.strerror}") from error

    def _sweep(self) -> None:
        """Remove what a killed export left, except what `recover` needs."""
        with os.scandir(self.directory) as there:
            left = [entry.name for entry in there if entry.name.startswith(MARKER)]
        for name in filter(STAGED_MARKER.fullmatch, left):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self.directory}/{name}")
        names = {name for name in left if name.startswith(MARKER + "-")}
        for name in names:
            staged = name.removesuffix(_OLD)
            if not {staged, staged + _OLD} <= names:
                _remove(f"{self.directory}/{name}")

    # -- deposits -------------------------------------------------------------------------

    def steps(self, deposit: Deposit, barrier: Barrier) -> DepositSteps:
        with self._failing_as(deposit.identifier):
            return (yield from self._steps(deposit, barrier))

    def _steps(self, deposit: Deposit, barrier: Barrier) -> DepositSteps:
        place = self._place(deposit.identifier)
        there = self._digest(place)
        if there and there == self._form.expected(deposit):
            return self._noted(deposit, there, was_there=True)
        day = self._form.day(place, deposit)
        with self._staged() as staged:
            digest = self._form.write(staged, deposit, day, barrier)
            if digest == there:
                return self._noted(deposit, there, was_there=True)
            if not deposit.overwrite and not self._only_lacks_files(place, deposit):
                self._refuse_changed(deposit.identifier, deposit.held, there)
            facts = {"digest": digest, "created": "" if there else "yes",
                     "staged": os.path.basename(staged), **_sized(staged)}  # fmt: skip
            yield {**facts, DAY: day} if day else facts
            if not deposit.overwrite and self._digest(place) != there:
                raise Conflict(
                    deposit.identifier,
                    f"{self._name(deposit.identifier)} in {self.shown} was changed meanwhile",
                )
            self._move_in(staged, place, barrier)
            yield {}
            _remove(staged + _OLD)
        return self._noted(deposit, digest, was_there=False, created=not there)

    def foresee(self, step: Deposit | Withdrawal, *, is_first: bool) -> str:  # noqa: ARG002 - a record needs one deposit only
        identifier = step.identifier
        with self._failing_as(identifier):
            there = self._digest(self._place(identifier))
            if isinstance(step, Withdrawal):
                if there and not step.overwrite:
                    self._refuse_changed(identifier, step.held, there)
            elif (
                not step.overwrite
                and not self._would_be(step, there)
                and not self._only_lacks_files(self._place(identifier), step)
            ):
                self._refuse_changed(identifier, step.held, there)
        return ""

    def _only_lacks_files(self, place: str, deposit: Deposit) -> bool:
        """Whether others removed files of a record, and the rest is as exported.

        It is written again then, as nobody's work is lost. What the Silo has to be the same.
        """
        if not os.path.isdir(place) or deposit.held is None or deposit.held.key != deposit.key:
            return False
        found = list(self._form.differences(place, deposit))
        return bool(found) and all(
            one.what == "file" and not os.path.lexists(one.where) for one in found
        )

    def _would_be(self, deposit: Deposit, there: str) -> bool:
        """Whether the directory holds the same bytes as the deposit would write."""
        if not there or (deposit.held is not None and deposit.held.token == there):
            return False
        if (expected := self._form.expected(deposit)) is not None:
            return there == expected
        day = self._form.day(self._place(deposit.identifier), deposit)
        with tempfile.TemporaryDirectory(prefix="silo-export-") as below:
            staged = f"{below}/{self._name(deposit.identifier)}"
            return self._form.write(staged, deposit, day, GroupBarrier(below)) == there

    def _refuse_changed(self, identifier: str, held: Held | None, there: str) -> None:
        token = "" if held is None or not held.deposits else held.token
        if there in ("", token):  # what is gone is written again: nobody's work is lost
            return
        is_known = held is not None and held.deposits
        why = (
            "was changed since it was exported"
            if is_known
            else "exists, but this export did not write it"
        )
        raise Conflict(identifier, f"{self._name(identifier)} in {self.shown} {why}")

    def _noted(
        self, deposit: Deposit, digest: str, *, was_there: bool, created: bool = False
    ) -> Deposited:
        self._write_note(deposit.identifier, _Note(deposit.key, deposit.version.name, digest))
        uri = self._place(deposit.identifier)
        return Deposited(uri, "", digest, (uri,) if created else (), was_there)

    def withdraw(self, withdrawal: Withdrawal, journal: DepositJournal) -> Deposited:
        """See `Target`: the exported record is deleted."""
        identifier = withdrawal.identifier
        place = self._place(identifier)
        with self._failing_as(identifier):
            there = self._digest(place)
            if there and not withdrawal.overwrite:
                self._refuse_changed(identifier, withdrawal.held, there)
            journal.committing()
            self._take_out(identifier)
        return Deposited(place, was_there=not there)

    def recover(self, left: UnfinishedDeposit) -> Deposited | None:
        """See `Target`: by the digest of the record in the directory."""
        place = self._place(left.identifier)
        with self._failing_as(left.identifier):
            if left.state is not DepositState.COMMITTING:
                return None
            self._end_swap(place, left.facts.get("staged", ""))
            there = self._form.digest(place)
            if left.withdrawal:
                return None if there else Deposited(place)
            if not there or there != left.facts.get("digest"):
                return None
            self._write_note(left.identifier, _Note(left.key, left.version, there))
        created = (place,) if left.facts.get("created") else ()
        return Deposited(place, "", there, created)

    # -- what is there ----------------------------------------------------------------------

    def seen(self, identifier: str, known: SizeThen | None) -> int | None:
        """See `siloexport.targets.SeenTarget`."""
        return size_at(self._place(identifier), known)

    def find(self, identifier: str) -> FoundInTarget | None:
        """See `Target`: by the note of the record, if its digest fits."""
        place = self._place(identifier)
        there = self._digest(place)
        if not there:
            return None
        note = self._read_note(identifier)
        if note is None or note.digest != there:
            return FoundInTarget(place, there, is_as_left=False)
        return FoundInTarget(place, there, (FoundVersion(note.version, note.key),))

    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:
        """See `Target`; the record is also compared with the digest in the ledger."""
        identifier = deposit.identifier
        place = self._place(identifier)
        if not os.path.lexists(place):
            why = f"{self._name(identifier)} is not in {self.shown}"
            yield deposit.differs("missing", place, why)
            return
        with self._failing_as(identifier):
            found = list(self._form.differences(place, deposit))
            if not found and is_head and self._form.digest(place) != held.token:
                why = (
                    f"{self._name(identifier)} is not the one that was exported: its digest differs"
                )
                found.append(deposit.differs("file", place, why))
        yield from found

    def rollback(self, created: CreatedThing, *, purge: bool) -> str:  # noqa: ARG002 - a directory keeps no tombstones
        with self._failing_as(created.identifier):
            there = self._digest(self._place(created.identifier))
            if there and there != created.token:
                raise CannotTakeBack(f"{created.uri} was changed since the run, and is kept")
            self._take_out(created.identifier)
        return ""

    # -- places ---------------------------------------------------------------------------

    def _name(self, identifier: str) -> str:
        return directory_name(identifier) + self._form.suffix

    def _place(self, identifier: str) -> str:
        return os.path.join(self.directory, self.below, self._name(identifier))

    def _digest(self, place: str) -> str:
        """Return the digest of a record; ``""`` only if nothing is at its path."""
        if not os.path.lexists(place):
            return ""
        return self._form.digest(place) or _OTHER

    @contextlib.contextmanager
    def _staged(self) -> Iterator[str]:
        """Give a temporary path in the directory; what is there at the end is removed."""
        path = f"{self.directory}/{MARKER}-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            yield path
        finally:
            _remove(path)

    def _move_in(self, staged: str, place: str, barrier: Barrier) -> None:
        old = staged + _OLD
        if os.path.isdir(place) or (os.path.isdir(staged) and os.path.lexists(place)):
            os.rename(place, old)
        try:
            move(staged, place, barrier)
        except BaseException:
            if os.path.lexists(old):
                os.rename(old, place)
            raise

    def _end_swap(self, place: str, name: str) -> None:
        """Finish a replacement that was killed after the old record was moved away."""
        staged = f"{self.directory}/{name}"
        if name and os.path.lexists(staged) and os.path.lexists(staged + _OLD):
            os.rename(staged, place)
            flush_directory(os.path.dirname(place))
            _remove(staged + _OLD)

    def _take_out(self, identifier: str) -> None:
        place = self._place(identifier)
        with self._staged() as away:
            if os.path.lexists(place):
                os.rename(place, away)
                flush_directory(os.path.dirname(place))
            flush_directory(self.directory)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._note_path(identifier))

    # -- notes ----------------------------------------------------------------------------

    def _note_path(self, identifier: str) -> str:
        return f"{self.directory}/{NOTES}/{directory_name(identifier)}.json"

    def _write_note(self, identifier: str, note: _Note) -> None:
        if self._read_note(identifier) == note:
            return
        values = {"identifier": identifier, "version": note.version, "key": note.key}
        text = json.dumps({**values, "digest": note.digest}, ensure_ascii=False, indent=1)
        path = self._note_path(identifier)
        staged = f"{path}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
        with open(staged, "wb") as file:  # not flushed: a note lost in a power cut is not needed
            file.write(f"{text}\n".encode())
        os.rename(staged, path)

    def _read_note(self, identifier: str) -> _Note | None:
        """Return the note; None if it is missing or unreadable: it only saves a comparison."""
        try:
            with open(self._note_path(identifier), "rb", opener=regular_fd) as file:
                values: dict[str, Any] = json.load(file)
            return _Note(str(values["key"]), str(values["version"]), str(values["digest"]))
        except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
            return None


@contextlib.contextmanager
def failing_as(shown: str, identifier: str) -> Iterator[None]:
    """Translate errors of the disk into those of an export.

    Args:
        shown: The target's name for people.

    Raises:
        DepositFailed, TargetFull, TargetUnusable: See `siloexport.targets.Target.deposit`.
    """
    try:
        yield
    except (FileNotInVersion, SourceChanged):
        raise
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise TargetFull(f"{shown}: {error.strerror}") from error
        if error.errno in _NO_MORE:
            raise TargetUnusable(f"{shown}: {error.strerror}") from error
        raise DepositFailed(identifier, _said(error, identifier)) from error


def _said(error: OSError, identifier: str) -> str:
    """An error of the disk, with the record's name where it is written under a temporary one."""
    if not error.filename:
        return str(error.strerror or error)
    path = _STAGED.sub(lambda _: directory_name(identifier), os.fsdecode(error.filename))
    return f"{path}: {error.strerror}"


def size_at(place: str, known: SizeThen | None = None) -> int | None:
    """Return the size of a file, and of a directory the number of names in it and below.

    It is -1 for anything else, None if nothing is there.

    Args:
        place: Where.
        known: What it was. Directories that have not changed since are not read.

    Cost: one stat for each directory that is known; else all of them are read.
    """
    try:
        found = os.lstat(place)
        if S_ISDIR(found.st_mode):
            return known.size if known and _is_as_then(place, known) else _names_below(place)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:  # whoever writes there finds out
        return -1
    return found.st_size if S_ISREG(found.st_mode) else -1


def _is_as_then(place: str, known: SizeThen) -> bool:
    """Whether no name was added or removed in any directory of a record, as their times say."""
    try:
        return bool(known.changed) and all(
            os.lstat(f"{place}{below}").st_mtime_ns == changed for below, changed in known.changed
        )
    except OSError:
        return False


def _names_below(directory: str) -> int:
    return sum(len(names) for _, _, names in _directories(directory))


def _directories(directory: str) -> Iterator[tuple[str, int, list[str]]]:
    """Yield path, time of change (nanoseconds) and names of a directory and those below it."""
    open_ones = [directory]
    while open_ones:
        path = open_ones.pop()
        with os.scandir(path) as there:
            entries = list(there)
        open_ones += [one.path for one in entries if one.is_dir(follow_symlinks=False)]
        yield path, os.lstat(path).st_mtime_ns, [one.name for one in entries]


def _sized(staged: str) -> dict[str, str]:
    """The facts for the ledger that say how large a record is; see `size_at`."""
    size = size_at(staged)
    if size is None or size < 0:
        return {}
    found = {SIZE: str(size)}
    if os.path.isdir(staged):
        times = [(path.removeprefix(staged), at) for path, at, _ in _directories(staged)]
        if len(times) <= _MOST_TIMES:
            found[CHANGED] = json.dumps(times)
    return found


def mark(directory: str, shown: str, export_key: str, content: bytes) -> None:
    """Write the marker; of exports that find none at the same time, only one does.

    Args:
        directory: Where.
        shown: Its name for people.
        export_key: The key of the export, which is in the content.
        content: Of the marker.

    Raises:
        LedgerInUse: Another export has begun here meanwhile.
    """
    before = read_marker(directory)
    if not before:
        try:
            make_file(f"{directory}/{MARKER}", content)
        except FileExistsError:
            before = read_marker(directory)
    key = marked(before, "export")
    if key and key != export_key:
        raise LedgerInUse(f"another export to {shown} has begun; wait until it ends")
    if before and before != content:
        replace_file(f"{directory}/{MARKER}", content)


def read_marker(directory: str) -> bytes:
    """Return the marker of a directory of exported records; empty if there is none."""
    try:
        with open(f"{directory}/{MARKER}", "rb", opener=regular_fd) as file:
            return file.read(1 << 22)
    except (FileNotFoundError, NotADirectoryError):
        return b""


def marked(marker: bytes, name: str) -> str:
    """Return the value of a line of the marker, such as ``export`` (the key); or ``""``."""
    for line in marker.decode("utf-8", "replace").splitlines():
        key, colon, value = line.partition(": ")
        if colon and key == name:
            return value
    return ""


def directory_name(identifier: str, *, is_taken: Callable[[str], bool] = lambda _: False) -> str:
    """Return a record's name: its cleaned identifier; a long one is cut and ends in a digest.

    So does one that is taken.
    """
    name = clean(identifier)
    if len(name.encode()) <= _MAX_NAME and not is_taken(name):
        return name
    digest = hashlib.sha256(identifier.encode()).hexdigest()[:16]
    return f"{name[: _MAX_NAME - 17]}~{digest}"


def _remove(path: str) -> None:
    """Remove a file or a tree, if it exists."""
    if os.path.isdir(path) and not os.path.islink(path):
        remove_tree(path)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


# -- records that are trees ----------------------------------------------------------------


def read_tree(directory: str) -> dict[str, Digest]:
    """Return path → digest of every file below a directory; of a link to nothing, `_NO_FILE`."""
    found = {}
    for below, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(below, name)
            if not os.path.exists(path) and os.path.islink(path):
                found[os.path.relpath(path, directory)] = _NO_FILE
                continue
            with open(path, "rb", opener=regular_fd) as file:
                found[os.path.relpath(path, directory)] = digest_of(file)
    return found


def tree_digest(files: Mapping[str, Digest]) -> str:
    """Return the digest of a tree; an empty directory has one too."""
    return digest_of_json([[name, d.size, d.sha256] for name, d in sorted(files.items())])


def tree_differences(
    path: str,
    deposit: Deposit,
    expected: Mapping[str, Digest],
    found: Mapping[str, Digest],
    version_of: Callable[[str], str],
) -> Iterator[Difference]:
    """Return the differences between a record’s files and those that its deposit would write.

    Args:
        path: Of the record.
        version_of: Returns the version that a file is in; ``""`` for none.
    """
    return deposit.file_differences(expected, found, version_of, below=f"{path}/")
