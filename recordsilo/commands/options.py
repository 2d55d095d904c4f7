"""Arguments and options that several commands of `silo` share."""

import functools
import io
import json
import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import click

from recordsilo.cli import ExitCode, fail, open_silo, shown
from recordsilo.commands import completion
from recordsilo.commands.granary_list import silos_in
from recordsilo.errors import RecordNotFound, SearchError
from recordsilo.index import SearchFilters
from recordsilo.index.projection import seconds_of
from recordsilo.index.query_syntax import query_from
from recordsilo.index.search_values import DATES, bound_of
from recordsilo.index.typed_filters import filters_within
from recordsilo.records.manifest import STATES
from recordsilo.remarks import remarks_on, unknown_fields
from recordsilo.selection import Selection, filters_from
from recordsilo.silo import Silo
from recordsilo.silo_then import SiloThen

F = TypeVar("F", bound=Callable[..., Any])
MAX_IDS_BYTES = 64 << 20
"""The largest list of identifiers, which is held in memory: about a million of them."""
NAMED = 1000
"""The largest number of missing identifiers that are named."""

directory = click.argument("silo_dir", metavar="DIR", shell_complete=completion.directories)
identifier = click.argument("item", metavar="ID", shell_complete=completion.identifiers)
quiet_option = click.option(
    "-q", "--quiet", is_flag=True,
    help="Print only data and problems: no progress, and no summary if all went well.",
)  # fmt: skip


