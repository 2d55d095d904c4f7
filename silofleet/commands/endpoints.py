"""The commands that make a fleet and change its endpoints."""

import os
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import click

from oaipmhclient.walk.windows import read_length
from politeweb.errors import RequestRefused
from recordsilo.cli import ExitCode, example, fail
from recordsilo.commands import completion
from recordsilo.commands.options import confirm, yes_option
from recordsilo.progress import counting
from recordsilo.wording import counted
from silofleet.commands.group import directory, endpoint_names, opened, told
from silofleet.errors import FleetRefused
from silofleet.fleet import make_fleet
from silofleet.lists import FORMS, MOST_BYTES, Listed, check_prefixes, name_of, read_list
from silofleet.values import Endpoint
from silofleet.wishes import address_of, wishes_path
from silowork.due.hours import Hours, hours_of
from silowork.due.timetable import duration_of
from silowork.errors import JobRefused

MOST_REFUSED = 20
"""Lines of a list that are named when they are refused."""
LONG = 500_000
"""Bytes of a list, from which on it takes more than a second."""
names_argument = click.argument(
    "names", metavar="NAME…", nargs=-1, required=True, shell_complete=endpoint_names
)


@click.command(epilog=example("silo fleet init many"))
@directory
def init(directory: str) -> None:
    """Make DIR a fleet: a directory of Silos that are harvested again and again.

    DIR is created if it does not exist. A fleet that exists stays as it is.
    """
    with told():
        make_fleet(directory)
    click.echo(f"{directory} is a fleet; add repositories: silo fleet add {directory} URL|FILE")


def _read_as(
    reader: Callable[[str], timedelta | Hours],
) -> Callable[[click.Context, click.Parameter, str], timedelta | Hours | None]:
    """A callback that reads the text of an option; None for the empty one."""

    def read(_ctx: click.Context, _param: click.Parameter, text: str) -> timedelta | Hours | None:
        try:
            return reader(text) if text else None
        except JobRefused as error:
            raise click.BadParameter(str(error)) from None

    return read


def _length(_ctx: click.Context, _param: click.Parameter, text: str) -> timedelta | None:
    try:
        return read_length(text) if text else None
    except RequestRefused as error:
        raise click.BadParameter(str(error)) from None


@click.command(
    epilog=example(
        "silo fleet add many https://eprints.example.org/cgi/oai2",
        "silo fleet add many endpoints.txt --every 2d --tag 2026",
        "silo fleet add many providers.csv --as csv",
        "silo fleet add many https://pmc.example.org/oai --window 30d --spread",
    )
)
@directory
@click.argument("what", metavar="URL|FILE", shell_complete=completion.files)
@click.option(
    "--as", "form", type=click.Choice(FORMS),
    help="Form of the file; by default it is guessed. lines has one URL a line, csv columns with"
    " names (url, name, set, prefix, every, tags).",
)  # fmt: skip
@click.option(
    "--every", callback=_read_as(duration_of), default="", metavar="TIME", help="As 12h or 2d."
)
@click.option("--set", "sets", multiple=True, metavar="SET", help="Only this set; repeatable.")
@click.option(
    "-p", "--prefix", "prefixes", multiple=True, metavar="FORMAT",
    shell_complete=completion.prefixes,
    help="Metadata format; repeatable. Default: oai_dc.",
)  # fmt: skip
@click.option(
    "--depth", type=click.Choice(["records", "pages"]),
    help="Store records, or keep only the responses.",
)  # fmt: skip
@click.option(
    "--tag", "tags", multiple=True, metavar="WORD", help="A word of your own; repeatable."
)
@click.option(
    "--window", callback=_length, default="", metavar="LENGTH",
    help="Length of the periods by which to request the list: 12h, 14d, 2w, 6m, 1y.",
)  # fmt: skip
@click.option(
    "--spread", "is_spread", is_flag=True,
    help="For a very large repository: send several requests at once, also from other nodes.",
)  # fmt: skip
@click.option(
    "--hours", callback=_read_as(hours_of), default="", metavar="HOURS",
    help="As '20:00-06:00 Asia/Jakarta'.",
)  # fmt: skip
@click.option("--node", default="", help="The node for its Silo; by default the fleet chooses.")
@click.option("--name", default="", help="Name of the Silo of one URL; by default from the URL.")
def add(*, directory: str, what: str, form: str | None, name: str, **given: Any) -> int:
    """Add repositories to the fleet DIR: one by its URL, or all of a list, in a FILE or - for
    standard input.

    No repository is contacted. Endpoints already in the fleet are unchanged, whatever the options.
    Lines that name no endpoint are printed, and the exit code is 1; it is 1, too, if a list has
    no endpoint.
    """
    with opened(directory) as fleet:
        taken = set(fleet.wishes.endpoints)
        if "://" in what:
            url = address_of(what)
            listed = Listed([Endpoint(name or name_of(url, taken), url)], [], 0)
        elif name:
            raise click.UsageError("--name is for one URL; a table may have a column name")
        else:
            listed = _listed(what, form, taken)
        wanted, defaults = _options(given), fleet.wishes.defaults
        new, old = fleet.add(
            [replace(one, **_unsaid(one, defaults) | wanted) for one in listed.endpoints]
        )
        count = len(fleet.wishes.endpoints)
        known = f", {len(old):,} known already" if old else ""
        if len(old) == 1:
            known += f" as {fleet.known_as(old[0])}"
    click.echo(f"{len(new):,} added{known}; the fleet has {counted(count, 'endpoint')}")
    if old and (wanted or name):
        click.echo(f"What is known stays as it is; to change it: {wishes_path(directory)}")
    if not (new or old or listed.refused):
        click.echo(f"silo: {what} has no addresses", err=True)
        return ExitCode.LOSSES
    for where, reason in listed.refused[:MOST_REFUSED]:
        click.echo(f"silo: {where}: {reason}", err=True)
    if len(listed.refused) > MOST_REFUSED:
        click.echo(f"silo: and {len(listed.refused) - MOST_REFUSED:,} more", err=True)
    return ExitCode.LOSSES if listed.refused else ExitCode.OK


