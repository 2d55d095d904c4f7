"""The engine over a target that fails in chosen ways: retries, stops, resuming, reports."""

import io
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recordsilo import Silo
from recordsilo.disk.digest import Digest
from recordsilo.selection import filters_from
from siloexport import (
    ActionKind,
    DepositOutcome,
    Export,
    FilesTarget,
    OnConflict,
    Policy,
    Progress,
    RetryLater,
    Selection,
    Stop,
    TargetUnusable,
    Versions,
    Watch,
)
from siloexport.commands.exit_codes import exit_of_run
from siloexport.engine.deposits import Retries
from siloexport.errors import LedgerInUse, LedgerUnreadable, RunNotFound
from siloexport.ledger import Ledger, ledger_path
from siloexport.plan import KnownRecord
from siloexport.report import RunReport
from siloexport.targets import DepositJournal
from siloexport.targets.tables import write_csv
from siloexport.values import Capabilities, Deletions, Deposit, Deposited, UnfinishedDeposit

Change = Callable[..., None]
QUICK = Retries(attempts=3, first=0.001)
LIVE = 3


class Flaky(FilesTarget):
    """Plain files, with things that go wrong before or behind what a deposit does."""

    def __init__(self, directory: str, wrong: Iterator[str]) -> None:
        super().__init__(directory)
        self.wrong = wrong
        self.calls: list[str] = []

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, groups=False)

    def deposit(self, deposit: Deposit, journal: DepositJournal) -> Deposited:
        self.calls.append(f"deposit {deposit.identifier[-1]}")
        what = next(self.wrong, "")
        if what == "busy":
            raise RetryLater(deposit.identifier, "it is busy")
        if what == "down":
            raise TargetUnusable("it is down")
        done = super().deposit(deposit, journal)
        if what == "answer lost":
            raise RetryLater(deposit.identifier, "the connection broke")
        return done

    def recover(self, left: UnfinishedDeposit) -> Deposited | None:
        self.calls.append(f"recover {left.identifier[-1]}")
        return super().recover(left)


def flaky(tmp_path: Path, *wrong: str) -> Flaky:
    return Flaky(str(tmp_path / "out"), iter(wrong))


def test_busy_target_is_asked_again(silo: Silo, tmp_path: Path) -> None:
    target = flaky(tmp_path, "busy", "busy")
    report = Export(silo, target, retries=QUICK).run()
    assert report.whole
    assert target.calls[:5] == [
        "deposit 1", "recover 1", "deposit 1", "recover 1", "deposit 1",
    ]  # fmt: skip


def test_answer_lost_behind_a_deposit_makes_no_second_one(silo: Silo, tmp_path: Path) -> None:
    target = flaky(tmp_path, "answer lost")
    report = Export(silo, target, retries=QUICK).run()
    assert report.actions[ActionKind.CREATE] == LIVE
    assert target.calls == ["deposit 1", "recover 1", "deposit 2", "deposit 3"]


def test_record_that_stays_busy_fails_and_is_found_by_the_next_run(
    silo: Silo, tmp_path: Path
) -> None:
    report = Export(silo, flaky(tmp_path, *["busy"] * 3), retries=QUICK).run()
    assert (report.failed, report.actions[ActionKind.CREATE]) == (1, 2)
    assert exit_of_run(report) == 1
    again = Export(silo, flaky(tmp_path), retries=QUICK).run()
    assert again.whole
    assert again.actions[ActionKind.CREATE] == 1


def test_target_that_goes_down_stops_the_run_and_resume_goes_on(silo: Silo, tmp_path: Path) -> None:
    target = flaky(tmp_path, "", "down")
    report = Export(silo, target, retries=QUICK).run(Selection(filters=filters_from(set_spec="a")))
    assert report.stopped == "it is down"
    assert exit_of_run(report) == 75
    seen: list[DepositOutcome] = []
    resumed = Export(silo, flaky(tmp_path)).resume(watch=Watch(outcome=seen.append))
    assert [one.identifier for one in seen] == ["oai:example.org:2"]
    assert resumed.whole


def test_resume_exports_what_was_asked_for_then(silo: Silo, tmp_path: Path) -> None:
    target = FilesTarget(str(tmp_path / "out"), Versions.ALL)
    Export(silo, target, Policy(Versions.ALL, unwrap=False)).run(Selection("title:two"))
    with silo.editing("oai:example.org:2") as edit:
        edit.put("workingcopy", "new.txt", b"x")
    report = Export(silo, FilesTarget(str(tmp_path / "out"), Versions.ALL)).resume()
    assert report.actions == {ActionKind.REPLACE: 1}
    names = {path.name for path in (tmp_path / "out").rglob("oai_dc*")}
    assert names == {"oai_dc"}


