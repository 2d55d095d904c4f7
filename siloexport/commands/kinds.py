"""The commands `silo export NAME`, each made from a kind of target.

A kind that is a file or a directory has one command. Any other has a group of commands, because
each of them needs the fields that say where the target is.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import click

from recordsilo import Silo
from recordsilo.cli import ExitCode, example, fail, open_silo
from recordsilo.commands import completion
from recordsilo.commands.options import (
    all_of,
    as_of_option,
    check_not_empty,
    directory,
    json_object,
    quiet_option,
    selecting,
)
from recordsilo.progress import counting
from recordsilo.wording import counted
from siloexport.commands import options
from siloexport.commands.output import (
    show_reconciliation,
    show_rollback,
    show_run,
    show_status,
    show_verification,
)
from siloexport.commands.runs import run_to, runs_of_kind, share, shown_of
from siloexport.engine.export import Export
from siloexport.plan import Versions
from siloexport.target_kinds import FieldAvailability, FormField, Opening, TargetKind, checked
from siloexport.targets import Target, tables
from siloexport.values import OnConflict
from silowork.errors import JobsError
from silowork.forms import Input

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_RUN = "20260301T101500Z-0a1b2c"


def command_of(kind: TargetKind) -> click.Command:
    """Return the command of a kind, or its group of commands."""
    if kind.write is not None:
        return _file_command(kind)
    return _directory_command(kind) if kind.is_directory else _place_group(kind)


def _option(field: FormField) -> Callable[[Any], Any]:
    if field.is_argument:
        return click.argument(field.name, metavar=field.metavar)
    choices = [value for value, _label in field.choices if value]
    if field.input is Input.TICK:
        return click.option(field.flag, field.name, is_flag=True, flag_value="yes", help=field.help)
    return click.option(
        field.flag,
        field.name,
        type=click.Choice(choices) if choices else str,
        metavar=field.metavar or ("NUMBER" if field.input is Input.NUMBER else None),
        multiple=field.input is Input.TEXTS,
        required=field.required,
        default=None if field.input is Input.TEXTS else field.default or None,
        show_default=field.input is not Input.TEXTS and bool(field.default),
        help=field.help,
        shell_complete=None if choices else completion.among(_completed(field), JobsError),
    )


def _completed(field: FormField) -> Callable[[str], Iterable[str]]:
    """What the TAB key offers for a field, from the Silo's directory."""
    if field.completed is not None:
        return field.completed
    of_silo = field.choices_of or (lambda _silo_path: ())
    return lambda silo_path: [value for value, _label in of_silo(silo_path)]


def _fields(kind: TargetKind) -> Callable[[Any], Any]:
    return all_of(*map(_option, kind.asked(FieldAvailability.COMMAND)))


def _taken(kind: TargetKind, given: dict[str, Any], silo_path: str) -> dict[str, Any]:
    """Remove the values of the kind's fields from the options of a command, and return them."""
    own = {one.name: given.pop(one.name) for one in kind.asked(FieldAvailability.COMMAND)}
    return checked(kind, own, silo_path, FieldAvailability.COMMAND)


# -- one file ----------------------------------------------------------------------------


def _file_command(kind: TargetKind) -> click.Command:
    @click.command(kind.name, help=kind.help, epilog=example(*kind.examples))
    @directory
    @click.argument("out", metavar="[OUT]", default="-", shell_complete=completion.files)
    @selecting
    @as_of_option
    @options.replace_file
    @_fields(kind)
    @quiet_option
    def command(silo_dir: str, out: str, **given: Any) -> int:
        with options.export_errors():
            values = _taken(kind, given, silo_dir)
        return _write(kind, silo_dir, out, values, given)

    return command


