"""The commands that curate: what they print, what they refuse, and how they exit."""

import errno
import json
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from unittest.mock import Mock

import pytest

from recordsilo import Silo
from recordsilo.cli import _run
from recordsilo.disk.toml_files import TomlFiles
from silocuration.batch.exported_sheets import exported_sheet
from silocuration.batch.job import create_job, held
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import load_rules
from silocuration.errors import SheetChanged
from silocuration.reconciling import added_places

Fill = Callable[..., list[str]]
RULE = """title = "one spelling"
[[change]]
do = "replace"
field = "type"
value = "Article"
by = "article"
"""


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    def call(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["silo", *arguments])
        code = _run()
        captured = capfdbinary.readouterr()
        return Result(int(code), captured.out.decode(), captured.err.decode())

    return call


@pytest.fixture
def myrepo(silo: Silo, fill: Fill) -> str:
    fill(3, type=["Article", "PeerReviewed"], subject="Tides, moon")
    rules = Path(silo.path, "curation", "rules")
    rules.mkdir(parents=True)
    (rules / "types.toml").write_text(RULE)
    return silo.path


def refused(result: Result, sentence: str, code: int = 2) -> None:
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith("silo: ")
    assert sentence in result.err


def test_a_rule_is_listed_tested_applied_and_undone(run: Run, myrepo: str, silo: Silo) -> None:
    assert run("rules", "list", myrepo).out == "types\t1 change\tonce\tone spelling\n"
    tested = run("rules", "test", myrepo, "types", "-n", "1", "-q").out
    assert tested == (
        "3 records, 3 of them would be changed: 3 values, 3 new working copies\n\n"
        "oai:repo.example:0\n  - type: Article\n  + type: article\n\nand 2 more\n"
    )
    assert run("rules", "apply", myrepo, "types", "--dry-run", "-q").out.startswith("3 records, 3")
    assert not silo["oai:repo.example:0"].is_curated
    applied = run("rules", "apply", myrepo, "types", "--agent", "ada", "-q")
    assert (applied.code, applied.out) == (0, "")
    (job,) = json.loads(run("bulk", "list", myrepo, "--json").out)
    assert (job["agent"], job["counts"]["done"], job["values"]) == ("ada", 3, 3)
    silo["oai:repo.example:1"].put_stream("note.txt", "mine")
    undone = run("bulk", "undo", myrepo, job["job"])
    assert (undone.code, "2 undone, 1 kept" in undone.out) == (1, True)
    assert "oai:repo.example:1 was changed since" in undone.out
    assert "Type: article → Article\n" in undone.out
    assert "1 kept" in run("bulk", "show", myrepo, job["job"]).out
    assert run("bulk", "resume", myrepo, job["job"], "-q").code == 1


def test_a_spreadsheet_goes_out_and_comes_back(
    run: Run, myrepo: str, silo: Silo, tmp_path: Path
) -> None:
    sheet = tmp_path / "o.csv"
    assert run("sheet", "export", myrepo, str(sheet), "--all").out == f"{sheet}: 3 records\n"
    sheet.write_text(sheet.read_text().replace("Record 1", "The first"))
    assert "1 of them" in run("sheet", "import", myrepo, str(sheet), "--dry-run", "-q").out
    assert run("sheet", "import", myrepo, str(sheet)).code == 0
    assert silo.row("oai:repo.example:1").title == "The first"


def test_records_passed_over_are_named_by_a_dry_run_and_by_the_run(
    run: Run, myrepo: str, tmp_path: Path
) -> None:
    sheet = tmp_path / "o.csv"
    sheet.write_text("identifier,mark,title\noai:x:never,m,A\n")
    dry = run("sheet", "import", myrepo, str(sheet), "--dry-run", "-q")
    done = run("sheet", "import", myrepo, str(sheet))
    for result in (dry, done):
        assert result.code == 1
        assert "  oai:x:never was not found in this Silo\n" in result.out
    found = run("sheet", "import", myrepo, str(sheet), "--dry-run", "-q", "--json")
    named = [{"identifier": "oai:x:never", "reason": "was not found in this Silo"}]
    assert (found.code, json.loads(found.out)["passed_over"]) == (1, named)


