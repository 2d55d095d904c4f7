"""The store's own commands of `silo`: show records, and change one at a time."""

import errno
import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from recordsilo.changed import changes_of, moment_of, only_changes, removals_among
from recordsilo.cli import ExitCode, example, fail, fitted, open_silo, shown
from recordsilo.commands import completion
from recordsilo.commands.granary_list import print_silos, silos_in
from recordsilo.commands.options import (
    QueryCommand,
    RowCount,
    as_json_text,
    as_of_option,
    changed_since_option,
    check_order,
    confirm,
    directory,
    filtering,
    identifier,
    json_lines,
    json_object,
    print_json,
    quiet_option,
    remark_on,
    selecting,
    tell_none,
    why,
    yes_option,
)
from recordsilo.commands.versions import version_as_json, version_line
from recordsilo.errors import FileNotInVersion, FileUnreadable, SiloNotWritable
from recordsilo.index import Described, PageRequest, Row, SearchFilters
from recordsilo.index.search_values import SORTS
from recordsilo.progress import counting
from recordsilo.records.description import metadata_paths
from recordsilo.records.events import Change
from recordsilo.records.harvested_record import HarvestedRecord
from recordsilo.removals import Removal
from recordsilo.repository import Repository
from recordsilo.search_result import PAGE, SearchResult
from recordsilo.selection import Selection
from recordsilo.silo import Silo
from recordsilo.silo_then import SiloThen
from recordsilo.wording import counted

CHUNK = 1 << 20
MOST_ROWS = 1000
"""The largest page of a search."""
LIST_CHUNK = 500
"""The number of rows whose descriptions are looked up together."""


# -- reading ----------------------------------------------------------------------------


@click.command(
    epilog=example(
        "silo ls myrepo",
        "silo ls myrepo --curated --json | head",
        "silo ls myrepo --changed-since 1d",
        "silo ls myrepo --as-of 2026-03-01",
        "silo ls .",
    )
)
@directory
@selecting
@as_of_option
@click.option("--deleted/--live", default=None, help="Only deleted, or only live records.")
@click.option(
    "--curated/--not-curated",
    default=None,
    help="Only records whose current version is, or is not, curated.",
)
@click.option("--upstream-newer", is_flag=True, default=None,
              help="Only curated records with a newer harvested version.")  # fmt: skip
@click.option(
    "--from",
    "start",
    metavar="ID",
    shell_complete=completion.identifiers,
    help="Start at this identifier.",
)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="Print at most N records; 0: all.",
)
@json_lines
def ls(
    *, silo_dir: str, as_json: bool, start: str | None, limit: int | None, select: Selection,
    **flags: bool | None,
) -> int:  # fmt: skip
    """List the records of a Silo: identifier, datestamp, marks and title.

    Records are sorted by identifier, or in the order of --item and --ids. Marks: D deleted
    at the source, C curated, U a newer version than the curated one has been harvested; !!!
    the record cannot be read, and is listed as it was last read.

    With --changed-since, the change (added, changed, removed) and its reason follow. With
    --as-of, ? marks a record that may have been different, because it was not noted, and ??? one
    that may have been there. R marks those that were removed since, which come last.

    For a directory of Silos, it lists the Silos: name, number of records, description.
    """
    silos = silos_in(silo_dir)
    if silos:
        given = (start, limit, *flags.values())
        if any(value is not None for value in given) or not select.is_everything:
            fail(f"{silo_dir} is a directory of Silos; name one of them to list its records")
        return print_silos(silos, as_json=as_json)
    with open_silo(silo_dir, select.as_of) as silo:
        limit = limit or None
        found = (
            silo.listed(start, at_once=min(limit or PAGE, PAGE), **flags)
            if select.is_everything
            else _selected(silo, start, select, flags)
        )
        changed = select.filters.changed_since
        lines = (_json_lines if as_json else _lines)(silo, found, changed)
        is_whole = all(value is None for value in flags.values())
        if isinstance(silo, SiloThen):
            lines = _with_lost(silo, start, select, lines, as_json=as_json, is_whole=is_whole)
        if changed:
            lines = _with_removed(silo, start, select, lines, as_json=as_json, is_whole=is_whole)
        line = None
        for line in itertools.islice(lines, limit and min(limit, sys.maxsize)):
            click.echo(line)
        remark_on(silo, select.query, select.filters, found=line is not None)
        if line is None and not as_json and select.is_everything and not len(silo):
            tell_none(f"records in {silo_dir}", "silo harvest URL DIR fetches some", silo_dir)
    return ExitCode.OK


