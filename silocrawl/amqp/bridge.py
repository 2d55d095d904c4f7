"""Passes messages between the queues of a Silo and a broker; each is acknowledged last.

What goes out is done here when the broker has confirmed it. What comes in is acknowledged there
when it is in a queue of ours. So a process or a broker that is killed loses nothing; some messages
pass twice.
"""

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

from silocrawl.amqp.declaring import BrokerLost, declare, pika
from silocrawl.amqp.incoming import MOST_BYTES, MOST_KEPT, message_from
from silocrawl.amqp.link import Link
from silocrawl.amqp.settings import AmqpRefused, AmqpSettings
from silocrawl.errors import MessageInvalid
from silocrawl.messages import address_of, message_of
from silocrawl.sharing import open_crawl_queues
from silowork.errors import JobsError
from silowork.queues.values import Queued, Queues, QueueSize
from silowork.stop import Stop, working

MOST_SENT, MOST_HELD, MOST_TOGETHER = 1_000, 500, 4 << 20
"""Messages that wait for a confirmation; that a broker sends before it is answered, of each queue;
and bytes of those that are put together."""
SECONDS_OF_A_TURN, SECONDS_BETWEEN_RENEWALS, SECONDS_TO_CONFIRM = 0.2, 5.0, 10.0
SECONDS_AFTER_REFUSAL, SECONDS_UNTIL_IDLE, SECONDS_AFTER_A_FAULT = 5.0, 3.0, 2.0
logger = logging.getLogger("silocrawl")
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds before a broker is tried again; the last one ever after."""


@dataclass(slots=True)
class BridgeSummary:
    """What a bridge did: messages that went out, that came in, and that came and were new; and
    those in either direction that are dead letters.
    """

    sent: int = 0
    came: int = 0
    new: int = 0
    refused: int = 0


class Outgoing:
    """The way of the messages of one queue to a broker."""

    def __init__(
        self, queues: Queues, queue: str, settings: AmqpSettings, summary: BridgeSummary
    ) -> None:
        self._queues, self._queue, self._summary = queues, queue, summary
        self._broker, self._exchange = settings.broker, settings.exchange
        self._key = settings.out[queue]
        self._channel: Any = None
        self.forget()

    def begin(self, channel: Any, wake: Callable[[], object]) -> None:
        self._channel, self._wake = channel, wake
        channel.confirm_delivery(self._answered)
        channel.add_on_return_callback(self._returned)

    def forget(self) -> None:
        """The connection is lost: what was not confirmed is given back."""
        if self._channel is not None:
            self._channel = None
            with suppress(JobsError, OSError):  # their leases end by themselves
                self._acknowledge()
                self._queues.give_back([*self._sent.values(), *self._refused])
        self._tag, self._renewed = 0, time.monotonic()
        self._sent: dict[int, Queued] = {}
        self._confirmed: list[Queued] = []
        self._refused: list[Queued] = []
        self._homeless: set[str] = set()

    @property
    def waits(self) -> bool:
        """Whether some messages are not confirmed yet."""
        return bool(self._sent)

    def settle(self) -> None:
        """Acknowledge what was confirmed."""
        self._acknowledge()
        if self._refused:
            self._queues.give_back(self._refused, SECONDS_AFTER_REFUSAL)
            self._refused = []
            raise BrokerLost(self._broker, f"{self._exchange} has no queue for {self._key} now")
        if time.monotonic() - self._renewed > SECONDS_BETWEEN_RENEWALS:
            self._renewed = time.monotonic()
            self._queues.renew(list(self._sent.values()))

    def _acknowledge(self) -> None:
        if self._confirmed:
            self._queues.done(self._confirmed)
            self._summary.sent += len(self._confirmed)
            self._confirmed = []

    def publish(self) -> None:
        """Send more, if there is room."""
        room = MOST_SENT - len(self._sent)
        if room >= MOST_SENT // 2:
            for one in self._queues.take(self._queue, room):
                self._publish(one)

    def _publish(self, one: Queued) -> None:
        try:
            body = message_of(address_of(one.body)).body
        except MessageInvalid as error:  # it would end the consumer of Heritrix
            self._queues.failed([one], str(error), None)
            self._summary.refused += 1
            return
        about = pika().BasicProperties("application/json", delivery_mode=2, message_id=one.number)
        self._channel.basic_publish(self._exchange, self._key, body, about, mandatory=True)
        self._tag += 1
        self._sent[self._tag] = one

    def _answered(self, frame: Any) -> None:
        """The broker has one message, or all up to one; or it cannot keep them."""
        last = frame.method.delivery_tag
        tags = [last]
        if frame.method.multiple:
            tags = list(takewhile(lambda tag: tag <= last, self._sent))
        for one in map(self._sent.pop, tags):
            is_kept = frame.method.NAME == "Basic.Ack" and one.number not in self._homeless
            (self._confirmed if is_kept else self._refused).append(one)
        if not self._sent or len(self._confirmed) >= MOST_SENT // 2:
            self._wake()

    def _returned(self, _channel: Any, _method: Any, about: Any, _body: bytes) -> None:
        """No queue was there for a message; it is confirmed afterwards nevertheless."""
        self._homeless.add(about.message_id)


class Came(NamedTuple):
    """A message that a broker has delivered; a body that is too large is cut."""

    tag: int
    queue: str
    body: bytes
    size: int


class IncomingMessages:
    """The way of messages from queues of a broker into those of a Silo."""

    def __init__(self, queues: Queues, settings: AmqpSettings, summary: BridgeSummary) -> None:
        self._queues, self._settings, self._summary = queues, settings, summary
        self._channel: Any = None
        self.forget()

    def begin(self, channel: Any, wake: Callable[[], object]) -> None:
        self._channel, self._wake = channel, wake
        channel.basic_qos(prefetch_count=MOST_HELD)
        for queue, name in self._settings.into.items():
            channel.basic_consume(name, partial(self._arrived, queue))

    def forget(self) -> None:
        """The connection is lost: what was not acknowledged comes again."""
        self._channel, self._bytes = None, 0
        self._held: list[Came] = []

    def settle(self) -> None:
        """Put what came, and acknowledge it."""
        if not self._held:
            return
        messages = [message_from(one.queue, one.body, one.size) for one in self._held]
        self._summary.new += self._queues.put(messages)
        self._summary.came += len(messages)
        self._summary.refused += sum(bool(one.reason) for one in messages)
        last, self._held, self._bytes = self._held[-1].tag, [], 0
        self._channel.basic_ack(last, multiple=True)

    def _arrived(self, queue: str, _channel: Any, method: Any, _about: Any, body: bytes) -> None:
        kept = body if len(body) <= MOST_BYTES else body[:MOST_KEPT]
        self._held.append(Came(method.delivery_tag, queue, kept, len(body)))
        self._bytes += len(body)
        if len(self._held) >= MOST_HELD or self._bytes >= MOST_TOGETHER:
            self._wake()


class Bridge:
    """Passes messages until it is asked to end.

    Args:
        queues: Of the Silo; their leases are longer than `SECONDS_BETWEEN_RENEWALS`.
        settings: What is bridged.
        tell: Gets a line when the broker is lost, and when it is back.
    """

    def __init__(
        self, queues: Queues, settings: AmqpSettings, tell: Callable[[str], object]
    ) -> None:
        self._queues, self._settings, self._tell = queues, settings, tell
        self.summary, self._is_known, self._has_passed = BridgeSummary(), False, False
        one = self.summary
        self._out = [Outgoing(queues, queue, settings, one) for queue in settings.out]
        self._ways = [
            *self._out,
            *([IncomingMessages(queues, settings, one)] if settings.into else ()),
        ]

    def run(self, stop: Stop, *, until_idle: bool = False) -> BridgeSummary:
        """Pass messages; a broker that is lost is tried again and again.

        Args:
            stop: Asks to end; what is not acknowledged then stays where it came from.
            until_idle: End when nothing waits in a queue that goes out, and nothing came for
                some seconds.

        Raises:
            AmqpRefused: The broker does not let us in, or is declared otherwise.
            PackageMissing: The client is not installed.
        """
        failures, self._is_known = 0, False
        while not stop.asked:
            try:
                self._connect(stop, failures, until_idle=until_idle)
                return self.summary
            except (BrokerLost, AmqpRefused) as error:
                if isinstance(error, AmqpRefused) and not self._is_known:
                    raise
                failures = 0 if self._has_passed else failures
                self._has_passed = False
                if not failures:
                    self._tell(f"{error}; trying again until it answers")
                stop.wait(PAUSES[min(failures, len(PAUSES) - 1)])
                failures += 1
        return self.summary

    def _connect(self, stop: Stop, failures: int, *, until_idle: bool) -> None:
        """Pass messages by one connection, until asked to end."""
        try:
            declare(self._settings)
            with Link(self._settings.broker, self._ways) as link:
                while not link.is_open:
                    link.turn(SECONDS_OF_A_TURN)
                if failures or not self._is_known:
                    self._tell(f"bridged to {self._settings.broker.shown}")
                self._is_known = True
                self._pass(link, stop, until_idle=until_idle)
                self._settle(link)
        except pika().exceptions.AMQPError as error:
            raise BrokerLost(self._settings.broker, error) from None
        finally:
            for one in self._ways:
                one.forget()

    def _pass(self, link: Link, stop: Stop, *, until_idle: bool) -> None:
        moved, before, fault = time.monotonic(), replace(self.summary), ""
        while not stop.asked:
            link.turn(SECONDS_OF_A_TURN)
            try:
                for one in self._ways:
                    one.settle()
                for way in self._out:
                    way.publish()
            except (JobsError, OSError) as error:  # of our store, which may answer again
                if str(error) != fault:
                    fault = str(error)
                    self._tell(f"{fault}; trying again until it answers")
                link.turn(SECONDS_AFTER_A_FAULT)
                continue
            if self.summary != before:
                moved, before, self._has_passed = time.monotonic(), replace(self.summary), True
            if until_idle and time.monotonic() - moved > SECONDS_UNTIL_IDLE and not self._waits():
                return

    def _waits(self) -> bool:
        """Whether something is to go out, now or later."""
        sizes = self._queues.sizes()
        return any(sizes.get(queue, QueueSize()).alive for queue in self._settings.out)

    def _settle(self, link: Link) -> None:
        """Put what has come, and hear of what was sent."""
        end = time.monotonic() + SECONDS_TO_CONFIRM
        while True:
            for one in self._ways:
                one.settle()
            if not any(one.waits for one in self._out) or time.monotonic() > end:
                return
            link.turn(SECONDS_OF_A_TURN)


def bridging(
    silo_path: str, settings: AmqpSettings, tell: Callable[[str], object]
) -> AbstractContextManager[None]:
    """Pass messages during the block, in a thread.

    Raises:
        AmqpRefused, PackageMissing: As `Bridge.run`; said before the block begins if the broker
            answers by then.
    """
    with suppress(BrokerLost):
        declare(settings)

    def work(stop: Stop) -> None:
        try:
            with open_crawl_queues(silo_path) as queues:
                Bridge(queues, settings, tell).run(stop)
        except (AmqpRefused, JobsError, OSError) as error:
            tell(f"nothing is bridged any more: {error}")
        except Exception:  # thread boundary: details go to the log only
            logger.exception("nothing is bridged any more")

    return working(work, "bridge", 2 * SECONDS_TO_CONFIRM)