def test_a_dry_run_names_files_and_states_and_says_how_many_more(
    run: Run, silo: Silo, fill: Fill, tmp_path: Path
) -> None:
    fill(7)
    licence = tmp_path / "licence.txt"
    licence.write_text("CC BY")
    dry = run("attach", silo.path, str(licence), "--all", "--as", "docs/l.txt", "--dry-run", "-q")
    assert dry.code == 0
    assert "\noai:repo.example:0\n  file: docs/l.txt\n" in dry.out
    assert dry.out.endswith("\n\nand 2 more\n")
    ready = tmp_path / "ready.toml"
    ready.write_text('state = "ready"')
    tested = run("rules", "test", silo.path, str(ready), "-q")
    assert "\noai:repo.example:0\n  state: ready\n" in tested.out


def test_the_log_of_a_record_says_who_changed_it_and_why(run: Run, myrepo: str) -> None:
    run("rules", "apply", myrepo, "types", "--agent", "ada", "-m", "one spelling", "-q")
    assert "Changed in bulk by ada: one spelling" in run("log", myrepo, "oai:repo.example:0").out


def test_a_column_of_a_field_that_no_record_can_have_is_refused(
    run: Run, myrepo: str, silo: Silo, tmp_path: Path
) -> None:
    sheet = tmp_path / "o.csv"
    export = ("sheet", "export", myrepo, str(sheet), "--all", "-q", "--field")
    refused(run(*export, "titel"), "no record has a field 'titel'; did you mean 'title'?")
    refused(run(*export, "dcterms:issued"), "no record has a field 'dcterms:issued'")
    assert not sheet.exists()
    assert run(*export, "rights[en]").code == 0
    wrong = b"<dc><title>A</title><titel>B</titel></dc>"
    silo.get_item("oai:repo.example:zz").put_stream("oai_dc", wrong, None, True)
    assert run(*export, "titel").code == 0
    assert ",B\n" in sheet.read_text()


def test_a_mistyped_column_refuses_the_whole_sheet(
    run: Run, myrepo: str, silo: Silo, tmp_path: Path
) -> None:
    sheet = tmp_path / "o.csv"
    assert run("sheet", "export", myrepo, str(sheet), "--all", "-q").code == 0
    before = sheet.read_text("utf-8-sig")
    sheet.write_text(before.replace("mark,title", "mark,titel").replace("Tides", "Ebb"))
    assert "titel" in sheet.read_text()
    for more in ((), ("--dry-run",)):
        done = run("sheet", "import", myrepo, str(sheet), "-q", *more)
        refused(done, "no record has a field 'titel'; did you mean 'title'?")
    assert not any(silo[one].is_curated for one in silo)
    assert run("bulk", "list", myrepo).out == ""


