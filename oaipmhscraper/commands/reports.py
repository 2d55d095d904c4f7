"""Output of the commands that harvest: progress, receipts, errors and exit codes.

Exit codes: 0 whole; 1 finished with losses, listed in the receipt; 2 usage; 3 the endpoint is
unusable; 75 stopped early, continued by the same command; 130 interrupted.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from filestores.errors import StoreUnreachable
from oaipmhclient.walk.listed_pages import ListBarren
from oaipmhprotocol import BadArgument, CannotDisseminateFormat, OAIError
from oaipmhscraper.errors import (
    BaseURLConflict,
    HarvestRunning,
    NoBaseURL,
    NothingToUpdate,
    ScraperError,
    StoringEnded,
)
from oaipmhscraper.harvester import without_the_format
from oaipmhscraper.receipt import HarvestInterrupted, HarvestStopped, Receipt
from politeweb.errors import EndpointError, RequestRefused, RetryLater, WarcUnreadable
from recordsilo.cli import ExitCode, fail
from recordsilo.commands.options import print_json
from recordsilo.errors import (
    ManifestUnreadable,
    RecordSiloError,
    SiloGone,
    SiloNotWritable,
    StateUnreadable,
)


class HarvestReporter:
    """Reports a harvest as text or JSON, or not at all."""

    def __init__(self, quiet: bool, as_json: bool, receipt_file: str | None) -> None:
        self.quiet = quiet
        self._as_json = as_json
        self._receipt_file = receipt_file
        if quiet:
            logging.getLogger("OAIPMH Harvester").setLevel(logging.ERROR)

    def say(self, sentence: str) -> None:
        if not self.quiet and not self._as_json:
            click.echo(sentence)

    @contextmanager
    def stopped_too(self) -> Iterator[None]:
        """Also show the receipt of a stopped harvest."""
        try:
            yield
        except (HarvestStopped, HarvestInterrupted) as stop:
            if stop.receipt.counts.listed or self._as_json or self._receipt_file:
                self._show(stop.receipt)
            raise

    def finished(self, receipt: Receipt) -> None:
        """Show the receipt; end with 1 if anything is lost."""
        self._show(receipt)
        if not receipt.losses:
            return
        if self.quiet or self._as_json:
            more = len(receipt.losses) - 1
            fail(
                f"not whole: {receipt.losses[0]}" + (f" (and {more} more)" if more else ""),
                ExitCode.LOSSES,
            )
        click.get_current_context().exit(ExitCode.LOSSES)

    def _show(self, receipt: Receipt) -> None:
        if self._receipt_file is not None:
            with click.open_file(self._receipt_file, "w", encoding="utf-8") as file:
                file.write(json.dumps(receipt.to_json(), ensure_ascii=False, indent=1) + "\n")
        if self._as_json:
            print_json(receipt.to_json())
        else:
            self.say(receipt.text())


@contextmanager
def sentences() -> Iterator[None]:
    """Turn errors into a message and an exit code."""
    try:
        yield
    except HarvestInterrupted as interrupt:
        fail(f"{interrupt}; run the same command to continue", ExitCode.INTERRUPTED)
    except HarvestStopped as stop:
        _fail_stopped(stop)
    except (RequestRefused, NothingToUpdate, NoBaseURL, BaseURLConflict, WarcUnreadable) as error:
        fail(str(error), ExitCode.USAGE)
    except (RetryLater, HarvestRunning, StoreUnreachable, StoringEnded) as error:
        fail(str(error), ExitCode.STOPPED)
    except EndpointError as error:
        fail(str(error), ExitCode.ENDPOINT)
    except OAIError as error:
        fail(f"the repository answers {error}", ExitCode.ENDPOINT)
    except (ScraperError, ManifestUnreadable, StateUnreadable) as error:
        fail(str(error), ExitCode.LOSSES)
    except (SiloGone, SiloNotWritable):  # its exit code depends on the reason
        raise
    except RecordSiloError as error:
        fail(str(error), ExitCode.USAGE)


def _fail_stopped(stop: HarvestStopped) -> NoReturn:
    if isinstance(stop.cause, CannotDisseminateFormat):
        if stop.formats:
            fail(str(without_the_format(stop)), ExitCode.USAGE)
        prefix = next(one.metadata_prefix for one in stop.receipt.lists if one.stopped)
        fail(
            f"{stop.receipt.base_url} has no records in the format {prefix}"
            f" ({stop.cause}); its formats: silo formats {stop.receipt.base_url}",
            ExitCode.USAGE,
        )
    if stop.receipt.counts.listed or isinstance(stop.cause, (RetryLater, ListBarren)):
        fail(
            f"{stop}; earlier pages are stored, run the same command to continue", ExitCode.STOPPED
        )
    fail(str(stop), ExitCode.USAGE if isinstance(stop.cause, BadArgument) else ExitCode.ENDPOINT)
