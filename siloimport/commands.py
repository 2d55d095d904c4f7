"""`silo import …`: records out of what others keep."""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NoReturn

import click

from infopackages.ocfl.inventory import OcflError
from infopackages.ocfl.reading import check_root
from recordsilo.cells import SEPARATOR
from recordsilo.cli import ExitCode, Group, example, fail, shown
from recordsilo.commands import completion
from recordsilo.commands.options import NAMED, all_of, quiet_option, why
from recordsilo.progress import counting
from siloimport.bags import bags_at
from siloimport.directories import FileOptions, Per, files_at
from siloimport.errors import ImportProblem
from siloimport.importing import ImportSource, import_from, text_of
from siloimport.ocfl import records_of
from siloimport.tables import BadRows, TableOptions, table_at
from siloimport.writing import ImportReport

_silo = click.argument("silo_dir", metavar="DIR", shell_complete=completion.directories)
_common = all_of(
    click.option("--dry-run", is_flag=True,
                 help="Read and check all, and say what would be imported; write nothing."),
    why,
    quiet_option,
)  # fmt: skip
_prefix = click.option(
    "--prefix", default="", metavar="TEXT",
    help="Begin of every identifier, such as oai:example.org: before the name.",
)  # fmt: skip

_of_files = all_of(
    click.option("--per", type=click.Choice([one.value for one in Per]),
                 default=Per.DIRECTORY.value, show_default=True,
                 help="What becomes a record: each directory in FILES, or each file below it."),
    _prefix,
    click.option("--metadata", multiple=True, metavar="NAME",
                 help="Name of a file that is metadata; repeatable. Those in known formats, such "
                      "as oai_dc or mods.xml, are recognised."),
    click.option("--titles", is_flag=True,
                 help="Describe a record without metadata: its name is its title."),
)  # fmt: skip
_skip_bad = click.option("--skip-bad", is_flag=True, help="Import the other rows if some are bad.")
_of_columns = all_of(
    click.option("--identifier", default="", metavar="COLUMN",
                 help="Column with the identifiers of the records (default: record or "
                      "identifier)."),
    _prefix,
    click.option("--map", "maps", multiple=True, metavar="COLUMN=ELEMENT",
                 help="What a column means: title, title[en], subject …; files: relative paths of "
                      "files; datestamp; sets; - leaves it out. Repeatable."),
)  # fmt: skip
_of_tables = all_of(
    _of_columns,
    click.option("--values", "separator", default=SEPARATOR, metavar="TEXT", show_default=True,
                 help="Separator of several values in a cell; '' if there is only one value."),
    click.option("--delimiter", default="", metavar="CHARACTER",
                 help="What is between cells (default: comma, semicolon or tab, as in the first "
                      "row)."),
    _skip_bad,
)  # fmt: skip


@click.group(cls=Group, name="import")
def import_group() -> None:
    """Import records into a Silo, new or existing.

    Records that exist are never changed, and the same import again changes nothing; after an
    interruption, it continues.
    """


@import_group.command(epilog=example("silo import ocfl ocfl myrepo"))
@click.argument("root", metavar="ROOT", shell_complete=completion.directories)
@_silo
@_common
def ocfl(root: str, **given: Any) -> int:
    """Import the objects of a storage root (OCFL 1.1 or 1.0) as records.

    Objects of silo export ocfl come back as they were: files, versions, dates, states. Any
    other object becomes a record with its versions (v1, v2, …).
    """
    if not os.path.exists(root):
        fail(f"{root} does not exist")
    try:
        check_root(root, and_1_0=True)
    except OcflError as error:
        fail(f"{root}: {error}")
    return _imported(
        lambda _message: ImportSource(root, partial(records_of, root), None, root), **given
    )


@import_group.command(epilog=example("silo import bag bags myrepo"))
@click.argument("bag", metavar="BAG", shell_complete=completion.files)
@_silo
@_common
def bag(bag: str, **given: Any) -> int:
    """Import a bag (BagIt), or all bags in a directory, as records.

    A bag is a directory, a tar file (.tar, .tar.gz) or a zip. It is compared with its manifests
    whole before anything is stored. Bags of silo export bag come back with their versions; any
    other becomes a record with one version, v1.
    """
    return _imported(partial(bags_at, bag), **given)


