"""Commands that select records take the same options, with the same meaning."""

from collections.abc import Iterator

import click
import pytest

from recordsilo.cli import silo_command

OPTIONS = {
    "--search", "--filter", "--set", "--state", "--since", "--until", "--changed-since", "--item",
    "--ids",
}  # fmt: skip
OTHERS = {
    "search": {"--search", "--item", "--ids"},  # the query is its argument
    "harvest": OPTIONS - {"--set", "--until"},
    "state": OPTIONS - {"--set"},
    "provide": OPTIONS - {"--state"},
    "show": OPTIONS - {"--changed-since"},
    **{f"usage {one}": OPTIONS - {"--until"} for one in ("show", "top", "totals")},
    "usage report": OPTIONS - {"--until", "--filter"},
    "fleet add": OPTIONS - {"--set"},
    "fleet status": OPTIONS - {"--state"},
    "fleet search": {"--search", "--item", "--ids"},
    **{f"usage visitors {one}": OPTIONS - {"--set"} for one in ("flatten", "profile")},
}
"""Commands with some of the names, and the names they lack: `harvest` selects at the source,
``--set`` of `state` and of `usage visitors` is a setting, ``--state`` of `provide` chooses
versions, `show` says what happened to one record, `usage` selects periods, and the ``--filter``
of `usage report` is one of COUNTER's.
`fleet add` and `fleet status` are about repositories; the query of `fleet search` is its
argument."""


def commands(
    command: click.Command, name: str, context: click.Context
) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield name, command
        return
    for one in command.list_commands(context):
        below = command.get_command(context, one)
        assert below is not None, one
        yield from commands(below, f"{name} {one}".strip(), click.Context(below, parent=context))


ALL = dict(commands(silo_command, "", click.Context(silo_command)))


@pytest.mark.parametrize("name", ALL)
def test_a_command_that_selects_records_takes_all_the_options(name: str) -> None:
    taken = {text for one in ALL[name].params for text in one.opts} & OPTIONS
    assert not taken or OPTIONS - taken == OTHERS.get(name, set())


def test_many_commands_select_records() -> None:
    selecting = [
        name for name, one in ALL.items() if {"--ids"} & {t for p in one.params for t in p.opts}
    ]
    assert {"ls", "attach", "sheet export", "export zip", "crawl seeds", "fetch-files"} <= {
        *selecting
    }