def test_nothing_to_resume_is_said(silo: Silo, tmp_path: Path) -> None:
    with pytest.raises(RunNotFound, match="nothing was exported"):
        Export(silo, FilesTarget(str(tmp_path / "out"))).resume()


@pytest.mark.parametrize(("interrupted", "code"), [(True, 130), (False, 75)])
def test_run_asked_to_stop_ends_what_it_does_and_no_more(
    silo: Silo, tmp_path: Path, interrupted: bool, code: int
) -> None:
    stop = Stop()

    def ask(progress: Progress) -> None:
        stop.ask(interrupted=interrupted)

    report = Export(silo, flaky(tmp_path)).run(watch=Watch(ask), stop=stop)
    assert 0 < report.records < 4
    assert report.stopped == "asked to stop"
    assert exit_of_run(report) == code
    assert Export(silo, flaky(tmp_path)).run().whole


def test_target_that_cannot_be_used_makes_no_ledger(silo: Silo, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(TargetUnusable, match="is not a directory"):
        Export(silo, FilesTarget(str(tmp_path / "out"))).run()
    assert not os.path.exists(f"{silo.path}/curation/exports")


def test_dry_run_leaves_neither_ledger_nor_directory(silo: Silo, tmp_path: Path) -> None:
    report = Export(silo, FilesTarget(str(tmp_path / "out"))).run(dry_run=True)
    assert report.actions[ActionKind.CREATE] == LIVE
    assert not (tmp_path / "out").exists()
    assert not os.path.exists(f"{silo.path}/curation/exports")


def test_second_run_to_a_target_is_refused_while_one_is_at_work(silo: Silo, tmp_path: Path) -> None:
    target = flaky(tmp_path)
    Export(silo, target).run()
    with Ledger.open(silo.path, target.key, target.shown):
        with pytest.raises(LedgerInUse, match="another export to"):
            Export(silo, target).run()
        assert Export(silo, target).run(dry_run=True).written == 0
    assert Export(silo, target).run().whole


def test_damaged_ledger_is_named_and_not_taken_for_an_empty_one(silo: Silo, tmp_path: Path) -> None:
    target = flaky(tmp_path)
    Export(silo, target).run()
    path = Path(ledger_path(silo.path, target.key))
    path.write_bytes(b"no database" * 100)
    with pytest.raises(LedgerUnreadable, match="reconcile"):
        Export(silo, target).run()


def test_status_tells_runs_and_records(silo: Silo, tmp_path: Path) -> None:
    target = flaky(tmp_path)
    first = Export(silo, target).run(limit=1)
    second = Export(silo, target).run()
    status = Export(silo, target).status()
    assert (status.records, status.unfinished) == (LIVE, 0)
    assert [run[0] for run in status.runs] == [second.run_id, first.run_id]
    assert {run[2] for run in status.runs} == {"done"}


def test_unreadable_manifest_is_named_and_fails_alone(silo: Silo, tmp_path: Path) -> None:
    path = silo["1"].to_dirpath("__manifest.json", root=True)
    Path(path).write_text("{")
    report = Export(silo, flaky(tmp_path)).run()
    assert len(report.problems) == 1
    assert path in report.problems[0].reason
    assert report.actions[ActionKind.CREATE] == 2


def test_an_export_of_a_search_names_the_unreadable_records_that_it_may_find(
    silo: Silo, tmp_path: Path
) -> None:
    title = silo.row("oai:example.org:1").title
    path = Path(silo["1"].to_dirpath("__manifest.json", root=True))
    content = path.read_bytes()
    path.write_text("{")
    found, others = Selection(query=f'"{title}"'), Selection(query="-" + title.split()[0])
    for selection, expected in ((found, 1), (others, 0)):
        report = Export(silo, flaky(tmp_path)).run(selection)
        assert [one.identifier for one in report.problems] == ["oai:example.org:1"] * expected
        table = io.StringIO()
        assert len(write_csv(silo, selection, table).failed) == expected
    silo.close()
    Path(silo.path, ".silo/index.sqlite").unlink()  # then nobody knows what is in it
    for selection in (found, others):
        report = Export(silo, flaky(tmp_path)).run(selection)
        assert [one.identifier for one in report.problems] == ["oai:example.org:1"]
        assert [*write_csv(silo, selection, io.StringIO()).failed] == ["oai:example.org:1"]
    path.write_bytes(content)
    assert Export(silo, flaky(tmp_path)).run(others).whole


def test_report_is_json(silo: Silo, tmp_path: Path) -> None:
    report = Export(silo, flaky(tmp_path)).run()
    found = json.loads(json.dumps(report.to_json()))
    assert found["actions"]["create"] == LIVE
    assert (found["whole"], found["failed"], found["run"]) == (True, 0, report.run_id)


def test_sha512_is_read_once(silo: Silo, tmp_path: Path) -> None:
    target = flaky(tmp_path)
    Export(silo, target).run()
    with Ledger.open(silo.path, target.key, target.shown) as ledger:
        ledger.note_sha512(Digest("ab", 2), "cd")
        assert ledger.known_sha512(Digest("ab", 2)) == "cd"
        assert ledger.known_sha512(Digest("ab", 3)) is None
    with Ledger.look(silo.path, target.key) as ledger:
        ledger.note_sha512(Digest("ab", 3), "ef")
        assert ledger.known_sha512(Digest("ab", 2)) == "cd"
        assert ledger.known_sha512(Digest("ab", 3)) is None


def test_what_is_known_of_some_records_is_what_is_known_of_each(silo: Silo, tmp_path: Path) -> None:
    target = flaky(tmp_path)
    Export(silo, target).run()
    with Ledger.look(silo.path, target.key) as ledger:
        held = ledger.held()
        found = ledger.known_of([*held, "oai:example.org:unknown"])
        assert found == {one: ledger.known(one) for one in found}
        assert all(found[one].held and found[one].keys for one in held)
        assert found["oai:example.org:unknown"] == KnownRecord()
        assert ledger.known_of([]) == {}


def test_ledger_of_a_killed_run_is_sound(silo: Silo, tmp_path: Path) -> None:
    target = flaky(tmp_path)
    Export(silo, target).run()
    with sqlite3.connect(ledger_path(silo.path, target.key)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


@pytest.mark.parametrize(
    ("report", "code"),
    [
        ({}, 0),
        ({"failed": 1, "conflicts": 1}, 1),
        ({"conflicts": 1}, 5),
        ({"skipped": 1}, 0),
        ({"stopped": "full", "failed": 1}, 75),
        ({"stopped": "asked", "interrupted": True}, 130),
    ],
)
def test_exit_code_says_how_a_run_ended(report: dict[str, object], code: int) -> None:
    assert exit_of_run(RunReport("", "out", False, 0, {}, **report)) == code  # type: ignore[arg-type]  # mixed fields


def test_pauses_double_up_to_the_longest_and_go_by_what_was_asked() -> None:
    retries = Retries(first=1.0, longest=10.0)
    assert [retries.pause(n, None, 1.0) for n in (1, 2, 3, 4, 5)] == [1, 2, 4, 8, 10]
    assert retries.pause(1, None, 0.0) == 0.5
    assert retries.pause(1, 7.0, 0.3) == 7.0
    assert retries.pause(1, 700.0, 0.3) == 10.0


def test_on_conflict_is_remembered_by_resume(silo: Silo, tmp_path: Path) -> None:
    target = flaky(tmp_path)
    Export(silo, target).run(on_conflict=OnConflict.SKIP)
    (tmp_path / "out" / "oai+example,org+1" / "oai_dc").write_text("by hand")
    with silo.editing("oai:example.org:1") as edit:
        edit.put("1", "more.txt", b"x", allow_frozen=True)
    assert Export(silo, target).resume().skipped == 1


def test_what_is_removed_for_good_is_withdrawn_by_the_next_export(
    silo: Silo, tmp_path: Path
) -> None:
    target = flaky(tmp_path)
    export = Export(silo, target, policy=Policy(deletions=Deletions.DELETE))
    assert export.run().whole
    silo.del_item("oai:example.org:1", remember=True)
    left = Export(silo, target).run(dry_run=True)
    assert left.actions.get(ActionKind.WITHDRAW, 0) == 0
    planned, done = export.run(dry_run=True), export.run(Selection(query="nobodyhasthisword"))
    assert planned.actions[ActionKind.WITHDRAW] == done.actions[ActionKind.WITHDRAW] == 1
    assert done.whole, done.problems
    assert not [name for name in os.listdir(tmp_path / "out") if "3A1" in name or "+1" in name]
    again = export.run()
    assert (again.actions.get(ActionKind.WITHDRAW, 0), again.whole) == (0, True)