def _write(
    kind: TargetKind, silo_dir: str, out: str, values: dict[str, Any], given: dict[str, Any]
) -> int:
    assert kind.write is not None
    selection = given["select"]
    is_text = kind.media_type.startswith("text/") or kind.media_type.endswith("jsonl")
    if out == "-" and not is_text and sys.stdout.isatty():
        fail(f"{kind.name} is binary, which a terminal cannot show; name a file, or use a pipe")
    with open_silo(silo_dir, selection.as_of) as silo, options.export_errors():
        if out != "-":
            _check_outside(silo, out)
        check_not_empty(silo, selection)
        total = selection.total(silo)
        quiet = given["quiet"] or out == "-"
        on_conflict = OnConflict(given["on_conflict"])
        with (
            _opened(silo.path, out, on_conflict, kind.name) as file,
            counting("exporting", total, quiet=quiet) as progress,
        ):
            report = kind.write(silo, selection, file, values, progress)
    for note in report.notes:
        click.echo(f"silo: {note}", err=True)
    for identifier, why in report.failed.items():
        click.echo(f"silo: {identifier} was left out: {why}", err=True)
    if not quiet:
        rows = counted(report.rows, kind.unit.removesuffix("s"), kind.unit)
        click.echo(
            f"{out}: {rows} of {counted(report.records, 'record')}; "
            f"{report.deleted:,} deleted at the source left out"
            + (f", {report.empty:,} with nothing to export" if report.empty else "")
        )
    return ExitCode.LOSSES if report.failed else ExitCode.OK


@contextmanager
def _opened(silo_path: str, out: str, on_conflict: OnConflict, form: str) -> Iterator[BinaryIO]:
    if out == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with tables.exported_file(silo_path, out, on_conflict, form=form) as file:
            yield file


# -- a directory -------------------------------------------------------------------------


def _directory_command(kind: TargetKind) -> click.Command:
    assert kind.open is not None
    opened = kind.open

    @click.command(kind.name, help=kind.help, epilog=example(*kind.examples))
    @directory
    @click.argument("out", metavar="OUT", shell_complete=completion.directories)
    @selecting
    @as_of_option
    @options.which_versions(kind.versions)
    @options.what_goes
    @options.how_run
    @options.jobs
    @options.showing
    @_fields(kind)
    def command(silo_dir: str, out: str, **given: Any) -> int:
        with options.export_errors():
            values = _taken(kind, given, silo_dir)
        as_of = given["select"].as_of
        with open_silo(silo_dir, as_of) as silo, options.export_errors():
            _check_outside(silo, out)
            opening = Opening(silo.path, values, out, Versions(given["versions"]))
            with opened(opening) as target:
                return run_to(silo, target, given)

    return command


def _check_outside(silo: Silo, out: str) -> None:
    if _ADDRESS.match(out):
        fail(
            f"{out} is an address, and this kind of export is written on this machine; name a "
            "directory or file here, and copy it there afterwards"
        )
    if f"{os.path.realpath(out)}/".startswith(f"{os.path.realpath(silo.path)}/"):
        fail(f"{out} is inside the Silo {silo.storage_dir}; choose a place outside it")


# -- a place -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TargetCommand:
    """A command on a target: of the group of a place, or on a directory.

    Attributes:
        help: ``{title}`` stands for the title of the kind.
        do: Gets the Silo, the open target and the options; returns the exit code.
        options: Beside the Silo's directory and the fields of the kind.
        ends: Of the command lines in its examples.
        takes_run: Whether its second argument is the id of a run.
    """

    name: str
    help: str
    do: Callable[[Silo, Target, dict[str, Any]], int]
    options: tuple[Callable[[Any], Any], ...] = ()
    ends: tuple[str, ...] = ("",)
    takes_run: bool = False

    def examples(self, group: str, place: str) -> str:
        """Return its examples, for the help.

        Args:
            group: Name of its group in `silo export`, and a space; or ``""``.
            place: The arguments and options before its own.
        """
        call = f"silo export {group}{self.name} {place}" + (f" {_RUN}" if self.takes_run else "")
        return example(*(f"{call} {end}".rstrip() for end in self.ends))


def _place_of(kind: TargetKind) -> str:
    """Return the arguments and options of an example that say where the target is."""
    fields = [one for one in kind.fields if one.required]
    given = [one.example if one.is_argument else f"{one.flag} {one.example}" for one in fields]
    return " ".join(["myrepo", *given])


def _plan(silo: Silo, target: Target, given: dict[str, Any]) -> int:
    return run_to(silo, target, {**given, "dry_run": True})


def _resume(silo: Silo, target: Target, given: dict[str, Any]) -> int:
    export = Export(silo, target)
    return show_run(
        shown_of(given),
        lambda watch, stop: export.resume(jobs=given["jobs"], watch=watch, stop=stop),
    )


