"""A profile follows its visitor's events, however often and in which order they come."""

import random
from collections.abc import Mapping
from typing import Any

import pytest

from usagestats.visitors.events import Visit
from usagestats.visitors.profiles import Profiles
from usagestats.visitors.settings import Keeping

pytestmark = pytest.mark.long
NOW = 4_000_000_000_000  # in the year 2096, so that nothing expires here


@pytest.fixture
def profiles(redis_url: str, database: Any) -> Profiles:
    return Profiles(redis_url, "g", Keeping())


def placed(visits: list[Visit], first: int = 0) -> list[tuple[str, int, int, Visit]]:
    return [("t", 0, offset, visit) for offset, visit in enumerate(visits, first)]


def view(session: str, page: str | None, time: int, user: str = "ü") -> Visit:
    return Visit(user, session, page, NOW + time)


def model(visits: list[Visit]) -> dict[str, str]:
    """The rules of 2010 in plain Python, for the events of one visitor in order of time."""
    known: dict[str, str] = {}
    for one in visits:
        if known.get("visit_id") != one.session:
            known = {name: known[name] for name in known if not name.startswith("visit_")}
        known |= {"visitor_id": one.user, "visit_id": one.session}
        if one.page is not None:
            for name in ("visitor_first_page", "visit_first_page"):
                known.setdefault(name, one.page)
            known |= {"visitor_last_page": one.page, "visit_last_page": one.page}
    return known


STORY = [
    view("s1", None, 1), view("s1", "Home", 2), view("s1", "A", 3), view("s2", None, 4),
    view("s2", "B", 5), view("s2", "B", 5), view("s2", "C", 5),
]  # fmt: skip


def test_each_event_has_the_profile_after_it(profiles: Profiles) -> None:
    found = profiles.after(placed(STORY))
    assert found == [model(STORY[: at + 1]) for at in range(len(STORY))]


def test_uncommitted_events_are_answered_as_the_first_time(profiles: Profiles) -> None:
    first = profiles.after(placed(STORY))
    assert profiles.after(placed(STORY)) == first
    assert profiles.after(placed(STORY)[3:]) == first[3:]


def test_a_replay_of_committed_events_never_turns_a_profile_back(
    profiles: Profiles, database: Any
) -> None:
    last = profiles.after(placed(STORY))[-1]
    profiles.committed(("t", 0, at) for at in range(len(STORY)))
    assert not database.exists("vp.answers:g:t:0")
    assert profiles.after(placed(STORY)) == [last] * len(STORY)


def test_what_another_process_did_before_it_died_is_kept(profiles: Profiles) -> None:
    first = profiles.after(placed(STORY))
    profiles.committed(("t", 0, at) for at in range(2))
    assert profiles.after(placed(STORY)[2:]) == first[2:]


def test_late_events_change_nothing(profiles: Profiles, database: Any) -> None:
    last = profiles.after(placed(STORY))[-1]
    late = ("t", 1, 0, view("s9", "Late", 2))
    assert profiles.after([late]) == [last]
    assert database.hgetall("vp:ü")["visit_id"] == "s2"


def test_a_topic_made_again_does_not_stop_the_profile(profiles: Profiles) -> None:
    profiles.after(placed(STORY, first=1000))
    later = view("s3", "New", 100)
    assert profiles.after(placed([later])) == [model([*STORY, later])]


def test_any_interleaving_of_two_owners_of_a_partition_gives_one_answer(
    redis_url: str, profiles: Profiles
) -> None:
    drawn = random.Random(7)
    story = [view(drawn.choice("ab"), drawn.choice(["P", "Q", None]), at // 3) for at in range(60)]
    other = Profiles(redis_url, "g", Keeping())
    told: dict[int, set[str]] = {}

    def go(owner: Profiles, at: int) -> Mapping[str, str]:
        (found,) = owner.after([placed(story)[at]])
        told.setdefault(at, set()).add(str(sorted(found.items())))
        return found

    slow = 0
    for at in range(60):
        go(profiles, at)
        while slow <= at and drawn.random() < 0.7:
            go(other, slow)
            slow += 1
    assert all(len(answers) == 1 for answers in told.values())
    assert told[59] == {str(sorted(model(story).items()))}


def test_profiles_expire_after_the_last_event(redis_url: str, database: Any) -> None:
    profiles = Profiles(redis_url, "g", Keeping(prefix="p", days=2))
    profiles.after(placed([view("s", "A", 0), view("s", "A", 5000)]))
    assert database.pexpiretime("p:ü") == NOW + 5000 + 2 * 86_400_000
    (found,) = profiles.after([("t", 1, 1, Visit("old", "s", "A", 1000))])
    assert found["visitor_id"] == "old"
    assert not database.exists("p:old")
    assert all(database.pttl(key) > 0 for key in database.scan_iter())
