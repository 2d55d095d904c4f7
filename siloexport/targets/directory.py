"""A directory of exported records, whatever form each has in it.

out/
  .silo-export                            marks a directory of this kind, and names it
  .silo-notes/<name>.json                 what each was exported as
  <name>                                  a record, in its form: a directory, a file

A record is built beside its place and renamed in, so it is whole or not there. Its note
says under which key it was put and what it held then: what is otherwise now was changed
by somebody else.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from recordsilo.disk.atomic_file import flush_directory, remove_tree, replace_file
from recordsilo.disk.identifier import clean
from recordsilo.errors import FileNotInVersion
from siloexport.errors import (
    CannotTakeBack,
    Conflict,
    DepositFailed,
    SourceChanged,
    TargetFull,
    TargetUnusable,
)
from siloexport.targets import DepositJournal
from siloexport.values import (
    Capabilities,
    CreatedThing,
    Deletions,
    Deposit,
    Deposited,
    DepositState,
    Difference,
    Found,
    FoundVersion,
    Held,
    UnfinishedDeposit,
    Withdrawal,
)

MARKER = ".silo-export"
NOTES = ".silo-notes"
SETTINGS = "settings"
"""The line of the marker that keeps a form's settings."""
DAY = "day"
"""The fact in the ledger that says which day a record bears."""
_MAX_NAME = 200
_STAGED_MARKER = re.compile(re.escape(MARKER) + r"\.\d+-[0-9a-f]+\.tmp")
_OLD = "-old"
_OTHER = "something else"
"""The digest of what has not the form of the records here."""
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_NO_MORE = {errno.EROFS, errno.EACCES, errno.EPERM}


class Form(Protocol):
    """How a record looks in the directory."""

    @property
    def name(self) -> str:
        """What the marker calls it: ``files``, ``bags``."""

    @property
    def suffix(self) -> str:
        """What a record's name ends in: ``.tar``; or ``""``."""

    @property
    def variant(self) -> str:
        """What else decides how it looks; part of every key."""

    @property
    def settings(self) -> str:
        """What the marker keeps for later runs, as one line; ``""`` for nothing."""

    def day(self, path: str, deposit: Deposit) -> str:
        """The day that a record will bear (YYYY-MM-DD), where one may be already; or ``""``."""

    def write(self, path: str, deposit: Deposit, day: str) -> str:
        """Write a record where nothing is yet, and flush it; its digest (`digest`).

        Raises:
            SourceChanged, FileNotInVersion, OSError: It cannot be.
        """

    def digest(self, path: str) -> str:
        """The digest of what is there, read anew; ``""`` for nothing of this form."""

    def expected(self, deposit: Deposit) -> str | None:
        """The digest it would have; None where that is not known before it is written."""

    def differences(self, path: str, deposit: Deposit) -> Iterator[Difference]:
        """In what it is not as deposited."""


@dataclass(frozen=True, slots=True)
class _Note:
    """What was exported as a record: key, versions, digest."""

    key: str
    version: str
    digest: str


