"""`silo usage visitors flatten` and `silo usage visitors profile`."""

from collections.abc import Callable
from typing import Any

import click

from recordsilo.cli import ExitCode, Group, example, fail
from recordsilo.commands.options import all_of
from recordsilo.wording import counted
from silowork.stop import Stop
from usagestats.commands.group import told
from usagestats.visitors.errors import StreamUnusable
from usagestats.visitors.relay import Passed
from usagestats.visitors.settings import FieldNames, Keeping, StepRoute
from usagestats.visitors.steps import run_flatten, run_profile

_NAMES, _KEEPING = FieldNames(), Keeping()


def _text(_ctx: click.Context, _param: click.Parameter, given: str) -> str:
    """Refuse what is not UTF-8, which librdkafka needs; `silo` prints the error as a sentence."""
    given.encode()
    return given


def _settings(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> Any:
    pairs = [_text(ctx, param, one).partition("=") for one in given]
    for name, is_pair, _ in pairs:
        if not (name and is_pair):
            raise click.BadParameter(f"{name!r} is not NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _stream(source: str, target: str, group: str) -> Callable[[Any], Any]:
    """The options that both steps share."""
    options = (
        click.option("--kafka", "brokers", required=True, metavar="HOST:PORT[,…]",
                     callback=_text, envvar="SILO_KAFKA", help="Kafka brokers [also: SILO_KAFKA]."),
        click.option("--from", "source", default=source, show_default=True, metavar="TOPIC",
                     callback=_text, help="Topic to read."),
        click.option("--to", "target", default=target, show_default=True, metavar="TOPIC",
                     callback=_text, help="Topic to write."),
        click.option("--dead-letters", default="tracking_dead_letters", show_default=True,
                     metavar="TOPIC", callback=_text,
                     help="Topic for events that cannot be processed."),
        click.option("--group", default=group, show_default=True, metavar="NAME", callback=_text,
                     help="Consumer group."),
        click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
                     callback=_settings, help="A setting of librdkafka, such as"
                     " security.protocol=SSL; repeatable. With consumer. or producer. before the"
                     " name it is for one of the two."),
        click.option("--batch", type=click.IntRange(1, 100_000), default=500, show_default=True,
                     help="Maximum number of events in a transaction."),
        click.option("--until-idle", "idle", type=click.FloatRange(min=0.1), metavar="SECONDS",
                     help="End when nothing has arrived for this long; else run until stopped."),
    )  # fmt: skip
    return all_of(*options)


@click.group(cls=Group, epilog=example("silo usage visitors flatten --kafka kafka:9092"))
def visitors() -> None:
    """Keep a profile of each visitor, from page events in Kafka.

    Each process may be started several times; those of one group share the work.
    """


@visitors.command(epilog=example("silo usage visitors flatten --kafka kafka:9092"))
@_stream("tracking_processed", "tracking_flattened", "python_flattener")
def flatten(*, idle: float | None, **given: Any) -> int:
    """Turn the name and value pairs of events into fields."""
    return _run(lambda route, stop: run_flatten(route, stop, idle=idle), given)


@visitors.command(
    epilog=example("silo usage visitors profile --kafka kafka:9092 --redis redis://redis/0")
)
@_stream("tracking_flattened", "tracking_persisted", "python_profiler")
@click.option(
    "--redis",
    "redis_url",
    required=True,
    metavar="URL",
    envvar="SILO_REDIS",
    help="Redis with the profiles, such as redis://host/0 [also: SILO_REDIS].",
)
@click.option(
    "--prefix",
    default=_KEEPING.prefix,
    show_default=True,
    metavar="TEXT",
    help="Begins the keys in Redis.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 36500),
    default=_KEEPING.days,
    show_default=True,
    help="A profile expires this many days after the visitor's last event.",
)
@click.option("--user-field", default=_NAMES.user, show_default=True, metavar="NAME",
              help="Field with the visitor.")  # fmt: skip
@click.option("--session-field", default=_NAMES.session, show_default=True, metavar="NAME",
              help="Field with the session.")  # fmt: skip
@click.option("--page-field", default=_NAMES.page, show_default=True, metavar="NAME",
              help="Field with the title of the page.")  # fmt: skip
@click.option(
    "--time-field",
    default="",
    metavar="NAME",
    help="Field with the time of the event (default: the time of the message).",
)
def profile(
    *, redis_url: str, prefix: str, days: int, user_field: str, session_field: str,
    page_field: str, time_field: str, idle: float | None, **given: Any,
) -> int:  # fmt: skip
    """Update the visitor's profile by each event, and add it to the event."""
    names = FieldNames(user_field, session_field, page=page_field, time=time_field)
    keeping = Keeping(prefix, days)
    return _run(
        lambda route, stop: run_profile(
            route, redis_url, stop, names=names, keeping=keeping, idle=idle
        ),
        given,
    )


def _run(run: Callable[[StepRoute, Stop], Passed], given: dict[str, Any]) -> int:
    stop = Stop()
    with told(), stop.on_signals():
        try:
            passed = run(StepRoute(**given), stop)
        except StreamUnusable as error:
            fail(str(error), ExitCode.ENDPOINT)
    dead = f", {passed.dead:,} to {given['dead_letters']}" if passed.dead else ""
    click.echo(f"{counted(passed.read, 'event')} read, {passed.sent:,} sent{dead}", err=True)
    if stop.asked:
        return ExitCode.INTERRUPTED if stop.interrupted else ExitCode.STOPPED
    return ExitCode.LOSSES if passed.dead else ExitCode.OK
