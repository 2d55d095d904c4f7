"""The commands `silo schedule list`, `add`, `pause`, `resume`, `run` and `remove`."""

import calendar
import getpass
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from recordsilo.cli import Group, example, fail, open_silo
from recordsilo.commands import completion
from recordsilo.commands.options import directory, json_lines, tell_none
from recordsilo.wording import minute
from silowork.due.timetable import WEEKDAYS, timetable_of_texts, timetable_table
from silowork.errors import JobRefused, JobsError
from silowork.kinds import begun_by_form
from silowork.ledger import JobLedger
from silowork.schedules import (
    Schedule,
    add_schedule,
    due_of,
    load_schedule,
    name_of,
    pause_schedule,
    remove_schedule,
    run_now,
    runs_of,
    schedule_names,
)
from silowork.values import Job


@click.group(
    cls=Group,
    epilog=example(
        "silo schedule add myrepo 'every night' update --at 02:00",
        "silo schedule list myrepo",
    ),
)
def schedule() -> None:
    """Manage jobs that repeat, such as an update every night.

    A worker starts them: that of `silo serve`, or `silo worker`. A missed run is
    caught up once. While the last job of a schedule is not finished, no other starts.
    """


@schedule.command("list", epilog=example("silo schedule list myrepo"))
@directory
@json_lines
def list_schedules(*, silo_dir: str, as_json: bool) -> None:
    """List the schedules: name, kind of job, when, next run, state of the last job.

    Those that are invalid are named after the others.
    """
    invalid: list[str] = []
    with _opened(silo_dir) as path:
        names = schedule_names(path)
        if not names and not as_json:
            tell_none("schedules", "silo schedule add DIR makes one", silo_dir)
        for name in names:
            try:
                found = load_schedule(path, name)
            except JobRefused as error:
                invalid.append(str(error))
            else:
                _print(found, runs_of(JobLedger(path), name), as_json)
    for sentence in invalid[:-1]:
        click.echo(f"silo: {sentence}", err=True)
    if invalid:
        fail(invalid[-1])


def _print(found: Schedule, runs: list[Job], as_json: bool) -> None:
    due = due_of(found, runs)
    line = {
        "name": found.name,
        "kind": found.kind,
        "when": timetable_table(found.timetable),
        "next": f"{due:%Y-%m-%dT%H:%M:%SZ}" if due else None,
        "last": runs[0].state.value if runs else None,
    }
    if as_json:
        click.echo(json.dumps(line | {"fields": dict(found.fields)}))
        return
    is_over = not runs or runs[0].is_over
    said = minute(due) if due else "over" if is_over else "running"
    said = "paused" if found.timetable.is_paused else said
    click.echo(f"{found.name}\t{found.kind}\t{_when(found)}\t{said}\t{line['last'] or '-'}")


def _when(found: Schedule) -> str:
    table = timetable_table(found.timetable)
    days = ",".join(table.get("weekdays", ())) or "every day"
    if "once" in table:
        return f"once at {table['once']}"
    if "every" in table:
        return f"every {table['every']}"
    if found.timetable.days:
        days = "day " + ",".join(map(str, found.timetable.days))
    if found.timetable.months:
        days += " of " + ",".join(calendar.month_abbr[one] for one in found.timetable.months)
    return f"{days} at {', '.join(table['times'])} {table['zone']}"


@schedule.command(
    epilog=example(
        "silo schedule add myrepo 'every night' update --at 02:00 --zone Europe/London",
        "silo schedule add myrepo audit audit --field share=5 --at 04:00 --on sun",
        "silo schedule add myrepo table export --field form=csv --field name=all --every 12h",
    )
)
@directory
@click.argument("title", metavar="NAME")
@click.argument(
    "kind", metavar="KIND", shell_complete=completion.among(lambda _silo: begun_by_form())
)
@click.option("--at", "times", multiple=True, metavar="HH:MM", help="Time of day; repeatable.")
@click.option("--on", "days", multiple=True, type=click.Choice(WEEKDAYS),
              help="Only on this day; repeatable.")  # fmt: skip
@click.option("--day", "month_days", multiple=True, type=click.IntRange(1, 31),
              help="Only on this day of the month, or its last day; repeatable.")  # fmt: skip
