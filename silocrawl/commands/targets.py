"""The commands `silo crawl target add`, `list`, `show`, `schedule`, `pause`, `remove`, …"""

import getpass
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import click

from recordsilo import Silo
from recordsilo.cli import ExitCode, Group, example, fail
from recordsilo.commands.options import (
    all_of,
    directory,
    json_array,
    json_object,
    selecting,
    tell_none,
)
from recordsilo.errors import RecordSiloError
from recordsilo.remarks import unknown_fields
from recordsilo.selection import Selection
from recordsilo.wording import counted, minute
from silocrawl.commands.opening import ADD_TARGET, name_argument, opened, opened_queues
from silocrawl.errors import TargetRefused
from silocrawl.launching import launched
from silocrawl.scope import Scope, ScopeKind
from silocrawl.targets import (
    CrawlTarget,
    Limits,
    add_target,
    change_target,
    load_target,
    load_targets,
    records_said,
    remove_target,
    target_name_of,
    twin_of,
)
from silocrawl.watched import make_silo, silo_of
from silocrawl.wishes import (
    OFFERED,
    amount_of,
    as_object,
    free_name,
    size_text,
    state_said,
    texts_of,
    timetable_wished,
    when_said,
)
from silowork.queues.values import Queues

_SCOPES = [one.value for one in ScopeKind]
_USUAL = Limits()


class _Amount(click.ParamType[int]):
    """A whole number, with ``k``, ``M``, ``G`` or ``T`` for thousands."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Convert a value to a number; any other text fails the command."""
        try:
            return amount_of(str(value))
        except TargetRefused as error:
            self.fail(str(error), param, ctx)


@click.group(
    cls=Group,
    epilog=example(
        "silo crawl target add myrepo --search 'type:Thesis' --frequency monthly",
        "silo crawl target add myrepo https://example.org/reports/ --scope path",
        "silo crawl target list myrepo",
    ),
)
def target() -> None:
    """Choose what is crawled, how far, and when.

    A target is an address, or the links of the records that a search finds; it follows the
    search, so new records enter and deleted ones leave. `silo crawl run` fetches what is due.
    """


_NEW = {"frequency": "monthly", "start": "", "end": "", "zone": "UTC"}


def _timing(new: Mapping[str, str]) -> tuple[Any, ...]:
    """The options of a timetable.

    Args:
        new: What they are for a new target; empty for one that has a timetable.
    """
    now = " (default: now)" if new else ""
    return (
        click.option("--frequency", type=click.Choice(OFFERED), default=new.get("frequency"),
                     show_default=True, help="From the start on, at its time of day; weekly on "
                     "its weekday, monthly and rarer on its day of the month."),
        click.option("--start", default=new.get("start"), metavar="DATE",
                     help=f"Of the first launch: 2026-12-01, or 2026-12-01T02:00{now}."),
        click.option("--end", default=new.get("end"), metavar="DATE",
                     help="No launch from this date on."),
        click.option("--zone", default=new.get("zone"), show_default=True,
                     help="Time zone of days and times."),
    )  # fmt: skip


_extent = (
    click.option("--scope", type=click.Choice(_SCOPES), default="documents",
                 show_default=True, help="What belongs to a seed: the page; it and its documents; "
                 "what is below its directory; its host; its domain with subdomains."),
    click.option("--plus-one", is_flag=True, help="And what these pages link to, anywhere."),
    click.option("--render", is_flag=True, help="Have the seeds loaded by a browser."),
    click.option("--ignore", multiple=True, metavar="PATTERN",
                 help="Never fetch such addresses, as '*/calendar/*'; repeatable."),
    click.option("--pages", type=_Amount(), default=_USUAL.pages, help="Most addresses a seed."),
    click.option("--bytes", "most_bytes", type=_Amount(), default=_USUAL.bytes,
                 help="Most bytes a seed, as 2G."),
    click.option("--hours", type=click.IntRange(1, 24 * 366), default=_USUAL.seconds // 3600,
                 help="Longest time a seed."),
    click.option("--hops", type=click.IntRange(1, 1000), default=_USUAL.hops,
                 help="Most hops from a seed."),
)  # fmt: skip


