"""Output of the export commands: progress on stderr, report files, results; and signals."""

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import IO, Any

import click

from recordsilo.cli import ExitCode
from recordsilo.commands.options import check_not_empty, print_json
from recordsilo.selection import Selection
from recordsilo.wording import counted
from siloexport.commands.exit_codes import (
    exit_of_reconciliation,
    exit_of_rollback,
    exit_of_run,
    exit_of_verification,
)
from siloexport.engine.export import Export, Watch
from siloexport.report import ASKED, DepositOutcome, Progress, RunReport, VerifyReport
from siloexport.values import ActionKind, Difference
from silowork.stop import Stop

SECONDS_BETWEEN_LINES = 5.0
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Printing:
    """What a command prints.

    Attributes:
        report_path: File that gets a line for each action.
        as_json: Whether the result is printed as JSON.
        quiet: Whether only losses are printed.
    """

    report_path: str | None = None
    as_json: bool = False
    quiet: bool = False


def show_run(shown: Printing, run: Callable[[Watch, Stop], RunReport]) -> int:
    """Run, show the progress, print the result, and return the exit code.

    The first SIGINT or SIGTERM lets the deposits under way end; a second SIGINT does not.
    """
    with _lines_to(shown.report_path) as write, Stop().on_signals(second_interrupts=True) as stop:
        progress = _ProgressLine(quiet=shown.quiet).show

        def note(outcome: DepositOutcome) -> None:
            write(outcome.to_json())

        report = run(Watch(progress, note), stop)
    if shown.as_json:
        print_json(report.to_json())
    elif not shown.quiet or not report.whole:
        print_run(report)
    return exit_of_run(report)


@contextlib.contextmanager
def _lines_to(path: str | None) -> Iterator[Callable[[dict[str, Any]], None]]:
    if path is None:
        yield lambda _line: None
        return
    with click.open_file(path, "w", encoding="utf-8", lazy=False) as file:
        opened: IO[Any] = file
        yield lambda line: print(json.dumps(line, ensure_ascii=False), file=opened)