@click.option("--month", "months", multiple=True, type=click.IntRange(1, 12),
              help="Only in this month; repeatable.")  # fmt: skip
@click.option("--every", default="", metavar="TIME", help="Instead of --at: every 30m, 12h, 2d.")
@click.option("--zone", default="UTC", show_default=True, help="Time zone of --at.")
@click.option("--once", default="", metavar="DATE", help="Instead of --at: 2026-12-01T02:00, UTC.")
@click.option("--begin", default="", metavar="DATE", help="No run before this date.")
@click.option("--end", default="", metavar="DATE", help="No run from this date on.")
@click.option("--jitter", default="", metavar="TIME", help="Delay each run by up to this time.")
@click.option("--rest", default="", metavar="TIME",
              help="Wait this long after a failure; doubled with each further one.")  # fmt: skip
@click.option("--field", "fields", multiple=True, metavar="NAME=VALUE",
              help="A field of the kind, as in the form of the page; repeatable.")  # fmt: skip
def add(
    *,
    silo_dir: str,
    title: str,
    kind: str,
    times: tuple[str, ...],
    days: tuple[str, ...],
    month_days: tuple[int, ...],
    months: tuple[int, ...],
    fields: tuple[str, ...],
    **texts: str,
) -> None:
    """Add a schedule for jobs of a KIND, such as update, harvest, export, audit or usage-import."""
    given = dict(one.split("=", 1) for one in fields if "=" in one)
    if len(given) != len(fields):
        fail("write each --field once, as NAME=VALUE")
    with _opened(silo_dir) as path:
        if kind not in begun_by_form():
            fail(f"no schedule can start a job of the kind {kind!r}; {', '.join(begun_by_form())}")
        lists = {"times": times, "weekdays": days, "days": month_days, "months": months}
        wish = timetable_of_texts({name: list(one) for name, one in lists.items()} | texts)
        made = add_schedule(
            path,
            Schedule(name_of(title), kind, wish, given, title, getpass.getuser()),
        )
        due = due_of(made, [])
    click.echo(f"{made.name}: next run {minute(due) if due else 'never'}")


_names = completion.among(schedule_names)


def _name(_context: click.Context, _argument: click.Parameter, given: str) -> str:
    """The name that a schedule got, for the one it was given: ``Every night`` is every-night."""
    is_name = re.fullmatch(r"[a-z0-9-]+", given) or not re.search("[a-z0-9]", given.lower())
    return given if is_name else name_of(given)


def _on_one(verb: str) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function the command that does something with one schedule."""

    def made(function: Callable[..., None]) -> click.Command:
        name = click.argument("name", metavar="NAME", shell_complete=_names, callback=_name)
        named = directory(name(function))
        line = example(f"silo schedule {verb} myrepo every-night")
        return schedule.command(verb, epilog=line)(named)

    return made


@_on_one("pause")
def pause(*, silo_dir: str, name: str) -> None:
    """Pause a schedule; a job that it started continues."""
    with _opened(silo_dir) as path:
        pause_schedule(path, name)
    click.echo(f"{name} is paused")


@_on_one("resume")
def resume(*, silo_dir: str, name: str) -> None:
    """Let a paused schedule continue; all missed runs become one."""
    with _opened(silo_dir) as path:
        pause_schedule(path, name, paused=False)
    click.echo(f"{name} continues")


@_on_one("run")
def run(*, silo_dir: str, name: str) -> None:
    """Start the job of a schedule now."""
    with _opened(silo_dir) as path:
        job = run_now(path, name)
    click.echo(f"{job.job_id}  {job.title}")


@_on_one("remove")
def remove(*, silo_dir: str, name: str) -> None:
    """Delete a schedule; its jobs stay in the list."""
    with _opened(silo_dir) as path:
        remove_schedule(path, name)
    click.echo(f"{name} removed")


@contextmanager
def _opened(silo_dir: str) -> Iterator[str]:
    """The path of the Silo; errors of jobs end the command in a sentence."""
    try:
        with open_silo(silo_dir) as silo:
            yield silo.path
    except JobsError as error:
        fail(str(error))
