"""`silo usage work` and `silo usage follow`: log lines, as they are written."""

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import click

from recordsilo.cli import ExitCode, example, fail
from recordsilo.commands.options import directory
from recordsilo.wording import counted
from silosteps.inputs import GZIP, ZSTD
from silowork.stop import Stop
from usagestats.commands.group import opened
from usagestats.commands.trying import log_format, profile
from usagestats.live.line_processor import KINDS, UNREADABLE, LineProcessor
from usagestats.live.queue import DEFAULT_QUEUE, Queue, QueueUnusable
from usagestats.live.workers import Intervals, follow_here, follow_into_queue, run_worker

_Decorator = Callable[[Callable[..., int]], Callable[..., int]]
_redis = click.option(
    "--redis", "redis_url", metavar="URL", envvar="SILO_REDIS",
    help="Redis with the queue, such as redis://host/0 [also: SILO_REDIS].",
)  # fmt: skip
_queue = click.option(
    "--queue", "queue_name", default=DEFAULT_QUEUE, show_default=True, metavar="NAME",
    help="Name of the queue.",
)  # fmt: skip


def _seconds(name: str, default: float | None, least: float, text: str) -> _Decorator:
    """Return an option that takes seconds."""
    return click.option(
        name, type=click.FloatRange(min=least), default=default,
        show_default=default is not None, metavar="SECONDS", help=text,
    )  # fmt: skip


_count = _seconds("--count-every", 60.0, 0.1, "Seconds between two counts.")


@click.command(epilog=example("silo usage work myrepo --redis redis://redis/0"))
@directory
@_redis
@_queue
@log_format
@profile
@_count
@_seconds("--gather", 1.0, 0, "Work on the lines of this many seconds together.")
@_seconds("--claim-after", 60.0, 0.05, "Take over the lines of a worker silent for this long.")
@_seconds("--until-idle", None, 0.1, "End after this long without a line; else run until stopped.")
def work(
    silo_dir: str, *, redis_url: str | None, queue_name: str, log_format: str | None,
    profile: str | None, count_every: float, gather: float, claim_after: float,
    until_idle: float | None,
) -> int:  # fmt: skip
    """Take log lines from the queue, sort them into logs, and count them.

    Any number of workers may run. One that is killed loses no line: another one takes it over.
    """
    if not redis_url:
        fail("name the Redis with the queue: --redis redis://host/0")
    stop, done = Stop(), Counter[str]()
    with opened(silo_dir), stop.on_signals():
        queue = Queue(redis_url, queue_name, claim_after)
        processor = LineProcessor(silo_dir, profile or "", log_format or "")
        try:
            done = run_worker(queue, processor, stop, Intervals(gather, count_every, until_idle))
        except QueueUnusable as error:
            fail(str(error), ExitCode.ENDPOINT)
        finally:
            processor.close()
            queue.close()
    return _ended(done, stop)


@click.command(epilog=example("silo usage follow myrepo /var/log/apache2/access.log"))
@directory
@click.argument("log", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@_redis
@_queue
@log_format
@profile
@_count
@click.option("--until-end", is_flag=True, help="End at the end of the file; else wait for more.")
def follow(
    silo_dir: str, log: str, *, redis_url: str | None, queue_name: str, log_format: str | None,
    profile: str | None, count_every: float, until_end: bool,
) -> int:  # fmt: skip
    """Follow a log FILE as it grows, over rotation, and count its lines.

    With --redis, the lines go into the queue for workers; else they are worked on here.
    The same command continues where it ended.
    """
    if redis_url and profile:
        fail("with --redis, silo usage work decides what an address means: give it the --profile")
    path = os.path.realpath(log)
    with open(path, "rb") as file:
        if file.read(4).startswith((GZIP, ZSTD)):
            fail(f"{log} is compressed and does not grow; silo usage import counts it")
    stop, done = Stop(), Counter[str]()
    more: dict[str, Any] = {"until_end": until_end, "lost": lambda: _say_lost(silo_dir, path)}
    with opened(silo_dir), stop.on_signals():
        if redis_url:
            queue = Queue(redis_url, queue_name)
            try:
                lines = follow_into_queue(path, queue, log_format or "", stop, **more)
            except QueueUnusable as error:
                fail(str(error), ExitCode.ENDPOINT)
            finally:
                queue.close()
            click.echo(f"{counted(lines, 'line')} into {queue_name}", err=True)
            return _ended(None, stop)
        processor = LineProcessor(silo_dir, profile or "", log_format or "")
        try:
            intervals = Intervals(count=count_every)
            done = follow_here(path, processor, log_format or "", stop, intervals, **more)
        finally:
            processor.close()
    return _ended(done, stop)


def _say_lost(silo_dir: str, path: str) -> None:
    click.echo(
        f"silo: the log that {path} was before has been moved away; what is missing of it is "
        f"counted by: silo usage import {silo_dir} LOG",
        err=True,
    )


def _ended(done: Counter[str] | None, stop: Stop) -> int:
    if done is not None:
        click.echo(", ".join(f"{done[kind]:,} {kind}" for kind in KINDS), err=True)
    if stop.asked:
        return ExitCode.INTERRUPTED if stop.interrupted else ExitCode.STOPPED
    return ExitCode.LOSSES if done and done[UNREADABLE] else ExitCode.OK
