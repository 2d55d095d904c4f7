"""`silo export csv|jsonl|links|zip`: one file for a whole selection."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import click

from recordsilo import Silo
from recordsilo.cli import ExitCode, example, open_silo
from recordsilo.commands.options import directory, selecting
from recordsilo.disk.whole_file import as_text
from recordsilo.progress import counting
from recordsilo.selection import Selection
from siloexport import options
from siloexport.plan import Versions
from siloexport.targets import tables
from siloexport.targets.tables import TableReport
from siloexport.values import OnConflict

Progress = Callable[[int], None]
Write = Callable[[Silo, Selection, BinaryIO, Progress], TableReport]

to_file = click.argument("out", metavar="OUT", default="-")
fields = click.option(
    "--field",
    "columns",
    metavar="FIELD",
    multiple=True,
    help=f"A column; repeatable. Of: {', '.join(tables.FIELDS)}, "
    "and those that packages contribute.",
)


@click.command(
    "csv",
    epilog=example(
        "silo export csv myrepo table.csv",
        "silo export csv myrepo --search 'year:2016' --field record --field dc:title > titles.csv",
    ),
)
@directory
@to_file
@selecting
@options.replace_file
@fields
@options.quiet
def to_csv(silo_dir: str, out: str, **given: Any) -> int:
    """Write a table of descriptions: a row for each record, to OUT or to the standard output."""
    return _table(silo_dir, out, given, tables.write_csv, tables.CSV_ENCODING)


@click.command(
    epilog=example("silo export jsonl myrepo table.jsonl", "silo export jsonl myrepo | head -1")
)
@directory
@to_file
@selecting
@options.replace_file
@fields
@options.quiet
def jsonl(silo_dir: str, out: str, **given: Any) -> int:
    """Write descriptions as JSON, a line for each record, to OUT or to the standard output."""
    return _table(silo_dir, out, given, tables.write_jsonl)


def _table(
    silo_dir: str,
    out: str,
    given: dict[str, Any],
    write: Callable[..., TableReport],
    encoding: str = "utf-8",
) -> int:
    columns = given["columns"] or tables.USUAL
    with options.told():
        tables.check_columns(columns)

    def write_text(
        silo: Silo, selection: Selection, file: BinaryIO, progress: Progress
    ) -> TableReport:
        with as_text(file, encoding) as text:
            return write(silo, selection, text, columns, progress=progress)

    return _write(silo_dir, out, given, write_text)


@click.command(
    epilog=example(
        "silo export links myrepo links.tsv", "silo export links myrepo --search 'title:solar'"
    )
)
@directory
@to_file
@selecting
@options.replace_file
@options.quiet
def links(silo_dir: str, out: str, **given: Any) -> int:
    """Write every address that records hold, with identifier and field, tabs between."""

    def write(silo: Silo, selection: Selection, file: BinaryIO, progress: Progress) -> TableReport:
        with as_text(file) as text:
            return tables.write_links(silo, selection, text, progress=progress)

    return _write(silo_dir, out, given, write, "links")


@click.command(
    "zip",
    epilog=example(
        "silo export zip myrepo metadata.zip",
        "silo export zip myrepo metadata.zip --file oai_dc --versions all --state ready",
    ),
)
@directory
@to_file
@selecting
@options.replace_file
@click.option("--file", "names", metavar="NAME", multiple=True, help="Only such files; repeatable.")
@click.option(
    "--versions", type=click.Choice([str(one) for one in Versions]), default=str(Versions.CURRENT)
)
@options.quiet
def to_zip(silo_dir: str, out: str, names: tuple[str, ...], versions: str, **given: Any) -> int:
    """Write metadata files into a zip, to OUT or to the standard output."""

    def write(silo: Silo, selection: Selection, file: BinaryIO, progress: Progress) -> TableReport:
        which = Versions(versions)
        return tables.write_zip(silo, selection, file, names, which, progress=progress)

    return _write(silo_dir, out, given, write, "files")


def _write(silo_dir: str, out: str, given: dict[str, Any], write: Write, what: str = "rows") -> int:
    with open_silo(silo_dir) as silo, options.told():
        selection = given["select"]
        options.check_not_empty(silo, selection)
        total = selection.total(silo)
        quiet = given["quiet"] or out == "-"
        on_conflict = OnConflict(given["on_conflict"])
        with (
            _opened(silo.path, out, on_conflict) as file,
            counting("exporting", total, quiet=quiet) as progress,
        ):
            report = write(silo, selection, file, progress)
    for identifier, why in report.failed.items():
        click.echo(f"silo: {identifier} was left out: {why}", err=True)
    if not quiet:
        click.echo(
            f"{out}: {report.rows:,} {what} of {report.records:,} records; "
            f"{report.deleted:,} deleted at the source left out"
        )
    return ExitCode.LOSSES if report.failed else ExitCode.OK


@contextmanager
def _opened(silo_path: str, out: str, on_conflict: OnConflict) -> Iterator[BinaryIO]:
    if out == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with tables.exported_file(silo_path, out, on_conflict) as file:
            yield file


table_commands: list[click.Command] = [to_csv, jsonl, links, to_zip]
