"""Pages with the commands of `silo`, from their own help."""

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from recordsilo.cli import Commands, silo_command
from website.pages import places, tree, write

MARKUP = re.compile(r"(`[^`]*`)|([\\*_\[\]<>#|$])")
Listed = tuple[str, click.Command, str]
"""A command's name, itself, and its summary."""
TOPIC = re.compile(r"\(silo help ([\w-]+)\)")


def write_commands(staged: Path) -> None:
    """Write a page for each command, with the commands below it, and one that lists them all.

    Args:
        staged: The directory with the pages of the website.
    """
    topics = {
        Path(source).stem: place for source, place in places().items() if "adr/" not in source
    }
    context = click.Context(silo_command, info_name="silo", **silo_command.context_settings)
    lines = ["# Commands\n", *_help(silo_command, topics)]
    entries = []
    for heading, commands in _below(silo_command, context):
        lines.append(f"\n## {heading}\n")
        for name, command, summary in commands:
            lines.append(f"* [`silo {name}`]({name}.md): {_escaped(summary)}")
            entries.append((f"silo {name}", f"{name}.md"))
            text = "\n".join(_sections(command, context, name, 1, topics))
            write(staged / f"commands/{name}.md", text)
    write(staged / "commands/index.md", "\n".join([*lines, tree(entries)]))


def _below(group: click.Group, context: click.Context) -> Iterator[tuple[str, list[Listed]]]:
    """The commands of a group under their headings, in the order of its help."""
    left = dict.fromkeys(group.list_commands(context), "")
    sections = group.sections if isinstance(group, Commands) else {}
    for heading, names in [*sections.items(), ("Other commands", left.copy())]:
        found: list[Listed] = []
        for name, summary in names.items():
            command = group.get_command(context, name) if name in left else None
            if command is not None and not command.hidden:
                del left[name]
                found.append((name, command, summary or command.get_short_help_str(100)))
        if found:
            yield heading if sections else "Commands", found


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
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts:
            yield from _option(parameter, context)
    if command.epilog:
        text = inspect.cleandoc(command.epilog).removeprefix("\b\n")
        heading, _, lines = text.partition("\n")
        yield f"{heading}\n\n```sh\n{inspect.cleandoc(lines)}\n```\n"
    if isinstance(command, click.Group):
        groups = list(_below(command, context))
        for heading, below in groups:
            path = context.command_path
            lines = (
                f"* [`{path} {one}`](#{f'{path} {one}'.replace(' ', '-')}): {_escaped(summary)}"
                for one, _, summary in below
            )
            yield "\n".join([f"**{heading}**\n", *lines, ""])
        for _, below in groups:
            for one, found, _ in below:
                yield from _sections(found, context, one, min(level + 1, 6), topics)


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
