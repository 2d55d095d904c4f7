"""The values of an export: actions, deposits, and their results. All are frozen."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, BinaryIO, NamedTuple, Protocol

from recordsilo.records.manifest import Origin
from recordsilo.value_identifiers import IdentifiersOfValues


class ActionKind(StrEnum):
    """What to do with one version of a record, or with the record."""

    CREATE = "create"
    """The target does not hold the record yet."""
    ADD_VERSION = "add version"
    REPLACE = "replace"
    """The version was exported; its files changed since, or it has to be the newest again."""
    DESCRIBE = "describe"
    """Its files are as exported; its description or the crosswalk changed."""
    WITHDRAW = "withdraw"
    """The source deleted the record: mark or delete it in the target, as the policy says."""
    LEAVE = "leave"
    """Deleted at the source; do nothing: it was never exported, or the policy says so."""
    NOTHING = "nothing"


class Result(StrEnum):
    """The result of an action."""

    DONE = "done"
    FAILED = "failed"
    CONFLICT = "conflict"
    SKIPPED = "skipped"
    """A conflict; the policy is to skip conflicts."""


class DepositState(StrEnum):
    """The state of a deposit; the ledger notes it before the step that it names."""

    OPEN = "open"
    COMMITTING = "committing"
    DONE = "done"
    FAILED = "failed"
    CONFLICT = "conflict"
    WITHDRAWN = "withdrawn"
    ROLLED_BACK = "rolled back"


UNFINISHED = (DepositState.OPEN, DepositState.COMMITTING)


class Deletions(StrEnum):
    """What to do with an exported record that the source deleted."""

    STATUS = "status"
    DELETE = "delete"
    KEEP = "keep"


class OnConflict(StrEnum):
    """What to do if the target does not hold what was exported there."""

    FAIL = "fail"
    SKIP = "skip"
    OVERWRITE = "overwrite"


REPLACE = (OnConflict.FAIL, OnConflict.OVERWRITE)
"""The choices for an export to a single file; skipping it would export nothing."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a target can do.

    Attributes:
        each_version: Whether it takes the versions of a record one after the other and keeps
            them. If not, a deposit holds all chosen versions and replaces the one before.
        deletions: What it can do with a record that the source deleted.
        groups: Whether it takes the deposits of several records as a group; then it is a
            `siloexport.targets.GroupTarget`.
        states: Whether it stores the state that a curator gave a version; then a new state is a
            change to be exported.
        sets: Whether it stores the sets of a record; then other sets are a change.
        sums: Whether it has something about all its records together; then it is a
            `siloexport.targets.SummedTarget`.
        looks: Whether it finds out at next to no cost what is there of a record; then it is a
            `siloexport.targets.SeenTarget`.
        identifiers: Whether it writes the identifiers that values have beside the metadata, as
            in an authority file; then another identifier is a change to be exported.
    """

    each_version: bool
    deletions: frozenset[Deletions] = frozenset()
    groups: bool = False
    states: bool = False
    sets: bool = False
    sums: bool = False
    looks: bool = False
    identifiers: bool = False


class SizeThen(NamedTuple):
    """How large a record was when it was written.

    Attributes:
        size: Of a file in bytes; of a directory the number of names in it and below.
        changed: (path, time of change in nanoseconds) of the directory, whose path is empty, and
            of those below it; empty if that is not known.
    """

    size: int
    changed: Sequence[tuple[str, int]] = ()


class Content(Protocol):
    """The bytes of one version, read from the Silo on demand."""

    def open(self, path: str) -> AbstractContextManager[BinaryIO]:
        """Open a file at its beginning; can be called again, as for a retry.

        Raises:
            FileNotInVersion: The file is missing on the disk, or is a dangling link.
        """

    def held(self, path: str) -> bytes | None:
        """Return a whole file if it is in memory; None if it has to be opened.

        Documents are; and small files whose digest was compared by `sha512`.
        """

    def sha512(self, path: str) -> str:
        """Return a file's SHA-512 in lower-case hex; it is computed once and cached by SHA-256.

        Raises:
            SourceChanged: The file's digest is not the one in the manifest.
            FileNotInVersion: See `open`.
        """


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file to send.

    Attributes:
        path: ``/``-separated path in the version: as in the Silo, or ``oai_dc.xml`` for a document.
        size: In bytes.
        sha256: Lower-case hex.
        is_metadata: Whether it is a metadata file in the Silo.
        document_of: The metadata file that a document was unwrapped from; ``""`` for other files.
    """

    path: str
    size: int
    sha256: str
    is_metadata: bool = False
    document_of: str = ""