@pytest.mark.parametrize(
    "command",
    [
        "sheet export REPO out.csv --set nope",
        "attach REPO FILE --set nope",
        "attach REPO FILE --set nope --dry-run",
        "rules test REPO nowhere",
        "rules apply REPO nowhere",
        "rules apply REPO nowhere --dry-run",
        "export csv REPO out.csv --set nope",
        "export files REPO out --set nope",
        "export verify REPO there --set nope",
        "export reconcile REPO there --set nope",
        "fetch-files REPO --set nope",
        "crawl seeds REPO --set nope",
    ],
)
def test_a_selection_without_records_does_nothing(
    run: Run, myrepo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FILE").write_text("CC BY")
    rule = '[select]\nset = "nope"\n' + RULE.partition("\n")[2]
    Path(myrepo, "curation", "rules", "nowhere.toml").write_text(rule)
    if " there " in command:
        assert run("export", "files", myrepo, "there", "-q").code == 0
    result = run(*(myrepo if word == "REPO" else word for word in command.split()))
    assert (result.code, result.out) == (0, "")
    assert f"silo: no record of {myrepo} is selected by set nope" in result.err
    assert not {"out", "out.csv"} & set(os.listdir())
    assert run("bulk", "list", myrepo).out == ""


def test_a_file_is_attached_to_what_is_selected(
    run: Run, myrepo: str, silo: Silo, tmp_path: Path
) -> None:
    licence = tmp_path / "licence.txt"
    licence.write_text("CC BY")
    item = ("--item", "oai:repo.example:2")
    assert run("attach", myrepo, str(licence), *item, "--as", "docs/l.txt").code == 0
    assert silo["oai:repo.example:2"].paths() == ["oai_dc", "docs/l.txt"]
    assert run("attach", myrepo, "--premis", *item).code == 0
    assert "premis.xml" in silo["oai:repo.example:2"].paths()


def test_quality_counts_findings_and_duplicates_are_marked(run: Run, myrepo: str) -> None:
    assert "        3  Q201  no date\n" in run("quality", myrepo).out
    assert json.loads(run("quality", myrepo, "--json").out)[0]["findings"]["Q301"] == 3
    one, other = "oai:repo.example:1", "oai:repo.example:2"
    marked = run("quality", myrepo, "--mark", one, "--duplicate-of", other)
    assert (marked.code, marked.out) == (0, f"{one} is a duplicate of {other}\n")
    assert "Q901" in run("quality", myrepo, "--by-set").out
    marked = run("quality", myrepo, "--mark", one, "--duplicate-of", "none")
    assert (marked.code, marked.out) == (0, f"{one} is no longer a duplicate\n")
    marked = run("quality", myrepo, "--distinct", one, "--distinct", other)
    assert (marked.code, marked.out) == (0, f"distinct: {one}, {other}\n")
    assert run("quality", myrepo, "--duplicates", "--json").out == "[]\n"
    taken = run("quality", myrepo, "--distinct", one, "--distinct", other, "--revoke")
    assert (taken.code, taken.out) == (0, f"no longer distinct: {one}, {other}\n")
    assert run("quality", myrepo, "--revoke").code == 2


def test_clusters_become_a_rule_that_can_be_applied(
    run: Run, myrepo: str, silo: Silo, tmp_path: Path
) -> None:
    silo.get_item("x").put_stream("oai_dc", b"<dc><subject>moon tides</subject></dc>", None, True)
    rule = tmp_path / "subjects.toml"
    shown = run("clusters", myrepo, "subject", "--rule", str(rule)).out
    assert shown == "        3  Tides, moon\n        1  moon tides\n\n1 cluster\n"
    again = run("clusters", myrepo, "subject", "--rule", str(rule))
    assert again.code == 2
    assert "exists and is not replaced" in again.err
    assert run("clusters", myrepo, "--rule", "-").out == rule.read_text()
    assert run("rules", "apply", myrepo, str(rule)).code == 0
    assert silo.search('subject:"Tides, moon"').total == 4


def test_values_said_to_be_distinct_are_no_longer_listed(
    run: Run, myrepo: str, silo: Silo, tmp_path: Path
) -> None:
    silo.get_item("x").put_stream("oai_dc", b"<dc><subject>moon tides</subject></dc>", None, True)
    assert run("clusters", myrepo).out.startswith("subject:\n        3  Tides, moon\n")
    distinct = ("--distinct", "Tides, moon", "--distinct", "moon tides")
    assert run("clusters", myrepo, *distinct).code == 2
    refused = run("clusters", myrepo, "subject", "--method", "ngram", "--distance", "2")
    assert (refused.code, "ngram measures no distance" in refused.err) == (2, True)
    assert run("clusters", myrepo, "subject", *distinct[:2]).code == 2
    assert run("clusters", myrepo, "subject", *distinct).code == 0
    assert run("clusters", myrepo).out == "0 clusters\n"
    rule = tmp_path / "merge.toml"
    nothing = run("clusters", myrepo, "--rule", str(rule))
    assert (nothing.code, nothing.out) == (0, "0 clusters\n")
    assert nothing.err == "silo: no clusters, so no rule was written\n"
    assert not rule.exists()


def test_upstream_lists_proposes_and_decides(
    run: Run, myrepo: str, silo: Silo, harvest_again: Callable[..., None]
) -> None:
    def line_of(identifier: str) -> str:
        return next(line for line in run("ls", myrepo).out.splitlines() if identifier in line)

    run("rules", "apply", myrepo, "types", "-q")
    one, other = "oai:repo.example:0", "oai:repo.example:1"
    harvest_again(one, title="Record 0", type=["Article", "PeerReviewed"], date="1999")
    harvest_again(other, title="Record 1", type=["Report", "PeerReviewed"])
    listed = run("upstream", myrepo).out
    assert f"{one}\tversion 2 merges cleanly; not proposed yet\n" in listed
    assert "    ours    article || PeerReviewed\n" in listed
    assert run("upstream", myrepo, "--propose").out == (
        "1 proposed; to decide: 1 conflict, 1 proposed\n"
    )
    assert run("upstream", myrepo, "--accept", one).out == (
        f"{one}: the proposal was accepted; the former working copy is workingcopy-on-1\n"
    )
    refused(run("upstream", myrepo, "--resolve", other), "needs a choice for type")
    resolved = run("upstream", myrepo, "--resolve", other, "--take", "type=Report||Other")
    assert resolved.out == (
        f"{other}: workingcopy-from-2 is proposed (type Report || Other); take it with "
        f"silo upstream {myrepo} --accept {other}\n"
    )
    found = json.loads(run("upstream", myrepo, "--json").out)
    assert [(each["identifier"], each["kind"]) for each in found] == [(other, "proposed")]
    assert "-CU" in line_of(other)
    assert run("upstream", myrepo, "--keep", other).out == (
        f"{other}: the curated version was kept; version 2 of the source is ignored\n"
    )
    assert run("upstream", myrepo).out == "nothing to decide\n"
    assert "-C-" in line_of(other)


def test_a_choice_that_means_nothing_resolves_no_conflict(
    run: Run, myrepo: str, harvest_again: Callable[..., None]
) -> None:
    run("rules", "apply", myrepo, "types", "-q")
    one = "oai:repo.example:0"
    harvest_again(one, title="Record 0", type=["Report", "PeerReviewed"])

    def take(*choices: str, more: tuple[str, ...] = ()) -> Result:
        takes = [word for choice in choices for word in ("--take", choice)]
        return run("upstream", myrepo, "--resolve", one, *takes, *more)

    for mistyped in ("mine", "Theirs", "thiers", "our"):
        refused(take(f"type={mistyped}"), f"write 'type={mistyped}||'")
    refused(take("typ=ours"), "has no conflict in 'typ', only in type; did you mean 'type'?")
    refused(take("type=ours", "title=ours"), "has no conflict in 'title', only in type")
    assert json.loads(run("upstream", myrepo, "--json").out)[0]["kind"] == "conflict"
    taken = take("type=mine||", more=("--json",))
    assert (taken.out, "(type mine)" in taken.err) == ("", True)
    followed = run("upstream", myrepo, "--follow", one)
    assert followed.out == (
        f"{one}: version 2 of the source is current now; no version was removed\n"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("rules", "test", "nope"), "there is no rule 'nope'; those here: types"),
        (("rules", "apply", "../types"), "there is no rule"),
        (("sheet", "export", "o.csv"), "select records with"),
        (("sheet", "export", "o.csv", "--filter", "year"), "is not a filter"),
        (("sheet", "export", "o.csv", "--filter", "shoe=42"), "there is no filter"),
        (("sheet", "export", "o.csv", "--all", "--set", "x"), "--all takes no other"),
        (("attach", "--premis"), "select records with"),
        (("attach", "--all"), "give a FILE or --premis"),
        (("bulk", "undo", "20261121T213000Z-0a1b2c"), "there is no job"),
        (("quality", "--mark", "x"), "go together"),
        (("quality", "--distinct", "x"), "two records at least"),
        (("upstream", "--accept", "oai:repo.example:0"), "has no proposal"),
        (("upstream", "--take", "title=ours"), "goes with --resolve"),
    ],
)
def test_what_means_nothing_is_a_sentence(
    run: Run, myrepo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...], sentence: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    groups = 2 if arguments[0] in {"rules", "sheet", "bulk"} else 1
    refused(run(*arguments[:groups], myrepo, *arguments[groups:]), sentence)
    assert not Path("o.csv").exists()


