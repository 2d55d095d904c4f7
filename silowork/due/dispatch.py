"""Which runs start now (pure)."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import NamedTuple


class Due(NamedTuple):
    """Something that is due; in the order in which it starts.

    Attributes:
        is_late: False for what a person asked for, which goes first.
        since: When it became due; the most overdue goes first.
        name: Unique; of each, one run at a time.
        group: What it shares with others, such as a host; of each, one run at a time.
        place: Where it must run; empty to choose a place.
        is_large: Whether its runs have a lane of their own.
    """

    is_late: bool
    since: datetime
    name: str
    group: str
    place: str = ""
    is_large: bool = False


@dataclass(frozen=True, slots=True)
class AtWork:
    """What is at work now.

    Attributes:
        names: Those with a run.
        groups: Group → number of runs.
        places: Place → number of runs.
        large: Place → number of runs in the lane of large ones.
    """

    names: frozenset[str] = frozenset()
    groups: dict[str, int] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    large: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Room:
    """What the runs have to keep to.

    Attributes:
        free: Place → free slots; a place that is lost or closed is not in it.
        most_large: Large runs at a time on each place; one slot is left to the others.
        holds: Group → until when none of its runs starts.
        is_unlimited: Whether a group may have any number of runs.
        choose: Chooses the place for something without one, by its name, of some places; empty
            if it is none of them.
    """

    free: Mapping[str, int]
    most_large: int = 1
    holds: Mapping[str, datetime] = field(default_factory=dict)
    is_unlimited: Callable[[str], bool] = lambda _group: False
    choose: Callable[[str, Collection[str]], str] = lambda _name, places: min(places, default="")


def dispatch(due: Iterable[Due], busy: AtWork, room: Room, now: datetime) -> list[tuple[str, str]]:
    """Choose the runs to start now: what was asked for first, then the most overdue.

    What is not chosen stays due.

    Args:
        due: What is due at `now`.
        busy: What is at work.
        room: Slots, lanes and pauses.

    Returns:
        Pairs of name and place, in order.

    Cost: one sort of `due`, and a look at each until no slot is free; 1 µs each. So give what is
    due by a heap or an index of due times, and leave out groups that are held for long.
    """
    taken = _Taken(busy, room)
    chosen = []
    for one in sorted(due, key=_URGENCY):
        if not taken.left:
            break
        if taken.may_start(one, now) and (place := taken.place_for(one)):
            taken.start(one, place)
            chosen.append((one.name, place))
    return chosen


_URGENCY = itemgetter(0, 1, 2)


class _Taken:
    """What is taken while runs are chosen."""

    def __init__(self, busy: AtWork, room: Room) -> None:
        self._busy, self._room = busy, room
        self.left = {place: slots for place, slots in room.free.items() if slots > 0}
        self._groups: set[str] = set()
        self._names: set[str] = set()
        self._large = dict(busy.large)

    def may_start(self, one: Due, now: datetime) -> bool:
        """Whether nothing that it shares is taken or held."""
        if (one.place and one.place not in self.left) or one.name in self._names:
            return False
        if one.name in self._busy.names or one.group in self._groups:
            return False
        if self._busy.groups.get(one.group) and not self._room.is_unlimited(one.group):
            return False
        return one.group not in self._room.holds or self._room.holds[one.group] <= now

    def place_for(self, one: Due) -> str:
        """The place where it starts; empty if there is none."""
        choice = [one.place] if one.place else list(self.left)
        if one.is_large:
            choice = [place for place in choice if self._large.get(place, 0) < self._lane(place)]
        place = one.place or self._room.choose(one.name, choice)
        return place if place in choice else ""

    def start(self, one: Due, place: str) -> None:
        self._names.add(one.name)
        if not self._room.is_unlimited(one.group):
            self._groups.add(one.group)
        self._large[place] = self._large.get(place, 0) + one.is_large
        self.left[place] -= 1
        if not self.left[place]:
            del self.left[place]

    def _lane(self, place: str) -> int:
        slots = self._room.free[place] + self._busy.places.get(place, 0)
        return min(self._room.most_large, max(1, slots - 1))
