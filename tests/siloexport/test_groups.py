"""Deposits in a directory are made in groups: flushed and noted together, one by one in effect."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from killing import KILLED, kill_at

from recordsilo import Silo
from recordsilo.disk.atomic_file import Barrier
from siloexport import ActionKind, BagTarget, Export, FilesTarget, Selection, Target
from siloexport.commands.output import print_run
from siloexport.engine import export as engine
from siloexport.errors import TargetFull
from siloexport.ledger import Ledger
from siloexport.plan import Action
from siloexport.report import RunReport
from siloexport.targets import directory
from siloexport.targets.directory import DirectoryTarget
from siloexport.values import Deposit, DepositState

Change = Callable[..., None]
FIVE = [f"oai:example.org:{number}" for number in range(10, 15)]
STEPS: list[tuple[Any, str]] = [
    (os, "rename"), (DirectoryTarget, "flush"), (Ledger, "begin_all"), (Ledger, "end_all"),
]  # fmt: skip


@pytest.fixture
def five(silo: Silo, harvest: Change) -> Selection:
    for identifier in FIVE:
        harvest(silo, identifier, f"Title {identifier}")
    return Selection(identifiers=tuple(FIVE))


def target_of(form: str, out: Path) -> Target:
    return BagTarget(str(out)) if form == "bags" else FilesTarget(str(out))


def test_nothing_is_noted_as_done_before_it_is_on_the_medium(
    silo: Silo, five: Selection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    for owner, name in STEPS:
        _note(monkeypatch, owner, name, done)
    assert Export(silo, FilesTarget(str(tmp_path / "out"))).run(five).whole
    notes = ["rename"] * len(FIVE)  # under .silo-notes, which need no flush
    assert done == ["flush", "begin_all", *notes, "flush", *notes, "end_all"]


def _note(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, done: list[str]) -> None:
    real = getattr(owner, name)

    def noted(*arguments: Any, **named: Any) -> Any:
        if name != "rename" or "/.silo-export-" in arguments[0] or ".silo-notes" in arguments[0]:
            done.append(name)
        return real(*arguments, **named)

    monkeypatch.setattr(owner, name, noted)


@pytest.mark.long
@pytest.mark.parametrize("form", ["files", "bags"])
def test_a_kill_at_any_step_of_a_group_leaves_nothing_wrong(
    silo: Silo, five: Selection, tmp_path: Path, form: str
) -> None:
    for identifier in FIVE[:3]:
        silo[identifier].clone_version("1", "workingcopy")
    step, codes = 0, {KILLED}
    while KILLED in codes:
        step, codes, out = step + 1, set(), tmp_path / f"out{step}"
        for turn in ("created", "replaced"):
            codes.add(_killed(silo.path, out, form, step, five))
            export = Export(silo, target_of(form, out))
            if out.exists():
                assert export.verify().differences == 0
            report = export.run(five)
            assert report.whole, report.problems
            found = export.verify()
            assert (found.records, found.outdated, found.differences) == (len(FIVE), 0, 0), turn
            assert export.run(five).written == 0
            assert not list(out.glob(".silo-export-*"))
            with silo.batch(FIVE[:3]) as batch:
                for identifier in FIVE[:3]:
                    edit = batch.edit(identifier)
                    edit.put("workingcopy", "turn.txt", f"{step}{turn}".encode())
    assert step > 15


def _killed(silo_path: str, out: Path, form: str, left: int, which: Selection) -> int:
    """Export in a child process that kills itself before its n-th step; its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        kill_at(STEPS, left)
        with Silo(silo_path, create=False) as silo:
            whole = Export(silo, target_of(form, out)).run(which).whole
        os._exit(0 if whole else 1)
    finally:
        os._exit(2)


