"""A storage root of OCFL 1.1: a record is an object, and each export of a version one of its own.

root/
  0=ocfl_1.1  ocfl_layout.json  extensions/0004-hashed-n-tuple-storage-layout/config.json
  .silo-export                          marks the directory as an export, with its key
  3c0/ff4/240/3c0ff4240…/               an object
    0=ocfl_object_1.1  inventory.json  inventory.json.sha512
    v1/content/silo.json                about the version and the record (docs/format-manifest.md)
    v1/content/data/oai_dc              as in the Silo; content is stored once

An object is written whole beside the others and exchanged with the one before, so it is always
valid. What others changed is found by the inventory and the sizes of the files; a change that
keeps the size, by `verify`.

Source: Oxford Common File Layout 1.1.
"""

import hashlib
import itertools
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

from infopackages.files import chunks_of
from infopackages.ocfl.inventory import INVENTORY, Inventory, ObjectVersion, OcflError
from infopackages.ocfl.layouts import DESCRIPTIONS, HASHED, StorageLayout
from infopackages.ocfl.reading import (
    EXTENSIONS,
    LAYOUT,
    ROOT,
    ROOT_TEXT,
    StoredObject,
    read_layout,
    read_object,
)
from recordsilo.disk.atomic_file import (
    Barrier,
    StrictBarrier,
    make_directories,
    replace_file,
)
from siloexport.content import checked_chunks
from siloexport.errors import CannotTakeBack, Conflict, DepositFailed, TargetUnusable
from siloexport.targets import DepositJournal, DepositSteps
from siloexport.targets.directory import (
    MARKER,
    STAGED_MARKER,
    InDirectory,
    mark,
    marked,
    read_marker,
    size_at,
)
from siloexport.targets.ocfl_about import (
    ABOUT,
    DATA,
    VersionEntry,
    about,
    created_of,
    entries,
    message_of,
    read_about,
    to_bytes,
    user_of,
    withdrawn,
)
from siloexport.targets.ocfl_writing import (
    ContentChanged,
    Hierarchy,
    NewFile,
    token_of,
    write_object,
)
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

_VARIANT = "ocfl 1"
SET_ASIDE = "silo-set-aside"
"""The directory in ``extensions`` for what cannot be used any more, and is not to be lost."""
_AGAIN = (
    "--on-conflict overwrite writes the object again, and keeps what is there in "
    f"{EXTENSIONS}/{SET_ASIDE}"
)
_CAN = Capabilities(
    each_version=True,
    deletions=frozenset({Deletions.STATUS, Deletions.DELETE}),
    groups=True,
    states=True,
    looks=True,
)


@dataclass(frozen=True, slots=True)
class _There:
    """An object as it is.

    Attributes:
        made: The versions that exports made.
    """

    stored: StoredObject
    token: str
    made: tuple[VersionEntry, ...]

    def uri(self, entry: VersionEntry) -> str:
        return f"{self.stored.path}/{self.stored.inventory.name(entry.number)}"


