"""Pages with the commands of `silo`, from their own help."""

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from recordsilo.cli import silo_command
from recordsilo.command_table import SECTIONS
from website.pages import places, tree, write

MARKUP = re.compile(r"(`[^`]*`)|([\\*_\[\]<>#|$])")
TOPIC = re.compile(r"\(silo help ([\w-]+)\)")


def write_commands(staged: Path) -> None:
    """Write a page for each command, with the commands below it, and one that lists them all.

    Args:
        staged: The directory with the pages of the website.
    """
    topics = {
        Path(source).stem: place for source, place in places().items() if "adr/" not in source
    }
    context = click.Context(silo_command, info_name="silo")
    lines = ["# Commands\n", *_help(silo_command, topics)]
    listed = dict.fromkeys(silo_command.list_commands(context))
    groups = {**SECTIONS, "Other commands": dict.fromkeys(listed, "")}
    entries = []
    for heading, names in groups.items():
        found = [name for name in names if name in listed]
        if not found:
            continue
        lines += [f"\n## {heading}\n"]
        for name in found:
            del listed[name]
            command = silo_command.get_command(context, name)
            assert command is not None
            summary = names[name] or command.get_short_help_str(100)
            lines.append(f"* [`silo {name}`]({name}.md): {_escaped(summary)}")
            entries.append((f"silo {name}", f"{name}.md"))
            text = "\n".join(_sections(command, context, name, 1, topics))
            write(staged / f"commands/{name}.md", text)
    write(staged / "commands/index.md", "\n".join([*lines, tree(entries)]))


def _sections(
    command: click.Command, above: click.Context, name: str, level: int, topics: Mapping[str, str]
) -> Iterator[str]:
    """A section for a command, and those of the commands below it."""
    context = click.Context(command, parent=above, info_name=name)
    yield f"{'#' * level} {context.command_path}\n"
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{context.command_path} {usage}\n```\n"
    yield from _help(command, topics)
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Option) and parameter.name != "help":
            yield from _option(parameter, context)
    if command.epilog:
        text = inspect.cleandoc(command.epilog).removeprefix("\b\n")
        heading, _, lines = text.partition("\n")
        yield f"{heading}\n\n```sh\n{inspect.cleandoc(lines)}\n```\n"
    if isinstance(command, click.Group):
        below = [(one, command.get_command(context, one)) for one in command.list_commands(context)]
        for child, found in below:
            if found is not None and not found.hidden:
                yield from _sections(found, context, child, min(level + 1, 6), topics)


def _help(command: click.Command, topics: Mapping[str, str]) -> Iterator[str]:
    """The paragraphs of a help; one that begins with a backspace keeps its lines."""
    for paragraph in inspect.cleandoc(command.help or "").split("\f")[0].split("\n\n"):
        if paragraph.startswith("\b"):
            lines = paragraph.removeprefix("\b").strip("\n")
            yield f"```text\n{lines}\n```\n"
        else:
            yield _linked(" ".join(paragraph.split()), topics) + "\n"


def _option(option: click.Option, context: click.Context) -> Iterator[str]:
    record = option.get_help_record(context)
    if record is not None:
        names, text = record
        yield f"`{names}`\n: {_escaped(' '.join(text.split())) or '-'}\n"


def _linked(text: str, topics: Mapping[str, str]) -> str:
    """A paragraph whose `(silo help TOPIC)` leads to the page."""
    text = _escaped(text)
    return TOPIC.sub(lambda found: f"([{found[1]}](../{topics[found[1]]}))", text)


def _escaped(text: str) -> str:
    """A text without markup, except for code between backticks."""
    return MARKUP.sub(lambda found: found[1] or "\\" + found[2], text)
