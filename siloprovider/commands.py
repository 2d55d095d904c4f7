"""``silo provide``: a Silo as an OAI-PMH repository."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click

from oaipmhprovider.limits import ClientLimit
from oaipmhprovider.resourcesync.app import ResourceSyncApp
from oaipmhprovider.server import ProviderServer
from politeweb.listening import CannotListen
from politeweb.loopback import LOOPBACK
from recordsilo import Granary
from recordsilo.cli import example, fail, open_silo
from recordsilo.commands.options import directory
from recordsilo.errors import VERSION_FILE
from recordsilo.granary import is_granary
from recordsilo.wording import counted
from siloprovider.errors import ProvidingError
from siloprovider.providing import PATH, Provided, provided, provided_directory
from siloprovider.searches import check_searches
from siloprovider.settings import (
    CURRENT,
    MOST_RECORDS,
    READY,
    Branding,
    ProviderSettings,
    read_settings,
)
from silowork.stop import Stop


@click.command(
    epilog=example(
        "silo provide myrepo --email data@example.org",
        "silo provide myrepo --state ready --base-url https://data.example.org/oai",
        "silo provide myrepo --identifiers oai:data.example.org:",
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
@click.option("--state", type=click.Choice([CURRENT, READY]), help="Which version is given: the "
              "current one (the default), or the newest that is ready. A record whose current "
              "version is withheld, or a clone in work of such a version, is given as "
              "deleted.")  # fmt: skip
@click.option("--identifiers", metavar="PREFIX", help="Give each record an identifier of your own: "
              "oai:mine.example.org: and that of the source.")  # fmt: skip
@click.option("--rights", metavar="URL", help="Licence of the metadata.")
@click.option("--friend", "friends", multiple=True, metavar="URL",
              help="Base URL of another repository, for harvesters; repeatable.")  # fmt: skip
@click.option("--icon", metavar="URL", help="Picture of the collection.")
@click.option("--icon-link", metavar="URL", help="Where the picture leads to.")
@click.option("--searches", "all_searches", is_flag=True, default=None,
              help="Give each saved search as a set.")  # fmt: skip
@click.option("--saved", "searches", multiple=True, metavar="NAME",
              help="Give this saved search as a set; repeatable.")  # fmt: skip
@click.option("--page-size", type=click.IntRange(1, MOST_RECORDS),
              help="Records in a response, 100 by default.")  # fmt: skip
@click.option("--per-minute", type=click.IntRange(0), metavar="N", help="Most requests of a client "
              "in a minute, 600 by default; 0 for any number.")  # fmt: skip
def provide(
    *,
    silo_dir: str,
    port: int,
    base_url: str | None,
    name: str | None,
    emails: tuple[str, ...],
    state: str | None,
    identifiers: str | None,
    rights: str | None,
    friends: tuple[str, ...],
    icon: str | None,
    icon_link: str | None,
    all_searches: bool | None,
    searches: tuple[str, ...],
    page_size: int | None,
    per_minute: int | None,
) -> None:
    """Give the records of a Silo to harvesters, by OAI-PMH 2.0 and ResourceSync, until Ctrl-C.

    Every record is given as it is now, with the time of its last change here as its datestamp, in
    the formats that it has and in oai_dc. Records that were removed or are withheld are given as
    deleted.

    DIR may also be a directory of Silos: each is a set above its own sets, in one list over all.

    Settings that are not given here are those of curation/provider.toml.
    """
    _check_place(silo_dir)
    try:
        settings = read_settings(silo_dir)
        before = settings.branding or Branding("")
        branding = Branding(icon or before.icon, icon_link or before.link)
        settings = settings.with_(
            base_url=base_url,
            name=name,
            emails=emails or None,
            state=state,
            identifiers=identifiers,
            rights=rights,
            friends=friends or None,
            branding=branding if icon or icon_link else None,
            all_searches=all_searches,
            searches=searches or None,
            page_size=page_size,
            per_minute=per_minute,
        )
        with _provided(silo_dir, settings) as one:
            _serve(one, port, ClientLimit(settings.per_minute))
    except (ProvidingError, CannotListen) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{silo_dir} cannot be provided: {error.strerror or error}")


def _check_place(path: str) -> None:
    """Refuse what is there and can neither be a Silo nor have some."""
    if not os.path.exists(path) or is_granary(path):
        return
    if not os.path.exists(os.path.join(path, VERSION_FILE)):
        fail(
            f"{path} is neither a Silo nor a directory of Silos; "
            "name a Silo's directory, or one that has Silos in it"
        )


@contextmanager
def _provided(path: str, settings: ProviderSettings) -> Iterator[Provided]:
    if is_granary(path):
        with provided_directory(Granary(path, create=False), settings) as one:
            yield one
    else:
        with open_silo(path) as silo:
            check_searches(silo, settings)
            with provided(silo, settings) as one:
                yield one


def _serve(one: Provided, port: int, limit: ClientLimit) -> None:
    with Stop().on_signals() as stop:
        try:
            one.catch_up(lambda done: _told(done, stop))
        except _Ended:
            fail("ended before anything was provided; the next time begins again")
        server = ProviderServer(
            one.source,
            port,
            path=PATH,
            settings=one.settings,
            limit=limit,
            front=ResourceSyncApp,
        )
        with server:
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
