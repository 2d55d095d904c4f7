"""Ask repositories whether they answer before they are added to a fleet."""

import time
from collections.abc import Iterable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread

from silofleet.fleet import Fleet
from silofleet.orders import RunOrder
from silofleet.run import answer_of
from silofleet.values import Endpoint

MOST, AT_A_TIME, SECONDS = 20, 8, 30.0
"""Endpoints asked, how many at a time, and for how long."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What an endpoint answered.

    Attributes:
        answers: None if it did not answer in time, or was not asked.
        said: The name of the repository, or why it does not answer.
    """

    endpoint: Endpoint
    answers: bool | None = None
    said: str = ""


def orders_of(fleet: Fleet, endpoints: Iterable[Endpoint]) -> list[RunOrder]:
    """What is asked of endpoints, which need not be of the fleet, in the pace of their hosts."""
    contact = fleet.wishes.policy.contact or None
    return [
        RunOrder(0, "", one, only_probe=True, pace=fleet.pace_for(one.url), contact=contact)
        for one in endpoints
    ]


def probed(orders: Iterable[RunOrder], seconds: float = SECONDS) -> list[Probed]:
    """Ask the first `MOST` for Identify; nothing is stored.

    Returns:
        One for each order, in order. Slow endpoints are left behind after ``seconds``.
    """
    listed = list(orders)
    queue: SimpleQueue[tuple[RunOrder, Future[tuple[bool, str]]]] = SimpleQueue()
    asked = [(one, Future[tuple[bool, str]]()) for one in listed[:MOST]]
    for both in asked:
        queue.put(both)
    ends = time.monotonic() + seconds
    for _ in range(min(AT_A_TIME, len(asked))):
        Thread(target=_work, args=(queue, ends), daemon=True).start()
    wait([future for _order, future in asked], seconds)
    found = [
        Probed(one.wish, *future.result()) if future.done() else Probed(one.wish)
        for one, future in asked
    ]
    return [*found, *(Probed(one.wish) for one in listed[MOST:])]


def _work(queue: "SimpleQueue[tuple[RunOrder, Future[tuple[bool, str]]]]", ends: float) -> None:
    while time.monotonic() < ends:
        try:
            order, future = queue.get_nowait()
        except Empty:
            return
        try:
            future.set_result(answer_of(order))
        except Exception as error:  # noqa: BLE001  # thread boundary
            future.set_result((False, str(error)))
