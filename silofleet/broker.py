"""Runs on nodes of other machines, reached through a Redis (the extra ``fleet``).

Celery carries the numbers of runs, on a queue for each node. Beside it, the Redis has the
orders of runs that were sent, a lease for each run (which its node renews), what the nodes
report, and the pace of hosts. All of it may be lost: a run without a lease is begun again, and
the Silo's own locks make doubles harmless. A Redis database belongs to one fleet.
"""

import json
import logging
import os
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from recordsilo.disk.atomic_file import make_file
from silofleet.errors import BrokerOfAnother, BrokerUnreachable, FleetRefused
from silofleet.fields import of_json, to_json, whole_number
from silofleet.ledger import Run
from silofleet.orders import NodeReport, RunOrder, RunReport
from silofleet.redis_client import broker_error, redis_at, unreachable
from silofleet.values import SECONDS_UNTIL_LOST, Ended, Node, RunOutcome
from silofleet.wishes import check_node, wishes_path
from silowork.broker import Broker
from silowork.queues.redis_streams import RedisKind, RedisQueues
from silowork.queues.values import Queued

TASK = "silo.fleet.run"
ORDERS, NODES, LEASE = "fleet:orders", "fleet:nodes", "fleet:lease:"
REPORTS = "reports"
"""Name of the queue of what the nodes report."""
MARK = "fleet:mark"
"""Key of a value that the clock changes at each look, to see whether the Redis forgot something."""
OWNER = "fleet:owner"
"""Key of the name of the fleet that uses the Redis."""
SECONDS_BETWEEN_BEATS = 30
SECONDS_BETWEEN_LOOKS = 10.0
_MOST_REPORTS = 1000

QUEUES = RedisKind(broker_error, "fleet")

logger = logging.getLogger("silofleet")


def queue_of(node: str) -> str:
    """The name of a node's queue."""
    return f"node.{node}"


# --------------------------------------------------------------------------- the clock's side


class Ownership:
    """Whether a Redis is that of one fleet, which its scheduler and its nodes ask again and again.

    Two fleets would take each other's runs and reports, as both count runs from 1. The name of a
    fleet is random, and kept in ``fleet/broker-name`` of its directory and of those of its nodes.

    Args:
        directory: The fleet, or the Silos of a node.
    """

    def __init__(self, redis: Any, directory: str) -> None:
        self._redis = redis
        self._path = os.path.join(os.path.dirname(wishes_path(directory)), "broker-name")

    def claim(self) -> None:
        """Make the Redis that of the fleet; also of one that was emptied.

        Raises:
            BrokerUnreachable: It does not answer.
            BrokerOfAnother: It belongs to another fleet.
        """
        name = self._kept() or self._keep(secrets.token_hex(8))
        if not self._set(name):
            self._compare(name)

    def check(self) -> None:
        """Check the fleet of a node; one that was in none yet is of that of the Redis from then on.

        Raises:
            BrokerUnreachable: The Redis does not answer.
            BrokerOfAnother: It belongs to another fleet.
        """
        if name := self._kept():
            self._compare(name)
        elif owner := self._owner():
            self._keep(owner)

    def _compare(self, name: str) -> None:
        if self._owner() not in {"", name}:
            raise BrokerOfAnother(OWNER, self._path)

    @unreachable
    def _set(self, name: str) -> bool:
        return bool(self._redis.set(OWNER, name, nx=True))

    @unreachable
    def _owner(self) -> str:
        """Empty while the fleet has no scheduler yet, or the Redis was emptied."""
        return (self._redis.get(OWNER) or b"").decode("ascii", "replace")

    def _kept(self) -> str:
        with suppress(FileNotFoundError), open(self._path, encoding="ascii") as file:
            return file.read().strip()
        return ""

    def _keep(self, name: str) -> str:
        with suppress(FileExistsError):
            os.mkdir(os.path.dirname(self._path))
        with suppress(FileExistsError):
            make_file(self._path, name.encode())
        return self._kept()


