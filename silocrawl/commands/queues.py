"""The commands `silo crawl launch`, `inject` and `queue ls|peek|retry|dead`."""

import json
import os
from dataclasses import asdict
from typing import Any

import click

from recordsilo.cli import ExitCode, Group, example, fail, shown
from recordsilo.commands.options import (
    RenamedOption,
    directory,
    json_array,
    json_lines,
    quiet_option,
)
from recordsilo.extras import PackageMissing
from recordsilo.wording import counted, minute
from silocrawl.amqp.declaring import BrokerLost, BrokerQueue, sizes_at
from silocrawl.amqp.settings import URL, amqp_settings, has_amqp
from silocrawl.commands.opening import amqp_option, opened, opened_queues, tell_refused
from silocrawl.launching import Launch, inject, launch_due, launch_now
from silocrawl.messages import ALL_QUEUES, CRAWL, RENDER, gist_of
from silocrawl.sharing import broker_of, tell_targets
from silocrawl.targets import load_target, target_names
from silowork.queues.values import MessageState, Queued, QueueSize

_STATES = [one.value for one in MessageState]
_LONGEST_NUMBER = 19
"""Digits, from which on SQLite has no such number."""
queue_argument = click.argument("queue_name", metavar="QUEUE", type=click.Choice(ALL_QUEUES))


@click.command(epilog=example("silo crawl launch myrepo", "silo crawl launch myrepo theses"))
@directory
@click.argument("names", metavar="[NAME]…", nargs=-1)
@quiet_option
def launch(*, silo_dir: str, names: tuple[str, ...], quiet: bool) -> int:
    """Put the seeds of the targets that are due into the queue, or of those NAMEd, due or not.

    Nothing is fetched: a `silo crawl run` does that, which launches what is due without it.
    """
    refused: set[str] = set()
    with opened(silo_dir) as silo, opened_queues(silo) as queues:
        if broker_of(silo.path):
            tell_targets(silo.path, queues)
        if names:
            targets = [load_target(silo.path, name) for name in names]
            done = [launch_now(silo, queues, one) for one in targets]
        else:
            refused = tell_refused(silo)
            done = launch_due(silo, queues, told=set(refused))
        for one in () if quiet else done:
            click.echo(_said(one))
        if not done and not quiet:
            there = "nothing is due" if target_names(silo.path) else "no targets"
            click.echo(f"silo: {there}; see silo crawl target", err=True)
        return ExitCode.LOSSES if refused else ExitCode.OK


def _said(one: Launch) -> str:
    seeds = counted(one.seeds, "seed")
    refused = f"; {one.refused:,} links cannot be fetched" if one.refused else ""
    joined = "joined the launch of" if one.is_joined else "launched, due"
    return f"{one.target}: {seeds} {joined} {minute(one.due)}{refused}"


@click.command("inject", epilog=example("silo crawl inject myrepo https://example.org/a.pdf"))
@directory
@click.argument("urls", metavar="URL…", nargs=-1, required=True)
@click.option("--force", is_flag=True, help="Inject it even if it was injected before.")
@click.option("--source", default="", metavar="URL", help="The seed to record as its source.")
@click.option("--render", is_flag=True, help="Load them in a browser.")
def inject_command(
    *, silo_dir: str, urls: tuple[str, ...], force: bool, source: str, render: bool
) -> None:
    """Put single addresses into the queue."""
    queue_name = RENDER if render else CRAWL
    with opened(silo_dir) as silo, opened_queues(silo) as queues:
        put = inject(queues, urls, force=force, source=source, queue=queue_name)
        known = len(urls) - put
        rest = f"; {known:,} known already (--force fetches again)" if known else ""
        click.echo(f"{put:,} put into {queue_name}{rest}")


@click.group(cls=Group, epilog=example("silo crawl queue ls myrepo"))
def queue() -> None:
    """Look at the queues between the steps of crawls; looking never takes a message."""


@queue.command("ls", epilog=example("silo crawl queue ls myrepo"))
@directory
@amqp_option
@json_array
def ls(*, silo_dir: str, url: str, as_json: bool) -> int:
    """List the queues: waiting, later, taken and dead messages, and the age of the oldest.

    Of a RabbitMQ that they are bridged to, its queues are listed, too: messages that wait, and
    programs that take from it. Exit code 1 if it cannot be asked.
    """
    with opened(silo_dir) as silo, opened_queues(silo, changes=False) as queues:
        sizes = queues.sizes()
        there, problem = _at_broker(silo.path, url)
        rows = [(name, sizes.get(name, QueueSize())) for name in ALL_QUEUES]
        if as_json:
            found = [
                _object(name, size) | ({"at_broker": asdict(there[name])} if name in there else {})
                for name, size in rows
            ]
            click.echo(json.dumps(found, indent=2))
        else:
            _show(rows, there)
        if problem:
            fail(problem, ExitCode.LOSSES)
        return ExitCode.OK


