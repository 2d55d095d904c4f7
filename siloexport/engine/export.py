"""Run an export: records are planned one by one, and carried out in groups, in parallel."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from recordsilo import HarvestedRecord, Silo
from recordsilo.batches import batched
from recordsilo.errors import RecordNotFound, RecordSiloError
from recordsilo.records.manifest import Manifest
from recordsilo.selection import Selection, selection_from, selection_table
from siloexport.content import Packer, with_digests
from siloexport.engine import checking
from siloexport.engine.deposits import Depositor, Given, GroupResult, Retries, RunStopped
from siloexport.engine.parallel import Workers
from siloexport.engine.times import check_time
from siloexport.errors import RunNotFound, TargetUnusable
from siloexport.identified import found_identifiers
from siloexport.ledger import Ledger
from siloexport.plan import (
    WRITING,
    Action,
    KnownRecord,
    Policy,
    Versions,
    is_deleted,
    plan_record,
    removed_here,
)
from siloexport.report import (
    ASKED,
    DepositOutcome,
    Progress,
    ReconcileReport,
    RollbackReport,
    RunReport,
    Status,
    Tally,
    VerifyReport,
)
from siloexport.selection import is_in_state
from siloexport.targets import SeenTarget, SummedTarget, Target
from siloexport.values import ActionKind, Deletions, Difference, OnConflict, Result, SizeThen
from silowork.stop import Stop

EVERYTHING = Selection()
DEFAULT = Policy()
PATIENT = Retries()
GROUP = 50
"""The largest number of records in a group, and"""
GROUP_BYTES = 64 << 20
"""the size of files from which it is not extended."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Callbacks, called in the thread that called `Export.run`.

    Attributes:
        progress: Called after each record.
        outcome: Called with the result of each action, also in a dry run.
    """

    progress: Callable[[Progress], None] = lambda _progress: None
    outcome: Callable[[DepositOutcome], None] = lambda _outcome: None


@dataclass(frozen=True, slots=True)
class Export:
    """An export of records of a Silo to a target.

        >>> report = Export(silo, target).run(Selection("title:solar"))
        >>> report.whole, report.actions

    After a kill at any moment, the same call continues: the ledger in the Silo
    (``curation/exports/``) says which deposits were unfinished, and what was exported is
    not exported again.

    Attributes:
        policy: What to export; the crosswalk of the target replaces its ``crosswalk``.
        retries: How often to retry, and how long to wait.
    """

    silo: Silo
    target: Target
    policy: Policy = DEFAULT
    retries: Retries = PATIENT

    def run(
        self,
        selection: Selection = EVERYTHING,
        *,
        dry_run: bool = False,
        jobs: int = 1,
        limit: int | None = None,
        on_conflict: OnConflict = OnConflict.FAIL,
        watch: Watch | None = None,
        stop: Stop | None = None,
    ) -> RunReport:
        """Export the selected records that the target does not hold in their current state.

        Args:
            dry_run: Only report what would be done, and write nothing to the target or the
                Silo. The target is asked about each record that would be written.
            jobs: How many records at once; the versions of one are always sent in order.
            limit: The maximum number of records to write; conflicts do not count.
            on_conflict: What to do with records that others changed in the target. To
                overwrite them, every selected record is compared as by `verify`.
            watch: Callbacks for progress and results.
            stop: Asks the run to stop.

        Returns:
            What was done, and which records failed; a failure does not stop the others.

        Raises:
            TargetUnusable, CredentialsRefused: The target cannot be used; nothing was written.
            HoldsNewer: Records as they were are to be exported, and the target has newer ones.
            LedgerInUse: Another run to this target has not ended.
            SearchError, IndexProblem: The selection cannot be looked up.
            MomentUnknown: See `Selection.at`.

        Cost: memory does not grow with the number of records.
        """
        with selection.at(self.silo) as silo:
            export, target = replace(self, silo=silo), self.target
            target.probe()
            notes: list[str] = []
            policy, on_stop = export._policy(notes.append), stop or Stop()
            begin = partial(
                _Run, export, policy, selection, watch or Watch(), on_conflict, on_stop, limit,
                notes=notes,
            )  # fmt: skip
            if dry_run:
                with Ledger.look(silo.path, target.key) as ledger:
                    check_time(ledger, target.shown, selection)
                    return begin(ledger).plan(jobs)
            with Ledger.for_run(silo.path, target.key, target.shown) as ledger:
                check_time(ledger, target.shown, selection)
                target.prepare()
                run = ledger.begin_run(_arguments(selection, policy, on_conflict, limit))
                return begin(ledger, run.run_id).carry_out(jobs)

    def resume(
        self, *, jobs: int = 1, watch: Watch | None = None, stop: Stop | None = None
    ) -> RunReport:
        """Continue the last run with its selection, versions and policy.

        Args:
            jobs: How many records at once.
            watch: Callbacks for progress and results.
            stop: Asks the run to stop.

        Raises:
            RunNotFound: Nothing was exported to this target yet.
            TargetUnusable, LedgerInUse, SearchError: See `run`.
        """
        self.target.probe()
        with Ledger.look(self.silo.path, self.target.key) as ledger:
            runs = ledger.runs()
        if not runs:
            raise RunNotFound(f"nothing was exported to {self.target.shown} yet")
        asked = runs[0].arguments
        policy = Policy(Versions(asked["versions"]), asked["unwrap"], Deletions(asked["deletions"]))
        return replace(self, policy=policy).run(
            selection_from(asked["selection"]),
            jobs=jobs,
            limit=asked["limit"],
            on_conflict=OnConflict(asked["on_conflict"]),
            watch=watch,
            stop=stop,
        )

    def status(self) -> Status:
        """Return what the ledger says; the target is asked only for its key."""
        self.target.probe()
        with Ledger.look(self.silo.path, self.target.key) as ledger:
            return checking.status(ledger, self.target)

    def verify(
        self,
        selection: Selection = EVERYTHING,
        *,
        sample: float = 1.0,
        jobs: int = 1,
        on_difference: Callable[[Difference], None] = lambda _difference: None,
        progress: Callable[[int], None] = lambda _records: None,
    ) -> VerifyReport:
        """Compare what was exported to the target with the Silo, by the digest of every file.

        Args:
            selection: Which records.
            sample: Share of the records to compare, from 0 to 1, drawn at random.
            jobs: How many records at once.
            on_difference: Called in this thread with each difference, in the order of the records.
            progress: Called in this thread with the number of records compared.

        Raises:
            TargetUnusable: The target does not answer.
        """
        self.target.probe()
        with Ledger.look(self.silo.path, self.target.key) as ledger:
            check = checking.Verification(self.silo, self.target, ledger, self._policy())
            chosen = checking.chosen(self.silo, ledger, selection, sample)
            return check.run(chosen, jobs, on_difference, progress)

    def reconcile(
        self,
        selection: Selection = EVERYTHING,
        *,
        jobs: int = 1,
        progress: Callable[[int], None] = lambda _records: None,
    ) -> ReconcileReport:
        """Rebuild the ledger from what the target says it holds.

        Args:
            selection: Which records; all of the Silo and of the ledger by default.
            jobs: How many records at once.
            progress: Called in this thread with the number of records looked up.

        Raises:
            TargetUnusable, LedgerInUse: See `run`.
        """
        self.target.probe()
        with Ledger.open(self.silo.path, self.target.key, self.target.shown) as ledger:
            found = checking.LedgerRebuild(self.silo, self.target, ledger, self._policy())
            return found.run(selection, jobs, progress)

    def rollback(self, run_id: str, *, purge: bool = False) -> RollbackReport:
        """Remove the objects that a run created, and no others.

        Args:
            purge: Leave no tombstones, so that a later run can create the objects again.

        Raises:
            RunNotFound: The ledger has no such run.
            TargetUnusable, LedgerInUse: See `run`.
        """
        self.target.probe()
        with Ledger.open(self.silo.path, self.target.key, self.target.shown) as ledger:
            report = checking.rollback(self.target, ledger, run_id, purge=purge)
            _sum_up(self.target)
            return report

    def _policy(self, told: Callable[[str], None] = lambda _sentence: None) -> Policy:
        can = self.target.capabilities
        return replace(
            self.policy,
            crosswalk=self.target.crosswalk,
            states=can.states,
            sets=can.sets,
            identifiers=found_identifiers(self.silo, told) if can.identifiers else None,
        )


def _sum_up(target: Target) -> None:
    if target.capabilities.sums:
        cast(SummedTarget, target).finish()


def _arguments(
    selection: Selection, policy: Policy, on_conflict: OnConflict, limit: int | None
) -> dict[str, Any]:
    return {
        "selection": selection_table(selection),
        "versions": policy.versions,
        "unwrap": policy.unwrap,
        "deletions": policy.deletions,
        "on_conflict": on_conflict,
        "limit": limit,
    }


@dataclass(frozen=True, slots=True)
class _Planned:
    """A record with its actions."""

    record: HarvestedRecord
    manifest: Manifest
    actions: tuple[Action, ...]
    was_missing: bool = False

    @property
    def is_unchanged(self) -> bool:
        return any(action.kind is ActionKind.NOTHING for action in self.actions)

    @property
    def writes(self) -> bool:
        return any(action.kind in WRITING for action in self.actions)

    @property
    def size(self) -> int:
        """The bytes of the files to be written."""
        names = {name for action in self.actions for name in action.versions}
        return sum(
            digest.size
            for version in self.manifest.versions
            if version.name in names
            for digest in (version.digests or {}).values()
            if digest is not None
        )


_Sizes = Mapping[tuple[str, str], SizeThen]
"""The sizes in the ledger; see `siloexport.ledger.Ledger.sizes_of`."""
_Do = Callable[[Sequence[Given]], GroupResult]
"""What to do with the records of a group: `Depositor.carry_out_group`, or foresee it."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One run, or one dry run."""

    export: Export
    policy: Policy
    selection: Selection
    watch: Watch
    on_conflict: OnConflict
    stop: Stop
    limit: int | None
    ledger: Ledger
    run_id: str = ""
    notes: Sequence[str] = ()
    tally: Tally = field(default_factory=Tally)
    missing: set[str] = field(default_factory=set)
    began: float = field(default_factory=time.monotonic)

    def plan(self, jobs: int) -> RunReport:
        """Find out what `carry_out` would do, in the same way but without a change."""
        depositor = self._depositor()
        stopped = ""
        try:
            self._all(partial(_foreseen, depositor), jobs, 1)
        except TargetUnusable as error:
            stopped = str(error)
        except RunStopped:
            pass
        if self.stop.asked:
            stopped = stopped or ASKED
        return self._report(dry_run=True, stopped=stopped)

    def carry_out(self, jobs: int) -> RunReport:
        depositor = self._depositor()
        stopped = ""
        try:
            self._recover(depositor)
            largest = GROUP if self.export.target.capabilities.groups else 1
            self._all(depositor.carry_out_group, jobs, largest)
            _sum_up(self.export.target)
        except TargetUnusable as error:
            stopped = str(error)
        except RunStopped:
            stopped = ASKED
        except BaseException:
            self.ledger.end_run(self.run_id, "broken off", self._counts())
            raise
        if self.stop.asked:
            stopped = stopped or ASKED
        report = self._report(stopped=stopped)
        self.ledger.end_run(self.run_id, "stopped" if stopped else "done", self._counts())
        return report

    def _depositor(self) -> Depositor:
        return Depositor(
            self.export.target,
            self.ledger,
            Packer.of(self.export.silo, self.policy, self.ledger),
            self.run_id,
            self.on_conflict,
            self.export.retries,
            self.stop.wait,
        )

    def _recover(self, depositor: Depositor) -> None:
        for outcome in depositor.recover_unfinished():
            self.watch.outcome(outcome)
            if outcome.result is Result.DONE:
                self.tally.recovered += 1
            else:
                self.tally.add(outcome)

    def _all(self, do: _Do, jobs: int, largest: int) -> None:
        total = self.selection.total(self.export.silo)
        looks_at_all = self.on_conflict is OnConflict.OVERWRITE
        with Workers[GroupResult](jobs) as work:
            groups = _Groups(work, do, largest)
            for planned in self._planned():
                if planned.writes or (looks_at_all and planned.is_unchanged):
                    while self._is_enough(groups.under_way) and groups.under_way:
                        self._collect(groups.take())
                    if self._is_enough(0):
                        break
                    self._note_missing(planned)
                    groups.add(planned)
                else:
                    for action in planned.actions:
                        self.tally.planned(action)
                self.tally.records += 1
                for result in groups.ready():
                    self._collect(result)
                self._show(total)
            while groups.under_way:
                self._collect(groups.take())
                self._show(total)

    def _note_missing(self, planned: _Planned) -> None:
        """Note that the target does not hold the record before it is written there again."""
        if planned.was_missing:
            self.missing.add(planned.manifest.item_id)
            if self.run_id:
                self.ledger.forget(planned.manifest.item_id)

    def _is_enough(self, under_way: int) -> bool:
        """Whether the limit is reached, if all records under way are written."""
        return self.limit is not None and self.tally.changed + under_way >= self.limit

    def _collect(self, result: GroupResult) -> None:
        for outcomes in result.outcomes:
            self._collect_one(outcomes)
        if result.stopped is not None:
            raise result.stopped

    def _collect_one(self, outcomes: list[DepositOutcome]) -> None:
        done = [outcome.result is Result.DONE and outcome.kind in WRITING for outcome in outcomes]
        self.tally.changed += any(done)
        if self.missing and outcomes and outcomes[0].identifier in self.missing:
            self.missing.discard(outcomes[0].identifier)
            self.tally.missing += all(done)
        for outcome in outcomes:
            self.tally.add(outcome)
            if outcome.kind in WRITING or outcome.result is not Result.DONE:
                self.watch.outcome(outcome)

    def _planned(self) -> Iterator[_Planned]:
        """Yield the records with their actions, each planned when it is taken."""
        for identifier, known, sizes in self._known():
            if self.stop.asked:
                return
            try:
                planned = self._plan_one(identifier, known, sizes)
            except RecordNotFound:  # removed since it was listed
                continue
            except RecordSiloError as error:
                self._not_planned(identifier, str(error))
                continue
            if planned is not None and planned.actions:
                yield planned
            elif planned is not None:
                self.tally.records += 1
                self.tally.empty += 1
        if not self.selection.identifiers:
            yield from self._removed()
        told = {outcome.identifier for outcome in self.tally.problems}
        for name, sentence in self.selection.unsure(self.export.silo):
            if name not in told:
                self._not_planned(name, sentence)

    def _removed(self) -> Iterator[_Planned]:
        """Yield what was removed from the Silo for good, and is still in the target."""
        silo = self.export.silo
        for identifier in sorted(silo.removed()):
            known = self.ledger.known(identifier)
            if known.held is not None and identifier not in silo:
                manifest = removed_here(identifier)
                can = self.export.target.capabilities
                actions = plan_record(manifest, known, self.policy, can)
                if any(action.kind is not ActionKind.NOTHING for action in actions):
                    yield _Planned(silo.get_item(identifier, force=True), manifest, actions)

    def _known(self) -> Iterator[tuple[str, KnownRecord, _Sizes]]:
        """Yield the selected records with what the ledger knows of them, and their sizes there."""
        for some in batched(self.selection.iterate(self.export.silo), GROUP):
            known = self.ledger.known_of(some)
            sizes = self.ledger.sizes_of(some) if self._looks else {}
            for identifier in some:
                yield identifier, known[identifier], sizes

    def _plan_one(self, identifier: str, known: KnownRecord, sizes: _Sizes) -> _Planned | None:
        record = self.export.silo[identifier]
        manifest = with_digests(record)
        if not is_in_state(self.selection, manifest):
            return None
        there = known if is_deleted(manifest) else self._as_there(identifier, known, sizes)
        actions = plan_record(manifest, there, self.policy, self.export.target.capabilities)
        was_missing = known.held is not None and there.held is None
        return _Planned(record, manifest, actions, was_missing)

    @property
    def _looks(self) -> bool:
        """Whether the target is looked at; ``skip`` leaves what others removed."""
        can_look = self.export.target.capabilities.looks
        return can_look and self.on_conflict is not OnConflict.SKIP

    def _as_there(self, identifier: str, known: KnownRecord, sizes: _Sizes) -> KnownRecord:
        """What the ledger knows of a record, less what the target shows not to be there.

        If nothing is at its place, nothing is known; and what has another size was changed.
        """
        held = known.held
        if held is None or held.withdrawn or not held.deposits or not self._looks:
            return known
        then = sizes.get((identifier, held.key))
        size = cast(SeenTarget, self.export.target).seen(identifier, then)
        if size is None:
            return KnownRecord()
        if then is not None and size != then.size:
            return replace(known, held=replace(held, token=""))
        return known

    def _not_planned(self, identifier: str, reason: str) -> None:
        outcome = DepositOutcome(identifier, ActionKind.NOTHING, "", Result.FAILED, "", reason)
        self.tally.records += 1
        self.tally.add(outcome)
        self.watch.outcome(outcome)

    def _show(self, total: int) -> None:
        seconds = time.monotonic() - self.began
        done = Progress(self.tally.records, total, self.tally.carried_out, seconds)
        self.watch.progress(done)

    def _counts(self) -> dict[str, int]:
        tally = self.tally
        actions = {str(kind): number for kind, number in tally.actions.items()}
        return {**actions, **{str(result): number for result, number in tally.results.items()}}

    def _report(self, *, dry_run: bool = False, stopped: str = "") -> RunReport:
        tally = self.tally
        return RunReport(
            self.run_id,
            self.export.target.shown,
            dry_run,
            tally.records,
            dict(tally.actions),
            failed=tally.results[Result.FAILED],
            conflicts=tally.results[Result.CONFLICT],
            skipped=tally.results[Result.SKIPPED],
            problems=tuple(tally.problems),
            remarks=tuple(tally.remarks),
            still_there=tuple(tally.still_there),
            stopped=stopped,
            interrupted=bool(stopped) and self.stop.interrupted,
            recovered=tally.recovered,
            in_target=0 if dry_run else self.ledger.counts()["records"],
            seconds=time.monotonic() - self.began,
            empty=tally.empty,
            missing=tally.missing,
            notes=tuple(self.notes),
        )


