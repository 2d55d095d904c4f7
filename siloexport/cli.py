"""`silo export …`: one command for each target, and what can be asked of an export."""

import os
from typing import Any

import click

from recordsilo import Silo
from recordsilo.cli import example, fail, open_silo
from recordsilo.commands.options import as_json, directory, selecting
from siloexport import options
from siloexport.engine import Export
from siloexport.errors import TargetUnusable
from siloexport.fedora_cli import fedora
from siloexport.plan import Versions
from siloexport.running import run_to, share, shown_of
from siloexport.showing import (
    show_reconciliation,
    show_rollback,
    show_run,
    show_status,
    show_verification,
)
from siloexport.tables_cli import table_commands
from siloexport.targets.bag import BagTarget
from siloexport.targets.bag_settings import read_settings
from siloexport.targets.directory import DirectoryTarget, marked, read_marker
from siloexport.targets.files import FilesTarget

_HELP = """Export records out of a Silo: to Fedora, files, bags, tables, a zip, a list of links.

\b
Exit codes beyond those of every command:
      4  what is in the target is not what was exported
      5  all is done but for what others changed in the target
"""


@click.group(help=_HELP)
def export() -> None:
    """See `_HELP`."""


to_directory = click.argument("out", metavar="OUT")


@export.command(
    epilog=example(
        "silo export files myrepo out",
        "silo export files myrepo out --set 7374617475733D707562",
        "silo export files myrepo out --item 6102 --item 6103",
        "silo export files myrepo out --state ready --dry-run",
        "silo export files myrepo out --search 'creator:adeyemi' --versions all",
    )
)
@directory
@to_directory
@selecting
@options.what_goes
@options.how_run
@options.jobs
@options.showing
def files(silo_dir: str, out: str, **given: Any) -> int:
    """Write records as plain files: a directory for each in OUT, named by its identifier.

    Metadata is written as it was harvested (oai_dc) and as a document of its own
    (oai_dc.xml). With --versions curated or all, each version has a directory. Run
    again, it writes what changed; what others changed in OUT is left alone, and named.
    """
    return _run(silo_dir, FilesTarget(out, Versions(given["versions"])), given)


@export.command(
    epilog=example(
        "silo export bag myrepo bags --versions all",
        "silo export bag myrepo bags --state ready --jobs 2",
        "silo export bag myrepo bags --info bag-info.txt --profile profile.json",
    )
)
@directory
@to_directory
@selecting
@options.what_goes
@options.how_run
@options.jobs
@options.showing
@click.option(
    "--info",
    metavar="FILE",
    help="Fields for every bag-info.txt, as Source-Organization: …; a line each.",
)
@click.option("--profile", metavar="FILE.json", help="The BagIt profile that the bags shall meet.")
def bag(silo_dir: str, out: str, info: str | None, profile: str | None, **given: Any) -> int:
    """Write records as BagIt bags: a tar file for each in OUT, with all chosen versions.

    The same versions make the same bytes on the same day. Fields and a profile hold for
    all later exports to OUT, until others are given.
    """
    with options.told():
        settings = read_settings(info, profile)
    return _run(silo_dir, BagTarget(out, settings), given)


def _run(silo_dir: str, target: DirectoryTarget, given: dict[str, Any]) -> int:
    with open_silo(silo_dir) as silo, options.told():
        _check_outside(silo, target.shown)
        return run_to(silo, target, given)


def _check_outside(silo: Silo, out: str) -> None:
    if f"{os.path.abspath(out)}/".startswith(f"{silo.path}/"):
        fail(f"{out} is within the Silo {silo.storage_dir}; name a directory outside of it")


# -- what can be asked of an export ------------------------------------------------------


def directory_target(out: str) -> DirectoryTarget:
    """The target that a directory of exported records is, as its marker says.

    Raises:
        TargetUnusable: It is none.
    """
    marker = read_marker(out)
    if not marker:
        raise TargetUnusable(f"{out} is no directory that something was exported to")
    form = marked(marker, "form")
    if form.startswith("bag"):
        return BagTarget(out)
    by_version = form == "files by version"
    return FilesTarget(out, Versions.ALL if by_version else Versions.CURRENT)


@export.command(epilog=example("silo export resume myrepo out"))
@directory
@to_directory
@options.jobs
@options.showing
def resume(silo_dir: str, out: str, **given: Any) -> int:
    """Go on with the last run to OUT, as it was asked for."""
    with open_silo(silo_dir) as silo, options.told():
        export = Export(silo, directory_target(out))
        return show_run(
            shown_of(given),
            lambda watch, stop: export.resume(jobs=given["jobs"], watch=watch, stop=stop),
        )


@export.command(epilog=example("silo export status myrepo out"))
@directory
@to_directory
@as_json
def status(silo_dir: str, out: str, **given: Any) -> None:
    """Say what the ledger has of OUT: records, unfinished deposits, runs."""
    with open_silo(silo_dir) as silo, options.told():
        show_status(Export(silo, directory_target(out)), shown_of(given))


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
    """Compare what is in OUT with what was exported there, byte for byte."""
    with open_silo(silo_dir) as silo, options.told():
        export = Export(silo, directory_target(out))
        part, shown = share(given["sample"]), shown_of(given)
        return show_verification(export, given["select"], part, shown, jobs=given["jobs"])


@export.command(epilog=example("silo export reconcile myrepo out"))
@directory
@to_directory
@selecting
@options.jobs
@as_json
def reconcile(silo_dir: str, out: str, **given: Any) -> int:
    """Rebuild the ledger from what is in OUT, as after the loss of the Silo's curation/exports."""
    with open_silo(silo_dir) as silo, options.told():
        export = Export(silo, directory_target(out))
        return show_reconciliation(export, given["select"], shown_of(given), jobs=given["jobs"])


@export.command(epilog=example("silo export rollback myrepo out 20260301T101500Z-0a1b2c"))
@directory
@to_directory
@click.argument("run_id", metavar="RUN")
@options.purge
@as_json
def rollback(silo_dir: str, out: str, run_id: str, purge: bool, **given: Any) -> int:
    """Take back what a run created in OUT; nothing else, and nothing changed since."""
    with open_silo(silo_dir) as silo, options.told():
        export = Export(silo, directory_target(out))
        return show_rollback(export, run_id, shown_of(given), purge=purge)


export.add_command(fedora)
for _command in table_commands:
    export.add_command(_command)

commands: list[click.Command] = [export]
