"""A node of a fleet: takes the runs that the clock sends, and reports on them.

Nodes join and leave at any time. A node that is killed loses nothing: the leases of its runs
end, and the clock sends them again.
"""

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from celery import signals

from politeweb.shared_pace import PlaceOfPaces, note_place
from silofleet.broker import (
    LEASE,
    NODES,
    ORDERS,
    QUEUES,
    REPORTS,
    SECONDS_BETWEEN_BEATS,
    TASK,
    Ownership,
    queue_of,
)
from silofleet.errors import BrokerUnreachable, FleetRefused
from silofleet.fields import of_json, to_json
from silofleet.local_node import node_here
from silofleet.orders import NodeReport, RunOrder, RunReport
from silofleet.redis_client import redis_at, unreachable
from silofleet.slots import Slots, warm
from silofleet.spread.takers import Takers
from silofleet.values import SECONDS_UNTIL_LOST, Ended, Node
from silowork.broker import Broker
from silowork.celery_worker import ENDED, celery_worker, note_dropped, only_argument
from silowork.queues.redis_streams import RedisQueues
from silowork.queues.values import Message
from silowork.stop import Stop

_SECONDS_BETWEEN_ATTEMPTS = 5.0

T = TypeVar("T")
logger = logging.getLogger("silofleet")


