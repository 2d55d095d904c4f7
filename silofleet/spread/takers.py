"""The side of a node: threads that take units of any run, and send their requests.

They hold no Silo and decide nothing. A thread that is killed costs the run some seconds.
"""

import logging
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Self

from oaipmhclient.transport.http_transport import HttpTransport
from politeweb.addresses import host_of
from politeweb.answers import AttemptOutcome, Exchange
from politeweb.errors import FetchError, ResponseTooLarge, RetryLater
from politeweb.pace import Turns
from politeweb.redis_pace import PaceUnknown
from politeweb.settings import HttpSettings
from politeweb.shared_pace import PaceSpec, turns_of
from silofleet.errors import BrokerUnreachable, FleetRefused
from silofleet.redis_client import redis_at, unreachable
from silofleet.spread.offers import AT_WORK, BROUGHT, CONTINUED, FIRST, SECONDS_KEPT, UNIT
from silofleet.spread.values import LONGEST_PAUSE, MOST_BROUGHT, Brought, Unit, unit_of_bytes
from silowork.stop import Stop

SECONDS_OF_LEASE = 10.0
SECONDS_BETWEEN_LEASES = 3.0
REST = 30.0
"""Seconds for which a thread takes nothing after a failure, which may be that of its node."""
LONGEST_WAIT = 300.0
"""Seconds that a thread waits for the turn of a unit; for a longer pause the run waits itself."""
_SECONDS_BETWEEN_ATTEMPTS = 5.0
_SECONDS_BETWEEN_LOOKS = 1.0

logger = logging.getLogger("silofleet")


class Takers:
    """The threads of a node.

    Args:
        broker: URL of the Redis.
        number: Of threads; 0 for none.
    """

    def __init__(self, broker: str, node: str, number: int) -> None:
        self._broker, self._node, self._number = broker, node, number
        self._redis = redis_at(broker)
        self._ending = Stop()
        self._at_work: dict[str, HttpTransport] = {}
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        if self._number:
            work = [self._renew, *[self._work] * self._number]
            self._threads = [threading.Thread(target=one, daemon=True) for one in work]
            for one in self._threads:
                one.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._ending.ask()
        end = time.monotonic() + SECONDS_OF_LEASE
        while any(one.is_alive() for one in self._threads) and time.monotonic() < end:
            with self._lock:
                for transport in self._at_work.values():
                    transport.abort()
            time.sleep(0.05)

    # ------------------------------------------------------------------ threads

    def _work(self) -> None:
        connection = _Connection(self._broker, self._ending)
        while not self._ending.asked:
            seconds = 0.0
            try:
                unit = self._next()
                if unit is not None and not self._do(unit, connection):
                    seconds = REST
            except BrokerUnreachable:
                seconds = _SECONDS_BETWEEN_ATTEMPTS
            except FleetRefused as error:
                logger.warning("%s", error)
            except Exception:  # thread boundary: the run requests by itself
                logger.exception("a unit")
                seconds = REST
            self._ending.wait(seconds)

    def _renew(self) -> None:
        """Renew the leases of the units at work."""
        while not self._ending.wait(SECONDS_BETWEEN_LEASES):
            with self._lock:
                names = list(self._at_work)
            with suppress(BrokerUnreachable):
                self._lease(names)

    @unreachable
    def _lease(self, names: list[str]) -> None:
        for name in names:
            self._redis.set(AT_WORK + name, self._node, px=int(1000 * SECONDS_OF_LEASE))

    # ------------------------------------------------------------------ one unit

    @unreachable
    def _next(self) -> Unit | None:
        """Take a unit; None if there is none, or another node or its run was faster.

        Raises:
            FleetRefused: What was offered is no unit.
        """
        found = self._redis.blpop([CONTINUED, FIRST], _SECONDS_BETWEEN_LOOKS)
        if found is None:
            return None
        name = found[1].decode("ascii", "replace")
        content = self._redis.get(UNIT + name)
        if content is None:
            return None
        try:
            unit = unit_of_bytes(name, content)
        except FleetRefused:
            self._redis.delete(UNIT + name)
            raise
        self._lease([name])
        if not self._redis.delete(UNIT + name):
            self._give_back(name)
            return None
        return unit

    def _do(self, unit: Unit, connection: "_Connection") -> bool:
        """Send the request of a unit, and bring what comes; return whether it was answered."""
        transport = connection.to(unit)
        with self._lock:
            self._at_work[unit.name] = transport
        try:
            brought = connection.brought(transport, unit, self._node)
        except (_GivenBack, PaceUnknown):
            brought = None
        finally:
            with self._lock:
                del self._at_work[unit.name]
        if self._ending.asked or brought is None:
            self._give_back(unit.name)
            return True
        self._bring(unit, brought)
        return brought.answer is not None or brought.pause is not None

    @unreachable
    def _give_back(self, name: str) -> None:
        """End the lease; without one, the run requests by itself."""
        self._redis.delete(AT_WORK + name)

    @unreachable
    def _bring(self, unit: Unit, brought: Brought) -> None:
        content = brought.to_bytes()
        if len(content) > MOST_BROUGHT:
            said = f"{len(content):,} bytes of {unit.url} are too many for the broker"
            content = Brought(self._node, said=said, is_too_large=True).to_bytes()
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.rpush(BROUGHT + unit.name, content)
            pipe.expire(BROUGHT + unit.name, SECONDS_KEPT)
            pipe.delete(AT_WORK + unit.name)
            pipe.execute()


