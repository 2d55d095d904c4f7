"""When runs are due and on which node they start, and which state an endpoint is in."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from politeweb.addresses import host_of
from silofleet.schedule import (
    MOST_FRUITLESS,
    after,
    back,
    due_of,
    is_count_due,
    placed,
    quarantined,
    room_of,
    startable,
    state_of,
)
from silofleet.values import Ended, Endpoint, Facts, Node, Policy, RunOutcome, State
from silowork.due.dispatch import AtWork, Room, dispatch
from silowork.due.hours import Hours, is_within

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
POLICY = Policy()
WISH = Endpoint("a", "https://a.example/oai")
FACTS = Facts("a", "a.example", NOW, started=NOW, due=NOW, run=1)
FAILURES = [RunOutcome.FAILED, RunOutcome.BLOCKED, RunOutcome.MOVED]


def ended(outcome: RunOutcome, **more) -> Ended:
    return Ended(outcome, f"it was {outcome}", more.pop("at", NOW + HOUR), **more)


def after_all(outcomes, facts=FACTS, wish=WISH, **more) -> Facts:
    for outcome in outcomes:
        facts = after(facts, wish, POLICY, ended(outcome, **more))
    return facts


# --- hosts


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://EPrints.Example.ORG:8443/oai?x=y", "eprints.example.org"),
        ("http://example.org./oai", "example.org"),
        ("http://127.0.0.1:8080/oai", "127.0.0.1:8080"),
        ("http://localhost:81/oai", "localhost:81"),
        ("http://[::1]:82/oai", "::1:82"),
        ("http://localhost/oai", "localhost"),
        ("http://[x/", ""),
    ],
)
def test_hosts_have_a_port_only_on_loopback(url, host):
    assert host_of(url) == host


# --- when


def test_a_new_endpoint_is_due_at_once():
    assert due_of(Facts("a", "a.example", NOW), WISH) == NOW


def test_a_whole_run_is_followed_by_one_a_day_after_its_start():
    facts = after(FACTS, WISH, POLICY, ended(RunOutcome.WHOLE, records=7, promised=7, changed=2))
    assert facts.due is not None
    assert abs(facts.due - (NOW + DAY)) <= 0.05 * DAY
    assert (facts.run, facts.records, facts.promised, facts.whole) == (0, 7, 7, NOW + HOUR)
    assert (facts.outcomes, facts.said) == ("w", "it was whole")


def test_runs_of_many_endpoints_are_spread_and_each_is_the_same_when_asked_again():
    names = [f"n{number}" for number in range(200)]
    dues = [after_all([RunOutcome.WHOLE], FACTS._replace(name=name)).due for name in names]
    again = [after_all([RunOutcome.WHOLE], FACTS._replace(name=name)).due for name in names]
    assert dues == again
    assert max(dues) - min(dues) > 0.09 * DAY


def test_failures_rest_longer_and_longer_and_end_in_quarantine():
    facts, pauses = FACTS, []
    for _ in range(12):
        facts = after(facts, WISH, POLICY, ended(RunOutcome.FAILED))
        pauses.append(facts.due - (NOW + HOUR))
    assert pauses[:7] == [6 * HOUR * 2**number for number in range(7)]
    assert set(pauses[7:]) == {30 * DAY}
    assert facts.is_quarantined
    assert facts.failures == 12


@given(st.lists(st.sampled_from(FAILURES), min_size=2, max_size=40), st.integers(1, 20))
def test_pauses_never_shrink_while_failures_go_on(outcomes, most):
    policy, facts, last = replace(POLICY, most_failures=most), FACTS, timedelta(0)
    for outcome in outcomes:
        facts = after(facts, WISH, policy, ended(outcome))
        pause = facts.due - facts.ended
        assert last <= pause <= timedelta(days=30)
        last = pause


@given(st.lists(st.sampled_from(RunOutcome), max_size=60), st.booleans())
def test_whatever_happens_an_endpoint_is_due_again_within_a_month(outcomes, adaptive):
    wish, facts = replace(WISH, adaptive=adaptive), FACTS
    for number, outcome in enumerate(outcomes):
        at = NOW + number * HOUR
        facts = after(facts, wish, POLICY, ended(outcome, at=at, hold=at + HOUR, began=at))
        assert at <= due_of(facts, wish) <= at + 30 * DAY
        assert state_of(facts, wish, at) is not State.NEW
        is_whole = state_of(facts, wish, at) is State.WHOLE
        assert not is_whole or facts.outcomes.rstrip("ch").endswith("w")


def test_an_answer_ends_the_quarantine():
    facts = after_all([RunOutcome.FAILED] * 9)
    assert facts.is_quarantined
    for outcome in (RunOutcome.WHOLE, RunOutcome.PARTIAL, RunOutcome.SUSPICIOUS):
        answered = after(facts, WISH, POLICY, ended(outcome))
        assert (answered.is_quarantined, answered.failures) == (False, 0)
    assert due_of(back(facts, NOW), WISH) == NOW
    by_hand = quarantined(FACTS._replace(run=0), POLICY, NOW)
    assert (by_hand.is_quarantined, by_hand.due) == (True, NOW + 30 * DAY)


def test_a_moved_repository_is_offered_until_it_answers():
    facts = after(FACTS, WISH, POLICY, ended(RunOutcome.MOVED, moved_to="https://b.example/oai"))
    facts = after(facts, WISH, POLICY, ended(RunOutcome.FAILED))
    assert facts.moved_to == "https://b.example/oai"
    assert state_of(facts, WISH, NOW) is State.MOVED
    assert after_all([RunOutcome.WHOLE], facts).moved_to == ""


def test_a_pause_of_the_host_moves_the_run_and_is_no_failure():
    facts = after(FACTS, WISH, POLICY, ended(RunOutcome.HELD, hold=NOW + 3 * HOUR))
    assert (facts.due, facts.failures) == (NOW + 3 * HOUR, 0)


def test_a_host_that_always_asks_for_a_moment_rests_all_the_same():
    facts = after_all([RunOutcome.HELD] * (MOST_FRUITLESS + 2), hold=NOW + HOUR)
    assert facts.due == NOW + HOUR + 12 * HOUR
    assert facts.failures == 0


def test_a_cut_run_is_begun_again_at_once_but_not_forever():
    facts = after_all([RunOutcome.CUT] * MOST_FRUITLESS)
    assert (facts.due, facts.failures) == (NOW + HOUR, 0)
    facts = after_all([RunOutcome.CUT], facts)
    assert (facts.due, facts.failures) == (NOW + 7 * HOUR, 1)
    assert after_all([RunOutcome.CUT] * 8, facts).is_quarantined


def test_a_partial_run_is_not_whole_and_lowers_no_mark():
    facts = after_all([RunOutcome.WHOLE], promised=100, records=100)
    facts = after(facts, WISH, POLICY, ended(RunOutcome.PARTIAL, at=NOW + DAY, promised=90))
    assert (facts.whole, facts.promised, facts.records) == (NOW + HOUR, 100, 100)
    assert state_of(facts, WISH, NOW) is State.PARTIAL


def test_after_a_suspicious_list_the_one_before_stays_the_measure():
    facts = after_all([RunOutcome.WHOLE], promised=100, records=100)
    facts = after(facts, WISH, POLICY, ended(RunOutcome.SUSPICIOUS, promised=10))
    assert facts.promised == 100
    assert state_of(facts, WISH, NOW) is State.SUSPICIOUS


def test_adaptive_intervals_follow_the_changes_between_their_bounds():
    wish = replace(WISH, adaptive=True)
    quiet = after_all([RunOutcome.WHOLE] * 9, wish=wish, changed=0)
    assert quiet.interval == timedelta(days=7)
    busy = after_all([RunOutcome.WHOLE] * 2, quiet, wish, changed=1)
    assert busy.interval == timedelta(days=1.75)
    assert after_all([RunOutcome.WHOLE] * 9, busy, wish, changed=1).interval == DAY
    assert after_all([RunOutcome.WHOLE], busy).interval is None


def test_what_a_person_asked_for_is_due_now_at_any_hour_and_paused():
    closed = replace(WISH, hours=Hours(time(1), time(2)), is_paused=True)
    asked = FACTS._replace(run=0, is_asked=True)
    assert due_of(asked, closed) <= NOW
    assert due_of(asked._replace(is_asked=False), closed) is None
    assert due_of(asked._replace(run=3), WISH) is None
    assert not after_all([RunOutcome.WHOLE], asked).is_asked


ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"]
TIMES = st.times().map(lambda one: one.replace(second=0, microsecond=0))


@given(st.integers(0, 25 * 366 * 24 * 60), TIMES, TIMES, st.sampled_from(ZONES))
def test_a_run_falls_into_its_hours_whatever_the_clocks_do(minutes, begin, end, zone):
    hours = Hours(begin, end, zone)
    moment = datetime(2011, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    due = due_of(FACTS._replace(run=0, due=moment), replace(WISH, hours=hours))
    assert is_within(hours, due)
    assert moment <= due <= moment + 3 * DAY
    local = due.astimezone(ZoneInfo(zone)).time()
    if begin < end:
        assert begin <= local < end
    else:
        assert local >= begin or local < end or begin == end


def test_hours_at_night_are_open_from_evening_to_morning():
    jakarta = replace(WISH, hours=Hours(time(20), time(6), "Asia/Jakarta"))  # 13:00-23:00 UTC
    due = {
        hour: due_of(FACTS._replace(run=0, due=NOW.replace(hour=hour)), jakarta).hour
        for hour in (12, 13, 22, 23)
    }
    assert due == {12: 13, 13: 13, 22: 22, 23: 13}


def test_a_run_changes_no_fact_that_is_not_about_runs():
    kept = ("name", "host", "added", "node", "epoch")
    facts = Facts("a", "h", NOW - DAY, "n", 7, 3, NOW, NOW, RunOutcome.CUT, "x", 2, NOW, 5, 6, NOW)
    done = after(facts, WISH, POLICY, ended(RunOutcome.FAILED))
    assert [getattr(done, name) for name in kept] == [getattr(facts, name) for name in kept]
    about_runs = {
        *("run", "started", "ended", "outcome", "said", "failures", "whole", "records", "promised"),
        *("due", "interval", "is_quarantined", "moved_to", "is_asked", "outcomes"),
    }
    assert set(Facts._fields) == about_runs | set(kept)
    assert (done.whole, done.records, done.promised, done.outcomes) == (NOW, 5, 6, "f")


def test_an_end_may_say_when_its_run_began():
    facts = after(FACTS, WISH, POLICY, ended(RunOutcome.WHOLE, began=NOW - 3 * HOUR))
    assert facts.started == NOW - 3 * HOUR
    assert abs(facts.due - (NOW + 21 * HOUR)) <= 0.05 * DAY


# --- states


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        ([], State.NEW),
        ([RunOutcome.WHOLE], State.WHOLE),
        ([RunOutcome.PARTIAL], State.PARTIAL),
        ([RunOutcome.FAILED], State.FAILING),
        ([RunOutcome.BLOCKED], State.BLOCKED),
        ([RunOutcome.FAILED] * 8, State.QUARANTINED),
        ([RunOutcome.CUT], State.DUE),
        ([RunOutcome.PARTIAL, RunOutcome.CUT], State.PARTIAL),
        ([RunOutcome.WHOLE, RunOutcome.HELD], State.WHOLE),
        ([RunOutcome.WHOLE, *[RunOutcome.CUT] * 6], State.FAILING),
    ],
)
def test_the_state_is_what_the_last_run_with_a_result_said(outcomes, state):
    facts = after_all(outcomes, FACTS._replace(run=0), hold=NOW + DAY)
    assert state_of(facts, WISH, NOW) is state


def test_states_that_are_not_of_the_last_run():
    facts = after_all([RunOutcome.WHOLE])._replace(node="n1")
    assert state_of(facts, WISH, NOW + 2 * DAY) is State.DUE
    assert state_of(facts, WISH, NOW, {"n1"}) is State.LOST
    assert state_of(facts, WISH, NOW, {"n2"}) is State.WHOLE
    assert state_of(facts._replace(run=4), WISH, NOW) is State.RUNNING
    assert state_of(facts, replace(WISH, is_paused=True), NOW) is State.PAUSED


# --- what starts now


def pair(name, host="", overdue=HOUR, **more) -> tuple[Facts, Endpoint]:
    of_wish = {key: more.pop(key) for key in ("hours", "is_giant", "is_paused") if key in more}
    facts = Facts(name, host or f"{name}.example", NOW, due=NOW - overdue, **more)
    return facts, Endpoint(name, f"https://{facts.host}/oai", **of_wish)


def chosen(pairs, free, busy=AtWork(), holds=None, policy=POLICY, unlimited=lambda _: False):  # noqa: B008  # frozen
    room = Room(free, policy.giant_slots, holds or {}, unlimited, place)
    return dispatch(startable(pairs, policy, NOW), busy, room, NOW)


def place(name, nodes):
    """As if only m had room."""
    return "m" if name.startswith("new") else max(nodes, default="")


def test_the_most_overdue_start_first_and_those_asked_for_before_them():
    pairs = [pair("a"), pair("b", overdue=3 * HOUR), pair("c", overdue=-DAY, is_asked=True)]
    assert chosen(pairs, {"n": 2}) == [("c", "n"), ("b", "n")]
    assert chosen(pairs, {}) == []


def test_what_may_not_start_is_left_out():
    closed = Hours(time(20), time(22))
    pairs = [
        pair("early", overdue=-HOUR), pair("night", overdue=16 * HOUR, hours=closed),
        pair("paused", is_paused=True), pair("running", run=4), pair("held", "held.example"),
        pair("shared", "shared.example"), pair("twice"), pair("elsewhere", node="lost"),
    ]  # fmt: skip
    busy = AtWork(frozenset({"twice"}), {"shared.example": 1})
    assert chosen(pairs, {"n": 9}, busy, {"held.example": NOW + HOUR}) == []
    assert len(chosen(pairs, {"n": 9}, holds={"held.example": NOW})) == 3


def test_a_host_on_loopback_may_have_any_number_of_runs():
    pairs = [pair(name, "127.0.0.1:8000") for name in "abc"]
    busy = AtWork(groups={"127.0.0.1:8000": 2})
    assert len(chosen(pairs, {"n": 9}, busy, unlimited=lambda host: True)) == 3
    assert chosen(pairs, {"n": 9}, busy) == []


def test_giants_have_a_lane_and_leave_a_slot_to_the_others():
    pairs = [pair("g1", overdue=DAY, is_giant=True), pair("g2", overdue=DAY, records=2_000_000)]
    pairs += [pair("a", node="n")]
    assert chosen(pairs, {"n": 4}) == [("g1", "n"), ("a", "n")]
    wide = replace(POLICY, giant_slots=5)
    assert chosen(pairs, {"n": 3}, policy=wide) == [("g1", "n"), ("g2", "n"), ("a", "n")]
    assert chosen(pairs, {"n": 2}, policy=wide) == [("g1", "n"), ("a", "n")]
    assert chosen(pairs, {"n": 1}, policy=wide) == [("g1", "n")]
    assert chosen(pairs, {"n": 3}, AtWork(large={"n": 1})) == [("a", "n")]


def test_an_endpoint_without_node_goes_where_it_is_placed_or_takes_no_slot():
    pairs = [pair("new1", overdue=DAY), pair("new2", overdue=DAY), pair("a", node="n")]
    assert chosen(pairs, {"m": 1, "n": 1}) == [("new1", "m"), ("a", "n")]
    assert chosen(pairs, {"n": 1}) == [("a", "n")]


PAIRS = st.lists(
    st.builds(
        pair,
        st.sampled_from("abcdefghij"),
        st.sampled_from(["x.example", "y.example", "127.0.0.1:80", ""]),
        st.integers(-1, 90).map(lambda hours: hours * HOUR),
        node=st.sampled_from(["", "m", "n"]),
        is_asked=st.booleans(),
        is_giant=st.booleans(),
        hours=st.sampled_from([None, Hours(time(11), time(13)), Hours(time(13), time(11))]),
    ),
    max_size=25,
)


@given(
    PAIRS,
    st.dictionaries(st.sampled_from("mn"), st.integers(0, 4)),
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["x.example", "z.example"]))),
    st.integers(1, 3),
)
def test_never_two_runs_of_an_endpoint_or_host_nor_more_than_the_slots(
    pairs, free, working, giant_slots
):
    busy = AtWork(frozenset(name for name, _ in working), Counter(host for _, host in working))
    first = {}
    for facts, wish in pairs:
        first.setdefault(facts.name, (facts, wish))
    room = Room(free, giant_slots, {}, lambda host: host.startswith("127."), place)
    started = dispatch(startable(first.values(), POLICY, NOW), busy, room, NOW)
    names = [name for name, _ in started]
    hosts = [first[name][0].host for name in names]
    limited = [host for host in hosts if not host.startswith("127.")]
    assert len(set(names)) == len(names)
    assert not busy.names & set(names)
    assert len(set(limited)) == len(limited)
    assert not set(busy.groups) & set(limited)
    for node, number in Counter(node for _, node in started).items():
        assert number <= free[node]
    giants = Counter(node for name, node in started if first[name][1].is_giant)
    assert all(number <= giant_slots for number in giants.values())
    for name, node in started:
        facts, wish = first[name]
        assert node == facts.node or not facts.node
        assert facts.is_asked or (facts.due <= NOW and is_within(wish.hours, NOW))


@given(PAIRS.filter(bool))
def test_something_starts_whenever_something_may(pairs):
    may = [one for one in pairs if one[0].is_asked or one[0].due <= NOW]
    may = [one for one in may if one[0].is_asked or is_within(one[1].hours, NOW)]
    assert bool(chosen(pairs, {"m": 1, "n": 2})) is bool(may)


# --- where


def test_a_disk_has_room_by_inodes_and_bytes():
    plenty = 10**13
    assert room_of(Node("i", 4, plenty, 1_000_000, NOW)) == 200_000
    assert room_of(Node("b", 4, 24_000 * 150_000, plenty, NOW)) == 150_000


def test_a_new_silo_is_placed_where_most_room_is_with_a_reserve():
    rooms = {"a": 150_000, "b": 200_000}
    assert placed(rooms, 1000, 100_000) == "b"
    assert not placed(rooms, 100_001, 100_000)
    assert placed(rooms, 100_001, reserve=0) == "b"
    assert not placed({}, 1, 0)


# --- counts


def test_records_are_counted_once_in_each_interval_and_not_by_all_at_once():
    counted = Counter()
    for number in range(200):
        facts = FACTS._replace(name=f"e{number}", outcome=RunOutcome.WHOLE)
        for day in range(1, 61):
            moment = NOW + day * DAY
            if is_count_due(facts, POLICY, moment):
                counted[day] += 1
            facts = facts._replace(started=moment, whole=moment + HOUR)
    assert counted.total() == 400
    assert max(counted.values()) < 20


def test_records_are_counted_until_a_run_is_whole_and_never_without_a_wish():
    facts = FACTS._replace(whole=NOW)
    first = next(day for day in range(31) if is_count_due(facts, POLICY, NOW + day * DAY))
    assert all(is_count_due(facts, POLICY, NOW + day * DAY) for day in range(first, first + 70))
    assert not is_count_due(facts._replace(whole=NOW + first * DAY), POLICY, NOW + first * DAY)
    assert not is_count_due(FACTS, POLICY, NOW + 99 * DAY)  # no list was whole
    assert not is_count_due(facts, replace(POLICY, count_every=0 * DAY), NOW + 99 * DAY)
