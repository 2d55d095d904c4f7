"""`silo help`: pages that are installed with the package."""

import re
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from recordsilo.cli import silo_command
from recordsilo.commands import help as help_module


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(silo_command, ["help", *arguments])
    return done.exit_code, done.output


def test_pages_are_listed_and_printed() -> None:
    code, listed = run()
    assert code == 0
    assert listed.startswith("Use:\n  ")
    assert "\nTrust:\n  reliability " in listed
    assert set(help_module.pages()) - {"index"} == {
        line.split()[0] for line in listed.splitlines() if re.match(r"  [a-z]", line)
    }
    code, page = run("search")
    assert page.startswith("# Search\n")
    assert page.endswith("The command: silo search --help\n")
    assert run("glossary")[1].startswith("# ")


def test_a_command_without_a_page_shows_its_help() -> None:
    assert run("clone")[1].startswith("Usage: silo clone ")


def test_a_command_of_a_group_is_named_by_its_words() -> None:
    assert run("export", "files")[1].startswith("Usage: silo export files ")
    assert run("fleet", "add")[1].startswith("Usage: silo fleet add ")
    assert run("export", "fils") == (
        2,
        "silo: silo export has no command 'fils'; did you mean 'files'?\n",
    )
    assert run("ls", "x") == (2, "silo: silo ls has no command 'x'\n")


def test_an_unknown_topic_is_a_sentence() -> None:
    said = "silo: there is no page and no command 'serch'; did you mean 'search' or 'user'?\n"
    assert run("serch") == (2, said)


def test_without_pages_commands_have_their_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(help_module, "pages", dict)
    assert run("search")[1].startswith("Usage: silo search ")
    said = "silo: the pages are not installed; `silo COMMAND --help` describes a command\n"
    assert run() == (2, said)


def texts(command: click.Command, *path: str) -> Iterator[tuple[str, str]]:
    """The help of a command and of those below it."""
    context = click.Context(command, info_name=" ".join(path))
    yield " ".join(path), command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (below := command.get_command(context, name)) is not None:
                yield from texts(below, *path, name)


def test_help_names_no_file_that_is_not_installed() -> None:
    named = {
        path for path, text in texts(silo_command, "silo") if "docs/" in text and ".md" in text
    }
    assert named == set()
