"""Fedora as an export target: a record is an Archival Group, a version is a memento."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from siloexport.crosswalk import Crosswalk
from siloexport.errors import CannotTakeBack, Conflict, DepositFailed
from siloexport.targets import DepositJournal
from siloexport.targets.fedora import place, sending, verifying
from siloexport.targets.fedora.answers import (
    Departed,
    Memento,
)
from siloexport.targets.fedora.client import NT, FedoraClient, joined
from siloexport.targets.fedora.collections import Collections
from siloexport.targets.fedora.description import (
    KEY,
    VERSION,
    checksums,
    described,
    is_sealed,
    parsed,
    undescribed,
    value,
    withdrawn,
)
from siloexport.targets.fedora.error_translation import export_errors
from siloexport.targets.fedora.integrity import files_at, is_part_of, is_untouched
from siloexport.targets.fedora.layout import LayingOut, Layout
from siloexport.targets.fedora.names import object_segment
from siloexport.targets.fedora.objects import (
    OWN,
    FedoraObject,
    await_next_second,
    deleted_token,
    read_object,
    read_versions,
    token,
)
from siloexport.targets.fedora.transaction import Transaction, settle
from siloexport.targets.remote.errors import (
    Busy,
    ChangedMeanwhile,
    NotOfThisKind,
    NotThere,
    target_errors,
)
from siloexport.values import (
    Capabilities,
    CreatedThing,
    Deletions,
    Deposit,
    Deposited,
    Difference,
    FoundInTarget,
    FoundVersion,
    Held,
    UnfinishedDeposit,
    Withdrawal,
)

_DELETED = "deleted"
_CAN = Capabilities(
    each_version=True,
    deletions=frozenset({Deletions.STATUS, Deletions.DELETE}),
    identifiers=True,
)


@dataclass(frozen=True, slots=True)
class _Before:
    """The state of the object before a deposit.

    Attributes:
        there: None if there is nothing.
        is_ours: Whether it is as this export left it, so that its list of files can be trusted.
        is_done: Whether it holds the whole deposit already.
        is_half: Whether it was left by an interrupted creation of this export.
    """

    there: FedoraObject | None = None
    is_ours: bool = True
    is_done: bool = False
    is_half: bool = False


class FedoraTarget:
    """A `Target`: a container of a Fedora 6 or 7, with an Archival Group for each record.

    The server's answers show what it can do.

    Args:
        url: Address of the container or of the repository's root; the container is made if it
            does not exist.
        client: To the server.
        crosswalk: Maps metadata to descriptions; None for the default.
        layout: None for that of earlier exports to the container, at first plain.
        set_names: setSpec → the set's name; for the titles of collections.
    """

    def __init__(
        self,
        url: str,
        client: FedoraClient,
        crosswalk: Crosswalk | None = None,
        layout: Layout | None = None,
        set_names: Mapping[str, str] | None = None,
    ) -> None:
        self.shown = url
        self._url = url.rstrip("/")
        self._client = client
        self._crosswalk = crosswalk or Crosswalk.default()
        self._asked = layout
        self._lay_out = LayingOut(
            self._url, self._crosswalk, layout or Layout.PLAIN, set_names or {}
        )
        self._collections = Collections(client, self._lay_out)
        self._root = ""

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    @property
    def key(self) -> str:
        """See `Target`: the container's address."""
        return f"fedora {self._url}"

    @property
    def capabilities(self) -> Capabilities:
        return replace(_CAN, sets=self._lay_out.layout is Layout.PCDM)

    @property
    def crosswalk(self) -> str:
        """See `Target`: with the layout."""
        return self._lay_out.key

    def probe(self) -> None:
        """See `Target`: also finds out the layout of earlier exports."""
        with target_errors(self.shown):
            self._root = place.find_root(self._client, self._url)
            is_there = place.check_container(self._client, self._root, self._url)
            is_there = is_there and f"{self._url}/".startswith(f"{self._root}/")
            if is_there and self._asked is None:
                marker = self._client.get_if_there(self._lay_out.collections_uri, method="HEAD")
                layout = Layout.PLAIN if marker is None else Layout.PCDM
                self._lay_out = replace(self._lay_out, layout=layout)

    def prepare(self) -> None:
        """See `Target`: makes the container and those above it, which is impossible later."""
        with target_errors(self.shown):
            self._root = self._root or place.find_root(self._client, self._url)
            place.make_containers(self._client, self._root, self._url)
            if self._lay_out.layout is Layout.PCDM:
                place.make_containers(self._client, self._root, self._lay_out.collections_uri)

    def uri_of(self, identifier: str) -> str:
        """Return the address of a record's object."""
        return joined(self._url, object_segment(identifier))

    # -- deposits ---------------------------------------------------------------------

    def deposit(self, deposit: Deposit, journal: DepositJournal) -> Deposited:
        uri = self.uri_of(deposit.identifier)
        with export_errors(deposit.identifier):
            if deposit.held is None and not (deposit.overwrite or _may_be_begun(deposit)):
                with contextlib.suppress(ChangedMeanwhile, Departed):
                    return self._write(deposit, uri, _Before(), journal)
            before = self._before(deposit)
            there = before.there
            if there is not None and before.is_done:
                count, shared = len(there.versions), _collections_in(deposit.left)
                return Deposited(uri, there.last.uri, there.token, (), True, count, shared=shared)
            if there is not None and before.is_half:
                self._remove_half(there, journal)
                return self._write(deposit, uri, _Before(), journal)
            if there is not None and there.tombstone:
                return self._write_over(deposit, there, journal)
            return self._write(deposit, uri, before, journal)

    def foresee(self, step: Deposit | Withdrawal, *, is_first: bool) -> str:
        uri = self.uri_of(step.identifier)
        with export_errors(step.identifier):
            if isinstance(step, Withdrawal):
                if is_first:
                    self._check_withdrawable(step, read_object(self._client, uri))
                return ""
            self._lay_out.of(step, uri, {file.path: "" for file in step.version.files})
            if self._lay_out.layout is Layout.PCDM:
                self._collections.foresee(step, self._root)
            if is_first:
                before = self._before(step)
                self._make_way(step, before.there)
                if before.there is not None and before.there.tombstone and not before.is_half:
                    self._foresee_over(step, before.there)
            return undescribed(step, self._crosswalk)

    def _before(self, deposit: Deposit) -> _Before:
        """Read the state of the object before a deposit.

        Raises:
            Conflict: Others changed it, and it is not to be overwritten.
        """
        there = read_object(self._client, self.uri_of(deposit.identifier))
        is_ours = self._is_as_left(there, deposit.held)
        begun = None if is_ours else self._begun(there, deposit)
        if there is not None and _may_be_done(deposit, there, begun, is_ours=is_ours):
            is_done = is_ours or is_untouched(self._client, there)
            if is_done:
                return _Before(there, is_ours, is_done=True)
        if not is_ours and begun is None and not deposit.overwrite:
            raise Conflict(deposit.identifier, _what_is_there(there))
        if begun is not None and begun.facts.get("creates"):
            return _Before(there, is_ours, is_half=True)
        return _Before(there, is_ours and not _is_again(deposit))

    def _remove_half(self, there: FedoraObject, journal: DepositJournal) -> None:
        """Remove what an interrupted creation left, with its tombstone.

        Its files cannot be sent again: a 6.0.0 that lost them from its index answered 500.
        """
        journal.opened(removes=there.uri, creates=there.uri)
        if not there.tombstone:
            self._client.send("DELETE", there.uri)
        self._purge(there.tombstone or f"{there.uri}/fcr:tombstone")

    def _is_as_left(self, there: FedoraObject | None, held: Held | None) -> bool:
        """Whether the object is as the ledger says."""
        if held is None or there is None:
            return held is None and there is None
        if there.token != held.token:
            return False
        return bool(there.tombstone) or is_untouched(self._client, there)

    def _begun(self, there: FedoraObject | None, deposit: Deposit) -> UnfinishedDeposit | None:
        """Return the interrupted deposit that left the object as it is; None if none did.

        Then the description is in the state that the ledger noted before the commit, and all
        files were sent with it or were there before. Or there is a tombstone, and the ledger
        says that such an object was to be removed.
        """
        if there is None:
            return None
        if there.tombstone:
            removed = (left for left in deposit.left if left.facts.get("removes") == there.uri)
            return next(removed, None)
        left = next((one for one in deposit.left if one.facts.get("state") == there.state), None)
        count, before = (
            (deposit.held.deposits, deposit.held.version_uri) if deposit.held else (0, "")
        )
        if left is None or not there.state or len(there.versions) > count + 1:
            return None
        return left if is_part_of(self._client, there, before) else None

    def _write_over(
        self, deposit: Deposit, there: FedoraObject, journal: DepositJournal
    ) -> Deposited:
        """Create a deleted object again; from 6.5 on, its history continues."""
        try:
            return self._write(deposit, there.uri, _Before(there), journal)
        except Departed as error:
            if not deposit.overwrite:
                raise _tombstone_conflict(deposit, there) from error
        self._purge(there.tombstone)
        return self._write(deposit, there.uri, _Before(), journal)

    def _foresee_over(self, deposit: Deposit, there: FedoraObject) -> None:
        """Try to create a deleted object again, in a transaction that is rolled back."""
        if deposit.overwrite:
            return
        transaction = Transaction.begin(self._client, self._root)
        try:
            sending.make_group(transaction, there.uri, over_tombstone=True)
        except Departed as error:
            raise _tombstone_conflict(deposit, there) from error
        finally:
            transaction.abandon()

    def _write(
        self, deposit: Deposit, uri: str, before: _Before, journal: DepositJournal
    ) -> Deposited:
        version = deposit.version
        # Read before the transaction begins, because it expires soon.
        sums = {file.path: version.content.sha512(file.path) for file in version.files}
        laid = self._lay_out.of(deposit, uri, sums)
        there = before.there
        self._make_way(deposit, there)
        is_new = there is None or bool(there.tombstone)
        what = self._change(deposit, uri, before, sums, laid.files)
        shared = self._make_collections(deposit, journal)
        if there is not None:
            await_next_second(self._client, there)
        with self._transaction(journal) as transaction:
            if is_new:
                sending.make_group(transaction, uri, over_tombstone=self._goes_over(there))
            sending.send_files(transaction, uri, version, what, is_new=there is None)
            expected = there.state if there is not None and not is_new else ""
            state = sending.put_description(transaction, uri, laid.own, expected)
            journal.committing(state=state, creates=uri if there is None else "")
            transaction.commit()
        created = (uri,) if there is None else ()
        hidden = there is None and _may_be_begun(deposit)
        remark = undescribed(deposit, self._crosswalk)
        made = self._made(uri, state, there, created, hidden=hidden, remark=remark)
        return replace(made, shared=shared)

    def _make_collections(self, deposit: Deposit, journal: DepositJournal) -> tuple[str, ...]:
        """Make the collections of a record; return those that this or an earlier attempt made."""
        made = list(_collections_in(deposit.left))
        if self._lay_out.layout is not Layout.PCDM:
            return tuple(made)

        def note(uri: str) -> None:
            made.append(uri)
            journal.opened(collections=" ".join(made))

        self._collections.make(deposit, note)
        return tuple(dict.fromkeys(made))

    def _change(
        self,
        deposit: Deposit,
        uri: str,
        before: _Before,
        sums: Mapping[str, str],
        laid: Mapping[str, bytes],
    ) -> sending.ObjectChange:
        files, there = deposit.version.files, before.there
        if there is None or there.tombstone:
            return sending.ObjectChange(files, describe=laid)
        if before.is_ours:
            has = described(there.graph)
            sent = sending.descriptions(laid, has, sums)
            return replace(sending.change(uri, files, sums, checksums(there.graph)), describe=sent)
        wanted = {sending.file_uri(uri, path) for path in sums}
        removed = tuple(sorted(files_at(self._client, uri) - wanted))
        emptied = sending.descriptions({}, described(there.graph), sums)
        return sending.ObjectChange(files, removed, {**emptied, **laid})

    @staticmethod
    def _goes_over(there: FedoraObject | None) -> bool:
        return there is not None and bool(there.tombstone)

    def _make_way(self, deposit: Deposit, there: FedoraObject | None) -> None:
        """Refuse an object that cannot be overwritten."""
        if there is not None and not there.tombstone and not there.is_group:
            raise DepositFailed(
                deposit.identifier,
                f"{there.uri} exists and is not an Archival Group, and cannot become one",
            )

    def _made(
        self,
        uri: str,
        state: str,
        before: FedoraObject | None,
        created: tuple[str, ...] = (),
        *,
        hidden: bool = False,
        remark: str = "",
    ) -> Deposited:
        """Return the result of a commit; its version is the first after the earlier ones.

        Args:
            uri: Address of the object.
            state: State token of the new description.
            before: The object before; None if there was none.
            created: URIs of new objects.
            hidden: Whether an earlier commit of this export may show up among the versions: a
                6.0.0 killed after a commit lost the object, and showed its version when the
                object was created again.
            remark: For the operator.

        Raises:
            NotOfThisKind: There is no new version, so the commit was not answered by Fedora.
        """
        versions = read_versions(self._client, uri)
        count = len(before.versions) if before else 0
        if len(versions) <= count:
            raise NotOfThisKind(204, uri, "was reported as committed, but has no new version")
        if not hidden and (before is None or not before.tombstone):
            versions = versions[: count + 1]
        memento = versions[-1].uri
        self._client.send("HEAD", memento)
        count = len(versions)
        return Deposited(uri, memento, token(state, versions), created, False, count, remark)

    @contextlib.contextmanager
    def _transaction(self, journal: DepositJournal) -> Iterator[Transaction]:
        """Open a transaction, and note it before anything is sent in it.

        It is rolled back on an error, except if a commit had no answer: then it may still be
        under way, and `recover` finds out.
        """
        transaction = Transaction.begin(self._client, self._root)
        journal.opened(tx=transaction.uri)
        try:
            yield transaction
        except Busy:
            raise
        except BaseException as error:
            if open_still := transaction.abandon():
                error.args = (f"{error}; {open_still}",)
            raise

    # -- withdrawals ------------------------------------------------------------------

    def withdraw(self, withdrawal: Withdrawal, journal: DepositJournal) -> Deposited:
        uri = self.uri_of(withdrawal.identifier)
        with export_errors(withdrawal.identifier):
            there = read_object(self._client, uri)
            if there is None or there.tombstone:
                return Deposited(uri, token=deleted_token(), was_there=True, deposits=0)
            self._check_withdrawable(withdrawal, there)
            if withdrawal.how is Deletions.DELETE:
                return self._delete(uri, journal)
            return self._mark(withdrawal, there, journal)

    def _check_withdrawable(self, withdrawal: Withdrawal, there: FedoraObject | None) -> None:
        if there is None or there.tombstone or withdrawal.overwrite:
            return
        if not self._is_as_left(there, withdrawal.held):
            raise Conflict(withdrawal.identifier, _what_is_there(there))

    def _delete(self, uri: str, journal: DepositJournal) -> Deposited:
        with self._transaction(journal) as transaction:
            transaction.send("DELETE", uri, {})
            journal.committing(state=_DELETED)
            transaction.commit()
        self._check_deleted(uri)
        return Deposited(uri, token=deleted_token(), deposits=0)

    def _mark(
        self, withdrawal: Withdrawal, there: FedoraObject, journal: DepositJournal
    ) -> Deposited:
        uri = there.uri
        body = withdrawn(there.own, uri, withdrawal)
        await_next_second(self._client, there)
        with self._transaction(journal) as transaction:
            state = sending.put_description(transaction, uri, body, there.state)
            journal.committing(state=state)
            transaction.commit()
        return self._made(uri, state, there)

    # -- after a crash ----------------------------------------------------------------

    def recover(self, left: UnfinishedDeposit) -> Deposited | None:
        uri = self.uri_of(left.identifier)
        with export_errors(left.identifier):
            if transaction := left.facts.get("tx"):
                settle(self._client, transaction)
            state = left.facts.get("state")
            there = read_object(self._client, uri) if state else None
            if there is None or there.state != state:
                return None
            if not there.tombstone and not is_untouched(self._client, there):
                return None
            created = tuple(filter(None, [left.facts.get("creates")]))
            count, shared = len(there.versions), _collections_in([left])
            return Deposited(
                uri, there.last.uri, there.token, created, deposits=count, shared=shared
            )

    def find(self, identifier: str) -> FoundInTarget | None:
        uri = self.uri_of(identifier)
        with export_errors(identifier):
            there = read_object(self._client, uri)
            if there is None:
                return None
            versions, state, ours = [], "", ""
            for memento in there.versions:
                found, now = self._found_version(memento)
                if found is not None and now != state:  # if only a file changed, it stays the same
                    versions.append(found)
                    ours = now
                state = now
            is_as_left = bool(versions) and ours == state == there.state and self._is_whole(there)
            return FoundInTarget(
                uri, there.token, tuple(versions), len(versions), there.is_withdrawn, is_as_left
            )

    def _is_whole(self, there: FedoraObject) -> bool:
        """Whether an export wrote the description, and the object is as it says."""
        return is_sealed(there.graph) and is_untouched(self._client, there)

    def _found_version(self, memento: Memento) -> tuple[FoundVersion | None, str]:
        """Return the version of a memento, None if no export made it, and its state token."""
        answer = self._client.get_if_there(memento.uri, {"Accept": NT, "Prefer": OWN})
        if answer is None:
            return None, ""
        graph, state = parsed(answer.body), answer.headers.get("X-State-Token", "")
        version, key = value(graph, VERSION), value(graph, KEY)
        if not (version and key and is_sealed(graph)):
            return None, state
        return FoundVersion(version, key, memento.uri), state

    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:
        with export_errors(deposit.identifier):
            yield from verifying.differences(
                self._client, self._lay_out, deposit, held, is_head=is_head
            )
            if is_head and self._lay_out.layout is Layout.PCDM and not held.withdrawn:
                yield from self._collections.differences(deposit)

    def rollback(self, created: CreatedThing, *, purge: bool) -> str:
        with export_errors(created.identifier):
            if not created.identifier:
                has_tombstone = self._collections.take_back(created.uri, purge=purge)
                return deleted_token() if has_tombstone else ""
            there = read_object(self._client, created.uri)
            if there is None:
                return ""
            is_left = there.token == created.token
            if not is_left or not (there.tombstone or is_untouched(self._client, there)):
                raise CannotTakeBack(f"{created.uri} was changed since the run, and is kept")
            if there.tombstone and not purge:
                raise CannotTakeBack(f"{created.uri} is deleted already; purge its tombstone")
            if not there.tombstone:
                self._client.send("DELETE", created.uri)
            if purge:
                self._purge(there.tombstone or f"{created.uri}/fcr:tombstone")
            self._check_deleted(created.uri)
        return "" if purge else deleted_token()

    def _check_deleted(self, uri: str) -> None:
        """Check that a deletion was carried out, so that Fedora did answer it."""
        there = read_object(self._client, uri)
        if there is not None and not there.tombstone:
            raise NotOfThisKind(204, uri, "was reported as deleted, but still exists")

    def _purge(self, tombstone: str) -> None:
        with contextlib.suppress(NotThere):
            self._client.send("DELETE", tombstone)


