"""Changing many records as a job: preview, apply, continue after a stop, undo.

A page of records is one group commit of the Silo. Before it the journal says *begun*,
with everything that undo needs; after it *done*. After a kill in between, the next run
compares the record's mark with the stored one, to see whether the change was written.
"""

import contextlib
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import Any

from recordsilo import HarvestedRecord, Silo
from recordsilo.disk.locks import Locks
from recordsilo.errors import RecordNotFound, RecordSiloError
from recordsilo.html_tables import ShownAsTable
from recordsilo.records.edit import RecordEdit, new_origin
from recordsilo.records.manifest import Manifest, altered, now_text
from silocuration.activity import (
    Activity,
    ValueChange,
    changes_of,
    log_activity,
    of_change,
    of_file,
)
from silocuration.batch.journal import CHANGED, Change, Doing, JobJournal, JournalEntry, job_ids
from silocuration.batch.left_out import planner_without
from silocuration.batch.specs import JobSpec, Planner, planner_of, remarks_on
from silocuration.editing.changes import (
    CannotChange,
    FileChange,
    RecordChange,
    is_deleted,
    mark_of,
)
from silocuration.editing.fields import said
from silocuration.editing.rule_files import with_identifiers
from silocuration.errors import JobBusy

GONE = "was not found in this Silo"
LISTED = 1000
"""Most skipped records that a preview or a report names."""
PAGE = 200
"""Records in one group commit."""
_WAITING = (Doing.PLANNED, Doing.LEFT_OUT)

Progress = Callable[[int], None]
Stop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Sample:
    """A record of a preview: its changed fields, before and after, and the files written."""

    identifier: str
    before: tuple[tuple[str, str, str], ...]
    after: tuple[tuple[str, str, str], ...]
    state: str | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """What a job would do; nothing was written.

    Attributes:
        records: How many are selected.
        values: How many values would be added, removed or changed.
        copies: How many working copies would be made.
        deleted: How many are deleted at the source, and so have nothing to change.
        skipped: Reason → how many records.
        samples: Some of the changes.
        whole: Whether all selected records were read.
        remarks: Sentences on fields that no record has, and on titles that would be lost.
        passed_over: (identifier, reason) of the first `LISTED` that are skipped.
    """

    records: int
    changed: int
    values: int
    copies: int
    skipped: dict[str, int]
    samples: tuple[Sample, ...]
    whole: bool = True
    remarks: tuple[str, ...] = ()
    passed_over: tuple[tuple[str, str], ...] = ()
    deleted: int = 0

    def to_json(self) -> dict[str, Any]:
        """The preview as JSON values, with ``complete`` for `whole`."""
        told = asdict(self)
        told["complete"] = told.pop("whole")
        told["passed_over"] = [
            {"identifier": identifier, "reason": reason} for identifier, reason in self.passed_over
        ]
        return told


@dataclass(frozen=True, slots=True)
class JobReport(ShownAsTable):
    """State of a job.

    Attributes:
        job_id: Its id.
        about: Title, agent, start, kind.
        counts: Number of records in each state.
        values: How many values were changed.
        skipped: (identifier, reason) of some skipped records.
        kept: (identifier, reason) of some that could not be undone.
    """

    job_id: str
    about: dict[str, Any]
    counts: dict[Doing, int]
    values: int
    skipped: tuple[tuple[str, str], ...] = ()
    kept: tuple[tuple[str, str], ...] = ()

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to do or to undo."""
        open_states = (Doing.PLANNED, Doing.BEGUN, Doing.UNDOING)
        return not any(self.counts.get(state) for state in open_states)

    @property
    def whole(self) -> bool:
        """Whether every record was processed, and none skipped or kept."""
        passed = self.counts.get(Doing.SKIPPED, 0) + self.counts.get(Doing.KEPT, 0)
        return self.is_finished and not passed

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values, without the bytes of an attached file."""
        about = self.about
        if "attachment" in about:
            about = about | {"attachment": {"path": about["attachment"]["path"]}}
        return {
            "job": self.job_id,
            **about,
            "finished": self.is_finished,
            "counts": {state.value: self.counts.get(state, 0) for state in Doing},
            "values": self.values,
            "skipped": [{"identifier": one, "reason": why} for one, why in self.skipped],
            "kept": [{"identifier": one, "reason": why} for one, why in self.kept],
        }