@import_group.command(epilog=example("silo import files scans myrepo --prefix oai:example.org:"))
@click.argument("files_dir", metavar="FILES", shell_complete=completion.directories)
@_silo
@_of_files
@_common
def files(
    files_dir: str, per: str, prefix: str, metadata: tuple[str, ...], titles: bool, **given: Any
) -> int:
    """Import directories or files as records.

    A directory of silo export files comes back with its identifiers. Names that begin with a
    dot are left out.
    """

    def source(message: str) -> ImportSource:
        return files_at(
            files_dir, FileOptions(Per(per), prefix, frozenset(metadata), titles, message)
        )

    return _imported(source, **given)


@import_group.command(epilog=example("silo import csv table.csv myrepo --map Author=creator"))
@click.argument("table", metavar="FILE", shell_complete=completion.files)
@_silo
@_of_tables
@_common
def csv(
    *, table: str, identifier: str, prefix: str, maps: tuple[str, ...], separator: str,
    delimiter: str, skip_bad: bool, **given: Any,
) -> int:  # fmt: skip
    """Import the rows of a table as records, described in Dublin Core.

    FILE is CSV in UTF-8. The names of its columns are elements of Dublin Core, such as title or
    title[en]; identifier is that of the record. All rows are checked first, and if one is bad,
    nothing is stored. Tables of silo export csv and spreadsheets of silo sheet export are taken
    as they are, with the languages of values.
    """
    if len(delimiter) > 1:
        fail(f"--delimiter {delimiter!r} is more than one character")

    def source(message: str) -> ImportSource:
        options = TableOptions(
            identifier, _mapping(maps), delimiter, separator, prefix, skip_bad, message
        )
        return table_at(table, options)

    return _imported(source, **given)


@import_group.command(epilog=example("silo import jsonl out.jsonl myrepo"))
@click.argument("table", metavar="FILE", shell_complete=completion.files)
@_silo
@_of_columns
@_skip_bad
@_common
def jsonl(
    *, table: str, identifier: str, prefix: str, maps: tuple[str, ...], skip_bad: bool, **given: Any
) -> int:
    """Import JSON lines as records, described in Dublin Core.

    FILE has an object in each line, as silo export jsonl writes them, whose values come back with
    their languages. All lines are checked first, and if one is bad, nothing is stored.
    """

    def source(message: str) -> ImportSource:
        mapping = _mapping(maps)
        options = TableOptions(
            identifier, mapping, prefix=prefix, skip_bad=skip_bad, message=message, is_json=True
        )
        return table_at(table, options)

    return _imported(source, **given)


def _mapping(maps: Iterable[str]) -> Mapping[str, str]:
    pairs = [one.rpartition("=") for one in maps]
    if wrong := next((one for one in pairs if not (one[0] and one[2])), None):
        fail(f"--map {''.join(wrong)!r} does not say COLUMN=ELEMENT")
    return {column: element for column, _, element in pairs}


def _imported(
    source_of: Callable[[str], ImportSource],
    *,
    silo_dir: str,
    dry_run: bool,
    agent: str,
    message: str,
    quiet: bool,
) -> int:
    """Import, and tell what was done."""
    report = ImportReport()
    try:
        source = source_of(message)
        with counting("importing", source.total, quiet=quiet) as progress:
            import_from(
                source, silo_dir, report, lambda: progress(report.seen),
                dry_run=dry_run, agent=agent,
            )  # fmt: skip
    except BadRows as error:
        _tell(f"line {line}: {what}" for line, what in error.faults)
        _fail(error)
    except ImportProblem as error:
        _fail(error)
    _tell(f"{name} was not imported: {what}" for name, what in report.failed.items())
    if not quiet:
        click.echo(f"{silo_dir}: {text_of(report, dry_run=dry_run)}")
    return ExitCode.LOSSES if report.failed else ExitCode.OK


def _fail(error: ImportProblem) -> NoReturn:
    fail(str(error))


def _tell(lines: Iterable[str]) -> None:
    told = [shown(f"silo: {line}") for line in lines]
    if len(told) > NAMED:
        told[NAMED:] = [f"silo: and {len(told) - NAMED:,} more"]
    for line in told:
        click.echo(line, err=True)


commands: list[click.Command] = [import_group]
