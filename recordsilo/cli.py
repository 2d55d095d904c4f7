"""The command `silo`: a group to which each package adds its commands by entry points."""

import codecs
import contextlib
import errno
import io
import logging
import os
import re
import select
import shutil
import signal
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from enum import IntEnum
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, NoReturn, TextIO

import click
from click.shell_completion import CompletionItem

from recordsilo.command_table import LONGEST, SECTIONS, Sections, suggestions
from recordsilo.contributions import ContributionBroken, load, points
from recordsilo.disk.full_disk import is_full_disk, not_writable
from recordsilo.distribution import NAME
from recordsilo.errors import (
    VERSION_FILE,
    FileUnreadable,
    ManifestUnreadable,
    RecordNotFound,
    RecordSiloError,
    SiloGone,
    StateUnreadable,
    nearest,
)
from recordsilo.garbage import collect_rarely, leave_rest
from recordsilo.typed_places import noticing_swaps, said_of_path
from recordsilo.wording import cut_middle, escaped
from recordsilo.wrong_calls import is_only_help, said_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from recordsilo.silo import Silo

ENTRY_POINTS = "recordsilo.commands"


class ExitCode(IntEnum):
    """The exit codes, which are the same for every command."""

    OK = 0
    LOSSES = 1
    """Finished with losses, which the output names."""
    USAGE = 2
    """Wrong input: an option, an identifier, a directory."""
    ENDPOINT = 3
    """The repository, or the target of an export, cannot be used."""
    STOPPED = 75
    """Stopped early, by SIGTERM or a full disk for example; the same command continues."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C; the same command continues."""


class CommandFailure(click.ClickException):
    """Ends a command with a sentence on stderr and an exit code."""

    def __init__(self, sentence: str, code: int = ExitCode.USAGE) -> None:
        super().__init__(sentence)
        self.exit_code = int(code)  # type: ignore[misc]  # click reads it from the instance

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence on stderr."""
        click.echo(shown_lines(f"silo: {self.message}"), file=file, err=file is None)


def fail(sentence: str, code: int = ExitCode.USAGE) -> NoReturn:
    """End the command with a sentence and an exit code.

    Raises:
        CommandFailure: Always.
    """
    raise CommandFailure(sentence, code)


def shown(line: str) -> str:
    """A line for a terminal: control characters other than tabs are escaped."""
    return escaped(line)


def shown_lines(text: str) -> str:
    """Lines for a terminal; see `shown`."""
    return "\n".join(map(shown, text.split("\n")))


def fitted(text: str, taken: int = 0) -> str:
    """A text for the rest of a line: cut in the middle on a terminal, whole everywhere else.

    Args:
        text: Such as a long address.
        taken: Columns of the line that are used.
    """
    if not sys.stdout.isatty():
        return text
    return cut_middle(text, max(shutil.get_terminal_size().columns - taken, 20))


class _LogLines(logging.Formatter):
    """Lines of a log for a terminal; what repositories say may be in them."""

    def format(self, record: logging.LogRecord) -> str:
        return shown_lines(super().format(record))


def example(*lines: str) -> str:
    """The epilog of a command's help, with examples, one per line."""
    return "\b\nFor example:\n" + "\n".join(f"  {line}" for line in lines)


@contextlib.contextmanager
def open_silo(path: str, as_of: str = "") -> "Iterator[Silo]":
    """Open the existing Silo at a path, and close it at the end of the block.

    A command that made a list names the first record that cannot be read on stderr at the
    end, unless it has reported them itself.

    Args:
        as_of: A moment as which it is opened; see `recordsilo.silo_then.SiloThen`.
    """
    from recordsilo.silo import Silo  # slow to load, and not for help and completion
    from recordsilo.silo_then import SiloThen

    with SiloThen(path, as_of) if as_of else Silo(path, create=False) as silo:
        silo.tell_removals()
        try:
            yield silo
        except RecordNotFound as error:
            str(error)  # similar identifiers are looked for while the Silo is open
            raise
        if isinstance(silo, SiloThen) and (told := silo.told_unsure()):
            click.echo(shown(f"silo: {told}"), err=True)
        if problems := silo.unreported_problems():
            count, (_, first) = len(problems), problems[0]
            others = f", and {count - 1:,} more" if count > 1 else ""
            click.echo(f"silo: {first}{others}; see silo check {path}", err=True)


