"""The command `silo star-many`: a queue with two steps."""

import os
from collections.abc import Callable, Iterable
from functools import partial

import click

from example_sibling.stars import give_stars
from recordsilo import Silo
from recordsilo.cli import ExitCode, example, open_silo
from recordsilo.commands.options import directory
from silowork.queues.opening import open_queues
from silowork.queues.steps import MessageRefused, QueueStep, run_steps
from silowork.queues.values import Message, MessageState, Queued, Queues
from silowork.stop import Stop


def _check(silo_path: str, message: Queued) -> Iterable[Message]:
    with Silo(silo_path, create=False) as silo:
        if message.key not in silo:
            raise MessageRefused("there is no such record")
    return [Message("stars-to-give", message.body, message.key)]


def _give(silo_path: str, message: Queued) -> Iterable[Message]:
    give_stars(silo_path, {message.key: int(message.body)})
    return []


@click.command("star-many", epilog=example("silo star-many myrepo 5 6102 6103"))
@directory
@click.argument("number", type=click.IntRange(0, 5))
@click.argument("identifiers", nargs=-1, required=True)
@click.option("--broker", default="", help="A Redis with the queue, for workers on many machines.")
def star_many(silo_dir: str, number: int, identifiers: tuple[str, ...], broker: str) -> int:
    """Give stars to records. The same command goes on after it was killed."""
    with open_silo(silo_dir) as silo:
        path = silo.path
    asked = [Message("stars-to-check", b"%d" % number, name) for name in identifiers]
    return carry_out(path, lambda queues: queues.put(asked), broker)


def carry_out(path: str, put: Callable[[Queues], object], broker: str = "") -> int:
    """Put messages, and take every step until the queue is empty; return the exit code."""
    opened = partial(open_queues, os.path.join(path, "curation", "stars.sqlite"), broker)
    steps = [
        QueueStep("stars-to-give", partial(_give, path)),
        QueueStep("stars-to-check", partial(_check, path)),
    ]
    with opened() as queues, Stop().on_signals() as stop:
        put(queues)
        run_steps(opened, steps, 1, stop, until_empty=True)
        refused = queues.peek("stars-to-check", MessageState.DEAD)
    for one in refused:
        click.echo(f"{one.key}: {one.reason}", err=True)
    if stop.asked:
        return ExitCode.INTERRUPTED if stop.interrupted else ExitCode.STOPPED
    return ExitCode.LOSSES if refused else ExitCode.OK
