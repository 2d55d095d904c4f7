"""The commands that make Silos out of Silos: copy, merge and split, and rename-prefix."""

from collections.abc import Mapping
from contextlib import ExitStack

import click

from recordsilo.cli import ExitCode, example, fail, open_silo, shown
from recordsilo.commands import completion
from recordsilo.commands.options import (
    check_not_empty,
    confirm,
    directory,
    json_object,
    print_json,
    quiet_option,
    selecting,
    yes_option,
)
from recordsilo.copies.copying import CopyReport, copy_silo
from recordsilo.copies.errors import MergeConflicts
from recordsilo.copies.merging import MergeReport, OnConflict, merge_silos
from recordsilo.copies.new_silo import is_begun
from recordsilo.copies.renaming import rename_prefix, to_rename
from recordsilo.copies.splitting import BY, split_silo
from recordsilo.progress import counting
from recordsilo.selection import Selection
from recordsilo.wording import counted

_out = click.argument("out", metavar="OUT", shell_complete=completion.directories)
_dry_run = click.option("--dry-run", is_flag=True, help="Count and compare, and write nothing.")


@click.command(epilog=example(
    "silo copy myrepo /backup/myrepo",
    "silo copy myrepo theses --filter type=Thesis",
    "silo copy myrepo mine --filter agent=$USER --dry-run",
))  # fmt: skip
@directory
@_out
@selecting
@_dry_run
@quiet_option
@json_object
def copy(
    *, silo_dir: str, out: str, select: Selection, dry_run: bool, quiet: bool, as_json: bool
) -> int:
    """Copy a Silo, or some of its records, into a new Silo OUT.

    Records are copied with all versions and their history, and are compared with their digests;
    manifests stay the same byte for byte. Other commands may change DIR meanwhile. After a kill
    or on a full disk, the same command continues; OUT is no Silo before it is whole.

    Without a selection, all other files are copied, too: responses, usage, crawls, ledgers,
    accounts, and how far the repository was harvested. Work with one of the two then: both would
    export to the same targets, run the same schedules, and give the same ARKs. With a selection,
    only rules, saved searches, and decisions about values and removals are.
    """
    with open_silo(silo_dir) as silo, counting("copying", quiet=quiet) as progress:
        if not select.is_everything and not is_begun(out):
            check_not_empty(silo, select)
        report = copy_silo(silo, out, select, progress, dry_run=dry_run)
    return _told({out: report}, "would be copied" if dry_run else "copied",
                 quiet=quiet, as_json=as_json)  # fmt: skip


@click.command(epilog=example(
    "silo merge north south both --dry-run",
    "silo merge north south both --on-conflict newest",
))  # fmt: skip
@click.argument("dirs", metavar="DIR DIR…", nargs=-1, required=True,
                shell_complete=completion.directories)  # fmt: skip
@_out
@click.option("--on-conflict", type=click.Choice([str(one) for one in OnConflict]),
              default=str(OnConflict.REFUSE), show_default=True,
              help="Which Silo decides about a record that differs: the first that has it, or the "
                   "one that changed it last.")  # fmt: skip
@_dry_run
@quiet_option
@json_object
def merge(
    *, dirs: tuple[str, ...], out: str, on_conflict: str, dry_run: bool, quiet: bool, as_json: bool
) -> int:
    """Merge Silos, with all versions and curated changes, into a new Silo OUT.

    A record that several Silos have is taken from the one whose record has all versions and notes
    of the others. If none has, or if one Silo removed what another one has, nothing is merged
    until --on-conflict decides. DIRs are not changed. After a kill, the same command continues.

    Carried besides records: responses (harvests/), rules, saved searches, removals. Not carried,
    and named: usage, crawls, ARKs, ledgers of exports, accounts. The next harvest lists everything.
    """
    with ExitStack() as stack:
        silos = [stack.enter_context(open_silo(one)) for one in dirs]
        progress = stack.enter_context(counting("merging", quiet=quiet))
        try:
            report = merge_silos(silos, out, OnConflict(on_conflict), progress, dry_run=dry_run,
                                 agent=silos[0].agent if silos else "")  # fmt: skip
        except MergeConflicts as error:
            for one in error.conflicts:
                click.echo(shown(f"silo: {one}"), err=True)
            fail(str(error), ExitCode.LOSSES)
    code = _told({out: report}, "would be merged" if dry_run else "merged",
                 quiet=quiet, as_json=as_json)  # fmt: skip
    undecided = report.conflicts and on_conflict == OnConflict.REFUSE
    return ExitCode.LOSSES if undecided else code


