"""``silo provide``: a Silo as an OAI-PMH repository."""

import getpass
import socket

import click

from oaipmhprovider.provider import Settings
from oaipmhprovider.server import PATH, ProviderServer
from politeweb.listening import CannotListen
from politeweb.loopback import LOOPBACK
from recordsilo import Silo
from recordsilo.cli import example, fail, open_silo
from recordsilo.commands.options import directory
from recordsilo.repository import Repository
from recordsilo.wording import counted
from siloprovider.errors import ProvidingError
from siloprovider.source import Identity, SiloSource
from silowork.stop import Stop


@click.command(
    epilog=example(
        "silo provide myrepo --email data@example.org",
        "silo provide myrepo --state ready --base-url https://data.example.org/oai",
    )
)
@directory
@click.option("--port", type=click.IntRange(0, 65535), default=8082, show_default=True,
              help="Port on 127.0.0.1; 0 chooses a free one.")  # fmt: skip
@click.option("--base-url", metavar="URL", help="The address for harvesters, where a web server "
              "in front of this passes requests on.")  # fmt: skip
@click.option("--name", metavar="TEXT", help="Name of the repository; by default that of the "
              "harvested one.")  # fmt: skip
@click.option("--email", "emails", multiple=True, metavar="ADDRESS",
              help="Address of who looks after the repository; repeatable.")  # fmt: skip
@click.option("--state", type=click.Choice(["current", "ready"]), default="current",
              show_default=True, help="Which version is given: the current one, or the newest that "
              "is ready. What is withheld is given as deleted.")  # fmt: skip
@click.option("--page-size", type=click.IntRange(1, 1000), default=100, show_default=True,
              help="Records in a response.")  # fmt: skip
def provide(
    *,
    silo_dir: str,
    port: int,
    base_url: str | None,
    name: str | None,
    emails: tuple[str, ...],
    state: str,
    page_size: int,
) -> None:
    """Give the records of a Silo to harvesters, by OAI-PMH 2.0, until Ctrl-C.

    Every record is given as it is now, with the time of its last change here as its datestamp, in
    the formats that it has and in oai_dc. Records that were removed or are withheld are given as
    deleted.
    """
    with open_silo(silo_dir) as silo:
        identity = Identity(name or _name_of(silo), emails or (_own_address(),))
        source = SiloSource(silo, identity, only_ready=state == "ready")
        try:
            with source:
                _serve(source, port, Settings(base_url=base_url, page_size=page_size))
        except (ProvidingError, CannotListen) as error:
            fail(str(error))


def _serve(source: SiloSource, port: int, settings: Settings) -> None:
    with Stop().on_signals() as stop:
        try:
            source.items.catch_up(lambda done: _told(done, stop))
        except _Ended:
            fail("ended before anything was provided; the next time begins again")
        with ProviderServer(source, port, settings=settings) as server:
            click.echo(f"http://{LOOPBACK}:{server.port}{PATH}")
            while not stop.asked:
                stop.wait(1.0)


class _Ended(Exception):
    """The command was asked to end."""


def _told(done: int, stop: Stop) -> None:
    if stop.asked:
        raise _Ended
    if done % 100_000 == 0:
        click.echo(f"{counted(done, 'record')} looked at", err=True)


def _name_of(silo: Silo) -> str:
    return Repository(silo.path).name or "Silo"


def _own_address() -> str:
    return f"{getpass.getuser()}@{socket.getfqdn()}"
