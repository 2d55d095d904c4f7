"""The group `silo usage`, and what its commands share."""

import contextlib
from collections.abc import Iterator
from datetime import datetime

import click

from recordsilo import Silo
from recordsilo.cli import ExitCode, fail, open_silo
from silosteps.errors import DiskFull, StepsError, WorkerDied
from usagestats.errors import CountsUnreadable, UsageError
from usagestats.rules.settings import read_settings
from usagestats.settings import check_settings
from usagestats.store.counts import Period
from usagestats.store.ledger import UsageLedger
from usagestats.store.periods import check_begun, period_of


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Print the errors of this package as one sentence."""
    try:
        yield
    except CountsUnreadable as error:
        fail(str(error), ExitCode.LOSSES)
    except UsageError as error:
        fail(str(error))
    except WorkerDied as error:
        fail(str(error), ExitCode.STOPPED)
    except DiskFull as error:
        fail(str(error), ExitCode.STOPPED)
    except StepsError as error:
        fail(str(error), ExitCode.USAGE if type(error) is not StepsError else ExitCode.LOSSES)


@contextlib.contextmanager
def opened(silo_dir: str) -> Iterator[Silo]:
    """Open a Silo whose settings are all valid; print the errors of this package."""
    with told(), open_silo(silo_dir) as silo:
        check_settings(silo.path)
        yield silo


def period_given(silo: Silo, first: str, last: str) -> Period:
    """The period of --from and --until; one in the future is refused."""
    period = period_of(first, last)
    check_begun(period, f"{datetime.now(read_settings(silo.path).zone):%Y-%m-%d}")
    return period


def ended(silo_dir: str) -> ExitCode:
    """Say that days wait to be counted, so that the figures are not whole; return the exit code."""
    with told(), UsageLedger(silo_dir, "read") as ledger:
        stale = ledger.stale()
    if not stale:
        return ExitCode.OK
    days = f"{len(stale):,} day{' is' if len(stale) == 1 else 's are'}"
    click.echo(
        f"silo: {days} not counted yet; silo usage import {silo_dir} counts them, or says why not",
        err=True,
    )
    return ExitCode.LOSSES