def all_of(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Join options and arguments into one decorator; `--help` has them in this order."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


class RenamedOption(click.Option):
    """An option that is also understood by earlier names, which `--help` does not show."""

    def __init__(self, *args: Any, earlier: Sequence[str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.earlier = tuple(earlier)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Add the option to the parser of a command line, by all of its names."""
        known = self.opts
        self.opts = [*known, *self.earlier]
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.opts = known


def as_json_text(value: object, indent: int | None = None) -> str:
    """A value as JSON that can be written as UTF-8: half of a surrogate pair is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return text.encode("utf-8", "backslashreplace").decode()


def print_json(value: object) -> None:
    """Print a value as one JSON document, as commands with `--json` do."""
    click.echo(as_json_text(value, 1))


def tell_none(what: str, way: str, silo_dir: str = "") -> None:
    """Say on standard error that a list is empty and how to make what it would list.

    Args:
        what: The things, in the plural.
        way: What to do, such as a command, in which ``DIR`` stands for the Silo.
        silo_dir: The Silo, as the command got it.
    """
    click.echo(shown(f"silo: no {what}; {way.replace('DIR', shlex.quote(silo_dir))}"), err=True)


def json_option(printed: str) -> Callable[[F], F]:
    """Make the option --json; its help says what is printed, such as ``a JSON object``."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {printed}.")


json_lines = json_option("JSON lines")
json_array = json_option("a JSON array")
json_object = json_option("a JSON object")
_UNITS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def _moment(_context: click.Context, _option: click.Parameter, given: str | None) -> str | None:
    """A date as typed; for how long something is ago, the time. None is in the future."""
    if given is None:
        return None
    found = re.fullmatch(r"(\d{1,6})([mhdw])", given, re.ASCII)
    if found is None:
        try:
            is_future = bound_of(given, last=False) > seconds_of(datetime.now(UTC))
        except SearchError:
            fail(
                f"{given!r} is not a date; write YYYY-MM-DD, or with a time YYYY-MM-DDThh:mm "
                "(UTC), or how long ago, such as 12h or 1d"
            )
        if is_future:
            fail(f"{given} is in the future; write an earlier date")
        return given
    ago = timedelta(seconds=int(found[1]) * _UNITS[found[2]])
    try:
        return (datetime.now(UTC) - ago).replace(tzinfo=None).isoformat(timespec="seconds")
    except OverflowError:
        return "0001-01-01"


as_of_option = click.option(
    "--as-of", metavar="DATE", callback=_moment,
    help="As it was at this date or time (UTC; a day: its first second), or so long ago: 12h, 1d.",
)  # fmt: skip
"""With `selecting`, the selection has it; without, the command gets ``as_of``."""


def check_order(changed_since: str | None, as_of: str | None) -> None:
    """Refuse to list what has changed since a moment as it was before that moment.

    Raises:
        Failure: The first date is later than the second; both were checked as such.
    """
    if not (changed_since and as_of):
        return
    if bound_of(changed_since, last=False) > bound_of(as_of, last=False):
        fail(
            f"--changed-since {changed_since} is later than --as-of {as_of}, so nothing can have "
            "changed between them; write an earlier --changed-since"
        )


def changed_since_option(what: str) -> Callable[[Any], Any]:
    """The option ``--changed-since``; its help begins with what it does."""
    return click.option(
        "--changed-since", metavar="DATE", callback=_moment,
        help=f"{what} since this date or time (UTC), or for so long: 90m, 12h, 1d, 2w.",
    )  # fmt: skip


_FILTERS = (
    click.option("--filter", "texts", multiple=True, metavar="FIELD=VALUE",
                 shell_complete=completion.conditions,
                 help="Only records with this value; repeatable (the same field: any value). "
                      "FIELD!=VALUE: without it; year=2010..2016: a range."),
    click.option("--set", "set_spec", metavar="SPEC", shell_complete=completion.sets,
                 help="Only records in this set or below it."),
    click.option("--state", type=click.Choice(STATES),
                 help="Only records whose current version has this status."),
    click.option("--since", metavar="DATE", help="Earliest datestamp, YYYY-MM-DD."),
    click.option("--until", metavar="DATE", help="Latest datestamp, inclusive."),
    changed_since_option("Only records that were stored or changed here"),
)  # fmt: skip
_NAMES = (
    click.option("--search", "query", metavar="QUERY", cls=RenamedOption, earlier=["--query"],
                 help="Only records that match these words and filters, as 'solar has_file:false' "
                 "(silo help search)."),
    *_FILTERS,
    click.option("--item", "items", multiple=True, metavar="ID",
                 shell_complete=completion.identifiers,
                 help="Only this record; repeatable."),
    click.option("--ids", "ids_file", metavar="FILE", shell_complete=completion.files,
                 help="Only the records in this file, one per line; - is standard input. Empty "
                      "lines and those that begin with # are ignored."),
    click.option("--missing", type=click.Choice(["refuse", "skip"]), default="refuse",
                 show_default=True, help="What to do with identifiers of --item and --ids that "
                                         "the Silo does not have; they are named."),
)  # fmt: skip


class QueryCommand(click.Command):
    """A command whose arguments are the words of a query, which may begin with a minus."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an error about an excluded word says how to write it."""
        given = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if (word := _excluded_word(error, given)) is None:
                raise
            raise click.UsageError(
                f"{error.format_message()} If {word} excludes a word, write -- before the words: "
                f"{ctx.command_path} DIR -- {word}",
                ctx,
            ) from None


def _excluded_word(error: click.UsageError, arguments: Iterable[str]) -> str | None:
    """The argument that was taken for an option, and is probably an excluded word."""
    if isinstance(error, click.NoSuchOption):
        begins: Sequence[str] = (error.option_name,)
    elif isinstance(error, click.BadParameter) and error.param is not None:
        begins = error.param.opts  # -nano is read as -n ano
        arguments = (one for one in arguments if one not in begins)
    else:
        return None
    words = (one for one in arguments if re.match(r"-[^\W\d]", one))
    return next((one for one in words if one.startswith(tuple(begins))), None)


def filtering(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that filter records; the command gets ``filters: SearchFilters``."""

    @functools.wraps(command)
    def call(**given: Any) -> Any:
        return command(filters=_filters(given), **given)

    return all_of(*_FILTERS)(call)


def selecting(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select records; the command gets ``select: Selection``."""

    @functools.wraps(command)
    def call(**given: Any) -> Any:
        query, filters = _query(given.pop("query"), _filters(given))
        named, file = given.pop("items"), given.pop("ids_file")
        skip, as_of = given.pop("missing") == "skip", given.pop("as_of", None) or ""
        check_order(filters.changed_since, as_of)
        if file is not None:
            named = (*named, *_listed(file))
            if not named:
                fail("the list of --ids is empty; write one identifier per line")
        named = tuple(dict.fromkeys(named))
        if named and isinstance(place := given.get("silo_dir") or given.get("directory"), str):
            named = _present(place, named, as_of, skip=skip)
        return command(select=Selection(query, filters, named, as_of), **given)

    return all_of(*_NAMES)(call)


def check_not_empty(silo: Silo, selection: Selection) -> None:
    """End the command, with 0 and a sentence that names the search, if no record is selected.

    It is no mistake if there is nothing to do today, for `silo ls` neither; the sentence is on
    standard error.
    """
    if next(selection.iterate(silo), None) is not None:
        remark_on(silo, selection.query, selection.filters, found=True)
        _tell_untold(silo, selection)
    else:
        by = f" by {selection}" if not selection.is_everything else ""
        remarks = "".join(
            f"; {remark}" for remark in remarks_on(silo, selection.query, selection.filters)
        )
        click.echo(f"silo: no record of {silo.storage_dir} is selected{by}{remarks}", err=True)
        if isinstance(silo, SiloThen) and (told := silo.told_unsure()):
            click.echo(shown(f"silo: {told}"), err=True)
        _tell_untold(silo, selection)
        click.get_current_context().exit(ExitCode.OK)


def _tell_untold(silo: Silo, selection: Selection) -> None:
    if told := selection.untold(silo):
        click.echo(f"silo: {told}", err=True)


def remark_on(silo: Silo, query: str, filters: SearchFilters, *, found: bool = False) -> None:
    """Say on standard error what in a search looks like a mistake.

    Args:
        silo: Where was searched.
        query: The words.
        filters: The conditions.
        found: Whether a record was found; only unknown fields are named then.
    """
    for remark in unknown_fields(query) if found else remarks_on(silo, query, filters):
        click.echo(shown(f"silo: {remark}"), err=True)


def _present(silo_dir: str, named: tuple[str, ...], as_of: str, *, skip: bool) -> tuple[str, ...]:
    """The identifiers that the Silo has; the others are named on standard error.

    Raises:
        Failure: Some are missing and are not skipped, or all are missing.
    """
    if silos_in(silo_dir):
        return named
    with open_silo(silo_dir, as_of) as silo:
        missing = {one: why for one in named if (why := _absence(silo, one))}
    present = tuple(one for one in named if one not in missing)
    if missing:
        for why in list(missing.values())[: (NAMED if len(missing) > 1 else skip)]:
            click.echo(shown(f"silo: {why}"), err=True)
        if len(missing) > NAMED:
            click.echo(f"silo: and {len(missing) - NAMED:,} more", err=True)
    if missing and not (skip and present):
        few = len(missing) == 1 and not skip
        told = next(iter(missing.values())) if few else f"{len(missing):,} records are missing"
        if skip:
            fail(f"none of the {len(missing):,} named records is in the Silo; nothing to do")
        it = "it" if len(missing) == 1 else "them"
        fail(f"{told}; correct {it}, or leave {it} out with --missing skip")
    return present


def _absence(silo: Silo, identifier: str) -> str:
    """Why the Silo does not have a record; empty if it has it."""
    try:
        silo.resolve(identifier)
    except RecordNotFound as error:
        return str(error)
    return ""


def _listed(path: str) -> list[str]:
    """The identifiers in a file, one per line; ``-`` is standard input. Fails for a bad file."""
    name = "standard input" if path == "-" else path
    try:
        with click.open_file(path, "rb") as file:
            content = file.read(MAX_IDS_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        fail(f"{name}: {getattr(error, 'strerror', None) or error}")
    if len(content) > MAX_IDS_BYTES:
        fail(f"{name} is larger than {MAX_IDS_BYTES >> 20} MiB; split it into several files")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        fail(f"{name} is not UTF-8; save it as UTF-8 text, one identifier per line")
    if "\0" in text:
        fail(f"{name} has null characters; save it as UTF-8 text, one identifier per line")
    lines = map(str.strip, io.StringIO(text, None))
    return [line for line in lines if line and not line.startswith("#")]


def _query(given: str | None, filters: SearchFilters) -> tuple[str, SearchFilters]:
    """The words of ``--search``, and the filters with those among them.

    No words, which select all records, without the option.
    """
    try:
        words, filters = (
            ("", filters)
            if given is None
            else filters_within(query_from(given), filters, strict=True)
        )
    except SearchError as error:
        fail(str(error))
    return words, filters


def _filters(given: dict[str, Any]) -> Any:
    """Remove the options of `_FILTERS` from the given ones, and return them as filters."""
    names = ("set_spec", "state", *DATES)
    try:
        return filters_from(given.pop("texts"), **{name: given.pop(name) for name in names})
    except SearchError as error:
        fail(str(error))


class OutputFile(click.Path):
    """A file that a command writes at its end; ``-`` is standard output.

    A missing directory is refused before the command does anything.
    """

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check a path.

        Args:
            value: As typed.
            param: The option or the argument.
            ctx: The context of the command.
        """
        path = os.fsdecode(super().convert(value, param, ctx))
        directory = os.path.dirname(path) or "."
        if path != "-" and not os.path.isdir(directory):
            self.fail(f"the directory {directory} does not exist; create it", param, ctx)
        try:
            os.stat(path)
        except FileNotFoundError:
            return path
        except OSError as error:
            self.fail(f"{path}: {error.strerror}", param, ctx)
        return path


class Number(click.FloatRange):
    """A number in a range; click alone accepts NaN in any range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Convert a value to a number; any other text fails the command.

        Args:
            value: As typed.
            param: The option.
            ctx: The context of the command.
        """
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


class RowCount(click.IntRange):
    """How many rows are printed, of which 0 means all."""

    def __init__(self, most: int) -> None:
        super().__init__(0, most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Convert a value to a number; one that is too large fails with the way to all rows."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            if str(value).isdecimal():
                self.fail(f"{value} is more than {self.max:,}; 0 prints all", param, ctx)
            raise


yes_option = click.option(
    "-y", "--yes", is_flag=True, help="Do not ask for confirmation; needed without a terminal."
)


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something is lost, unless --yes was given.

    Raises:
        Failure: Standard input is no terminal, so that nobody can answer.
        Abort: The answer was no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        fail(f"{question} Nobody can be asked here, so nothing was done; give --yes to agree")
    click.confirm(question, abort=True, err=True)


def why(command: F) -> F:
    """Add the options that say who makes a change, and why."""
    command = click.option("--agent", default="", help="Name for the log (default: the user).")(
        command
    )
    return click.option("-m", "--message", default="", help="Reason, for the log.")(command)
