"""The schedules of a Silo: ``curation/schedules/<name>.toml``, and the jobs they start.

A file holds what is wished: a kind of job, the fields of its form, and when. What was done
is in the ledger, whose jobs have the agent ``schedule:<name>``; so a lost clock loses nothing.
"""

import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any

from recordsilo import Silo
from recordsilo.disk.locks import Locks
from recordsilo.disk.toml_files import TomlFiles
from recordsilo.errors import RecordSiloError
from recordsilo.records.manifest import now_text
from silowork.due.timetable import (
    Past,
    Timetable,
    are_texts,
    is_due,
    next_due,
    timetable_of_texts,
    timetable_table,
)
from silowork.errors import JobRefused, JobsError
from silowork.kinds import read_request
from silowork.ledger import JobLedger
from silowork.values import Job, State

SCHEDULES = "curation/schedules"
AGENT = "schedule:"
REMEMBERED = 20
"""Most failures that are counted."""
_BACKWARDS = timedelta(hours=1)
"""How far a clock may be set back without effect; a later time than that was never true."""
_FIRST_YEAR, _LAST_YEAR = 1970, 9000
"""Between them, no time of a run is out of the range of Python's dates."""
_NEVER = datetime.max.replace(tzinfo=UTC)
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_TEXTS = ("title", "kind", "zone", "agent", "made")

logger = logging.getLogger("silowork")


class ScheduleNotFound(JobRefused):
    """There is no schedule of that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"there is no schedule {name!r}")


@dataclass(frozen=True, slots=True)
class Schedule:
    """A job that repeats.

    Attributes:
        name: Of its file; lower-case letters, digits and hyphens.
        kind: Name of a kind of job that a form starts.
        fields: Of that form.
        title: For people.
        agent: Who made it.
        made: When; UTC, in the form of manifests.
    """

    name: str
    kind: str
    timetable: Timetable
    fields: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    agent: str = ""
    made: str = ""


def name_of(title: str) -> str:
    """Return the name that a title gives.

    Raises:
        JobRefused: It has no letters a-z or digits.
    """
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:64].rstrip("-")
    if not name:
        raise JobRefused("a schedule needs a name with letters a-z or digits")
    return name


def add_schedule(silo_path: str, schedule: Schedule) -> Schedule:
    """Store a new schedule.

    Raises:
        JobRefused: The name is taken or invalid, or the job could not be started so.
    """
    if not _NAME.fullmatch(schedule.name):
        raise JobRefused(
            f"{schedule.name!r} cannot be the name of a schedule; use a-z, digits and -"
        )
    schedule = replace(schedule, made=now_text())
    if not schedule.timetable.is_paused and due_of(schedule, []) is None:
        raise JobRefused("the schedule has no run: it ends before the first")
    with _locked(silo_path):
        if schedule.name in schedule_names(silo_path):
            raise JobRefused(f"there is a schedule {schedule.name!r} already")
        _asked(silo_path, schedule)
        _store(silo_path, schedule)
    return schedule


def change_schedule(silo_path: str, name: str, **changes: Any) -> Schedule:
    """Store a schedule with other attributes.

    Raises:
        ScheduleNotFound: There is none.
        JobRefused: Its file is invalid.
    """
    with _locked(silo_path):
        schedule = replace(load_schedule(silo_path, name), **changes)
        _store(silo_path, schedule)
    return schedule


def pause_schedule(silo_path: str, name: str, *, paused: bool = True) -> Schedule:
    """Pause a schedule, or let it continue; all missed runs become one.

    Raises:
        ScheduleNotFound, JobRefused: See `change_schedule`.
    """
    wish = load_schedule(silo_path, name).timetable
    return change_schedule(silo_path, name, timetable=replace(wish, is_paused=paused))


def remove_schedule(silo_path: str, name: str) -> None:
    """Delete a schedule; its jobs stay.

    Raises:
        ScheduleNotFound: There is none.
    """
    with _locked(silo_path):
        try:
            _files(silo_path).remove(name)
        except FileNotFoundError:
            raise ScheduleNotFound(name) from None


def load_schedule(silo_path: str, name: str) -> Schedule:
    """Read a schedule.

    Raises:
        ScheduleNotFound: There is none.
        JobRefused: Its file is invalid.
    """
    try:
        table = _files(silo_path).load(name)
        texts = {one: str(table.get(one, "")) for one in _TEXTS if one != "zone"}
        fields = table.get("fields", {})
        if not isinstance(fields, dict) or not are_texts(list(fields.values())):
            raise JobRefused("its fields are not texts")
        if not _FIRST_YEAR <= _moment(texts["made"]).year <= _LAST_YEAR:
            raise JobRefused(f"its date (made) is not between {_FIRST_YEAR} and {_LAST_YEAR}")
        return Schedule(name, timetable=timetable_of_texts(table), fields=fields, **texts)
    except FileNotFoundError:
        raise ScheduleNotFound(name) from None
    except (OSError, ValueError) as error:  # also JobRefused
        raise JobRefused(f"the schedule {SCHEDULES}/{name}.toml is invalid: {error}") from None


def schedule_files(silo_path: str) -> list[str]:
    """Return the paths of the files of a Silo's schedules."""
    files = _files(silo_path)
    return [files.path(name) for name in files.names()]


