"""The command `silo crawl bridge`."""

from contextlib import nullcontext

import click

from recordsilo.cli import ExitCode, example
from recordsilo.commands.options import directory, quiet_option
from recordsilo.wording import counted
from silocrawl.amqp.bridge import Bridge, BridgeSummary
from silocrawl.amqp.settings import AmqpRefused, amqp_settings
from silocrawl.commands.opening import amqp_option, opened, opened_queues, say_on_stderr
from silocrawl.sharing import broker_of, fetching_alone
from silowork.stop import Stop


@click.command(
    epilog=example(
        "silo crawl bridge myrepo --amqp amqp://silo@mq.example.org/crawl",
        "AMQP_URL=amqp://silo:secret@localhost/ silo crawl bridge myrepo --only in",
    )
)
@directory
@amqp_option
@click.option("--only", type=click.Choice(["out", "in"]), default=None,
              help="Pass messages in this direction only.")  # fmt: skip
@click.option("--until-idle", is_flag=True, help="End when nothing waits, and nothing comes.")
@quiet_option
def bridge(*, silo_dir: str, url: str, only: str | None, until_idle: bool, quiet: bool) -> int:
    """Pass messages between the queues and a RabbitMQ, until interrupted.

    Out goes uris-to-crawl, as Heritrix takes addresses; in come uris-to-index and
    documents-to-catalogue. A password is in AMQP_URL, in your netrc, or in crawling/amqp.toml if
    only you may read it, which also has other names of exchange and queues. What comes and is
    invalid is a dead letter (silo crawl queue dead).

    While addresses go out, no run fetches them; a run bridges by itself if there is a
    crawling/amqp.toml.
    """
    stop = Stop()
    with opened(silo_dir) as silo:
        settings = amqp_settings(silo.path, url).only(only or "")
        is_alone = bool(settings.out) and not broker_of(silo.path)
        with (
            opened_queues(silo) as queues,
            fetching_alone(silo.path) if is_alone else nullcontext(True) as is_free,
            stop.on_signals(),
        ):
            if not is_free:
                raise AmqpRefused(
                    f"another process takes the addresses of {silo_dir}; end it, or give --only in;"
                    " a run bridges by itself if there is a crawling/amqp.toml"
                )
            done = Bridge(queues, settings, say_on_stderr).run(stop, until_idle=until_idle)
    if not quiet:
        click.echo(_said(done))
    if stop.asked:
        return ExitCode.INTERRUPTED if stop.interrupted else ExitCode.STOPPED
    return ExitCode.LOSSES if done.refused else ExitCode.OK


def _said(one: BridgeSummary) -> str:
    known = f" ({one.came - one.new:,} known already)" if one.came > one.new else ""
    dead = f"; {counted(one.refused, 'dead letter')}" if one.refused else ""
    return f"{one.sent:,} out, {one.came:,} in{known}{dead}"