class Nodes:
    """A runner whose nodes are reached through a Redis; see `silofleet.clock.Runner`.

    While the Redis cannot be reached, nothing is started, and nobody is said to be lost.

    Args:
        url: Of the Redis.
    """

    def __init__(self, url: str) -> None:
        self._broker, self._redis = Broker("", url), redis_at(url)
        self._app = self._broker.app()
        self._sent: dict[int, tuple[str, str]] = {}  # run → node and endpoint
        self._progress: dict[int, tuple[int, int | None]] = {}
        self._known: dict[bytes, tuple[bytes, Node]] = {}  # name → what it said, and its value
        self._since = time.monotonic()
        self._mark = b""
        # One scheduler takes reports: those that a killed one has not kept can be taken at once.
        self._reports = RedisQueues(self._redis, QUEUES, lease=0.0, most_tries=0)
        # Of the last call; at the next one, the clock has kept what they say.
        self._taken: list[Queued] = []
        self._kept: list[int] = []
        self._looked = float("-inf")
        self._is_well = True
        self._owner: Ownership | None = None

    @property
    def progress(self) -> Mapping[int, tuple[int, int | None]]:
        """Run → records listed so far, and promised."""
        return self._progress

    def reach(self, directory: str) -> None:
        """Check that the Redis answers, and that it is this fleet's, from now on at every look.

        Args:
            directory: The fleet.

        Raises:
            BrokerUnreachable: It does not answer.
            BrokerOfAnother: It belongs to another fleet.
        """
        self._owner = Ownership(self._redis, directory)
        self._owner.claim()

    def nodes(self) -> list[Node]:
        """The nodes that reported in the last two minutes; none while the Redis is away.

        They report by the clock of the Redis; when they were seen is by that of this machine.
        """
        try:
            return self._nodes()
        except BrokerUnreachable as error:
            self._note(error)
            return []

    @unreachable
    def _nodes(self) -> list[Node]:
        now, (seconds, _) = datetime.now(UTC), self._redis.time()
        found = []
        for name, said in self._redis.hgetall(NODES).items():
            node = _node(name, said)
            if node is None or abs(age := seconds - node.seen.timestamp()) > SECONDS_UNTIL_LOST:
                continue
            known = self._known.get(name)
            if known is None or known[0] != said:
                known = said, replace(node, seen=now - timedelta(seconds=age))
                self._known[name] = known
            found.append(known[1])
        return sorted(found, key=lambda node: node.name)

    def end_own(self) -> set[int]:
        """None: the nodes go on without a clock."""
        return set()

    def keeps(self, run: Run) -> bool:
        """Yes: it is at work, or its report waits, or `finished` says later that it was lost."""
        self._sent[run.number] = run.node, run.endpoint
        return True

    def start(self, order: RunOrder, node: str) -> None:
        """Send a run to a node.

        Raises:
            OSError: The Redis cannot be reached.
        """
        try:
            self._send(order, node)
        except BrokerUnreachable as error:
            self._note(error)
            raise OSError(str(error)) from None
        self._sent[order.run] = node, order.endpoint

    @unreachable
    def _send(self, order: RunOrder, node: str) -> None:
        pace = replace(order.pace, place="", nodes=max(1, len(self._nodes())))
        order = replace(order, silo_path="", pace=pace)  # a node knows its own directories
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.hset(ORDERS, str(order.run), json.dumps(to_json(order)))
            pipe.set(f"{LEASE}{order.run}", "", ex=SECONDS_UNTIL_LOST)
            pipe.execute()
        self._app.send_task(TASK, (order.run,), queue=queue_of(node), retry=False)

    def finished(self, timeout: float) -> list[tuple[int, Ended]]:
        """Return the runs that the nodes reported as ended, and those whose lease is over.

        Raises:
            BrokerOfAnother: The Redis was emptied, and belongs to another fleet now.
        """
        try:
            ended = self._reported(timeout)
            if time.monotonic() - self._looked >= SECONDS_BETWEEN_LOOKS:
                self._looked = time.monotonic()
                if self._owner is not None:  # the Redis may have been emptied
                    self._owner.claim()
                ended += self._lost({number for number, _ in ended})
            if not self._is_well:
                self._is_well = True
                logger.warning("the broker %s answers again", self._broker.shown)
        except BrokerUnreachable as error:
            self._note(error)
            time.sleep(timeout)
            return []
        for number, _ in ended:
            self._sent.pop(number, None)
            self._progress.pop(number, None)
        return ended

    @unreachable
    def _reported(self, timeout: float) -> list[tuple[int, Ended]]:
        """The ends that nodes reported; they stay in the Redis until the clock has kept them."""
        if self._kept:
            self._redis.hdel(ORDERS, *map(str, self._kept))
            self._redis.delete(*(f"{LEASE}{number}" for number in self._kept))
        self._reports.done(self._taken)
        self._taken, self._kept = [], []
        taken, ended = self._reports.take(REPORTS, _MOST_REPORTS, timeout), []
        for one in taken:
            try:
                said = of_json(RunReport, one.body, "a report")
            except FleetRefused as error:
                logger.warning("%s", error)
                continue
            if self._sent.get(said.run, ("", ""))[1] == said.endpoint:
                end = said.ended._replace(epoch=max(1, said.ended.epoch))
                ended.append((said.run, end))  # others: of a state that was made again since
        self._taken, self._kept = taken, [number for number, _ in ended]
        return ended

    @unreachable
    def _lost(self, over: set[int]) -> list[tuple[int, Ended]]:
        """Runs without a lease, once the Redis remembered everything for as long as a lease."""
        numbers = [number for number in self._sent if number not in over]
        if not numbers:
            return []
        mark, self._mark = self._mark, uuid4().bytes
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.getset(MARK, self._mark)
            pipe.mget([f"{LEASE}{number}" for number in numbers])
            found, leases = pipe.execute()
        if found != mark:  # the Redis is another, was emptied, or has an earlier state
            self._since = time.monotonic()
        is_sure = time.monotonic() - self._since > SECONDS_UNTIL_LOST
        lost = []
        for number, lease in zip(numbers, leases, strict=True):
            if lease is None and is_sure:
                said = f"the node {self._sent[number][0]} said nothing of it for two minutes"
                lost.append((number, Ended(RunOutcome.CUT, said, datetime.now(UTC))))
                self._redis.hdel(ORDERS, str(number))
            elif lease:
                with suppress(ValueError, TypeError, OverflowError, RecursionError):
                    done, total = json.loads(lease)
                    total = None if total is None else whole_number(total)
                    self._progress[number] = whole_number(done), total
        return lost

    def _note(self, error: Exception) -> None:
        """The Redis is away: leases cannot be trusted until it was back for a while."""
        self._since = time.monotonic()
        if self._is_well:
            self._is_well = False
            logger.warning("%s; runs at work go on, and nothing new is started", error)


def _node(name: bytes, said: bytes) -> Node | None:
    try:
        node = of_json(NodeReport, said, "a node").node
        return replace(node, name=check_node(name.decode()))
    except (UnicodeDecodeError, FleetRefused) as error:
        logger.warning("%s", error)
        return None