def _selected(
    silo: Silo, start: str | None, select: Selection, flags: dict[str, Any]
) -> Iterator[Row]:
    given = {name: value for name, value in flags.items() if value is not None}
    filters = replace(select.filters, flags={**select.filters.flags, **given})
    rows = replace(select, filters=filters).rows(silo)
    return (row for row in rows if start is None or row.identifier >= start)


def _with_removed(
    silo: Silo,
    start: str | None,
    select: Selection,
    lines: Iterator[str],
    *,
    as_json: bool,
    is_whole: bool,
) -> Iterator[str]:
    """The lines, and those of removed records; or a remark that they cannot be told."""
    yield from lines
    since = moment_of(select.filters.changed_since or "")
    gone = list(removals_among(silo, select, since))
    if not (is_whole and only_changes(select)):
        _tell_removed(len(gone))
        return
    for removal, change in gone:
        if start is None or removal.identifier >= start:
            yield _removed_line(removal, change, as_json=as_json)


def _tell_removed(count: int) -> None:
    if count:
        one, their, them = (
            ("record was", "its", "it") if count == 1 else ("records were", "their", "them")
        )
        click.echo(
            f"silo: {count:,} {one} removed since; {their} metadata is not kept, so only a list "
            f"without other conditions shows {them}",
            err=True,
        )


def _with_lost(
    silo: SiloThen,
    start: str | None,
    select: Selection,
    lines: Iterator[str],
    *,
    as_json: bool,
    is_whole: bool,
) -> Iterator[str]:
    """The lines, and those of records that were there and were removed since."""
    yield from lines
    if select.identifiers:
        return
    lost = [one for one in silo.removed_since() if start is None or one.identifier >= start]
    if select.filters.changed_since or not (is_whole and only_changes(select)):
        _tell_removed(len(lost))
        return
    for name, reason in silo.unknown.items():
        if as_json:
            yield as_json_text({"identifier": name, "unsure": reason})
        else:
            yield "\t".join((name, "", "???", "", reason))
    for one in lost:
        doubt = "" if one.since else "when it was made is not noted"
        if as_json:
            told = {"identifier": one.identifier, "removed": one.at[:19], "reason": str(one)}
            told |= {"unsure": doubt} if doubt else {}
            yield as_json_text({**told, "title": one.title})
        else:
            marks = f"R--{'?' if doubt else ''}"
            yield "\t".join((one.identifier, "", marks, one.title, f"{one}, on {one.at[:19]}"))


def _removed_line(removal: Removal, change: Change, *, as_json: bool) -> str:
    if as_json:
        return as_json_text(_removed_as_json(removal, change))
    told = (removal.identifier, removal.at[:19], "R--", removal.title, change.kind, change.reason)
    return "\t".join(told)


def _removed_as_json(removal: Removal, change: Change) -> dict[str, Any]:
    return {"identifier": removal.identifier, **change.as_json(), "title": removal.title}


def _json_lines(silo: Silo, rows: Iterator[Row], changed: str | None = None) -> Iterator[str]:
    while some := tuple(itertools.islice(rows, LIST_CHUNK)):
        for one in rows_as_json(silo, some, changed):
            yield as_json_text(one)


