"""`silo fleet run`: the scheduler of a fleet, with a worker on this machine."""

import contextlib
import logging
import sys
from collections.abc import Iterator

import click

from politeweb.shared_pace import note_place
from recordsilo import Granary
from recordsilo.cli import ExitCode, example
from recordsilo.commands import completion
from recordsilo.commands.options import quiet_option
from recordsilo.disk.network_disks import refuse_network_disk
from recordsilo.progress import counting
from recordsilo.wording import counted
from silofleet.clock import Clock, Runner, Shown, Summary
from silofleet.commands.group import (
    broker_option,
    contact_option,
    directory,
    opened,
    told,
)
from silofleet.local_node import Here
from silofleet.notices import notices_for
from silofleet.search.keeping import fed_meanwhile
from silofleet.values import RunOutcome
from silofleet.wishes import check_node
from silowork.stop import Stop

SLOTS, UNITS = 8, 2


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
@quiet_option
@contact_option
@broker_option
def run(
    directory: str, *, slots: int, until_idle: bool, quiet: bool, contact: str | None, broker: str
) -> int:
    """Run what is due in the fleet DIR, until Ctrl-C or SIGTERM.

    On exit, running harvests stop; the next start continues them. With --until-idle the exit code
    is 0 only if every harvest was whole, and --quiet prints nothing then.

    With --broker, this process only decides what is due, and the runs are done by the workers
    of other machines: silo fleet worker.
    """
    logging.getLogger("OAIPMH Harvester").setLevel(logging.ERROR)
    with (
        opened(directory) as fleet,
        _runner(directory, slots, broker) as runner,
        Stop().on_signals() as stop,
        notices_for(fleet) as notices,
    ):
        clock = Clock(fleet, runner, watch=notices.look, contact=contact)
        with _shown(until_idle=until_idle, quiet=quiet) as shown:
            summary = clock.run(stop, until_idle=until_idle, shown=shown)
    code = _code(summary, until_idle=until_idle, interrupted=stop.interrupted)
    if not (quiet and code == ExitCode.OK):
        click.echo(_told(summary))
    for name, why in sorted(summary.waiting.items()):
        click.echo(f"silo: {name} did not run: {why}", err=True)
    return code


def _code(summary: Summary, *, until_idle: bool, interrupted: bool) -> ExitCode:
    if not until_idle:
        return ExitCode.OK
    if not summary.is_idle:
        return ExitCode.INTERRUPTED if interrupted else ExitCode.STOPPED
    return ExitCode.OK if summary.is_whole else ExitCode.LOSSES


@contextlib.contextmanager
def _runner(directory: str, slots: int, broker: str) -> Iterator[Runner]:
    if not broker:
        note_place(directory, None)
        with fed_meanwhile(directory), Here(directory, slots) as here:
            yield here
        return
    from silofleet.broker import Nodes  # noqa: PLC0415  # loads Celery

    nodes = Nodes(broker)
    nodes.reach(directory)
    yield nodes


@click.command(
    epilog=example(
        "silo fleet worker /srv/silos --node n3 --broker redis://scheduler.example.org/0"
    )
)
@click.argument("directory", metavar="GRANARY", shell_complete=completion.directories)
@click.option("--node", required=True, metavar="NAME", help="Name of this node; unique.")
@click.option(
    "--slots", type=click.IntRange(1, 256), default=SLOTS, show_default=True,
    help="Run at most this many at a time.",
)  # fmt: skip
@click.option(
    "--units", type=click.IntRange(0, 64), default=UNITS, show_default=True,
    help="Beside the runs, send so many requests at a time for runs of endpoints with spread.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Use a network file system all the same.")
@quiet_option
@broker_option
def worker(
    directory: str, *, node: str, slots: int, units: int, force: bool, quiet: bool, broker: str
) -> None:
    """Harvest for a fleet on this machine, into Silos in the directory GRANARY, until Ctrl-C.

    GRANARY is on a disk of this machine; it is created if it does not exist. The scheduler
    is started elsewhere, with the same broker: silo fleet run DIR --broker URL.
    """
    if not broker:
        raise click.UsageError("a worker needs a --broker; without one, use: silo fleet run")
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("OAIPMH Harvester").setLevel(logging.ERROR)
    logging.getLogger("kombu").setLevel(logging.ERROR)
    with told():
        from silofleet.node import FleetNode  # noqa: PLC0415  # loads Celery

        check_node(node)
        Granary(directory)
        refuse_network_disk(directory, forced=force)
        found = FleetNode(directory, node, broker, slots, units)
        found.join()
        if not quiet:
            click.echo(f"The node {node} works in {directory} (stop with Ctrl-C)", err=True)
        with fed_meanwhile(directory):
            found.run()


@contextlib.contextmanager
def _shown(*, until_idle: bool, quiet: bool) -> Iterator[Shown | None]:
    if quiet or not until_idle:
        if not quiet:
            click.echo("The fleet is running (stop with Ctrl-C)", err=True)
        yield None
        return
    with counting("endpoints run", stream=sys.stderr) as show:
        yield lambda done, _due, _working: show(done)


def _told(summary: Summary) -> str:
    if not summary.outcomes and not summary.is_idle:
        return "0 endpoints run: it was stopped before a run ended"
    counts = summary.counts
    parts = [f"{counts[outcome]:,} {outcome.value}" for outcome in RunOutcome if counts[outcome]]
    count = len(summary.outcomes)
    none = "what was due did not start" if summary.waiting else "nothing was due"
    return f"{counted(count, 'endpoint')} run: " + (", ".join(parts) or none)