def _at_broker(silo_path: str, url: str) -> tuple[dict[str, BrokerQueue], str]:
    """The queues at the broker, by those of ours; and why it cannot be asked."""
    if not (url or URL in os.environ or has_amqp(silo_path)):
        return {}, ""
    try:
        return {one.queue: one for one in sizes_at(amqp_settings(silo_path, url))}, ""
    except (BrokerLost, PackageMissing) as error:
        return {}, str(error)


def _show(rows: list[tuple[str, QueueSize]], there: dict[str, BrokerQueue]) -> None:
    click.echo(f"{'queue':32} {'waiting':>9} {'later':>9} {'taken':>7} {'dead':>7}  oldest")
    for name, size in rows:
        numbers = f"{size.waiting:9,} {size.later:9,} {size.taken:7,} {size.dead:7,}"
        click.echo(f"{name:32} {numbers}  {_age(size.oldest) if size.waiting else '-'}")
    if there:
        click.echo(f"{'at the broker':32} {'messages':>9} {'takers':>9}")
    for one in there.values():
        numbers = f"{one.messages:9,} {one.consumers:9,}" if one.is_there else "is not there"
        click.echo(f"{shown(one.name):32} {numbers}")


def _object(name: str, size: QueueSize) -> dict[str, Any]:
    parts = ("waiting", "later", "taken", "dead", "done")
    return {
        "queue": name,
        **{one: getattr(size, one) for one in parts},
        "oldest_seconds": round(size.oldest, 1),
    }


def _age(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


_most = click.option("-n", "--limit", "most", type=click.IntRange(1, 100_000), default=20,
                     cls=RenamedOption, earlier=["--most"], show_default=True,
                     help="Most messages.")  # fmt: skip


@queue.command("peek", epilog=example("silo crawl queue peek myrepo uris-to-crawl -n 3"))
@directory
@queue_argument
@_most
@click.option("--which", "state", type=click.Choice(_STATES), default=_STATES[0],
              show_default=True, help="Which messages.")  # fmt: skip
@json_lines
def peek(*, silo_dir: str, queue_name: str, most: int, state: str, as_json: bool) -> None:
    """Print messages of a queue, the oldest first, without taking them.

    Number, tries, hops from the seed (L link, E embed, R redirect, M sitemap), launch (of a
    document: record or watched target), address, and why it failed last. `--json` has all.

    Only of our queues: a RabbitMQ has no way to look at a message but to deliver it, and counts
    that as one of the deliveries after which it may throw the message away.
    """
    _print(silo_dir, queue_name, MessageState(state), most, as_json=as_json)


@queue.command("dead", epilog=example("silo crawl queue dead myrepo uris-to-crawl"))
@directory
@queue_argument
@_most
@json_lines
def dead(*, silo_dir: str, queue_name: str, most: int, as_json: bool) -> None:
    """Print the messages that failed too often, as `peek` does; `retry` revives them."""
    _print(silo_dir, queue_name, MessageState.DEAD, most, as_json=as_json)


def _print(silo_dir: str, name: str, state: MessageState, most: int, *, as_json: bool) -> None:
    with opened(silo_dir) as silo, opened_queues(silo, changes=False) as queues:
        found = queues.peek(name, state, most)
        if not found:
            click.echo(f"silo: no message of {name} is {state}", err=True)
        for one in found:
            click.echo(json.dumps(_message(one)) if as_json else _line(one))


def _line(one: Queued) -> str:
    gist = gist_of(one.body)
    known = (one.number, str(one.tries), gist.hops, gist.owner, gist.url)
    fields = [*(field or "-" for field in known), *([one.reason] if one.reason else [])]
    return "\t".join(shown(field.replace("\t", " ")) for field in fields)


def _message(one: Queued) -> dict[str, Any]:
    body = one.body.decode("utf-8", "replace")
    try:
        found = json.loads(body)
    except ValueError:
        found = body
    return {"number": one.number, "key": one.key, "tries": one.tries, "reason": one.reason,
            "message": found}  # fmt: skip


@queue.command("retry", epilog=example("silo crawl queue retry myrepo uris-to-crawl"))
@directory
@queue_argument
@click.argument("numbers", metavar="[NUMBER]…", nargs=-1)
def retry(*, silo_dir: str, queue_name: str, numbers: tuple[str, ...]) -> int:
    """Revive dead messages of a queue: all, or those of these NUMBERs.

    Exit code 2 if none of them is the number of one, 1 if some are not.
    """
    if not all(one.isdecimal() and len(one) < _LONGEST_NUMBER for one in numbers):
        fail("a number of a message has digits only; silo crawl queue dead prints them")
    with opened(silo_dir) as silo, opened_queues(silo) as queues:
        if not numbers:
            click.echo(f"{queues.revive(queue_name):,} revived")
            return ExitCode.OK
        known = dict.fromkeys(numbers)
        unknown = [one for one in known if not queues.revive(queue_name, [one])]
        if revived := len(known) - len(unknown):
            click.echo(f"{revived:,} revived")
        if unknown:
            fail(
                f"no dead message of {queue_name} has the number {', '.join(unknown)};"
                " silo crawl queue dead lists them",
                ExitCode.LOSSES if revived else ExitCode.USAGE,
            )
    return ExitCode.OK
