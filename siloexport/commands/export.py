"""`silo export …`: a command for each kind of target, and commands on an export."""

import os
from contextlib import AbstractContextManager
from typing import Any

import click
from click.shell_completion import CompletionItem

from recordsilo.cli import Commands, broken_command, open_silo
from recordsilo.command_table import Sections
from recordsilo.commands import completion
from recordsilo.commands.options import all_of, directory
from recordsilo.contributions import ContributionBroken
from siloexport.commands import options
from siloexport.commands.crosswalks import crosswalk
from siloexport.commands.kinds import TARGET_COMMANDS, TargetCommand, command_of
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


SECTIONS: Sections = {
    "Repositories": {
        "fedora": "export records with their versions to Fedora 6 or 7",
        "invenio": "deposit records in a repository on InvenioRDM",
        "sword": "deposit records by SWORD 2 in DSpace, EPrints and others",
        "dspace": "write item directories for DSpace's import",
        "dspace-zip": "write one zip of items for DSpace's import",
        "bulkrax": "write files with a table for Bulkrax (Hyrax, Hyku)",
        "workbench": "write files with a table for Islandora Workbench",
    },
    "Preservation": {
        "bag": "write a BagIt bag for each record",
        "ocfl": "write an OCFL storage root",
        "sip": "write a submission information package for each record",
        "wacz": "write what was crawled as a web archive",
    },
    "Files and tables": {
        "files": "write the files of records, a directory for each",
        "zip": "write metadata files as a zip",
        "rocrate": "write an RO-Crate for each record",
        "datacite": "write a DataCite document for each record",
        "csv": "write a CSV table, a row for each record",
        "jsonl": "write JSON, a line for each record",
        "parquet": "write a Parquet file, a row for each record",
        "sqlite": "write a database of records and their values",
        "links": "write all addresses in records",
    },
    "Look after an export": {
        "status": "show the records and runs of an export",
        "verify": "compare the target with what was exported there",
        "resume": "resume the last run",
        "rollback": "delete what a run created",
        "reconcile": "rebuild the ledger from the target",
        "crosswalk": "list, check and preview crosswalks",
    },
}


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


@click.group(cls=_Targets, sections=SECTIONS, help=_HELP)
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


_HELP_OF = {
    "resume": "Resume the last run to OUT with its options.",
    "status": "Show the records, unfinished deposits and runs in the ledger of OUT.",
    "verify": "Compare the content of OUT with what was exported there, byte for byte.",
    "reconcile": "Rebuild the ledger from the content of OUT, for example if curation/exports is"
    " lost.",
    "rollback": "Roll back a run: delete what it created in OUT, unless it was changed since.",
}


def _command_on_directory(one: TargetCommand) -> click.Command:
    run_id = click.argument("run_id", metavar="RUN", shell_complete=run_ids)

    @click.command(one.name, help=_HELP_OF[one.name], epilog=one.examples("", "myrepo out"))
    @directory
    @to_directory
    @all_of(*([run_id] if one.takes_run else []), *one.options)
    def command(silo_dir: str, out: str, **given: Any) -> int:
        with (
            open_silo(silo_dir) as silo,
            options.export_errors(),
            directory_target(out, silo.path) as target,
        ):
            return one.do(silo, target, given)

    return command


for _one in TARGET_COMMANDS:
    if _one.name in _HELP_OF:
        export.add_command(_command_on_directory(_one))
export.add_command(crosswalk)
commands: list[click.Command] = [export]
