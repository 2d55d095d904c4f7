"""`silo export files`: what it prints and how it ends."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.cli import ExitCode, silo_command
from recordsilo.command_table import LONGEST
from siloexport.commands.exit_codes import ExportExit
from siloexport.commands.export import SECTIONS, export
from siloexport.commands.output import print_run
from siloexport.report import RunReport
from siloexport.values import ActionKind


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(export, ["files", *arguments], standalone_mode=False)
    if result.exception is not None:
        code = getattr(result.exception, "exit_code", None)
        assert code is not None, result.exception
        return code, result.stdout, str(result.exception)
    return result.return_value, result.stdout, result.stderr


def test_counts_are_printed_and_the_exit_is_0(silo: Silo, tmp_path: Path) -> None:
    code, out, _ = run(silo.path, str(tmp_path / "out"), "-q")
    assert (code, out) == (0, "")
    code, out, _ = run(silo.path, str(tmp_path / "out"))
    assert code == 0
    assert "0 created, 0 replaced, 3 unchanged; 1 deleted at the source left out" in out


def test_losses_are_named_and_the_exit_is_1(silo: Silo, tmp_path: Path) -> None:
    os.unlink(silo["1"].to_dirpath("oai_dc"))
    code, out, err = run(silo.path, str(tmp_path / "out"), "--quiet")
    assert code == 1
    assert "oai:example.org:1" in err
    code, out, _ = run(silo.path, str(tmp_path / "out"), "--json")
    assert code == 1
    assert json.loads(out)["problems"][0]["identifier"] == "oai:example.org:1"


def test_items_are_named_in_short_and_url_form(silo: Silo, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    code, _, _ = run(silo.path, out, "--item", "1", "--item", "oai+example,org+3")
    assert code == 0
    names = sorted(p.name for p in Path(out).iterdir() if p.is_dir() and p.name != ".silo-notes")
    assert names == ["oai+example,org+1", "oai+example,org+3"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--item", "nope"], "has no record 'nope'"),
    ],
)
def test_wrong_input_writes_nothing(
    silo: Silo, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    result = CliRunner().invoke(
        export, ["files", silo.path, str(tmp_path / "out"), *arguments], standalone_mode=False
    )
    assert result.exception is not None
    with pytest.raises(type(result.exception), match=sentence):
        raise result.exception
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--set", "nope"], "is selected by set nope"),
        (["--set", "nope", "--item", "1"], "selected by set nope and 1 identifier"),
    ],
)
def test_nothing_to_export_is_no_mistake(
    silo: Silo, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    code, printed, said = run(silo.path, str(tmp_path / "out"), *arguments)
    assert (code, printed, sentence in said) == (0, "", True)
    assert not (tmp_path / "out").exists()


def test_only_records_in_a_state_are_exported(silo: Silo, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    code, _, sentence = run(silo.path, out, "--state", "withheld")
    assert (code, "is selected by state withheld" in sentence) == (0, True)
    silo["1"].set_version_state("1", "ready")
    silo["3"].set_version_state("1", "ready")
    code, printed, _ = run(silo.path, out, "--state", "ready")
    assert code == 0
    assert "2 created" in printed
    names = sorted(p.name for p in Path(out).iterdir() if p.is_dir() and p.name != ".silo-notes")
    assert names == ["oai+example,org+1", "oai+example,org+3"]
    code, printed, _ = run(silo.path, out, "--state", "ready", "--set", "a")
    assert "0 created, 0 replaced, 1 unchanged" in printed


def test_a_record_that_is_named_is_exported_in_its_state_only(silo: Silo, tmp_path: Path) -> None:
    silo["1"].set_version_state("1", "ready")
    out = str(tmp_path / "out")
    code, printed, _ = run(silo.path, out, "--state", "ready", "--item", "1", "--item", "3")
    assert code == 0
    assert "1 created, 0 replaced, 0 unchanged" in printed


def invoke(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(export, list(arguments), standalone_mode=False)
    if result.exception is not None:
        code = getattr(result.exception, "exit_code", None)
        assert code is not None, result.exception
        return code, result.stdout, str(result.exception)
    return result.return_value or 0, result.stdout, result.stderr


def test_export_can_be_asked_verified_rebuilt_and_taken_back(silo: Silo, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert invoke("files", silo.path, out, "--dry-run")[1].startswith(f"{out}: to be done: 3 cre")
    assert invoke("files", silo.path, out, "--jobs", "2")[0] == 0
    code, printed, _ = invoke("status", silo.path, out, "--json")
    status = json.loads(printed)
    assert (code, status["records"], status["unfinished"]) == (0, 3, 0)
    assert invoke("resume", silo.path, out)[0] == 0
    assert "3 versions of 3 records compared, 0 diff" in invoke("verify", silo.path, out)[1]
    Path(status["ledger"]).unlink()
    code, _, said = invoke("verify", silo.path, out)
    assert (code, "nothing was compared" in said) == (1, True)
    assert "3 records found, 3 added or corrected" in invoke("reconcile", silo.path, out)[1]
    (tmp_path / "out" / "oai+example,org+1" / "oai_dc").write_text("by hand")
    code, printed, said = invoke("verify", silo.path, out)
    assert (code, "with --on-conflict overwrite" in said) == (4, True)
    assert "oai:example.org:1 1: file: the content of oai_dc differs" in printed
    code, _, sentence = invoke("rollback", silo.path, out, "nope")
    assert (code, "no run nope" in sentence) == (2, True)


def test_conflicts_alone_end_with_5(silo: Silo, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    invoke("files", silo.path, out)
    (tmp_path / "out" / "oai+example,org+2" / "oai_dc").write_text("by hand")
    silo["2"].put_stream("new.txt", "x")
    code, _, err = invoke("files", silo.path, out)
    assert code == 5
    assert "oai:example.org:2: conflict: oai+example,org+2 in" in err
    assert invoke("files", silo.path, out, "--on-conflict", "skip")[0] == 0
    assert invoke("files", silo.path, out, "--on-conflict", "overwrite")[0] == 0


def test_roll_back_takes_back_a_run(silo: Silo, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    run_id = json.loads(invoke("files", silo.path, out, "--json")[1])["run"]
    code, printed, _ = invoke("rollback", silo.path, out, run_id, "--purge")
    assert (code, printed) == (0, f"{run_id}: 3 rolled back, 0 kept\n")
    assert "3 created" in invoke("files", silo.path, out)[1]


def test_report_has_a_line_for_each_action(silo: Silo, tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    invoke("bag", silo.path, str(tmp_path / "out"), "--versions", "all", "--report", str(report))
    lines = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]
    assert [line["identifier"][-1] for line in lines] == ["1", "2", "3"]
    assert {(line["action"], line["result"]) for line in lines} == {("create", "done")}
    assert lines[1]["uri"].endswith("oai+example,org+2.tar")


def test_target_of_another_form_ends_with_3(silo: Silo, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    invoke("files", silo.path, out)
    code, _, sentence = invoke("bag", silo.path, out)
    assert (code, "holds an export as files" in sentence) == (3, True)
    code, _, sentence = invoke("status", silo.path, str(tmp_path / "nothing"))
    assert (code, "does not hold an earlier export" in sentence) == (3, True)
    table = str(tmp_path / "table.csv")
    assert invoke("csv", silo.path, table)[0] == 0
    for command in ("status", "verify", "resume", "reconcile"):
        code, _, sentence = invoke(command, silo.path, table)
        assert (code, "is one file, which an export writes whole" in sentence) == (3, True)


def test_zip_without_any_of_the_named_files_is_refused(silo: Silo, tmp_path: Path) -> None:
    out = tmp_path / "out.zip"
    assert invoke("zip", silo.path, str(out), "--file", "oai_dc", "--file", "marc")[0] == 0
    whole = out.read_bytes()
    code, _, sentence = invoke("zip", silo.path, str(out), "--file", "oai-dc", "--file", "marc")
    assert (code, "no selected record has metadata named oai-dc or marc" in sentence) == (2, True)
    assert out.read_bytes() == whole


def test_help_of_silo_lists_the_exit_codes_of_exports() -> None:
    lines = CliRunner().invoke(silo_command, ["--help"]).stdout.splitlines()
    listed = {line.split()[0] for line in lines if line.strip()}
    assert {str(code.value) for code in (*ExitCode, *ExportExit)} <= listed


def test_help_of_exports_tells_of_each_command_in_its_section() -> None:
    told = list(SECTIONS.values())
    named = sorted(name for summaries in told for name in summaries)
    assert named == export.list_commands(click.Context(export))
    assert all(len(text) <= LONGEST for summaries in told for text in summaries.values())
    help_text = CliRunner().invoke(export, ["--help"]).output
    assert "Other commands" not in help_text
    assert "..." not in help_text.replace("[ARGS]...", "")


def test_directory_within_the_silo_is_refused(silo: Silo) -> None:
    code, _, sentence = invoke("files", silo.path, f"{silo.path}/out")
    assert (code, "is inside the Silo" in sentence) == (2, True)


@pytest.mark.parametrize("kind", ["files", "bag", "ocfl", "csv"])
def test_an_address_is_not_taken_for_a_directory(
    silo: Silo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """It made the directory s3: here, and said that all was exported."""
    monkeypatch.chdir(tmp_path)
    code, _, sentence = invoke(kind, silo.path, "s3://bucket/out")
    assert (code, "s3://bucket/out is an address" in sentence) == (2, True)
    assert not os.path.exists("s3:")


def test_directory_that_a_link_leads_to_within_the_silo_is_refused(
    silo: Silo, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(f"{silo.path}/pairtree_root")
    code, _, sentence = invoke("files", silo.path, str(link / "x"))
    assert (code, "is inside the Silo" in sentence) == (2, True)


def test_one_is_counted_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    actions = {ActionKind.ADD_VERSION: 1, ActionKind.DESCRIBE: 1, ActionKind.CREATE: 1}
    print_run(RunReport("", "out", False, 1, actions))
    said = capsys.readouterr().out
    assert said.startswith("out: 1 created, 1 version added, 0 replaced, 1 description updated, ")


def test_a_table_is_not_written_into_the_silo(silo: Silo, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(f"{silo.path}/pairtree_root")
    for out in (f"{silo.path}/a.csv", str(tmp_path / "link" / "a.csv")):
        result = CliRunner().invoke(export, ["csv", silo.path, out], standalone_mode=False)
        assert f"{out} is inside the Silo" in str(result.exception)
        assert not os.path.exists(out)


@pytest.mark.long
@pytest.mark.parametrize("form", ["sqlite", "zip"])
def test_a_binary_file_is_not_shown_on_a_terminal(silo: Silo, form: str) -> None:
    controller, terminal = pty.openpty()
    command = [sys.executable, "-c", "from recordsilo.cli import main; main()"]
    try:
        done = subprocess.run(
            [*command, "export", form, silo.path],
            stdout=terminal, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    finally:
        os.close(terminal)
        os.close(controller)
    assert done.returncode == 2
    assert f"{form} is binary, which a terminal cannot show; name a file" in done.stderr
