"""The side of a run: its requests are offered as units, and what is brought is judged here.

A run never depends on others. What nobody takes, what a node does not bring, and what is no
answer to the request, the run requests itself.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from oaipmhclient.fetchers import Lane
from oaipmhclient.transport.http_transport import HttpTransport
from oaipmhprotocol.words import Argument
from politeweb.answers import Answer, AttemptOutcome, Exchange, Traffic
from politeweb.errors import RetryLater
from politeweb.pace import Turns
from politeweb.settings import HttpSettings
from silofleet.errors import BrokerUnreachable, FleetRefused
from silofleet.redis_client import redis_at, unreachable
from silofleet.spread.values import LISTS, MOST_UNIT, Brought, Unit, brought_of_bytes

CONTINUED, FIRST = "fleet:units:continued", "fleet:units:first"
"""Lists with the names of units; those that continue a token are taken first, as tokens expire."""
UNIT, AT_WORK, BROUGHT = "fleet:unit:", "fleet:unit:at-work:", "fleet:unit:brought:"
"""Keys of one unit: what is requested, the lease of who took it, and what was brought."""
SECONDS_OFFERED = 0.3
"""So long a unit waits for somebody to take it; idle threads take it at once."""
_SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_KEPT = 60
"""How long anything of a unit is kept in the Redis, whoever was killed."""
SHORTEST_REST, LONGEST_REST = 20.0, 320.0
"""Seconds for which nothing is offered after nobody took a unit, or the Redis was away."""
_SECONDS_HEARD = 3.0
"""Silence after which no node works on units of the run; until then, they are only busy."""

logger = logging.getLogger("silofleet")


class Offers:
    """The units of one run; its threads share it.

    Args:
        broker: URL of the Redis.
        plan: What all units of the run have in common.
        pace: Of the host.
        settings: Of the requests that the run sends itself.
    """

    def __init__(self, broker: str, plan: Unit, pace: Turns, settings: HttpSettings) -> None:
        self._redis, self._plan = redis_at(broker), plan
        self.pace, self.settings = pace, settings
        self._lock = threading.Lock()
        self._sent_by: Counter[str] = Counter()
        self._rests_until, self._rest = float("-inf"), SHORTEST_REST
        self._heard = float("-inf")

    def transport(self, own: HttpTransport, lane: Lane) -> "SpreadTransport":
        """Return a transport that offers its requests before it sends them itself."""
        return SpreadTransport(own, lane, self)

    @property
    def said(self) -> str:
        """Who sent the requests of lists, as a part of a sentence; empty without other nodes."""
        nodes = [f"{count:,} by {name}" for name, count in sorted(self._sent_by.items()) if name]
        if not nodes:
            return ""
        return f"requests sent: {', '.join(nodes)}, {self._sent_by['']:,} by the run itself"

    def count(self, node: str = "") -> None:
        """Count a request of a list, by a node or by the run itself."""
        with self._lock:
            self._sent_by[node] += 1

    def ask(
        self, url: str, arguments: Mapping[str, str], sleep: Callable[[float], object]
    ) -> Brought | None:
        """Offer a request; return what was brought, or None if nothing was.

        Args:
            url: Base URL.
            arguments: The request, as wire parameters.
            sleep: Called now and then; may raise an exception to give up.
        """
        if time.monotonic() < self._rests_until:
            return None
        unit = replace(self._plan, name=uuid4().hex, url=url, arguments=arguments)
        if len(unit.to_bytes()) > MOST_UNIT:
            return None
        try:
            found = self._ask(unit, sleep)
            if found is None:
                return None
            brought = brought_of_bytes(found, unit, self.settings.max_response)
        except BrokerUnreachable as error:
            logger.warning("%s; the run %s requests by itself", error, unit.run)
            self._pause_offers()
            return None
        except FleetRefused as error:
            logger.warning("%s", error)
            return None
        self._heard, self._rest = time.monotonic(), SHORTEST_REST
        if brought.said:
            logger.info("%s: %s", brought.node, brought.said)
        if brought.is_too_large:
            self._rests_until = float("inf")  # others would be requested twice, too
        return brought

    def _pause_offers(self) -> None:
        with self._lock:
            if time.monotonic() >= self._rests_until:
                self._rests_until = time.monotonic() + self._rest
                self._rest = min(2 * self._rest, LONGEST_REST)

    @unreachable
    def _ask(self, unit: Unit, sleep: Callable[[float], object]) -> bytes | None:
        """Offer a unit, and wait for as long as somebody is at work on it."""
        self._offer(unit)
        try:
            is_taken, seconds = False, SECONDS_OFFERED
            end = time.monotonic() + self.settings.total_timeout + SECONDS_KEPT
            while time.monotonic() < end:
                found = self._redis.blpop([BROUGHT + unit.name], seconds)
                if found is not None:
                    return bytes(found[1])
                sleep(0)
                if not is_taken:
                    if self._redis.delete(UNIT + unit.name):
                        if time.monotonic() - self._heard > _SECONDS_HEARD:
                            self._pause_offers()
                        return None
                    is_taken, seconds = True, _SECONDS_BETWEEN_LOOKS
                self._heard = time.monotonic()
                if not self._redis.exists(AT_WORK + unit.name):
                    return self._redis.lpop(BROUGHT + unit.name)  # type: ignore[no-any-return]
            return None
        finally:
            with suppress(Exception):  # it expires by itself
                self._redis.delete(UNIT + unit.name)

    def _offer(self, unit: Unit) -> None:
        queue = CONTINUED if unit.continues else FIRST
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.set(UNIT + unit.name, unit.to_bytes(), ex=SECONDS_KEPT)
            pipe.rpush(queue, unit.name)
            pipe.expire(queue, SECONDS_KEPT)
            pipe.execute()


class SpreadTransport:
    """Requests to a repository; those of lists are offered to the workers of all nodes first.

    Args:
        own: Sends what nobody brings.
        lane: Of the thread that uses this.
        offers: Of the run.
    """

    def __init__(self, own: HttpTransport, lane: Lane, offers: Offers) -> None:
        self._own, self._lane, self._offers = own, lane, offers
        self._traffic, self._moved_to = Traffic(), ""
        self.base_url = own.base_url

    @property
    def traffic(self) -> Traffic:
        """What was sent and received so far, here and elsewhere."""
        own, others = self._own.traffic, self._traffic
        return Traffic(own.sent + others.sent, own.retried, own.received + others.received)

    @property
    def moved_to(self) -> str:
        """The base URL that redirects lead to; empty without redirects."""
        return self._own.moved_to or self._moved_to

    def fetch(self, params: Mapping[str, str]) -> Answer:
        """Return a complete response; see `HttpTransport.fetch` for the errors."""
        if params.get(Argument.VERB.value) not in LISTS:
            return self._own.fetch(params)
        brought = self._offers.ask(self.base_url, params, self._lane.sleep)
        if brought is not None:
            self._note(brought)
            if brought.answer is not None:
                self._offers.count(brought.node)
                return replace(brought.answer, received=datetime.now(UTC))
            self._heed(brought)
        self._offers.count()
        return self._own.fetch(params)

    def _note(self, brought: Brought) -> None:
        received = len(brought.raw)
        self._lane.on_exchange(Exchange(brought.outcome, brought.seconds, received))
        told = self._traffic
        self._traffic = replace(
            told, sent=told.sent + brought.sent, received=told.received + received
        )
        self._moved_to = brought.moved_to or self._moved_to

    def _heed(self, brought: Brought) -> None:
        """Keep a pause that the host asks for.

        Raises:
            RetryLater: It is longer than `HttpSettings.longest_pause`.
        """
        settings = self._offers.settings
        if brought.pause is not None:
            status, seconds = brought.pause
            if seconds > settings.longest_pause:
                end = datetime.now(UTC) + timedelta(seconds=seconds)
                raise RetryLater(self.base_url, status, end)
            self._offers.pace.hold(seconds)
        elif brought.outcome is AttemptOutcome.REFUSED:
            self._offers.pace.hold(settings.first_pause)

    def close(self) -> None:
        """Close the connections."""
        self._own.close()

    def abort(self) -> None:
        """Abort the request that another thread waits for."""
        self._own.abort()