class _ProgressLine:
    """A progress line on stderr: overwritten in a terminal, written every few seconds otherwise."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet, self._is_terminal = quiet, sys.stderr.isatty()
        self._last = time.monotonic()

    def show(self, progress: Progress) -> None:
        """Show the progress, unless it was shown a moment ago."""
        pause = 0.2 if self._is_terminal else SECONDS_BETWEEN_LINES
        if self._quiet or time.monotonic() - self._last < pause:
            return
        self._last = time.monotonic()
        line = progress_line(progress)
        click.echo(
            f"\r\x1b[K{line}" if self._is_terminal else line, err=True, nl=not self._is_terminal
        )


def progress_line(progress: Progress) -> str:
    """Return the progress, the rate and the time left as one line."""
    line = (
        f"exporting: {progress.records:,} of {progress.total:,} records, "
        f"{progress.deposits:,} written, {progress.rate:,.0f}/s"
    )
    left = progress.seconds_left
    return line if left is None else f"{line}, {_duration(left)} left"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


_WORDS = {
    ActionKind.CREATE: "created",
    ActionKind.ADD_VERSION: "versions added",
    ActionKind.REPLACE: "replaced",
    ActionKind.DESCRIBE: "descriptions updated",
    ActionKind.WITHDRAW: "withdrawn",
    ActionKind.NOTHING: "unchanged",
}
_OF_ONE = {ActionKind.ADD_VERSION: "version added", ActionKind.DESCRIBE: "description updated"}
_ALWAYS = (ActionKind.CREATE, ActionKind.REPLACE, ActionKind.NOTHING)


def print_run(report: RunReport) -> None:
    """Print what a run did, and what it could not do."""
    counts = ", ".join(
        f"{report.actions.get(kind, 0):,} "
        + (_OF_ONE.get(kind, word) if report.actions.get(kind) == 1 else word)
        for kind, word in _WORDS.items()
        if kind in _ALWAYS or report.actions.get(kind)
    )
    conflicts = "conflict" if report.conflicts == 1 else "conflicts"
    not_done = {"failed": report.failed, conflicts: report.conflicts, "skipped": report.skipped}
    counts += "".join(f", {number:,} {word}" for word, number in not_done.items() if number)
    would = "to be done: " if report.dry_run else ""
    left = report.actions.get(ActionKind.LEAVE, 0)
    empty = f", {report.empty:,} with nothing to export" if report.empty else ""
    click.echo(f"{report.target}: {would}{counts}; {left:,} deleted at the source left out{empty}")
    if report.missing:
        one = report.missing == 1
        again = "would be" if report.dry_run else "is" if one else "are"
        there = f"{'was' if one else 'were'} missing in {report.target}"
        click.echo(f"  {counted(report.missing, 'record')} {there} and {again} written again")
    if report.recovered:
        click.echo(
            f"  {report.recovered:,} unfinished deposits of an earlier run were there already"
        )
    for identifier in report.still_there:
        click.echo(f"  {identifier} is deleted at the source and still in the target")
    _print_remarks(report)
    for outcome in report.problems[:_SHOWN]:
        click.echo(f"silo: {outcome.identifier}: {outcome.result}: {outcome.reason}", err=True)
    more = report.failed + report.conflicts + report.skipped - len(report.problems[:_SHOWN])
    if more > 0:
        click.echo(f"silo: and {more:,} more; --report FILE names all", err=True)
    if report.stopped == ASKED:
        click.echo("silo: stopped; the same command continues", err=True)
    elif report.stopped:
        click.echo(f"silo: stopped: {report.stopped}; the same command continues", err=True)
    if report.stopped and not report.dry_run:
        click.echo(
            f"silo: the counts are of the {report.records:,} records looked at before; of all "
            f"runs, {report.in_target:,} records are in {report.target}",
            err=True,
        )
    if report.run_id and not report.whole:
        click.echo(f"silo: run id: {report.run_id}; silo export rollback undoes it", err=True)


def _print_remarks(report: RunReport) -> None:
    for note in report.notes:
        click.echo(f"silo: {note}", err=True)
    for outcome in report.remarks[:_SHOWN]:
        click.echo(f"silo: {outcome.identifier}: {outcome.reason}", err=True)
    if len(report.remarks) > _SHOWN:
        more = len(report.remarks) - _SHOWN
        click.echo(f"silo: and {more:,} more remarks; --report FILE names all", err=True)


# -- the other commands ------------------------------------------------------------------


def show_verification(
    export: Export, selection: Selection, share: float, shown: Printing, *, jobs: int
) -> int:
    """Verify, print each difference, and return the exit code.

    Args:
        selection: Which records.
        share: Of the records, from 0 to 1.
        jobs: How many records at once.
    """
    _check_choice(export, selection)
    with _lines_to(shown.report_path) as write:

        def note(difference: Difference) -> None:
            write(asdict(difference))

        report = export.verify(selection, sample=share, jobs=jobs, on_difference=note)
    if shown.as_json:
        print_json(asdict(report))
    else:
        _print_verification(report, quiet=shown.quiet)
    if not (report.records or report.outdated or report.differences or report.unreadable):
        click.echo(
            "silo: nothing was compared: the Silo's ledger knows of no such export; "
            "silo export reconcile rebuilds it from the target",
            err=True,
        )
        return ExitCode.LOSSES
    return exit_of_verification(report)


def _check_choice(export: Export, selection: Selection) -> None:
    """End the command if records were chosen and there are none; an emptied Silo is no mistake."""
    if not selection.is_everything:
        check_not_empty(export.silo, selection)


def _print_verification(report: VerifyReport, *, quiet: bool) -> None:
    for difference in report.first[:_SHOWN]:
        click.echo(
            f"{difference.identifier} {difference.version}".rstrip()
            + f": {difference.what}: {difference.detail}"
        )
    for identifier, why in list(report.unreadable.items())[:_SHOWN]:
        click.echo(f"silo: {identifier} was not compared: {why}", err=True)
    if quiet and not report.differences:
        return
    click.echo(
        f"{report.target}: {counted(report.versions, 'version')} of "
        f"{counted(report.records, 'record')} compared, {counted(report.differences, 'difference')}"
    )
    if report.outdated:
        click.echo(
            f"  {counted(report.outdated, 'version')} not compared: the record, or how it is"
            " described, has changed since the export"
        )
    tables = sorted({one.where for one in report.first if one.what == "table"})
    for table in tables:
        click.echo(f"silo: rename {table}, and the same export writes it again", err=True)
    if report.differences and not (tables and all(one.what == "table" for one in report.first)):
        click.echo(
            "silo: the same export with --on-conflict overwrite puts back what differs", err=True
        )


def show_status(export: Export, shown: Printing) -> None:
    """Print what the ledger says."""
    status = export.status()
    if shown.as_json:
        print_json(asdict(status))
        return
    click.echo(f"target      {status.target}")
    click.echo(f"ledger      {status.ledger}")
    click.echo(f"records     {status.records:,}")
    click.echo(f"unfinished  {status.unfinished:,}")
    for run_id, started, how in status.runs:
        click.echo(f"run {run_id}  {started}  {how}")


def show_reconciliation(export: Export, selection: Selection, shown: Printing, *, jobs: int) -> int:
    """Rebuild the ledger, print the result, and return the exit code.

    Args:
        export: The export whose ledger is rebuilt.
        selection: Which records.
        jobs: How many records at once.
    """
    _check_choice(export, selection)
    report = export.reconcile(selection, jobs=jobs)
    if shown.as_json:
        print_json(asdict(report))
        return exit_of_reconciliation(report)
    others = {"deleted there": report.deleted, "changed by others": report.changed}
    click.echo(
        f"{report.target}: {counted(report.found, 'record')} found, "
        f"{report.adopted:,} added or corrected, {report.forgotten:,} no longer there"
        + "".join(f", {number:,} {word}" for word, number in others.items() if number)
    )
    for identifier, why in list(report.unreadable.items())[:_SHOWN]:
        click.echo(f"silo: {identifier} was not looked up: {why}", err=True)
    return exit_of_reconciliation(report)


def show_rollback(export: Export, run_id: str, shown: Printing, *, purge: bool) -> int:
    """Roll back a run, print the result, and return the exit code.

    Args:
        export: The export that the run belongs to.
        purge: Leave no tombstones.
    """
    report = export.rollback(run_id, purge=purge)
    if shown.as_json:
        print_json(asdict(report))
        return exit_of_rollback(report)
    click.echo(f"{run_id}: {report.taken_back:,} rolled back, {len(report.kept):,} kept")
    for uri, why in list(report.kept.items())[:_SHOWN]:
        click.echo(f"  {uri}: {why}")
    return exit_of_rollback(report)
