"""Words of help that are the same in every command."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from cli_results import Run

from recordsilo.cli import silo_command


def commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    """All commands below a group, with what one types to call them."""
    with click.Context(group) as ctx:
        for child in group.list_commands(ctx):
            command = group.get_command(ctx, child)
            assert command is not None, child
            yield f"{name} {child}", command
            if isinstance(command, click.Group):
                yield from commands(command, f"{name} {child}")


ALL = dict(commands(silo_command, "silo"))


@pytest.mark.parametrize("name", ALL)
def test_the_directory_of_a_silo_has_one_name(name: str) -> None:
    command = ALL[name]
    with click.Context(command, info_name=name) as ctx:
        usage = command.get_usage(ctx)
        for one in command.params:
            if isinstance(one, click.Argument) and one.name in {"silo_dir", "directory"}:
                assert one.make_metavar(ctx) in {"DIR", "[DIR]", "GRANARY"}
            if isinstance(one, click.Argument) and not one.required and one.name != "places":
                assert "[" in one.make_metavar(ctx), one.name
    assert "DIRECTORY" not in usage
    assert "SILO_DIR" not in usage


@pytest.mark.parametrize("name", ALL)
def test_help_says_what_kind_of_json_is_printed(name: str) -> None:
    for one in ALL[name].params:
        if isinstance(one, click.Option) and "--json" in one.opts:
            assert str(one.help).startswith(("Print JSON lines", "Print a JSON "))


def kind_of(printed: str) -> str:
    """What was printed, as help calls it."""
    try:
        return {list: "a JSON array", dict: "a JSON object"}[type(json.loads(printed))]
    except json.JSONDecodeError:
        for line in printed.splitlines():
            assert isinstance(json.loads(line), dict)
        return "JSON lines"


@pytest.mark.parametrize(
    "words",
    ["ls {}", "search {}", "show {} 2", "log {} 2", "diff {} 2 1 workingcopy", "check {}",
     "rules list {}", "bulk list {}", "quality {}", "quality {} --duplicates",
     "clusters {} creator", "upstream {}", "harvests {}", "user list {}", "crawl list {}"],
)  # fmt: skip
def test_what_is_printed_is_what_help_says(words: str, myrepo: str, run: Run) -> None:
    Path(myrepo, "pairtree_root", "stray").touch()  # so that `check` has more than one line
    result = run(*words.format(myrepo).split(), "--json")
    (option,) = (
        one for one in ALL[f"silo {words.partition(' {')[0]}"].params if "--json" in one.opts
    )
    assert isinstance(option, click.Option)
    assert str(option.help).removeprefix("Print ").startswith(kind_of(result.out)), result
