"""`silo help`: the pages of docs/, which are installed with the package."""

import re
from pathlib import Path

import click

from recordsilo.cli import example, fail, shown_lines
from recordsilo.documentation import INDEX, pages
from recordsilo.errors import did_you_mean

_ITEM = re.compile(r" *\* \[([^\]]+)\]\(([\w-]+)\.md\)(: .+)")
"""A page in a list of the home page: its title, its topic, and what it is about."""


@click.command("help", epilog=example("silo help", "silo help search", "silo help export bag"))
@click.argument("topic", metavar="[TOPIC]", nargs=-1)
@click.pass_context
def help_command(ctx: click.Context, topic: tuple[str, ...]) -> None:
    """Print the page on TOPIC, or the help of the command of that name.

    Without TOPIC, list the pages.
    """
    found = pages()
    if not topic:
        if INDEX not in found:
            fail("the pages are not installed; `silo COMMAND --help` describes a command")
        click.echo(_list(found, ctx.make_formatter()))
        return
    silo = ctx.parent
    assert silo is not None
    assert isinstance(silo.command, click.Group)
    first = topic[0]
    command = silo.command.get_command(silo, first)
    if len(topic) == 1 and first in found:
        click.echo(shown_lines(found[first].read_text("utf-8")), nl=False)
        if command is not None:
            click.echo(f"\nThe command: silo {first} --help")
    elif command is not None:
        click.echo(_context_of(silo, topic).get_help())
    else:
        names = [*found, *silo.command.list_commands(silo)]
        fail(f"there is no page and no command {first!r}{did_you_mean(first, names)}")


def _context_of(above: click.Context, words: tuple[str, ...]) -> click.Context:
    """The context of the command that some words call."""
    for word in words:
        group = above.command
        found = group.get_command(above, word) if isinstance(group, click.Group) else None
        if found is None:
            names = group.list_commands(above) if isinstance(group, click.Group) else []
            fail(f"{above.command_path} has no command {word!r}{did_you_mean(word, names)}")
        above = click.Context(found, parent=above, info_name=word)
    return above


def _list(found: dict[str, Path], formatter: click.HelpFormatter) -> str:
    """The pages as the home page lists them: in parts, with what each is about."""
    for part in found[INDEX].read_text("utf-8").split("\n## ")[1:]:
        heading, _, lines = part.partition("\n")
        items = (_ITEM.fullmatch(line) for line in lines.splitlines())
        rows = [
            (item[2], f"{item[1]}{item[3]}".replace("`", ""))
            for item in items
            if item and item[2] in found
        ]
        with formatter.section(heading):
            formatter.write_dl(rows)
    return formatter.getvalue().strip()
