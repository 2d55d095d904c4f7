"""`silo help`: the pages of docs/, which are installed with the package."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import click

from recordsilo.cli import example, fail, shown_lines
from recordsilo.distribution import NAME
from recordsilo.errors import did_you_mean

_INSTALLED = "share/recordsilo/docs"
"""Where `pyproject.toml` puts the pages, below the prefix of the installation."""


@click.command("help", epilog=example("silo help", "silo help search", "silo help export bag"))
@click.argument("topic", metavar="[TOPIC]", nargs=-1)
@click.pass_context
def help_command(ctx: click.Context, topic: tuple[str, ...]) -> None:
    """Print the page on TOPIC, or the help of the command of that name.

    Without TOPIC, list the pages.
    """
    pages = _pages()
    if not topic:
        for name, path in pages.items():
            click.echo(f"{name:<22}{_title(path)}")
        return
    silo = ctx.parent
    assert silo is not None
    assert isinstance(silo.command, click.Group)
    first = topic[0]
    command = silo.command.get_command(silo, first)
    if len(topic) == 1 and first in pages:
        click.echo(shown_lines(pages[first].read_text("utf-8")), nl=False)
        if command is not None:
            click.echo(f"\nThe command: silo {first} --help")
    elif command is not None:
        click.echo(_context_of(silo, topic).get_help())
    else:
        names = [*pages, *silo.command.list_commands(silo)]
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


def _pages() -> dict[str, Path]:
    """Topic → its page: of the installed package, or of the source tree; without the index."""
    beside = Path(__file__).parents[2] / "docs"
    found = sorted(beside.glob("*.md")) if (beside / "shell.md").is_file() else _installed()
    return {path.stem: path for path in found if path.stem != "index"}


def _installed() -> list[Path]:
    try:
        files = distribution(NAME).files or ()
    except PackageNotFoundError:
        return []
    return sorted(
        Path(str(one.locate()))
        for one in files
        if one.as_posix().endswith(".md") and _INSTALLED in one.as_posix()
    )


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").strip()
