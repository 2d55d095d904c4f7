"""`silo export …`: a command for each kind of target, and commands on an export."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import click
from click.shell_completion import CompletionItem

from recordsilo import Silo
from recordsilo.cli import Commands, broken_command, example, open_silo
from recordsilo.commands import completion
from recordsilo.commands.options import directory, json_object, selecting
from recordsilo.contributions import ContributionBroken
from siloexport.commands import options
from siloexport.commands.crosswalks import crosswalk
from siloexport.commands.kinds import command_of
from siloexport.commands.output import (
    show_reconciliation,
    show_rollback,
    show_run,
    show_status,
    show_verification,
)
from siloexport.commands.runs import share, shown_of
from siloexport.engine.export import Export
from siloexport.errors import TargetUnusable
from siloexport.ledger import ledger_path
from siloexport.plan import Versions
from siloexport.target_kinds import Opening, kind_named, kind_names, kinds
from siloexport.targets import Target
from siloexport.targets.directory import marked, read_marker

_HELP = """Export records out of a Silo: to Fedora, files, bags, tables, a zip, a list of links.

\b
Exit codes beyond those of every command:
      4  the target differs from what was exported
      5  records that others changed in the target were not written
"""


class _Targets(Commands):
    """The group of a command for each kind of target, and of commands on an export."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, sorted."""
        return sorted({*super().list_commands(ctx), *kind_names()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Make the command of a kind of target when it is called."""
        if cmd_name not in self.commands and cmd_name in kind_names():
            try:
                self.add_command(command_of(kind_named(cmd_name)))
            except ContributionBroken as error:
                self.add_command(broken_command(cmd_name, error))
        return super().get_command(ctx, cmd_name)


@click.group(cls=_Targets, help=_HELP)
def export() -> None:
    """See `_HELP`."""


def run_ids(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Complete the ID of a run to the directory OUT; the newest come first."""
    try:
        key = marked(read_marker(str(ctx.params.get("out") or "")), "export")
    except (TargetUnusable, OSError, ValueError):
        return []
    sql = "SELECT id FROM run ORDER BY number DESC"
    return completion.offered(completion.names_in(ctx, (ledger_path("", key),), sql), typed)


to_directory = click.argument("out", metavar="OUT", shell_complete=completion.directories)


# -- commands on an export --------------------------------------------------------------


def directory_target(out: str, silo_path: str = "") -> AbstractContextManager[Target]:
    """Open the target in a directory of exported records, by its marker.

    Args:
        out: The directory.
        silo_path: The Silo's directory.

    Raises:
        TargetUnusable: The directory does not hold an export, or no package has its form.
    """
    if os.path.isfile(out):
        raise TargetUnusable(
            f"{out} is one file, which an export writes whole each time; only exports into a "
            "directory or a repository have a status and are verified"
        )
    marker = read_marker(out)
    if not marker:
        raise TargetUnusable(f"{out} does not hold an earlier export; name a directory that does")
    form = marked(marker, "form")
    kind = next((one for one in kinds() if one.is_directory and form.startswith(one.name)), None)
    if kind is None or kind.open is None:
        raise TargetUnusable(f"no installed package supports the form of {out}: {form}")
    versions = Versions.ALL if form.endswith(" by version") else Versions.CURRENT
    return kind.open(Opening(silo_path, {}, out, versions))


@contextmanager
def _opened(silo_dir: str, out: str) -> Iterator[tuple[Silo, Target]]:
    with (
        open_silo(silo_dir) as silo,
        options.export_errors(),
        directory_target(out, silo.path) as target,
    ):
        yield silo, target


@export.command(epilog=example("silo export resume myrepo out"))
@directory
@to_directory
@options.jobs
@options.showing
def resume(silo_dir: str, out: str, **given: Any) -> int:
    """Resume the last run to OUT with its options."""
    with _opened(silo_dir, out) as (silo, target):
        export = Export(silo, target)
        return show_run(
            shown_of(given),
            lambda watch, stop: export.resume(jobs=given["jobs"], watch=watch, stop=stop),
        )


@export.command(epilog=example("silo export status myrepo out"))
@directory
@to_directory
@json_object
def status(silo_dir: str, out: str, **given: Any) -> None:
    """Show the records, unfinished deposits and runs in the ledger of OUT."""
    with _opened(silo_dir, out) as (silo, target):
        show_status(Export(silo, target), shown_of(given))


@export.command(
    epilog=example("silo export verify myrepo out", "silo export verify myrepo out --sample 5%")
)
@directory
@to_directory
@selecting
@options.sample
@options.jobs
@options.showing
def verify(silo_dir: str, out: str, **given: Any) -> int:
    """Compare the content of OUT with what was exported there, byte for byte."""
    with _opened(silo_dir, out) as (silo, target):
        export = Export(silo, target)
        part, shown = share(given["sample"]), shown_of(given)
        return show_verification(export, given["select"], part, shown, jobs=given["jobs"])


@export.command(epilog=example("silo export reconcile myrepo out"))
@directory
@to_directory
@selecting
@options.jobs
@json_object
def reconcile(silo_dir: str, out: str, **given: Any) -> int:
    """Rebuild the ledger from the content of OUT, for example if curation/exports is lost."""
    with _opened(silo_dir, out) as (silo, target):
        export = Export(silo, target)
        return show_reconciliation(export, given["select"], shown_of(given), jobs=given["jobs"])


@export.command(epilog=example("silo export rollback myrepo out 20260301T101500Z-0a1b2c"))
@directory
@to_directory
@click.argument("run_id", metavar="RUN", shell_complete=run_ids)
@options.purge
@json_object
def rollback(silo_dir: str, out: str, run_id: str, purge: bool, **given: Any) -> int:
    """Roll back a run: delete what it created in OUT, unless it was changed since."""
    with _opened(silo_dir, out) as (silo, target):
        export = Export(silo, target)
        return show_rollback(export, run_id, shown_of(given), purge=purge)


export.add_command(crosswalk)
commands: list[click.Command] = [export]
