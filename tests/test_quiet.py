"""`--quiet` means the same everywhere: only data and problems."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.cli import silo_command


def commands(group: click.Group, *path: str) -> Iterator[tuple[str, click.Command]]:
    """Every command, with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from commands(found, *path, name)
        elif found is not None:
            yield " ".join((*path, name)), found


def test_every_command_has_the_same_option() -> None:
    options = {
        name: option
        for name, command in commands(silo_command)
        for option in command.params
        if "--quiet" in option.opts
    }
    assert {"check", "harvest", "update", "usage import", "reindex", "upstream"} <= options.keys()
    assert {"fleet run", "fleet report", "fleet worker", "crawl match"} <= options.keys()
    assert len({(*one.opts, getattr(one, "help", "")) for one in options.values()}) == 1
    assert all("-q" in one.opts for one in options.values())


@pytest.fixture
def silo(tmp_path: Path) -> str:
    path = str(tmp_path / "silo")
    with Silo(path) as made:
        made.get_item("one").put_stream("notes.txt", "x")
    return path


@pytest.mark.parametrize(
    "command", ["check {}", "repair {}", "reindex {}", "upstream {} --propose"]
)
def test_what_cron_runs_is_silent_if_all_is_well(silo: str, command: str) -> None:
    arguments = command.format(silo).split()
    loud = CliRunner().invoke(silo_command, arguments)
    quiet = CliRunner().invoke(silo_command, [*arguments, "-q"])
    assert (loud.exit_code, quiet.exit_code) == (0, 0)
    assert loud.output
    assert quiet.output == ""


def test_problems_are_told_all_the_same(silo: str) -> None:
    (path,) = Path(silo).rglob("notes.txt")
    path.write_text("edited outside")
    done = CliRunner().invoke(silo_command, ["check", silo, "-q"])
    assert "S088" in done.output