def test_a_kill_before_the_last_note_is_rolled_back_with_its_run(
    silo: Silo, five: Selection, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code = _killed(silo.path, out, "files", 5 + len(FIVE), five)  # all are in place
    assert code == KILLED
    export = Export(silo, FilesTarget(str(out)))
    report = export.run(five)
    assert (report.recovered, report.written) == (len(FIVE), 0)
    first = export.status().runs[-1][0]
    assert export.rollback(first).taken_back == len(FIVE)


def test_a_record_that_fails_or_conflicts_does_not_stop_the_others_of_its_group(
    silo: Silo, five: Selection, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    Export(silo, FilesTarget(str(out))).run(Selection(identifiers=(LIVE,)))
    (out / "oai+example,org+11").mkdir()
    (Path(silo[FIVE[2]].path_to_item()) / "__1/oai_dc").write_text("changed outside")
    report = Export(silo, FilesTarget(str(out))).run(five)
    assert (report.conflicts, report.failed, report.actions[ActionKind.CREATE]) == (1, 1, 3)
    assert not list(out.glob(".silo-export-*"))


LIVE = "oai:example.org:1"


@pytest.fixture
def in_words(capsys: pytest.CaptureFixture[str]) -> Callable[[RunReport], Any]:
    """What the command line prints of a run."""

    def printed(report: RunReport) -> Any:
        print_run(report)
        return capsys.readouterr()

    return printed


def test_a_full_disk_keeps_those_of_the_group_that_have_room(
    silo: Silo, five: Selection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    in_words: Callable[[RunReport], Any],
) -> None:  # fmt: skip
    real = directory.DirectoryTarget._steps
    target = FilesTarget(str(tmp_path / "out"))

    def full(self: DirectoryTarget, deposit: Deposit, barrier: Barrier) -> Any:
        if deposit.identifier == FIVE[3]:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, deposit, barrier)

    with monkeypatch.context() as patched:
        patched.setattr(DirectoryTarget, "_steps", full)
        report = Export(silo, target).run(five)
        again = in_words(Export(silo, target).run(five))
    assert "No space left" in report.stopped
    assert (report.written, report.in_target) == (3, 3)
    assert "0 created" in again.out
    assert f"of all runs, 3 records are in {target.shown}\n" in again.err
    assert Export(silo, target).resume().written == 2
    assert Export(silo, target).verify(five).differences == 0


def test_a_flush_that_fails_leaves_nothing_noted_as_done(
    silo: Silo, five: Selection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = FilesTarget(str(tmp_path / "out"))
    for failing in (1, 2):
        flushes: list[Barrier] = []

        def flush(
            self: DirectoryTarget, barrier: Barrier, flushes: list[Barrier] = flushes,
            failing: int = failing,
        ) -> None:  # fmt: skip
            flushes.append(barrier)
            if len(flushes) == failing:
                raise TargetFull(f"{self.shown}: No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(DirectoryTarget, "flush", flush)
            report = Export(silo, target).run(five)
        assert "No space left" in report.stopped
        assert Export(silo, target).status().records == 0
    assert Export(silo, target).run(five).recovered == len(FIVE)


@pytest.mark.parametrize("jobs", [1, 3])
def test_groups_of_any_size_export_the_same(
    silo: Silo, five: Selection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    for size in (1, 2, 4):
        monkeypatch.setattr(engine, "GROUP", size)
        export = Export(silo, FilesTarget(str(tmp_path / f"out{size}")))
        assert export.run(five, jobs=jobs, limit=4).written == 4
        assert export.run(five, jobs=jobs).written == 1
        assert export.verify(five).differences == 0


def test_a_group_is_not_extended_when_its_files_are_large(
    silo: Silo, five: Selection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "GROUP_BYTES", 1)
    done: list[str] = []
    _note(monkeypatch, Ledger, "end_all", done)
    assert Export(silo, FilesTarget(str(tmp_path / "out"))).run(five).whole
    assert len(done) == len(FIVE)


def test_a_fact_of_a_target_does_not_make_a_deposit_a_withdrawal() -> None:
    with Ledger(":memory:") as ledger:
        run = ledger.begin_run({})
        create = Action("oai:example.org:1", ActionKind.CREATE, ("1",), "key")
        ledger.begin_all(run.run_id, [(create, DepositState.COMMITTING, {"how": "mark"})])
        assert [entry.withdrawal for entry in ledger.unfinished()] == [False]
