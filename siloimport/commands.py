"""`silo import …`: records out of what others keep."""

import os

import click

from infopackages.ocfl.inventory import OcflError
from infopackages.ocfl.reading import check_root
from recordsilo import Silo
from recordsilo.cli import ExitCode, Group, example, fail
from recordsilo.commands import completion
from recordsilo.commands.options import quiet_option
from recordsilo.progress import counting
from recordsilo.wording import counted
from siloimport.errors import ImportProblem
from siloimport.ocfl import records_of
from siloimport.writing import ImportReport, distinct, write_records


@click.group(cls=Group, name="import")
def import_group() -> None:
    """Import records into a Silo, new or existing."""


@import_group.command(epilog=example("silo import ocfl ocfl myrepo"))
@click.argument("root", metavar="ROOT", shell_complete=completion.directories)
@click.argument("silo_dir", metavar="DIR", shell_complete=completion.directories)
@quiet_option
def ocfl(root: str, silo_dir: str, quiet: bool) -> int:
    """Import the objects of a storage root (OCFL 1.1) as records.

    Objects of silo export ocfl come back as they were: files, versions, dates, states. Any
    other object becomes a record with its versions (v1, v2, …). Records that exist are never
    changed.
    """
    try:
        check_root(root)
    except OcflError as error:
        fail(f"{root}: {error}")
    _check_apart(root, silo_dir)
    report = ImportReport()
    with (
        Silo(silo_dir) as silo,
        counting("importing", None, quiet=quiet) as progress,
    ):

        def show() -> None:
            progress(report.records + report.unchanged + len(report.failed))

        try:
            write_records(silo, distinct(records_of(root, report), report), report, show)
        except ImportProblem as error:
            fail(str(error), ExitCode.LOSSES)
    for name, why in report.failed.items():
        click.echo(f"silo: {name} was not imported: {why}", err=True)
    if not quiet:
        click.echo(
            f"{silo_dir}: {counted(report.records, 'record')} with"
            f" {counted(report.versions, 'version')} imported, {report.unchanged:,} unchanged,"
            f" {len(report.failed):,} not imported"
        )
    return ExitCode.LOSSES if report.failed else ExitCode.OK


def _check_apart(root: str, silo_dir: str) -> None:
    one, other = (f"{os.path.realpath(path)}/" for path in (root, silo_dir))
    if one.startswith(other) or other.startswith(one):
        fail(f"{silo_dir} and {root} are one inside the other; choose another directory")


commands: list[click.Command] = [import_group]
