"""The values of an export: what is sent, what is decided, what came of it. All frozen."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, BinaryIO, Protocol

from recordsilo.records.manifest import Origin


class ActionKind(StrEnum):
    """What is to be done about one version of a record, or about the record."""

    CREATE = "create"
    """The target has nothing of the record yet."""
    ADD_VERSION = "add version"
    REPLACE = "replace"
    """The version was exported and has other files now, or has to be the newest again."""
    DESCRIBE = "describe"
    """Its files are as exported; what is said of them, or how that is mapped, changed."""
    WITHDRAW = "withdraw"
    """The source deleted the record: a status, or a deletion, as the policy says."""
    LEAVE = "leave"
    """Deleted at the source, and left as it is: never exported, or the policy says so."""
    NOTHING = "nothing"


class Result(StrEnum):
    """What came of an action."""

    DONE = "done"
    FAILED = "failed"
    CONFLICT = "conflict"
    SKIPPED = "skipped"
    """A conflict that was to be passed over."""


class DepositState(StrEnum):
    """How far a deposit is, as the ledger has it before the step it names."""

    OPEN = "open"
    COMMITTING = "committing"
    DONE = "done"
    FAILED = "failed"
    CONFLICT = "conflict"
    WITHDRAWN = "withdrawn"
    ROLLED_BACK = "rolled back"


UNFINISHED = (DepositState.OPEN, DepositState.COMMITTING)


class Deletions(StrEnum):
    """What a deletion at the source does to what was exported."""

    STATUS = "status"
    DELETE = "delete"
    KEEP = "keep"


class OnConflict(StrEnum):
    """What to do where the target holds something other than was exported there."""

    FAIL = "fail"
    SKIP = "skip"
    OVERWRITE = "overwrite"


REPLACE = (OnConflict.FAIL, OnConflict.OVERWRITE)
"""What can be done about a single file: to skip it would be to do nothing."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a target can do.

    Attributes:
        each_version: It takes the versions of a record one after the other, and keeps
            them; else a deposit holds all chosen versions, and replaces what was there.
        deletions: How it can follow a deletion at the source.
    """

    each_version: bool
    deletions: frozenset[Deletions] = frozenset()


class Content(Protocol):
    """The bytes of one version, read from the Silo when asked for."""

    def open(self, path: str) -> AbstractContextManager[BinaryIO]:
        """One file, from its beginning; may be asked for again, as for a retry.

        Raises:
            FileNotInVersion: It is gone from the disk, or dangles.
        """

    def sha512(self, path: str) -> str:
        """Its SHA-512 in lower-case hex: read once, and remembered by its SHA-256.

        Raises:
            SourceChanged: The bytes are not those that the manifest lists.
            FileNotInVersion: See `open`.
        """


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file to be sent.

    Attributes:
        path: Within the version, ``/``-separated; as in the Silo, or ``oai_dc.xml``.
        size: In bytes.
        sha256: Lower-case hex.
        is_metadata: Whether the Silo has it as metadata.
        document_of: For a document that was unwrapped: the metadata file it was taken from.
    """

    path: str
    size: int
    sha256: str
    is_metadata: bool = False
    document_of: str = ""