@dataclass(frozen=True, slots=True)
class ExportedVersion:
    """A version to send.

    Attributes:
        key: Idempotency key (`siloexport.plan.version_key`), lower-case hex. The same content
            under the same crosswalk always has the same key.
        digest: The Silo's digest of its paths, sizes and SHA-256.
        datestamp: The source's datestamp of the harvested version that it is or was made from,
            in the 2010 form, UTC; ``""`` if there is none.
        origin: Its ``date`` is when the version was made in the Silo; ``""`` if the release of
            2010 did not note it.
        files: In the order in which they were put; unwrapped documents come last.
        date: The version's date in the manifest, in the 2010 form.
        log: The lines of its log.
        identifiers: Those of its values that are not in its metadata, if the target writes them.
    """

    name: str
    key: str
    digest: str
    datestamp: str
    origin: Origin
    state: str | None
    files: tuple[ExportedFile, ...]
    content: Content = field(compare=False, repr=False)
    date: str = ""
    log: tuple[str, ...] = ()
    identifiers: IdentifiersOfValues = field(default_factory=dict)

    @property
    def made(self) -> str:
        """When it was made here, or else at the source; ``""`` if neither is known."""
        moment = self.origin.date or self.datestamp
        return f"{moment}Z" if moment else ""


@dataclass(frozen=True, slots=True)
class Held:
    """What the target holds of a record after its last deposit.

    Attributes:
        uri: Address of the object.
        version_uri: Address of the version (a memento); ``""`` if the target keeps no versions.
        token: Changes with every change of the object, so that a conflict is found; ``""`` if
            `reconcile` found a change by others.
        version: The Silo's name of the version deposited last.
        key: Idempotency key of that deposit.
        deposits: The number of deposits of the record, which is the number of versions that
            the target has to hold.
        withdrawn: Whether the record was withdrawn after that.
    """

    uri: str
    version_uri: str = ""
    token: str = ""
    version: str = ""
    key: str = ""
    deposits: int = 1
    withdrawn: bool = False


@dataclass(frozen=True, slots=True)
class UnfinishedDeposit:
    """A deposit that began and whose end the ledger does not know.

    Attributes:
        state: `DepositState.OPEN` or `DepositState.COMMITTING`.
        facts: What the target noted in the journal: transaction, expected state and so on.
    """

    identifier: str
    version: str
    key: str
    state: DepositState
    facts: Mapping[str, str]
    held: Held | None = None
    withdrawal: bool = False