@target.command(
    epilog=example(
        "silo crawl target add myrepo --search 'type:Thesis' --frequency monthly",
        "silo crawl target add myrepo --item 3002 --frequency once",
        "silo crawl target add myrepo https://example.org/reports/ --scope path --pages 20k",
    )
)
@directory
@click.argument("url", metavar="[URL]", default="")
@selecting
@click.option("--all", "everything", is_flag=True, help="The links of all records.")
@click.option("--title", default="", help="For people; the name is made of it.")
@all_of(*_timing(_NEW), *_extent)
def add(
    *, silo_dir: str, url: str, select: Selection, everything: bool, title: str, **given: Any
) -> None:
    """Add a target: URL, or the links of all records that are selected."""
    if bool(url) + (not select.is_everything) + everything != 1:
        fail("give an address, or choose records as with --search, or give --all", ExitCode.USAGE)
    with opened(silo_dir) as silo:
        select.check(silo)
        named = tuple(dict.fromkeys(map(silo.resolve, select.identifiers)))
        select = replace(select, identifiers=named)  # in full, as changes name them
        for remark in unknown_fields(select.query):
            end = "" if remark.endswith("?") else "."
            fail(
                f"no target was added: {remark}{end} To search for the words as they are, put"
                " them in quotes"
            )
        when = timetable_wished(given["frequency"], given["start"], given["end"], given["zone"])
        scope = Scope(ScopeKind(given["scope"]), given["plus_one"], given["ignore"])
        limits = Limits(given["pages"], given["most_bytes"], given["hours"] * 3600, given["hops"])
        name = target_name_of(title or url or records_said(select) or "links")
        name = name if title else free_name(silo.path, name)
        now = datetime.now(UTC).replace(microsecond=0)
        made = CrawlTarget(
            name,
            when,
            url,
            select,
            title,
            scope,
            limits,
            given["render"],
            agent=getpass.getuser(),
            made=now,
        )
        if not title and (twin := twin_of(silo.path, made)):
            fail(f"the target {twin} is the same: {made.seeds_said}; a second one needs a --title")
        add_target(silo.path, made)
        click.echo(f"{name}: {_seeds(silo, made)}; {state_said(None, made)}")


@target.command("list", epilog=example("silo crawl target list myrepo"))
@directory
@json_array
def list_targets(*, silo_dir: str, as_json: bool) -> int:
    """List the targets: name, what is crawled, scope, next and last launch (UTC).

    Exit code 1 if there are others that cannot be read.
    """
    with opened(silo_dir) as silo, opened_queues(silo) as queues:
        found, refused = load_targets(silo.path)
        if as_json:
            click.echo(json.dumps([as_object(queues, one) for one in found], indent=2))
        for one in () if as_json else found:
            texts = (one.name, _seeds(silo, one), _scope(one), state_said(queues, one))
            click.echo("\t".join(texts))
        if not found and not refused and not as_json:
            tell_none("targets", ADD_TARGET, silo_dir)
        for error in refused:
            click.echo(f"silo: {error}", err=True)
    return ExitCode.LOSSES if refused else ExitCode.OK


def _time(hours: int) -> str:
    """A time in words; whole days, from two on, are given as days."""
    days, rest = divmod(hours, 24)
    return counted(hours, "hour") if rest or days < 2 else counted(days, "day")


@target.command(epilog=example("silo crawl target show myrepo theses"))
@directory
@name_argument
@json_object
def show(*, silo_dir: str, name: str, as_json: bool) -> None:
    """Show a target: what is crawled, how far, when, and its last launch."""
    with opened(silo_dir) as silo, opened_queues(silo) as queues:
        one = load_target(silo.path, name)
        if as_json:
            click.echo(json.dumps(as_object(queues, one), indent=2))
            return
        limits = one.limits
        lines = {
            "title": one.title or one.name,
            "seeds": _seeds(silo, one),
            "scope": _scope(one),
            "rendered": "by a browser" if one.is_rendered else "",
            "ignored": ", ".join(one.scope.ignore),
            "limits": f"at most {limits.pages:,} addresses, {size_text(limits.bytes)} and"
            f" {_time(limits.seconds // 3600)} in a launch, and {limits.hops} hops from each seed",
            "when": when_said(one.when),
            "next": state_said(queues, one),
            "last": _last(queues, one),
            "watched": silo_of(silo.path, one.watched) if one.watched else "",
            "made": f"{minute(one.made)} by {one.agent or 'nobody'}",
        }
        for key, value in lines.items():
            if value:
                click.echo(f"{key:8} {value}")


