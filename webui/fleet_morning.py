"""What the operator of a fleet has to know in the morning (pure)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from silofleet.fleet import EndpointLine
from silofleet.notices import TOLD
from silofleet.values import State

SHOWN = 5
LATE = timedelta(hours=1)
"""What is due for longer and not running is late."""
_RESTING = frozenset({State.PAUSED, State.QUARANTINED})
_FAILED = frozenset({State.FAILING, State.PARTIAL, State.LOST})


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the overview.

    Attributes:
        name: ``to_do``, ``failed``, ``late`` or ``resting``.
        number: All that belong to it.
        lines: The first of them.
    """

    name: str
    number: int
    lines: tuple[EndpointLine, ...]


def morning(lines: Iterable[EndpointLine], now: datetime) -> list[Part]:
    """Sort the repositories that somebody should know of into parts; empty ones are left out."""
    listed = list(lines)
    is_in: Mapping[str, Callable[[EndpointLine], bool]] = {
        "to_do": lambda line: line.state in TOLD,
        "failed": lambda line: line.state in _FAILED,
        "late": lambda line: is_late(line, now),
        "resting": lambda line: line.state in _RESTING,
    }
    parts = [_part(name, [line for line in listed if holds(line)]) for name, holds in is_in.items()]
    return [part for part in parts if part.number]


def is_late(line: EndpointLine, now: datetime) -> bool:
    """Whether a run should have started long ago."""
    is_waiting = line.state not in _RESTING and line.state is not State.RUNNING
    return is_waiting and line.due is not None and line.due < now - LATE


def _part(name: str, lines: Sequence[EndpointLine]) -> Part:
    return Part(name, len(lines), tuple(lines[:SHOWN]))