def test_broken_rules_are_named_and_the_sound_ones_listed(run: Run, myrepo: str) -> None:
    directory = Path(myrepo, "curation", "rules")
    (directory / "broken.toml").write_text("[[change]]\ndo = []")
    (directory / "caf\udce9.toml").write_text("title = " + "[" * 3000)
    (directory / "directory.toml").mkdir()
    for arguments in ((), ("--json",)):
        result = run("rules", "list", myrepo, *arguments)
        assert result.code == 1
        assert "one spelling" in result.out
        assert len(result.err.splitlines()) == 3
        assert "broken.toml: change 1: do must be one of" in result.err


def test_a_job_of_a_slow_pattern_is_deleted_where_it_changed_nothing(
    run: Run, myrepo: str, silo: Silo
) -> None:
    slow = f"<dc><subject>{'a' * 5000}!</subject></dc>".encode()
    silo.get_item("oai:repo.example:zz").put_stream("oai_dc", slow, None, True)
    heavy = "[[change]]\ndo = 'remove'\nfield = 'subject'\npattern = '^(a|aa)+$'\n"
    Path(myrepo, "curation", "rules", "heavy.toml").write_text(heavy)
    refused(run("rules", "apply", myrepo, "heavy", "-q"), "takes too long")
    assert run("bulk", "list", myrepo).out == ""


