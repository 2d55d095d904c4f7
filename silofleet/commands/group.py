"""The group `silo fleet`, and what its commands share."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

import click

from politeweb.errors import RequestRefused
from politeweb.settings import HttpSettings
from recordsilo.cli import ExitCode, fail
from recordsilo.commands import completion
from recordsilo.errors import RecordSiloError, SiloNotWritable
from recordsilo.wording import counted, minute
from silofleet.errors import BrokerUnreachable, ClockRunning, FleetError, FleetStateUnreadable
from silofleet.fleet import UNHEARD, EndpointLine, Fleet
from silofleet.wishes import load_wishes
from silowork.commands import broker_option_for

directory = click.argument("directory", metavar="DIR", shell_complete=completion.directories)

endpoint_names = completion.among(lambda path: load_wishes(path).endpoints, FleetError)
"""Completes the name of an endpoint of the fleet."""


def _sendable(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str | None:
    try:
        return HttpSettings(contact=text).contact
    except RequestRefused as error:
        raise click.BadParameter(str(error)) from None


contact_option = click.option(
    "--contact",
    envvar="SILO_CONTACT",
    metavar="MAIL",
    callback=_sendable,
    help="Your email address, sent with every request so that a repository can contact you"
    " [also: environment variable SILO_CONTACT; contact in [policy] of endpoints.toml].",
)

broker_option = broker_option_for(
    "The Redis that the scheduler and the nodes of a fleet share, such as redis://host/0"
)


def moves_under_way(fleet: Fleet) -> list[str]:
    """Sentences on moves that have not ended; no run of these endpoints starts."""
    return [
        f"The Silo of {one.endpoint} is being moved to {one.target} since"
        f" {minute(one.began)}; if that was interrupted:"
        f" silo fleet move {fleet.directory} {one.endpoint} --to {one.target}"
        for one in fleet.ledger.moves()
    ]


def no_clock(fleet: Fleet, now: datetime, rest: timedelta = timedelta(0)) -> list[str]:
    """A sentence if the scheduler is not running, since when, and how to start it; else nothing.

    Args:
        now: The time.
        rest: Nothing is said if a clock was at work so recently.
    """
    last = fleet.ledger.last_clock_beat()
    if fleet.is_at_work(now) or (last and now - last < rest):
        return []
    since = f"has not run since {minute(last)}" if last else "is not running"
    return [f"The scheduler {since}; to start it: silo fleet run {fleet.directory}"]


def nodes_awaited(lines: Iterable[EndpointLine]) -> list[str]:
    """Sentences on the nodes without a known report, for which endpoints wait."""
    waiting, rebuilt = Counter[str](), set()
    for line in lines:
        if line.awaits:
            waiting[line.awaits] += 1
            if line.facts.node:
                rebuilt.add(line.awaits)
    return [
        f"The node {node} {UNHEARD if node in rebuilt else 'has never reported'};"
        f" {counted(number, 'endpoint')} {'waits' if number == 1 else 'wait'} for it."
        for node, number in sorted(waiting.items())
    ]


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Print the errors of this package as one sentence."""
    try:
        yield
    except BrokerUnreachable as error:
        fail(str(error), ExitCode.STOPPED)
    except (FleetStateUnreadable, ClockRunning) as error:
        fail(str(error), ExitCode.LOSSES)
    except SiloNotWritable:  # its exit code depends on the reason
        raise
    except (FleetError, RecordSiloError) as error:
        fail(str(error))


@contextlib.contextmanager
def opened(path: str) -> Iterator[Fleet]:
    """Open a fleet; see `told`."""
    with told(), Fleet(path) as found:
        yield found