def rows_as_json(
    silo: Silo, rows: Sequence[Row], changed: str | None = None
) -> list[dict[str, Any]]:
    """Rows of a list as every command prints them; looks up their descriptions together.

    Args:
        silo: Where they are.
        changed: The moment since which changes are told, if any.
    """
    names = [row.identifier for row in rows]
    described = silo.described(names)
    told = changes_of(silo, names, moment_of(changed)) if changed else {}
    unsure = silo.unsure if isinstance(silo, SiloThen) else {}
    found = []
    for row in rows:
        one = row.as_json(described.get(row.identifier, Described()))
        change = told[row.identifier].as_json() if row.identifier in told else {}
        doubt = {"unsure": unsure[row.identifier]} if row.identifier in unsure else {}
        found.append({"identifier": row.identifier, **change, **doubt, **one})
    return found


def _lines(silo: Silo, rows: Iterable[Row], changed: str | None = None) -> Iterator[str]:
    unread = None
    for row in rows:
        if unread is None:  # the list of the first rows has found those that were damaged since
            unread = {one.identifier for one in silo.unread()}
        line = _line(silo, row, is_readable=row.identifier not in unread)
        if changed:
            told = changes_of(silo, [row.identifier], moment_of(changed)).get(row.identifier)
            line += f"\t{told.kind}\t{told.reason}" if told else "\t\t"
        yield line


def _line(silo: Silo, row: Row, *, is_readable: bool) -> str:
    marks = "".join(
        letter if flag else "-"
        for letter, flag in (("D", row.deleted), ("C", row.curated), ("U", row.upstream_newer))
    )
    marks = marks if is_readable else "!!!"
    if isinstance(silo, SiloThen) and row.identifier in silo.unsure:
        marks += "?"
    return "\t".join((row.identifier, row.datestamp, marks, row.title))


@click.command(
    cls=QueryCommand,
    epilog=example(
        "silo search myrepo solar cells",
        "silo search myrepo 'creator:adeyemi -wind' --filter year=2019 --facet type",
        "silo search myrepo --filter deleted=true --sort newest --json",
        "silo search myrepo solar --changed-since 2w",
    ),
)
@directory
@click.argument("words", nargs=-1)
@filtering
@click.option(
    "--facet",
    "facets",
    metavar="FIELD",
    multiple=True,
    shell_complete=completion.fields,
    help="Count the values of this field; repeatable.",
)
@click.option("--sort", metavar="ORDER", shell_complete=completion.orders,
              help=f"{', '.join(SORTS)}, or a number that a package contributes (-NAME: greatest "
                   "first). Default: relevance; without words, identifier.")  # fmt: skip
@click.option("-n", "--limit", type=RowCount(1000), default=25, show_default=True,
              metavar="N", help="Print at most N records; 0: all.")  # fmt: skip
@click.option(
    "--after",
    metavar="CURSOR",
    help="Continue after a page: the value of `next` in its --json output.",
)
@json_object
def search(
    *,
    silo_dir: str,
    words: tuple[str, ...],
    filters: SearchFilters,
    facets: tuple[str, ...],
    sort: str | None,
    limit: int,
    after: str | None,
    as_json: bool,
) -> None:
    """Find records by words and filters; silo help search has the syntax.

    The number of records found is printed on standard error. Print all of them with -n 0, or
    with `silo ls --search`. Write -- before words that begin with a minus, or NOT word.

    Fields: set, year, type, language, publisher, format, state, finding, agent, subject,
    creator, deleted, curated, upstream_newer, has_file, has_doi, and those that packages
    contribute (`silo search DIR --facet x` lists all). Filters have two more: changed and
    title, as in changed=2026-11 and title=/^on the/.
    """
    with open_silo(silo_dir) as silo:
        query = " ".join(words)
        page = PageRequest(limit=limit or MOST_ROWS, after=after, sort=sort)
        result = silo.search(query, filters, facets, page)
        remark_on(silo, query, filters, found=result.total > 0)
        rows, following = result.rows, result.next_page
        if not limit:
            rows, following = _with_further(silo, query, filters, page, result), None
        select = Selection(query, filters)
        if as_json:
            print_json(_result_as_json(silo, result, select, rows=rows, following=following))
            return
        lines = _lines(silo, rows, filters.changed_since)
        if filters.changed_since and following is None:
            lines = _with_removed(silo, None, select, lines, as_json=False, is_whole=True)
        for line in lines:
            click.echo(line)
        sys.stdout.flush()
        shown = f", {len(rows):,} shown" if len(rows) < result.total else ""
        click.echo(f"{result.total:,} found{shown}", err=True)
        for name, values in result.facets.items():
            click.echo(f"\n{name}")
            for value in values:
                click.echo(f"  {value.count:>9,}  {fitted(value.value, 13)}")


