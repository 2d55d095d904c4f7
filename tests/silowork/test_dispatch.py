"""Which runs start: what every choice keeps to, whatever is due."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from silowork.due.dispatch import AtWork, Due, Room, dispatch

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
PLACES = ["a", "b", "c"]


def due(name: str, group: str = "", place: str = "", *, hours: int = 0, **more: bool) -> Due:
    return Due(more.pop("is_late", True), NOW + hours * HOUR, name, group or name, place, **more)


DUE = st.builds(
    due,
    st.text("pqrstu", min_size=1, max_size=1),
    st.sampled_from(["g", "h", "i", "j"]),
    st.sampled_from(["", *PLACES]),
    hours=st.integers(-5, 0),
    is_late=st.booleans(),
    is_large=st.booleans(),
)
COUNTS = st.dictionaries(st.sampled_from(PLACES), st.integers(0, 3))
BUSY = st.builds(
    AtWork,
    st.frozensets(st.sampled_from("pq")),
    st.dictionaries(st.sampled_from(["g", "h"]), st.integers(0, 2)),
    COUNTS,
    COUNTS,
)
ROOM = st.builds(
    Room,
    st.dictionaries(st.sampled_from(PLACES), st.integers(0, 4)),
    st.integers(1, 3),
    st.dictionaries(st.sampled_from(["i", "j"]), st.sampled_from([NOW, NOW + HOUR])),
)


@given(st.lists(DUE, max_size=20), BUSY, ROOM)
def test_no_choice_takes_what_is_taken(all_due: list[Due], busy: AtWork, room: Room) -> None:
    chosen = dispatch(all_due, busy, room, NOW)
    names = [name for name, _ in chosen]
    assert len(names) == len(set(names))
    assert not busy.names & set(names)
    for place in PLACES:
        assert sum(at == place for _, at in chosen) <= max(0, room.free.get(place, 0))
    for name, at in chosen:
        assert any(one.name == name and one.place in {"", at} for one in all_due)
    if len({one.name for one in all_due}) == len(all_due):
        by_name = {one.name: one for one in all_due}
        groups = [by_name[name].group for name in names]
        assert len(groups) == len(set(groups))
        assert not any(busy.groups.get(group) for group in groups)
        assert all(room.holds.get(group, NOW) <= NOW for group in groups)
        for place in PLACES:
            large = [name for name, at in chosen if at == place and by_name[name].is_large]
            if large:
                assert len(large) + busy.large.get(place, 0) <= room.most_large


@given(st.lists(DUE, max_size=12, unique_by=lambda one: one.name), ROOM)
def test_a_free_slot_is_never_left_to_something_less_urgent(all_due: list[Due], room: Room) -> None:
    chosen = dict(dispatch(all_due, AtWork(), room, NOW))
    for one in all_due:
        alone = dispatch([one], AtWork(), room, NOW)
        rivals = [other for other in all_due if other.group == one.group and other.name in chosen]
        if alone and one.name not in chosen and not one.is_large and not rivals:
            places = [one.place] if one.place else [at for at, free in room.free.items() if free]
            for place in places:
                taken = [other for other in all_due if chosen.get(other.name) == place]
                assert len(taken) == room.free[place]
                assert all(other[:3] < one[:3] for other in taken)


def test_what_a_person_asked_for_goes_first_and_then_the_most_overdue() -> None:
    all_due = [due("new", hours=-1), due("old", hours=-9), due("asked", hours=-1, is_late=False)]
    chosen = dispatch(all_due, AtWork(), Room({"a": 2}), NOW)
    assert chosen == [("asked", "a"), ("old", "a")]


def test_one_run_of_a_name_and_of_a_group_at_a_time() -> None:
    all_due = [due("x", "g", hours=-3), due("x", "h", hours=-2), due("y", "g", hours=-1)]
    assert dispatch(all_due, AtWork(), Room({"a": 9}), NOW) == [("x", "a")]
    assert dispatch(all_due, AtWork(frozenset({"x"})), Room({"a": 9}), NOW) == [("y", "a")]
    assert dispatch(all_due, AtWork(groups={"g": 1}), Room({"a": 9}), NOW) == [("x", "a")]


def test_a_group_without_limit_has_any_number_of_runs() -> None:
    all_due = [due(name, "g") for name in "xyz"]
    room = Room({"a": 9}, is_unlimited=lambda group: group == "g")
    assert len(dispatch(all_due, AtWork(groups={"g": 5}), room, NOW)) == 3


def test_a_hold_ends_at_its_moment() -> None:
    for until, names in ((NOW, ["x"]), (NOW + timedelta(microseconds=1), [])):
        room = Room({"a": 1}, holds={"g": until})
        assert [name for name, _ in dispatch([due("x", "g")], AtWork(), room, NOW)] == names


def test_who_must_run_at_a_place_waits_for_it() -> None:
    all_due = [due("x", place="b", hours=-2), due("y", place="gone", hours=-2), due("z", hours=-1)]
    assert dispatch(all_due, AtWork(), Room({"a": 1, "b": 0}), NOW) == [("z", "a")]
    assert dispatch(all_due, AtWork(), Room({"a": 1, "b": 1}), NOW) == [("x", "b"), ("z", "a")]


def test_a_place_is_chosen_among_those_with_room() -> None:
    asked: list[tuple[str, list[str]]] = []

    def choose(name: str, places: object) -> str:
        asked.append((name, sorted(places)))  # type: ignore[call-overload]
        return "b" if name != "nowhere" else ""

    room = Room({"a": 1, "b": 1, "c": 0}, choose=choose)
    all_due = [due("nowhere", hours=-3), due("x", hours=-2), due("y", hours=-1)]
    assert dispatch(all_due, AtWork(), room, NOW) == [("x", "b")], "y waits for b"
    assert asked == [("nowhere", ["a", "b"]), ("x", ["a", "b"]), ("y", ["a"])]


def test_large_runs_leave_a_slot_to_others_unless_there_is_only_one() -> None:
    large = [due(f"l{number}", is_large=True) for number in range(4)]
    assert len(dispatch(large, AtWork(), Room({"a": 1}, most_large=3), NOW)) == 1
    assert len(dispatch(large, AtWork(), Room({"a": 3}, most_large=9), NOW)) == 2
    assert len(dispatch(large, AtWork(), Room({"a": 9}, most_large=3), NOW)) == 3
    busy = AtWork(places={"a": 2}, large={"a": 1})
    assert len(dispatch(large, busy, Room({"a": 1}, most_large=2), NOW)) == 1
    assert dispatch(large, AtWork(large={"a": 2}), Room({"a": 5}, most_large=2), NOW) == []
    assert dispatch(large, AtWork(), Room({"a": 5, "b": 2}, most_large=1), NOW) == [
        ("l0", "a"),
        ("l1", "b"),
    ]
