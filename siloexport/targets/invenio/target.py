"""InvenioRDM as an export target: a record is a draft, or with publishing, a published record.

Without publishing, a deposit replaces what is in the draft. With it, each version of the record
becomes a published version there; what is published is never changed.

A deposit is found again by its id from the ledger, or without one by the record's identifier
among the user's own records. It is the export's own if its metadata and files are those that its
``silo.json`` names; that file is sent last.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from siloexport.bibliography import Bibliography, bibliography_of
from siloexport.content import checked_chunks
from siloexport.errors import CannotTakeBack, Conflict, DepositFailed
from siloexport.targets import DepositJournal
from siloexport.targets.invenio.client import DraftLook, InvenioClient, Json
from siloexport.targets.invenio.metadata import is_within, metadata, pids
from siloexport.targets.remote.about import ABOUT, about_of, deposited_files, first_part
from siloexport.targets.remote.errors import (
    Busy,
    RemoteError,
    export_errors,
    target_errors,
)
from siloexport.targets.remote.server import Server
from siloexport.targets.remote.uploads import body_of
from siloexport.values import (
    Capabilities,
    CreatedThing,
    Deletions,
    Deposit,
    Deposited,
    Difference,
    ExportedFile,
    ExportedVersion,
    FoundInTarget,
    FoundVersion,
    Held,
    UnfinishedDeposit,
    Withdrawal,
)

_VARIANT = "invenio 1"
_ID, _CREATES, _ASKED = "id", "creates", "asked"
_LOOKS, _PAUSE = 4, 1.0
"""A search finds a new draft only after its index was refreshed."""


@dataclass(frozen=True, slots=True)
class InvenioSettings:
    """How records are deposited.

    Attributes:
        publish: Whether drafts are published.
        community: Name or id of the community that they are for; or ``""``.
    """

    publish: bool = False
    community: str = ""


@dataclass(frozen=True, slots=True)
class _FileToSend:
    """A file to send; ``md5`` is that of its content."""

    name: str
    version: ExportedVersion
    file: ExportedFile
    md5: str


@dataclass(frozen=True, slots=True)
class _DepositPlan:
    """What a deposit sends."""

    record: Json
    files: tuple[_FileToSend, ...]
    about: bytes


class InvenioTarget:
    """A `Target`: a repository on InvenioRDM.

    Args:
        url: Of the repository.
        settings: See `InvenioSettings`.
        sleep: Waits between looks for a draft that may have been made.
    """

    def __init__(
        self,
        url: str,
        server: Server,
        settings: InvenioSettings | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._settings = settings or InvenioSettings()
        self.shown = f"{url} ({'published' if self._settings.publish else 'drafts'})"
        self._client = InvenioClient(server, url)
        self._community = ""
        self._sleep = sleep

    @property
    def key(self) -> str:
        """See `Target`: drafts and published records have a ledger each."""
        kind = "published" if self._settings.publish else "drafts"
        return f"invenio {self._client.api} {kind}"

    @property
    def capabilities(self) -> Capabilities:
        if self._settings.publish:
            return Capabilities(each_version=True, identifiers=True)
        deletions = frozenset({Deletions.DELETE})
        return Capabilities(each_version=False, deletions=deletions, identifiers=True)

    @property
    def crosswalk(self) -> str:
        return _VARIANT

    def probe(self) -> None:
        with target_errors(self.shown):
            self._client.check()
            if self._settings.community:
                self._community = self._client.community(self._settings.community)

    def prepare(self) -> None:
        """See `Target`: nothing is needed."""

    # -- deposits ----------------------------------------------------------------------

    def deposit(self, deposit: Deposit, journal: DepositJournal) -> Deposited:
        with export_errors(deposit.identifier):
            there = self._before(deposit)
            if there is not None and self._is_done(there, deposit):
                return self._deposited(there, was_there=True)
            plan = _planned(deposit)
            created: tuple[str, ...] = ()
            if there is None:
                record_id = self._create(plan, journal)
                created = (self._client.record_url(record_id),)
            elif there.is_draft:
                record_id = there.id
                is_new = any(left.facts.get(_CREATES) == record_id for left in deposit.left)
                created = (self._client.record_url(record_id),) if is_new else ()
                journal.opened(id=record_id)
            else:
                record_id = self._client.new_version(there.id)
                journal.opened(id=record_id)
            return self._fill(deposit, plan, record_id, created, journal)

    def _create(self, plan: _DepositPlan, journal: DepositJournal) -> str:
        journal.committing(asked="yes")
        try:
            record_id = self._client.create(plan.record)
        except Busy:
            raise
        except RemoteError:
            journal.opened(asked="")
            raise
        journal.opened(id=record_id, creates=record_id)
        return record_id

    def _fill(
        self, deposit: Deposit, plan: _DepositPlan, record_id: str, created: tuple[str, ...],
        journal: DepositJournal,
    ) -> Deposited:  # fmt: skip
        there = self._client.look(record_id)
        if there is None or not there.is_draft:
            raise RemoteError(0, self._client.record_url(record_id), "is no draft any more")
        self._client.remove_file(record_id, ABOUT)  # what follows is not whole until it is back
        answer = self._client.describe(record_id, plan.record)
        wanted = {one.name: (one.file.size, one.md5) for one in plan.files}
        for name in there.files:
            if wanted.get(name) != there.files[name]:
                self._client.remove_file(record_id, name)
        for one in plan.files:
            if there.files.get(one.name) != wanted[one.name]:
                with one.version.content.open(one.file.path) as source:
                    body = body_of(source, one.file, one.version.name)
                    self._client.put_file(record_id, one.name, body, one.md5)
        md5 = hashlib.md5(plan.about, usedforsecurity=False).hexdigest()
        self._client.put_file(record_id, ABOUT, plan.about, md5)
        journal.committing(id=record_id)
        remark = ""
        if self._settings.publish:
            remark = self._publish(deposit, there, answer)
        elif self._community and not there.in_review and created:
            self._client.review(record_id, self._community)
        after = self._client.look(record_id)
        if after is None or (self._settings.publish and after.is_draft and not remark):
            why = "was reported as published, but is not"
            raise RemoteError(202, self._client.record_url(record_id), why)
        remark = remark or ("" if self._settings.publish else self._client.errors_in(answer))
        return self._deposited(after, created=created, remark=remark)

    def _publish(self, deposit: Deposit, there: DraftLook, answer: Json) -> str:
        """Publish a draft, or submit it to a community; return a remark about the latter."""
        if lacking := self._client.errors_in(answer):
            why = f"it cannot be published: {lacking}; its draft stays"
            raise DepositFailed(deposit.identifier, why)
        is_first = not self._client.versions(there.id)
        if not self._community or not is_first:
            self._client.publish(there.id)
            return ""
        if not there.in_review:
            self._client.submit(there.id, self._community)
        after = self._client.look(there.id)
        return "" if after is not None and not after.is_draft else "submitted to the community"

    def foresee(self, step: Deposit | Withdrawal, *, is_first: bool) -> str:
        with export_errors(step.identifier):
            if isinstance(step, Withdrawal):
                if is_first:
                    self._check_as_left(step)
                return ""
            bibliography_of(step.version)
            if is_first:
                self._before(step)
        return ""

    def _before(self, deposit: Deposit) -> DraftLook | None:
        """Return what is there before a deposit.

        Raises:
            Conflict: Others changed it, and it is not to be overwritten.
        """
        held = deposit.held if deposit.held is not None and deposit.held.deposits else None
        there = self._there(deposit, held)
        if there is None:
            if held is not None and not held.withdrawn and not deposit.overwrite:
                raise Conflict(deposit.identifier, f"{held.uri} was deleted there by others")
            return None
        own, where = own_key(there), self._client.record_url(there.id)
        if there.in_review and own != deposit.key:
            why = f"{where} is in the review of a community; it can be replaced after that"
            raise DepositFailed(deposit.identifier, why)
        ours = {left.key for left in deposit.left} | ({held.key} if held is not None else set())
        is_new = held is None and (own == deposit.key or there.is_draft)
        is_ours = own != "" and (own in ours or is_new)
        is_left = held is not None and held.token == there.token
        if is_ours or is_left or deposit.overwrite or _is_half_made(there, deposit):
            return there
        why = "was changed since it was exported" if held else "exists, but is not in the ledger"
        raise Conflict(deposit.identifier, f"{where} {why}")

    def _is_done(self, there: DraftLook, deposit: Deposit) -> bool:
        """Whether what is there is the deposit already, and is not to be sent again."""
        held = deposit.held
        is_open = self._settings.publish and there.is_draft and not there.in_review
        if is_open or own_key(there) != deposit.key:
            return False
        is_last = held is not None and held.key == deposit.key and held.token == there.token
        return not is_last or (held is not None and held.withdrawn)

    def _there(self, deposit: Deposit, held: Held | None) -> DraftLook | None:
        for left in deposit.left:
            record_id = left.facts.get(_ID, "")
            there = self._client.look(record_id) if record_id else None
            if there is not None:
                return there
        if held is not None:
            return self._newest(self._client.id_in(held.uri))
        was_asked = any(left.facts.get(_ASKED) for left in deposit.left)
        for attempt in range(_LOOKS if was_asked else 1):
            if attempt:
                self._sleep(_PAUSE)
            if there := self._search(deposit.identifier):
                return there
        return None

    def _newest(self, record_id: str) -> DraftLook | None:
        """Return the newest published version of a record, or its draft if there is none."""
        ids = self._client.versions(record_id)
        return self._client.look(ids[-1] if ids else record_id)

    def _search(self, identifier: str) -> DraftLook | None:
        """Return the newest version of a record among the user's own."""
        for hit in self._client.mine(identifier):
            there = self._client.look(str(hit.get("id", "")))
            if there is None:
                continue
            if there.is_draft and (ids := self._client.versions(there.id)):
                there = self._client.look(ids[-1])  # the draft is of its next version
            elif not there.is_draft:
                there = self._newest(there.id)
            if there is not None:
                return there
        return None

    def _deposited(
        self, there: DraftLook, *, was_there: bool = False, created: tuple[str, ...] = (),
        remark: str = "",
    ) -> Deposited:  # fmt: skip
        uri = self._client.record_url(there.id)
        count = len(self._client.versions(there.id)) or 1 if self._settings.publish else None
        version_uri = uri if self._settings.publish else ""
        return Deposited(uri, version_uri, there.token, created, was_there, count, remark)

    # -- withdrawals -------------------------------------------------------------------

    def withdraw(self, withdrawal: Withdrawal, journal: DepositJournal) -> Deposited:
        record_id = self._client.id_in(withdrawal.held.uri)
        with export_errors(withdrawal.identifier):
            there = self._check_as_left(withdrawal)
            journal.committing(id=record_id)
            if there is not None:
                self._delete(record_id)
        return Deposited(withdrawal.held.uri, was_there=there is None, deposits=0)

    def _check_as_left(self, withdrawal: Withdrawal) -> DraftLook | None:
        held = withdrawal.held
        there = self._client.look(self._client.id_in(held.uri))
        if there is None:
            return None
        if not there.is_draft:
            why = f"{held.uri} was published, and what is published is not deleted"
            raise DepositFailed(withdrawal.identifier, why)
        if not (withdrawal.overwrite or there.token == held.token or own_key(there) == held.key):
            raise Conflict(withdrawal.identifier, f"{held.uri} was changed since it was exported")
        return there

    def _delete(self, record_id: str) -> None:
        self._client.delete_draft(record_id)
        if self._client.look(record_id) is not None:
            url = self._client.record_url(record_id)
            raise RemoteError(204, url, "was reported as deleted, but still exists")

    def rollback(self, created: CreatedThing, *, purge: bool) -> str:  # noqa: ARG002 - there are no tombstones
        with export_errors(created.identifier):
            there = self._client.look(self._client.id_in(created.uri))
            if there is None:
                return ""
            if not there.is_draft:
                why = f"{created.uri} is kept: what is published is not deleted by an export"
                raise CannotTakeBack(why)
            if there.token != created.token and not own_key(there):
                raise CannotTakeBack(f"{created.uri} was changed since the run, and is kept")
            self._delete(there.id)
        return ""

    # -- after a crash, and without a ledger -------------------------------------------

    def recover(self, left: UnfinishedDeposit) -> Deposited | None:
        with export_errors(left.identifier):
            record_id = left.facts.get(_ID, "")
            there = self._client.look(record_id) if record_id else None
            if left.withdrawal:
                is_gone = there is None and record_id
                return (
                    Deposited(self._client.record_url(record_id), deposits=0) if is_gone else None
                )
            if there is None or own_key(there) != left.key:
                return None
            if self._settings.publish and there.is_draft:
                return None
            is_new = left.facts.get(_CREATES) == record_id
            created = (self._client.record_url(record_id),) if is_new else ()
            return self._deposited(there, created=created)

    def find(self, identifier: str) -> FoundInTarget | None:
        with export_errors(identifier):
            there = self._search(identifier)
            if there is None or (self._settings.publish and there.is_draft):
                return None
            uri = self._client.record_url(there.id)
            own = own_key(there)
            if not self._settings.publish:
                version = FoundVersion(str(there.about.get("version", "")), own)
                return FoundInTarget(
                    uri, there.token, (version,) if own else (), is_as_left=bool(own)
                )
            ids = self._client.versions(there.id)
            versions = tuple(self._found_versions(ids))
            return FoundInTarget(uri, there.token, versions, len(ids), is_as_left=bool(own))

    def _found_versions(self, ids: list[str]) -> Iterator[FoundVersion]:
        for record_id in ids:
            there = self._client.look(record_id)
            if there is not None and (own := own_key(there)):
                name = str(there.about.get("version", ""))
                yield FoundVersion(name, own, self._client.record_url(record_id))

    # -- comparing ---------------------------------------------------------------------

    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:
        with export_errors(deposit.identifier):
            url = held.version_uri or held.uri
            there = self._client.look(self._client.id_in(url))
            if there is None:
                yield deposit.differs("missing", url, "there is nothing at this address")
                return
            if is_head and self._settings.publish:
                ids = self._client.versions(there.id)
                if len(ids) != held.deposits and ids:
                    detail = f"it has {len(ids)} versions, {held.deposits} were exported"
                    yield deposit.differs("versions", url, detail)
            plan = _planned(deposit)
            if not is_within(plan.record["metadata"], there.metadata):
                yield deposit.differs("description", url, "its metadata was changed")
            expected = {one.name: (one.file.size, one.md5) for one in plan.files}
            other = "the size or MD5 of {} differs"
            yield from deposit.file_differences(expected, there.files, first_part, other=other)


