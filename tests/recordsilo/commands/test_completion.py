"""What the TAB key offers, asked as click's scripts ask."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_results import MAIN, Run
from click.shell_completion import ShellComplete

from recordsilo import Silo
from recordsilo.cli import silo_command
from siloexport.ledger import Ledger
from silowork.service import Jobs


def offered(*words: str) -> list[str]:
    """The completions of the last word; ``<dir>`` and ``<file>`` where the shell completes."""
    asked = ShellComplete(silo_command, {}, "silo", "_SILO_COMPLETE")
    found = asked.get_completions(list(words[:-1]), words[-1])
    return [one.value if one.type == "plain" else f"<{one.type}>" for one in found]


@pytest.fixture
def indexed(myrepo: str) -> str:
    with Silo(myrepo) as silo:
        assert len(silo) == 4
    return myrepo


@pytest.mark.parametrize(
    "command",
    ["ls", "show", "check", "harvests", "update", "serve", "jobs", "fetch-files", "init", "worker",
     "fleet report", "usage totals", "export csv", "export files", "rules list", "quality"],
)  # fmt: skip
def test_the_directory_of_a_silo_is_completed_as_one(command: str) -> None:
    assert offered(*command.split(), "my") == ["<dir>"]


def test_files_are_completed_as_such() -> None:
    assert offered("put", "myrepo", "1", "li") == ["<file>"]
    assert offered("ls", "myrepo", "--ids", "li") == ["<file>"]
    assert offered("export", "csv", "myrepo", "ou") == ["<file>"]
    assert offered("export", "files", "myrepo", "ou") == ["<dir>"]


def test_fields_are_completed() -> None:
    assert "type=" in offered("search", "myrepo", "--filter", "t")
    assert "year" in offered("search", "myrepo", "--facet", "y")
    assert offered("search", "myrepo", "--sort", "new") == ["newest"]


def test_values_of_a_field_are_those_of_the_silo(indexed: str) -> None:
    assert offered("ls", indexed, "--set", "a") == ["a:b", "ab"]
    assert offered("search", indexed, "--filter", "format=oai") == ["format=oai_dc"]


def test_identifiers_are_completed_short_and_in_full(indexed: str) -> None:
    assert offered("show", indexed, "") == ["1", "2", "3/4"]
    assert offered("show", indexed, "3") == ["3/4"]
    assert offered("show", indexed, "oai:x:") == ["oai:x:1", "oai:x:2", "oai:x:3/4"]
    assert offered("show", indexed, "lo") == ["local"]
    assert offered("ls", indexed, "--from", "2") == ["2"]


def test_versions_and_files_of_the_record_are_completed(indexed: str) -> None:
    assert offered("path", indexed, "2", "") == ["1", "workingcopy"]
    assert offered("diff", indexed, "2", "1", "w") == ["workingcopy"]
    assert offered("cat", indexed, "2", "--version", "w") == ["workingcopy"]
    assert offered("cat", indexed, "2", "o") == ["oai_dc"]
    assert offered("cat", indexed, "2", "--version", "nope", "o") == []


def test_what_cannot_be_read_offers_nothing_and_is_left_alone(indexed: str, tmp_path: Path) -> None:
    index = Path(indexed, ".silo", "index.sqlite")
    assert offered("show", str(tmp_path / "none"), "") == []
    assert offered("path", indexed, "nope", "") == []
    assert offered("path", str(tmp_path / "none"), "1", "") == []
    index.write_bytes(b"no database")
    assert offered("show", indexed, "") == []
    assert index.read_bytes() == b"no database"
    index.unlink()
    assert offered("show", indexed, "") == []
    assert not index.exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(run: Run, shell: str) -> None:
    result = run("completion", shell)
    assert result.code == 0, result.err
    assert f"_SILO_COMPLETE={shell}_complete" in result.out


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_completes_a_command() -> None:
    words = {"COMP_WORDS": "silo completion z", "COMP_CWORD": "2"}
    asked = subprocess.run(
        [sys.executable, "-c", MAIN], env=os.environ | {"_SILO_COMPLETE": "bash_complete"} | words,
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert asked.stdout == b"plain,zsh\n", asked.stderr


def test_formats_columns_and_elements_are_completed(indexed: str) -> None:
    assert "oai_dc" in offered("harvest", "http://x.example/oai", indexed, "-p", "oai_d")
    assert "mods" in offered("fleet", "add", indexed, "-p", "mo")
    assert offered("export", "csv", indexed, "--field", "dc:ti") == ["dc:title"]
    assert "type" in offered("sheet", "export", indexed, "out.csv", "--field", "ty")
    assert "audit" in offered("schedule", "add", indexed, "nightly", "au")


def test_names_of_rules_batch_edits_schedules_and_crawls_are_completed(
    indexed: str, run: Run
) -> None:
    assert offered("rules", "test", indexed, "") == []
    rules = Path(indexed, "curation", "rules")
    rules.mkdir(parents=True)
    (rules / "types.toml").write_text('[[change]]\nfield = "type"\ndo = "set"\nvalues = ["x"]\n')
    assert offered("rules", "test", indexed, "t") == ["types"]
    assert offered("rules", "apply", indexed, "t") == ["types"]
    run("rules", "apply", indexed, "types", "-q")
    (job,) = offered("bulk", "undo", indexed, "2")
    assert run("bulk", "show", indexed, job).code == 0
    assert run("schedule", "add", indexed, "nightly", "audit", "--every", "1d").code == 0
    assert offered("schedule", "pause", indexed, "n") == ["nightly"]
    Path(indexed, "crawls", "spring").mkdir(parents=True)
    assert offered("crawl", "report", indexed, "--name", "s") == ["spring"]


def test_endpoints_of_a_fleet_are_completed(tmp_path: Path, run: Run) -> None:
    many = str(tmp_path / "many")
    assert offered("fleet", "show", many, "") == []
    assert run("fleet", "init", many).code == 0
    assert run("fleet", "add", many, "http://a.example.org/oai", "--name", "oxford").code == 0
    for command in ("show", "pause", "readdress", "move", "remove", "probe", "accept"):
        assert offered("fleet", command, many, "ox") == ["oxford"], command
    Path(many, "fleet", "endpoints.toml").write_text("not TOML")
    assert offered("fleet", "show", many, "") == []


def test_runs_of_a_fedora_are_completed_and_no_others(
    indexed: str, run: Run, tmp_path: Path
) -> None:
    assert run("export", "files", indexed, str(tmp_path / "out")).code == 0
    assert offered("export", "fedora", "rollback", indexed, "") == []
    with Ledger.open(indexed, "fedora http://127.0.0.1:1/rest", "Fedora") as ledger:
        begun = ledger.begin_run({})
    assert offered("export", "fedora", "rollback", indexed, "") == [begun.run_id]


def test_jobs_and_runs_are_completed(indexed: str, run: Run, tmp_path: Path) -> None:
    job = Jobs.of(indexed).ledger.add("audit", "An audit", {}, "me")
    assert offered("jobs", indexed, job.job_id[:4]) == [job.job_id]
    out = str(tmp_path / "out")
    assert offered("export", "rollback", indexed, out, "") == []
    assert run("export", "files", indexed, out).code == 0
    (found,) = offered("export", "rollback", indexed, out, "")
    assert run("export", "rollback", indexed, out, found).code == 0