@target.command(epilog=example("silo crawl target schedule myrepo theses --frequency quarterly"))
@directory
@name_argument
@all_of(*_timing({}))
def schedule(*, silo_dir: str, name: str, **given: str | None) -> None:
    """Change when a target is launched; options that are not given stay as they are."""
    changes = {key: text for key, text in given.items() if text is not None}
    if not changes:
        fail("nothing to change; give --frequency, --start, --end or --zone", ExitCode.USAGE)
    with opened(silo_dir) as silo, opened_queues(silo) as queues:
        before = load_target(silo.path, name).when
        texts = texts_of(before) | changes
        if not texts["frequency"]:
            fail(f"the target {name} has a timetable of its own; give --frequency", ExitCode.USAGE)
        when = replace(timetable_wished(**texts), is_paused=before.is_paused)
        one = change_target(silo.path, name, when=when)
        click.echo(f"{name}: {state_said(queues, one)}")


@target.command(epilog=example("silo crawl target pause myrepo theses"))
@directory
@name_argument
def pause(*, silo_dir: str, name: str) -> None:
    """Stop launching a target until it is resumed; addresses in the queue are still fetched."""
    _set_paused(silo_dir, name, paused=True)


@target.command(epilog=example("silo crawl target resume myrepo theses"))
@directory
@name_argument
def resume(*, silo_dir: str, name: str) -> None:
    """Launch a paused target again; launches that were missed are one."""
    _set_paused(silo_dir, name, paused=False)


def _set_paused(silo_dir: str, name: str, *, paused: bool) -> None:
    with opened(silo_dir) as silo, opened_queues(silo) as queues:
        when = replace(load_target(silo.path, name).when, is_paused=paused)
        one = change_target(silo.path, name, when=when)
        click.echo(f"{name}: {state_said(queues, one)}")


@target.command(epilog=example("silo crawl target watch myrepo reports reports-silo"))
@directory
@name_argument
@click.argument("into", metavar="SILO", type=click.Path(file_okay=False))
def watch(*, silo_dir: str, name: str, into: str) -> None:
    """Make records of the documents that are found below a target, in a SILO of their own.

    SILO is made if it is not there. Both Silos may be moved together.
    """
    with opened(silo_dir) as silo:
        if not into:
            raise TargetRefused("give the directory of the Silo that gets the records")
        watched = os.path.relpath(into, silo.path)
        replace(load_target(silo.path, name), watched=watched)  # refuses what cannot be watched
        make_silo(silo.path, watched)
        change_target(silo.path, name, watched=watched)
        click.echo(f"{name}: documents become records of {into}")


@target.command(epilog=example("silo crawl target unwatch myrepo reports"))
@directory
@name_argument
def unwatch(*, silo_dir: str, name: str) -> None:
    """Make no more records of a target's documents; those that were made stay."""
    with opened(silo_dir) as silo:
        change_target(silo.path, name, watched="")
        click.echo(f"{name}: documents are only archived")


@target.command(epilog=example("silo crawl target remove myrepo theses"))
@directory
@name_argument
def remove(*, silo_dir: str, name: str) -> None:
    """Delete a target; what was crawled stays, and addresses in the queue are still fetched."""
    with opened(silo_dir) as silo:
        remove_target(silo.path, name)
        click.echo(f"{name} removed")


# --------------------------------------------------------------------------- as texts


def _seeds(silo: Silo, one: CrawlTarget) -> str:
    """What is crawled, and of how many records that is now."""
    if one.url:
        return one.seeds_said
    try:
        now = f"{counted(one.select.total(silo), 'record')} now"
    except RecordSiloError as error:  # of the index, or of a record that is gone
        now = str(error)
    return f"{one.seeds_said} ({now})"


def _scope(one: CrawlTarget) -> str:
    return one.scope.kind.value + (" plus one" if one.scope.plus_one else "")


def _last(queues: Queues, one: CrawlTarget) -> str:
    last = launched(queues, one.name)
    return minute(last.due) if last.due else "never launched"