# -- decisions ----------------------------------------------------------------------------


def own_key(there: DraftLook) -> str:
    """Return the key of a deposit if all is as an export left it; else ``""``."""
    about = there.about
    listed, said = about.get("files"), about.get("metadata")
    if not isinstance(listed, dict) or not isinstance(said, dict):
        return ""
    expected = {name: one for name, one in listed.items() if isinstance(one, list)}
    found = {name: [size, md5] for name, (size, md5) in there.files.items()}
    if {name: [one[0], one[-1]] for name, one in expected.items() if one} != found:
        return ""
    return str(about.get("key", "")) if is_within(said, there.metadata) else ""


def _is_half_made(there: DraftLook, deposit: Deposit) -> bool:
    """Whether an interrupted deposit of this export left it without ``silo.json``."""
    if not there.is_draft or there.about:
        return False
    if any(left.facts.get(_ID) == there.id for left in deposit.left):
        return True
    return not there.files and any(left.facts.get(_ASKED) for left in deposit.left)


def _planned(deposit: Deposit) -> _DepositPlan:
    """Return what a deposit sends; reads all files for their MD5."""
    said: Bibliography = bibliography_of(deposit.version)
    described = metadata(deposit.identifier, said)
    files = tuple(
        _FileToSend(name, version, file, _md5(deposit.identifier, version, file))
        for name, version, file in deposited_files(deposit)
    )
    listed: dict[str, list[Any]] = {
        one.name: [one.file.size, one.file.sha256, one.md5] for one in files
    }
    record = {"metadata": described, "files": {"enabled": True}, "pids": pids(said)}
    return _DepositPlan(record, files, about_of(deposit, listed, metadata=described))


def _md5(identifier: str, version: ExportedVersion, file: ExportedFile) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with checked_chunks(identifier, version, file) as chunks:
        for chunk in chunks:
            digest.update(chunk)
    return digest.hexdigest()