# --------------------------------------------------------------------------- preview


def preview(
    silo: Silo,
    spec: JobSpec,
    *,
    samples: int = 20,
    progress: Progress | None = None,
    most: int | None = None,
    seconds: float | None = None,
    each: Callable[[str, RecordChange], None] | None = None,
) -> Preview:
    """Say what a job would do; writes nothing.

    Args:
        samples: Most changes to show.
        progress: Called after every record with the number of records read.
        most: Most records to read; None for all.
        seconds: Time limit, after which no further record is read; None for no limit.
        each: Gets every change, with the record's identifier.

    Raises:
        RecordNotFound, SearchError, IndexProblem: The selected records cannot be found.
        PatternTooSlow, RecordTooSlow, RuleRefused: The rules are invalid or too slow.

    Cost: reads the manifest and one file of every record.
    """
    until = None if seconds is None else monotonic() + seconds
    seen: set[str] = set()
    plan = planner_of(spec.kind, with_identifiers(silo.path, spec.about), seen)
    found = _Previewed()
    for identifier, given in spec.records(silo):
        if found.records == most or (until is not None and monotonic() > until):
            found.whole = False
            break
        found.records += 1
        try:
            record = silo[identifier]
            change = _planned(record, plan, given)
            found.deleted += change is None and is_deleted(record.state)
        except (CannotChange, RecordSiloError) as error:
            found.skip(identifier, _kind_of(error))
        else:
            if change is not None:
                found.add(identifier, change, samples)
                if each is not None:
                    each(identifier, change)
        if progress is not None:
            progress(found.records)
    who = "no record" if found.whole else "no record looked at"
    return found.preview(remarks_on(spec.about, seen, who))


@dataclass(slots=True)
class _Previewed:
    """The numbers of a preview so far."""

    records: int = 0
    changed: int = 0
    values: int = 0
    copies: int = 0
    deleted: int = 0
    untitled: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    shown: list[Sample] = field(default_factory=list)
    passed: list[tuple[str, str]] = field(default_factory=list)
    whole: bool = True

    def skip(self, identifier: str, reason: str) -> None:
        self.skipped[reason] += 1
        if len(self.passed) < LISTED:
            self.passed.append((identifier, reason))

    def add(self, identifier: str, change: RecordChange, samples: int) -> None:
        self.changed += 1
        self.values += change.values
        self.copies += change.makes_copy
        self.untitled += change.loses_title
        if len(self.shown) < samples:
            self.shown.append(_sample(identifier, change))

    def preview(self, remarks: tuple[str, ...]) -> Preview:
        if self.untitled:
            remarks += (f"{self.untitled:,} of the records would lose their only title",)
        return Preview(
            self.records, self.changed, self.values, self.copies, dict(self.skipped),
            tuple(self.shown), self.whole, remarks, tuple(self.passed), self.deleted,
        )  # fmt: skip


def _planned(record: HarvestedRecord, plan: Planner, given: str) -> RecordChange | None:
    return plan(record.state, record.read, given)


def _kind_of(error: Exception) -> str:
    if isinstance(error, CannotChange):
        return str(error)
    return GONE if isinstance(error, RecordNotFound) else "cannot be read"


def _sample(identifier: str, change: RecordChange) -> Sample:
    before, after = said(change.before), said(change.after)
    names = {name for name, *_ in set(before) ^ set(after)}
    if not names and before != after:
        names = {name for name, *_ in before}
    return Sample(
        identifier,
        tuple(one for one in before if one[0] in names),
        tuple(one for one in after if one[0] in names),
        change.state,
        tuple(one.path for one in change.files),
    )


# --------------------------------------------------------------------------- jobs


def create_job(silo: Silo, spec: JobSpec, *, agent: str, message: str = "") -> str:
    """Plan a job for the records selected now; return its id. Changes no record.

    Args:
        agent: Who changes the records, as their versions' origins and logs say.
        message: Why; by default the job's title.
    """
    about = {"kind": spec.kind, **with_identifiers(silo.path, spec.about), "title": spec.title}
    about |= {"agent": agent, "message": message or spec.title, "made": now_text()}
    with JobJournal.create(silo.path, about, spec.records(silo)) as journal:
        return journal.job_id


