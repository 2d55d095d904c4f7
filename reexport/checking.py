"""The ledger and the target held against each other: verify, reconcile, roll back, status."""

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from recordsilo import Silo
from recordsilo.audit.sampling import is_drawn
from recordsilo.errors import RecordSiloError
from recordsilo.manifest import Manifest, Version
from reexport.content import Packer, with_digests
from reexport.errors import CannotTakeBack, DepositFailed
from reexport.ledger import Ledger
from reexport.plan import (
    Action,
    Known,
    Policy,
    Versions,
    chosen_versions,
    digest_of,
    files_digest,
    joint_key,
    version_key,
)
from reexport.report import (
    KEPT,
    ReconcileReport,
    RollbackReport,
    Status,
    VerifyReport,
)
from reexport.selection import Selection
from reexport.targets import Target
from reexport.values import ActionKind, Capabilities, DepositState, Difference, Found

_SHOWN_RUNS = 20


def status(ledger: Ledger, target: Target) -> Status:
    """What a ledger says."""
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
    """The records that the target holds, of those selected; or a share of them, by chance."""
    everything = _held(ledger) if selection == Selection() else _selected(silo, ledger, selection)
    seed = secrets.token_hex(8)
    return (one for one in everything if is_drawn(seed, one, share))


def _held(ledger: Ledger) -> Iterator[str]:
    page = ledger.held()
    while page:
        yield from page
        page = ledger.held(after=page[-1])


def _selected(silo: Silo, ledger: Ledger, selection: Selection) -> Iterator[str]:
    for identifier in selection.identifiers(silo):
        if ledger.known(identifier).held is not None and selection.has(silo[identifier].state):
            yield identifier


@dataclass(frozen=True, slots=True)
class _DepositedAs:
    """How a version was deposited: these versions together, under this policy."""

    versions: tuple[Version, ...]
    policy: Policy


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
        on_difference: Callable[[Difference], None],
        progress: Callable[[int], None],
    ) -> VerifyReport:
        """Compare these records.

        Raises:
            TargetUnusable: The target does not answer.
        """
        for identifier in identifiers:
            self._records += 1
            try:
                for difference in self._differences_of(identifier):
                    self._note(difference)
                    on_difference(difference)
            except (DepositFailed, RecordSiloError) as error:
                if len(self._unreadable) < KEPT:
                    self._unreadable[identifier] = str(error)
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

    def _note(self, difference: Difference) -> None:
        self._differences += 1
        if len(self._first) < KEPT:
            self._first.append(difference)

    def _differences_of(self, identifier: str) -> Iterator[Difference]:
        known = self._ledger.known(identifier)
        assert known.held is not None
        if not known.held.deposits:  # deleted there, as the policy said
            return
        record = self._silo[identifier]
        manifest = with_digests(record)
        for version, key, uri in self._ledger.versions(identifier):
            way = deposited_as(manifest, version, key, self._policy, self._target.capabilities)
            if way is None:
                self._outdated += 1
                continue
            self._versions += 1
            packer = Packer.of(self._silo, way.policy, self._ledger)
            names = tuple(one.name for one in way.versions)
            action = Action(identifier, ActionKind.NOTHING, names, key)
            deposit = packer.deposit(record, manifest, action, known.held)
            held = replace(known.held, version_uri=uri)
            is_head = known.held.version == version and known.held.key == key
            yield from self._target.verify(deposit, held, is_head=is_head)


def deposited_as(
    manifest: Manifest, version: str, key: str, policy: Policy, can: Capabilities
) -> _DepositedAs | None:
    """What of the Silo, as it is now, makes a deposit of that key; None where nothing does."""
    for unwrap in (policy.unwrap, not policy.unwrap):
        tried = replace(policy, unwrap=unwrap)
        for versions in _candidates(manifest, version, can):
            keys = [version_key(manifest.item_id, one, tried) for one in versions]
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


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Makes a ledger say what the target holds."""

    silo: Silo
    target: Target
    ledger: Ledger
    policy: Policy

    def run(self, selection: Selection, progress: Callable[[int], None]) -> ReconcileReport:
        """Ask for each record selected, and where all are, for those the ledger alone knows."""
        became = Counter(
            self._one(identifier, number, progress)
            for number, identifier in enumerate(self._to_be_asked(selection), 1)
        )
        if selection == Selection():
            for entry in self.ledger.unfinished():
                self.ledger.fail(entry.number, DepositState.FAILED, "looked up in the target")
        return ReconcileReport(
            self.target.shown,
            became["known"] + became["adopted"],
            became["adopted"],
            became["forgotten"],
        )

    def _one(self, identifier: str, number: int, progress: Callable[[int], None]) -> str:
        known, there = self.ledger.known(identifier), self.target.find(identifier)
        if there is None:
            became = "unknown" if known.held is None else "forgotten"
            self.ledger.forget(identifier)
        elif _is_known(known, there):
            became = "known"
        else:
            became = "adopted"
            self.ledger.adopt(identifier, there, self._files(identifier, there))
        progress(number)
        return became

    def _to_be_asked(self, selection: Selection) -> Iterator[str]:
        yield from selection.identifiers(self.silo)
        if selection == Selection():
            yield from (one for one in _held(self.ledger) if one not in self.silo)

    def _files(self, identifier: str, there: Found) -> dict[str, str]:
        """Version → digest of its files, of those that the Silo has as the target has them."""
        try:
            manifest = with_digests(self.silo[identifier])
        except RecordSiloError:
            return {}
        found = {}
        for one in there.versions:
            can = self.target.capabilities
            way = deposited_as(manifest, one.version, one.key, self.policy, can)
            if way is not None:
                digests = [files_digest(version) for version in way.versions]
                found[one.version] = digests[0] if can.each_version else digest_of(digests)
        return found


def _is_known(known: Known, there: Found) -> bool:
    held = known.held
    if held is None or not there.versions:
        return False
    last = there.versions[-1]
    told = (there.uri, there.token, there.deposits, there.withdrawn, last.version, last.key)
    ours = (held.uri, held.token, held.deposits, held.withdrawn, held.version, held.key)
    newest = {one.version: one.key for one in there.versions}
    return told == ours and newest == dict(known.keys)


# -- rolling back ------------------------------------------------------------------------


def rollback(target: Target, ledger: Ledger, run_id: str, *, purge: bool) -> RollbackReport:
    """See `reexport.engine.Export.rollback`."""
    ledger.run(run_id)
    taken_back, kept = 0, {}
    for created in ledger.created(run_id):
        others = ledger.runs_of(created.identifier) - {run_id}
        if others:
            kept[created.uri] = f"run {max(others)} exported to it since"
            continue
        try:
            target.rollback(created, purge=purge)
        except (CannotTakeBack, DepositFailed) as error:
            kept[created.uri] = str(error)
            continue
        ledger.taken_back(run_id, created)
        taken_back += 1
    return RollbackReport(run_id, taken_back, kept)
