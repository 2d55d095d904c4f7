"""Several records at once: the same results as one by one, in the same order."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recordsilo import Silo
from siloexport import Export, FilesTarget, Selection, TargetUnusable
from siloexport.engine.parallel import Workers
from siloexport.errors import DepositFailed
from siloexport.values import Deposit, Difference, FoundInTarget, Held

IDS = [f"oai:example.org:{number}" for number in (1, 2, 3)]


def taken(work: Workers[int], pieces: int) -> Iterator[int]:
    for number in range(pieces):
        work.begin(int, number)
        yield from work.ready()
    yield from work.rest()


@pytest.mark.parametrize("jobs", [1, 4])
def test_results_come_in_the_order_begun(jobs: int) -> None:
    with Workers[int](jobs) as work:
        assert list(taken(work, 100)) == list(range(100))


def test_no_more_is_begun_than_results_are_taken() -> None:
    go_on = threading.Event()
    begun: list[int] = []

    def piece(number: int) -> int:
        go_on.wait(60)
        return number

    with Workers[int](2) as work:
        for number in range(5):
            begun.append(number)
            work.begin(piece, number)
            if number < 4:
                assert list(work.ready()) == []
        go_on.set()
        assert next(work.ready()) == 0
        assert [0, *work.rest()] == begun


def take_all(first: Callable[..., str], of: str, then: Callable[[], str], into: list[str]) -> None:
    with Workers[str](1) as work:
        work.begin(first, of)
        work.begin(then)
        work.begin(first, "never taken")
        into.extend(work.rest())


def test_what_a_piece_raises_comes_out_and_ends_the_rest() -> None:
    done: list[str] = []

    def fail() -> str:
        raise ValueError("this one")

    with pytest.raises(ValueError, match="this one"):
        take_all(str, "first", fail, done)
    assert done == ["first"]


class Meeting(FilesTarget):
    """Plain files that answer a question only while another is being asked too."""

    def __init__(self, directory: str) -> None:
        super().__init__(directory)
        self.alone = threading.Barrier(2)

    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:
        self.alone.wait(60)
        return super().verify(deposit, held, is_head=is_head)

    def find(self, identifier: str) -> FoundInTarget | None:
        self.alone.wait(60)
        return super().find(identifier)


def test_a_verification_and_a_reconciliation_ask_for_several_records_at_once(
    silo: Silo, tmp_path: Path
) -> None:
    target = Meeting(str(tmp_path / "out"))
    two = Selection(identifiers=tuple(IDS[:2]))
    export = Export(silo, target)
    export.run(two)
    verified = export.verify(two, jobs=2)
    assert (verified.versions, verified.differences) == (2, 0)
    assert export.reconcile(two, jobs=2).found == 2


class Choosy(FilesTarget):
    """Plain files of which some records cannot be looked at."""

    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:
        if deposit.identifier == IDS[0]:
            raise DepositFailed(deposit.identifier, "it is not to be seen")
        return super().verify(deposit, held, is_head=is_head)


class Gone(FilesTarget):
    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:
        raise TargetUnusable("it is down")


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_verification_says_the_same_however_many_are_asked_at_once(
    silo: Silo, tmp_path: Path, jobs: int
) -> None:
    export = Export(silo, Choosy(str(tmp_path / "out")))
    export.run()
    for path in (tmp_path / "out").rglob("oai_dc"):
        path.write_bytes(b"somebody else's")
    seen: list[str] = []
    counted: list[int] = []
    report = export.verify(
        jobs=jobs,
        on_difference=lambda one: seen.append(f"{one.identifier} {one.what}"),
        progress=counted.append,
    )
    assert seen == [f"{IDS[1]} file", f"{IDS[2]} file"]
    assert [one.identifier for one in report.first] == IDS[1:]
    assert list(report.unreadable) == IDS[:1]
    assert (report.records, report.versions, report.differences) == (3, 3, 2)
    assert counted == [1, 2, 3]


def test_a_target_that_goes_down_ends_a_verification(silo: Silo, tmp_path: Path) -> None:
    Export(silo, FilesTarget(str(tmp_path / "out"))).run()
    with pytest.raises(TargetUnusable, match="down"):
        Export(silo, Gone(str(tmp_path / "out"))).verify(jobs=2)
