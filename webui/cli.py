"""The commands `silo serve` and `silo demo`.

On Ctrl-C or SIGTERM, the page finishes the running requests and exits with 0.
"""

import contextlib
import functools
import getpass
import ipaddress
import logging
import os
import shlex
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from oaipmhprotocol import OAIError
from oaipmhprovider.server import SampleServer
from oaipmhscraper.errors import NoBaseURL, ScraperError
from oaipmhscraper.progress import display
from oaipmhscraper.receipt import HarvestInterrupted
from politeweb.addresses import is_loopback
from politeweb.listening import CannotListen, PortTaken
from recordsilo import Granary, Silo
from recordsilo.cli import ExitCode, example, fail
from recordsilo.commands.options import directory
from recordsilo.contributions import contributions
from recordsilo.demos import DemoPart
from recordsilo.disk.network_disks import refuse_network_disk
from recordsilo.errors import NotASilo, RecordSiloError, SiloNotFound, did_you_mean
from recordsilo.granary import is_granary
from recordsilo.silo import may_become_a_silo
from silowork.broker import Broker
from silowork.commands import broker_option, force_option
from silowork.embedded import EmbeddedWorker
from silowork.stop import Stop
from webui.app import create_app
from webui.demo import NotTheDemo, harvest_sample, sample_repository
from webui.http.messages import WsgiApp
from webui.http.security import LOOPBACK_NAMES, AddressPolicy
from webui.job_events import CLOSING
from webui.multi_silo import Shelf
from webui.people.accounts import account_names
from webui.people.authentication import Gate
from webui.server import PageServer, long_lived
from webui.site import SiteSettings

DEFAULT_PORT = 8080

_port_option = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"Port to listen on; 0 selects a free one. Default: {DEFAULT_PORT}, or a free one if it"
    " is in use.",
)


@click.command(epilog=example("silo serve myrepo", "silo serve myrepo --port 8090"))
@directory
@_port_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--allow-remote",
    is_flag=True,
    help="Allow other machines to connect; requires sign-in (silo user add).",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="A further host name the page answers to; may be repeated. Requires sign-in.",
)
@click.option("--sign-in", is_flag=True, help="Require sign-in on this machine, too.")
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="A reverse proxy in front, whose X-Forwarded-For and X-Forwarded-Proto are believed;"
    " may be repeated. Requires sign-in.",
)
@click.option(
    "--user-header",
    default="",
    metavar="HEADER",
    help="With --proxy: the header in which the proxy names who signed in with it.",
)
@click.option(
    "--oai",
    is_flag=True,
    help="Give the records to harvesters at /oai, by OAI-PMH and without sign-in, also where no"
    " manager has switched that on.",
)
@broker_option
@force_option
def serve(
    *,
    silo_dir: str,
    port: int | None,
    host: str,
    allow_remote: bool,
    names: tuple[str, ...],
    sign_in: bool,
    proxies: tuple[str, ...],
    user_header: str,
    oai: bool,
    broker: str,
    force: bool,
) -> None:
    """Serve the Silo DIR as a web page, to search and curate its records.

    DIR may also be a directory of Silos; each is then under /silos/NAME/. In a directory that is
    empty or does not exist, an empty Silo is made, and the page offers its first harvest; but not
    if another Silo beside it has nearly that name. In a terminal, the command asks before it makes
    one beside others.

    The page is at http://127.0.0.1:8080/ until Ctrl-C; http://localhost:8080/ works too.
    It can be started beside a harvest, and shows records as they arrive.
    """
    refuse_network_disk(silo_dir, forced=force)
    sign_in = sign_in or bool(names or proxies)
    policy = _policy(host, allow_remote=allow_remote, names=names)
    policy = _with_proxies(policy, proxies, user_header)
    settings = SiteSettings(
        agent=_user(), policy=policy, sign_in=sign_in, broker=broker, by_worker=True, oai=oai
    )
    if is_granary(silo_dir):
        _check_accounts(silo_dir, settings)
        _serve_shelf(silo_dir, host, port, replace(settings, on_shelf=True))
        return
    with _opened(silo_dir) as silo:
        silo.tell_removals()
        _check_accounts(silo_dir, settings)
        _serve(silo, host, port, settings)


def _opened(silo_dir: str) -> Silo:
    """Open a Silo; make an empty one of a directory that is empty or does not exist."""
    try:
        is_new = may_become_a_silo(silo_dir)
        if is_new and not os.path.exists(silo_dir):
            _check_meant(silo_dir)
        silo = Silo(silo_dir, create=is_new)
    except NotADirectoryError:
        fail(f"{silo_dir} is not a directory")
    except (NotASilo, SiloNotFound) as error:
        init, demo = (shlex.join(["silo", verb, silo_dir]) for verb in ("init", "demo"))
        fail(f"{error}; to make one: {init}, or {demo} with a sample repository")
    if is_new:
        click.echo(f"silo: there was no Silo in {silo_dir}; made an empty one", err=True)
    return silo


