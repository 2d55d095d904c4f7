"""The command `silo` itself: help, paths, errors, exit codes, terminals."""

import ast
import contextlib
import json
import os
import pty
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pytest
from cli_results import MAIN, Run, in_a_process, only_sentence

from recordsilo import Silo, cli
from recordsilo.cli import CommandFailure, Commands, ExitCode, example, fail, silo_command
from recordsilo.command_table import LONGEST, SYNONYMS
from recordsilo.distribution import NAME
from recordsilo.errors import StateUnreadable

PACKAGES = ("silofleet", "usagestats")

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
    above = click.Context(command)
    for name in command.list_commands(above):
        child = command.get_command(above, name)
        assert child is not None
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


@pytest.mark.parametrize("group", [(), ("fleet",), ("usage",)])
def test_help_of_a_large_group_loads_none_of_its_commands(group: tuple[str, ...]) -> None:
    program = (
        "import sys; from recordsilo.cli import silo_command\n"
        f"silo_command.main([*{group}, '--help'], standalone_mode=False)\n"
        "print(sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(ast.literal_eval(done.stdout.splitlines()[-1]))
    assert not loaded & {"numpy", "requests", "urllib3", "rich", "duckdb", "cherrypy", "celery"}
    ours = {name for name in loaded if ".commands." in name}
    assert ours <= {f"{package}.commands.table" for package in PACKAGES}
    assert "..." not in done.stdout.partition("[ARGS]...")[2]


@pytest.mark.parametrize("group", ["", "fleet", "usage"])
def test_every_command_of_a_large_group_is_in_its_table_once(group: str) -> None:
    command = silo_command.get_command(click.Context(silo_command), group)
    table = command if group else silo_command
    assert isinstance(table, Commands)
    ours = {
        name.removeprefix(f"{group}.")
        for name, point in cli._points().items()
        if point.dist
        and point.dist.name == NAME
        and (name.startswith(f"{group}.") if group else "." not in name)
    }
    in_table = [name for summaries in table.sections.values() for name in summaries]
    assert sorted(in_table) == sorted(ours)
    texts = [text for summaries in table.sections.values() for text in summaries.values()]
    assert max(map(len, texts)) <= LONGEST


def test_every_command_about_crawls_is_in_the_table_of_its_group_once() -> None:
    crawl = silo_command.get_command(click.Context(silo_command), "crawl")
    assert isinstance(crawl, Commands)
    in_table = [name for summaries in crawl.sections.values() for name in summaries]
    assert sorted(in_table) == crawl.list_commands(click.Context(crawl))
    assert max(len(text) for one in crawl.sections.values() for text in one.values()) <= LONGEST


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("list",), "'silo ls'"),
        (("get",), "'silo cat' or 'silo export'"),
        (("find",), "'silo search'"),
        (("python",), "'silo shell'"),
        (("undo",), "'silo bulk undo'"),
        (("harvst",), "'silo harvest' or 'silo harvests'"),
        (("fleet", "list"), ""),
        (("fleet", "delete"), ""),
        (("usage", "totl"), "'silo usage totals'"),
        (("schedule", "ad"), "'silo schedule add'"),
        (("export", "cvs"), "'silo export csv'"),
        (("bulk", "undu"), "'silo bulk undo'"),
        (("quxx",), ""),
    ],
)
def test_an_unknown_command_names_what_it_probably_means(
    run: Run, typed: tuple[str, ...], meant: str
) -> None:
    result = run(*typed, "myrepo")
    assert result.code == ExitCode.USAGE
    assert f"silo: no such command '{typed[-1]}'; " in result.err
    assert f"; did you mean {meant}?" in result.err if meant else "mean" not in result.err


def test_an_unknown_choice_names_what_it_probably_means(run: Run) -> None:
    result = run("split", "silo", "out", "--by", "yaer")
    assert result.code == ExitCode.USAGE
    assert result.err.endswith("'selection'; did you mean 'year'?\n")
    assert run("split", "silo", "out", "--by", "#").err.endswith(
        "'selection'; see silo split --help\n"
    )


def test_every_synonym_means_a_command_that_there_is() -> None:
    for typed, meant in SYNONYMS.items():
        assert typed not in COMMANDS
        assert {one.partition(" ")[0] for one in meant} <= {*COMMANDS}


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


def test_the_help_of_a_group_has_whole_sentences(run: Run) -> None:
    for group in ("schedule", "sheet", "rules", "reconcile"):
        commands = run(group, "--help").out.partition("Commands:\n")[2]
        assert commands
        assert "..." not in commands


def test_unknown_command_and_option_are_usage_errors(run: Run, myrepo: str) -> None:
    for arguments, said in {
        ("nope",): "no such command 'nope'; see silo --help",
        ("ls",): "missing argument 'DIR'; usage: silo ls [OPTIONS] DIR",
        ("ls", myrepo, "x"): "got unexpected extra argument (x); usage: silo ls [OPTIONS] DIR",
        ("ls", myrepo, "--zqx"): "no such option '--zqx'; see silo ls --help",
        ("ls", myrepo, "-n", "-1"): "invalid value for '-n' / '--limit': -1 is not in the range"
        " x>=0; see silo ls --help",
    }.items():
        result = run(*arguments)
        assert (result.code, result.out) == (ExitCode.USAGE, "")
        assert result.err == f"silo: {said}\n"
    assert run("usage").err.startswith("Usage: silo usage ")


