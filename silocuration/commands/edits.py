"""The commands `silo rules`, `sheet`, `attach` and `bulk`; `review` has the others.

Exit codes: 0 done; 1 finished, but records were skipped, which the output names; 2 invalid
input; 5 an existing file was left as it is; 75 stopped early, and `silo bulk resume`
continues; 130 interrupted, likewise.
"""

import getpass
import shlex
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO

import click

from recordsilo import Silo
from recordsilo.cli import ExitCode, Group, example, fail, open_silo
from recordsilo.commands import completion
from recordsilo.commands.options import (
    OutputFile,
    RenamedOption,
    all_of,
    check_not_empty,
    directory,
    json_array,
    json_object,
    print_json,
    quiet_option,
    selecting,
    tell_none,
    why,
)
from recordsilo.disk.whole_file import as_text
from recordsilo.formats.known.dublin_core import ELEMENTS
from recordsilo.progress import counting
from recordsilo.selection import Selection
from recordsilo.wording import counted
from silocuration.batch.attach import MAX_BYTES, Attachment
from silocuration.batch.exported_sheets import exported_sheet
from silocuration.batch.job import (
    JobReport,
    Sample,
    create_job,
    job_report,
    job_reports,
    preview,
    run_job,
    undo_job,
)
from silocuration.batch.journal import CHANGED, Doing, job_ids
from silocuration.batch.planned import discard, is_discardable, is_undoable
from silocuration.batch.premis import PATH as PREMIS_PATH
from silocuration.batch.specs import JobSpec, attach_job, rules_job, sheet_job, summary
from silocuration.batch.spreadsheet import Column, read_csv, write_csv
from silocuration.commands.errors import sentences
from silocuration.editing.rule_files import load_rules, rule_names
from silocuration.errors import CurationError, PatternTooSlow, RecordTooSlow, RuleRefused

making_edits = all_of(
    why,
    click.option("--dry-run", is_flag=True, help="Preview only; change nothing."),
    json_object,
    quiet_option,
)
"""The options of a command that makes a batch edit, which `_carry_out` takes."""
everything = click.option("--all", "everything", is_flag=True, help="All records of the Silo.")


# -- rules ------------------------------------------------------------------------------


@click.group(cls=Group)
def rules() -> None:
    """Rules for many records, stored as TOML in the Silo's curation/rules."""


@rules.command("list", epilog=example("silo rules list myrepo"))
@directory
@json_array
def list_rules(*, silo_dir: str, as_json: bool) -> int:
    """List a Silo's rules: name, number of changes, whether kept, and title."""
    code = ExitCode.OK
    found: list[dict[str, Any]] = []
    with sentences(), open_silo(silo_dir) as silo:
        for name in rule_names(silo.path):
            try:
                rule_set = load_rules(silo.path, name)
            except CurationError as error:
                click.echo(f"silo: {error}", err=True)
                code = ExitCode.LOSSES
                continue
            about = {"name": name, "changes": len(rule_set.rules)}
            found.append({**about, "keep": rule_set.keep, "title": rule_set.title})
    if as_json:
        print_json(found)
        return code
    if not found and code is ExitCode.OK:
        tell_none("rules", "silo help curation says how to write one")
    for one in found:
        kept = "kept" if one["keep"] else "once"
        changes = counted(one["changes"], "change")
        click.echo(f"{one['name']}\t{changes}\t{kept}\t{one['title']}")
    return code


@rules.command(
    "test", epilog=example("silo rules test myrepo types", "silo rules test myrepo r.toml")
)
@directory
@click.argument("name", shell_complete=completion.among(rule_names))
@click.option("-n", "--samples", type=click.IntRange(0, 1000), default=5, show_default=True,
              help="Show this many changes.")  # fmt: skip
@json_object
@quiet_option
def test_rules(*, silo_dir: str, name: str, samples: int, as_json: bool, quiet: bool) -> int:
    """Show what a rule would do: how many records and values, with samples. Writes nothing.

    NAME is the name of a rule, or the path of a TOML file.
    """
    with sentences(), open_silo(silo_dir) as silo:
        return _show_preview(silo, _rules(silo, name), samples, as_json=as_json, quiet=quiet)


@rules.command("apply", epilog=example("silo rules apply myrepo types -m 'one spelling'"))
@directory
@click.argument("name", shell_complete=completion.among(rule_names))
@making_edits
def apply_rules(*, silo_dir: str, name: str, **how: Any) -> int:
    """Apply a rule to the working copies of the records it selects; can be undone.

    NAME is the name of a rule, or the path of a TOML file.
    """
    with sentences(), open_silo(silo_dir) as silo:
        return _carry_out(silo, _rules(silo, name), **how)


