"""What the TAB key offers for the arguments of commands, and `silo completion`.

Nothing here writes, waits or complains: an index that is absent, damaged or locked offers nothing.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TypeAlias

import click
from click.shell_completion import CompletionItem, get_completion_class

from recordsilo.cli import example, silo_command
from recordsilo.disk.database_log import read_only_uri
from recordsilo.errors import RecordSiloError
from recordsilo.index.facets import countable_names, facet_names
from recordsilo.index.schema import NAME
from recordsilo.index.search_values import SORTS
from recordsilo.records.harvested_record import HarvestedRecord
from recordsilo.silo import Silo
from recordsilo.state import PersistentState

MOST = 100
"""The largest number of identifiers or values that are offered."""
_LAST = "\U0010ffff"
_SHELLS = ("bash", "zsh", "fish")


def directories(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Let the shell offer directories."""
    return [CompletionItem(typed, type="dir")]


def files(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Let the shell offer files and directories."""
    return [CompletionItem(typed, type="file")]


def offered(values: Iterable[str], typed: str) -> list[CompletionItem]:
    """The first `MOST` values that begin with what was typed and that a shell can insert.

    Args:
        values: In the order in which they are offered.
        typed: The word so far.
    """
    fit = (one for one in values if one.startswith(typed) and one.isprintable())
    return [CompletionItem(one) for one, _ in zip(fit, range(MOST), strict=False)]


Complete: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def among(names: Callable[[str], Iterable[str]], *foreseen: type[Exception]) -> Complete:
    """Complete by names that are read from the directory that was typed before.

    Args:
        names: The names, from the path of the directory.
        foreseen: What it raises if there are none, beside `RecordSiloError` and `OSError`.
    """

    errors: tuple[type[Exception], ...] = (
        RecordSiloError, OSError, sqlite3.Error, ValueError, *foreseen,
    )  # fmt: skip

    def complete(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
        try:
            return offered(names(_place(ctx)), typed)
        except errors:
            return []

    return complete


def prefixes(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Metadata formats: those of the Silo, and those that are known."""
    from recordsilo.formats import FORMATS  # noqa: PLC0415  # loads lxml

    kept = _asked(ctx, _VALUES, "format", typed, typed + _LAST)
    known = sorted(prefix for one in FORMATS for prefix in one.prefixes)
    return offered(dict.fromkeys((*kept, *known)), typed)


def fields(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """The fields that can be counted."""
    return offered(countable_names(), typed)


def orders(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """The orders of a search that the store has."""
    return offered(SORTS, typed)


def conditions(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """``FIELD=``; after it, the values that the Silo has."""
    field, is_after, value = typed.partition("=")
    if not is_after:
        return offered((f"{name}=" for name in facet_names()), typed)
    found = _asked(ctx, _VALUES, field.removesuffix("!"), value, value + _LAST)
    return offered((f"{field}={one}" for one in found), typed)


def sets(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """The sets of the Silo's records."""
    return offered(_asked(ctx, _VALUES, "set", typed, typed + _LAST), typed)


def identifiers(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """The Silo's records: by short identifiers where it has them, and by full ones."""
    prefix = _prefix(ctx)
    full = _asked(ctx, _BEGIN, prefix + typed, prefix + typed + _LAST)
    short = offered((one.removeprefix(prefix) for one in full), typed)
    return short or offered(_asked(ctx, _BEGIN, typed, typed + _LAST), typed)


def versions(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """The versions of the record that was named before."""
    return offered(_of_record(ctx, lambda record: record.versions), typed)


def paths(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """The files in the current version, or the chosen one, of the record that was named before."""
    chosen = ctx.params.get("version")
    return offered(_of_record(ctx, lambda record: record.paths(chosen)), typed)


def names_in(ctx: click.Context, path: tuple[str, ...], sql: str, *values: str | int) -> list[str]:
    """The names that a query finds in a database of the Silo; none if it cannot be read.

    Args:
        ctx: Has the Silo's directory.
        path: Of the database, below the Silo's directory.
        sql: Gives rows of one text.
        values: Of the placeholders in it.
    """
    try:
        uri = read_only_uri(os.path.join(_place(ctx), *path))
        with closing(sqlite3.connect(uri, uri=True, timeout=0)) as connection:
            return [str(name) for (name,) in connection.execute(sql, values)]
    except (sqlite3.Error, OSError, ValueError):
        return []


@click.command(epilog=example(
    'eval "$(silo completion bash)"',
    "silo completion fish > ~/.config/fish/completions/silo.fish",
))  # fmt: skip
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(*, shell: str) -> None:
    """Print the script that lets a shell complete commands with the TAB key.

    Add the line of the example to ~/.bashrc, or with zsh in the place of bash to ~/.zshrc.
    """
    found = get_completion_class(shell)
    assert found is not None, shell
    click.echo(found(silo_command, {}, "silo", "_SILO_COMPLETE").source())


_BEGIN = (
    f"SELECT identifier FROM record WHERE name >= {NAME} AND name < {NAME} "  # noqa: S608
    "ORDER BY name LIMIT ?"
)
_VALUES = (
    "SELECT value FROM facet_value WHERE field = ? AND value >= ? AND value < ? ORDER BY 1 LIMIT ?"
)


def _typed(ctx: click.Context, *names: str) -> str:
    """The argument of one of these names that was typed before; empty if none was.

    While the value of an option is missing, click leaves the arguments unparsed in ``ctx.args``.
    """
    arguments = [str(one.name) for one in ctx.command.params if isinstance(one, click.Argument)]
    typed = {**dict(zip(arguments, ctx.args, strict=False)), **_parsed(ctx)}
    return next((typed[name] for name in names if name in typed), "")


def _parsed(ctx: click.Context) -> dict[str, str]:
    return {name: value for name, value in ctx.params.items() if isinstance(value, str)}


def _place(ctx: click.Context) -> str:
    """The directory of the Silo that was typed before."""
    return _typed(ctx, "silo_dir", "directory")


def _asked(ctx: click.Context, sql: str, *values: str) -> list[str]:
    """The texts that a query finds in the index as it is."""
    return names_in(ctx, (".silo", "index.sqlite"), sql, *values, MOST)


def _of_record(ctx: click.Context, asked: Callable[[HarvestedRecord], list[str]]) -> list[str]:
    """What the record that was named before answers; nothing if there is no such record."""
    try:
        with Silo(_place(ctx), create=False) as silo:
            return asked(silo[silo.resolve(_typed(ctx, "item"))])
    except (RecordSiloError, OSError, sqlite3.Error, ValueError):
        return []


def _prefix(ctx: click.Context) -> str:
    """What completes the Silo's short identifiers; empty if it has none."""
    try:
        settings = PersistentState(_place(ctx), create=False)
        return str(settings.get("identifier_uri_prefix") or "") if _place(ctx) else ""
    except (RecordSiloError, OSError, ValueError):
        return ""
