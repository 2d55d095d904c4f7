"""The pace of a host, shared by processes through a file."""

from pathlib import Path

import pytest

from politeweb.file_pace import FilePace, resting_hosts
from politeweb.pace import LONGEST_PAUSE


class _Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_two_processes_share_the_turns_of_a_host(tmp_path: Path) -> None:
    clock = _Clock()
    one, two = (FilePace(str(tmp_path), "h", 2.0, clock=clock) for _ in range(2))
    other = FilePace(str(tmp_path), "i", 2.0, clock=clock)
    assert [one.reserve(), two.reserve(), one.reserve(), other.reserve()] == [0, 2, 4, 0]


def test_a_pause_holds_everybody(tmp_path: Path) -> None:
    clock = _Clock()
    one, two = (FilePace(str(tmp_path), "h", 2.0, clock=clock) for _ in range(2))
    one.hold(60)
    one.hold(10)
    assert two.reserve() == 60


def test_a_clock_set_back_makes_nobody_wait_for_ever(tmp_path: Path) -> None:
    clock = _Clock()
    pace = FilePace(str(tmp_path), "h", 2.0, clock=clock)
    clock.now = 10_000_000.0
    pace.reserve()
    clock.now = 1000.0
    assert pace.reserve() <= 128
    pace.hold(10 * LONGEST_PAUSE)
    assert pace.reserve() <= LONGEST_PAUSE


def test_a_file_that_a_power_cut_destroyed_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "hosts.sqlite").write_bytes(b"damaged" * 999)
    clock = _Clock()
    one, two = (FilePace(str(tmp_path), "h", 2.0, clock=clock) for _ in range(2))
    assert [one.reserve(), two.reserve(), one.reserve()] == [2, 2, 4]


def test_a_pause_is_kept_in_a_new_file_where_the_old_one_was_destroyed(tmp_path: Path) -> None:
    (tmp_path / "hosts.sqlite").write_bytes(b"damaged" * 999)
    clock = _Clock()
    one, two = (FilePace(str(tmp_path), "h", 2.0, clock=clock) for _ in range(2))
    one.hold(60)
    assert two.reserve() == 60


def test_who_does_not_decide_goes_no_faster_than_who_does(tmp_path: Path) -> None:
    clock = _Clock()
    fleet = FilePace(str(tmp_path), "h", 5.0, clock=clock)
    files = FilePace(str(tmp_path), "h", 1.0, decides=False, clock=clock)
    assert [files.reserve(), files.reserve()] == [0, 1], "nobody has decided yet"
    assert [fleet.reserve(), files.reserve(), files.reserve(), fleet.reserve()] == [2, 7, 12, 17]


def test_a_file_that_cannot_be_written_is_an_error_of_the_disk(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"hosts\.sqlite"):
        FilePace(str(tmp_path / "nowhere"), "h", 1.0).reserve()


def test_hosts_that_rest_are_told_the_longest_first(tmp_path: Path) -> None:
    clock = _Clock()
    assert resting_hosts(str(tmp_path), clock.now) == []
    assert list(tmp_path.iterdir()) == []
    for host, seconds in (("a", 60.0), ("b", 0.0), ("c", 90.0)):
        FilePace(str(tmp_path), host, 2.0, clock=clock).hold(seconds)
    clock.now += 10
    assert resting_hosts(str(tmp_path), clock.now) == [("c", 80.0), ("a", 50.0)]
    assert resting_hosts(str(tmp_path), clock.now, 1) == [("c", 80.0)]
    assert resting_hosts(str(tmp_path), clock.now + 100) == []


def test_a_file_of_turns_that_is_damaged_tells_of_no_host(tmp_path: Path) -> None:
    (tmp_path / "hosts.sqlite").write_bytes(b"no database" * 500)
    assert resting_hosts(str(tmp_path), 0.0) == []
