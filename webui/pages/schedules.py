"""Schedules: jobs that repeat, with their next run and their last result."""

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from silowork.due.timetable import timetable_table
from silowork.errors import JobRefused, JobsError
from silowork.ledger import JobLedger
from silowork.schedules import (
    Schedule,
    change_schedule,
    due_of,
    load_schedule,
    pause_schedule,
    remove_schedule,
    run_now,
    runs_of,
    schedule_names,
)
from webui import urls
from webui.activity import note
from webui.asked_jobs import AskedRecords, asked_of
from webui.http.errors import NotFound, as_sentence
from webui.http.messages import Response
from webui.job_view import Shown
from webui.rendering import View, changed_answer
from webui.schedule_forms import NOW, SAME, WHEN, choice_of, in_words, timetable_from
from webui.site import Call
from webui.words.texts import text as _

logger = logging.getLogger("webui")

DONE = {
    "added": "Schedule added.",
    "run": "Job started.",
    "pause": "Schedule paused.",
    "resume": "Schedule resumed.",
    "change": "Schedule changed.",
    "remove": "Schedule removed. Its jobs stay in the list.",
}
"""English texts of the catalogue."""


@dataclass(frozen=True, slots=True)
class ScheduleLine:
    """A schedule as the page shows it.

    Attributes:
        due: When it runs next; None while it is paused or its job is not finished.
        last: Its last job.
        asked: What is asked for, if it is an export.
        is_known: Whether the ledger of jobs could be read.
    """

    schedule: Schedule
    due: datetime | None
    last: Shown | None
    asked: AskedRecords | None
    is_known: bool = True

    @property
    def when(self) -> str:
        """Its timetable, in words."""
        return in_words(self.schedule.timetable)

    @property
    def choice(self) -> str:
        """Its timetable, as a choice of the form."""
        return choice_of(self.schedule.timetable)

    @property
    def at(self) -> str:
        """Its first time of day."""
        times = self.schedule.timetable.times
        return f"{times[0]:%H:%M}" if times else "02:00"

    @property
    def due_text(self) -> str:
        """When it runs next, in the form of manifests; empty if it does not."""
        return f"{self.due:%Y-%m-%dT%H:%M:%S}" if self.due else ""

    def to_json(self) -> dict[str, Any]:
        """The schedule as JSON values."""
        known = self.schedule
        return {
            "name": known.name,
            "title": known.title,
            "kind": known.kind,
            "fields": dict(known.fields),
            "when": timetable_table(known.timetable),
            "next": f"{self.due_text}Z" if self.due else None,
            "last": self.last.job.job_id if self.last else None,
        }


def show(call: Call) -> View:
    """List the schedules, by name."""
    lines, faults = [], []
    for name in schedule_names(call.site.silo.path):
        try:
            schedule = load_schedule(call.site.silo.path, name)
            lines.append(_line(call, schedule))
        except JobRefused as error:
            faults.append(as_sentence(str(error)))
        except JobsError as error:
            logger.warning("schedules: %s", error)
            lines.append(ScheduleLine(schedule, None, None, _asked(call, schedule), is_known=False))
    if not all(line.is_known for line in lines):
        faults.append(_("The list of jobs cannot be read; see the log of the server."))
    jobs = call.site.jobs
    problem = jobs.problem(is_waiting=bool(lines))
    if lines and not jobs.by_worker:
        problem = _(
            "No worker is running, so schedules start no jobs. The administrator starts one on "
            "the server: silo worker"
        )
    data = {
        "lines": lines,
        "faults": faults,
        "problem": problem,
        "choices": [(name, _(label)) for name, label in WHEN.items() if name != NOW],
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
    }
    twin = {"schedules": [one.to_json() for one in lines], "problems": faults, "problem": problem}
    return View("schedules.mako", data, twin, urls.schedules())


def act(call: Call) -> Response:
    """Run a schedule now, pause, resume, change (``when``, ``at``) or remove it.

    Raises:
        NotFound: There is no such schedule or action.
        Conflict: Its last job is not finished.
    """
    path, name, action = call.site.silo.path, call.params["name"], call.params["action"]
    if action not in DONE or action == "added":
        raise NotFound("There is no page at this address.")
    location = urls.schedules(done=action)
    if action == "run":
        location = urls.job(run_now(path, name).job_id)
    elif action == "remove":
        remove_schedule(path, name)
    elif action == "change":
        if call.field("when") != SAME:
            wish = timetable_from(call.field("when"), call.field("at"))
            change_schedule(path, name, timetable=wish)
    else:
        pause_schedule(path, name, paused=action == "pause")
    note(call, f"{action} schedule", message=name)
    return changed_answer(call, location, {"name": name, "done": action}, 200)


def _line(call: Call, schedule: Schedule) -> ScheduleLine:
    runs = runs_of(JobLedger(call.site.silo.path), schedule.name)
    last = Shown.of(runs[0], call.user) if runs else None
    return ScheduleLine(schedule, due_of(schedule, runs), last, _asked(call, schedule))


def _asked(call: Call, schedule: Schedule) -> AskedRecords | None:
    return asked_of(schedule.kind, schedule.fields, call.site.set_name)
