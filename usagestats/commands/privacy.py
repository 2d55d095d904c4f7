"""`silo usage freeze` and `forget`: destroy what could tell who used a record."""

import contextlib
import ipaddress
import os
import re
from datetime import datetime, timedelta
from typing import Literal

import click

from recordsilo.cli import ExitCode, example, fail
from recordsilo.commands.options import confirm, directory, yes_option
from recordsilo.wording import counted
from usagestats.commands.group import opened
from usagestats.rules.settings import read_settings
from usagestats.store.ledger import UsageLedger
from usagestats.store.paths import ledger_path
from usagestats.store.periods import first_day, period_of

_ADDRESS = re.compile(r"[^\W_]([\w.:%-]*[\w.])?|::[\w.:%]*", re.ASCII)
"""What may be in the place of an address: of IPv4, IPv6, a name, or a token made of one."""


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
        with UsageLedger(silo.path, _mode(silo.path)) as ledger:
            days, problem = freeze_days(silo.path, ledger, day, young=bool(before))
    if not days:
        click.echo(f"No day before {day} is to be frozen.")
    else:
        click.echo(
            f"Frozen: {counted(len(days), 'day')}, {days[0]} to {days[-1]}; their counts stay."
        )
    return _ended(problem)


@click.command(epilog=example("silo usage forget myrepo 203.0.113.7"))
@directory
@click.argument("address")
@yes_option
def forget(silo_dir: str, address: str, *, yes: bool) -> int:
    """Remove the uses of an ADDRESS from all days that are not frozen, and count them again.

    Its lines in the logs of live lines, and what waits to be pushed, are removed, too. Frozen
    days are not changed, because they no longer know addresses.
    """
    with opened(silo_dir) as silo:
        from usagestats.importing.freezing import forget as forget_client  # noqa: PLC0415

        address = address.strip()
        if not _ADDRESS.fullmatch(address):
            fail(f"{address!r} is not an address; write it as in the log, such as 203.0.113.7")
        confirm(f"Remove the uses of {address} for good?", yes=yes)
        with UsageLedger(silo.path, _mode(silo.path)) as ledger:
            events, days, problem = forget_client(silo.path, ledger, address)
    if not events:
        if not _is_whole_address(address):
            fail(f"{address!r} is not an address, and no day that is not frozen has uses of it")
        click.echo(
            f"Nothing was removed: no day that is not frozen has uses of {address}."
            " Write the address as it is in the log."
        )
        return _ended(problem)
    click.echo(f"Removed: {counted(events, 'event')} of {counted(days, 'day')}.")
    return _ended(problem)


def _is_whole_address(text: str) -> bool:
    """Whether it is an address of IPv4 or IPv6, or the name of a host with its domain."""
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(text))
    return "." in text.strip(".") and not text.rstrip(".").rpartition(".")[2].isdecimal()


def _ended(problem: str) -> int:
    """Print what could not be done; return the exit code."""
    if problem:
        click.echo(f"silo: {problem}", err=True)
    return ExitCode.LOSSES if problem else ExitCode.OK


def _mode(silo_path: str) -> Literal["write", "read"]:
    """Without a ledger nothing was imported, and nothing is to be written."""
    return "write" if os.path.exists(ledger_path(silo_path)) else "read"