def _with_further(
    silo: Silo, query: str, filters: SearchFilters, page: PageRequest, first: SearchResult
) -> tuple[Row, ...]:
    """The rows of a page and of all further ones."""
    rows, following = [*first.rows], first.next_page
    while following is not None:
        found = silo.search(query, filters, page=replace(page, after=following))
        rows += found.rows
        following = found.next_page
    return tuple(rows)


def _result_as_json(
    silo: Silo,
    result: SearchResult,
    select: Selection,
    *,
    rows: Sequence[Row],
    following: str | None,
) -> dict[str, Any]:
    since = select.filters.changed_since
    gone = removals_among(silo, select, moment_of(since)) if since and only_changes(select) else ()
    removed = [_removed_as_json(*one) for one in gone]
    return {
        "total": result.total,
        "sort": result.sort,
        "next": following,
        "records": rows_as_json(silo, rows, since),
        **({"removed": removed} if since else {}),
        "facets": {
            name: [{"value": value.value, "count": value.count} for value in values]
            for name, values in result.facets.items()
        },
    }


@click.command(epilog=example(
    "silo show myrepo 6102",
    "silo show myrepo 6102 --json",
    "silo show myrepo 6102 --as-of 2026-03-01T12:00",
))  # fmt: skip
@directory
@identifier
@as_of_option
@changed_since_option("Also say what happened to it here")
@json_object
def show(
    *, silo_dir: str, item: str, as_of: str | None, changed_since: str | None, as_json: bool
) -> None:
    """Show a record: its metadata, and its versions with their files and provenance."""
    check_order(changed_since, as_of)
    with open_silo(silo_dir, as_of or "") as silo:
        record = silo[silo.resolve(item)]
        row = silo.row(record.item_id)
        change = _change(silo, record.item_id, changed_since) if changed_since else None
        if as_json:
            (found,) = rows_as_json(silo, [row])
            told = change.as_json() if change else {"change": None, "reason": None}
            print_json(found | _as_json(record) | (told if changed_since else {}))
            return
        for line in _description(record, row, Repository(silo.path).set_names):
            click.echo(shown(line))
        if changed_since:
            click.echo(f"\n{change.kind}: {change.reason}" if change else "\nunchanged")


def _change(silo: Silo, identifier: str, since: str) -> Change | None:
    moment = moment_of(since)
    change = changes_of(silo, [identifier], moment).get(identifier)
    return change if change and change.at >= moment else None


def _as_json(record: HarvestedRecord) -> dict[str, Any]:
    return {
        "metadata": record.metadata,
        "path": record.path_to_item(),
        "version_list": [_version_as_json(record, name) for name in record.versions],
    }


def _version_as_json(record: HarvestedRecord, name: str) -> dict[str, Any]:
    return {
        **version_as_json(record.state.version(name)),
        "frozen": record.is_frozen(name),
        "files": [_file_as_json(record, name, path) for path in record.paths(name)],
    }


def _file_as_json(record: HarvestedRecord, version: str, path: str) -> dict[str, Any]:
    try:
        info = record.file_info(path, version)
    except (FileNotInVersion, FileUnreadable) as error:
        return {"path": path, "problem": str(error)}
    return {
        "path": path,
        "size": info.size,
        "sha256": info.sha256,
        "metadata": info.is_metadata,
    }


def _named_set(spec: str, names: Mapping[str, Any]) -> str:
    """A set by its name, with the setSpec that ``--set`` takes."""
    name = str(names.get(spec) or spec)
    return spec if name == spec else f"{name} ({spec})"


