"""The loops of live lines: what is taken at once, and when it is acknowledged and counted."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from silowork.stop import Stop
from usagestats.live import workers
from usagestats.live.entries import QueueEntry
from usagestats.live.queue import QueueUnusable
from usagestats.live.workers import Intervals, follow_here, follow_into_queue, run_worker


class Clock:
    """A clock that stands still between the steps of a test."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(workers, "time", SimpleNamespace(monotonic=found.monotonic))
    return found


class WaitingLine:
    """A queue in memory, which notes what is asked of it.

    When it is empty, the next of `whens` is called, and then the worker is asked to stop.
    """

    def __init__(self, entries: Sequence[QueueEntry], *whens: Callable[[], None]) -> None:
        self.waiting, self.whens = list(entries), list(whens)
        self.stop, self.asked = Stop(), list[int]()
        self.events: list[tuple[str, Any]] = []
        self.added: list[tuple[list[bytes], object]] = []
        self.lengths = [0]

    def take(self, most: int, _wait: float) -> list[QueueEntry]:
        self.asked.append(most)
        found, self.waiting = self.waiting[:most], self.waiting[most:]
        if not found:
            if not self.whens:
                self.stop.ask()
            else:
                self.whens.pop(0)()
        return found

    def held(self, _entries: Sequence[QueueEntry]) -> set[str]:
        return set()

    def done(self, entries: Sequence[QueueEntry]) -> None:
        self.events.append(("done", [one.entry_id for one in entries]))

    # where lines are put

    def position(self, _source: str) -> object:
        return None

    def length(self) -> int:
        return self.lengths.pop(0) if len(self.lengths) > 1 else self.lengths[0]

    def add(self, lines: list[bytes], _format: str, _source: str, position: object) -> None:
        self.added.append((lines, position))


class Desk:
    """A processor that counts each line as a view, and notes it in the events of a queue."""

    def __init__(self, line: WaitingLine) -> None:
        self.events = line.events
        self.started: list[tuple[str, object]] = []

    def take(
        self, entries: Sequence[QueueEntry], reached: tuple[str, object] | None = None, **_: Any
    ) -> Counter[str]:
        self.events.append(("taken", [one.entry_id for one in entries]))
        self.started += [reached] if reached else []
        return Counter(views=sum(len(one.lines) for one in entries))

    def acknowledged(self, entries: Sequence[QueueEntry]) -> None:
        self.events.append(("acknowledged", [one.entry_id for one in entries]))

    def count(self) -> None:
        self.events.append(("counted", None))

    def position(self, _source: str) -> object:
        return None


MEBIBYTE = bytes(1 << 20)


def entry(number: int, *lines: bytes) -> QueueEntry:
    return QueueEntry(str(number), lines or (b"x",))


def work(line: WaitingLine, **intervals: Any) -> Counter[str]:
    desk: Any = Desk(line)
    queue: Any = line
    return run_worker(queue, desk, line.stop, Intervals(**{"gather": 0.0} | intervals))


def test_lines_are_acknowledged_after_they_were_stored_and_counted_at_the_end(clock: Clock) -> None:
    line = WaitingLine([entry(1), entry(2)])
    assert work(line) == {"views": 2}
    assert line.events == [
        ("taken", ["1", "2"]), ("done", ["1", "2"]), ("acknowledged", ["1", "2"]),
        ("counted", None),
    ]  # fmt: skip


def test_lines_are_counted_at_most_so_often_and_only_if_there_are_new_ones(clock: Clock) -> None:
    line = WaitingLine([entry(1)])

    def later(seconds: float, *entries: QueueEntry) -> Callable[[], None]:
        def pass_time() -> None:
            clock.now += seconds
            line.waiting += entries

        return pass_time

    line.whens = [
        later(59.0), later(1.0), later(60.0), later(60.0, entry(2)), later(0.0), later(60.0),
    ]  # fmt: skip
    work(line, count=60.0)
    kinds = [kind for kind, _ in line.events if kind in {"taken", "counted"}]
    assert kinds == ["taken", "counted", "taken", "counted"]