class _GivenBack(Exception):
    """The node ends, or the turn of the unit is far away."""


class _Connection:
    """The transport of one thread, kept while it serves the same repository."""

    def __init__(self, broker: str, ending: Stop) -> None:
        self._broker, self._ending = broker, ending
        self._key: object = None
        self._transport: HttpTransport | None = None
        self._exchanges: list[Exchange] = []

    def to(self, unit: Unit) -> HttpTransport:
        """Return a transport that makes one attempt at a request.

        It sends no login that this node has, as the run has none.
        """
        key = unit.url, unit.interval, unit.turns, unit.contact
        if self._transport is None or self._key != key:
            if self._transport is not None:
                self._transport.close()
            self._transport = HttpTransport(
                unit.url,
                HttpSettings(contact=unit.contact, attempts=1, stays=True, netrc=False),
                pace=self._pace(unit),
                on_exchange=self._exchanges.append,
                sleep=self._sleep,
                has_answered=True,
            )
            self._key = key
        return self._transport

    def _pace(self, unit: Unit) -> Turns:
        spec = PaceSpec(unit.interval, host_of(unit.url), self._broker, turns=unit.turns)
        return turns_of(spec, is_bound=True)

    def _sleep(self, seconds: float) -> None:
        if seconds > LONGEST_WAIT or self._ending.wait(seconds):
            raise _GivenBack

    def brought(self, transport: HttpTransport, unit: Unit, node: str) -> Brought:
        """Send the request of a unit by the transport to it; return what to bring.

        Raises:
            PaceUnknown: The turns of the host are not known.
        """
        self._exchanges.clear()
        before, begin = transport.traffic.sent, time.monotonic()
        answer, pause, said, is_too_large = None, None, "", False
        try:
            answer = transport.fetch(unit.arguments)
        except RetryLater as asked:
            seconds = (asked.deadline - datetime.now(UTC)).total_seconds()
            pause = asked.status or 503, min(max(0.0, seconds), LONGEST_PAUSE)
            said = str(asked)
        except FetchError as error:
            said, is_too_large = str(error), isinstance(error, ResponseTooLarge)
        failed = Exchange(AttemptOutcome.FAILED, time.monotonic() - begin)
        exchange = self._exchanges[-1] if self._exchanges else failed
        if answer is not None and exchange.outcome is not AttemptOutcome.ANSWERED:
            answer, said = None, f"{unit.url} sent a part of a response"
        return Brought(
            node,
            exchange.outcome,
            exchange.seconds,
            transport.traffic.sent - before,
            answer,
            transport.moved_to,
            pause,
            said,
            is_too_large,
        )
