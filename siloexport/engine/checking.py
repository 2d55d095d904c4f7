"""Compare the ledger with the target: verify, reconcile, roll back, status."""

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from recordsilo import Silo
from recordsilo.errors import ManifestUnreadable, RecordSiloError
from recordsilo.records.manifest import Manifest, Version
from recordsilo.sampling import is_drawn
from recordsilo.selection import Selection
from siloexport.content import Packer, with_digests
from siloexport.engine.parallel import Workers
from siloexport.errors import CannotTakeBack, DepositFailed, StillUsed
from siloexport.ledger import Ledger
from siloexport.plan import (
    Action,
    KnownRecord,
    Policy,
    Versions,
    chosen_versions,
    digest_of,
    files_digest,
    joint_key,
    version_key,
)
from siloexport.report import (
    KEPT,
    ReconcileReport,
    RollbackReport,
    Status,
    VerifyReport,
)
from siloexport.selection import is_in_state
from siloexport.targets import Target
from siloexport.values import (
    ActionKind,
    Capabilities,
    Deposit,
    DepositState,
    Difference,
    FoundInTarget,
    Held,
)

_SHOWN_RUNS = 20


def status(ledger: Ledger, target: Target) -> Status:
    """Return the state of a target according to its ledger."""
    runs = ledger.runs()[:_SHOWN_RUNS]
    return Status(
        target.shown,
        ledger.path,
        ledger.counts()["records"],
        len(ledger.unfinished()),
        tuple((run.run_id, run.started, run.how or "at work or killed") for run in runs),
    )


# -- verifying ---------------------------------------------------------------------------


def chosen(silo: Silo, ledger: Ledger, selection: Selection, share: float) -> Iterator[str]:
    """Yield the selected records that the target holds, or a random share of them.

    Args:
        ledger: Of the target.
        share: From 0 to 1.
    """
    everything = _held(ledger) if selection == Selection() else _selected(silo, ledger, selection)
    seed = secrets.token_hex(8)
    return (one for one in everything if is_drawn(seed, one, share))


def _held(ledger: Ledger) -> Iterator[str]:
    page = ledger.held()
    while page:
        yield from page
        page = ledger.held(after=page[-1])


def _selected(silo: Silo, ledger: Ledger, selection: Selection) -> Iterator[str]:
    for identifier in selection.iterate(silo):
        if ledger.known(identifier).held is not None and _is_selected(silo, identifier, selection):
            yield identifier


def _is_selected(silo: Silo, identifier: str, selection: Selection) -> bool:
    """Whether a record is in the state that is selected; one that cannot be read may be."""
    try:
        return is_in_state(selection, silo[identifier].state)
    except ManifestUnreadable:
        return True


