"""What a run has to do, as a value and as JSON. Pure."""

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from politeweb.shared_pace import PaceSpec
from silofleet.errors import FleetRefused
from silofleet.values import BeforeRun, Endpoint
from silofleet.wishes import endpoint_of, table_of

_LONGEST_INTERVAL = 86_400.0


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What a run has to do; a value that can be sent to another process.

    Attributes:
        run: Its number.
        epoch: Of the endpoint; 0 if there may be no Silo yet.
        only_probe: Ask for Identify only.
        before: What is known.
        pace: Of the host.
        contact: Sent with requests; see `HttpSettings`.
        is_counted: Ask also how many records the repository lists.
    """

    run: int
    silo_path: str
    wish: Endpoint
    epoch: int = 0
    only_probe: bool = False
    before: BeforeRun = field(default_factory=BeforeRun)
    pace: PaceSpec = field(default_factory=PaceSpec)
    contact: str | None = None
    is_counted: bool = False

    @property
    def endpoint(self) -> str:
        """The name of the endpoint."""
        return self.wish.name


def order_to_json(order: RunOrder) -> dict[str, Any]:
    """The order without what a node knows itself: its directories, and the broker.

    The wish is as in the file of the fleet's wishes, so a field that it gets needs no line here.
    """
    return {
        "run": order.run,
        "wish": table_of(order.wish),
        "epoch": order.epoch,
        "only_probe": order.only_probe,
        "before": dataclasses.asdict(order.before),
        "interval": order.pace.interval,
        "host": order.pace.host,
        "nodes": order.pace.nodes,
        "contact": order.contact,
        "counted": order.is_counted,
    }


def order_of_json(
    found: Mapping[str, Any], silo_path: Callable[[str], str], place: str
) -> RunOrder:
    """Read an order.

    Args:
        found: From `order_to_json`.
        silo_path: Name of an endpoint → directory of its Silo on this node.
        place: Where the pace of hosts is shared; see `PaceSpec`.

    Raises:
        FleetRefused: Not a valid order.
    """
    try:
        json.dumps(found, ensure_ascii=False).encode()  # JSON may have halves of surrogate pairs
        before, wish = found["before"], endpoint_of(found["wish"], "its wish")
        return RunOrder(
            run=int(found["run"]),
            silo_path=silo_path(wish.name),
            wish=wish,
            epoch=int(found["epoch"]),
            only_probe=bool(found["only_probe"]),
            before=BeforeRun(
                int(before["records"]),
                None if before["promised"] is None else int(before["promised"]),
                _number(before["fewer"], 1),
            ),
            pace=PaceSpec(
                _number(found["interval"], _LONGEST_INTERVAL),
                str(found["host"]),
                place,
                int(found["nodes"]),
            ),
            contact=None if found["contact"] is None else str(found["contact"]),
            is_counted=bool(found["counted"]),
        )
    except (
        KeyError, TypeError, ValueError, AttributeError, OverflowError, FleetRefused
    ) as error:  # fmt: skip
        raise FleetRefused(f"an order in the broker is malformed: {error!r}") from None


def _number(value: Any, most: float) -> float:
    if not math.isfinite(number := float(value)) or not 0 <= number <= most:
        raise ValueError(f"a number is not between 0 and {most:g}")
    return number
