"""The command `silo crawl import`."""

import click

from recordsilo.cli import ExitCode, example, shown
from recordsilo.commands import completion
from recordsilo.commands.options import directory, quiet_option
from recordsilo.progress import counting
from recordsilo.wording import counted
from silocrawl.commands.opening import opened
from silocrawl.taking_in import ImportRefused, TakenIn, importing, take_in


@click.command("import", epilog=example("silo crawl import myrepo theses.wacz heritrix/*.warc.gz"))
@directory
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, shell_complete=completion.files
)
@quiet_option
def import_command(*, silo_dir: str, files: tuple[str, ...], quiet: bool) -> int:
    """Take in WARC and WACZ files of elsewhere: copy and index them, so that they are replayed.

    A file is taken in once. After an interruption, the same command goes on. Files that
    cannot be taken in are named, and the others are taken in.
    """
    done: list[TakenIn] = []
    refused = 0
    with opened(silo_dir) as silo, importing(silo.path):
        for path in files:
            try:
                with counting("captures", quiet=quiet) as show:
                    for one in take_in(silo.path, path, show):
                        done.append(one)
                        _tell(one, quiet=quiet)
            except (ImportRefused, FileNotFoundError, IsADirectoryError) as error:
                click.echo(shown(f"silo: {_why(path, error)}"), err=True)
                refused += 1
    if refused and not done:
        return ExitCode.USAGE
    return ExitCode.LOSSES if refused or any(one.damaged for one in done) else ExitCode.OK


def _why(path: str, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no file {path}"
    if isinstance(error, IsADirectoryError):
        return f"{path} is a directory; name the WARC and WACZ files in it"
    return str(error)


def _tell(one: TakenIn, *, quiet: bool) -> None:
    if one.damaged:
        places = counted(one.damaged, "damaged place")
        click.echo(shown(f"silo: {one.source}: {places}; what is whole was taken in"), err=True)
    if not quiet:
        how = f"as {one.name}" if one.is_new else f"which was taken in before as {one.name}"
        click.echo(shown(f"{one.source}: {counted(one.captures, 'capture')}, {how}"))