@dataclass(frozen=True, slots=True)
class Deposit:
    """What is sent to the target in one step, whole or not at all.

    Attributes:
        kind: The reason: create, add version, replace or describe.
        key: Idempotency key of the deposit; with one version, the key of that version.
        versions: One version if the target takes each version, else all chosen ones in order.
        source: Base URL that the record was harvested from; or ``""``.
        sets: The record's setSpecs.
        about: The record's metadata in the manifest (JSON values).
        listed: The names of all versions in the Silo, in order.
        cursor: The name of the current version.
        held: What the target holds according to the ledger; None for nothing. If the target
            holds anything else, that is a conflict.
        overwrite: Whether to overwrite the record if there is a conflict.
        noted: What the target noted in the ledger at the last deposit under this key.
        left: Failed attempts since the last success, the newest first; the target may hold
            part of one.
    """

    identifier: str
    kind: ActionKind
    key: str
    versions: tuple[ExportedVersion, ...]
    source: str = ""
    sets: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    listed: tuple[str, ...] = ()
    cursor: str = ""
    held: Held | None = None
    overwrite: bool = False
    noted: Mapping[str, str] = field(default_factory=dict)
    left: tuple[UnfinishedDeposit, ...] = ()

    @property
    def version(self) -> ExportedVersion:
        """The last version, which the target has to show as current."""
        return self.versions[-1]

    def differs(self, what: str, where: str, detail: str, version: str = "") -> "Difference":
        """Make a difference of the version, or of the whole deposit if it has no such version.

        Args:
            what: See `Difference`.
            where: A path, a URI or a predicate.
            detail: A sentence.
            version: The name of the version; not needed if the deposit has only one.
        """
        names = [one.name for one in self.versions]
        named = version if version in names else names[0] if len(names) == 1 else ""
        return Difference(self.identifier, named, what, where, detail)

    def file_differences(
        self,
        expected: Mapping[str, object],
        found: Mapping[str, object],
        version_of: Callable[[str], str],
        *,
        below: str = "",
        other: str = "the content of {} differs",
    ) -> "Iterator[Difference]":
        """Yield the differences between files that there are and those that there should be.

        Args:
            expected, found: Name → anything that tells the content, such as a digest.
            version_of: Returns the version that a file is in; ``""`` for none.
            below: What comes before the name of a file, to say where it is.
            other: What is said of a file of another content.
        """
        for name in sorted(expected.keys() | found.keys()):
            where, version = below + name, version_of(name)
            if name not in found:
                yield self.differs("file", where, f"{name} is missing", version)
            elif name not in expected:
                yield self.differs("extra", where, f"{name} was not exported", version)
            elif expected[name] != found[name]:
                yield self.differs("file", where, other.format(name), version)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A record that the source deleted and the target holds.

    Attributes:
        date: When the source deleted it, according to the source; or ``""``.
        how: `Deletions.STATUS` or `Deletions.DELETE`.
        key: Idempotency key of the withdrawal.
    """

    identifier: str
    how: Deletions
    key: str
    held: Held
    date: str = ""
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class Deposited:
    """The result of a deposit or a withdrawal in the target.

    Attributes:
        created: URIs of new objects; a roll-back removes them.
        shared: URIs of what was made for this and other records; a roll-back removes it if
            nothing uses it any more.
        was_there: The target held the whole deposit already; nothing was written.
        deposits: The number of versions that the object has now, with those that others made;
            None if the target does not count them: one more than before.
        remark: A sentence for the operator; or ``""``.
    """

    uri: str
    version_uri: str = ""
    token: str = ""
    created: tuple[str, ...] = ()
    was_there: bool = False
    deposits: int | None = None
    remark: str = ""
    shared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundVersion:
    """A version found in the target: its name in the Silo, its key, and its URI in the target."""

    version: str
    key: str
    uri: str = ""


@dataclass(frozen=True, slots=True)
class FoundInTarget:
    """What the target holds of a record, according to the target itself.

    Attributes:
        versions: Those that a deposit or a withdrawal made, the oldest first.
        deposits: Their number.
        withdrawn: Whether the record is marked as withdrawn.
        is_as_left: Whether nothing changed after the last deposit or withdrawal.
    """

    uri: str
    token: str
    versions: tuple[FoundVersion, ...] = ()
    deposits: int = 1
    withdrawn: bool = False
    is_as_left: bool = True


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between the target and what was exported.

    Attributes:
        version: The version that differs; ``""`` if the difference is in no single version, as
            in the tag files of a bag with several.
        what: ``missing``, ``file``, ``table`` (of all records), ``description``, ``versions``,
            ``status``, ``extra``, ``unreadable``.
        where: A path, a URI or a predicate.
        detail: A sentence.
    """

    identifier: str
    version: str
    what: str
    where: str
    detail: str


@dataclass(frozen=True, slots=True)
class CreatedThing:
    """An object that a run created and a roll-back removes.

    Attributes:
        identifier: Of its record; ``""`` for what several records share.
        token: Of its last known state; ``""`` for what several records share.
    """

    identifier: str
    uri: str
    token: str