def _rules(silo: Silo, name: str) -> JobSpec:
    rule_set = load_rules(silo.path, name)
    rule_set.select.check(silo)
    check_not_empty(silo, rule_set.select)
    return rules_job(rule_set, name)


# -- spreadsheets -----------------------------------------------------------------------


@click.group(cls=Group)
def sheet() -> None:
    """Export records to a spreadsheet (CSV), and import it after editing."""


@sheet.command("export", epilog=example(
    "silo sheet export myrepo out.csv --filter year=2016",
    "silo sheet export myrepo out.csv --item 6102 --field title --field 'title[de]'",
))  # fmt: skip
@directory
@click.argument("file", type=OutputFile())
@selecting
@everything
@click.option("--field", "columns", multiple=True, metavar="FIELD",
              cls=RenamedOption, earlier=["--column"],
              shell_complete=completion.among(lambda _silo: ELEMENTS),
              help="Only this field, as title or title[en]; repeatable.")  # fmt: skip
@click.option("--on-conflict", type=click.Choice(["fail", "overwrite"]), default="fail",
              help="If FILE is not as last exported: leave it and fail, or overwrite it.",
              show_default=True)  # fmt: skip
@quiet_option
def export_sheet(
    *, silo_dir: str, file: str, select: Selection, everything: bool, columns: tuple[str, ...],
    on_conflict: str, quiet: bool,
) -> None:  # fmt: skip
    """Write records to a CSV file: one row each, one column per field and language.

    Several values in a cell are separated by ||. Do not change the columns identifier and
    mark; the import leaves rows and columns that you delete alone. A FILE that you edited
    is not replaced; - is standard output.
    """
    with sentences(), open_silo(silo_dir) as silo:
        _check_selected(silo, select, everything=everything)
        identifiers = select.find(silo)
        wanted = [Column.parse(one) for one in columns] or None
        quiet = quiet or file == "-"
        whole: AbstractContextManager[BinaryIO] = (
            nullcontext(sys.stdout.buffer)
            if file == "-"
            else exported_sheet(silo.path, file, overwrite=on_conflict == "overwrite")
        )
        with (
            counting("exporting", len(identifiers), quiet=quiet) as progress,
            whole as binary,
            as_text(binary, "utf-8-sig") as out,
        ):
            written = write_csv(silo, identifiers, out, wanted, progress=progress)
    if not quiet:
        left = len(identifiers) - written
        click.echo(
            f"{file}: {counted(written, 'record')}" + (f"; {left:,} have no fields" if left else "")
        )


@sheet.command("import", epilog=example(
    "silo sheet import myrepo out.csv --dry-run", "silo sheet import myrepo out.csv -m 'by Ada'"
))  # fmt: skip
@directory
@click.argument("file", type=click.File("rb"))
@making_edits
def import_sheet(*, silo_dir: str, file: Any, **how: Any) -> int:
    """Import an edited CSV file into the working copies of its records; can be undone.

    A record that has changed since the export is skipped if its row differs from it. A table of
    silo export csv is taken, too.
    """
    with sentences(), open_silo(silo_dir) as silo:
        spec = sheet_job(read_csv(file.read()), f"Spreadsheet {file.name}")
        return _carry_out(silo, spec, **how)


# -- files ------------------------------------------------------------------------------


@click.command(epilog=example(
    "silo attach myrepo licence.txt --filter year=2016 --as docs/licence.txt",
    "silo attach myrepo --premis --search 'pollinator networks'",
))  # fmt: skip
@directory
@click.argument("file", required=False, type=click.File("rb"))
@click.option("--as", "path", metavar="PATH", help="Its path in the version.")
@click.option("--premis", is_flag=True, help="PREMIS 3 from each record's version history.")
@selecting
@everything
@making_edits
def attach(
    *, silo_dir: str, file: Any, path: str | None, premis: bool, select: Selection,
    everything: bool, **how: Any,
) -> int:  # fmt: skip
    """Add a file to the working copy of each selected record; can be undone."""
    if (file is None) == (not premis):
        fail("give a FILE or --premis")
    content = None if file is None else file.read(MAX_BYTES + 1)
    name = path or (PREMIS_PATH if file is None else str(file.name).rpartition("/")[2])
    with sentences(), open_silo(silo_dir) as silo:
        _check_selected(silo, select, everything=everything)
        return _carry_out(silo, attach_job(select, Attachment(name, content)), **how)