def _description(record: HarvestedRecord, row: Row, set_names: Mapping[str, Any]) -> Iterator[str]:
    yield f"identifier  {record.item_id}"
    yield f"title       {row.title or '(none)'}"
    yield f"datestamp   {row.datestamp}"
    if row.sets:
        yield f"sets        {'; '.join(_named_set(one, set_names) for one in row.sets)}"
    if row.deleted:
        yield f"deleted     at the source, {record.metadata.get('deleted_at_date', '')}"
    if row.upstream_newer:
        yield "upstream    a newer version than the curated one has been harvested"
    yield f"path        {record.path_to_item()}"
    for name in record.versions:
        yield ""
        yield from _version_lines(record, name)


def _version_lines(record: HarvestedRecord, name: str) -> Iterator[str]:
    cursor = "  ← current" if name == record.currentversion else ""
    yield version_line(record.state.version(name)) + cursor
    if message := record.origin(name).message:
        yield f"  “{message}”"
    for path in record.paths(name):
        found = _file_as_json(record, name, path)
        if "problem" in found:
            yield f"  {path}  PROBLEM: {found['problem']}"
        else:
            yield f"  {path}  {found['size']:,} bytes  {'metadata' if found['metadata'] else ''}"
    if not record.paths(name):
        yield "  (no files)"


@click.command(epilog=example(
    "silo cat myrepo 6102 oai_dc",
    "silo cat myrepo 6102 --version 1",
    "silo cat myrepo 6102 --as-of 1w",
))  # fmt: skip
@directory
@identifier
@click.argument("file", required=False, shell_complete=completion.paths)
@click.option("-v", "--version", shell_complete=completion.versions,
              help="A version (default: the current one).")  # fmt: skip
@as_of_option
def cat(
    *, silo_dir: str, item: str, file: str | None, version: str | None, as_of: str | None
) -> None:
    """Print a file of a record unchanged; without FILE, its metadata."""
    with open_silo(silo_dir, as_of or "") as silo:
        record = silo[silo.resolve(item)]
        name = file or _main_file(record, version)
        with record.get_stream(name, version) as stream:
            while chunk := stream.read(CHUNK):
                sys.stdout.buffer.write(chunk)


def _main_file(record: HarvestedRecord, version: str | None) -> str:
    listed = record.state.version(version or record.currentversion)
    found = metadata_paths(listed)
    if not found:
        files = ", ".join(listed.paths) or "no files"
        fail(f"version {listed.name!r} of record {record.item_id} has no metadata; it has {files}")
    return found[0]


@click.command(epilog=example("less $(silo path myrepo 6102)/oai_dc"))
@directory
@identifier
@click.argument("version", required=False, shell_complete=completion.versions)
def path(*, silo_dir: str, item: str, version: str | None) -> None:
    """Print the path of a version on disk (default: the current version)."""
    with open_silo(silo_dir) as silo:
        click.echo(silo[silo.resolve(item)].to_dirpath(version=version))


# -- changing ---------------------------------------------------------------------------


@click.command(epilog=example(
    "silo put myrepo 6102 licence.txt -m 'licence cleared'",
    "silo put myrepo 6102 fixed.xml --as oai_dc",
    "pdftotext paper.pdf - | silo put myrepo 6102 - --as text.txt",
))  # fmt: skip
@directory
@identifier
@click.argument("source", metavar="FILE", type=click.File("rb"), shell_complete=completion.files)
@click.option("--as", "name", help="Name in the version (default: the name of FILE).")
@click.option("-v", "--version", shell_complete=completion.versions,
              help="A curated version (default: the current one).")  # fmt: skip
@click.option("--metadata", is_flag=True, default=None, help="Mark the file as metadata.")
@click.option("--new", is_flag=True, help="Create the record if it does not exist.")
@why
def put(*,
    silo_dir: str, item: str, source: Any, name: str | None, new: bool, version: str | None,
    metadata: bool | None, agent: str, message: str,
) -> None:  # fmt: skip
    """Add a file to a curated version of a record, or replace it."""
    given = getattr(source, "name", "-")
    if name is None and (not isinstance(given, str) or given in {"-", "<stdin>"}):
        fail("name the file in the version with --as")
    with open_silo(silo_dir) as silo:
        record = silo.get_item(item) if new and item not in silo else silo[silo.resolve(item)]
        target = version or record.currentversion
        if record.exists:
            _check_curated(record, target, f"silo clone {silo_dir} {item}")
        stored = name or given.rsplit("/", 1)[-1]
        record.put_stream(stored, source, target, metadata, agent=agent, message=message)
        click.echo(f"{record.item_id}: {stored} is in version {target}")


