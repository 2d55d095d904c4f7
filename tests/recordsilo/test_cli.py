"""The store's own commands: what they print, what they refuse, and how they exit."""

import ast
import contextlib
import io
import json
import os
import pty
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from recordsilo import Origin, Silo, cli
from recordsilo.cli import ExitCode, _run, example, fail, silo_command
from recordsilo.errors import StateUnreadable

Harvest = Callable[..., str]
CREATOR = b"""<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
    xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>Ortega, N.</dc:creator></oai_dc:dc>"""
MAIN = "from recordsilo.cli import main; main()"


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    def call(*arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "argv", ["silo", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = _run()
        captured = capfdbinary.readouterr()
        return Result(int(code), captured.out.decode(), captured.err.decode())

    return call


@pytest.fixture
def myrepo(tmp_path: Path, harvest: Harvest) -> str:
    path = str(tmp_path / "myrepo")
    with Silo(path, identifier_uri_prefix="oai:x:") as silo:
        harvest(silo, "oai:x:1", sets=("a:b",), title="Möwen")
        harvest(silo, "oai:x:2", sets=("ab",), title="Terns")
        harvest(silo, "oai:x:3/4", title="Auks")
        silo["2"].clone_version("1", "workingcopy")
        silo.get_item("local").put_stream("note.txt", "x")
    return path


def only_sentence(result: Result, code: ExitCode) -> str:
    assert result.code == code
    assert result.out == ""
    assert result.err.startswith("silo: ")
    assert result.err.count("\n") == 1
    return result.err


# -- paths of users ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "out"),
    [
        ("export csv REPO OUT", "missing/out"),
        ("export zip REPO OUT", "file/out"),
        ("export files REPO out --report OUT", "missing/out"),
        ("sheet export REPO OUT --all", "missing/out"),
        ("clusters REPO type --rule OUT", "file/out"),
        ("harvest http://127.0.0.1:9/ new --receipt OUT", "missing/out"),
        ("harvest http://127.0.0.1:9/ new --receipt OUT", "x" * 300),
        ("crawl map LOG -o OUT", "file/out"),
    ],
)
def test_a_mistyped_output_path_exits_2(
    run: Run, myrepo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, out: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("LOG").write_text("")
    words = (myrepo if one == "REPO" else out if one == "OUT" else one for one in command.split())
    result = run(*words)
    assert result.code == ExitCode.USAGE, result
    assert out.partition("/")[0] in result.err
    assert "Traceback" not in result.err
    assert not Path("new").exists()


def test_a_missing_directory_is_named(run: Run, myrepo: str, tmp_path: Path) -> None:
    result = run("export", "csv", myrepo, str(tmp_path / "missing" / "out.csv"))
    sentence = f"the directory {tmp_path / 'missing'} does not exist; create it, or name another"
    assert sentence in only_sentence(result, ExitCode.USAGE)


# -- help -------------------------------------------------------------------------------


COMMANDS = silo_command.list_commands(click.Context(silo_command))


def leaves(command: click.Command, *words: str) -> Iterator[tuple[str, ...]]:
    """The words of each command that is not a group."""
    if not isinstance(command, click.Group):
        yield words
        return
    for name, child in command.commands.items():
        yield from leaves(child, *words, name)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_has_an_example(name: str, run: Run) -> None:
    command = silo_command.get_command(click.Context(silo_command), name)
    assert command is not None
    assert command.name == name
    assert command.help
    for words in leaves(command, name):
        result = run(*words, "--help")
        assert result.code == 0
        assert "For example:" in result.out
        assert f"silo {' '.join(words)} " in result.out


def test_a_command_loads_no_other_package() -> None:
    program = (
        "import sys; from recordsilo.cli import silo_command\n"
        "silo_command.main(['ls', '--help'], standalone_mode=False)\n"
        "print({name.partition('.')[0] for name in sys.modules})"
    )
    loaded = ast.literal_eval(
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout.splitlines()[-1]
    )
    others = {"silocuration", "oaipmhscraper", "siloexport", "crawlmatch", "webui"}
    assert not loaded & (
        others | {"numpy", "langcodes", "rdflib", "celery", "cherrypy", "requests"}
    )


def test_a_package_adds_a_command_to_the_group_of_another(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = EntryPoint("rules.check", "recordsilo.audit.commands:check", cli.ENTRY_POINTS)
    with_one_more = {**cli._points(), point.name: point}
    monkeypatch.setattr(cli, "_points", lambda: with_one_more)
    monkeypatch.setattr(silo_command, "commands", {})
    assert "\n  check " in run("rules", "--help").out
    assert "rules.check" not in run("--help").out
    rules = silo_command.commands["rules"]
    assert isinstance(rules, click.Group)
    rules.commands.pop("check")


def test_help_of_the_group_lists_the_commands_and_the_exit_codes(run: Run) -> None:
    result = run("--help")
    for name in COMMANDS:
        assert f"\n  {name} " in result.out
    assert "75  stopped early" in result.out
    assert run("--version").out.startswith("silo")


def test_commands_of_other_packages_arrive_by_entry_points() -> None:
    context = click.Context(silo_command)
    assert {"ls", "harvest"} <= set(silo_command.list_commands(context))


def test_unknown_command_and_option_are_usage_errors(run: Run, myrepo: str) -> None:
    for arguments in (("nope",), ("ls",), ("ls", myrepo, "--nope"), ("ls", myrepo, "-n", "0")):
        result = run(*arguments)
        assert result.code == ExitCode.USAGE
        assert "Error: " in result.err


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
        (["rm", "nope"], "has no record 'nope'"),
        (["rm", "local", "-v", "1"], "is the only version"),
        (["rm", "1", "-v", "1"], "silo clone "),
        (
            ["rm", "1", "-f", "oai_dc"],
            "is kept as harvested; make a copy to change with: silo clone ",
        ),
        (["rm", "1", "-v", "1", "-f", "oai_dc"], "silo clone "),
        (["rm", "2", "-v", "1"], "to delete the record: silo rm "),
        (["rm", "2", "-v", "1", "-f", "oai_dc"], "to delete the record: silo rm "),
        (["rm", "2", "-f", "nope"], "has no file 'nope'"),
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
    more = [] if command in {"ls", "reindex"} else ["x"]
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
def test_a_list_says_what_is_not_in_it(run: Run, myrepo: str, command: tuple[str, ...]) -> None:
    name, *words = command
    assert run(name, myrepo, *words).err == ""
    for short in ("1", "2"):
        with Silo(myrepo) as silo:
            Path(silo[short].path_to_item(), "__manifest.json").write_bytes(b"")
    run("reindex", myrepo)
    result = run(name, myrepo, *words)
    assert len(result.out.splitlines()) >= 2
    assert result.err.startswith("silo: not in the list: ")
    assert result.err.count("it is empty") == 1
    assert f", and 1 more; see silo check {myrepo}\n" in result.err


# -- put, clone, rm ---------------------------------------------------------------------


def test_put_into_a_curated_version(run: Run, myrepo: str, tmp_path: Path) -> None:
    (tmp_path / "licence.txt").write_text("CC BY")
    result = run(
        "put", myrepo, "2", str(tmp_path / "licence.txt"), "-m", "cleared", "--agent", "Ada"
    )
    assert result == (0, "oai:x:2: licence.txt is in version workingcopy\n", "")
    assert run("put", myrepo, "2", "-", "--as", "d/text.txt", stdin=b"piped").code == 0
    with Silo(myrepo) as silo:
        record = silo["2"]
        assert record.paths() == ["oai_dc", "licence.txt", "d/text.txt"]
        assert "Ada: cleared" in record.versionlog[-2]
        with record.get_stream("d/text.txt") as stream:
            assert stream.read() == b"piped"


def test_put_says_what_it_needs(run: Run, myrepo: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    file = str(tmp_path / "f")
    assert "--as" in only_sentence(run("put", myrepo, "2", "-"), ExitCode.USAGE)
    assert "silo clone" in only_sentence(run("put", myrepo, "1", file), ExitCode.USAGE)
    assert "no record" in only_sentence(run("put", myrepo, "new", file), ExitCode.USAGE)
    bad = run("put", myrepo, "2", file, "--as", "../x")
    assert "cannot name a file" in only_sentence(bad, ExitCode.USAGE)
    assert run("put", myrepo, "2", str(tmp_path / "none")).code == ExitCode.USAGE


@pytest.mark.parametrize("more", [["--as", "oai_dc"], ["--as", "mods.xml", "--metadata"],
                                  ["--as", "marcxml", "--metadata"]])  # fmt: skip
def test_put_refuses_malformed_metadata(run: Run, myrepo: str, more: list[str]) -> None:
    before = run("show", myrepo, "2", "--json")
    sentence = only_sentence(
        run("put", myrepo, "2", "-", *more, stdin=b"<dc>\n<title>"), ExitCode.USAGE
    )
    assert "malformed metadata: " in sentence
    assert "line 2" in sentence
    assert run("show", myrepo, "2", "--json") == before


def test_put_takes_metadata_that_is_not_xml(run: Run, myrepo: str) -> None:
    more = ("--as", "record.json", "--metadata")
    assert run("put", myrepo, "2", "-", *more, stdin=b"{}").code == 0
    assert run("cat", myrepo, "2", "record.json").out == "{}"


def test_put_makes_a_record_if_told(run: Run, myrepo: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("<x/>")
    assert run("put", myrepo, "new", str(tmp_path / "f"), "--new", "--metadata").code == 0
    assert run("put", myrepo, "2", str(tmp_path / "f"), "--new").code == 0
    with Silo(myrepo) as silo:
        assert silo["new"].metadata_files == {"1": ["f"]}
        assert silo["2"].files == ["oai_dc", "f"]


def test_clone_tells_where_the_clone_lies(run: Run, myrepo: str) -> None:
    result = run("clone", myrepo, "1", "-m", "to mend")
    first, place = result.out.splitlines()
    assert first == "oai:x:1: version 1 is cloned to workingcopy"
    assert os.listdir(place) == ["oai_dc"]
    assert run("clone", myrepo, "1", "1", "second").code == 0
    with Silo(myrepo) as silo:
        assert silo["1"].versions == ["1", "workingcopy", "second"]
        assert silo["1"].origin("workingcopy").message == "to mend"


def test_rm_deletes_a_file_a_version_or_a_record_and_remembers_that(run: Run, myrepo: str) -> None:
    assert run("clone", myrepo, "2", "workingcopy", "x").code == 0
    assert run("rm", myrepo, "2", "-f", "oai_dc").out == "deleted file oai_dc of oai:x:2\n"
    assert run("rm", myrepo, "2", "-v", "x").out == "deleted version x of oai:x:2\n"
    assert run("rm", myrepo, "2", "-m", "a test").out == "deleted oai:x:2\n"
    with Silo(myrepo) as silo:
        assert silo.removed() == {"oai:x:2"}
        assert "2" not in silo
    assert only_sentence(run("rm", myrepo, "2"), ExitCode.USAGE)


def test_rm_asks_at_a_terminal(run: Run, myrepo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    for answer, code in ((b"n\n", ExitCode.INTERRUPTED), (b"y\n", ExitCode.OK)):
        with monkeypatch.context() as patch:
            patch.setattr(io, "TextIOWrapper", Terminal)
            result = run("rm", myrepo, "2", stdin=answer)
        assert "Delete oai:x:2?" in result.out + result.err
        assert result.code == code
    with Silo(myrepo) as silo:
        assert "2" not in silo


# -- the frame --------------------------------------------------------------------------


def test_interrupts_and_errors_have_their_codes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    errors: list[tuple[BaseException, int, str]] = [
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(28, "No space left on device", "/x"), 1, "/x: No space left on device"),
        (OSError("odd"), 1, "odd"),
        (sqlite3.OperationalError("database or disk is full"), 1, "(database or disk is full)"),
        (StateUnreadable("/x", "why"), 1, "cannot be read"),
        (click.exceptions.Abort(), 130, "interrupted"),
    ]
    for error, code, words in errors:

        @click.command("failing")
        def failing(error: BaseException = error) -> None:
            raise error

        monkeypatch.setitem(silo_command.commands, "failing", failing)
        result = run("failing")
        assert result.code == code
        assert words in result.err


def test_what_may_not_be_read_is_not_said_to_be_written(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = str(tmp_path)

    @click.command("failing")
    def failing() -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setitem(silo_command.commands, "failing", failing)
    monkeypatch.setattr(os, "access", lambda _path, mode: mode != os.R_OK)
    assert run("failing") == (2, "", f"silo: no permission to read {path}\n")
    monkeypatch.setattr(os, "access", lambda _path, mode: mode == os.R_OK)
    assert run("failing") == (2, "", f"silo: no permission to write to {path}\n")


def test_failure_ends_with_its_sentence_and_code(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command("failing")
    def failing() -> None:
        fail("the repository is asleep", ExitCode.ENDPOINT)

    monkeypatch.setitem(silo_command.commands, "failing", failing)
    assert run("failing") == (3, "", "silo: the repository is asleep\n")


@pytest.mark.parametrize(
    "command", ["check DIR --budget", "update DIR --delay", "probe URL --timeout"]
)
def test_nan_is_no_number(run: Run, command: str) -> None:
    result = run(*command.split(), "nan")
    assert result.code == ExitCode.USAGE
    assert "'nan' is not a number" in result.err


def in_a_process(
    arguments: list[str | bytes], closed: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    line = f'exec "$@" {closed}'
    command = ["sh", "-c", line, "-", sys.executable, "-c", MAIN, *arguments]
    return subprocess.run(
        command, capture_output=True, env=os.environ | environment, check=False, timeout=90
    )


def test_a_name_that_is_no_text_is_printed_as_it_is_or_said_to_be_none(myrepo: str) -> None:
    other = os.fsencode(myrepo) + b"-\xff"
    os.rename(os.fsencode(myrepo), other)
    shown = in_a_process(["path", other, "1"])
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert os.path.isdir(shown.stdout.rstrip(b"\n"))
    assert shown.stdout.startswith(other)
    refused = in_a_process(["ls", other, "--set", b"\xff"])
    assert refused.returncode == ExitCode.USAGE
    assert b"is not UTF-8" in refused.stderr
    assert b"Traceback" not in refused.stderr


def test_what_the_terminal_cannot_show_is_escaped(myrepo: str) -> None:
    shown = in_a_process(["ls", myrepo, "-n", "2"], PYTHONIOENCODING="koi8-r")
    assert shown.returncode == 0
    assert b"M\\xf6wen" in shown.stdout


def test_a_closed_output_is_no_traceback(myrepo: str) -> None:
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        result = in_a_process(["cat", myrepo, "1"], closed)
        assert (result.returncode, result.stderr) == (0, b"")


def test_example_is_an_epilog() -> None:
    assert example("silo ls x", "silo ls y").endswith("For example:\n  silo ls x\n  silo ls y")


# -- states -----------------------------------------------------------------------------


def test_state_prints_and_sets_the_state_of_a_version(myrepo: str, run: Run) -> None:
    assert run("state", myrepo, "2").out == "in work\n"
    assert run("state", myrepo, "2", "1").out == "none\n"
    done = run("state", myrepo, "2", "--set", "ready", "-m", "checked", "--agent", "ada")
    assert (done.code, done.out) == (0, "oai:x:2: version workingcopy is ready\n")
    assert run("state", myrepo, "2").out == "ready\n"
    shown = run("show", myrepo, "2").out
    assert "clone of 1 by" in shown
    assert "[ready]  ← current" in shown
    assert "ada: checked]" in run("show", myrepo, "2", "--json").out
    versions = json.loads(run("show", myrepo, "2", "--json").out)["version_list"]
    assert [version["state"] for version in versions] == [None, "ready"]
    assert run("state", myrepo, "2", "--set", "none").out.endswith("is without a status\n")
    assert run("state", myrepo, "2").out == "none\n"


def test_ls_by_state_goes_with_the_other_filters(myrepo: str, run: Run) -> None:
    def listed(*filters: str) -> list[str]:
        result = run("ls", myrepo, "--state", "ready", *filters)
        assert result.code == 0
        return [line.split("\t")[0] for line in result.out.splitlines()]

    assert listed() == []
    for name in ("1", "2", "3/4"):
        run("state", myrepo, name, "--set", "ready")
    assert listed() == ["oai:x:1", "oai:x:2", "oai:x:3/4"]
    assert listed("--curated") == ["oai:x:2"]
    assert listed("--set", "a") == ["oai:x:1"]
    assert listed("--from", "oai:x:2", "-n", "1") == ["oai:x:2"]
    assert listed("--deleted") == []
    assert run("search", myrepo, "--filter", "state=ready").out.endswith("3 found\n")


def test_a_state_there_is_not_is_wrong_input(myrepo: str, run: Run) -> None:
    for arguments in (["state", myrepo, "2", "--set", "done"], ["ls", myrepo, "--state", "done"]):
        assert run(*arguments).code == ExitCode.USAGE


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


# --------------------------------------------------------------------------- terminals

HOSTILE = "a\x9b31mred\u202etxt"
ESCAPED = "a\\u009b31mred\\u202etxt"


def on_a_terminal(*arguments: str) -> str:
    """What a command sends to the terminal that it runs on."""
    main, side = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-c", MAIN, *arguments],
        stdin=side, stdout=side, stderr=side, cwd="/",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "200"},
    )  # fmt: skip
    os.close(side)
    seen = b""
    with contextlib.suppress(OSError):  # EIO: the other side is closed
        while piece := os.read(main, 4096):
            seen += piece
    os.close(main)
    run.wait(timeout=60)
    return seen.decode()


def test_a_terminal_gets_no_control_characters_of_titles_names_and_messages(tmp_path):
    with Silo(str(tmp_path / "s")) as silo:
        silo.get_item("oai:x:1").put_stream(
            "oai_dc",
            '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"'
            ' xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<dc:title>{HOSTILE}</dc:title></oai_dc:dc>".encode(),
            metadata=True,
        )
    directory = str(tmp_path / "s")
    listed = on_a_terminal("ls", directory, "--json")
    assert ESCAPED in listed
    assert HOSTILE in json.loads(listed.replace("\r\n", "\n").splitlines()[0])["title"]
    assert ESCAPED in on_a_terminal("ls", HOSTILE)
    others = (("ls", directory), ("show", directory, "oai:x:1"), ("path", directory, HOSTILE))
    for shown in (listed, *(on_a_terminal(*arguments) for arguments in others)):
        assert not {"\x9b", "\u202e"} & set(shown)