@dataclass(frozen=True, slots=True)
class _DepositedAs:
    """How a version was deposited: the versions of the deposit, and the policy."""

    versions: tuple[Version, ...]
    policy: Policy

    def files(self, can: Capabilities) -> str:
        """Return the digest of its files as the ledger stores it."""
        digests = [files_digest(version) for version in self.versions]
        return digests[0] if can.each_version else digest_of(digests)

    def again(self, identifier: str, key: str, can: Capabilities) -> Action:
        """Return the action that sends it again."""
        names = tuple(version.name for version in self.versions)
        return Action(identifier, ActionKind.REPLACE, names, key, self.files(can))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A version as it would be deposited now, and what the ledger has of it."""

    deposit: Deposit
    held: Held
    is_head: bool


@dataclass(frozen=True, slots=True)
class _Compared:
    """The result of comparing a record."""

    identifier: str
    versions: int = 0
    differences: tuple[Difference, ...] = ()
    unreadable: str = ""


class Verification:
    """Compares what the target holds with the Silo."""

    def __init__(self, silo: Silo, target: Target, ledger: Ledger, policy: Policy) -> None:
        self._silo, self._target = silo, target
        self._ledger, self._policy = ledger, policy
        self._records = self._versions = self._outdated = self._differences = 0
        self._first: list[Difference] = []
        self._unreadable: dict[str, str] = {}

    def run(
        self,
        identifiers: Iterable[str],
        jobs: int,
        on_difference: Callable[[Difference], None],
        progress: Callable[[int], None],
    ) -> VerifyReport:
        """Compare records.

        Args:
            identifiers: Of the records.
            jobs: How many records at once.
            on_difference: Called in this thread with each difference.
            progress: Called in this thread with the number of records compared.

        Raises:
            TargetUnusable: The target does not answer.
        """
        for compared in self._compared(identifiers, jobs):
            self._add(compared)
            for difference in compared.differences:
                on_difference(difference)
            progress(self._records)
        return VerifyReport(
            self._target.shown,
            self._records,
            self._versions,
            self._outdated,
            self._differences,
            tuple(self._first),
            dict(self._unreadable),
        )

    def _add(self, compared: _Compared) -> None:
        self._records += 1
        self._versions += compared.versions
        self._differences += len(compared.differences)
        self._first.extend(compared.differences[: KEPT - len(self._first)])
        if compared.unreadable and len(self._unreadable) < KEPT:
            self._unreadable[compared.identifier] = compared.unreadable

    def _compared(self, identifiers: Iterable[str], jobs: int) -> Iterator[_Compared]:
        """Read the Silo and the ledger in this thread; the workers ask the target."""
        with Workers[_Compared](jobs) as work:
            for identifier in identifiers:
                try:
                    comparisons = tuple(self._comparisons(identifier))
                except (DepositFailed, RecordSiloError) as error:
                    work.begin(_Compared, identifier, unreadable=_reason(error))
                else:
                    work.begin(_compared, self._target, identifier, comparisons)
                yield from work.ready()
            yield from work.rest()

    def _comparisons(self, identifier: str) -> Iterator[_Comparison]:
        known = self._ledger.known(identifier)
        assert known.held is not None
        if not known.held.deposits:  # deleted in the target, as the policy says
            return
        record = self._silo[identifier]
        manifest = with_digests(record)
        for version, key, uri in self._there(identifier, known.held):
            way = deposited_as(manifest, version, key, self._policy, self._target.capabilities)
            if way is None:
                self._outdated += 1
                continue
            packer = Packer.of(self._silo, way.policy, self._ledger)
            names = tuple(one.name for one in way.versions)
            action = Action(identifier, ActionKind.NOTHING, names, key)
            deposit = packer.deposit(record, manifest, action, known.held)
            is_head = known.held.version == version and known.held.key == key
            yield _Comparison(deposit, replace(known.held, version_uri=uri), is_head)

    def _there(self, identifier: str, held: Held) -> Iterator[tuple[str, str, str]]:
        """The versions in the ledger that no newer one has replaced in the target."""
        for version, key, uri in self._ledger.versions(identifier):
            if self._target.capabilities.each_version or (version, key) == (held.version, held.key):
                yield version, key, uri


def _compared(target: Target, identifier: str, comparisons: Sequence[_Comparison]) -> _Compared:
    differences: list[Difference] = []
    for number, one in enumerate(comparisons, 1):
        try:
            differences.extend(target.verify(one.deposit, one.held, is_head=one.is_head))
        except (DepositFailed, RecordSiloError) as error:
            return _Compared(identifier, number, tuple(differences), _reason(error))
    return _Compared(identifier, len(comparisons), tuple(differences))


def _reason(error: DepositFailed | RecordSiloError) -> str:
    return error.reason if isinstance(error, DepositFailed) else str(error)


def deposited_as(
    manifest: Manifest, version: str, key: str, policy: Policy, can: Capabilities
) -> _DepositedAs | None:
    """Find the versions and the policy that give a deposit its key.

    Args:
        manifest: With all digests.
        key: Of the deposit.
        policy: Its crosswalk counts; documents are tried unwrapped and not.
        can: What the target can do.

    Returns:
        None if the Silo does not have what was deposited any more.
    """
    for unwrap in (policy.unwrap, not policy.unwrap):
        tried = replace(policy, unwrap=unwrap)
        for versions in _candidates(manifest, version, can):
            keys = [version_key(manifest, one, tried) for one in versions]
            if keys and joint_key(keys) == key:
                return _DepositedAs(versions, tried)
    return None


def _candidates(
    manifest: Manifest, version: str, can: Capabilities
) -> Iterator[tuple[Version, ...]]:
    if not can.each_version:
        yield from (chosen_versions(manifest, which) for which in Versions)
    elif manifest.has(version):
        yield (manifest.version(version),)


# -- reconciling -------------------------------------------------------------------------

_Answer = FoundInTarget | DepositFailed | None
"""What a target says of a record, or the error."""


@dataclass(frozen=True, slots=True)
class LedgerRebuild:
    """Rebuilds a ledger from the target."""

    silo: Silo
    target: Target
    ledger: Ledger
    policy: Policy

    def run(
        self, selection: Selection, jobs: int, progress: Callable[[int], None]
    ) -> ReconcileReport:
        """Look up each selected record, and for all records also those only in the ledger.

        Args:
            jobs: How many records at once.
            progress: Called in this thread with the number of records looked up.
        """
        became: Counter[str] = Counter()
        unreadable: dict[str, str] = {}
        for number, (identifier, there) in enumerate(self._found(selection, jobs), 1):
            if isinstance(there, DepositFailed):
                unreadable[identifier] = there.reason
            else:
                became.update(self._noted(identifier, there))
            progress(number)
        if selection == Selection():
            for entry in self.ledger.unfinished():
                if entry.identifier not in unreadable:
                    self.ledger.fail(entry.number, DepositState.FAILED, "looked up in the target")
        return ReconcileReport(
            self.target.shown,
            became["there"],
            became["adopted"],
            became["forgotten"],
            became["deleted"],
            became["changed"],
            unreadable,
        )

    def _found(self, selection: Selection, jobs: int) -> Iterator[tuple[str, _Answer]]:
        with Workers[tuple[str, _Answer]](jobs) as work:
            for identifier in self._to_be_asked(selection):
                work.begin(_asked, self.target, identifier)
                yield from work.ready()
            yield from work.rest()

    def _noted(self, identifier: str, there: FoundInTarget | None) -> Iterator[str]:
        """Note what the target holds of a record, and yield what changed in the ledger."""
        known = self.ledger.known(identifier)
        if there is None:
            self.ledger.forget(identifier)
            if known.held is not None:
                yield "forgotten"
            return
        is_known = _is_known(known, there)
        if not is_known and known.held is not None and not there.is_as_left:
            self.ledger.note_changed(identifier)
        elif not is_known:
            self.ledger.adopt(identifier, there, self._files(identifier, there))
            yield "adopted"
        is_deleted = there.withdrawn and not there.deposits
        yield "deleted" if is_deleted else "there"
        if not is_known and not there.is_as_left and (known.held or not is_deleted):
            yield "changed"

    def _to_be_asked(self, selection: Selection) -> Iterator[str]:
        yield from selection.iterate(self.silo)
        if selection == Selection():
            yield from (one for one in _held(self.ledger) if one not in self.silo)

    def _files(self, identifier: str, there: FoundInTarget) -> dict[str, str]:
        """Map each version that is the same in the Silo to the digest of its files."""
        try:
            manifest = with_digests(self.silo[identifier])
        except RecordSiloError:
            return {}
        found = {}
        for one in there.versions:
            can = self.target.capabilities
            way = deposited_as(manifest, one.version, one.key, self.policy, can)
            if way is not None:
                found[one.version] = way.files(can)
        return found


def _asked(target: Target, identifier: str) -> tuple[str, _Answer]:
    try:
        return identifier, target.find(identifier)
    except DepositFailed as error:
        return identifier, error


def _is_known(known: KnownRecord, there: FoundInTarget) -> bool:
    held = known.held
    if held is not None and there.withdrawn and not there.deposits:
        return held.token == there.token
    if held is None or not there.versions or not there.is_as_left:
        return False
    last = there.versions[-1]
    theirs = (there.uri, there.token, there.deposits, there.withdrawn, last.version, last.key)
    ours = (held.uri, held.token, held.deposits, held.withdrawn, held.version, held.key)
    newest = {one.version: one.key for one in there.versions}
    return theirs == ours and newest == dict(known.keys)


# -- rolling back ------------------------------------------------------------------------


def rollback(target: Target, ledger: Ledger, run_id: str, *, purge: bool) -> RollbackReport:
    """See `siloexport.engine.export.Export.rollback`."""
    ledger.run(run_id)
    taken_back, kept = 0, {}
    for created in ledger.created(run_id):
        others = ledger.runs_of(created.identifier) - {run_id}
        if others:
            kept[created.uri] = f"run {max(others)} exported to it since"
            continue
        try:
            trace = target.rollback(created, purge=purge)
        except StillUsed:
            continue
        except (CannotTakeBack, DepositFailed) as error:
            kept[created.uri] = str(error)
            continue
        ledger.taken_back(run_id, created, trace)
        taken_back += bool(created.identifier)
    return RollbackReport(run_id, taken_back, kept)
