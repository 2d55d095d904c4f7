"""The turns of the threads of a process."""

import threading

from politeweb.pace import Pace, own_turns


def test_threads_that_share_a_pace_are_given_turns_one_after_the_other():
    pace = Pace(0.5, monotonic=lambda: 100.0)
    waits: list[float] = []
    threads = [threading.Thread(target=lambda: waits.append(pace.reserve())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(waits) == [n * 0.5 for n in range(8)]


def test_a_pause_holds_turns_that_are_not_given_yet_and_longer_ones_stay() -> None:
    now = [100.0]
    pace = Pace(2.0, monotonic=lambda: now[0])
    assert [pace.reserve(), pace.reserve()] == [0, 2]
    pace.hold(30)
    pace.hold(10)
    assert pace.reserve() == 30
    now[0] = 200.0
    assert pace.reserve() == 0


def test_each_host_has_turns_of_its_own() -> None:
    turns = own_turns()
    assert turns("http://h/a", 60.0).reserve() == 0
    assert turns("http://i/a", 60.0).reserve() == 0
    assert 50 < turns("http://h/b", 60.0).reserve() <= 60
    assert 100 < turns("http://h/c", 5.0).reserve() <= 120, "an interval holds from its turn on"