def _check_meant(silo_dir: str) -> None:
    """End the command where a name was probably mistyped; in a terminal, ask beside other Silos."""
    above, name = os.path.split(os.path.abspath(silo_dir))
    beside = Granary(above, create=False).silos if os.path.isdir(above) else []
    if meant := did_you_mean(name, beside):
        fail(f"there is no Silo in {silo_dir}{meant} To make an empty one: silo init {silo_dir}")
    if beside and sys.stdin.isatty():
        click.confirm(f"There is no Silo in {silo_dir}. Make an empty one?", abort=True, err=True)


def _check_accounts(directory: str, settings: SiteSettings) -> None:
    if settings.needs_sign_in and not account_names(directory):
        fail(
            "people sign in to this page, and there is no account yet; make one: "
            f"silo user add {directory} NAME --role manager"
        )


def _serve_shelf(directory: str, host: str, port: int | None, settings: SiteSettings) -> None:
    """Serve a directory of Silos, each under its own path; with one worker for all of them."""
    path, policy = os.path.abspath(directory), settings.policy
    gate = Gate.of(
        path, settings.agent, sign_in=settings.needs_sign_in, user_header=policy.user_header
    )
    shelf = Shelf(
        Granary(directory, create=False),
        lambda silo: create_app(silo, settings, gate.below()),
        policy,
        gate,
        oai=settings.oai,
    )
    with contextlib.closing(shelf), _worker(path, settings.broker):
        _run(shelf, directory, host, port)


def _policy(host: str, *, allow_remote: bool, names: tuple[str, ...]) -> AddressPolicy:
    if is_loopback(host):
        return AddressPolicy(LOOPBACK_NAMES | {name.lower() for name in names})
    if not allow_remote:
        fail(
            f"{host} can be reached from other machines; if that is meant, add --allow-remote, "
            "and an account for everybody who signs in: silo user add"
        )
    click.echo(
        f"silo: without a TLS proxy in front, passwords go to {host} as they are typed; "
        "anybody on the way can read them",
        err=True,
    )
    return AddressPolicy(
        LOOPBACK_NAMES | {host.lower(), *(name.lower() for name in names)}, remote=True
    )


def _with_proxies(
    policy: AddressPolicy, proxies: tuple[str, ...], user_header: str
) -> AddressPolicy:
    if user_header and not proxies:
        fail("--user-header needs --proxy: from anybody else the header would be believed as well")
    for address in proxies:
        try:
            ipaddress.ip_address(address)
        except ValueError:
            fail(f"--proxy takes the address of a machine, as 127.0.0.1; {address!r} is none")
    return replace(policy, proxies=frozenset(proxies), user_header=user_header.lower())


def _serve(silo: Silo, host: str, port: int | None, settings: SiteSettings) -> None:
    """Serve the Silo until stopped; with a worker, unless there is a broker."""
    threading.Thread(target=_warm, args=(silo,), daemon=True).start()
    with _worker(silo.path, settings.broker):
        _run(create_app(silo, settings), silo.storage_dir, host, port)


def _worker(path: str, broker: str) -> contextlib.AbstractContextManager[object]:
    """The worker of a Silo or a directory of Silos; none if a broker notifies workers."""
    return contextlib.nullcontext() if broker else EmbeddedWorker(Broker(path))


def _warm(silo: Silo) -> None:
    """Prepare the first search; what fails here is reported by that search."""
    with contextlib.suppress(RecordSiloError):
        silo.warm()


def _run(app: WsgiApp, name: str, host: str, port: int | None) -> None:
    try:
        with Stop().on_signals() as stop, long_lived(), _start(app, host, port) as server:
            click.echo(f"{name} is at {server.url} (stop with Ctrl-C)")
            sys.stdout.flush()
            stop.wait()
            CLOSING.set()
    except CannotListen as error:
        fail(str(error))
    click.echo("Stopped.")


def _start(app: WsgiApp, host: str, port: int | None) -> PageServer:
    if port is not None:
        return PageServer(app, host, port)
    try:
        return PageServer(app, host, DEFAULT_PORT)
    except PortTaken:
        server = PageServer(app, host, 0)
        click.echo(f"Port {DEFAULT_PORT} is taken by another program; {server.port} is free.")
        return server


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "page"


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
@_port_option
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
            _serve(silo, "127.0.0.1", port, SiteSettings(agent=_user(), by_worker=True))


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
