"""`silo fleet search`, `silo fleet index` and `silo fleet token`."""

import json
import os
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import asdict

import click

from recordsilo import Granary
from recordsilo.cells import csv_line, guarded, joined
from recordsilo.cli import ExitCode, example, fail, fitted, open_silo, shown
from recordsilo.commands import completion
from recordsilo.commands.options import (
    QueryCommand,
    filtering,
    json_object,
    print_json,
    quiet_option,
    remark_on,
)
from recordsilo.errors import VERSION_FILE, SearchError
from recordsilo.granary import is_granary
from recordsilo.index import SearchFilters
from recordsilo.index.typed_filters import filters_within
from recordsilo.progress import counting
from recordsilo.wording import counted
from silofleet.errors import FleetStateUnreadable, WishesInvalid
from silofleet.fleet import LOCAL
from silofleet.ledger import FleetLedger
from silofleet.search.errors import IndexNotWritten, TokenRefused
from silofleet.search.everywhere import Everywhere
from silofleet.search.feeding import feed
from silofleet.search.tokens import keep_token, make_token, remove_token
from silofleet.search.values import SORTS, AllSearch, HitPlace, SearchAnswer, SearchHit, fields
from silofleet.wishes import load_wishes, wishes_path

directory = click.argument("directory", metavar="DIR", shell_complete=completion.directories)
_COLUMNS = (
    "repository", "identifier", "title", "creators", "year", "types", "doi", "also_in",
)  # fmt: skip


@click.command(
    cls=QueryCommand,
    epilog=example(
        "silo fleet search many solar cells",
        "silo fleet search many 'creator:adeyemi -wind' --filter year=2019 --facet type",
        "silo fleet search many solar --filter repository=oxford --csv > found.csv",
    ),
)
@directory
@click.argument("words", nargs=-1)
@filtering
@click.option(
    "--facet", "facets", metavar="FIELD", multiple=True,
    help="Count the values of this field; repeatable.",
)  # fmt: skip
@click.option("--sort", metavar="ORDER", default=SORTS[0], show_default=True,
              help=f"{', '.join(SORTS)}, or a number that a package contributes (-NAME: greatest "
                   "first).")  # fmt: skip
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=25, show_default=True)
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Skip so many hits.")
@json_object
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def search(
    *, directory: str, words: tuple[str, ...], filters: SearchFilters, facets: tuple[str, ...],
    sort: str, limit: int, offset: int, as_json: bool, as_csv: bool,
) -> int:  # fmt: skip
    """Find records in all Silos of DIR by words and filters; silo help search has the syntax.

    The field repository has the names of the Silos. Records of one work, which several
    repositories have, are one hit, followed by "also in". A Silo that cannot be searched is
    named, and the exit code is 1.
    """
    if as_json and as_csv:
        fail("choose --json or --csv")
    granary = Granary(directory, create=False)
    everywhere = Everywhere(granary)
    try:
        query, filters = filters_within(" ".join(words), filters, known=fields())
        wanted = AllSearch(query, filters, sort, limit, offset, facets)
        if not everywhere.nodes:
            granary_at(directory)
        answer = everywhere.search(wanted)
    except (SearchError, WishesInvalid) as error:
        fail(str(error))
    for line in _printed(answer, as_json=as_json, as_csv=as_csv):
        click.echo(line)
    sys.stdout.flush()
    if not (as_json or as_csv):
        click.echo(_counted(answer), err=True)
    if granary.silos:
        with open_silo(f"{directory}/{granary.silos[0]}") as silo:
            found = bool(answer.total or answer.missing)
            remark_on(silo, wanted.words, SearchFilters(), found=found)
    for one in answer.missing:
        click.echo(shown(f"silo: {one.name} did not answer: {one.why}"), err=True)
    for node, number in sorted(_not_asked(granary, everywhere.nodes).items()):
        click.echo(
            f"silo: not searched: Silos on the node {node} ({number:,}); name its page in"
            f" fleet/endpoints.toml: [nodes.{node}] search",
            err=True,
        )
    return ExitCode.LOSSES if answer.missing else ExitCode.OK


def _not_asked(granary: Granary, asked: Collection[str]) -> Counter[str]:
    """Node whose page is not known → the Silos there that are not here."""
    directory = granary.dir_of_silos
    if not os.path.exists(os.path.join(directory, "fleet", "fleet.sqlite")):
        return Counter()
    known = {"", LOCAL, *asked}
    with suppress(FleetStateUnreadable, OSError), FleetLedger(directory, "read") as ledger:
        return Counter(
            one.node for one in ledger.facts()
            if (one.whole or one.records) and one.node not in known
            and not granary.issilo(one.name)
        )  # fmt: skip
    return Counter()


