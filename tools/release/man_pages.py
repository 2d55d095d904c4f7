"""A man page for each command, from its help: ``python -m release.man_pages DIR DATE``.

Source: man-pages(7), "Sections within a manual page"; groff_man(7).
"""

import re
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click

from recordsilo.cli import Commands, silo_command
from recordsilo.distribution import release

_LITERAL = "\b\n"
"""How click marks a paragraph whose lines are kept."""


def pages(date: str) -> Iterator[tuple[str, str]]:
    """Yield the name of a page, such as ``silo-fleet-add.1``, and its text, for each command.

    Args:
        date: Of the release, which each page has at its foot.
    """
    top = click.Context(silo_command, info_name="silo", **silo_command.context_settings)
    for ctx in _contexts(top):
        yield f"{_name(ctx)}.1", page(ctx, date)


def page(ctx: click.Context, date: str) -> str:
    """Return the man page of a command.

    Args:
        ctx: Of the command, with the contexts of its groups above it.
        date: See `pages`.
    """
    command, name = ctx.command, _name(ctx)
    usage = " ".join(command.collect_usage_pieces(ctx))
    summary = command.get_short_help_str(200).rstrip(".")
    lines = [
        f'.TH "{escaped(name.upper())}" "1" "{date}" "silo {release()}" "silo"',
        ".SH NAME",
        rf"{escaped(name)} \- {escaped(summary)}",
        ".SH SYNOPSIS",
        rf"\fB{escaped(ctx.command_path)}\fR {escaped(usage)}",
        ".SH DESCRIPTION",
        *_prose(cleandoc(command.help or summary)),
    ]
    options = (one for one in command.get_params(ctx) if isinstance(one, click.Option))
    records = [one.get_help_record(ctx) for one in options]
    lines += _table("OPTIONS", [one for one in records if one])
    if isinstance(command, click.Group):
        for heading, rows in _members(ctx, command):
            lines += _table(heading.upper(), rows)
    if command.epilog:
        told = command.epilog.replace("For example:\n", "", 1)
        lines += [".SH EXAMPLES", *_prose(told)]
    above = f"{_name(ctx.parent)}(1)" if ctx.parent else "silo help"
    lines += [".SH SEE ALSO", escaped(above)]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    r"""Return text as groff takes it: ``\``, ``-`` and a request at the start of a line escaped."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def _contexts(ctx: click.Context) -> Iterator[click.Context]:
    """The context of a command, and those of all below it."""
    yield ctx
    if isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            command = ctx.command.get_command(ctx, name)
            assert command is not None, name
            if not command.hidden:
                yield from _contexts(click.Context(command, parent=ctx, info_name=name))


def _name(ctx: click.Context) -> str:
    return ctx.command_path.replace(" ", "-")


def _members(ctx: click.Context, group: click.Group) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The commands of a group by the headings of its help."""
    others = dict.fromkeys(group.list_commands(ctx))
    for heading, summaries in group.sections.items() if isinstance(group, Commands) else ():
        rows = [(name, text) for name, text in summaries.items() if name in others]
        others = {name: None for name in others if name not in summaries}
        yield heading, rows
    found = {name: group.get_command(ctx, name) for name in others}
    yield "Commands", [(n, one.get_short_help_str(200)) for n, one in found.items() if one]


def _table(heading: str, rows: list[tuple[str, str]]) -> list[str]:
    if not rows:
        return []
    items = [[".TP", rf"\fB{escaped(name)}\fR", escaped(text)] for name, text in rows]
    return [f".SH {escaped(heading)}", *(line for item in items for line in item)]


def _prose(text: str) -> Iterator[str]:
    """Paragraphs; those that click does not fill are not filled here."""
    paragraphs = re.split(r"\n[ \t]*\n", text.strip("\n"))
    for paragraph in paragraphs:
        yield ".PP"
        if _LITERAL in f"{paragraph}\n":
            yield from (".nf", escaped(paragraph.replace(_LITERAL, "", 1).strip("\n")), ".fi")
        else:
            yield escaped(" ".join(paragraph.split()))


def main(directory: str, date: str) -> None:
    """Write all pages into a directory."""
    target = Path(directory)
    target.mkdir(parents=True, exist_ok=True)
    for name, text in pages(date):
        (target / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
