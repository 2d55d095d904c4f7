"""Ask repositories whether they answer: those of a fleet, or before they are added to it."""

import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from datetime import datetime
from threading import Thread
from typing import TypeAlias

from silofleet.fleet import Fleet
from silofleet.orders import RunOrder
from silofleet.run import answer_of
from silofleet.values import Endpoint

MOST, AT_A_TIME, SECONDS = 20, 8, 30.0
"""Endpoints asked for a page, how many at a time, and for how long."""

Answer: TypeAlias = tuple[bool, str]
"""Whether an endpoint answers, and the name of the repository, or why it does not answer."""


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


def orders_of(
    fleet: Fleet, endpoints: Iterable[Endpoint], contact: str | None = None, broker: str = ""
) -> list[RunOrder]:
    """What is asked of endpoints, which need not be of the fleet, in the pace of their hosts.

    Args:
        contact: In place of that of the wishes.
        broker: The Redis that has the pace; empty for the file of the fleet.
    """
    contact = contact or fleet.wishes.policy.contact or None
    return [
        RunOrder(0, "", one, only_probe=True, pace=fleet.pace_for(one.url, broker), contact=contact)
        for one in endpoints
    ]


def answers_to(
    orders: Sequence[RunOrder],
    holds: Mapping[str, datetime] | None = None,
    seconds: float = float("inf"),
) -> list[Future[Answer]]:
    """Ask for Identify in threads, which do not hold up Ctrl-C; nothing is stored.

    Args:
        holds: Hosts that are not asked, as they asked for a pause.
        seconds: After which nobody else is asked.

    Returns:
        One for each order, in order.
    """
    futures: list[Future[Answer]] = [Future() for _ in orders]
    left, ends = deque(zip(orders, futures, strict=True)), time.monotonic() + seconds

    def work() -> None:
        while time.monotonic() < ends:
            try:
                order, future = left.popleft()
            except IndexError:
                return
            try:
                future.set_result(_asked(order, holds or {}))
            except Exception as error:  # noqa: BLE001  # thread boundary
                future.set_result((False, str(error)))

    for _ in range(min(AT_A_TIME, len(futures))):
        Thread(target=work, daemon=True).start()
    return futures


def _asked(order: RunOrder, holds: Mapping[str, datetime]) -> Answer:
    if until := holds.get(order.pace.host):
        return False, f"its host asks for a pause until {until:%Y-%m-%d %H:%M} UTC"
    return answer_of(order)


def probed(orders: Sequence[RunOrder], seconds: float = SECONDS) -> list[Probed]:
    """Ask the first `MOST`; return one for each order, in order.

    Slow endpoints are left behind after ``seconds``.
    """
    futures = answers_to(orders[:MOST], seconds=seconds)
    wait(futures, seconds)
    answers = [future.result() if future.done() else (None, "") for future in futures]
    found = [Probed(one.wish, *answer) for one, answer in zip(orders, answers, strict=False)]
    return [*found, *(Probed(one.wish) for one in orders[MOST:])]
