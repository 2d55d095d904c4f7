"""Checks that other packages contribute to the audit."""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recordsilo.audit import Audit, Finding, Severity
from recordsilo.audit.contributed import GROUP, Check
from recordsilo.audit.findings import Rule
from recordsilo.audit.repair import SiloRepair
from recordsilo.cli import main

Box = Any
Contribute = Callable[[str, str, Any], None]
RULE = Rule("X001", Severity.DAMAGE, "a ledger is lost", "Restore it.")


def lost(path: str) -> Iterator[Finding]:
    yield Finding(RULE, "curation/ledger", f"a ledger in {path.rpartition('/')[2]}", "none")


def fails(_path: str) -> Iterator[Finding]:
    raise OSError("the disk is gone")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["silo", "check", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_findings_of_contributed_checks_are_told_and_counted(
    box: Box,
    contribute: Contribute,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    contribute(GROUP, "ledgers", Check("ledgers", "Ledgers", (RULE,), lost))
    assert run(monkeypatch, box.silo, "--json") == 2
    finding, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert finding["code"] == "X001"
    assert finding["what_to_do"] == "Restore it."
    assert last["summary"]["damage"] == 1
    assert run(monkeypatch, box.silo, "--without", "ledgers") == 0


def test_a_check_that_fails_is_a_finding_and_the_others_run(
    box: Box, contribute: Contribute
) -> None:
    contribute(GROUP, "a-fails", Check("a-fails", "Fails", (), fails))
    contribute(GROUP, "b-broken", "no check")
    contribute(GROUP, "ledgers", Check("ledgers", "Ledgers", (RULE,), lost))
    found = list(Audit(str(box.silo)).findings())
    assert [one.code.number for one in found] == ["S120", "S120", "X001"]
    assert "OSError: the disk is gone" in found[0].found
    assert "is not a Check" in found[1].found


def test_repair_runs_only_the_checks_it_could_mend(box: Box, contribute: Contribute) -> None:
    contribute(GROUP, "ledgers", Check("ledgers", "Ledgers", (RULE,), lost))
    assert list(SiloRepair(str(box.silo)).run()) == []


def test_the_table_of_codes_has_those_of_contributed_checks(
    contribute: Contribute, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    contribute(GROUP, "ledgers", Check("ledgers", "Ledgers", (RULE,), lost))
    assert run(monkeypatch, "--codes") == 0
    out = capsys.readouterr().out
    assert "| S001 |" in out
    assert "| X001 | damage | a ledger is lost | Restore it. |" in out


def test_an_unknown_check_to_leave_out_is_refused(
    box: Box, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, box.silo, "--without", "nope") == 2
    assert (
        "there is no check 'nope'; choose from: responses; see silo check --help\n"
        in capsys.readouterr().err
    )