@click.command(name="index", epilog=example("silo fleet index many"))
@directory
@click.option("--rebuild", is_flag=True, help="Rebuild the index from all records.")
@json_object
@quiet_option
def index_command(*, directory: str, rebuild: bool, as_json: bool, quiet: bool) -> int:
    """Update the search index of all Silos of DIR.

    With the index, a search over all Silos takes milliseconds however many there are. Only what
    changed since the last time is read. Run it after harvests, for example every hour; if it is
    stopped, the same command continues.
    """
    granary = granary_at(directory)
    with counting("records fed", quiet=quiet) as progress:
        try:
            fed = feed(granary, rebuild=rebuild, progress=progress)
        except IndexNotWritten as error:
            fail(str(error), ExitCode.LOSSES)
    if as_json:
        missing = [{"name": one.name, "why": one.why} for one in fed.missing]
        print_json({**asdict(fed), "missing": missing})
    else:
        if fed.anew and not rebuild:
            click.echo(f"silo: the index was rebuilt: {fed.anew}", err=True)
        if not quiet:
            click.echo(
                f"{counted(fed.written, 'record')} written and {fed.removed:,} removed, "
                f"of {fed.changed:,} changed Silos of {fed.silos:,}"
            )
    for one in fed.missing:
        click.echo(shown(f"silo: {one.name} cannot be read: {one.why}"), err=True)
    return ExitCode.LOSSES if fed.missing else ExitCode.OK


@click.command(
    name="token",
    epilog=example("silo fleet token many", "silo fleet token many --of n2 < token-of-n2"),
)
@directory
@click.option("--of", "node", metavar="NODE", help="Keep the token of this node, to ask it.")
@click.option("--remove", is_flag=True, help="Remove the token instead.")
def token_command(*, directory: str, node: str | None, remove: bool) -> None:
    """Let a search over several nodes ask the page of DIR although it requires sign-in.

    Without --of, a new token of DIR is made and printed; an earlier one is not valid any more,
    and only a digest is kept. On the machine that asks, --of NODE keeps the token that was made
    on that node, from standard input. It allows the search of the Silos of DIR, nothing else.
    """
    if not (is_granary(directory) or os.path.isfile(wishes_path(directory))):
        fail(f"{directory} is not a directory of Silos")
    try:
        if remove:
            removed = remove_token(directory, node or "")
            click.echo("the token is removed" if removed else "there is no token")
        elif node is None:
            click.echo(make_token(directory))
        elif not load_wishes(directory).nodes.get(node, {}).get("search"):
            fail(f"fleet/endpoints.toml has no table [nodes.{node}] with search, the address of "
                 "its page")  # fmt: skip
        else:
            keep_token(directory, node, _given_token())
            click.echo(f"the token of {node} is kept")
    except (TokenRefused, WishesInvalid) as error:
        fail(str(error))


def _given_token() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("Token", hide_input=True, err=True)).strip()
    return sys.stdin.readline().strip()


def granary_at(path: str) -> Granary:
    """The existing directory of Silos at a path; ends the command if there is none."""
    granary = Granary(path, create=False)
    if os.path.exists(os.path.join(path, VERSION_FILE)):
        fail(f"{path} is a Silo, not a directory of Silos; to search it: silo search {path}")
    if os.path.exists(wishes_path(path)) and not granary.silos:
        fail(
            f"the fleet {path} has no Silos here yet; if they are on nodes, name their pages in"
            " [nodes] of fleet/endpoints.toml (silo help search)"
        )
    if not granary.silos:
        fail(f"{path} is not a directory of Silos: none of its directories is a Silo")
    return granary


def _printed(answer: SearchAnswer, *, as_json: bool, as_csv: bool) -> Iterator[str]:
    if as_json:
        yield json.dumps(answer.as_json(), ensure_ascii=False, indent=1)
    elif as_csv:
        yield csv_line(_COLUMNS, "")
        yield from (csv_line(_cells(hit), "") for hit in answer.hits)
    else:
        yield from (shown("\t".join(_texts(hit))) for hit in answer.hits)
        for name, values in answer.facets.items():
            if values:
                yield f"\n{name}"
                yield from (
                    shown(f"  {value.count:>9,}  {fitted(value.value, 13)}")
                    for value in values[:20]
                )


def _counted(answer: SearchAnswer) -> str:
    folded = f", {len(answer.hits):,} shown" if answer.has_more or answer.hits else ""
    return f"{answer.total:,} found in {counted(answer.asked, 'Silo')}{folded}"


def _texts(hit: SearchHit) -> Iterator[str]:
    yield from (_silo(hit.place), hit.place.identifier, hit.year, hit.title)
    if hit.also:
        yield f"also in {', '.join(map(_named, hit.also))}"


def _named(place: HitPlace) -> str:
    return f"{_silo(place)} {place.identifier}"


def _silo(place: HitPlace) -> str:
    return f"{place.node}:{place.silo}" if place.node else place.silo


def _cells(hit: SearchHit) -> tuple[str, ...]:
    also = joined(map(_named, hit.also))
    lists = joined(hit.creators), joined(hit.types)
    texts = (
        _silo(hit.place),
        hit.place.identifier,
        hit.title,
        lists[0],
        hit.year,
        lists[1],
        hit.doi,
    )
    return tuple(map(guarded, (*texts, also)))