def _collections_in(left: Iterable[UnfinishedDeposit]) -> tuple[str, ...]:
    """Return the collections that attempts noted before they created them."""
    noted = (uri for one in left for uri in one.facts.get("collections", "").split())
    return tuple(dict.fromkeys(noted))


# -- decisions ----------------------------------------------------------------------------


def _may_be_begun(deposit: Deposit) -> bool:
    """Whether an earlier attempt reached its commit, so that Fedora may hold part of it."""
    return any("state" in left.facts for left in deposit.left)


def _may_be_done(
    deposit: Deposit,
    there: FedoraObject,
    begun: UnfinishedDeposit | None,
    *,
    is_ours: bool,
) -> bool:
    """Whether the object's current version can be the deposit already.

    It may be the last deposit, or not in the ledger, or from an attempt whose commit took
    effect after `recover` had looked.
    """
    if there.is_withdrawn or there.key != deposit.key:
        return False
    if is_ours:
        return not _is_again(deposit)
    return begun is not None or (deposit.held is None and not deposit.overwrite)


def _is_again(deposit: Deposit) -> bool:
    """Whether the last deposit has to be sent again because it is damaged in Fedora."""
    held = deposit.held
    return held is not None and held.key == deposit.key and not held.withdrawn


def _tombstone_conflict(deposit: Deposit, there: FedoraObject) -> Conflict:
    return Conflict(
        deposit.identifier,
        f"{there.uri} was deleted, and this server can create it again only if its history "
        "is purged; --on-conflict overwrite does that",
    )


def _what_is_there(there: FedoraObject | None) -> str:
    if there is None:
        return "it no longer exists in Fedora: someone else deleted and purged it"
    if there.tombstone:
        return f"{there.uri} was deleted, and its tombstone is still there"
    why = "was changed since it was exported" if there.key else "was not made by an export"
    return f"{there.uri} exists and {why}"
