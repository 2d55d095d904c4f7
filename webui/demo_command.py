"""The command `silo demo`, whose options other packages contribute: it loads them all."""

import functools
import logging
import os
import shlex
import sys
from collections.abc import Callable
from typing import Any

import click

from oaipmhprotocol import OAIError
from oaipmhprovider.server import SampleServer
from oaipmhscraper.errors import NoBaseURL, ScraperError
from oaipmhscraper.progress import display
from oaipmhscraper.receipt import HarvestInterrupted
from recordsilo import Silo
from recordsilo.cli import ExitCode, example, fail
from recordsilo.contributions import contributions
from recordsilo.demos import DemoPart
from webui.demo import NotTheDemo, harvest_sample, sample_repository
from webui.options import port_option
from webui.serving import agent_of_page, serve_silo
from webui.site import SiteSettings


def _with_parts(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for each `DemoPart`; the command gets ``parts: list[DemoPart]``."""
    known = list(contributions("recordsilo.demos", DemoPart))

    @functools.wraps(command)
    def call(**given: Any) -> None:
        command(parts=[one for one in known if given.pop(one.name)], **given)

    found: Callable[..., None] = call
    for one in reversed(known):
        found = click.option(f"--{one.name}", is_flag=True, help=one.help)(found)
    return found


@click.command(epilog=example("silo demo", "silo demo --crawl --no-serve /tmp/example"))
@click.argument("directory", default="./myrepo", metavar="[DIR]")
@_with_parts
@click.option("--no-serve", is_flag=True, help="Stop after the receipt.")
@port_option
def demo(*, directory: str, parts: list[DemoPart], no_serve: bool, port: int | None) -> None:
    """Harvest a sample repository into DIR (default: ./myrepo) and open it in the browser.

    The sample repository runs on this machine until the command ends, as the page does; the Silo
    stays. A second run reports no changes. To have some, open the sample repository's own page and
    press the button there.

    Each further option shows another part of silo. What an option needs is checked before the
    harvest begins.
    """
    logging.getLogger("OAIPMH Harvester").setLevel(logging.WARNING)
    for one in parts:
        one.check()  # before the harvest, which takes a while
    needs_pages = any(one.needs_pages for one in parts)
    with sample_repository(directory, with_pages=needs_pages) as sample:
        _harvest(directory, sample)
        for one in parts:
            one.run(directory, sample.site_url)
        if no_serve:
            click.echo(
                f"The sample repository has ended with this command, so silo update {directory}"
                " cannot reach it; silo demo harvests it again."
            )
            return
        click.echo(f"To change records at the source, open {sample.page_url}")
        click.echo(
            "The sample repository and the page stop with this command (Ctrl-C); the Silo in"
            f" {os.path.relpath(directory)} stays. To see it again: silo serve"
            f" {shlex.quote(os.path.relpath(directory))}"
        )
        with Silo(directory, create=False) as silo:
            serve_silo(silo, "127.0.0.1", port, SiteSettings(agent=agent_of_page(), by_worker=True))


def _harvest(directory: str, sample: SampleServer) -> None:
    """Harvest the sample and show the receipt; exit with 1 if records are missing."""
    name = os.path.relpath(directory)
    try:
        click.echo(f"The sample repository is at {sample.base_url}; harvesting it into {name}")
        with display(sys.stderr) as progress:
            receipt = harvest_sample(directory, sample, progress)
    except (NotTheDemo, NoBaseURL) as error:
        fail(str(error))
    except HarvestInterrupted as interrupt:
        fail(f"{interrupt}; run the same command to continue", ExitCode.INTERRUPTED)
    except (ScraperError, OAIError) as error:
        fail(str(error), ExitCode.ENDPOINT)
    click.echo(receipt.text())
    if not receipt.whole:
        click.get_current_context().exit(ExitCode.LOSSES)