def _status(silo: Silo, target: Target, given: dict[str, Any]) -> int:
    show_status(Export(silo, target), shown_of(given))
    return ExitCode.OK


def _verify(silo: Silo, target: Target, given: dict[str, Any]) -> int:
    part, shown = share(given["sample"]), shown_of(given)
    export = Export(silo, target)
    return show_verification(export, given["select"], part, shown, jobs=given["jobs"])


def _reconcile(silo: Silo, target: Target, given: dict[str, Any]) -> int:
    export = Export(silo, target)
    return show_reconciliation(export, given["select"], shown_of(given), jobs=given["jobs"])


def _rollback(silo: Silo, target: Target, given: dict[str, Any]) -> int:
    export = Export(silo, target)
    return show_rollback(export, given["run_id"], shown_of(given), purge=given["purge"])


TARGET_COMMANDS = (
    TargetCommand(
        "run",
        "Export new and changed records to {title}; earlier exports are kept.",
        run_to,
        (
            selecting, as_of_option, options.which_versions(Versions.CURRENT), options.what_goes,
            options.how_run, options.jobs, options.showing,
        ),
        ("", "--versions all --jobs 4", "--state ready --report actions.jsonl"),
    ),
    TargetCommand(
        "plan",
        "Print what a run would do, and write nothing to {title} or the Silo.\n\n"
        "{title} is asked about each record that would be written.",
        _plan,
        (
            selecting, as_of_option, options.which_versions(Versions.CURRENT), options.what_goes,
            options.on_conflict, options.limit, options.jobs, options.showing,
        ),
        ("--versions all",),
    ),
    TargetCommand(
        "resume",
        "Resume the last run to this {title} with its options.",
        _resume,
        (options.jobs, options.showing),
    ),
    TargetCommand(
        "status",
        "Show the records, unfinished deposits and runs in the ledger of this {title}.",
        _status,
        (json_object,),
    ),
    TargetCommand(
        "verify",
        "Compare what {title} holds with the Silo: digests, descriptions, versions.",
        _verify,
        (selecting, options.sample, options.jobs, options.showing),
        ("--jobs 4", "--sample 5% --report differences.jsonl"),
    ),
    TargetCommand(
        "reconcile",
        "Rebuild the ledger from what {title} says it holds.",
        _reconcile,
        (selecting, options.jobs, json_object),
    ),
    TargetCommand(
        "rollback",
        "Roll back a run: delete what it created; with --purge, the tombstones too.",
        _rollback,
        (options.purge, json_object),
        takes_run=True,
    ),
)  # fmt: skip


class _PlaceGroup(click.Group):
    """The commands of a place; without the name of one, the first argument is that of ``run``."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Take anything but an option or the name of a command for the Silo of ``run``."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["run", *args]
        return super().resolve_command(ctx, args)


def _place_group(kind: TargetKind) -> click.Group:
    commands = [_place_command(kind, one) for one in TARGET_COMMANDS]
    has_address = any(one.is_argument for one in kind.fields)
    group = _PlaceGroup if has_address else click.Group
    epilog = example(*kind.examples) if kind.examples else None
    return group(kind.name, commands, help=kind.help, epilog=epilog)


def _place_command(kind: TargetKind, one: TargetCommand) -> click.Command:
    assert kind.open is not None
    open_target = kind.open
    run_id = click.argument("run_id", metavar="RUN", shell_complete=runs_of_kind(f"{kind.name} "))

    @click.command(
        one.name,
        help=one.help.format(title=kind.title),
        epilog=one.examples(f"{kind.name} ", _place_of(kind)),
    )
    @directory
    @all_of(_fields(kind), *([run_id] if one.takes_run else []), *one.options)
    def command(silo_dir: str, **given: Any) -> int:
        as_of = given["select"].as_of if "select" in given else ""
        with open_silo(silo_dir, as_of) as silo, options.export_errors():
            values = _taken(kind, given, silo.path)
            versions = Versions(given.get("versions") or Versions.CURRENT)
            with open_target(Opening(silo.path, values, versions=versions)) as target:
                return one.do(silo, target, given)

    return command
