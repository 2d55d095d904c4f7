"""An import as a job: it reads the logs that the settings name."""

from collections.abc import Callable
from pathlib import Path

import pytest
from made_up_log import made_up_log
from test_importing import write
from usage_oracle import truth_of
from usage_silo import counts_of

from silowork.errors import JobRefused
from silowork.kinds import kind_of, read_request
from silowork.ledger import JobLedger
from silowork.work import Work
from usagestats import expressions


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
