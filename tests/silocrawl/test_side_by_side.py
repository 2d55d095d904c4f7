"""Several WARC files worked on at a time, in threads."""

from threading import Barrier, Event

import pytest

from silocrawl.packages.side_by_side import side_by_side
from silocrawl.packages.values import Told


def test_results_come_in_order_and_two_are_worked_on_at_a_time() -> None:
    both, told = Barrier(2, timeout=30), list[int]()

    def work(number: int, tell: Told) -> int:
        both.wait()
        tell(number)
        return -number

    assert list(side_by_side(work, [3, 1, 2, 4], 2, told.append)) == [-3, -1, -2, -4]
    assert sorted(told) == [1, 2, 3, 4]


def test_after_a_failure_the_others_end_with_their_next_piece() -> None:
    begun, ended = Event(), list[str]()

    def work(name: str, tell: Told) -> str:
        if name == "bad":
            assert begun.wait(30)
            raise ValueError(name)
        try:
            while True:
                begun.set()
                tell(1)
        finally:
            ended.append(name)

    with pytest.raises(ValueError, match="bad"):
        list(side_by_side(work, ["bad", "endless", "never begun"], 2, lambda _: None))
    assert set(ended) <= {"endless", "never begun"}
    assert "endless" in ended