def run_job(
    silo: Silo, job_id: str, *, progress: Progress | None = None, stop: Stop | None = None
) -> JobReport:
    """Do the rest of a job; does nothing if it is finished.

    Args:
        progress: Called after every page with the number of records processed.
        stop: Called before every page; True ends the run, and another run continues.

    Raises:
        JobNotFound, JobUnreadable, JobBusy
        PatternTooSlow, RecordTooSlow, RuleRefused: The rules are invalid or too slow; the
            page is not written.
        RecordSiloError, OSError: The store failed; the next run checks the page.
    """
    with held(silo, job_id), JobJournal.open(silo.path, job_id) as journal:
        about = journal.about()
        seen: set[str] = set()
        plan = planner_of(about["kind"], about, seen)
        if left_out := journal.left_out():
            plan = planner_without(plan, left_out)
        _settle(silo, journal)
        done = begun = sum(n for state, n in journal.counts().items() if state not in _WAITING)
        for page in journal.pages(Doing.PLANNED, size=PAGE):
            if stop is not None and stop():
                break
            _apply_page(silo, journal, page, plan, about)
            done += len(page)
            if progress is not None:
                progress(done)
        report = report_of(journal)
        if begun or not report.is_finished:  # another run may have seen the fields
            return report
        if remarks := remarks_on(about, seen, "no record"):
            journal.note(remarks=remarks)
        return altered(report, about=journal.about())