# -- jobs -------------------------------------------------------------------------------


@click.group(cls=Group)
def bulk() -> None:
    """Batch edits: list, show, resume, undo."""


@bulk.command("list", epilog=example("silo bulk list myrepo"))
@directory
@json_array
def list_jobs(*, silo_dir: str, as_json: bool) -> None:
    """List the batch edits, newest first: id, progress, agent, title."""
    with sentences(), open_silo(silo_dir) as silo:
        reports = list(job_reports(silo))
    if as_json:
        print_json([report.to_json() for report in reports])
        return
    if not reports:
        tell_none("batch edits", "silo rules apply, silo sheet import and silo attach make some")
    for report in reports:
        about = report.about
        click.echo(f"{report.job_id}\t{_how_far(report)}\t{about['agent']}\t{about['title']}")


@bulk.command("show", epilog=example("silo bulk show myrepo 20261121T213000Z-0a1b2c"))
@directory
@click.argument("job", shell_complete=completion.among(job_ids))
@json_object
def show_job(*, silo_dir: str, job: str, as_json: bool) -> None:
    """Show what a batch edit did, and which records it skipped."""
    with sentences(), open_silo(silo_dir) as silo:
        _show(job_report(silo, job), as_json=as_json)


@bulk.command("resume", epilog=example("silo bulk resume myrepo 20261121T213000Z-0a1b2c"))
@directory
@click.argument("job", shell_complete=completion.among(job_ids))
@json_object
@quiet_option
def resume(*, silo_dir: str, job: str, as_json: bool, quiet: bool) -> int:
    """Continue a batch edit that was stopped."""
    with sentences(silo_dir, job), open_silo(silo_dir) as silo:
        return _run(silo, job, as_json=as_json, quiet=quiet)


@bulk.command("undo", epilog=example("silo bulk undo myrepo 20261121T213000Z-0a1b2c"))
@directory
@click.argument("job", shell_complete=completion.among(job_ids))
@click.option("--agent", default="", help="Name for the log (default: the user).")
@json_object
@quiet_option
def undo(*, silo_dir: str, job: str, agent: str, as_json: bool, quiet: bool) -> int:
    """Undo a batch edit. Records that have changed since are kept as they are, and named."""
    with sentences(silo_dir, job), open_silo(silo_dir) as silo:
        known = job_report(silo, job)
        if is_discardable(known.counts):
            delete = shlex.join(["silo", "bulk", "discard", silo_dir, job])
            fail(f"job {job} has changed nothing yet; {delete} deletes it")
        if not is_undoable(known.counts):
            return _nothing_to_undo(known, as_json=as_json)
        done = known.counts.get(Doing.DONE, 0)
        with counting("undoing", done, quiet=quiet) as progress:
            report = undo_job(silo, job, agent=agent or getpass.getuser(), progress=progress)
        return _finished(report, as_json=as_json, quiet=quiet, undone=True)


@bulk.command("discard", epilog=example("silo bulk discard myrepo 20261121T213000Z-0a1b2c"))
@directory
@click.argument("job", shell_complete=completion.among(job_ids))
def discard_job(*, silo_dir: str, job: str) -> None:
    """Delete a batch edit that was planned or stopped and has changed no record."""
    with sentences(), open_silo(silo_dir) as silo:
        if not discard(silo, job):
            counts = job_report(silo, job).counts
            if any(counts.get(state) for state in (Doing.BEGUN, *CHANGED) if state != Doing.UNDONE):
                undo_it = shlex.join(["silo", "bulk", "undo", silo_dir, job])
                fail(f"job {job} has changed records; {undo_it} undoes it")
            fail(f"job {job} is finished and stays in the list; it has nothing to undo")
    click.echo(f"job {job} discarded")


# -- shared -----------------------------------------------------------------------------


def _check_selected(silo: Silo, select: Selection, *, everything: bool) -> None:
    """End the command unless it selects records, or all of them."""
    if select.is_everything != everything:
        fail(
            "--all takes no other selection" if everything
            else "select records with --search, --filter, --set, --state, --since, --until, --item,"
            " --ids, or --all"
        )  # fmt: skip
    select.check(silo)
    check_not_empty(silo, select)


