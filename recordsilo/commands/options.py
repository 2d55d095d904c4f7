"""Arguments and options that several commands of `silo` have."""

import functools
import io
import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

from recordsilo.cli import fail
from recordsilo.errors import SearchError
from recordsilo.records.manifest import STATES
from recordsilo.selection import Selection, filters_from, query_from

F = TypeVar("F", bound=Callable[..., Any])
MAX_IDS_BYTES = 64 << 20
"""Of a list of identifiers, which is held in memory: some million of them."""

directory = click.argument("silo_dir", metavar="DIR")
identifier = click.argument("item", metavar="ID")
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_FILTERS = (
    click.option("--filter", "texts", multiple=True, metavar="FIELD=VALUE",
                 help="Only records with this value; repeatable (one field twice: either value). "
                      "FIELD!=VALUE: without it; year=2010..2016: a range."),
    click.option("--set", "set_spec", metavar="SPEC", help="Only records in this set or below it."),
    click.option("--state", type=click.Choice(STATES),
                 help="Only records whose current version has this status."),
    click.option("--since", metavar="DATE", help="Earliest datestamp, YYYY-MM-DD."),
    click.option("--until", metavar="DATE", help="Latest datestamp, inclusive."),
)  # fmt: skip
_NAMES = (
    click.option("--search", "query", metavar="QUERY",
                 help="Only records that match this query (docs/search.md)."),
    *_FILTERS,
    click.option("--item", "items", multiple=True, metavar="ID",
                 help="Only this record; repeatable."),
    click.option("--ids", "ids_file", metavar="FILE",
                 help="Only the records in this file, one per line; - is standard input."),
)  # fmt: skip


def filtering(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that filter records; the command takes them as ``filters: SearchFilters``."""

    @functools.wraps(command)
    def call(**given: Any) -> Any:
        return command(filters=_filters(given), **given)

    return _with(_FILTERS, call)


def selecting(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which records; the command takes them as ``select: Selection``."""

    @functools.wraps(command)
    def call(**given: Any) -> Any:
        filters, query = _filters(given), _query(given.pop("query"))
        named, file = given.pop("items"), given.pop("ids_file")
        if file is not None:
            named = (*named, *_listed(file))
            if not named:
                fail("the list of --ids is empty; write one identifier a line")
        return command(select=Selection(query, filters, tuple(dict.fromkeys(named))), **given)

    return _with(_NAMES, call)


def _listed(path: str) -> list[str]:
    """The identifiers of a file, one a line; ``-``: standard input. A bad file ends the command."""
    name = "standard input" if path == "-" else path
    try:
        with click.open_file(path, "rb") as file:
            content = file.read(MAX_IDS_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        fail(f"{name}: {getattr(error, 'strerror', None) or error}")
    if len(content) > MAX_IDS_BYTES:
        fail(f"{name} is larger than {MAX_IDS_BYTES >> 20} MiB; give its identifiers in parts")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        fail(f"{name} is not UTF-8; save it as UTF-8 text, one identifier a line")
    if "\0" in text:
        fail(f"{name} has null characters; save it as UTF-8 text, one identifier a line")
    return list(filter(None, map(str.strip, io.StringIO(text, None))))


def _query(given: str | None) -> str:
    """The query of ``--search``; without the option, every record is meant."""
    try:
        return "" if given is None else query_from(given)
    except SearchError as error:
        fail(str(error))


def _filters(given: dict[str, Any]) -> Any:
    """Take the options of `_FILTERS` out of those given, as filters."""
    names = ("set_spec", "state", "since", "until")
    try:
        return filters_from(given.pop("texts"), **{name: given.pop(name) for name in names})
    except SearchError as error:
        fail(str(error))


def _with(options: tuple[Any, ...], command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command


class Number(click.FloatRange):
    """A number within a range; click takes NaN for within any."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; anything else fails the command."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is no number", param, ctx)
        return number


def why(command: F) -> F:
    """The options that say who changes something, and why."""
    command = click.option("--agent", default="", help="Name for the log (default: the user).")(
        command
    )
    return click.option("-m", "--message", default="", help="Reason, for the log.")(command)