def schedule_names(silo_path: str) -> list[str]:
    """Return the names of a Silo's schedules, sorted."""
    return _files(silo_path).names()


# --------------------------------------------------------------------------- their jobs


def runs_of(ledger: JobLedger, name: str, now: datetime | None = None) -> list[Job]:
    """Return the last jobs that a schedule started, newest first.

    Jobs that ended, but were made later than now, are left out: the clock was wrong then.
    """
    known = _text(_latest(now or datetime.now(UTC)))
    return [job for job in ledger.jobs_of(AGENT + name, REMEMBERED, known) if job.made]


def past_of(schedule: Schedule, runs: list[Job]) -> Past:
    """Return what `silowork.schedule` decides by.

    Args:
        runs: From `runs_of`.
    """
    made = _moment(schedule.made)
    if not runs:
        return Past(made)
    started = max(_moment(runs[0].made), made)
    failed = takewhile(lambda job: job.state is State.FAILED, runs)
    is_running = not all(job.is_over for job in runs)
    return Past(made, started, is_running, sum(1 for _ in failed))


def due_of(schedule: Schedule, runs: list[Job]) -> datetime | None:
    """Return when a schedule is due next; see `next_due`."""
    return next_due(schedule.timetable, past_of(schedule, runs), schedule.name)


def first_due(silo_path: str) -> datetime:
    """Return when the first of a Silo's schedules is due, if no job and no schedule changes.

    Schedules that cannot be read are left out.

    Returns:
        The end of time if none is.
    """
    ledger, found = JobLedger(silo_path), [_NEVER]
    for name in schedule_names(silo_path):
        with suppress(JobsError, OSError):
            found.append(due_of(load_schedule(silo_path, name), runs_of(ledger, name)) or _NEVER)
    return min(found)


def start_due(silo_path: str, now: datetime | None = None) -> list[Job]:
    """Start a job for each schedule that is due; a worker calls this now and then.

    A schedule whose last job is not over starts none. One that cannot be read, or whose job
    is refused, is logged and does not hold up the others.
    """
    started = []
    for name in schedule_names(silo_path):
        try:
            job = _start_if_due(silo_path, name, now or datetime.now(UTC))
        except (JobsError, RecordSiloError, OSError) as error:
            logger.warning("the schedule %s: %s", name, error)
        else:
            started += [job] if job else []
    return started


def run_now(silo_path: str, name: str) -> Job:
    """Start the job of a schedule now, even if it is paused.

    Raises:
        ScheduleNotFound: There is none.
        JobRefused: Its last job is not over.
    """
    ledger = JobLedger(silo_path)
    with _locked(silo_path):
        schedule = load_schedule(silo_path, name)
        if not all(job.is_over for job in runs_of(ledger, name)):
            raise JobRefused(f"the last job of the schedule {name!r} is not finished")
        return _start(ledger, schedule)


def _start_if_due(silo_path: str, name: str, now: datetime) -> Job | None:
    ledger = JobLedger(silo_path)
    with _locked(silo_path):
        schedule = load_schedule(silo_path, name)
        if _moment(schedule.made) > _latest(now):
            logger.warning("the schedule %s was made at a time to come; it counts from now", name)
            schedule = replace(schedule, made=_text(now))
            _store(silo_path, schedule)
        past = past_of(schedule, runs_of(ledger, name, now))
        if not is_due(schedule.timetable, past, name, now):
            return None
        return _start(ledger, schedule)


def _start(ledger: JobLedger, schedule: Schedule) -> Job:
    title, arguments = _asked(ledger.silo_path, schedule)
    return ledger.add(schedule.kind, title, arguments, AGENT + schedule.name)


def _asked(silo_path: str, schedule: Schedule) -> tuple[str, Mapping[str, Any]]:
    with Silo(silo_path, create=False) as silo:
        asked = read_request(schedule.kind, schedule.fields, silo_path, silo.count())
    return asked.title, asked.arguments


# --------------------------------------------------------------------------- files


def _store(silo_path: str, schedule: Schedule) -> None:
    table: dict[str, Any] = {name: getattr(schedule, name) for name in _TEXTS if name != "zone"}
    table |= timetable_table(schedule.timetable)
    if schedule.fields:
        table["fields"] = dict(schedule.fields)
    _files(silo_path).store(schedule.name, table)


def _locked(silo_path: str) -> Any:
    return Locks.of_silo(silo_path).hold_name("schedules")


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _latest(now: datetime) -> datetime:
    return now + _BACKWARDS


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")


def _files(silo_path: str) -> TomlFiles:
    return TomlFiles(os.path.join(silo_path, *SCHEDULES.split("/")), _NAME, silo_path)
