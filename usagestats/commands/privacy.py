"""`silo usage freeze` and `forget`: destroy what could tell who used a record."""

import os
from datetime import datetime, timedelta
from typing import Literal

import click

from recordsilo.cli import ExitCode, example, fail
from recordsilo.commands.options import confirm, directory, yes_option
from usagestats.commands.group import opened
from usagestats.rules.settings import read_settings
from usagestats.store.ledger import Ledger
from usagestats.store.periods import first_day, period_of
from usagestats.store.places import ledger_path


@click.command(
    epilog=example("silo usage freeze myrepo", "silo usage freeze myrepo --before 2026-10")
)
@directory
@click.option(
    "--before", default="", metavar="DAY",
    help="Freeze all days before this one (default: those older than the window).",
)  # fmt: skip
def freeze(silo_dir: str, before: str) -> int:
    """Destroy the keys and the events of old days; their counts stay.

    Every import does this for days that are older, and were first imported longer ago, than the
    window in usage.toml (90 days).
    """
    with opened(silo_dir) as silo:
        from usagestats.importing.freezing import freeze as freeze_days  # noqa: PLC0415

        settings = read_settings(silo.path)
        day = first_day(period_of(before, "").first) if before else ""
        if not day:
            window = timedelta(days=settings.window)
            day = f"{datetime.now(settings.zone) - window:%Y-%m-%d}"
        with Ledger(silo.path, _mode(silo.path)) as ledger:
            days, problem = freeze_days(silo.path, ledger, day, young=bool(before))
    if not days:
        click.echo(f"No day before {day} is to be frozen.")
    else:
        number = f"{len(days):,} day{'' if len(days) == 1 else 's'}"
        click.echo(f"Frozen: {number}, {days[0]} to {days[-1]}; their counts stay.")
    return _ended(problem)


@click.command(epilog=example("silo usage forget myrepo 203.0.113.7"))
@directory
@click.argument("address")
@yes_option
def forget(silo_dir: str, address: str, *, yes: bool) -> int:
    """Remove the uses of an ADDRESS from all days that are not frozen, and count them again.

    Its lines in the logs of live lines, and what waits to be pushed, are removed, too. In a frozen
    day nobody can tell which uses those were.
    """
    with opened(silo_dir) as silo:
        from usagestats.importing.freezing import forget as forget_client  # noqa: PLC0415

        if not address.strip():
            fail("name an address, such as 203.0.113.7")
        confirm(f"Remove the uses of {address.strip()} for good?", yes=yes)
        with Ledger(silo.path, _mode(silo.path)) as ledger:
            events, days, problem = forget_client(silo.path, ledger, address.strip())
    click.echo(
        f"Removed: {events:,} {'event' if events == 1 else 'events'}"
        f" of {days:,} {'day' if days == 1 else 'days'}."
    )
    if not events:
        click.echo("Write the address as it is in the log; days that are frozen are not changed.")
    return _ended(problem)


def _ended(problem: str) -> int:
    """Print what could not be done; return the exit code."""
    if problem:
        click.echo(f"silo: {problem}", err=True)
    return ExitCode.LOSSES if problem else ExitCode.OK


def _mode(silo_path: str) -> Literal["write", "read"]:
    """Without a ledger nothing was imported, and nothing is to be written."""
    return "write" if os.path.exists(ledger_path(silo_path)) else "read"
