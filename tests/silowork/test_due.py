"""What is due of a made-up kind of work: feeders that are filled again and again."""

import heapq
import itertools
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta

import pytest

from silowork.due.dispatch import AtWork, Due, Room, dispatch
from silowork.due.hours import Hours, hours_of, hours_text, is_within, opening
from silowork.due.rests import Again, Rests, after_cut, after_failure, after_pause, after_success
from silowork.errors import JobRefused

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
MINUTE, HOUR, DAY = (timedelta(minutes=one) for one in (1, 60, 24 * 60))
START = Again(BEGIN)
RESTS = Rests(first=HOUR, longest=8 * HOUR, most_failures=4, probe_every=5 * DAY, most_fruitless=2)


# --- a toy that is run by it


@dataclass(frozen=True)
class Feeder:
    """A feeder for birds: its garden lets one helper in at a time, some only by day."""

    name: str
    garden: str
    every: timedelta = 6 * HOUR
    hours: Hours | None = None
    again: Again = START
    fruitless: int = 0
    is_barrel: bool = False

    @property
    def due(self) -> datetime:
        return opening(self.hours, self.again.due)

    def filled(self, begin: datetime, end: datetime, how: str) -> "Feeder":
        fruitless = self.fruitless + 1 if how in {"rain", "fled"} else 0
        again = {
            "full": lambda: after_success(self.name, begin, self.every, 0.1),
            "empty": lambda: after_failure(RESTS, self.again, end),
            "rain": lambda: after_pause(RESTS, self.again, end, end + 3 * HOUR, fruitless),
            "fled": lambda: after_cut(RESTS, self.again, end, fruitless),
        }[how]()
        return replace(self, again=again, fruitless=fruitless)


def fill_all(feeders: list[Feeder], ends: dict[str, str], days: int) -> list[tuple[datetime, str]]:
    """Fill what is due with two helpers for some days; a visit takes half an hour."""
    all_of = {one.name: one for one in feeders}
    heap = [(one.due, one.name) for one in feeders]
    working: dict[str, datetime] = {}
    visits = []
    for minutes in range(0, days * 24 * 60, 10):
        now = BEGIN + minutes * MINUTE
        for name in [one for one, begin in working.items() if now - begin >= HOUR / 2]:
            how = ends.get(name, "full")
            all_of[name] = all_of[name].filled(working.pop(name), now, how)
            heapq.heappush(heap, (all_of[name].due, name))
        ready = [all_of[name] for due, name in heap if due <= now and name not in working]
        busy = AtWork(frozenset(working), {all_of[one].garden: 1 for one in working})
        room = Room({"helpers": 2 - len(working)})
        due = [Due(True, one.due, one.name, one.garden, "", one.is_barrel) for one in ready]
        for name, _ in dispatch(due, busy, room, now):
            assert is_within(all_of[name].hours, now)
            working[name] = now
            heap.remove((all_of[name].due, name))
            visits.append((now, name))
    return visits


def test_feeders_are_filled_in_their_hours_and_one_in_a_garden_at_a_time() -> None:
    day = Hours(time(8), time(18))
    feeders = [Feeder("oak", "park"), Feeder("elm", "park"), Feeder("fir", "yard", hours=day)]
    visits = fill_all(feeders, {}, 10)
    begins = {name: [at for at, one in visits if one == name] for name in ("oak", "elm", "fir")}
    assert {name: len(times) for name, times in begins.items()} == {"oak": 40, "elm": 39, "fir": 20}
    assert all(abs(oak - elm) >= HOUR / 2 for oak in begins["oak"] for elm in begins["elm"])


def test_a_feeder_that_fails_is_visited_less_and_less() -> None:
    visits = fill_all([Feeder("oak", "park")], {"oak": "empty"}, 12)
    gaps = [later - sooner for (sooner, _), (later, _) in itertools.pairwise(visits)]
    assert gaps == [HOUR * n + HOUR / 2 for n in (1, 2, 4)] + [5 * DAY + HOUR / 2] * 2


def test_a_feeder_whose_helper_flees_is_visited_again_at_once_and_then_rests() -> None:
    visits = fill_all([Feeder("oak", "park")], {"oak": "fled"}, 1)
    gaps = [later - sooner for (sooner, _), (later, _) in itertools.pairwise(visits)]
    assert gaps[:4] == [HOUR / 2, HOUR / 2, 1.5 * HOUR, 2.5 * HOUR]


# --- its parts


def test_rain_is_no_failure_but_too_much_of_it_rests() -> None:
    before = Again(BEGIN, 2)
    once = after_pause(RESTS, before, BEGIN, BEGIN + MINUTE, 1)
    assert once == Again(BEGIN + MINUTE, 2)
    assert after_pause(RESTS, before, BEGIN, BEGIN + MINUTE, 5).due == BEGIN + 4 * HOUR
    assert after_pause(RESTS, before, BEGIN, None, 1).due == BEGIN + HOUR


def test_large_work_leaves_a_slot_to_the_rest() -> None:
    due = [Due(True, BEGIN, f"barrel {n}", f"g{n}", is_large=True) for n in range(3)]
    due += [Due(True, BEGIN + HOUR, "cup", "g9")]
    assert dispatch(due, AtWork(), Room({"a": 3}, most_large=5), BEGIN + DAY) == [
        ("barrel 0", "a"), ("barrel 1", "a"), ("cup", "a"),
    ]  # fmt: skip


def test_hours_are_written_as_they_are_read() -> None:
    for text in ("20:00-06:00", "08:30-12:00 Asia/Jakarta"):
        assert hours_text(hours_of(text)) == text
    with pytest.raises(JobRefused, match="begin when they end"):
        hours_of("08:00-08:00")
