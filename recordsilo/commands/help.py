"""`silo help`: the pages of docs/, which are installed with the package."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import click

from recordsilo.cli import example, fail, shown_lines
from recordsilo.errors import did_you_mean

_INSTALLED = "share/recordsilo/docs"
"""Where `pyproject.toml` puts the pages, below the prefix of the installation."""


@click.command("help", epilog=example("silo help", "silo help search", "silo help harvest"))
@click.argument("topic", required=False)
@click.pass_context
def help_command(ctx: click.Context, topic: str | None) -> None:
    """Print the page on TOPIC, or the help of the command of that name.

    Without TOPIC, list the pages.
    """
    pages = _pages()
    if topic is None:
        for name, path in pages.items():
            click.echo(f"{name:<22}{_title(path)}")
        return
    silo = ctx.parent
    assert silo is not None
    assert isinstance(silo.command, click.Group)
    command = silo.command.get_command(silo, topic)
    if topic in pages:
        click.echo(shown_lines(pages[topic].read_text("utf-8")), nl=False)
        if command is not None:
            click.echo(f"\nThe command: silo {topic} --help")
    elif command is not None:
        click.echo(command.get_help(click.Context(command, parent=silo, info_name=topic)))
    else:
        names = [*pages, *silo.command.list_commands(silo)]
        fail(f"there is no page and no command {topic!r}{did_you_mean(topic, names)}")


def _pages() -> dict[str, Path]:
    """Topic → its page: of the installed package, or of the source tree."""
    beside = Path(__file__).parents[2] / "docs"
    found = sorted(beside.glob("*.md")) if (beside / "shell.md").is_file() else _installed()
    return {path.stem: path for path in found}


def _installed() -> list[Path]:
    try:
        files = distribution("recordsilo").files or ()
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
