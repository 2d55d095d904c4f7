"""The pace of a host, shared by processes through a file."""

import errno
import sqlite3
import threading
from pathlib import Path

import pytest

from politeweb import file_pace
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


def test_a_closed_pace_is_opened_again_by_its_next_turn(tmp_path: Path) -> None:
    pace = FilePace(str(tmp_path), "h", 2.0, clock=_Clock())
    pace.close()
    assert pace.reserve() == 0
    pace.close()
    pace.close()
    assert pace.reserve() == 2


def test_turns_that_are_past_are_not_waited_for(tmp_path: Path) -> None:
    clock = _Clock()
    pace = FilePace(str(tmp_path), "h", 2.0, clock=clock)
    pace.reserve()
    clock.now += 1.5
    assert pace.reserve() == 0.5
    clock.now += 100
    assert [pace.reserve(), pace.reserve()] == [0, 2]


def test_the_last_one_who_decides_sets_the_pace(tmp_path: Path) -> None:
    clock = _Clock()
    guest = FilePace(str(tmp_path), "h", 1.0, decides=False, clock=clock)
    for interval in (9.0, 3.0):
        FilePace(str(tmp_path), "h", interval, clock=clock).reserve()
    first = guest.reserve()
    assert guest.reserve() - first == 3.0
    slow = FilePace(str(tmp_path), "h", 7.0, decides=False, clock=clock)
    first = slow.reserve()
    assert slow.reserve() - first == 7.0, "who does not decide may go slower"


def test_a_pause_is_no_longer_than_a_day(tmp_path: Path) -> None:
    clock = _Clock()
    one, two = (FilePace(str(tmp_path), "h", 2.0, clock=clock) for _ in range(2))
    one.hold(10 * LONGEST_PAUSE)
    clock.now += 10
    assert two.reserve() == LONGEST_PAUSE - 10


def test_threads_of_a_process_share_a_pace(tmp_path: Path) -> None:
    pace = FilePace(str(tmp_path), "h", 2.0, clock=_Clock())
    waits: list[float] = []
    threads = [threading.Thread(target=lambda: waits.append(pace.reserve())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(waits) == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("SQLITE_FULL", errno.ENOSPC),
        ("SQLITE_IOERR_SHMSIZE", errno.ENOSPC),
        ("SQLITE_BUSY_TIMEOUT", errno.EBUSY),
        ("SQLITE_READONLY_DIRECTORY", errno.EROFS),
        ("SQLITE_IOERR_WRITE", errno.EIO),
        ("", errno.EIO),
    ],
)
def test_what_sqlite_refuses_is_an_error_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, number: int
) -> None:
    def refuse(path: str) -> sqlite3.Connection:
        error = sqlite3.OperationalError("it cannot")
        error.sqlite_errorname = name
        raise error

    pace = FilePace(str(tmp_path), "h", 2.0)
    monkeypatch.setattr(file_pace, "_opened", refuse)
    for use in (pace.reserve, lambda: pace.hold(3)):
        with pytest.raises(OSError, match=r"it cannot.*hosts\.sqlite") as refused:
            use()
        assert refused.value.errno == number


def test_a_turn_that_could_not_be_noted_is_not_taken(tmp_path: Path) -> None:
    clock = _Clock()
    pace = FilePace(str(tmp_path), "h", 2.0, clock=clock)
    pace.reserve()
    real, clock.now = clock.now, float("nan")  # SQLite takes it for NULL, which no turn may be
    with pytest.raises(sqlite3.IntegrityError):
        pace.hold(5)
    clock.now = real
    assert pace.reserve() == 2