class OcflTarget(InDirectory):
    """A `GroupTarget`: a storage root of OCFL 1.1.

    Objects of others in it are left alone.

    Args:
        directory: A new or empty directory, or a storage root with a layout that is supported.
        layout: Name of a layout for a new storage root; ``""`` for the one it has, or 0004.
        now: Returns the current time in UTC.
    """

    def __init__(
        self,
        directory: str,
        layout: str = "",
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(directory)
        self._asked, self._now = layout, now
        self._layout: StorageLayout | None = None
        self._path = lru_cache(maxsize=100)(lambda name: self._known_layout.path(name))  # noqa: PLW0108 - known after `probe`
        self._name, self._number = secrets.token_hex(4), itertools.count()
        self._hierarchy = Hierarchy(self.directory, f"{self.directory}/{MARKER}")

    @property
    def capabilities(self) -> Capabilities:
        return _CAN

    @property
    def crosswalk(self) -> str:
        return _VARIANT

    # -- before ---------------------------------------------------------------------------

    def probe(self) -> None:
        if os.path.lexists(self.directory) and not os.path.isdir(self.directory):
            raise TargetUnusable(f"{self.shown} is not a directory; name a new or empty one")
        try:
            names = os.listdir(self.directory) if os.path.isdir(self.directory) else []
            key = marked(read_marker(self.directory), "export")
            if key and key.partition(" ")[0] != "ocfl":
                form = key.partition(" ")[0]
                raise TargetUnusable(
                    f"{self.shown} holds an export as {form}; name another directory"
                )
            is_ours = bool(key) or all(map(STAGED_MARKER.fullmatch, names))
            self._layout = self._declared(is_new=is_ours and ROOT not in names)
        except OSError as error:
            raise TargetUnusable(f"{self.shown} cannot be read: {error.strerror}") from error
        self._key = key or self._key or f"ocfl {secrets.token_hex(16)}"

    def _declared(self, *, is_new: bool) -> StorageLayout:
        """Return the layout of the storage root, or that of a new one."""
        if is_new:
            return StorageLayout(self._asked or HASHED)
        try:
            layout = read_layout(self.directory)
        except OcflError as error:
            raise TargetUnusable(f"{self.shown}: {error}; name a new or empty directory") from None
        if layout is None:
            raise TargetUnusable(f"{self.shown} declares no layout; name another storage root")
        if self._asked not in ("", layout.name):
            raise TargetUnusable(
                f"{self.shown} has the layout {layout.name}; name another directory for "
                f"{self._asked}"
            )
        return layout

    def prepare(self) -> None:
        layout = self._known_layout
        text = "Records exported from a Silo as OCFL objects.\n"
        content = f"{text}export: {self._key}\nform: {_VARIANT}\n".encode()
        files = {
            f"{EXTENSIONS}/{layout.name}/config.json": _json(layout.config),
            LAYOUT: _json({"extension": layout.name, "description": DESCRIPTIONS[layout.name]}),
            ROOT: ROOT_TEXT,  # last: before it, this is no storage root
        }
        with self._failing_as(""):
            os.makedirs(self.directory, exist_ok=True)
            mark(self.directory, self.shown, self._key, content)
            if not os.path.lexists(f"{self.directory}/{ROOT}"):
                for name, one in files.items():
                    place = f"{self.directory}/{name}"
                    make_directories(os.path.dirname(place), self.directory, StrictBarrier())
                    replace_file(place, one)
            self._hierarchy.sweep()

    @property
    def _known_layout(self) -> StorageLayout:
        assert self._layout is not None, "after probe"
        return self._layout

    # -- deposits -------------------------------------------------------------------------

    def steps(self, deposit: Deposit, barrier: Barrier) -> DepositSteps:
        """Deposit a record, pausing where it waits for the barrier that it shares with others."""
        with self._failing_as(deposit.identifier):
            aside = self._set_aside(deposit.identifier) if deposit.overwrite else ""
            there = self._there(deposit.identifier)
            if there is not None and (done := self._done(deposit, there)) is not None:
                count = len(there.made)
                uri = there.uri(done)
                return Deposited(there.stored.path, uri, there.token, (), True, count)
            if not deposit.overwrite:
                _refuse_changed(deposit.identifier, deposit.held, there)
            names = [one.version for one in there.made] if there else []
            version = deposit.version
            created = created_of(version, self._now(), is_first=version.name not in names)
            user = user_of(version, deposit.source)
            made = ObjectVersion(created, {}, message_of(version), *user)
            contents = dict(_contents(deposit))
            done_now = yield from self._written(deposit, there, made, contents, barrier)
            return replace(done_now, remark=aside)

    def _set_aside(self, identifier: str) -> str:
        """Move an object without an inventory away; returns a sentence that says where it is.

        The record is written as a new object then.
        """
        place = self._place(identifier)
        if not _lacks_inventory(place):
            return ""
        name = f"{os.path.basename(place)}-{self._now():%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"
        aside = f"{self.directory}/{EXTENSIONS}/{SET_ASIDE}/{name}"
        self._hierarchy.set_aside(place, aside)
        return f"what was there had no {INVENTORY}, and is now {EXTENSIONS}/{SET_ASIDE}/{name}"

    def _written(
        self,
        step: Deposit | Withdrawal,
        there: _There | None,
        version: ObjectVersion,
        contents: dict[str, NewFile],
        barrier: Barrier,
    ) -> DepositSteps:
        """Write an object with one more version, and put it into its place."""
        identifier = step.identifier
        place = self._place(identifier)
        before = there.stored if there else Inventory(identifier)
        staged = self._begun()
        try:
            try:
                inventory, token = write_object(
                    staged, before, version, contents, barrier, mends=step.overwrite
                )
            except ContentChanged:
                raise DepositFailed(identifier, "its files changed while they were read") from None
            yield {"token": token, "created": "" if there else "yes",
                   "staged": os.path.basename(staged)}  # fmt: skip
            self._put(step, there, staged, place, barrier)
            yield {}
        finally:
            self._hierarchy.end(staged)
        uri = f"{place}/{inventory.head}"
        count = 1 + (len(there.made) if there else 0)
        return Deposited(place, uri, token, () if there else (place,), False, count)

    def _put(
        self,
        step: Deposit | Withdrawal,
        there: _There | None,
        staged: str,
        place: str,
        barrier: Barrier,
    ) -> None:
        """Put a written object into its place, unless others changed that since it was read."""
        is_changed = False
        if there is not None and not step.overwrite:
            is_changed = not os.path.lexists(place) or token_of(place) != there.token
        try:
            if not is_changed:
                self._hierarchy.put(
                    staged, place, barrier, replaces=there is not None or step.overwrite
                )
        except FileExistsError:
            is_changed = True
        if is_changed:
            raise Conflict(step.identifier, f"{place} was changed meanwhile")

    def foresee(self, step: Deposit | Withdrawal, *, is_first: bool) -> str:
        with self._failing_as(step.identifier):
            if step.overwrite and _lacks_inventory(self._place(step.identifier)):
                return ""
            there = self._there(step.identifier)
            if not is_first or step.overwrite:
                return ""
            is_done = isinstance(step, Deposit) and there is not None and self._done(step, there)
            is_gone = isinstance(step, Withdrawal) and there is None
            if not is_done and not is_gone:
                _refuse_changed(step.identifier, step.held, there)
        return ""

    @staticmethod
    def _done(deposit: Deposit, there: _There) -> VersionEntry | None:
        """Return the version of the object that is the deposit already; None if there is none.

        Without a ledger that is one that an export made; if the ledger knows some, a later one.
        """
        held = deposit.held
        known = held is not None and held.deposits > 0
        if known and held is not None and held.token != there.token:
            return None
        is_last = known and held is not None and held.version_uri
        later = there.made
        if is_last:
            uris = [there.uri(one) for one in there.made]
            later = later[uris.index(is_last) + 1 :] if is_last in uris else ()
        found = next((one for one in later if one.key == deposit.key and not one.withdrawn), None)
        if found is None or (not known and any(there.stored.problems())):
            return None
        return found

    def withdraw(self, withdrawal: Withdrawal, journal: DepositJournal) -> Deposited:
        identifier = withdrawal.identifier
        with self._failing_as(identifier):
            there = self._there(identifier)
            if there is None:
                return Deposited(self._place(identifier), was_there=True, deposits=0)
            if not withdrawal.overwrite:
                _refuse_changed(identifier, withdrawal.held, there)
            if withdrawal.how is Deletions.STATUS:
                steps = partial(self._marked, withdrawal, there)
                return self._carried_out(steps, journal)
            journal.committing()
            self._take_out(there.stored.path)
        return Deposited(there.stored.path, deposits=0)

    def _marked(self, withdrawal: Withdrawal, there: _There, barrier: Barrier) -> DepositSteps:
        """Add a version that says that the source deleted the record."""
        inventory = there.stored.inventory
        last = inventory.versions[-1]
        contents = {
            path: NewFile(digest, partial(_stored, there.stored, digest))
            for path, digest in last.state.items()
        }
        text = to_bytes(withdrawn(read_about(there.stored, len(inventory.versions)), withdrawal))
        contents[ABOUT] = NewFile(there.stored.digest_of(text), text)
        moment = self._now().replace(tzinfo=None).isoformat()
        made = ObjectVersion(f"{moment}Z", {}, "deleted at the source", last.user, last.address)
        return self._written(withdrawal, there, made, contents, barrier)

    def recover(self, left: UnfinishedDeposit) -> Deposited | None:
        """See `Target`: by the token of the object."""
        place = self._place(left.identifier)
        with self._failing_as(left.identifier):
            if left.state is not DepositState.COMMITTING:
                return None
            if name := left.facts.get("staged"):
                self._hierarchy.finish(f"{self._hierarchy.staging}/{name}", place)
            there = self._there(left.identifier)
            if there is None or not left.facts.get("token"):
                is_deleted = left.withdrawal and there is None and not left.facts.get("token")
                return Deposited(place, deposits=0) if is_deleted else None
            if there.token != left.facts["token"]:
                return None
        created = (place,) if left.facts.get("created") else ()
        uri = there.uri(there.made[-1])
        return Deposited(place, uri, there.token, created, False, len(there.made))

    # -- what is there ----------------------------------------------------------------------

    def seen(self, identifier: str, known: SizeThen | None) -> int | None:  # noqa: ARG002 - none is noted
        """See `siloexport.targets.SeenTarget`; of an object, the inventory is looked at."""
        return size_at(f"{self._place(identifier)}/{INVENTORY}")

    def find(self, identifier: str) -> FoundInTarget | None:
        """See `Target`: by ``silo.json`` of each version; all content is compared."""
        with self._failing_as(identifier):
            there = self._there(identifier)
            if there is None:
                return None
            place, made = there.stored.path, there.made
            if not made:
                return FoundInTarget(place, there.token, is_as_left=False)
            found = [FoundVersion(one.version, one.key, there.uri(one)) for one in made
                     if not one.withdrawn]  # fmt: skip
            is_last = made[-1].number == len(there.stored.inventory.versions)
            is_as_left = is_last and not any(there.stored.problems())
            return FoundInTarget(
                place, there.token, tuple(found), len(made), made[-1].withdrawn, is_as_left
            )

    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:
        """See `Target`; the last version is also compared with the token in the ledger."""
        place = self._place(deposit.identifier)
        if not os.path.lexists(place):
            yield deposit.differs("missing", place, f"the object is not in {self.shown}")
            return
        try:
            with self._failing_as(deposit.identifier):
                there = self._there(deposit.identifier)
        except DepositFailed as error:
            yield deposit.differs("unreadable", place, error.reason)
            return
        assert there is not None
        number = next((one.number for one in there.made if there.uri(one) == held.version_uri), 0)
        if not number:
            yield deposit.differs("versions", held.version_uri, "the object has no such version")
            return
        with self._failing_as(deposit.identifier):
            found = list(_differences(deposit, there.stored, number))
        if not found and is_head and there.token != held.token:
            why = "the object was changed since it was exported"
            found.append(deposit.differs("file", place, why))
        yield from found

    def rollback(self, created: CreatedThing, *, purge: bool) -> str:  # noqa: ARG002 - a storage root keeps no tombstones
        with self._failing_as(created.identifier):
            there = self._there(created.identifier)
            if there is not None and there.token != created.token:
                raise CannotTakeBack(f"{created.uri} was changed since the run, and is kept")
            if there is not None:
                self._take_out(there.stored.path)
        return ""

    # -- places ---------------------------------------------------------------------------

    def _place(self, identifier: str) -> str:
        try:
            return f"{self.directory}/{self._path(identifier)}"
        except OcflError as error:
            raise DepositFailed(identifier, str(error)) from None

    def _there(self, identifier: str) -> _There | None:
        """Read the object of a record.

        Raises:
            DepositFailed: It cannot be read, or is the object of another record.
            Conflict: it has no inventory.
        """
        place = self._place(identifier)
        if not os.path.lexists(place):
            return None
        if _lacks_inventory(place):
            raise Conflict(identifier, f"{place} has no {INVENTORY}; {_AGAIN}")
        try:
            stored = read_object(place)
        except OcflError as error:
            why = f"{place} cannot be extended: {error}; or remove {INVENTORY}, and {_AGAIN}"
            raise DepositFailed(identifier, why) from None
        if stored.inventory.algorithm != "sha512":
            raise DepositFailed(identifier, f"{place} has no SHA-512, and cannot be extended")
        if stored.inventory.id != identifier:
            why = f"{place} is the object of another record, {stored.inventory.id}"
            raise DepositFailed(identifier, why)
        return _There(stored, token_of(place, stored.digest), tuple(entries(stored)))

    def _begun(self) -> str:
        """Return a new directory for staging; see `Hierarchy.end`."""
        return self._hierarchy.begin(f"{os.getpid()}-{self._name}-{next(self._number)}")

    def _take_out(self, place: str) -> None:
        staged = self._begun()
        try:
            self._hierarchy.take(place, staged)
        finally:
            self._hierarchy.end(staged)


# -- decisions ------------------------------------------------------------------------------


def _lacks_inventory(place: str) -> bool:
    return os.path.lexists(place) and not os.path.lexists(f"{place}/{INVENTORY}")


def _refuse_changed(identifier: str, held: Held | None, there: _There | None) -> None:
    known = held is not None and held.deposits > 0
    if there is None:  # what is gone is written again: nobody's work is lost
        return
    if there.token == (held.token if known and held is not None else ""):
        return
    why = (
        "was changed since it was exported" if known else "exists, but this export did not write it"
    )
    raise Conflict(identifier, f"the object {there.stored.path} {why}")


def _contents(deposit: Deposit) -> Iterator[tuple[str, NewFile]]:
    version = deposit.version
    content = version.content
    for file in version.files:
        sha512 = content.sha512(file.path)
        opened = partial(checked_chunks, deposit.identifier, version, file)
        yield DATA + file.path, NewFile(sha512, content.held(file.path) or opened)
    text = to_bytes(about(deposit))
    yield ABOUT, NewFile(hashlib.sha512(text).hexdigest(), text)


@contextmanager
def _stored(there: StoredObject, digest: str) -> Iterator[Iterable[bytes]]:
    with there.open(digest) as file:
        yield chunks_of(file)


def _differences(deposit: Deposit, there: StoredObject, number: int) -> Iterator[Difference]:
    """Yield the differences between a version of an object and its deposit."""
    inventory = there.inventory
    name = inventory.name(number)
    whole = inventory.versions[number - 1].state
    state = {path: digest for path, digest in whole.items() if path != ABOUT}
    expected = {path: content.digest for path, content in _contents(deposit) if path != ABOUT}
    below = f"{there.path}/{name}: "
    yield from deposit.file_differences(expected, state, lambda _path: "", below=below)
    for digest in sorted(set(whole.values())):
        for path in inventory.manifest[digest]:
            if not there.is_sound(digest, path):
                yield deposit.differs(
                    "file", f"{there.path}/{path}", f"{path} is missing or damaged"
                )


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()
