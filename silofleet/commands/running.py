"""`silo fleet run`: the clock of a fleet, with a worker on this machine."""

import contextlib
import logging
import sys
from collections.abc import Iterator

import click

from recordsilo.cli import ExitCode, example
from recordsilo.progress import counting
from silofleet.clock import Clock, Shown, Summary
from silofleet.commands.group import directory, opened
from silofleet.here import Here
from silofleet.values import Outcome
from silowork.stop import Stop

SLOTS = 8


@click.command(epilog=example("silo fleet run many", "silo fleet run many --until-idle --slots 16"))
@directory
@click.option(
    "--slots", type=click.IntRange(1, 256), default=SLOTS, show_default=True,
    help="Run at most this many at a time.",
)  # fmt: skip
@click.option(
    "--until-idle", is_flag=True,
    help="End when every endpoint that is due now has had one run, failures included.",
)  # fmt: skip
@click.option("--quiet", is_flag=True, help="Show no progress.")
def run(directory: str, *, slots: int, until_idle: bool, quiet: bool) -> int:
    """Run what is due in the fleet DIR, until Ctrl-C or SIGTERM.

    Runs at work are ended then; the next start goes on with them. With --until-idle the exit
    code is 0 only if every harvest was whole.
    """
    logging.getLogger("OAIPMH Harvester").setLevel(logging.ERROR)
    with opened(directory) as fleet, Here(directory, slots) as here, Stop().on_signals() as stop:
        clock = Clock(fleet, here)
        with _shown(until_idle=until_idle, quiet=quiet) as shown:
            summary = clock.run(stop, until_idle=until_idle, shown=shown)
    click.echo(_told(summary))
    for name, why in sorted(summary.waiting.items()):
        click.echo(f"silo: {name} did not run: {why}", err=True)
    if not until_idle:
        return ExitCode.OK
    if not summary.is_idle:
        return ExitCode.INTERRUPTED if stop.interrupted else ExitCode.STOPPED
    return ExitCode.OK if summary.is_whole else ExitCode.LOSSES


@contextlib.contextmanager
def _shown(*, until_idle: bool, quiet: bool) -> Iterator[Shown | None]:
    if quiet or not until_idle:
        if not quiet:
            click.echo("The fleet is running (stop with Ctrl-C)", err=True)
        yield None
        return
    with counting("endpoints", stream=sys.stderr) as show:
        yield lambda done, _due, _working: show(done)


def _told(summary: Summary) -> str:
    counts = summary.counts
    parts = [f"{counts[outcome]:,} {outcome.value}" for outcome in Outcome if counts[outcome]]
    count = len(summary.outcomes)
    return f"{count:,} {'endpoint' if count == 1 else 'endpoints'} run: " + (
        ", ".join(parts) or "nothing was due"
    )