def undo_job(
    silo: Silo,
    job_id: str,
    *,
    agent: str,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> JobReport:
    """Undo a job, finished or not; jobs can be undone in any order.

    Records that an unfinished job has not changed yet are left out of it: nothing is left to
    be resumed. A record that changed since the job is kept as it is, and listed; if that other
    change is undone, undoing the job again restores the record too.

    Args:
        progress: See `run_job`.
        stop: See `run_job`.

    Raises:
        See `run_job`.
    """
    with held(silo, job_id), JobJournal.open(silo.path, job_id) as journal:
        _settle(silo, journal)
        journal.move((entry.identifier for entry in journal.entries(Doing.KEPT)), Doing.DONE)
        done = 0
        for page in journal.pages(Doing.DONE, size=PAGE):
            if stop is not None and stop():
                break
            _undo_page(silo, journal, page, agent)
            done += len(page)
            if progress is not None:
                progress(done)
        _leave_the_rest(journal)
        return report_of(journal)


def _leave_the_rest(journal: JobJournal) -> None:
    """Leave out what waits, if the job changed records and all of them are settled."""
    counts = journal.counts()
    if not counts.get(Doing.DONE) and any(counts.get(state) for state in CHANGED):
        journal.move((entry.identifier for entry in journal.entries(Doing.PLANNED)), Doing.LEFT_OUT)


def report_of(journal: JobJournal, *, listed: int = LISTED) -> JobReport:
    """Return the state of a job, with at most ``listed`` skipped and kept records each."""

    def reasons(state: Doing) -> tuple[tuple[str, str], ...]:
        return tuple((one.identifier, one.reason) for one in journal.entries(state, limit=listed))

    return JobReport(
        journal.job_id,
        journal.about(),
        journal.counts(),
        journal.changed_values(),
        reasons(Doing.SKIPPED),
        reasons(Doing.KEPT),
    )


def job_report(silo: Silo, job_id: str) -> JobReport:
    """Return the state of a job.

    Raises:
        JobNotFound, JobUnreadable
    """
    with JobJournal.open(silo.path, job_id) as journal:
        return report_of(journal)


def undone_counts(silo_path: str, job_id: str) -> dict[Doing, int]:
    """Return how many records of a job are changed, being undone, undone, or could not be.

    Raises:
        JobNotFound, JobUnreadable
    """
    with JobJournal.open(silo_path, job_id) as journal:
        return journal.counts(CHANGED)


def job_reports(silo: Silo) -> Iterator[JobReport]:
    """Return the Silo's jobs, newest first."""
    for job_id in job_ids(silo.path):
        yield job_report(silo, job_id)


def changed_by_rule(silo: Silo, name: str) -> frozenset[str]:
    """Return the records changed by jobs of a stored rule, except those undone."""
    found: set[str] = set()
    for job_id in job_ids(silo.path):
        with JobJournal.open(silo.path, job_id) as journal:
            if journal.about().get("rule") == name:
                found.update(entry.identifier for entry in journal.entries(Doing.DONE))
    return frozenset(found)


@contextlib.contextmanager
def held(silo: Silo, job_id: str) -> Iterator[None]:
    """Lock a job.

    Raises:
        JobBusy: Another process works on it.
    """
    with Locks.of_silo(silo.path).hold_name_if_free(f"job-{job_id}") as is_held:
        if not is_held:
            raise JobBusy(job_id)
        yield


# --------------------------------------------------------------------------- pages


@dataclass(slots=True)
class _Page:
    """What is collected while a page is processed."""

    written: list[JournalEntry] = field(default_factory=list)
    settled: list[JournalEntry] = field(default_factory=list)
    activity: list[Activity] = field(default_factory=list)
    values: dict[str, list[Change]] = field(default_factory=dict)


def _apply_page(
    silo: Silo,
    journal: JobJournal,
    page: Sequence[JournalEntry],
    plan: Planner,
    about: dict[str, Any],
) -> None:
    agent, message = (
        str(about.get("agent", "")),
        str(about.get("message") or about.get("title", "")),
    )
    noted = _Page()
    with silo.batch([entry.identifier for entry in page], agent=agent) as batch:
        for entry in page:
            try:
                edit = batch.edit(entry.identifier)
                if edit.before is None:
                    raise CannotChange(GONE)
                change = plan(edit.manifest, edit.read, entry.given)
                if change is None:
                    gone = is_deleted(edit.manifest)
                    state = Doing.DELETED if gone else Doing.UNCHANGED
                    noted.settled.append(altered(entry, state=state))
                    continue
                begun = _carry_out(edit, entry, change, agent, message)
            except (CannotChange, RecordSiloError) as error:
                batch.drop(entry.identifier)
                noted.settled.append(altered(entry, state=Doing.SKIPPED, reason=str(error)))
                continue
            noted.written.append(begun)
            lines = changes_of(
                of_change(change), agent=agent, action="bulk", identifier=entry.identifier,
                version=change.target, message=message, job=journal.job_id,
            )  # fmt: skip
            noted.activity += lines
            noted.values[entry.identifier] = [
                (one.what, one.old, one.new) for one in lines if one.what
            ]
        journal.keep([*noted.written, *noted.settled], noted.values)
    log_activity(silo.path, noted.activity)
    journal.move((entry.identifier for entry in noted.written), Doing.DONE)


def _carry_out(
    edit: RecordEdit, entry: JournalEntry, change: RecordChange, agent: str, message: str
) -> JournalEntry:
    """Apply a change to an edit; return its journal entry."""
    source = edit.manifest.version(change.source)
    cursor = edit.manifest.current_version
    log = (
        "Changed in bulk" + (f" by {agent}" if agent else "") + (f": {message}" if message else "")
    )
    if change.makes_copy:
        written = [one.path for one in change.files]
        replaces_all = set(written) >= set(source.paths)  # else the order of the files is kept
        edit.derive_version(
            change.source,
            change.target,
            date=source.date,
            origin=new_origin("clone", of=change.source, agent=agent, message=message),
            log=log,
            exclude=written if replaces_all else (),
        )
    else:
        edit.log(change.target, log)
    for one in change.files:
        _write(edit, change.target, one, marked=one.path in source.metadata_files)
    if change.state is not None:
        edit.set_state(change.target, change.state)
    return JournalEntry(
        entry.identifier,
        Doing.BEGUN,
        entry.given,
        version=change.target,
        cursor=cursor,
        made=change.makes_copy,
        mark_before=mark_of(source),
        mark_after=mark_of(edit.manifest.version(change.target)),
        state_before=source.state,
        files=None if change.makes_copy else {one.path: one.before for one in change.files},
        changed=change.values,
    )


def _write(edit: RecordEdit, version: str, change: FileChange, *, marked: bool) -> None:
    if change.after is None:
        edit.delete(version, change.path)
    else:
        metadata = marked if change.metadata is None else change.metadata
        edit.put(version, change.path, change.after, metadata=metadata)


def _undo_page(silo: Silo, journal: JobJournal, page: Sequence[JournalEntry], agent: str) -> None:
    noted = _Page()
    with silo.batch([entry.identifier for entry in page], agent=agent) as batch:
        for entry in page:
            try:
                edit = batch.edit(entry.identifier)
                values = _given_back(edit, entry)
                _take_back(edit, entry, f"Undone by {agent}")
            except (CannotChange, RecordSiloError) as error:
                batch.drop(entry.identifier)
                noted.settled.append(altered(entry, state=Doing.KEPT, reason=str(error)))
            else:
                noted.written.append(altered(entry, state=Doing.UNDOING))
                noted.activity += changes_of(
                    values, agent=agent, action="undo", identifier=entry.identifier,
                    version=entry.version, job=journal.job_id,
                )  # fmt: skip
        journal.keep([*noted.written, *noted.settled])
    log_activity(silo.path, noted.activity)
    journal.move((entry.identifier for entry in noted.written), Doing.UNDONE)


def _given_back(edit: RecordEdit, entry: JournalEntry) -> list[ValueChange]:
    """Return the values that undoing a record's change will change."""
    if entry.made or not edit.manifest.has(entry.version):
        return [("version", entry.version, None)]
    known = edit.manifest.version(entry.version)
    values: list[ValueChange] = []
    for path, content in (entry.files or {}).items():
        now = edit.read(entry.version, path) if path in known.paths else None
        values += of_file(path, now, content)
    if known.state != entry.state_before:
        values.append(("state", known.state, entry.state_before))
    return values


def _take_back(edit: RecordEdit, entry: JournalEntry, log: str) -> None:
    manifest = edit.manifest
    if not manifest.has(entry.version):
        raise CannotChange(f"no longer has a version {entry.version}")
    version = manifest.version(entry.version)
    if mark_of(version) != entry.mark_after:
        raise CannotChange("was changed since")
    _check_as_written(edit, entry)
    if entry.made:
        was_current = manifest.current_version == entry.version
        cursor = _cursor_without(manifest, entry)
        edit.remove_version(entry.version)
        if was_current and edit.manifest.has(cursor):
            edit.move_cursor(cursor)
        edit.log(edit.manifest.current_version, f"Deleted version {entry.version}: {log}")
        return
    for path, content in (entry.files or {}).items():
        if content is None:
            edit.delete(entry.version, path)
        else:
            marked = path in version.metadata_files
            edit.put(entry.version, path, content, metadata=marked)
    edit.set_state(entry.version, entry.state_before)
    edit.log(entry.version, log)


def _cursor_without(manifest: Manifest, entry: JournalEntry) -> str:
    """Return the current version after removing the one that the job made: the latest
    harvested since, or else the one that was current before.
    """
    names = [one.name for one in manifest.versions]
    since = manifest.versions[names.index(entry.version) + 1 :]
    return next((one.name for one in reversed(since) if not one.is_curated), entry.cursor)


def _check_as_written(edit: RecordEdit, entry: JournalEntry) -> None:
    """Compare with the disk: external edits are not in the manifest yet."""
    version = edit.manifest.version(entry.version)
    for path in version.metadata_files if entry.made else (entry.files or {}):
        known = (version.digests or {}).get(path)
        found = hashlib.sha256(edit.read(entry.version, path)).hexdigest()
        if known is not None and known.sha256 != found:
            raise CannotChange(f"{path} was edited with another program since")


def _settle(silo: Silo, journal: JobJournal) -> None:
    """Find out whether an earlier run wrote what it had begun, and note it."""
    for entry in journal.entries(Doing.BEGUN):
        mark = _mark_now(silo, entry)
        state = Doing.DONE if mark == entry.mark_after else Doing.PLANNED
        journal.move([entry.identifier], state)
    for entry in journal.entries(Doing.UNDOING):
        mark = _mark_now(silo, entry)
        gone = mark is None if entry.made else mark == entry.mark_before
        journal.move([entry.identifier], Doing.UNDONE if gone else Doing.DONE)


def _mark_now(silo: Silo, entry: JournalEntry) -> str | None:
    try:
        manifest = silo[entry.identifier].state
    except RecordNotFound:
        return None
    return mark_of(manifest.version(entry.version)) if manifest.has(entry.version) else None
