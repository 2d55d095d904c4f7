"""A connection to a broker that its user drives: nothing happens on it but within `Link.turn`.

So one thread does all the work, in order, and what the broker sends waits until it is wanted.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from recordsilo.closing import Closing
from silocrawl.amqp.declaring import BrokerLost, parameters_of, pika
from silocrawl.amqp.settings import AmqpBroker

_SECONDS_TO_CLOSE = 5.0


class Direction(Protocol):
    """What passes messages in one direction; it has a channel of its own."""

    def begin(self, channel: Any, wake: Callable[[], object]) -> None:
        """Begin to use a new channel.

        Args:
            channel: One of the client's `Channel`.
            wake: Ends the current turn, as there is something to do.
        """


class Link(Closing):
    """A connection with a channel for each direction; it is opened by the first turns.

    Raises (every method but `close`):
        BrokerLost: There is no connection, or no longer one; it cannot be used again.
    """

    def __init__(self, broker: AmqpBroker, directions: Sequence[Direction]) -> None:
        self._broker, self._directions = broker, directions
        self._problem: object = None
        self._begun = 0
        self._connection = pika().SelectConnection(
            parameters_of(broker), self._opened, self._lost, self._lost
        )
        self._loop = self._connection.ioloop

    @property
    def is_open(self) -> bool:
        """Whether all directions have their channel."""
        return self._begun == len(self._directions)

    def turn(self, seconds: float) -> None:
        """Send and receive until a direction is to do something, or this time is over."""
        timer = self._loop.call_later(seconds, self._loop.stop)
        self._loop.start()
        self._loop.remove_timeout(timer)
        if self._problem is not None:
            raise BrokerLost(self._broker, self._problem)

    def close(self) -> None:
        """End the connection: what was delivered and not acknowledged is the broker's again."""
        if not (self._connection.is_closing or self._connection.is_closed):
            self._connection.close()
        end = time.monotonic() + _SECONDS_TO_CLOSE
        while not self._connection.is_closed and time.monotonic() < end:
            with suppress(BrokerLost):
                self.turn(_SECONDS_TO_CLOSE)
        self._loop.close()

    def _opened(self, connection: Any) -> None:
        for one in self._directions:
            connection.channel(on_open_callback=partial(self._begin, one))

    def _begin(self, one: Direction, channel: Any) -> None:
        channel.add_on_close_callback(self._lost)
        channel.add_on_cancel_callback(lambda _: self._lost(None, "a queue was deleted there"))
        one.begin(channel, self._loop.stop)
        self._begun += 1

    def _lost(self, _what: object, reason: object) -> None:
        self._problem = self._problem or reason
        self._loop.stop()