@click.command(epilog=example(
    "silo split myrepo parts --by set",
    "silo split both parts --by prefix --dry-run",
    "silo split myrepo parts --by selection --filter type=Thesis",
))  # fmt: skip
@directory
@_out
@click.option("--by", type=click.Choice(BY), required=True,
              help="set: those at the top; prefix: the identifier up to its last colon; selection: "
                   "the selected records, and the others.")  # fmt: skip
@selecting
@_dry_run
@quiet_option
@json_object
def split(
    *, silo_dir: str, out: str, by: str, select: Selection, dry_run: bool, quiet: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Divide a Silo into new ones in the directory OUT.

    A record with several values, such as sets, is in the Silo of each; those without any are in
    the Silo `rest`. DIR is not changed. What is carried besides records is that of silo copy with
    a selection. After a kill, the same command continues.
    """
    with open_silo(silo_dir) as silo, counting("dividing", quiet=quiet) as progress:
        parts = split_silo(silo, out, by, select, progress, dry_run=dry_run)
        if not parts:
            check_not_empty(silo, select)
    told = {f"{out}/{name}": one for name, one in parts.items()}
    done = "would be copied" if dry_run else "copied"
    return _told(told, done, quiet=quiet, as_json=as_json)


@click.command(name="rename-prefix", epilog=example(
    "silo rename-prefix myrepo oai:old.example.org: oai:new.example.org: --dry-run",
    "silo rename-prefix myrepo oai:new.example.org: oai:old.example.org:",
))  # fmt: skip
@directory
@click.argument("old")
@click.argument("new")
@_dry_run
@yes_option
@quiet_option
@json_object
def rename_prefix_command(
    *, silo_dir: str, old: str, new: str, dry_run: bool, yes: bool, quiet: bool, as_json: bool
) -> int:
    """Give the records whose identifiers begin with OLD identifiers that begin with NEW.

    For a repository that has moved to another domain. Versions, history, removals, rules, saved
    searches and schedules come along. After a kill, the same command continues; with OLD and NEW
    exchanged, it goes back.

    Not changed: metadata files, recorded responses, usage, crawls, and ledgers of exports, so the
    next export to a target withdraws the old identifiers and deposits the new ones. Stop harvests
    and the page meanwhile.
    """
    with open_silo(silo_dir) as silo:
        if not dry_run:
            to_rename(silo, old, new)
            confirm(f"Rename {old}… to {new}… in {silo_dir}?", yes=yes)
        with counting("renaming", quiet=quiet) as progress:
            report = rename_prefix(silo, old, new, progress, dry_run=dry_run)
    if as_json:
        print_json(report.as_json())
    elif not quiet or report.failed:
        done = "would be renamed" if dry_run else "renamed"
        click.echo(f"{counted(report.records, 'record')} {done}")
        if report.removals:
            click.echo(f"{counted(report.removals, 'removal')} carried")
        for path in report.files:
            click.echo(f"changed {path}")
    for name, why in report.failed.items():
        was = "would not be" if dry_run else "was not"
        click.echo(shown(f"silo: {name} {was} renamed: {why}"), err=True)
    return ExitCode.LOSSES if report.failed else ExitCode.OK


def _told(parts: Mapping[str, CopyReport], done: str, *, quiet: bool, as_json: bool) -> ExitCode:
    """Print what was done, and return the exit code."""
    if as_json:
        print_json({path: report.as_json() for path, report in parts.items()})
    is_whole = all(report.is_whole for report in parts.values())
    for path, report in parts.items():
        if not as_json and not (quiet and is_whole):
            there = f", {report.there:,} of them before" if report.there else ""
            click.echo(f"{path}: {counted(report.records, 'record')} {done}{there}")
        if isinstance(report, MergeReport):
            for name, why in report.conflicts.items():
                click.echo(shown(f"silo: {name}: {why}"), err=True)
        for name, why in report.failed.items():
            click.echo(shown(f"silo: {name} was not copied: {why}"), err=True)
        for sentence in report.notes:
            click.echo(shown(f"silo: {sentence}"), err=True)
    left = sorted({path for report in parts.values() for path in report.left})
    if left and not quiet and not as_json:
        click.echo(f"not copied: {', '.join(left)}")
    return ExitCode.OK if is_whole else ExitCode.LOSSES