def test_more_entries_are_taken_at_once_while_they_are_small(clock: Clock) -> None:
    line = WaitingLine([entry(number) for number in range(20_000)])
    assert work(line) == {"views": 20_000}
    assert line.asked[:8] == [64, 128, 256, 512, 1024, 2000, 2000, 2000]


def test_fewer_entries_are_taken_at_once_while_they_are_large(clock: Clock) -> None:
    line = WaitingLine([entry(number, MEBIBYTE[: 1 << 19]) for number in range(200)])
    work(line)
    assert line.asked[:5] == [64, 32, 16, 8, 8], "4 MiB at once are not too many"
    line = WaitingLine([entry(number, *[MEBIBYTE] * 5) for number in range(130)])
    work(line)
    assert line.asked[:9] == [64, 32, 16, 8, 4, 2, 1, 1, 1]


def test_lines_gather_before_they_are_worked_on(clock: Clock) -> None:
    line = WaitingLine([entry(1)])
    taken = line.take

    def take(most: int, wait: float) -> list[QueueEntry]:
        found = taken(most, wait)
        if found and found[0].entry_id == "1":
            line.waiting.append(entry(2))
        return found

    line.take = take  # type: ignore[method-assign]
    work(line, gather=0.001)
    assert line.events[0] == ("taken", ["1", "2"])
    assert line.asked[:2] == [64, 63]


def test_a_worker_without_lines_ends_after_a_while_if_it_is_to(clock: Clock) -> None:
    line = WaitingLine([entry(1)])

    def pass_time() -> None:
        clock.now += 10.0

    line.whens = [pass_time] * 9
    work(line, idle=30.0)
    assert len(line.whens) == 5, "it looked four times, the last time after more than 30 seconds"
    assert not line.stop.asked


def test_a_worker_that_ends_without_lines_does_not_wait_for_a_redis(clock: Clock) -> None:
    def away() -> None:
        raise QueueUnusable("gone")

    with pytest.raises(QueueUnusable, match="gone"):
        work(WaitingLine([], away), idle=30.0)


def log_of(tmp_path: Path, lines: int) -> str:
    path = tmp_path / "access.log"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(lines)))
    return str(path)


def lost() -> None:
    raise AssertionError("nothing was lost")


def test_lines_are_put_into_a_queue_only_while_it_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_SECONDS_FULL", 0.001)
    line = WaitingLine([])
    line.lengths = [10_001, 10_001, 10_000]
    queue: Any = line
    path = log_of(tmp_path, 3)
    assert follow_into_queue(path, queue, "", line.stop, until_end=True, lost=lost) == 3
    assert line.lengths == [10_000]
    assert [one for some, _ in line.added for one in some] == [b"line 0", b"line 1", b"line 2"]
    full = WaitingLine([])
    full.lengths = [10_001]
    full.stop.ask()
    queue = full
    assert follow_into_queue(path, queue, "", full.stop, until_end=True, lost=lost) == 0
    assert full.added == [], "what was not put is read again by the next one"


def test_lines_of_a_file_are_worked_on_with_how_far_it_was_read(tmp_path: Path) -> None:
    line = WaitingLine([])
    desk: Any = Desk(line)
    path = log_of(tmp_path, 3)
    told = follow_here(path, desk, "", line.stop, Intervals(0.0), until_end=True, lost=lost)
    assert told == {"views": 3}
    kinds = [kind for kind, _ in line.events]
    assert kinds[0] == "taken"
    assert kinds[-1] == "counted"
    names = [name for kind, some in line.events if kind == "taken" for name in some]
    assert len(names) == len(set(names)), "each piece has a name of its own"
    assert all(source == path for source, _ in desk.started)