class DirectoryTarget:
    """A directory that records are exported to.

    What was exported earlier and is not selected now stays.

    Args:
        directory: New, empty, or one that an earlier export in the same form made.
    """

    def __init__(self, directory: str, form: Form) -> None:
        self.directory = os.path.abspath(directory)
        self.shown = directory
        self._form = form
        self._key = ""

    @property
    def key(self) -> str:
        """See `Target`: the directory's own name for itself, wherever it is moved to."""
        return self._key

    @property
    def capabilities(self) -> Capabilities:
        """See `Target`."""
        return Capabilities(each_version=False, deletions=frozenset({Deletions.DELETE}))

    @property
    def crosswalk(self) -> str:
        """See `Target`."""
        return self._form.variant

    # -- before ---------------------------------------------------------------------------

    def probe(self) -> None:
        """See `Target`."""
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
        """Take over what an earlier run left in the marker; empty where there is none."""

    def _may_become_ours(self, names: list[str]) -> bool:
        """Whether nothing is there, or no more than a killed `prepare` left."""
        others = {name for name in names if not _STAGED_MARKER.fullmatch(name)}
        return not others or (others == {NOTES} and not os.listdir(f"{self.directory}/{NOTES}"))

    def _kept_key(self) -> str:
        """The key in the marker; ``""`` where an earlier release wrote none.

        Raises:
            TargetUnusable: It is of another form.
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
        """See `Target`."""
        text = (
            "Records exported from a Silo, each under its identifier.\n"
            f"export: {self._key}\nform: {self._form.variant}\n"
        )
        if self._form.settings:
            text += f"{SETTINGS}: {self._form.settings}\n"
        content = text.encode()
        try:
            os.makedirs(f"{self.directory}/{NOTES}", exist_ok=True)
            if read_marker(self.directory) != content:
                replace_file(f"{self.directory}/{MARKER}", content)
            self._sweep()
        except OSError as error:
            raise TargetUnusable(f"{self.shown} cannot be written: {error.strerror}") from error

    def _sweep(self) -> None:
        """Remove what a killed export left; a record killed between two renames is `recover`'s."""
        there = os.listdir(self.directory)
        for name in filter(_STAGED_MARKER.fullmatch, there):
            os.unlink(f"{self.directory}/{name}")
        names = {name for name in there if name.startswith(MARKER + "-")}
        for name in names:
            staged = name.removesuffix(_OLD)
            if not {staged, staged + _OLD} <= names:
                _remove(f"{self.directory}/{name}")

    # -- deposits -------------------------------------------------------------------------

    def deposit(self, deposit: Deposit, journal: DepositJournal) -> Deposited:
        """See `Target`."""
        with self._failing_as(deposit.identifier):
            return self._deposit(deposit, journal)

    def _deposit(self, deposit: Deposit, journal: DepositJournal) -> Deposited:
        place = self._place(deposit.identifier)
        there = self._digest(place)
        if there and there == self._form.expected(deposit):
            return self._noted(deposit, there, was_there=True)
        day = self._form.day(place, deposit)
        with self._staged() as staged:
            digest = self._form.write(staged, deposit, day)
            if digest == there:
                return self._noted(deposit, there, was_there=True)
            if not deposit.overwrite:
                self._refuse_changed(deposit.identifier, deposit.held, there)
            created = "" if there else "yes"
            facts = {"digest": digest, "created": created, "staged": os.path.basename(staged)}
            journal.committing(**facts, **({DAY: day} if day else {}))
            self._move_in(staged, place)
        return self._noted(deposit, digest, was_there=False, created=not there)

    def foresee(self, step: Deposit | Withdrawal, *, is_first: bool) -> str:  # noqa: ARG002 - one deposit is all there is
        """See `Target`."""
        identifier = step.identifier
        with self._failing_as(identifier):
            there = self._digest(self._place(identifier))
            if isinstance(step, Withdrawal):
                if there and not step.overwrite:
                    self._refuse_changed(identifier, step.held, there)
            elif not step.overwrite and not self._would_be(step, there):
                self._refuse_changed(identifier, step.held, there)
        return ""

    def _would_be(self, deposit: Deposit, there: str) -> bool:
        """Whether what is there is what the deposit would put there, byte for byte."""
        if not there or (deposit.held is not None and deposit.held.token == there):
            return False
        if (expected := self._form.expected(deposit)) is not None:
            return there == expected
        day = self._form.day(self._place(deposit.identifier), deposit)
        with tempfile.TemporaryDirectory(prefix="silo-export-") as below:
            staged = f"{below}/{self._name(deposit.identifier)}"
            return self._form.write(staged, deposit, day) == there

    def _refuse_changed(self, identifier: str, held: Held | None, there: str) -> None:
        token = "" if held is None or not held.deposits else held.token
        if there == token:
            return
        if not there:
            raise Conflict(identifier, f"{self._name(identifier)} was removed from {self.shown}")
        is_known = held is not None and held.deposits
        why = "was changed" if is_known else "is there, and is not this export's"
        raise Conflict(identifier, f"{self._name(identifier)} in {self.shown} {why}")

    def _noted(
        self, deposit: Deposit, digest: str, *, was_there: bool, created: bool = False
    ) -> Deposited:
        self._write_note(deposit.identifier, _Note(deposit.key, deposit.version.name, digest))
        uri = self._place(deposit.identifier)
        return Deposited(uri, "", digest, (uri,) if created else (), was_there)

    def withdraw(self, withdrawal: Withdrawal, journal: DepositJournal) -> Deposited:
        """See `Target`: what was exported of the record is deleted."""
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
        """See `Target`: what is in the place is what was to be put there, or not."""
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

    def find(self, identifier: str) -> Found | None:
        """See `Target`: by its note, where that speaks of what is there."""
        place = self._place(identifier)
        there = self._digest(place)
        if not there:
            return None
        note = self._read_note(identifier)
        if note is None or note.digest != there:
            return Found(place, there, is_as_left=False)
        return Found(place, there, (FoundVersion(note.version, note.key),))

    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:
        """See `Target`; beside the Silo, what is there is held against the ledger's digest."""
        identifier = deposit.identifier
        place = self._place(identifier)
        if not os.path.lexists(place):
            why = f"{self._name(identifier)} is not in {self.shown}"
            yield deposit.differs("missing", place, why)
            return
        with self._failing_as(identifier):
            found = list(self._form.differences(place, deposit))
            if not found and is_head and self._form.digest(place) != held.token:
                why = f"{self._name(identifier)} is not the one exported: its digest is another"
                found.append(deposit.differs("file", place, why))
        yield from found

    def rollback(self, created: CreatedThing, *, purge: bool) -> str:  # noqa: ARG002 - nothing is left here anyway
        """See `Target`."""
        with self._failing_as(created.identifier):
            there = self._digest(self._place(created.identifier))
            if there and there != created.token:
                raise CannotTakeBack(f"{created.uri} was changed since, and stays")
            self._take_out(created.identifier)
        return ""

    # -- places ---------------------------------------------------------------------------

    def _name(self, identifier: str) -> str:
        return directory_name(identifier) + self._form.suffix

    def _place(self, identifier: str) -> str:
        return f"{self.directory}/{self._name(identifier)}"

    def _digest(self, place: str) -> str:
        """The digest of what is in a place; ``""`` only where nothing is."""
        if not os.path.lexists(place):
            return ""
        return self._form.digest(place) or _OTHER

    @contextlib.contextmanager
    def _staged(self) -> Iterator[str]:
        """A path beside the places, where nothing is; what is there afterwards is removed."""
        path = f"{self.directory}/{MARKER}-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            yield path
        finally:
            _remove(path)

    def _move_in(self, staged: str, place: str) -> None:
        old = staged + _OLD
        if os.path.isdir(place) or (os.path.isdir(staged) and os.path.lexists(place)):
            os.rename(place, old)
        try:
            os.rename(staged, place)
        except BaseException:
            if os.path.lexists(old):
                os.rename(old, place)
            raise
        flush_directory(self.directory)
        _remove(old)

    def _end_swap(self, place: str, name: str) -> None:
        """Move in what was about to be, where the old one was moved away already."""
        staged = f"{self.directory}/{name}"
        if name and os.path.lexists(staged) and os.path.lexists(staged + _OLD):
            os.rename(staged, place)
            flush_directory(self.directory)
            _remove(staged + _OLD)

    def _take_out(self, identifier: str) -> None:
        place = self._place(identifier)
        with self._staged() as away:
            if os.path.lexists(place):
                os.rename(place, away)
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
        with open(staged, "wb") as file:  # not flushed: one lost in a power cut is made up for
            file.write(f"{text}\n".encode())
        os.rename(staged, path)

    def _read_note(self, identifier: str) -> _Note | None:
        """None where there is none that can be read: it only spares a comparison."""
        try:
            with open(self._note_path(identifier), "rb") as file:
                values: dict[str, Any] = json.load(file)
            return _Note(str(values["key"]), str(values["version"]), str(values["digest"]))
        except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
            return None

    @contextlib.contextmanager
    def _failing_as(self, identifier: str) -> Iterator[None]:
        try:
            yield
        except (FileNotInVersion, SourceChanged):
            raise
        except OSError as error:
            if error.errno in _NO_ROOM:
                raise TargetFull(f"{self.shown}: {error.strerror}") from error
            if error.errno in _NO_MORE:
                raise TargetUnusable(f"{self.shown}: {error.strerror}") from error
            raise DepositFailed(identifier, str(error)) from error


def read_marker(directory: str) -> bytes:
    """The text by which a directory of exported records is known; empty where there is none."""
    try:
        with open(f"{directory}/{MARKER}", "rb") as file:
            return file.read(1 << 22)
    except FileNotFoundError:
        return b""


def marked(marker: bytes, name: str) -> str:
    """What a line of a marker says: its ``export`` (the key), its ``form``; or ``""``."""
    for line in marker.decode("utf-8", "replace").splitlines():
        key, colon, value = line.partition(": ")
        if colon and key == name:
            return value
    return ""


def directory_name(identifier: str) -> str:
    """A record's name: its cleaned identifier; a long one is cut and ends in a digest."""
    name = clean(identifier)
    if len(name.encode()) <= _MAX_NAME:
        return name
    digest = hashlib.sha256(identifier.encode()).hexdigest()[:16]
    return f"{name[: _MAX_NAME - 17]}~{digest}"


def _remove(path: str) -> None:
    """Remove a file or a tree; nothing there is no error."""
    if os.path.isdir(path) and not os.path.islink(path):
        remove_tree(path)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