# -- the frame --------------------------------------------------------------------------


def test_a_directory_of_silos_is_told_from_one_that_is_none(run: Run, tmp_path: Path) -> None:
    (tmp_path / "shelf").mkdir()
    for name in ("b", "a"):
        Silo(str(tmp_path / "shelf" / name)).close()
    shelf = f"{tmp_path}/shelf"
    for command in (("search", shelf, "gulls"), ("check", shelf), ("show", shelf, "1")):
        result = run(*command)
        assert (result.code, result.out) == (2, "")
        assert f"{shelf} is a directory of Silos; name one of them, such as {shelf}/a" in result.err
    assert "is not a Silo: it has no" in run("search", str(tmp_path), "gulls").err


def test_interrupts_and_errors_have_their_codes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    errors: list[tuple[BaseException, int, str]] = [
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(28, "No space left on device", "/x"), 75, "/x: no space left on the disk"),
        (OSError("odd"), 1, "odd"),
        (BrokenPipeError(32, "Broken pipe"), 1, "the other end of a connection was closed"),
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


@pytest.mark.long
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


@pytest.mark.long
def test_a_closed_output_is_no_traceback(myrepo: str) -> None:
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        result = in_a_process(["cat", myrepo, "1"], closed)
        assert (result.returncode, result.stderr) == (0, b"")


def test_a_stream_that_is_replaced_stays_open(tmp_path: Path) -> None:
    with open(tmp_path / "out", "w", encoding="utf-8") as file:
        prepared = cli._prepared(file)
        prepared.write("first\n")
        del prepared
        file.write("second\n")
    assert (tmp_path / "out").read_text() == "first\nsecond\n"


def test_example_is_an_epilog() -> None:
    assert example("silo ls x", "silo ls y").endswith("For example:\n  silo ls x\n  silo ls y")


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


@pytest.mark.long
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
    assert "a\\u001b]0;b\\u0007c" in on_a_terminal("ls", "a\x1b]0;b\x07c")
    others = (("ls", directory), ("show", directory, "oai:x:1"), ("path", directory, HOSTILE))
    for shown in (listed, *(on_a_terminal(*arguments) for arguments in others)):
        assert not {"\x9b", "\u202e"} & set(shown)


def test_a_command_of_a_group_is_loaded_alone() -> None:
    group = Commands("usage")
    context = click.Context(group)
    assert group.get_command(context, "totals") is not None
    assert set(group.commands) == {"totals"}
    assert {"import", "totals"} <= set(group.list_commands(context))
    assert group.get_command(context, "nothing") is None


def test_an_error_has_no_control_characters_for_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    CommandFailure("http://x/\x1b]0;pwn\x07\x9b31m moved\nto é").show()
    assert capsys.readouterr().err == "silo: http://x/\\x1b]0;pwn\\x07\\x9b31m moved\nto é\n"


def test_a_log_has_no_control_characters_for_a_terminal() -> None:
    script = (
        "import logging; from recordsilo import cli;"
        " cli._run = lambda: logging.warning('http://x/\\x1b]0;pwn: %s\\nagain', 503) or 0;"
        " cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.stderr == b"silo: http://x/\\x1b]0;pwn: 503\nagain\n"


@pytest.mark.parametrize(
    "words",
    [("show", "3038", "{silo}"), ("search", "solar", "{silo}"), ("attach", "x.csv", "{silo}"),
     ("export", "bag", "out", "{silo}"), ("sheet", "export", "x.csv", "{silo}"),
     ("import", "csv", "{silo}", "x.csv"), ("copy", "old", "{silo}")],
    ids=" ".join,
)  # fmt: skip
def test_swapped_arguments_are_recognised(run: Run, myrepo: str, words: tuple[str, ...]) -> None:
    given = [word.format(silo=myrepo) for word in words]
    result = run(*given)
    place = next(one for one in given[1:] if one in {"3038", "solar", "x.csv", "out", "old"})
    assert f"{place} is not a Silo, and {myrepo} is one; did you swap" in result.err
    assert (result.code, result.out) == (ExitCode.USAGE, "")


def test_a_needless_word_before_the_silo_is_named(run: Run, myrepo: str) -> None:
    for silo in (myrepo, "none"):
        result = run("jobs", "list", silo)
        assert (result.code, result.out) == (ExitCode.USAGE, "")
        assert result.err.endswith(f"; did you mean 'silo jobs {silo}'?\n")


def test_what_does_not_exist_or_is_empty_is_named_with_what_to_do(
    run: Run, tmp_path: Path, myrepo: str
) -> None:
    assert run("harvests", "nowhere").err == "silo: there is no Silo at nowhere\n"
    assert f"did you mean '{myrepo}'" in run("harvests", f"{myrepo}x").err
    (tmp_path / "new").mkdir()
    for command in ("update", "ls", "info"):
        err = run(command, f"{tmp_path}/new").err
        assert f"silo init {tmp_path}/new makes it an empty Silo" in err
    missing = run("usage", "follow", myrepo, "gone.log").err
    assert missing.startswith("silo: gone.log does not exist; name an existing one")
    assert "Usage" not in run("sheet", "export", myrepo, str(tmp_path)).err