class _ReaderGone(Exception):
    """The program that read our output has ended, for example `head`."""


def _points() -> "Mapping[str, EntryPoint]":
    """The entry points of commands, by name."""
    return points(ENTRY_POINTS)


def _command(name: str) -> click.Command:
    """The command of an entry point; for a broken one, a command that says why."""
    try:
        found = load(_points()[name])
        if isinstance(found, click.Command):
            return found
        raise ContributionBroken(_points()[name], "it is not a click command")
    except ContributionBroken as error:
        return broken_command(name, error)


def broken_command(name: str, error: ContributionBroken) -> click.Command:
    """A replacement for a command that cannot be loaded, which says why.

    Args:
        name: The command's name.
    """
    sentence = str(error)
    return click.Command(
        name,
        callback=lambda **_given: fail(sentence),
        short_help="(cannot be loaded)",
        params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)],
        context_settings={"ignore_unknown_options": True},
    )


class Group(click.Group):
    """A group of commands that names what an unknown command probably means."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was typed."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            near = suggestions(args[0], self.list_commands(ctx))
            meant = " or ".join(f"'{ctx.command_path} {name}'" for name in near)
            ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {meant}?" if near else ""))
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and noticing_swaps(command), rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with the first sentence of each, which click would cut."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, one.get_short_help_str(1000)) for name, one in found if one]
        _write_rows(formatter, "Commands", rows)


class Commands(Group):
    """A group whose commands are entry points; one is loaded when it is called.

    Attributes:
        sections: The summaries of its commands. Help and completion load no command that has
            one.
    """

    def __init__(self, *args: Any, sections: Sections | None = None, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.sections: Sections = sections or {}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their groups, and those without a summary at the end."""
        others = dict.fromkeys(self.list_commands(ctx))
        for heading, summaries in self.sections.items():
            rows = [(name, text) for name, text in summaries.items() if name in others]
            others = {name: None for name in others if name not in summaries}
            _write_rows(formatter, heading, rows)
        rows = [(name, self._summary(ctx, name)) for name in others]
        _write_rows(formatter, "Other commands" if self.sections else "Commands", rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, with their summaries, and the options of the group."""
        found = [
            CompletionItem(name, help=self._summary(ctx, name))
            for name in self.list_commands(ctx)
            if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def _summary(self, ctx: click.Context, name: str) -> str:
        for summaries in self.sections.values():
            if name in summaries:
                return summaries[name]
        command = self.get_command(ctx, name)
        return command.get_short_help_str(LONGEST) if command else ""

    def _own_points(self) -> Mapping[str, str]:
        """The group's commands → the names of their entry points."""
        before = f"{self.name}."
        names = (name for name in _points() if name.startswith(before))
        return {name.removeprefix(before): name for name in names}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, sorted."""
        return sorted({*self._own_points(), *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        if cmd_name not in self.commands and (name := self._own_points().get(cmd_name)):
            self.add_command(_command(name), cmd_name)
        return super().get_command(ctx, cmd_name)


def _write_rows(formatter: click.HelpFormatter, heading: str, rows: list[tuple[str, str]]) -> None:
    if rows:
        with formatter.section(heading):
            formatter.write_dl(rows)


class _AllCommands(Commands):
    """The group ``silo``."""

    def _own_points(self) -> Mapping[str, str]:
        return {name: name for name in _points() if "." not in name}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command, with the sub-commands that other packages add to it."""
        is_new = cmd_name not in self.commands
        command = super().get_command(ctx, cmd_name)
        if is_new and isinstance(command, click.Group) and not isinstance(command, Commands):
            for name in _points():
                parent, _, child = name.partition(".")
                if child and parent == cmd_name:
                    command.add_command(_command(name), child)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click itself would turn a broken pipe into exit code 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderGone from error
        except click.BadParameter as error:
            if told := said_of_path(error):
                raise CommandFailure(told) from None
            if not (meant := _meant(error)):
                raise
            said = f"{error.message}{meant}"
            raise click.BadParameter(said, error.ctx, error.param, error.param_hint) from None


def _meant(error: click.BadParameter) -> str:
    """What was probably meant by a value that is none of those to choose from."""
    kind = error.param.type if error.param else None
    if not isinstance(kind, click.Choice):
        return ""
    wrong = error.message.partition(" is not ")[0].strip("'")
    near = " or ".join(map(repr, nearest(wrong, map(str, kind.choices))))
    return f" Did you mean {near}?" if near else ""


_HELP = """Harvest records, store them as plain files, curate them, and export them.

A DIR is a Silo: a directory of records with their versions. An ID is a record's
identifier, in full, short (oai:eprints.example.org:6102 → 6102), or as its web
page's address has it; or its DOI, or the address of its page at the source.
Times are in UTC.

\b
Exit codes:
      0  complete
      1  finished with losses, which the output names
      2  wrong input
      3  the repository, or the target of an export, cannot be used
      4  the target of an export differs from what was exported
      5  files changed by others were not replaced
     75  stopped early, by SIGTERM or a full disk; the same command continues
    130  interrupted; the same command continues
"""


@click.group(
    cls=_AllCommands,
    help=_HELP,
    sections=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name=NAME, prog_name="silo")
def silo_command() -> None:
    """See `_HELP`."""


def main() -> NoReturn:
    """Run `silo`; every error of a user or the system is one sentence on stderr and an exit code.

    SIGTERM interrupts a command like Ctrl-C, but with the exit code for stopping early.
    """
    collect_rarely()
    _prepare_streams()
    handler = logging.StreamHandler()
    handler.setFormatter(_LogLines("silo: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    with _terminable() as terminated:
        code = _run()
    leave_rest()
    sys.exit(ExitCode.STOPPED if terminated and code == ExitCode.INTERRUPTED else code)


@contextlib.contextmanager
def _terminable() -> Iterator[list[int]]:
    """Let SIGTERM raise KeyboardInterrupt in the block; yields a list that SIGTERM fills."""
    terminated: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        terminated.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield terminated
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _prepare_streams() -> None:
    """Make every text printable: escape what cannot be encoded; replace closed streams.

    File names may contain undecodable bytes (PEP 383); in UTF-8 they are printed unchanged.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        is_utf8 = codecs.lookup(sys.stdout.encoding).name == "utf-8"
        sys.stdout.reconfigure(errors="surrogateescape" if is_utf8 else "backslashreplace")
    sys.stdout, sys.stderr = _prepared(sys.stdout), _prepared(sys.stderr)


_COMMANDS_OF_TERMINALS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
    r"|\x1b(?!\[\??[0-9;]*[A-HJKhlm])"  # those move, colour and erase: progress is shown by them
)


def printable(text: str) -> str:
    """A text with control characters and bidirectional overrides as ``\\u009b``.

    Terminals interpret them, and XML allows some of them in titles. The escapes do not change
    the meaning of JSON.
    """
    return _COMMANDS_OF_TERMINALS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class _TerminalOutput(io.TextIOWrapper):
    """A stream to a terminal, to which text is written as `printable`."""

    def write(self, text: str) -> int:
        super().write(printable(text))
        return len(text)


class _PipeOutput(io.TextIOWrapper):
    """A stream to a pipe; when its reader ends, the rest is discarded and the command goes on.

    Only a command that does nothing but print the Silo ends then. The output of any other is a
    by-product: a harvest whose messages go to ``head`` is not over when that has seen enough.
    """

    def write(self, text: str) -> int:
        """Write text, or discard it."""
        with self._discarding():
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is buffered, or discard it."""
        with self._discarding():
            super().flush()

    def close(self) -> None:
        """Flush; the stream below stays open, because the one that this replaced has it, too."""
        if not self.buffer.closed:
            self.flush()

    @contextlib.contextmanager
    def _discarding(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            context = click.get_current_context(silent=True)
            command = context.find_root().invoked_subcommand if context else None
            if self.fileno() == 1 and command in SECTIONS["Look"]:
                raise
            _discard(self)


def _prepared(stream: TextIO | None) -> TextIO:
    """A stream that escapes what terminals interpret, and outlasts the reader of a pipe."""
    if stream is None:
        return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8", errors="replace")
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    if stream.isatty():
        return _TerminalOutput(stream.buffer, stream.encoding, stream.errors, line_buffering=True)
    return _PipeOutput(
        stream.buffer, stream.encoding, stream.errors, line_buffering=stream.line_buffering
    )


def _discard(stream: TextIO) -> None:
    """Discard what is written to a stream from now on."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _has_no_reader(stream: TextIO) -> bool:
    """Whether a stream is a pipe whose reader has ended."""
    found = select.poll()
    found.register(stream.fileno(), 0)  # errors are told unasked
    return bool(found.poll(0))


def _run() -> int:
    try:
        result = silo_command.main(standalone_mode=False, prog_name="silo")
        sys.stdout.flush()
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("silo: interrupted", err=True)
        return ExitCode.INTERRUPTED
    except click.ClickException as error:
        if isinstance(error, CommandFailure) or is_only_help(error):
            error.show()
        else:
            click.echo(shown_lines(f"silo: {said_of(error)}"), err=True)
        return error.exit_code
    except (_ReaderGone, BrokenPipeError):
        if not _has_no_reader(sys.stdout):
            click.echo("silo: the other end of a connection was closed", err=True)
            return ExitCode.LOSSES
        _discard(sys.stdout)
        return ExitCode.OK
    except UnicodeEncodeError as error:
        what = error.object[error.start : error.end]
        click.echo(f"silo: {what!r} is not UTF-8; use UTF-8 text", err=True)
        return ExitCode.USAGE
    except (RecordSiloError, OSError, sqlite3.Error) as error:
        sentence, code = _told(error)
        click.echo(f"silo: {sentence}", err=True)
        return code
    return result if isinstance(result, int) else ExitCode.OK


_WRONG_PATHS = {
    errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP
}  # fmt: skip
"""The errors of a path that a user mistyped."""
_IN_SILO = {"pairtree_root", ".silo"}
"""Directories whose files users do not name: an error there is damage."""


def _full_disk(error: RecordSiloError | OSError | sqlite3.Error) -> str | None:
    """The sentence for a full disk, which names what could not be written; else None."""
    if not is_full_disk(error):
        return None
    named = error if getattr(error, "filename", None) else error.__cause__ or error
    path = str(getattr(named, "filename", None) or getattr(error, "path", None) or "")
    place = str(getattr(error, "silo", None) or _silo_of(path) or path)
    where = f"{place}: " if place else ""
    return f"{where}no space left on the disk; make room, then the same command continues"


def _silo_of(path: str) -> str:
    """The Silo's directory that a path is in; ``""`` if it is in none."""
    above = os.path.dirname(path)
    while above and not os.path.exists(f"{above}/{VERSION_FILE}"):
        above = os.path.dirname(above) if above != "/" else ""
    return above


def _told(error: RecordSiloError | OSError | sqlite3.Error) -> tuple[str, ExitCode]:
    """An error as a sentence, and its exit code."""
    if (full := _full_disk(error)) is not None:
        return full, ExitCode.STOPPED
    if isinstance(error, SiloGone) or isinstance(error.__cause__, SiloGone):
        return str(error), ExitCode.STOPPED
    if isinstance(error, RecordSiloError):
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno == errno.EROFS:
            return _told(cause)
        is_damage = isinstance(error, ManifestUnreadable | StateUnreadable | FileUnreadable)
        return str(error), ExitCode.LOSSES if is_damage else ExitCode.USAGE
    if isinstance(error, sqlite3.Error):  # of a ledger or journal, which use transactions
        return (
            f"a database of the Silo cannot be read or written ({error}); "
            "what was stored is kept, and the same command can be run again"
        ), ExitCode.LOSSES
    path = str(error.filename or "")
    silo_dir = _silo_of(path)
    if silo_dir and (refused := not_writable(silo_dir, error)) is not None:
        return str(refused), ExitCode.USAGE
    if isinstance(error, PermissionError):
        unread = os.path.exists(path) and not os.access(path, os.R_OK)
        return f"no permission to {'read' if unread else 'write to'} {path or 'it'}", ExitCode.USAGE
    is_of_user = path and error.errno in _WRONG_PATHS and not _IN_SILO & set(path.split(os.sep))
    where, sentence = f"{path}: " if path else "", str(error.strerror or error)
    if error.errno == errno.ENOENT and not os.path.isdir(parent := os.path.dirname(path) or "."):
        sentence = f"the directory {parent} does not exist; create it, or name another"
    return f"{where}{sentence}", ExitCode.USAGE if is_of_user else ExitCode.LOSSES
