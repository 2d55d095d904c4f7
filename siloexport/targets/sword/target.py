"""SWORDv2 as an export target: a record is a deposit in a collection.

A deposit is found again by its Edit-IRI from the ledger, or without one by the Slug or the
record's identifier in the list of the collection. It is the export's own if its content has the
files that its ``silo.json`` names, and its description is the one that was sent.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from siloexport.bibliography import Bibliography, bibliography_of
from siloexport.errors import CannotTakeBack, Conflict, DepositFailed, TargetUnusable
from siloexport.targets import DepositJournal
from siloexport.targets.remote.about import expected_files, first_part
from siloexport.targets.remote.errors import (
    Busy,
    Denied,
    NotSupported,
    RemoteError,
    export_errors,
    target_errors,
)
from siloexport.targets.remote.server import Server
from siloexport.targets.sword import entry as entries
from siloexport.targets.sword.client import SILENT, Sent, SwordClient, There
from siloexport.targets.sword.listing import DepositListing, slug_of
from siloexport.targets.sword.mets import mods_document
from siloexport.targets.sword.ownership import MEDIA, SLUG, DepositLook
from siloexport.targets.sword.package import (
    METS_SIP,
    SIMPLE_ZIP,
    ZipPackage,
    packed,
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

_VARIANT = "sword 1"
_CAN = Capabilities(each_version=False, deletions=frozenset({Deletions.DELETE}))
_MOST_BACK = 64 << 30
"""Bytes of content that are fetched where the server does not say how much it takes."""
_SPARE = 64 << 20
_NOT_LISTED = "the server does not list its deposits, so it cannot be asked what it holds"
_NOT_KNOWN = (
    "an earlier request had no answer, and the server does not list its deposits, so it is not "
    "known whether this record arrived; look there, delete the deposit if it did, and export with "
    "--on-conflict overwrite"
)


@dataclass(frozen=True, slots=True)
class SwordSettings:
    """How records are deposited.

    Attributes:
        packaging: `SIMPLE_ZIP` or `METS_SIP`.
        collection: Address or title of the collection; ``""`` if the server lists only one.
        on_behalf_of: User for whom deposits are made; or ``""``.
        in_progress: Whether deposits stay open, for somebody to complete there.
        in_steps: Whether the description and the content are sent one after the other, for
            servers that do not take both at once.
    """

    packaging: str = SIMPLE_ZIP
    collection: str = ""
    on_behalf_of: str = ""
    in_progress: bool = False
    in_steps: bool = False


@dataclass(frozen=True, slots=True)
class _DepositBefore:
    """The deposit there before one is made.

    Attributes:
        there: None if there is none.
        is_done: Whether it is the deposit already.
        is_half: Whether an interrupted creation of this export left it.
    """

    there: There | None = None
    is_done: bool = False
    is_half: bool = False


class SwordTarget:
    """A `Target`: a collection of a repository that takes deposits by SWORDv2.

    Args:
        url: Of the service document or the collection.
        settings: See `SwordSettings`.
    """

    def __init__(self, url: str, server: Server, settings: SwordSettings | None = None) -> None:
        self.shown = url
        self._settings = settings or SwordSettings()
        self._client = SwordClient(server, self._settings.on_behalf_of)
        self._collection, self._most = "", 0
        self._listing = DepositListing(self._client, "")

    @property
    def key(self) -> str:
        """See `Target`: the address of the collection, and for whom."""
        for_whom = self._settings.on_behalf_of
        return f"sword {self._collection}" + (f" for {for_whom}" if for_whom else "")

    @property
    def capabilities(self) -> Capabilities:
        return replace(_CAN, identifiers=self._settings.packaging == METS_SIP)

    @property
    def crosswalk(self) -> str:
        settings = self._settings
        name = settings.packaging.rpartition("/")[2]
        open_ = " in progress" if settings.in_progress else ""
        return f"{_VARIANT} {name}{open_}"

    def probe(self) -> None:
        settings = self._settings
        with target_errors(self.shown):
            found, service = self._client.collection(self.shown, settings.collection)
        if found.packagings and settings.packaging not in found.packagings:
            some = ", ".join(sorted(found.packagings))
            raise TargetUnusable(
                f"the collection {found.title or found.href} does not take packages as "
                f"{settings.packaging}, but {some} (--packaging)"
            )
        if settings.on_behalf_of and service.collections and not found.mediation:
            raise TargetUnusable(
                f"the collection {found.title or found.href} takes no deposits on behalf of others"
            )
        self._collection, self._most = found.href, (service.most or 0) * 1024
        self._listing = DepositListing(self._client, found.href)

    def prepare(self) -> None:
        """See `Target`: the collection exists."""

    # -- deposits ----------------------------------------------------------------------

    def deposit(self, deposit: Deposit, journal: DepositJournal) -> Deposited:
        with export_errors(deposit.identifier):
            before = self._before(deposit)
            there = before.there
            if there is not None and before.is_done:
                return self._deposited(there, was_there=True)
            said = bibliography_of(deposit.version)
            terms = entries.terms(deposit, said)
            packaging = self._settings.packaging
            mods = mods_document(deposit, said) if packaging == METS_SIP else b""
            with packed(deposit, packaging, mods, entries.described_as(terms)) as package:
                self._check_size(deposit, package.size)
                if there is None:
                    return self._create(deposit, said, package, journal)
                return self._replace(deposit, said, package, before, journal)

    def foresee(self, step: Deposit | Withdrawal, *, is_first: bool) -> str:
        with export_errors(step.identifier):
            if isinstance(step, Withdrawal):
                if is_first:
                    there = self._client.read(step.held.uri, step.held.version_uri)
                    self._check_as_left(step, there)
                return ""
            bibliography_of(step.version)
            self._check_size(step, sum(file.size for one in step.versions for file in one.files))
            if is_first:
                self._before(step)
        return ""

    def _check_size(self, deposit: Deposit, size: int) -> None:
        if self._most and size > self._most:
            raise DepositFailed(
                deposit.identifier,
                f"its package has {size:,} bytes; the server takes {self._most:,} at most",
            )

    def _before(self, deposit: Deposit) -> _DepositBefore:
        """Read what is there before a deposit.

        Raises:
            Conflict: Others changed it, and it is not to be overwritten.
        """
        held = deposit.held if deposit.held is not None and deposit.held.deposits else None
        there = self._there(deposit, held)
        if there is None:
            if held is not None and not held.withdrawn and not deposit.overwrite:
                raise Conflict(deposit.identifier, f"{held.uri} was deleted there by others")
            return _DepositBefore()
        if not there.edit:
            if deposit.overwrite:
                return _DepositBefore()
            why = f"{self.shown} lists a deposit with its Slug, but gives no address of it"
            raise Conflict(deposit.identifier, why)
        if held is not None and there.token == held.token:
            return _DepositBefore(there)
        look = self._look(there, deposit)
        lefts, own = deposit.left, look.own
        if own == deposit.key and (held is None or _begun(deposit, there)):
            return _DepositBefore(there, is_done=not (deposit.overwrite and held is not None))
        ours = {left.key for left in lefts} | ({held.key} if held is not None else set())
        is_half = look.is_half_made(lefts)
        if (own and own in ours) or deposit.overwrite or is_half or look.is_half_replaced(lefts):
            return _DepositBefore(there, is_half=is_half)
        if not own and any(look.is_result(left) for left in lefts):
            return _DepositBefore(there, is_done=True)
        why = "was changed since it was exported" if held else "exists, but is not in the ledger"
        raise Conflict(deposit.identifier, f"{there.edit} {why}")

    def _there(self, deposit: Deposit, held: Held | None) -> There | None:
        if held is not None and held.uri:
            return self._client.read(held.uri, held.version_uri)
        for left in deposit.left:
            edit = left.facts.get("edit")
            there = self._client.read(edit, left.facts.get("statement", "")) if edit else None
            if there is not None:
                return there
        try:
            return self._listing.look_up(deposit.identifier)
        except NotSupported:
            if any(left.facts.get(SLUG) for left in deposit.left) and not deposit.overwrite:
                raise DepositFailed(deposit.identifier, _NOT_KNOWN) from None
            return None

    def _look(self, there: There, deposit: Deposit | None = None) -> DepositLook:
        most = self._most + _SPARE if self._most else _MOST_BACK
        if deposit is not None:
            most = 2 * sum(file.size for one in deposit.versions for file in one.files) + _SPARE
        return DepositLook(there, self._client.held(there, most))

    def _create(
        self, deposit: Deposit, said: Bibliography, package: ZipPackage, journal: DepositJournal
    ) -> Deposited:
        settings = self._settings
        slug = slug_of(deposit.identifier)
        iri = settings.packaging
        if not settings.in_steps:
            whole = Sent(entries.entry(deposit, said), package, iri, settings.in_progress)
            with _noted(deposit, journal, slug=slug):
                edit, receipt = self._client.create(self._collection, slug, whole)
        else:
            first = Sent(entries.entry(deposit, said, is_whole=False), None, iri, in_progress=True)
            with _noted(deposit, journal, slug=slug, steps="yes"):
                edit, receipt = self._client.create(self._collection, slug, first)
            state, media = next(iter(receipt.statements), ""), receipt.media
            journal.opened(edit=edit, statement=state, media=media, creates=edit)
            self._complete(deposit, said, package, edit, media)
        there = self._after(edit, next(iter(receipt.statements), ""))
        self._listing.note(deposit.identifier, there)
        return self._deposited(there, created=(edit,))

    def _replace(
        self, deposit: Deposit, said: Bibliography, package: ZipPackage, before: _DepositBefore,
        journal: DepositJournal,
    ) -> Deposited:  # fmt: skip
        settings, there = self._settings, before.there
        assert there is not None
        journal.committing(edit=there.edit, creates=there.edit if before.is_half else "")
        if settings.in_steps:
            known = (left.facts.get(MEDIA, "") for left in deposit.left)
            media = there.receipt.media or next(filter(None, known), "")
            self._complete(deposit, said, package, there.edit, media)
        else:
            iri = settings.packaging
            whole = Sent(entries.entry(deposit, said), package, iri, settings.in_progress)
            self._client.replace(there.edit, whole)
        after = self._after(there.edit, there.statement)
        return self._deposited(after, created=(there.edit,) if before.is_half else ())

    def _complete(
        self, deposit: Deposit, said: Bibliography, package: ZipPackage, edit: str, media: str
    ) -> None:
        """Send the content, then the whole description, which says that the deposit is whole."""
        settings = self._settings
        if not media:
            why = f"{edit} names no address for its content (EM-IRI)"
            raise DepositFailed(deposit.identifier, why)
        self._client.put_content(media, package, settings.packaging)
        last = Sent(entries.entry(deposit, said), None, "", settings.in_progress)
        self._client.replace(edit, last)

    def _after(self, edit: str, statement: str) -> There:
        """Return what the server says of a deposit that it has just confirmed."""
        there = self._client.read(edit, statement)
        if there is None:
            why = "was reported as deposited, but is not there"
            raise RemoteError(201, edit, why)
        return there

    def _deposited(
        self, there: There, *, was_there: bool = False, created: tuple[str, ...] = ()
    ) -> Deposited:
        return Deposited(there.edit, there.statement, there.token, created, was_there)

    # -- withdrawals -------------------------------------------------------------------

    def withdraw(self, withdrawal: Withdrawal, journal: DepositJournal) -> Deposited:
        held = withdrawal.held
        with export_errors(withdrawal.identifier):
            there = self._client.read(held.uri, held.version_uri)
            self._check_as_left(withdrawal, there)
            journal.committing(edit=held.uri)
            if there is not None:
                self._delete(held)
            self._listing.forget(withdrawal.identifier)
        return Deposited(held.uri, was_there=there is None, deposits=0)

    def _check_as_left(self, withdrawal: Withdrawal, there: There | None) -> None:
        held = withdrawal.held
        if there is None or withdrawal.overwrite or there.token == held.token:
            return
        if self._look(there).own == held.key:
            return
        raise Conflict(withdrawal.identifier, f"{there.edit} was changed since it was exported")

    def _delete(self, held: Held) -> None:
        self._client.delete(held.uri)
        there = self._client.read(held.uri, held.version_uri)
        if there is not None and there.token != SILENT:
            raise RemoteError(204, held.uri, "was reported as deleted, but still exists")

    def rollback(self, created: CreatedThing, *, purge: bool) -> str:  # noqa: ARG002 - there are no tombstones
        with export_errors(created.identifier):
            there = self._client.read(created.uri)
            if there is None:
                return ""
            if there.token == SILENT:
                why = f"{created.uri} is kept: the server does not tell whether it was changed"
                raise CannotTakeBack(why)
            if there.token != created.token and not self._look(there).own:
                raise CannotTakeBack(f"{created.uri} was changed since the run, and is kept")
            try:
                self._delete(Held(created.uri))
            except (NotSupported, Denied) as error:
                why = f"{created.uri} is kept: the server does not delete it ({error.reason})"
                raise CannotTakeBack(why) from error
            self._listing.forget(created.identifier)
        return ""

    # -- after a crash, and without a ledger -------------------------------------------

    def recover(self, left: UnfinishedDeposit) -> Deposited | None:
        with export_errors(left.identifier):
            edit = left.facts.get("edit", "")
            there = self._client.read(edit, left.facts.get("statement", "")) if edit else None
            if left.withdrawal:
                return None if there is not None or not edit else Deposited(edit, deposits=0)
            if there is None and not edit and left.facts.get(SLUG) and left.held is None:
                self._listing.read_again()
                try:
                    there = self._listing.look_up(left.identifier)
                except NotSupported:  # `deposit` says what to do
                    return None
            if there is None or not there.edit or not self._look(there).is_result(left):
                return None
            is_new = bool(left.facts.get("creates")) or left.held is None
            return self._deposited(there, created=(there.edit,) if is_new else ())

    def find(self, identifier: str) -> FoundInTarget | None:
        with export_errors(identifier):
            try:
                there = self._listing.look_up(identifier)
            except NotSupported:
                raise DepositFailed(identifier, _NOT_LISTED) from None
            if there is None:
                return None
            if not there.edit:
                return FoundInTarget(
                    f"{self._collection}#{slug_of(identifier)}", "", is_as_left=False
                )
            look = self._look(there)
            if not look.own or look.content is None:
                return FoundInTarget(there.edit, there.token, is_as_left=False)
            version = FoundVersion(look.content.version, look.own, there.statement)
            return FoundInTarget(there.edit, there.token, (version,))

    # -- comparing ---------------------------------------------------------------------

    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:  # noqa: ARG002 - there is one version
        with export_errors(deposit.identifier):
            there = self._client.read(held.uri, held.version_uri)
            if there is None:
                yield deposit.differs("missing", held.uri, "there is nothing at this address")
                return
            yield from self._description(deposit, there)
            content = self._look(there, deposit).content
            if content is None:
                state = self._client.state(there)
                said = f"; it says: {state}" if state else ""
                raise DepositFailed(
                    deposit.identifier,
                    f"{there.edit} is there, but the server does not give back its content, "
                    f"which cannot be compared{said}",
                )
            expected = expected_files(deposit)
            yield from deposit.file_differences(expected, content.files, first_part)

    def _description(self, deposit: Deposit, there: There) -> Iterator[Difference]:
        """Compare descriptions, where the server gives back the terms that it was sent."""
        terms = there.receipt.terms
        _version, key = entries.sealed(terms)
        if not key:
            return
        expected = entries.terms(deposit, bibliography_of(deposit.version))
        if key != deposit.key:
            detail = "its description is of another deposit"
        elif entries.described_there(terms) != entries.described_as(expected):
            detail = "its description was changed"
        else:
            return
        yield deposit.differs("description", there.edit, detail)


@contextlib.contextmanager
def _noted(deposit: Deposit, journal: DepositJournal, **facts: str) -> Iterator[None]:
    """Note that a creation is about to be sent; and if it is refused, that it was not made."""
    journal.committing(**facts)
    try:
        yield
    except Busy:
        raise
    except RemoteError:
        if not any(left.facts.get(SLUG) for left in deposit.left):
            journal.opened(**dict.fromkeys(facts, ""))
        raise


def _begun(deposit: Deposit, there: There) -> bool:
    """Whether an earlier attempt of this export got as far as sending this deposit."""
    return any(left.facts.get("edit") == there.edit for left in deposit.left)
