"""What is at a broker: exchange and queues are checked, declared if they are missing, and counted.

Heritrix's `AMQPUrlReceiver` declares a durable direct exchange, and its queue without arguments;
its feeds declare the exchange alone. The messages of a feed are not persistent, and a RabbitMQ that
is killed loses such messages, except those in quorum queues: these are what we declare for what
comes in (heritrix-contrib 3.13.0, RabbitMQ 3.10.8).
"""

import logging
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from recordsilo.extras import needed
from silocrawl.amqp.settings import AmqpBroker, AmqpRefused, AmqpSettings
from silocrawl.errors import CrawlingError

NOT_FOUND, REFUSED, DIFFERS = 404, 403, 406
_Act: TypeAlias = Callable[[Any], object]
"""What is asked of a channel."""
_SECONDS_TO_ANSWER, _SECONDS_OF_HEARTBEAT, _SECONDS_BLOCKED = 10.0, 30, 60.0


class BrokerLost(CrawlingError):
    """A broker cannot be reached now, or has ended the connection; messages wait."""

    def __init__(self, broker: AmqpBroker, reason: object) -> None:
        while isinstance(reason, Exception) and (inner := _inner(reason)):
            reason = inner
        text = str(reason) or type(reason).__name__
        super().__init__(f"the broker {broker.shown} cannot be reached ({text})")


def _inner(error: Exception) -> Exception | None:
    """What an error of the client wraps."""
    found = [getattr(error, "exception", None), *error.args]
    return next((one for one in found if isinstance(one, Exception)), None)


@dataclass(frozen=True, slots=True)
class BrokerQueue:
    """A queue at a broker.

    Attributes:
        queue: The queue of the Silo to or from which its messages go.
        name: Its own.
        is_there: Whether there is one of that name.
        messages: Those that were delivered to nobody.
        consumers: How many programs take from it.
    """

    queue: str
    name: str
    is_there: bool = True
    messages: int = 0
    consumers: int = 0


def pika() -> Any:
    """Load the client; it logs the end of each connection with a traceback, we say it in a line.

    Raises:
        PackageMissing: It is not installed.
    """
    module = needed("pika", "a bridge to a RabbitMQ", "amqp")
    logging.getLogger("pika").setLevel(logging.CRITICAL)
    return module


def parameters_of(broker: AmqpBroker) -> Any:
    """How the client connects to a broker.

    Raises:
        AmqpRefused: The certificate cannot be read.
    """
    client, tls = pika(), None
    if broker.is_tls:
        try:
            context = ssl.create_default_context(cafile=broker.certificate or None)
        except OSError as error:
            raise AmqpRefused(f"the certificate {broker.certificate}: {error}") from None
        tls = client.SSLOptions(context, broker.host)
    return client.ConnectionParameters(
        broker.host, broker.port, broker.vhost,
        client.PlainCredentials(broker.user, broker.password),
        ssl_options=tls, heartbeat=_SECONDS_OF_HEARTBEAT, socket_timeout=_SECONDS_TO_ANSWER,
        stack_timeout=2 * _SECONDS_TO_ANSWER, blocked_connection_timeout=_SECONDS_BLOCKED,
    )  # fmt: skip


def declare(settings: AmqpSettings) -> None:
    """Check that everything is at the broker; declare what is missing.

    Raises:
        AmqpRefused: It is declared otherwise, or we may not.
        BrokerLost: The broker cannot be reached.
    """
    exchange = settings.exchange
    wanted: list[tuple[str, _Act, _Act]] = [
        (
            f"the exchange {exchange}",
            lambda at: at.exchange_declare(exchange, passive=True),
            lambda at: at.exchange_declare(exchange, "direct", durable=True),
        )
    ]
    kinds: dict[str, dict[str, str]] = {name: {} for name in settings.out.values()}
    kinds |= {name: {"x-queue-type": "quorum"} for name in settings.into.values()}
    for name, kind in kinds.items():
        declares = partial(_declare_queue, exchange, name, kind)
        wanted.append((f"the queue {name}", partial(_look, name), declares))
    with _connected(settings.broker) as connection:
        for what, look, act in wanted:
            is_there = _does(connection, look)
            if settings.declares:
                _declare(connection, what, settings.broker, is_there, act)
            elif not is_there:
                raise AmqpRefused(f"{settings.broker.shown} lacks {what}")


def _look(name: str, at: Any) -> Any:
    return at.queue_declare(name, passive=True).method


def _declare_queue(exchange: str, name: str, kind: dict[str, str], at: Any) -> None:
    at.queue_declare(name, durable=True, arguments=kind)
    at.queue_bind(name, exchange, name)


def _declare(connection: Any, what: str, broker: AmqpBroker, is_there: bool, act: _Act) -> None:
    """Declare something; who may not declare it may still use what is there."""
    closed = pika().exceptions.ChannelClosedByBroker
    try:
        act(connection.channel())
    except closed as error:
        if error.reply_code == DIFFERS:
            raise AmqpRefused(
                f"{what} of {broker.shown} is declared otherwise, so that messages may be lost"
                f" ({error.reply_text}); delete it there, have it declared in that way, or write"
                " declare = false into crawling/amqp.toml to take it as it is"
            ) from None
        if error.reply_code == REFUSED and not is_there:
            raise AmqpRefused(
                f"{broker.user} may not declare {what} of {broker.shown}: {error.reply_text}"
            ) from None
        if error.reply_code != REFUSED:
            raise BrokerLost(broker, error.reply_text) from None


def _does(connection: Any, ask: _Act) -> bool:
    """Whether something exists: another channel is asked, as the broker closes it if not."""
    try:
        ask(connection.channel())
    except pika().exceptions.ChannelClosedByBroker:
        return False
    return True


def sizes_at(settings: AmqpSettings) -> list[BrokerQueue]:
    """Return the queues of a bridge as they are at the broker, which takes and changes nothing.

    Raises:
        AmqpRefused, BrokerLost: As `declare`.
    """
    found = []
    with _connected(settings.broker) as connection:
        for queue, name in {**settings.out, **settings.into}.items():
            try:
                said = _look(name, connection.channel())
                counts = said.message_count, said.consumer_count
                found.append(BrokerQueue(queue, name, True, *counts))
            except pika().exceptions.ChannelClosedByBroker:
                found.append(BrokerQueue(queue, name, is_there=False))
    return found


@contextmanager
def _connected(broker: AmqpBroker) -> Iterator[Any]:
    """A connection for a few questions."""
    client = pika()
    errors = client.exceptions
    try:
        with client.BlockingConnection(parameters_of(broker)) as connection:
            yield connection
    except (errors.ProbableAuthenticationError, errors.ProbableAccessDeniedError) as error:
        raise AmqpRefused(
            f"{broker.shown} does not admit {broker.user} to the virtual host {broker.vhost}:"
            f" {error}"
        ) from None
    except (errors.AMQPError, OSError) as error:
        raise BrokerLost(broker, error) from None