def _check_curated(record: HarvestedRecord, version: str, clone: str) -> None:
    """Refuse to change a harvested version, in the words of the command line.

    Args:
        clone: The command that makes a copy.
    """
    if not record.version_is_curated(version):
        fail(
            f"version {version} of {record.item_id} is kept as harvested; "
            f"make a copy to change with: {clone}"
        )


@click.command(epilog=example("silo clone myrepo 6102", "silo clone myrepo 6102 1 workingcopy"))
@directory
@identifier
@click.argument("original", required=False, shell_complete=completion.versions)
@click.argument("new", default="workingcopy")
@why
def clone(
    *, silo_dir: str, item: str, original: str | None, new: str, agent: str, message: str
) -> None:
    """Copy a version (default: the current one) to a new version (default: workingcopy).

    The new version becomes the current version.
    """
    with open_silo(silo_dir) as silo:
        record = silo[silo.resolve(item)]
        source = original or record.currentversion
        record.clone_version(source, new, agent=agent, message=message)
        click.echo(f"{record.item_id}: version {source} is cloned to {new}")
        click.echo(record.to_dirpath())


@click.command(epilog=example(
    "silo rm myrepo 6102 -m 'a test deposit'",
    "silo rm myrepo 6102 --version workingcopy",
    "silo rm myrepo 6102 --version workingcopy --file notes.txt",
))  # fmt: skip
@directory
@identifier
@click.option("-v", "--version", help="Only this version.")
@click.option("-f", "--file", help="Only this file (of the current version, or of --version).")
@yes_option
@why
def rm(*,
    silo_dir: str, item: str, version: str | None, file: str | None, yes: bool, agent: str,
    message: str,
) -> None:  # fmt: skip
    """Delete a record, a version, or a file.

    Later harvests skip a deleted record, unless they are run with --restore-removed.
    """
    with open_silo(silo_dir) as silo:
        full = silo.resolve(item)
        what = " ".join(
            part
            for part in (file and f"file {file} of", version and f"version {version} of", full)
            if part
        )
        confirm(f"Delete {what}?", yes=yes)
        if file is None and version is None:
            silo.del_item(full, remember=True, agent=agent, message=message)
        else:
            record = silo[full]
            target = version or record.currentversion
            clone = f"silo clone {silo_dir} {item}"
            _check_curated(
                record, target, f"{clone}; to delete the record: silo rm {silo_dir} {item}"
            )
            if file is None:
                record.del_version(target, agent=agent, message=message)
            else:
                record.del_stream(file, target, agent=agent, message=message)
        click.echo(f"deleted {what}")


def _why_not_writable(path: str) -> int:
    """The number of the error with which a directory that cannot be written refuses."""
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        return errno.EROFS
    return errno.ENOSPC if os.access(path, os.W_OK) else errno.EACCES


@click.command(epilog=example("silo reindex myrepo"))
@directory
@quiet_option
def reindex(silo_dir: str, *, quiet: bool) -> int:
    """Rebuild the index from the manifests; needed after files were moved by hand."""
    with open_silo(silo_dir) as silo:
        if not silo.index_is_kept:
            raise SiloNotWritable(silo_dir, _why_not_writable(silo.path))
        with counting("indexing", quiet=quiet) as show_progress:
            total = silo.reindex(show_progress)
        problems = silo.index_problems()
        for _, sentence in problems:
            click.echo(f"silo: {sentence}", err=True)
        read = total - len(silo.unread())
        if not quiet or problems:
            click.echo(
                f"{counted(read, 'record')} indexed"
                + (f", {len(problems):,} not" if problems else "")
            )
    return ExitCode.LOSSES if problems else ExitCode.OK
