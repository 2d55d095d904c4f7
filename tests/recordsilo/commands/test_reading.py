"""The commands that read: `ls`, `show`, `cat`, `path`, `log`, `diff`."""

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_results import CREATOR, Harvest, Result, Run, only_sentence

from recordsilo import Origin, Silo
from recordsilo.cli import ExitCode, fitted
from recordsilo.repository import STATE_FILE

# -- ls ---------------------------------------------------------------------------------


def test_ls_lists_identifier_datestamp_marks_and_title(run: Run, myrepo: str) -> None:
    result = run("ls", myrepo)
    lines = [line.split("\t") for line in result.out.splitlines()]
    assert result.code == 0
    assert [line[0] for line in lines] == ["local", "oai:x:1", "oai:x:2", "oai:x:3/4"]
    assert lines[1] == ["oai:x:1", "2004-06-24T00:00:00", "---", "Möwen"]
    assert lines[2][2] == "-C-"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--set", "a"], ["oai:x:1"]),
        (["--curated"], ["local", "oai:x:2"]),
        (["--not-curated"], ["oai:x:1", "oai:x:3/4"]),
        (["--deleted"], []),
        (["--live", "-n", "2"], ["local", "oai:x:1"]),
        (["--from", "oai:x:2"], ["oai:x:2", "oai:x:3/4"]),
        (["--upstream-newer"], []),
    ],
)
def test_ls_filters(run: Run, myrepo: str, options: list[str], expected: list[str]) -> None:
    result = run("ls", myrepo, "--json", *options)
    assert [json.loads(line)["identifier"] for line in result.out.splitlines()] == expected


def test_lists_as_json_say_what_a_record_is(run: Run, path_of_2010: str) -> None:
    with Silo(path_of_2010, create=False) as silo, silo.batch(["by"]) as batch:
        edit = batch.edit("by")
        edit.add_version("1", date="2020-01-01T00:00:00", origin=Origin("harvest"))
        edit.put("1", "oai_dc", CREATOR, metadata=True)
    listed = [json.loads(line) for line in run("ls", path_of_2010, "--json").out.splitlines()]
    found = json.loads(run("search", path_of_2010, "--json").out)["records"]
    assert found == listed
    with Silo(path_of_2010, create=False) as silo:
        assert [row["identifier"] for row in listed] == list(silo)
        described = silo.described(list(silo))
        assert described["by"].creators == ("Ortega, N.",)
        for row in listed:
            assert row.items() >= described[row["identifier"]].as_json().items()
    (one,) = [row for row in listed if row["identifier"].endswith("6")]
    assert json.loads(run("show", path_of_2010, "6", "--json").out).items() >= one.items()


def test_ls_of_the_silo_of_2010(run: Run, path_of_2010: str) -> None:
    assert len(run("ls", path_of_2010).out.splitlines()) == 5