def _unsaid(one: Endpoint, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of the file for what the list says nothing of."""
    plain = Endpoint("", "")
    return {
        key: value for key, value in defaults.items() if getattr(one, key) == getattr(plain, key)
    }


def _options(given: dict[str, Any]) -> dict[str, Any]:
    wanted = {key: value for key, value in given.items() if value}
    check_prefixes(wanted.get("prefixes", ()))
    for key in {"sets", "tags"} & wanted.keys():
        if "" in wanted[key]:
            raise FleetRefused("the name of a set and a tag cannot be empty")
    return wanted


def _listed(what: str, form: str | None, taken: Collection[str]) -> Listed:
    content = _content(what)
    with counting("endpoints read", quiet=len(content) < LONG) as show:
        found = read_list(content, form or "", taken, show)
    if len(content) >= LONG:
        click.echo(f"{len(found.endpoints):,} endpoints are being added", err=True)
    return found


def _content(what: str) -> bytes:
    if what == "-":
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    try:
        with open(what, "rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        fail(
            f"{what} cannot be read: {error.strerror}; give a file, or an address that begins"
            " with http:// or https://"
        )


@click.command(epilog=example("silo fleet pause many oxford --resume"))
@directory
@names_argument
@click.option("--resume", is_flag=True, help="Let them run again.")
def pause(directory: str, names: tuple[str, ...], *, resume: bool) -> None:
    """Start no runs of the endpoints NAME of the fleet DIR; a run at work goes on."""
    with opened(directory) as fleet:
        for wish in fleet.change_all(names, is_paused=not resume):
            click.echo(f"{wish.name}: {'resumed' if resume else 'paused'}")


@click.command(epilog=example("silo fleet quarantine many oxford --release"))
@directory
@names_argument
@click.option("--release", is_flag=True, help="Let them run again, now.")
def quarantine(directory: str, names: tuple[str, ...], *, release: bool) -> None:
    """Ask the endpoints NAME of the fleet DIR only once a month whether they answer.

    Endpoints that fail too often are quarantined automatically and released as soon as they
    answer.
    """
    with opened(directory) as fleet:
        for name in [fleet.name_of(name) for name in names]:
            fleet.quarantine(name, release=release)
            click.echo(f"{name}: {'released' if release else 'quarantined'}")


@click.command("run-now", epilog=example("silo fleet run-now many oxford"))
@directory
@names_argument
def run_now(directory: str, names: tuple[str, ...]) -> None:
    """Run the endpoints NAME of the fleet DIR next, whatever their schedule says.

    One that is paused runs once, and stays paused.
    """
    with opened(directory) as fleet:
        for name in fleet.run_now(names):
            is_paused = fleet.wishes.endpoints[name].is_paused
            after = ", and stays paused" if is_paused else ""
            click.echo(f"{name}: runs next, as soon as silo fleet run has a slot{after}")


@click.command(epilog=example("silo fleet remove many oxford"))
@directory
@names_argument
@click.option("--with-silos", is_flag=True, help="Delete their Silos, too, for good.")
@yes_option
def remove(directory: str, names: tuple[str, ...], *, with_silos: bool, yes: bool) -> None:
    """Remove the endpoints NAME from the fleet DIR; their Silos stay."""
    with opened(directory) as fleet:
        if with_silos:
            named = ", ".join(fleet.name_of(name) for name in names)
            confirm(f"Delete for good: {named}, each with its Silo?", yes=yes)
        for name, had_silo in fleet.remove(names, with_silos=with_silos).items():
            path = fleet.silo_path(name)
            if with_silos:
                ending = " with its Silo" if had_silo else "; it had no Silo"
            else:
                ending = f"; its Silo {path} stays" if os.path.isdir(path) else ""
            click.echo(f"{name}: removed{ending}")


@click.command(epilog=example("silo fleet accept many oxford"))
@directory
@names_argument
def accept(directory: str, names: tuple[str, ...]) -> None:
    """Accept that the endpoints NAME of the fleet DIR list fewer records than before.

    They are suspicious until then; their next runs, which come at once, take the list as it is.
    """
    with opened(directory) as fleet:
        for name in [fleet.name_of(name) for name in names]:
            fleet.accept(name)
            click.echo(f"{name}: accepted")


@click.command(
    epilog=example(
        "silo fleet readdress many oxford",
        "silo fleet readdress many oxford https://ora.example.org/oai",
    )
)
@directory
@click.argument("name", shell_complete=endpoint_names)
@click.argument("url", metavar="[URL]", default="")
@click.option("--to", "to", default="", metavar="URL", help="The same as URL.")
def readdress(directory: str, name: str, url: str, to: str) -> None:
    """Give the endpoint NAME of the fleet DIR the address URL.

    By default that is the address that it redirects to.

    Its Silo is harvested from the new address from then on.
    """
    if url and to:
        fail("give the new address once: as URL, or with --to")
    with opened(directory) as fleet:
        line = fleet.line(name)
        url = url or to or line.facts.moved_to
        if not url:
            fail(
                f"{line.endpoint.name} does not redirect; give its new address: silo fleet"
                f" readdress {directory} {line.endpoint.name} URL"
            )
        url = address_of(url)
        fleet.readdress(line.endpoint.name, url)
        click.echo(f"{line.endpoint.name}: {url}")