def test_a_job_of_a_slow_pattern_stays_where_it_changed_a_record(
    run: Run, myrepo: str, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silocuration.batch.job.PAGE", 1)
    slow = f"<dc><subject>{'a' * 5000}!</subject></dc>".encode()
    silo.get_item("oai:repo.example:zz").put_stream("oai_dc", slow, None, True)
    heavy = RULE + "[[change]]\ndo = 'remove'\nfield = 'subject'\npattern = '^(a|aa)+$'\n"
    Path(myrepo, "curation", "rules", "heavy.toml").write_text(heavy)
    refused(run("rules", "apply", myrepo, "heavy", "-q"), "takes too long")
    (job,) = json.loads(run("bulk", "list", myrepo, "--json").out)
    assert (job["counts"]["done"], job["counts"]["planned"]) == (3, 1)
    refused(run("bulk", "discard", myrepo, job["job"]), f"silo bulk undo {myrepo} {job['job']}")


@pytest.mark.parametrize("command", ["resume", "undo", "discard"])
def test_a_batch_edit_that_runs_elsewhere_can_be_asked_again_later(
    run: Run, myrepo: str, silo: Silo, command: str
) -> None:
    job = create_job(silo, rules_job(load_rules(myrepo, "types")), agent="ada")
    if command == "undo":
        assert run("bulk", "resume", myrepo, job).code == 0
    with held(silo, job):
        result = run("bulk", command, myrepo, job)
    refused(result, "by another process; try again when it has ended", 75)


def test_a_job_that_left_nothing_to_undo_says_so(run: Run, myrepo: str, tmp_path: Path) -> None:
    def job_of(command: str) -> str:
        run(*command.split())
        return str(json.loads(run("bulk", "list", myrepo, "--json").out)[0]["job"])

    job = job_of(f"rules apply {myrepo} types -q")
    refused(
        run("bulk", "discard", myrepo, job), f"has changed records; silo bulk undo {myrepo} {job}"
    )
    assert run("bulk", "undo", myrepo, job, "-q").code == 0
    refused(run("bulk", "discard", myrepo, job), "it has nothing to undo")
    (tmp_path / "o.csv").write_text("identifier,mark,title\noai:x:never,m,A\n")
    job = job_of(f"sheet import {myrepo} {tmp_path / 'o.csv'} -q")
    refused(run("bulk", "discard", myrepo, job), f"job {job} is finished and stays in the list")


def test_a_job_is_not_undone_twice(run: Run, myrepo: str) -> None:
    run("rules", "apply", myrepo, "types", "-q")
    job = json.loads(run("bulk", "list", myrepo, "--json").out)[0]["job"]
    assert run("bulk", "undo", myrepo, job).code == 0
    journal = Path(myrepo, "curation", "jobs", f"{job}.sqlite")
    before = (journal.stat().st_mtime_ns, journal.read_bytes())
    again = run("bulk", "undo", myrepo, job)
    told = f"silo: job {job} was undone already: 3 records; there is nothing to undo\n"
    assert (again.code, again.out, again.err) == (0, "", told)
    assert (journal.stat().st_mtime_ns, journal.read_bytes()) == before
    assert json.loads(run("bulk", "undo", myrepo, job, "--json").out)["counts"]["undone"] == 3
    run("rules", "apply", myrepo, "types", "-q")
    unchanged = json.loads(run("rules", "apply", myrepo, "types", "--json").out)["job"]
    assert (
        "changed no record; there is nothing to undo" in run("bulk", "undo", myrepo, unchanged).err
    )


def test_a_command_in_a_message_names_the_silo_as_the_shell_needs_it(
    run: Run, myrepo: str, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.symlink(myrepo, spaced := f"{myrepo} of ours")
    job = create_job(silo, rules_job(load_rules(silo.path, "types")), agent="ada")
    refused(run("bulk", "undo", spaced, job), f"silo bulk discard '{spaced}' {job} deletes it")

    def interrupted(*_given: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("silocuration.commands.edits.run_job", interrupted)
    refused(run("bulk", "resume", spaced, job), f"silo bulk resume '{spaced}' {job} continues", 130)


@pytest.mark.parametrize(
    ("command", "known", "earlier"),
    [
        ("sheet export", "--field", "--column"),
        ("reconcile ask", "--search", "--query"),
        ("crawl queue dead", "--limit", "--most"),
    ],
)
def test_an_option_is_understood_by_its_earlier_name_too(
    run: Run, myrepo: str, command: str, known: str, earlier: str
) -> None:
    shown = run(*command.split(), "--help").out
    assert known in shown
    assert earlier not in shown
    assert "no such option" not in run(*command.split(), myrepo, earlier, "x").err.lower()


def test_a_planned_job_is_discarded_and_not_undone(run: Run, myrepo: str, silo: Silo) -> None:
    job = create_job(silo, rules_job(load_rules(silo.path, "types")), agent="ada")
    refused(run("bulk", "undo", myrepo, job), f"silo bulk discard {myrepo} {job}")
    discarded = run("bulk", "discard", myrepo, job)
    assert (discarded.code, discarded.out) == (0, f"job {job} discarded\n")
    refused(run("bulk", "discard", myrepo, job), "there is no job")
    assert run("bulk", "list", myrepo).out == ""


def test_a_misspelt_field_that_is_only_read_is_remarked_on(run: Run, myrepo: str) -> None:
    path = Path(myrepo, "curation", "rules", "typo.toml")
    path.write_text(RULE.replace('"type"', '"tpye"'))
    remark = "silo: no record has a field 'tpye'; did you mean 'type'?\n"
    tested = run("rules", "test", myrepo, "typo", "-q")
    assert (tested.code, tested.err) == (0, remark)
    found = json.loads(run("rules", "test", myrepo, "typo", "-q", "--json").out)
    assert found["remarks"] == [remark.removeprefix("silo: ").strip()]
    for options in ((), ("--dry-run",)):
        applied = run("rules", "apply", myrepo, "typo", "-q", *options)
        assert (applied.code, applied.err) == (0, remark)
    path.write_text(RULE.replace('"type"', '"rights"'))
    assert run("rules", "test", myrepo, "typo", "-q").err == ""


def test_a_wrong_field_that_a_record_has_can_be_removed(run: Run, myrepo: str, silo: Silo) -> None:
    wrong = silo.get_item("oai:repo.example:wrong")
    wrong.put_stream("oai_dc", b"<dc><title>A</title><rigths>CC BY</rigths></dc>", None, True)
    path = Path(myrepo, "curation", "rules", "typo.toml")
    path.write_text("[[change]]\ndo = 'remove'\nfield = 'rigths'\n")
    for command in ("test", "apply"):
        result = run("rules", command, myrepo, "typo", "-q")
        assert (result.code, result.err) == (0, "")
    with wrong.get_stream("oai_dc") as stream:
        assert b"rigths" not in stream.read()


def test_a_rule_file_that_means_nothing_names_the_change(run: Run, myrepo: str) -> None:
    path = Path(myrepo, "curation", "rules", "bad.toml")
    for text, sentence in (
        ("[[change", "is not valid TOML"),
        ('[[change]]\ndo = "shake"', "change 1: do must be one of"),
        ('[[change]]\ndo = "add"\nfield = "type"', "'add' needs value"),
        (
            '[select]\nshoe = "42"',
            "select: there is no filter 'shoe'; there are query, identifiers",
        ),
        ('state = "fine"', "state must be one of"),
    ):
        path.write_text(text)
        refused(run("rules", "test", myrepo, "bad"), sentence)
    assert run("rules", "list", myrepo).code == 1


def test_a_sheet_goes_to_standard_output(
    run: Run, myrepo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = tmp_path / "o.csv"
    assert run("sheet", "export", myrepo, str(sheet), "--all", "-q").code == 0
    monkeypatch.chdir(tmp_path)
    result = run("sheet", "export", myrepo, "-", "--all")
    assert (result.code, result.out.encode()) == (0, sheet.read_bytes())
    assert not Path("-").exists()


def test_an_edited_sheet_is_replaced_only_on_request(
    run: Run, myrepo: str, silo: Silo, tmp_path: Path
) -> None:
    sheet = tmp_path / "o.csv"
    export = ("sheet", "export", myrepo, str(sheet), "--all", "-q")
    assert run(*export).code == 0
    silo["oai:repo.example:0"].set_version_state("1", "ready")
    assert run(*export).code == 0, "an unedited sheet is replaced"
    edited = sheet.read_text() + "edited\n"
    sheet.write_text(edited)
    result = run(*export)
    assert (result.code, sheet.read_text()) == (5, edited)
    assert "--on-conflict overwrite" in result.err
    assert run(*export, "--on-conflict", "overwrite").code == 0
    assert "edited" not in sheet.read_text()
    assert run(*export).code == 0
    sheet.unlink()
    assert run(*export).code == 0


def test_a_file_that_no_export_wrote_is_not_replaced_by_a_sheet(
    run: Run, myrepo: str, tmp_path: Path
) -> None:
    mine = tmp_path / "thesis.csv"
    mine.write_text("mine")
    assert run("sheet", "export", myrepo, str(mine), "--all", "-q").code == 5
    assert mine.read_text() == "mine"
    assert not Path(myrepo, "curation", "sheets").exists()


def write_sheet(silo: Silo, path: Path, content: bytes, *, overwrite: bool = False) -> None:
    with exported_sheet(silo.path, str(path), overwrite=overwrite) as file:
        file.write(content)


def test_a_sheet_edited_during_its_export_stays(silo: Silo, tmp_path: Path) -> None:
    out = tmp_path / "o.csv"
    write_sheet(silo, out, b"old")
    writing = ExitStack()
    writing.enter_context(exported_sheet(silo.path, str(out))).write(b"new")
    out.write_text("by hand")
    with pytest.raises(SheetChanged):
        writing.close()
    assert out.read_text() == "by hand"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_an_export_killed_at_the_rename_can_be_repeated(
    silo: Silo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    out = tmp_path / "o.csv"
    rename = os.rename

    def killed(old: str, new: str) -> None:
        if new != str(out) or after:
            rename(old, new)
        if new == str(out):
            raise KeyboardInterrupt

    write_sheet(silo, out, b"old")
    monkeypatch.setattr(os, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        write_sheet(silo, out, b"new")
    monkeypatch.setattr(os, "rename", rename)
    assert out.read_bytes() == (b"new" if after else b"old")
    write_sheet(silo, out, b"newest")
    assert out.read_bytes() == b"newest"
    if not after:
        out.write_bytes(b"new")
        with pytest.raises(SheetChanged):
            write_sheet(silo, out, b"later")


def test_an_unreadable_note_of_a_sheet_protects_the_file(silo: Silo, tmp_path: Path) -> None:
    out = tmp_path / "o.csv"
    write_sheet(silo, out, b"old")
    (note,) = Path(silo.path, "curation", "sheets").iterdir()
    note.write_bytes(b"\x00")
    with pytest.raises(SheetChanged):
        write_sheet(silo, out, b"new")
    write_sheet(silo, out, b"new", overwrite=True)
    assert out.read_bytes() == b"new"


def test_a_list_is_added_changed_and_removed_at_the_shell(
    run: Run, myrepo: str, tmp_path: Path
) -> None:
    staff = tmp_path / "people.csv"
    staff.write_text("id,name\n0000-0002-1825-0097,Article\n")
    told = run("reconcile", "add", myrepo, "staff", "--list", str(staff), "--field", "subject",
               "--title", "Staff")  # fmt: skip
    assert (told.code, told.out.partition(";")[0]) == (0, "staff added")
    assert run("reconcile", "test", myrepo, "staff").out == "the list has 1 name\n"
    staff.write_text("id,name\n1,Article\n2,Book\n")
    assert run("reconcile", "change", myrepo, "staff", "--list", str(staff)).code == 0
    assert run("reconcile", "test", myrepo, "staff").out == "the list has 2 names\n"
    kept = Path(myrepo, "curation", "reconciliation-places", "staff.toml").read_text()
    assert ('title = "Staff"' in kept, '"subject"' in kept) == (True, True)
    refused(run("reconcile", "change", myrepo, "staff", "--url", "https://example.org/",
                "--unasked"), "staff is a list, without an address")  # fmt: skip
    told = run("reconcile", "accept", myrepo, "staff", "subject")
    assert (told.code, told.out) == (0, "")
    ask_it = f"silo reconcile ask {myrepo} staff subject"
    assert told.err == f"silo: no values that were asked for; {ask_it} asks for them\n"
    assert run("reconcile", "ask", myrepo, "staff", "subject").code == 0
    told = run("reconcile", "accept", myrepo, "staff", "subject", "--score", "101")
    assert told.out == "nothing is so clear; nothing was accepted\n"
    assert run("reconcile", "remove", myrepo, "staff").out == "staff removed\n"
    assert not Path(myrepo, "curation", "lists", "staff.csv").exists()
    refused(run("reconcile", "remove", myrepo, "staff"), "no service or list 'staff'")


def test_a_list_that_was_added_or_removed_halfway_is_added_again(
    run: Run, myrepo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    staff, kept = tmp_path / "people.csv", Path(myrepo, "curation", "lists", "staff.csv")
    staff.write_text("id,name\n1,Article\n")
    add = ("reconcile", "add", myrepo, "staff", "--list", str(staff))

    def add_fails() -> None:
        full = OSError(errno.ENOSPC, "no space left", str(kept))
        with monkeypatch.context() as patch:
            patch.setattr(added_places, "_keep_list", Mock(side_effect=full))
            assert run(*add).code != 0
        assert not kept.exists()

    add_fails()
    assert "staff" not in run("reconcile", "places", myrepo).out
    with monkeypatch.context() as patch:  # killed: the place is not taken back either
        patch.setattr(TomlFiles, "remove", lambda *_: None)
        add_fails()
    assert "staff" in run("reconcile", "places", myrepo).out
    assert run(*add).code == 0
    assert kept.read_text() == staff.read_text()
    refused(run(*add), "there is already a service or list staff")
    with monkeypatch.context() as patch:
        patch.setattr(TomlFiles, "remove", Mock(side_effect=OSError(errno.EIO, "killed")))
        assert run("reconcile", "remove", myrepo, "staff").code != 0
    assert not kept.exists()
    assert run("reconcile", "remove", myrepo, "staff").code == 0
    kept.write_text("id,name\n7,Own\n")  # the administrator's
    refused(run(*add), "there is already a list staff.csv")
    assert kept.read_text() == "id,name\n7,Own\n"


def test_a_service_is_asked_before_it_is_added_at_the_shell(run: Run, myrepo: str) -> None:
    command = ("reconcile", "add", myrepo, "own", "--url", "http://127.0.0.1:9/reconcile")
    refused(run(*command), "its address is not public; private = true in [added]")
    assert "no services or lists" in run("reconcile", "places", myrepo).err
    assert run(*command, "--unasked").code == 0
    refused(run(*command, "--unasked"), "already a service or list own")
    refused(run("reconcile", "add", myrepo, "two"), "give either an address or a list")
    file = Path(myrepo, "curation", "reconciliation.toml")
    file.write_text('[places.fixed]\nurl = "https://reconcile.example.org/"\n')
    for command in (("change", myrepo, "fixed", "--title", "X"), ("remove", myrepo, "fixed")):
        refused(run("reconcile", *command), "fixed is in curation/reconciliation.toml")


def test_an_empty_list_says_how_to_make_what_it_would_list(run: Run, silo: Silo) -> None:
    place = Path(silo.path, "curation", "reconciliation.toml")
    for command, none in (
        (("rules", "list"), "silo: no rules; silo help curation says"),
        (("bulk", "list"), "silo: no batch edits; silo rules apply"),
        (("reconcile", "places"), "silo: no services or lists; silo reconcile add "),
        (("reconcile", "identifiers"), "silo: no values of creator that have an identifier; "),
    ):
        field = ["creator"] if command[1] == "identifiers" else []
        done = run(*command, silo.path, *field)
        assert (done.code, done.out, done.err[: len(none)]) == (0, "", none)
        assert json.loads(run(*command, silo.path, *field, "--json").out) == []
    place.parent.mkdir(exist_ok=True)
    place.write_text('[places.staff]\nlist = "staff.csv"\n')
    told = run("reconcile", "show", silo.path, "staff", "creator")
    way = f"silo reconcile ask {silo.path} staff creator asks for those that are new"
    assert (told.out, told.err) == ("", f"silo: no values to decide about; {way}\n")
