"""An import as a job: it reads the logs that the settings name."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_up_log import made_up_log
from test_importing import GOOD, write
from usage_oracle import truth_of
from usage_silo import counts_of

from recordsilo.cli import silo_command
from silowork.errors import Interrupted, JobRefused
from silowork.kinds import kind_of, read_request
from silowork.ledger import JobLedger
from silowork.work import Work
from usagestats import expressions
from usagestats.importing import importing


def test_an_import_as_a_job(silo_path: str, tmp_path: Path) -> None:
    with pytest.raises(JobRefused, match="name the access logs"):
        read_request("usage-import", {}, silo_path, 0)
    lines = made_up_log(200)
    write(tmp_path / "access.log.1", lines[:90])
    write(tmp_path / "access.log", lines[90:])
    with open(f"{silo_path}/usage/usage.toml", "a") as settings:
        settings.write(f"logs = ['{tmp_path}/access.log*']\n")
    asked = read_request("usage-import", {}, silo_path, 0)
    ledger = JobLedger(silo_path)
    job = ledger.add("usage-import", asked.title, dict(asked.arguments), "ann")
    ending = kind_of("usage-import").run(Work(ledger, job))
    assert not ending.whole  # some lines are broken
    assert ending.counts["lines"] == len(lines)
    assert counts_of(silo_path).figures == truth_of(lines).figures


def test_a_job_says_that_no_pattern_fits_or_an_expression_was_left_out(
    new_silo: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expressions, "PATTERN_SECONDS", 0.01)
    line = '203.0.113.7 - - [12/Oct/2026:10:00:01 +0000] "GET /{}.css HTTP/1.1" 200 9 "-" "{}!"\n'
    log = tmp_path / "access.log"
    log.write_text("".join(line.format(one, f"{one:02}{'a' * 3000}") for one in range(20)))
    silo_path = new_silo(f"logs = ['{log}']\nrobots = ['(a|aa)+$']\n")
    asked = read_request("usage-import", {}, silo_path, 0)
    ledger = JobLedger(silo_path)
    job = ledger.add("usage-import", asked.title, dict(asked.arguments), "ann")
    ending = kind_of("usage-import").run(Work(ledger, job))
    assert not ending.whole
    assert [one.reason for one in ending.problems] == [
        "no pattern fits any path; see usage/usage.toml",
        "the expression '(a|aa)+$' of usage/usage.toml took too long and was left out",
    ]


def job_of(silo_path: str) -> tuple[JobLedger, Work]:
    asked = read_request("usage-import", {}, silo_path, 0)
    ledger = JobLedger(silo_path)
    return ledger, Work(ledger, ledger.add("usage-import", asked.title, {}, "ann"))


def test_a_job_is_refused_with_the_setting_that_is_invalid(
    new_silo: Callable[[str], str], tmp_path: Path
) -> None:
    for settings, told in (
        ("window = 0\n", "window is the number of days"),
        (f"logs = ['{tmp_path}/none*']\n", "there is no log"),
        ("[push]\nprofile = 'x'\n", r"\[push\]: profile is"),
    ):
        with pytest.raises(JobRefused, match=told):
            read_request("usage-import", {}, new_silo(settings), 0)


def test_a_job_names_unreadable_and_late_lines(
    new_silo: Callable[[str], str], tmp_path: Path
) -> None:
    old = GOOD.replace(b"/2026:", b"/2020:")
    silo_path = new_silo(f"logs = ['{tmp_path}/*.log']\n")
    write(tmp_path / "a.log", [GOOD, old])
    _, work = job_of(silo_path)
    ending = kind_of("usage-import").run(work)
    assert (ending.whole, ending.problems) == (True, [])
    done = CliRunner().invoke(silo_command, ["usage", "freeze", silo_path, "--before", "2021"])
    assert done.exit_code == 2  # a year is no day
    done = CliRunner().invoke(silo_command, ["usage", "freeze", silo_path, "--before", "2021-01"])
    assert "Frozen: 1 day, 2020-10-12 to 2020-10-12; their counts stay." in done.output
    late = [old.replace(b"3002", b"%d" % number) for number in (3003, 3004)]
    write(tmp_path / "b.log", [*late, b"broken"])
    ending = kind_of("usage-import").run(job_of(silo_path)[1])
    assert [one.reason for one in ending.problems] == [
        "1 line is unreadable", "2 lines are of frozen days",
    ]  # fmt: skip
    assert ending.counts == {"lines": 3, "counted": 0, "bots": 0, "other": 2, "unreadable": 1}


def test_a_job_that_is_asked_to_end_keeps_what_it_read(
    new_silo: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BLOCK", 500)
    lines = [GOOD.replace(b"3002", b"%d" % number) for number in range(3000, 3040)]
    write(tmp_path / "a.log", lines)
    silo_path = new_silo(f"logs = ['{tmp_path}/a.log']\n")
    _, work = job_of(silo_path)
    read: list[int] = []

    def end(_self: Work) -> None:
        read.append(1)
        if len(read) == 2:
            raise Interrupted("stopped")

    with monkeypatch.context() as asked:
        asked.setattr(Work, "end_if_asked", end)
        with pytest.raises(Interrupted):
            kind_of("usage-import").run(work)
    ending = kind_of("usage-import").run(job_of(silo_path)[1])
    assert 0 < ending.counts["lines"] < len(lines)
    assert len(counts_of(silo_path).figures) == len(lines)