class FleetNode:
    """A node that joins the fleet; `run` returns when it is asked to end.

    Args:
        granary: The directory of its Silos, on its own disk.
        name: Unique in the fleet.
        url: Of the Redis.
        slots: Runs at a time.
        units: Requests of runs of all nodes that it sends at a time.
    """

    def __init__(self, granary: str, name: str, url: str, slots: int, units: int = 0) -> None:
        self._granary, self._name, self._url, self._slots = granary, name, url, slots
        self._place = f"{os.path.realpath(granary)} on {socket.gethostname()}"
        self._broker, self._redis = Broker(granary, url), redis_at(url)
        self._queues = RedisQueues(self._redis, QUEUES)
        self._owner = Ownership(self._redis, granary)
        self._takers = Takers(url, name, units)
        self._ending = Stop()
        self._numbers: dict[str, int] = {}  # endpoint with a run at work → its last number
        self._lock, self._free = threading.Lock(), threading.Semaphore(slots)

    def join(self) -> None:
        """Report this node for the first time.

        Raises:
            BrokerUnreachable: The Redis does not answer.
            OSError: The disk of the Silos does not answer.
            FleetRefused: A node of this name is at work elsewhere, or the Redis is of another
                fleet.
        """
        self._owner.check()
        self._refuse_namesake()
        self._see()
        note_place(self._granary, PlaceOfPaces(self._url, self._known_nodes()))

    def run(self) -> None:
        """Work until SIGTERM or SIGINT; `join` comes first.

        Raises:
            BrokerUnreachable: The worker of Celery ended by itself.
        """
        app = self._broker.app(queue_of(self._name))

        @app.task(name=TASK)  # type: ignore[untyped-decorator]  # celery is untyped
        def run(*given: object, **named: object) -> None:
            try:
                number = only_argument(given, named, int)
            except TypeError as error:
                note_dropped(error)
            else:
                self._carry_out(number)

        warm()
        threading.Thread(target=self._beat, daemon=True).start()
        signals.worker_shutting_down.connect(self._end, weak=False)
        worker = celery_worker(app, [queue_of(self._name)], self._slots)
        try:
            with self._takers:
                worker.start()
        finally:
            signals.worker_shutting_down.disconnect(self._end)
            is_asked = self._ending.asked
            self._ending.ask()
        if worker.exitcode and not is_asked:
            raise BrokerUnreachable(ENDED)

    def _end(self, *_unused: object, **_also: object) -> None:
        self._ending.ask()

    # ------------------------------------------------------------------ one run

    def _carry_out(self, number: int) -> None:
        """Do a run in a process, renew its lease meanwhile, and report its end.

        If a run of the endpoint is at work, the clock has given it up, because it heard nothing of
        it for long; it goes on, by the new number.
        """
        try:
            order = (
                None if self._ending.asked else self._insist(number, lambda: self._order(number))
            )
            if order is None or self._is_at_work(order):
                return
            try:
                with self._free:
                    ended = self._ended(order)
            finally:
                with self._lock:
                    last = self._numbers.pop(order.endpoint)
            self._report(replace(order, run=last), ended)
        except (BrokerUnreachable, FleetRefused, OSError) as error:  # the clock begins it again
            logger.warning("run %s: %s", number, error)

    def _is_at_work(self, order: RunOrder) -> bool:
        with self._lock:
            found = order.endpoint in self._numbers
            self._numbers[order.endpoint] = order.run
        return found

    @unreachable
    def _order(self, number: int) -> RunOrder | None:
        """The order of a run; None if the clock has taken it back."""
        self._owner.check()
        found = self._redis.hget(ORDERS, str(number))
        if found is None:
            return None
        order = of_json(RunOrder, found, "an order")
        silo_path = os.path.join(self._granary, order.endpoint)
        pace = replace(order.pace, place=self._url)
        return replace(order, run=number, silo_path=silo_path, pace=pace)

    def _ended(self, order: RunOrder) -> Ended:
        renewed = time.monotonic()
        self._renew(order, (0, None))  # it may have waited in the queue, and may start slowly
        with Slots(1) as slots:
            slots.start(order)
            while True:
                if time.monotonic() - renewed >= SECONDS_BETWEEN_BEATS:
                    renewed = time.monotonic()
                    self._renew(order, slots.progress[order.run])
                if self._ending.asked:
                    slots.end(order.run)
                for _, ended in slots.finished(0.5):
                    return ended

    def _renew(self, order: RunOrder, progress: tuple[int, int | None]) -> None:
        number = self._numbers[order.endpoint]
        try:
            self._set_lease(number, progress)
        except BrokerUnreachable as error:
            logger.warning("run %s: %s", number, error)

    @unreachable
    def _set_lease(self, number: int, progress: tuple[int, int | None]) -> None:
        self._redis.set(f"{LEASE}{number}", json.dumps(progress), ex=SECONDS_UNTIL_LOST)

    def _report(self, order: RunOrder, ended: Ended) -> None:
        self._insist(order.run, lambda: self._add_report(order, ended))

    def _insist(self, number: int, act: Callable[[], T]) -> T | None:
        """Do something of a run; while the Redis is away, again and again until this node ends.

        What is given up is begun again by the clock, but only after `SECONDS_UNTIL_LOST`.
        """
        while True:
            try:
                return act()
            except BrokerUnreachable as error:
                logger.warning("run %s: %s", number, error)
                if self._ending.wait(_SECONDS_BETWEEN_ATTEMPTS):
                    return None

    def _add_report(self, order: RunOrder, ended: Ended) -> None:
        said = to_json(RunReport(order.run, order.endpoint, ended))
        self._queues.put([Message(REPORTS, json.dumps(said).encode())])

    # ------------------------------------------------------------------ the node

    def _beat(self) -> None:
        while not self._ending.wait(SECONDS_BETWEEN_BEATS):
            try:
                self._owner.check()
                self._see()
            except (BrokerUnreachable, FleetRefused) as error:
                logger.warning("%s", error)
            except OSError as error:  # without reports, the clock sends nothing here
                logger.warning("the disk of the Silos does not answer: %s", error)

    @unreachable
    def _known_nodes(self) -> int:
        return int(self._redis.hlen(NODES))

    @unreachable
    def _refuse_namesake(self) -> None:
        """Refuse a name under which another directory reports: it has the Silos of the runs."""
        try:
            found = of_json(NodeReport, self._redis.hget(NODES, self._name) or "", "a node")
        except FleetRefused:  # none, or malformed
            return
        is_at_work = self._now() - found.node.seen <= timedelta(seconds=2 * SECONDS_BETWEEN_BEATS)
        if found.place != self._place and is_at_work:
            raise FleetRefused(
                f"a node {self._name} is at work in {found.place}; give this one another --node, or"
                " wait a minute after the end of the other"
            )

    def _now(self) -> datetime:
        """The time by the clock of the Redis."""
        return datetime.fromtimestamp(self._redis.time()[0], UTC)

    def _see(self) -> None:
        """Report this node."""
        self._tell(node_here(self._name, self._granary, self._slots))

    @unreachable
    def _tell(self, node: Node) -> None:
        said = to_json(NodeReport(replace(node, seen=self._now()), self._place))
        self._redis.hset(NODES, self._name, json.dumps(said))
