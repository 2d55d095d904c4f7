"""The clock of a fleet: what it starts, and what it keeps of the ends of runs."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from silofleet.clock import Clock, Summary
from silofleet.commands.group import no_clock
from silofleet.errors import ClockRunning, FleetRefused
from silofleet.fleet import Fleet, make_fleet
from silofleet.ledger import Run
from silofleet.orders import RunOrder
from silofleet.values import Ended, Endpoint, Facts, Hours, Node, RunOutcome, State
from silofleet.wishes import load_wishes, wishes_path
from silowork.stop import Stop

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
ROOM = 1 << 40


class _Runner:
    """A runner whose runs end as they are told to, each a minute after its start."""

    def __init__(self, *, slots: int = 2, room: int = ROOM) -> None:
        self.now, self._slots, self._room = NOW, slots, room
        self.orders: list[RunOrder] = []
        self.most = 0
        self.ends: dict[str, list[RunOutcome]] = {}
        self.hold: datetime | None = None
        self.began: datetime | None = None
        self.is_disk_full = False
        self.epoch = 1
        self.ahead = timedelta(0)  # of the clocks of its nodes
        self._working: dict[int, RunOrder] = {}

    def __call__(self) -> datetime:
        return self.now

    @property
    def progress(self) -> Mapping[int, tuple[int, int | None]]:
        return dict.fromkeys(self._working, (1, 2))

    def nodes(self) -> list[Node]:
        return [Node("local", self._slots, self._room, self._room, self.now)]

    def keeps(self, run: Run) -> bool:
        del run
        return False

    def end_own(self) -> set[int]:
        self.ends = {order.endpoint: [RunOutcome.CUT] for order in self._working.values()}
        return set(self._working)

    def start(self, order: RunOrder, node: str) -> None:
        assert node == "local"
        self.orders.append(order)
        self._working[order.run] = order
        self.most = max(self.most, len(self._working))

    def finished(self, timeout: float) -> list[tuple[int, Ended]]:
        del timeout
        self.now += timedelta(minutes=1)
        found = []
        for number, order in self._working.items():
            ends = self.ends.get(order.endpoint, [])
            outcome = ends.pop(0) if ends else RunOutcome.WHOLE
            held = self.hold if outcome is RunOutcome.HELD else None
            is_full = outcome is RunOutcome.CUT and self.is_disk_full
            records = None if order.only_probe else 10
            at = self.now + self.ahead
            ended = Ended(outcome, "said", at, records, 10, hold=held, is_disk_full=is_full)
            ended = ended._replace(epoch=self.epoch, began=self.began)
            found.append((number, ended))
        self._working.clear()
        return found


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    make_fleet(str(tmp_path))
    with Fleet(str(tmp_path)) as found:
        yield found


def _add(fleet: Fleet, count: int, host: Callable[[int], str] = "h{}.example.org".format) -> None:
    fleet.add([Endpoint(f"e{one}", f"http://{host(one)}/oai/{one}") for one in range(count)])
    for facts in fleet.ledger.facts():
        fleet.ledger.change(facts.name, lambda one: one._replace(added=NOW, due=NOW))


def _run(fleet: Fleet, runner: _Runner) -> Summary:
    return Clock(fleet, runner, clock=runner).run(Stop(), until_idle=True)


def _states(fleet: Fleet, now: datetime) -> dict[str, State]:
    return {line.endpoint.name: line.state for line in fleet.lines(now)}


def test_endpoints_whose_names_differ_only_in_case_are_not_added(fleet: Fleet) -> None:
    fleet.add([Endpoint("a", "http://a.example.org/oai")])
    for names in (["A"], ["b", "B"]):
        new = [Endpoint(one, f"http://{one}.example.org/oai2?{one}") for one in names]
        with pytest.raises(FleetRefused, match=r"differs from the endpoint .* only in case"):
            fleet.add(new)
    assert [*fleet.wishes.endpoints] == ["a"]
    path = Path(wishes_path(fleet.directory))
    text = '\n[[endpoint]]\nname = "A"\nurl = "http://b.example.org/oai"\n'
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
    assert [*load_wishes(fleet.directory).endpoints] == ["a", "A"]


def test_the_first_run_says_which_epoch_the_silo_has(fleet: Fleet) -> None:
    _add(fleet, 1)
    runner = _Runner()
    runner.epoch = 3
    _run(fleet, runner)
    runner.epoch = 4
    fleet.run_now(["e0"])
    _run(fleet, runner)
    assert fleet.ledger.facts_of("e0").epoch == 3
    assert [order.epoch for order in runner.orders] == [0, 3]


def test_every_endpoint_that_is_due_has_one_run(fleet: Fleet) -> None:
    _add(fleet, 5)
    runner = _Runner()
    runner.ends = {"e1": [RunOutcome.FAILED], "e2": [RunOutcome.PARTIAL]}
    summary = _run(fleet, runner)
    assert sorted(order.endpoint for order in runner.orders) == ["e0", "e1", "e2", "e3", "e4"]
    assert runner.most == 2
    assert summary.counts == {RunOutcome.WHOLE: 3, RunOutcome.FAILED: 1, RunOutcome.PARTIAL: 1}
    assert not summary.is_whole
    assert _states(fleet, runner.now) == {
        "e0": State.WHOLE, "e1": State.FAILING, "e2": State.PARTIAL, "e3": State.WHOLE,
        "e4": State.WHOLE,
    }  # fmt: skip
    again = _run(fleet, _Runner())
    assert again.counts == {}
    assert again.is_whole


def test_a_clock_that_ended_in_order_is_not_at_work(fleet: Fleet) -> None:
    _add(fleet, 1)
    runner, during = _Runner(), list[bool]()

    def watch(now: datetime) -> None:
        during.append(fleet.is_at_work(now))

    Clock(fleet, runner, clock=runner, watch=watch).run(Stop(), until_idle=True)
    assert all(during)
    assert during
    assert not fleet.is_at_work(runner.now)
    assert fleet.ledger.last_clock_beat() == runner.now
    (said,) = no_clock(fleet, runner.now)
    assert f"has not run since {runner.now:%Y-%m-%d %H:%M} UTC" in said
    assert no_clock(fleet, runner.now, timedelta(days=1)) == []
    fleet.ledger.clock_beat(runner.now + timedelta(seconds=1))
    assert fleet.is_at_work(runner.now + timedelta(seconds=2))


def test_a_host_has_one_run_at_a_time(fleet: Fleet) -> None:
    _add(fleet, 4, lambda _one: "shared.example.org")
    runner = _Runner()
    assert _run(fleet, runner).is_whole
    assert (len(runner.orders), runner.most) == (4, 1)


def test_hosts_on_loopback_have_no_interval(fleet: Fleet) -> None:
    _add(fleet, 2, lambda _one: "127.0.0.1:8080")
    runner = _Runner()
    _run(fleet, runner)
    assert runner.most == 2
    assert {order.pace.interval for order in runner.orders} == {0}


def test_a_host_that_asks_for_a_pause_is_left_alone(fleet: Fleet) -> None:
    _add(fleet, 3, lambda _one: "shared.example.org")
    runner = _Runner()
    runner.ends = {"e0": [RunOutcome.HELD]}
    runner.hold = NOW + timedelta(hours=2)
    summary = _run(fleet, runner)
    assert [order.endpoint for order in runner.orders] == ["e0"]
    assert set(summary.waiting) == {"e1", "e2"}
    assert "asks for a pause until 2026-11-23 14:00" in summary.waiting["e1"]
    later = _Runner()
    later.now = NOW + timedelta(hours=3)
    assert _run(fleet, later).is_whole
    assert len(later.orders) == 3


@pytest.mark.parametrize("hours", [5, -5])
def test_the_wrong_clock_of_a_node_moves_no_end_and_no_pause(fleet: Fleet, hours: int) -> None:
    _add(fleet, 1)
    runner = _Runner()
    runner.ahead = timedelta(hours=hours)
    runner.ends = {"e0": [RunOutcome.HELD]}
    end = NOW + timedelta(minutes=1)
    runner.hold = end + runner.ahead + timedelta(hours=1)
    _run(fleet, runner)
    assert NOW <= fleet.ledger.facts_of("e0").ended <= end  # type: ignore[operator]
    assert fleet.ledger.holds() == {"h0.example.org": end + timedelta(hours=1)}


def test_runs_that_cannot_be_started_are_no_failures(fleet: Fleet) -> None:
    _add(fleet, 2)
    stop = Stop()

    class Full(_Runner):
        """A Redis whose disk is full: it reads, and writes nothing."""

        def start(self, order: RunOrder, node: str) -> None:
            raise OSError("MISCONF")

        def finished(self, timeout: float) -> list[tuple[int, Ended]]:
            if self.now > NOW + timedelta(hours=1):
                stop.ask()
            return super().finished(timeout)

    assert set(_run(fleet, Full()).waiting.values()) == {"it could not be started: MISCONF"}
    runner = Full()
    Clock(fleet, runner, clock=runner).run(stop)
    for facts in fleet.ledger.facts():
        assert (facts.run, facts.failures, facts.said) == (
            0, 0, "it could not be started: MISCONF",
        )  # fmt: skip
        assert (facts.started, facts.node) == (None, "")
        assert facts.due is not None
        assert facts.due <= runner.now + timedelta(minutes=1)


def test_absurd_times_in_a_report_do_not_end_the_clock(fleet: Fleet) -> None:
    _add(fleet, 1)
    runner = _Runner()
    runner.ahead = datetime.max.replace(tzinfo=UTC) - NOW - timedelta(days=1)
    runner.ends, runner.hold = {"e0": [RunOutcome.HELD]}, datetime.min.replace(tzinfo=UTC)
    assert "e0" not in _run(fleet, runner).waiting


def test_a_run_that_was_cut_is_begun_again_but_not_for_ever(fleet: Fleet) -> None:
    _add(fleet, 1)
    runner = _Runner()
    runner.ends = {"e0": [RunOutcome.CUT, RunOutcome.CUT]}
    assert _run(fleet, runner).is_whole
    assert len(runner.orders) == 3
    _add(fleet, 2)
    crashing = _Runner()
    crashing.now = NOW + timedelta(days=2)
    crashing.ends = {"e1": [RunOutcome.CUT] * 50}
    summary = _run(fleet, crashing)
    assert summary.outcomes["e1"] is RunOutcome.CUT
    assert len(crashing.orders) < 10


def test_runs_of_a_killed_clock_are_begun_again(fleet: Fleet) -> None:
    _add(fleet, 1)
    lost = fleet.ledger.begin("e0", "local", NOW)
    runner = _Runner()
    assert _run(fleet, runner).is_whole
    assert [order.run for order in runner.orders] == [lost.number + 1]
    assert [run.outcome for run in fleet.ledger.runs_of("e0")] == [RunOutcome.WHOLE, RunOutcome.CUT]


def test_a_quarantined_endpoint_is_only_probed_and_comes_back(fleet: Fleet) -> None:
    _add(fleet, 1)
    fleet.ledger.change("e0", lambda one: one._replace(is_quarantined=True, failures=8))
    runner = _Runner()
    _run(fleet, runner)
    assert [order.only_probe for order in runner.orders] == [True]
    back = fleet.ledger.facts_of("e0")
    assert (back.is_quarantined, back.failures, back.run) == (False, 0, 0)
    later = _Runner()
    later.now = NOW + timedelta(hours=1)
    assert _run(fleet, later).is_whole
    assert [order.only_probe for order in later.orders] == [False]


def test_a_probe_that_an_earlier_clock_began_is_no_harvest(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    _add(fleet, 1)
    fleet.ledger.change("e0", lambda one: one._replace(is_quarantined=True, failures=8))
    run = fleet.ledger.begin("e0", "local", NOW)
    runner = _Runner()
    answered = [(run.number, Ended(RunOutcome.WHOLE, "the repository answers", NOW))]
    monkeypatch.setattr(runner, "keeps", lambda _run: True)
    monkeypatch.setattr(runner, "finished", lambda _timeout: answered)
    stop = Stop()

    def shown(done: int, due: int, working: int) -> None:
        del done, due, working
        stop.ask()

    Clock(fleet, runner, clock=runner).run(stop, shown=shown)
    found = fleet.ledger.facts_of("e0")
    assert (found.is_quarantined, found.whole, found.outcomes) == (False, None, "")


def test_nothing_starts_on_a_disk_without_room(fleet: Fleet) -> None:
    _add(fleet, 1)
    runner = _Runner(room=1000)
    summary = _run(fleet, runner)
    assert runner.orders == []
    assert summary.waiting == {"e0": "no disk of an open node has room"}


def test_after_a_full_disk_nothing_starts_there_for_a_while(fleet: Fleet) -> None:
    _add(fleet, 1)
    for hour in range(12):
        runner = _Runner()
        runner.now = NOW + timedelta(hours=hour)
        runner.ends, runner.is_disk_full = {"e0": [RunOutcome.CUT]}, True
        assert _run(fleet, runner).waiting == {"e0": "the disk of local has no room"}
        assert len(runner.orders) == 1
    assert fleet.ledger.facts_of("e0").failures == 0


def test_requests_have_the_contact_of_the_command_or_of_the_wishes(fleet: Fleet) -> None:
    _add(fleet, 1)
    text = Path(wishes_path(fleet.directory)).read_text("utf-8")
    Path(wishes_path(fleet.directory)).write_text(
        text.replace("[policy]\n", '[policy]\ncontact = "me@example.org"\n'), "utf-8"
    )
    for contact, sent in ((None, "me@example.org"), ("you@example.org", "you@example.org")):
        fleet.run_now(["e0"])
        runner = _Runner()
        runner.now = NOW + timedelta(hours=len(contact or ""))
        Clock(fleet, runner, clock=runner, contact=contact).run(Stop(), until_idle=True)
        assert [order.contact for order in runner.orders] == [sent]


def test_a_clock_waits_a_moment_for_the_first_node(fleet: Fleet) -> None:
    class Late(_Runner):
        def nodes(self) -> list[Node]:
            return super().nodes() if self.now - NOW >= self.after else []

    _add(fleet, 1)
    never = Late()
    never.after = timedelta(days=1)
    assert "no node reports" in _run(fleet, never).waiting["e0"]
    late = Late()
    late.after = timedelta(minutes=1)
    assert _run(fleet, late).is_whole


def test_an_endpoint_waits_for_the_node_that_is_wished_and_for_no_other(fleet: Fleet) -> None:
    _add(fleet, 1)
    fleet.change("e0", node="typo")
    runner = _Runner()
    assert _run(fleet, runner).waiting == {"e0": "its node typo does not report"}
    line = fleet.line("e0")
    assert line.state is State.NEW
    assert line.reason == "it waits for the node typo, which has never reported"
    fleet.change("e0", node="local")
    assert fleet.line("e0").reason == ""
    assert _run(fleet, runner).is_whole


def test_endpoints_whose_hours_end_while_they_wait_are_said_to_do_so(fleet: Fleet) -> None:
    _add(fleet, 3, lambda _one: "shared.example.org")
    for one in range(3):
        fleet.change(f"e{one}", hours=Hours(NOW.time(), (NOW + timedelta(minutes=2)).time()))
    assert _run(fleet, _Runner()).waiting == {"e2": "its hours are over"}


def test_a_paused_endpoint_is_not_due_and_one_that_is_asked_for_is(fleet: Fleet) -> None:
    _add(fleet, 2)
    fleet.change("e0", is_paused=True)
    fleet.change("e1", is_paused=True)
    fleet.run_now(["e1"])
    runner = _Runner()
    _run(fleet, runner)
    assert [order.endpoint for order in runner.orders] == ["e1"]


def test_a_run_that_was_asked_for_and_cut_is_begun_again_but_not_for_ever(fleet: Fleet) -> None:
    _add(fleet, 1)
    fleet.change("e0", is_paused=True)
    fleet.run_now(["e0"])
    runner = _Runner()
    runner.ends = {"e0": [RunOutcome.CUT]}
    assert _run(fleet, runner).is_whole
    assert len(runner.orders) == 2
    fleet.run_now(["e0"])
    crashing = _Runner()
    crashing.ends = {"e0": [RunOutcome.CUT] * 50}
    for hour in range(5):
        crashing.now = NOW + timedelta(hours=1 + hour)
        _run(fleet, crashing)
    assert len(crashing.orders) < 10
    assert not fleet.ledger.facts_of("e0").is_asked


def test_the_first_run_that_made_a_silo_gives_it_an_epoch(fleet: Fleet) -> None:
    _add(fleet, 1)
    runner = _Runner()
    _run(fleet, runner)
    assert runner.orders[0].epoch == 0
    assert fleet.ledger.facts_of("e0").epoch == 1


def test_a_running_clock_takes_up_what_others_change(fleet: Fleet) -> None:
    _add(fleet, 1)
    stop, runner = Stop(), _Runner()
    looks = 0

    def shown(_done: int, _due: int, _working: int) -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            with Fleet(fleet.directory) as other:
                other.add([Endpoint("late", "http://late.example.org/oai")])
                other.ledger.change("late", _due_now)
                other.run_now(["e0"])
        if looks == 8:
            stop.ask()

    Clock(fleet, runner, clock=runner).run(stop, shown=shown)
    assert [order.endpoint for order in runner.orders] == ["e0", "e0", "late"]


def _due_now(facts: Facts) -> Facts:
    return facts._replace(added=NOW, due=NOW)


def test_no_run_is_at_work_after_the_clock_was_stopped(fleet: Fleet) -> None:
    _add(fleet, 1)
    stop = Stop()

    class Stopped(_Runner):
        def start(self, order: RunOrder, node: str) -> None:
            super().start(order, node)
            stop.ask()

        def finished(self, timeout: float) -> list[tuple[int, Ended]]:
            return super().finished(timeout) if self.ends else []

    runner = Stopped()
    assert not Clock(fleet, runner, clock=runner).run(stop, until_idle=True).outcomes
    assert _states(fleet, runner.now) == {"e0": State.DUE}
    later = _Runner()
    later.now = runner.now
    assert _run(fleet, later).counts == {RunOutcome.WHOLE: 1}


def test_a_fleet_has_one_clock(fleet: Fleet) -> None:
    _add(fleet, 1)
    runner = _Runner()
    clock = Clock(fleet, runner, clock=runner)
    stop = Stop()

    def shown(*_numbers: int) -> None:
        stop.ask()
        with pytest.raises(ClockRunning):
            Clock(fleet, _Runner()).run(Stop())

    clock.run(stop, shown=shown)
    assert stop.asked


def test_the_clock_outlives_nonsense_in_the_wishes(fleet: Fleet) -> None:
    _add(fleet, 2)
    path = wishes_path(fleet.directory)
    runner = _Runner(slots=1)
    stop, texts = Stop(), []

    def spoil(done: int, due: int, working: int) -> None:
        del due, working
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
        if done == 1:
            Path(path).write_text("[[endpoint", encoding="utf-8")

    summary = Clock(fleet, runner, clock=runner).run(stop, until_idle=True, shown=spoil)
    assert summary.counts[RunOutcome.WHOLE] == 2
    Path(path).write_text(texts[0], encoding="utf-8")
    assert set(_states(fleet, runner.now).values()) == {State.WHOLE}


def test_what_is_known_outlives_an_empty_file_of_wishes(fleet: Fleet) -> None:
    _add(fleet, 2)
    _run(fleet, _Runner())
    path = Path(wishes_path(fleet.directory))
    text = path.read_text(encoding="utf-8")
    path.write_text("", encoding="utf-8")
    assert fleet.lines() == []
    path.write_text(text, encoding="utf-8")
    assert [(one.facts.node, one.facts.records) for one in fleet.lines()] == [("local", 10)] * 2


def test_a_pause_without_end_is_kept_as_long_as_the_longest_rest(fleet: Fleet) -> None:
    _add(fleet, 2, lambda _: "same.example.org")
    runner = _Runner()
    runner.ends, runner.hold = {"e0": [RunOutcome.HELD]}, datetime(9999, 12, 31, tzinfo=UTC)
    _run(fleet, runner)
    longest = fleet.wishes.policy.longest_rest
    assert fleet.ledger.holds()["same.example.org"] <= runner.now + longest
    assert fleet.ledger.facts_of("e0").due <= runner.now + longest  # type: ignore[operator]
    runner.now += longest
    assert _run(fleet, runner).counts == {RunOutcome.WHOLE: 2}


def test_a_node_with_a_wrong_clock_does_not_say_when_the_next_run_is(fleet: Fleet) -> None:
    _add(fleet, 1)
    runner = _Runner()
    runner.began = datetime(2099, 1, 1, tzinfo=UTC)
    _run(fleet, runner)
    assert fleet.ledger.facts_of("e0").due <= runner.now + timedelta(days=2)  # type: ignore[operator]


@pytest.mark.parametrize("is_new", [True, False])
def test_what_ran_while_the_clock_was_wrong_is_due(fleet: Fleet, *, is_new: bool) -> None:
    _add(fleet, 1)
    runner = _Runner()
    runner.now += timedelta(days=3650)
    if is_new:
        fleet.ledger.change("e0", lambda one: one._replace(added=runner.now, due=runner.now))
    else:
        _run(fleet, runner)
    runner.now = NOW
    assert _run(fleet, runner).counts == {RunOutcome.WHOLE: 1}
    assert fleet.ledger.facts_of("e0").whole < NOW + timedelta(days=1)  # type: ignore[operator]


def test_a_clock_that_is_set_back_while_the_fleet_runs(fleet: Fleet) -> None:
    _add(fleet, 1)
    runner = _Runner()
    stop, looks = Stop(), []

    def shown(done: int, due: int, working: int) -> None:
        del done, due, working
        looks.append(len(runner.orders))
        if len(looks) == 3:
            runner.now -= timedelta(days=3650)
        if len(looks) == 6:
            stop.ask()

    Clock(fleet, runner, clock=runner).run(stop, shown=shown)
    assert [looks[2], looks[-1]] == [1, 2]


def test_a_full_disk_rests_no_longer_because_the_clock_is_set_back(fleet: Fleet) -> None:
    _add(fleet, 1)
    runner = _Runner()
    runner.ends, runner.is_disk_full = {"e0": [RunOutcome.CUT]}, True
    stop, looks = Stop(), iter(range(9))

    def shown(*_counts: int) -> None:
        look = next(looks)
        if look == 2:
            runner.now -= timedelta(days=3650)
        if look == 5:
            stop.ask()

    Clock(fleet, runner, clock=runner).run(stop, shown=shown)
    assert len(runner.orders) == 2


@pytest.mark.parametrize("was_asked", [True, False])
def test_a_run_that_is_asked_for_during_another_follows_it(
    fleet: Fleet, *, was_asked: bool
) -> None:
    _add(fleet, 1)
    if was_asked:
        fleet.run_now(["e0"])
    runner = _Runner()
    stop, looks = Stop(), []
    start = runner.start

    def started(order: RunOrder, node: str) -> None:
        start(order, node)
        if not was_asked and len(runner.orders) == 1:
            fleet.run_now(["e0"])

    def shown(done: int, due: int, working: int) -> None:
        looks.append((done, due, working))
        if len(looks) == 5:
            stop.ask()

    runner.start = started  # type: ignore[method-assign]
    Clock(fleet, runner, clock=runner).run(stop, shown=shown)
    assert len(runner.orders) == (1 if was_asked else 2)
    assert not fleet.ledger.facts_of("e0").is_asked