@dataclass(frozen=True, slots=True)
class ExportedVersion:
    """A version to be sent.

    Attributes:
        key: Its idempotency key (`siloexport.plan.version_key`), lower-case hex; the same
            content under the same crosswalk has the same, whenever and wherever.
        digest: The Silo's digest of it: of the manifest's paths, sizes and SHA-256.
        datestamp: The source's, of the harvested version that it is or was made of, in the
            2010 form, UTC; ``""`` where there is none.
        origin: Its ``date`` is when the version was made here; ``""`` where 2010 did not
            note that.
        files: In the order put; documents that were unwrapped come last.
    """

    name: str
    key: str
    digest: str
    datestamp: str
    origin: Origin
    state: str | None
    files: tuple[ExportedFile, ...]
    content: Content = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Held:
    """What the target holds of a record, as this export left it.

    Attributes:
        uri: The object.
        version_uri: That version of it: a memento; ``""`` where there are none.
        token: Changes when anybody changes the object: what tells of a conflict; ``""``
            where `reconcile` found something else there than this export left.
        version: The name of the Silo's version deposited last.
        key: Its idempotency key, that of the deposit.
        deposits: How many were made of the record, which is how many versions the
            target has to hold.
        withdrawn: Whether the record was withdrawn since.
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
    """A deposit of which the ledger knows how it began and not how it ended.

    Attributes:
        state: `DepositState.OPEN` or `DepositState.COMMITTING`.
        facts: What the target noted in the journal (transaction, expected state …).
        withdrawal: Whether it was a withdrawal, not a deposit.
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
    """What goes to the target as one step: whole, or not at all.

    Attributes:
        kind: Why: create, add version, replace, describe.
        key: Idempotency key of the deposit; where there is one version, that version's.
        versions: One where the target takes each version; else all chosen, in order.
        source: Where the record was harvested from, the base URL; or ``""``.
        sets: Its setSpecs.
        about: What the manifest notes about the record (JSON values).
        held: What the ledger knows to be there; None: nothing. Anything else found
            there is a conflict.
        overwrite: Whether a conflict is to be written over.
        noted: What the target noted in the ledger when the record went last under this key.
        left: Attempts at the record that came to nothing since the last that came to
            something, the newest first: what is there may be the half of one.
    """

    identifier: str
    kind: ActionKind
    key: str
    versions: tuple[ExportedVersion, ...]
    source: str = ""
    sets: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    held: Held | None = None
    overwrite: bool = False
    noted: Mapping[str, str] = field(default_factory=dict)
    left: tuple[UnfinishedDeposit, ...] = ()

    @property
    def version(self) -> ExportedVersion:
        """The version, or the last of them: the one the target is to show as current."""
        return self.versions[-1]

    def differs(self, what: str, where: str, detail: str, version: str = "") -> "Difference":
        """A difference in one of its versions; in all where it has no version of that name."""
        names = [one.name for one in self.versions]
        named = version if version in names else names[0] if len(names) == 1 else ""
        return Difference(self.identifier, named, what, where, detail)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A record deleted at the source, that the target holds.

    Attributes:
        date: When the source deleted it, as it said; may be ``""``.
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
    """What the target made of a deposit, or of a withdrawal.

    Attributes:
        created: URIs of what was not there before; a roll-back takes these back.
        was_there: The deposit was there already, whole; nothing was written.
        deposits: How many versions the object has now, those that others made among
            them; None where the target does not count: one more than before.
        remark: What people should know about it, in a sentence; or ``""``.
    """

    uri: str
    version_uri: str = ""
    token: str = ""
    created: tuple[str, ...] = ()
    was_there: bool = False
    deposits: int | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class FoundVersion:
    """A version found in the target: the Silo's name of it, its key, and its URI there."""

    version: str
    key: str
    uri: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What the target itself says it holds of a record.

    Attributes:
        versions: The oldest first; only those that a deposit or a withdrawal made.
        deposits: How many these are.
        withdrawn: Whether it says the record was withdrawn.
        is_as_left: Whether what is there now is just what the last of them left.
    """

    uri: str
    token: str
    versions: tuple[FoundVersion, ...] = ()
    deposits: int = 1
    withdrawn: bool = False
    is_as_left: bool = True


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which the target is not as exported.

    Attributes:
        version: The version it is in; ``""`` where it is in no single one, as with the
            tag files of a bag of several.
        what: ``missing``, ``file``, ``description``, ``versions``, ``status``, ``extra``,
            ``unreadable``.
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
    """An object that a run created, to be taken back."""

    identifier: str
    uri: str
    token: str
