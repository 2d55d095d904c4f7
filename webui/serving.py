"""What `silo serve` does: open what is served, start the page and a worker, until stopped."""

import contextlib
import getpass
import ipaddress
import os
import shlex
import sys
import threading
from dataclasses import replace

import click

from politeweb.addresses import is_loopback
from politeweb.listening import CannotListen, PortTaken
from recordsilo import Granary, Silo
from recordsilo.cli import fail
from recordsilo.errors import NotASilo, RecordSiloError, SiloNotFound, did_you_mean
from recordsilo.granary import is_granary
from recordsilo.silo import may_become_a_silo
from silowork.broker import Broker
from silowork.embedded import EmbeddedWorker
from silowork.stop import Stop
from webui.app import create_app
from webui.http.messages import WsgiApp
from webui.http.security import LOOPBACK_NAMES, AddressPolicy
from webui.job_events import CLOSING
from webui.multi_silo import Shelf
from webui.people.accounts import account_names
from webui.people.authentication import Gate
from webui.server import PageServer, long_lived
from webui.site import SiteSettings

DEFAULT_PORT = 8080


def serve_directory(
    silo_dir: str,
    host: str,
    port: int | None,
    *,
    allow_remote: bool,
    names: tuple[str, ...],
    sign_in: bool,
    proxies: tuple[str, ...],
    user_header: str,
    oai: bool,
    broker: str,
) -> None:
    """Serve a Silo, or a directory of Silos, until stopped.

    Args:
        silo_dir: The directory; an empty Silo is made if it is empty or does not exist.
        host, port: Where to listen; None for the default port, or a free one if it is in use.
        allow_remote, names, sign_in, proxies, user_header, oai, broker: The options of the
            command.

    Raises:
        CommandFailure: It cannot be served; the message says why.
    """
    sign_in = sign_in or bool(names or proxies)
    policy = _policy(host, allow_remote=allow_remote, names=names)
    policy = _with_proxies(policy, proxies, user_header)
    settings = SiteSettings(
        agent=agent_of_page(), policy=policy, sign_in=sign_in, broker=broker, by_worker=True,
        oai=oai,
    )  # fmt: skip
    if is_granary(silo_dir):
        _check_accounts(silo_dir, settings)
        _serve_shelf(silo_dir, host, port, replace(settings, on_shelf=True))
        return
    with _opened(silo_dir) as silo:
        silo.tell_removals()
        _check_accounts(silo_dir, settings)
        serve_silo(silo, host, port, settings)


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


def serve_silo(silo: Silo, host: str, port: int | None, settings: SiteSettings) -> None:
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


def agent_of_page() -> str:
    """Who changes records on a page without sign-in."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "page"