def _carry_out(
    silo: Silo, spec: JobSpec, *, agent: str, message: str, dry_run: bool, as_json: bool,
    quiet: bool,
) -> int:  # fmt: skip
    if dry_run:
        return _show_preview(silo, spec, 5, as_json=as_json, quiet=quiet)
    job = create_job(silo, spec, agent=agent or getpass.getuser(), message=message)
    with sentences(silo.storage_dir, job):
        return _run(silo, job, as_json=as_json, quiet=quiet)


def _run(silo: Silo, job: str, *, as_json: bool, quiet: bool) -> int:
    total = sum(job_report(silo, job).counts.values())
    try:
        with counting("changing", total, quiet=quiet) as progress:
            report = run_job(silo, job, progress=progress)
    except (PatternTooSlow, RecordTooSlow, RuleRefused) as error:
        if discard(silo, job):
            raise
        undo_it = shlex.join(["silo", "bulk", "undo", silo.storage_dir, job])
        fail(f"{error}; job {job} stopped there, and {undo_it} undoes its changes")
    _remark(report.about.get("remarks", ()))
    return _finished(report, as_json=as_json, quiet=quiet)


def _finished(report: JobReport, *, as_json: bool, quiet: bool, undone: bool = False) -> int:
    if as_json or not quiet:
        _show(report, as_json=as_json, undone=undone)
    elif not report.whole:
        click.echo(f"silo: job {report.job_id}: {_how_far(report)}", err=True)
    return ExitCode.OK if report.whole else ExitCode.LOSSES


def _nothing_to_undo(report: JobReport, *, as_json: bool) -> int:
    """Say why nothing is to do; nothing is written, and it is no mistake."""
    if as_json:
        print_json(report.to_json())
    undone = report.counts.get(Doing.UNDONE, 0)
    why = f"was undone already: {counted(undone, 'record')}" if undone else "changed no record"
    click.echo(f"silo: job {report.job_id} {why}; there is nothing to undo", err=True)
    return ExitCode.OK


def _remark(remarks: Iterable[str]) -> None:
    for one in remarks:
        click.echo(f"silo: {one}", err=True)


def _show(report: JobReport, *, as_json: bool, undone: bool = False) -> None:
    if as_json:
        print_json(report.to_json())
        return
    click.echo(f"job {report.job_id}: {_how_far(report)}")
    if what := summary(report.about, undone=undone):
        click.echo(what)
    if report.values:
        click.echo(f"{counted(report.values, 'value')} changed")
    for identifier, reason in (*report.skipped, *report.kept):
        click.echo(f"  {identifier} {reason}")


def _how_far(report: JobReport) -> str:
    counts = [f"{n:,} {state}" for state in Doing if (n := report.counts.get(state, 0))]
    return ", ".join(counts) or "no records"


def _show_preview(silo: Silo, spec: JobSpec, samples: int, *, as_json: bool, quiet: bool) -> int:
    """Print what a job would do; return the exit code that the job would have."""
    with counting("reading", quiet=quiet) as progress:
        found = preview(silo, spec, samples=samples, progress=progress)
    _remark(found.remarks)
    code = ExitCode.LOSSES if found.skipped else ExitCode.OK
    if as_json:
        print_json(found.to_json())
        return code
    click.echo(
        f"{counted(found.records, 'record')}, {found.changed:,} of them would be changed:"
        f" {counted(found.values, 'value')},"
        f" {counted(found.copies, 'new working copy', 'new working copies')}"
    )
    if found.deleted:
        click.echo(f"{found.deleted:,} deleted records left out")
    for reason, number in found.skipped.items():
        click.echo(f"{number:,} skipped: {reason}")
    for identifier, reason in found.passed_over:
        click.echo(f"  {identifier} {reason}")
    for sample in found.samples:
        click.echo(f"\n{sample.identifier}")
        _show_sample(sample)
    if found.samples and (more := found.changed - len(found.samples)):
        click.echo(f"\nand {more:,} more")
    return code


def _show_sample(sample: Sample) -> None:
    gone, come = set(sample.before) - set(sample.after), set(sample.after) - set(sample.before)
    for sign, values, some in (("-", sample.before, gone), ("+", sample.after, come)):
        for name, text, lang in (one for one in values if one in some or not (gone | come)):
            click.echo(f"  {sign} {Column(name, lang)}: {text}")
    if not (sample.before or sample.after):
        for path in sample.files:
            click.echo(f"  file: {path}")
    if sample.state is not None:
        click.echo(f"  state: {sample.state}")
