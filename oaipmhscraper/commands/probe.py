"""The command `silo probe`: check whether a repository can be harvested, and what is wrong with it.

Exit codes: 0 no fault; 1 faults, listed in the report; 2 usage; 3 no usable repository; 130
interrupted.
"""

import logging
from dataclasses import replace
from urllib.parse import urlsplit

import click
from rich.console import Console

from oaipmhclient.probe.asking import Probe
from oaipmhclient.probe.report import ProbeReport
from oaipmhclient.transport.http_transport import HttpTransport
from oaipmhscraper.commands.http_options import http_options
from politeweb import addresses
from politeweb.answers import Exchange
from politeweb.errors import EndpointError, RequestRefused
from politeweb.pace import Pace
from politeweb.settings import HttpSettings
from recordsilo.cli import ExitCode, example, fail
from recordsilo.commands.options import Number, json_object, print_json

_DELAY = 1.0


@click.command(
    epilog=example(
        "silo probe https://eprints.example.org/cgi/oai2",
        "silo probe https://eprints.example.org/cgi/oai2 --json > report.json",
    )
)
@click.argument("url")
@click.option(
    "--budget",
    type=Number(min=1.0, max=86400.0),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="Send no more requests after this time.",
)
@http_options
@json_object
def probe(url: str, budget: float, settings: HttpSettings, as_json: bool) -> None:
    """Test the OAI-PMH repository at URL, and report its faults.

    Sends about 30 small requests, at least a second apart, and stores nothing. Every
    finding has the section of the specification, the request that repeats it, and what a
    harvest will do about it.

    Exit codes: 0 no fault; 1 faults; 3 no usable repository.
    """
    logging.getLogger("OAIPMH Harvester").setLevel(logging.ERROR)  # the report counts retries
    try:
        report = _probed(url, settings, budget)
    except RequestRefused as error:
        fail(str(error), ExitCode.USAGE)
    except EndpointError as error:
        fail(str(error), ExitCode.ENDPOINT)
    if as_json:
        print_json(report.to_json())
    else:
        click.echo(report.text())
    if report.has_faults:
        click.get_current_context().exit(ExitCode.LOSSES)


def _probed(url: str, settings: HttpSettings, budget: float) -> ProbeReport:
    polite = polite_settings(url, settings, budget)
    pace = Pace(polite.delay)
    exchanges: list[Exchange] = []
    with (
        HttpTransport(url, polite, pace=pace, on_exchange=exchanges.append) as transport,
        HttpTransport(url, replace(polite, post=True), pace=pace) as by_post,
        Console(stderr=True).status("") as status,
    ):
        probe = Probe(
            transport,
            transport.base_url,
            budget=budget,
            by_post=by_post,
            exchanges=exchanges,
            progress=lambda role: status.update(f"asking: {role}"),
        )
        return ProbeReport.of(probe.run())


def polite_settings(url: str, settings: HttpSettings, budget: float) -> HttpSettings:
    """Return the settings of a probe: two attempts, short pauses, a second between requests.

    Args:
        url: Hosts on loopback get requests without delay.
        settings: A longer delay in these stays.
        budget: Seconds for the whole probe; a single response may take a quarter.
    """
    longest = max(budget / 4, 5.0)
    return replace(
        settings,
        delay=settings.delay if is_loopback(url) else max(settings.delay, _DELAY),
        attempts=min(settings.attempts, 2),
        longest_pause=min(settings.longest_pause, 30.0),
        read_timeout=min(settings.read_timeout, longest),
        total_timeout=min(settings.total_timeout, longest),
    )


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine."""
    try:
        return addresses.is_loopback(urlsplit(url.strip()).hostname or "")
    except ValueError:
        return False