def test_ls_pages_through_everything(
    run: Run, myrepo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Silo.page
    monkeypatch.setattr(Silo, "page", lambda self, *, limit, **k: real(self, limit=2, **k))
    assert len(run("ls", myrepo).out.splitlines()) == 4


def test_ls_takes_a_limit_of_any_size(run: Run, myrepo: str) -> None:
    everything = run("ls", myrepo)
    assert run("ls", myrepo, "-n", str(sys.maxsize + 1)) == everything
    assert run("ls", myrepo, "-n", "1").out == everything.out.splitlines(keepends=True)[0]


def test_title_with_tabs_and_line_ends_stays_in_its_field(
    run: Run, myrepo: str, harvest: Harvest
) -> None:
    with Silo(myrepo) as silo:
        harvest(silo, "oai:x:0", title="two\nlines\tand a tab")
    assert run("ls", myrepo, "--set", "nope").out == ""
    assert "oai:x:0\t2004-06-24T00:00:00\t---\ttwo lines and a tab\n" in run("ls", myrepo).out


@pytest.mark.long
def test_reader_that_has_seen_enough_is_no_error(myrepo: str, harvest: Harvest) -> None:
    with Silo(myrepo) as silo, silo.batch([f"n{n}" for n in range(600)]) as batch:
        for number in range(600):
            edit = batch.edit(f"n{number}")
            origin = silo["1"].origin()
            edit.add_version("1", date="2004-06-24", origin=origin)
            edit.put(
                "1", "oai_dc", b"<dc><title>" + b"long " * 40 + b"</title></dc>", metadata=True
            )
    silo = '"$1" -c "from recordsilo.cli import main; main()" ls "$2"'
    script = silo + ' | head -1; echo "${PIPESTATUS[0]}"'
    result = subprocess.run(
        ["bash", "-c", script, "bash", sys.executable, myrepo],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = result.stdout.splitlines()
    assert (len(lines), lines[1], result.stderr) == (2, "0", "")


@pytest.mark.long
@pytest.mark.parametrize("pipe", ["", "2>&1"])
def test_reader_that_has_seen_enough_does_not_decide_how_a_command_ends(
    myrepo: str, pipe: str
) -> None:
    with Silo(myrepo) as silo:
        damaged = silo["1"].to_dirpath("oai_dc")
    with open(damaged, "ab") as file:
        file.write(b" ")
    silo_command = '"$1" -c "from recordsilo.cli import main; main()" check "$2"'
    script = f'{silo_command} {pipe} | true; echo "${{PIPESTATUS[0]}}"'
    result = subprocess.run(
        ["bash", "-c", script, "bash", sys.executable, myrepo],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (result.stdout, result.stderr) == ("2\n", "")


# -- show, cat, path --------------------------------------------------------------------


@pytest.mark.parametrize("form", ["oai:x:3/4", "3/4", "oai+x+3=4", "3=4"])
@pytest.mark.parametrize("command", ["show", "cat", "path"])
def test_identifier_is_taken_in_full_short_and_url_form(
    run: Run, myrepo: str, command: str, form: str
) -> None:
    result = run(command, myrepo, form)
    assert (result.code, result.err) == (0, "")
    assert result.out


def test_show_tells_versions_files_and_origins(run: Run, myrepo: str) -> None:
    text = run("show", myrepo, "2").out
    for part in (
        "identifier  oai:x:2", "title       Terns", "sets        ab", "version 1  2004-06-24T",
        "harvest by harvester", "version workingcopy", "clone of 1", "← current", "oai_dc",
        "metadata",
    ):  # fmt: skip
        assert part in text
    found = json.loads(run("show", myrepo, "2", "--json").out)
    assert found["identifier"] == "oai:x:2"
    assert [v["name"] for v in found["version_list"]] == ["1", "workingcopy"]
    assert found["version_list"][0]["frozen"] is True
    assert found["version_list"][1]["files"][0]["metadata"] is True
    assert found["metadata"]["setSpec"] == ["ab"]


def test_show_names_the_sets_of_a_record(run: Run, myrepo: str) -> None:
    sets = {"sets": {"ab": "Subject = Birds, waders"}}
    place = Path(myrepo, STATE_FILE)
    place.write_text(json.dumps(sets), "utf-8")
    assert "sets        Subject = Birds, waders (ab)\n" in run("show", myrepo, "2").out


def test_list_of_nothing_says_on_stderr_how_to_make_some(run: Run, tmp_path: Path) -> None:
    new = str(tmp_path / "new")
    Silo(new).close()
    for command, what in {
        ("ls",): f"no records in {new}; silo harvest URL {new} fetches some",
        ("harvests",): f"no harvests; silo harvest URL {new} makes one",
        ("jobs",): "no jobs; the page makes them (silo serve), and silo schedule add",
        ("schedule", "list"): f"no schedules; silo schedule add {new} makes one",
        ("user", "list"): f"no accounts; silo user add {new} NAME makes one",
        ("crawl", "list"): f"no crawls; silo crawl match {new} makes one from the files of a crawl",
    }.items():
        assert run(*command, new) == Result(0, "", f"silo: {what}\n")
        as_json = run(*command, new, "--json")
        assert (as_json.out.strip() in {"", "[]"}, as_json.err) == (True, "")


def test_show_names_a_dangling_link_and_goes_on(run: Run, path_of_2010: str) -> None:
    result = run("show", path_of_2010, "6")
    assert result.code == 0
    assert "PROBLEM: 'oai_dc' in version 'delta'" in result.out
    found = json.loads(run("show", path_of_2010, "6", "--json").out)
    assert "symbolic link" in found["version_list"][1]["files"][0]["problem"]
    assert "deleted     at the source" in run("show", path_of_2010, "gone").out
    assert "(no files)" in run("show", path_of_2010, "gone").out


def test_show_names_a_file_that_is_a_directory_now(run: Run, myrepo: str) -> None:
    with Silo(myrepo) as silo:
        place = silo["1"].to_dirpath("oai_dc")
    os.unlink(place)
    os.mkdir(place)
    assert "PROBLEM" in run("show", myrepo, "1").out


def test_cat_prints_bytes(run: Run, myrepo: str) -> None:
    assert "<dc:title>Möwen</dc:title>" in run("cat", myrepo, "1").out
    assert run("cat", myrepo, "local", "note.txt").out == "x"
    assert run("cat", myrepo, "2", "oai_dc", "--version", "1").out.startswith("<metadata")


def test_cat_without_metadata_says_what_there_is(run: Run, myrepo: str) -> None:
    sentence = only_sentence(run("cat", myrepo, "local"), ExitCode.USAGE)
    assert "has no metadata; it has note.txt" in sentence


def test_path_is_where_the_version_lies(run: Run, myrepo: str) -> None:
    place = run("path", myrepo, "2").out.rstrip("\n")
    assert place.endswith("/__workingcopy")
    assert os.listdir(place) == ["oai_dc"]
    assert run("path", myrepo, "2", "1").out.endswith("/__1\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "nope"], "has no record 'nope'"),
        (["cat", "1", "nope"], "has no file 'nope'"),
        (["cat", "1", "-v", "7"], "has no version '7'; it has 1"),
        (["path", "1", "7"], "has no version '7'"),
        (["clone", "1", "7"], "has no version '7'"),
        (["clone", "2", "1"], "already has a version 'workingcopy'"),
        (["clone", "1", "1", "a/b"], "cannot name a version"),
        (["rm", "--yes", "nope"], "has no record 'nope'"),
        (["rm", "--yes", "local", "-v", "1"], "is the only version"),
        (["rm", "--yes", "1", "-v", "1"], "silo clone "),
        (
            ["rm", "--yes", "1", "-f", "oai_dc"],
            "is kept as harvested; make a copy to change with: silo clone ",
        ),
        (["rm", "--yes", "1", "-v", "1", "-f", "oai_dc"], "silo clone "),
        (["rm", "--yes", "2", "-v", "1"], "to delete the record: silo rm "),
        (["rm", "--yes", "2", "-v", "1", "-f", "oai_dc"], "to delete the record: silo rm "),
        (["rm", "--yes", "2", "-f", "nope"], "has no file 'nope'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    run: Run, myrepo: str, arguments: list[str], words: str
) -> None:
    command, *rest = arguments
    assert words in only_sentence(run(command, myrepo, *rest), ExitCode.USAGE)


@pytest.mark.parametrize("command", ["ls", "show", "cat", "path", "clone", "rm", "reindex"])
def test_directory_that_is_no_silo_is_one_sentence_and_stays_as_it_is(
    run: Run, tmp_path: Path, command: str
) -> None:
    (tmp_path / "letters").mkdir()
    more = ["--yes"] if command == "rm" else []
    more += [] if command in {"ls", "reindex"} else ["x"]
    where = str(tmp_path / "none")
    assert "there is no Silo at" in only_sentence(run(command, where, *more), ExitCode.USAGE)
    where = str(tmp_path / "letters")
    assert "is not a Silo" in only_sentence(run(command, where, *more), ExitCode.USAGE)
    assert os.listdir(tmp_path) == ["letters"]


def test_damage_exits_with_losses(run: Run, myrepo: str) -> None:
    with Silo(myrepo) as silo:
        Path(silo["1"].path_to_item(), "__manifest.json").write_bytes(b"")
    assert "it is empty" in only_sentence(run("show", myrepo, "1"), ExitCode.LOSSES)
    result = run("reindex", myrepo)
    assert result.code == ExitCode.LOSSES
    assert "it is empty" in result.err
    assert result.out == "3 records indexed, 1 not\n"
    Path(myrepo, "persisted_state.json").write_bytes(b"{")
    assert "JSON" in only_sentence(run("ls", myrepo), ExitCode.LOSSES)


@pytest.mark.parametrize("command", [("ls",), ("search", "")])
def test_a_list_marks_and_names_what_cannot_be_read(
    run: Run, myrepo: str, command: tuple[str, ...]
) -> None:
    name, *words = command
    assert "cannot be read" not in run(name, myrepo, *words).err
    for short in ("1", "2"):
        with Silo(myrepo) as silo:
            Path(silo[short].path_to_item(), "__manifest.json").write_bytes(b"")
    result = run(name, myrepo, *words)
    rows = [line.split("\t") for line in result.out.splitlines()]
    assert [one[0] for one in rows if "!!!" in one] == ["oai:x:1", "oai:x:2"]
    found = [json.loads(line) for line in run("ls", myrepo, "--json").out.splitlines()]
    named = [one["identifier"] for one in found if one["unreadable"]]
    assert (named, len(found)) == (["oai:x:1", "oai:x:2"], 4)
    assert "silo: the manifest " in result.err
    assert result.err.count("it is empty") == 1
    assert f", and 1 more; see silo check {myrepo}\n" in result.err


# -- history and differences ------------------------------------------------------------


def test_log_tells_the_versions_oldest_first_and_what_was_done(myrepo: str, run: Run) -> None:
    run("put", myrepo, "2", "-", "--as", "n.txt", "-m", "why\tnot\x1b[31m", stdin=b"n")
    result = run("log", myrepo, "2")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].startswith("version 1  2004-06-24T00:00:00  harvest by harvester")
    (clone,) = [n for n, line in enumerate(lines) if line.startswith("version workingcopy")]
    assert "  clone of 1 by " in lines[clone]
    assert lines[clone].endswith("  [in work]")
    assert lines[clone + 1].startswith("  made here 20")
    assert lines[clone + 2] == "  Version workingcopy cloned from 1"
    assert lines[clone + 3].startswith("  Added or updated file n.txt [")
    assert lines[clone + 3].endswith(": why\tnot\\x1b[31m]")


def test_log_as_json_has_all_of_it(myrepo: str, run: Run) -> None:
    found = json.loads(run("log", myrepo, "2", "--json").out)
    assert [version["name"] for version in found] == ["1", "workingcopy"]
    assert found[0]["origin"]["kind"] == "harvest"
    assert found[0]["origin"]["prefixes"] == {"oai_dc": "2004-06-24T00:00:00"}
    assert found[1]["origin"]["of"] == "1"
    assert found[1]["origin"]["date"]
    assert found[1]["state"] == "in work"
    assert found[1]["log"] == ["Version workingcopy cloned from 1"]


def test_diff_exits_as_diff_does(myrepo: str, run: Run) -> None:
    same = run("diff", myrepo, "2", "1", "workingcopy")
    assert (same.code, same.out) == (0, "")
    run("put", myrepo, "2", "-", "--as", "n.txt", stdin=b"n\n")
    assert run("diff", myrepo, "2", "1", "workingcopy").code == 1
    assert "has no version 'nope'" in only_sentence(
        run("diff", myrepo, "2", "1", "nope"), ExitCode.USAGE
    )


def test_diff_shows_what_people_can_read(myrepo: str, run: Run) -> None:
    with Silo(myrepo) as silo:
        record = silo["2"]
        with record.get_stream("oai_dc") as stream:
            content = stream.read()
        record.put_stream("oai_dc", content.replace(b"Terns", b"Terns and gulls"))
        record.put_stream("raw", b"\0\1")
        record.put_stream("note.txt", "one\n")
        record.clone_version("workingcopy", "next")
        record.put_stream("raw", b"\0\2\3")
        record.put_stream("note.txt", "one\n\x1b[31mtwo\n")
        record.put_stream("oai_dc", b"\n" + content.replace(b"Terns", b"Terns and gulls"))
    out = run("diff", myrepo, "2", "1", "workingcopy").out
    assert "changed  oai_dc  " in out
    assert "\n  -    <dc:title>Terns</dc:title>\n  +    <dc:title>Terns and gulls</dc:title>" in out
    assert "added    note.txt  4 bytes\n  sha256 " in out
    out = run("diff", myrepo, "2", "workingcopy", "next").out
    assert "bytes  (xml)\n  the same XML, written differently\n" in out
    assert "changed  raw  2 → 3 bytes  (binary)\n  sha256 " in out
    assert "\n  +\\x1b[31mtwo\n" in out


def test_diff_as_json_has_digests_and_lines(myrepo: str, run: Run) -> None:
    run("put", myrepo, "2", "-", "--as", "n.txt", stdin=b"n\n")
    result = run("diff", myrepo, "2", "1", "workingcopy", "--json")
    assert result.code == 1
    found = json.loads(result.out)
    assert (found["before"], found["after"]) == ("1", "workingcopy")
    (one,) = found["files"]
    assert (one["path"], one["change"], one["before"]) == ("n.txt", "added", None)
    assert one["after"]["size"] == 2


# -- search -----------------------------------------------------------------------------


def test_all_rows_are_named_where_a_number_is_too_large(run: Run, myrepo: str) -> None:
    refused = run("search", myrepo, "-n", "5000")
    assert refused.code == 2
    assert "5000 is more than 1,000; 0 prints all" in refused.err
    assert "x" in run("search", myrepo, "-n", "x").err


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:8080/records/oai+x+2", "https://h.example/silos/a/records/oai+x+2?v=1#files",
     "http://127.0.0.1:8080/record/oai%2Bx%2B2/citation"],
)  # fmt: skip
def test_a_record_is_found_by_the_address_of_its_page(run: Run, myrepo: str, address: str) -> None:
    assert run("show", myrepo, address).out == run("show", myrepo, "oai:x:2").out
    assert run("show", myrepo, address.replace("x", "y")).code == 2


def test_long_values_are_cut_on_a_terminal_only(
    run: Run, myrepo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = f"https://example.org/{'x' * 200}/end"
    assert fitted(long) == long
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(isatty=lambda: True))
    assert len(fitted(long, 10)) == 50
    assert fitted(long, 10).startswith("https://example.org/xxxx")
    assert fitted(long, 10).endswith("xxx/end")
    assert "…" in fitted(long, 10)
    assert fitted("short", 10) == "short"


def test_what_is_no_date_of_a_change_is_told_with_what_is_one(run: Run, myrepo: str) -> None:
    assert run("ls", myrepo, "--changed-since", "1d").code == 0
    refused = run("ls", myrepo, "--changed-since", "1x")
    assert refused.code == 2
    assert "'1x' is not a date; write YYYY-MM-DD, or with a time YYYY-MM-DDThh:mm" in refused.err
    assert "or how long ago, such as 12h" in refused.err
    for command in (["ls", myrepo], ["search", myrepo], ["show", myrepo, "1"]):
        code, out, err = run(*command, "--changed-since", "2999-01-01")
        assert (code, out) == (2, "")
        assert "2999-01-01 is in the future; write an earlier date" in err
        code, out, err = run(*command, "--changed-since", "")
        assert (code, out, "'' is not a date" in err) == (2, "", True)


def test_what_changed_after_the_moment_of_a_list_is_refused(run: Run, myrepo: str) -> None:
    for command in (["ls", myrepo], ["show", myrepo, "1"]):
        code, out, err = run(*command, "--changed-since", "1m", "--as-of", "5m")
        assert (code, out, "so nothing can have changed between them" in err) == (2, "", True)


def test_lists_of_changes_have_a_reason_and_what_was_removed(run: Run, myrepo: str) -> None:
    time.sleep(1.01 - datetime.now(UTC).microsecond / 1_000_000)
    moment = datetime.now(UTC).replace(tzinfo=None).isoformat()
    with Silo(myrepo, agent="ann") as silo:
        silo["1"].set_version_state("1", "ready")
        silo.del_item("local", remember=True, message="a test")
    code, out, err = run("ls", myrepo, "--changed-since", moment[:19])
    assert (code, err) == (0, "")
    first, gone = (line.split("\t") for line in out.splitlines())
    assert first[0] == "oai:x:1"
    assert first[-2:] == ["changed", "state set to ready by ann"]
    assert (gone[0], gone[2]) == ("local", "R--")
    assert gone[-2:] == ["removed", "removed here by ann: a test"]
    shown = run("show", myrepo, "1", "--changed-since", moment[:19]).out
    assert shown.endswith("\nchanged: state set to ready by ann\n")
    assert run("show", myrepo, "2", "--changed-since", moment[:19]).out.endswith("\nunchanged\n")
    shown = run("show", myrepo, "2", "--changed-since", moment[:19], "--json").out
    assert json.loads(shown)["change"] is None
    lines = run("ls", myrepo, "--changed-since", moment[:19], "--json").out.splitlines()
    found = [json.loads(line) for line in lines]
    assert [one["change"] for one in found] == ["changed", "removed"]
    assert list(found[0])[:4] == ["identifier", "change", "reason", "changed"]
    found = json.loads(run("search", myrepo, "--changed-since", moment[:19], "--json").out)
    assert found["records"][0]["reason"] == "state set to ready by ann"
    assert [one["identifier"] for one in found["removed"]] == ["local"]
    code, out, err = run("ls", myrepo, "--changed-since", moment[:19], "--state", "ready")
    assert out.startswith("oai:x:1\t")
    assert err == (
        "silo: 1 record was removed since; its metadata is not kept, so only a list without "
        "other conditions shows it\n"
    )
    code, out, err = run("ls", myrepo, "--as-of", moment)
    assert [line.split("\t")[0] for line in out.splitlines()] == [
        "oai:x:1", "oai:x:2", "oai:x:3/4", "local",
    ]  # fmt: skip
    assert run("ls", myrepo, "--as-of", moment, "--state", "ready").out == ""
    code, out, err = run("ls", myrepo, "--as-of", moment, "--changed-since", "1h")
    assert (code, "local" in out, "1 record was removed since" in err) == (0, False, True)
    assert '"state": null' in run("show", myrepo, "1", "--as-of", moment, "--json").out
    assert "Möwen" in run("cat", myrepo, "1", "--as-of", moment).out
    code, _, err = run("cat", myrepo, "local", "--as-of", moment)
    assert (code, "removed here by ann: a test" in err) == (2, True)


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        ("2999-01-01", "is in the future"),
        ("2001-01-01", "did not exist"),
        ("noon", "not a date"),
        ("", "'' is not a date"),
    ],
)
def test_a_moment_is_refused_in_a_sentence(run: Run, myrepo: str, moment: str, told: str) -> None:
    for command in (["ls", myrepo], ["show", myrepo, "1"], ["cat", myrepo, "1"]):
        code, out, err = run(*command, "--as-of", moment)
        assert (code, out, told in err) == (2, "", True)


def test_half_of_a_surrogate_pair_is_shown_as_its_escape(run: Run, myrepo: str) -> None:
    with Silo(myrepo) as silo:
        silo["1"].create_new_version("other", message="odd \ud800 \x1b[31m")
    code, out, err = run("show", myrepo, "1")
    assert (code, err, "“odd \\ud800 \\x1b[31m”" in out) == (0, "", True)
    code, out, _ = run("show", myrepo, "1", "--json")
    messages = [one["origin"]["message"] for one in json.loads(out)["version_list"]]
    assert (code, messages[-1]) == (0, "odd \ud800 \x1b[31m")
