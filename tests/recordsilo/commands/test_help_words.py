"""Words of help that are the same in every command."""

from collections.abc import Iterator

import click
import pytest

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
