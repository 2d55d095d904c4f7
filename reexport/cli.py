"""`silo export …`: one command for each target."""

import json
import os

import click

from recordsilo.cli import ExitCode, example, fail, open_silo
from recordsilo.options import in_state
from recordsilo.progress import counting
from reexport.engine import Report, Selection
from reexport.engine import export as run_export
from reexport.errors import TargetUnusable
from reexport.package import Outcome
from reexport.targets.files import FilesTarget


@click.group()
def export() -> None:
    """Export the current versions of records out of a Silo."""


@export.command(
    epilog=example(
        "silo export files myrepo out",
        "silo export files myrepo out --set 7374617475733D707562",
        "silo export files myrepo out --item 6102 --item 6103",
        "silo export files myrepo out --state ready",
    )
)
@click.argument("silo_dir", metavar="DIR")
@click.argument("out", metavar="OUT")
@click.option("--set", "set_spec", metavar="SPEC", help="Only records of a set, or below it.")
@click.option("--item", "items", metavar="ID", multiple=True, help="Only this record; repeatable.")
@in_state
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress, and a report only of losses.")
def files(
    *,
    silo_dir: str,
    out: str,
    set_spec: str | None,
    items: tuple[str, ...],
    state: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Write records as plain files: a directory for each in OUT, named by its identifier.

    Metadata is written as it was harvested (oai_dc) and as a document of its own
    (oai_dc.xml). Records deleted at the source are left out. Run again, it writes
    what changed, also over what was changed by hand in OUT.
    """
    if set_spec and items:
        fail("give --set or --item, not both")
    with open_silo(silo_dir) as silo:
        selection = Selection(set_spec, tuple(silo.resolve(item) for item in items), state)
        total = selection.total(silo)
        if not total:
            named = {"set": set_spec, "state": state}
            by = " and ".join(f"{kind} {value}" for kind, value in named.items() if value)
            fail(f"no record of {silo_dir} is selected" + (f" by {by}" if by else ""))
        if os.path.abspath(out).startswith(silo.path + "/") or os.path.abspath(out) == silo.path:
            fail(f"{out} is within the Silo {silo_dir}; name a directory outside of it")
        try:
            with counting("exporting", total, quiet=quiet) as show_progress:
                report = run_export(silo, FilesTarget(out), selection, show_progress)
        except TargetUnusable as error:
            fail(str(error), ExitCode.ENDPOINT)
        except KeyboardInterrupt:
            fail("interrupted; the same command goes on", ExitCode.INTERRUPTED)
    if as_json:
        click.echo(json.dumps(report.to_json(), ensure_ascii=False, indent=1))
    elif not quiet or not report.whole:
        _print(report, out)
    return ExitCode.OK if report.whole else ExitCode.LOSSES


def _print(report: Report, out: str) -> None:
    counts = ", ".join(f"{report.outcomes[outcome]:,} {outcome.value}" for outcome in Outcome)
    click.echo(f"{out}: {counts}; {report.deleted:,} deleted at the source left out")
    for identifier in report.still_there:
        click.echo(f"  {identifier} is deleted at the source; an earlier export of it is there")
    for reason in report.failed.values():
        click.echo(f"silo: not exported: {reason}", err=True)


commands: list[click.Command] = [export]