def _foreseen(depositor: Depositor, given: Sequence[Given]) -> GroupResult:
    return GroupResult([list(depositor.foresee(*one)) for one in given])


@dataclass(slots=True)
class _Groups:
    """Records gathered into groups, which workers carry out.

    Attributes:
        under_way: The number of records whose results were not taken yet.
    """

    work: Workers[GroupResult]
    do: _Do
    largest: int
    under_way: int = 0
    gathered: list[Given] = field(default_factory=list)
    size: int = 0
    begun: deque[int] = field(default_factory=deque)

    def add(self, planned: _Planned) -> None:
        """Add a record, and begin the group if it is full."""
        self.gathered.append((planned.record, planned.manifest, planned.actions))
        self.size += planned.size
        self.under_way += 1
        if len(self.gathered) >= self.largest or self.size >= GROUP_BYTES:
            self._begin()

    def _begin(self) -> None:
        self.work.begin(self.do, self.gathered)
        self.begun.append(len(self.gathered))
        self.gathered, self.size = [], 0

    def take(self) -> GroupResult:
        """Wait for the next result; begins the last group if there is no other."""
        if not self.begun:
            self._begin()
        self.under_way -= self.begun.popleft()
        return self.work.take()

    def ready(self) -> Iterator[GroupResult]:
        """Yield the results that are ready."""
        for result in self.work.ready():
            self.under_way -= self.begun.popleft()
            yield result
