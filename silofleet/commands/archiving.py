"""`silo fleet archive`: WARC files into an object store, and back; are they intact there?"""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping

import click

from oaipmhscraper.commands.reports import sentences
from oaipmhscraper.errors import ArchiveRunning, ElsewhereUnreadable, JournalUnreadable
from oaipmhscraper.harvests.archiving import Moved, bring_back, verify
from oaipmhscraper.harvests.archiving import archive as archive_silo
from recordsilo import Granary
from recordsilo.cli import ExitCode, example, fail, shown
from recordsilo.commands import completion
from recordsilo.commands.options import quiet_option
from recordsilo.errors import VERSION_FILE
from recordsilo.progress import counting
from recordsilo.wording import counted
from silofleet.commands.group import told
from silofleet.wishes import Wishes, load_wishes, wishes_path

SHOWN = 20


@click.command(
    epilog=example(
        "silo fleet archive many --to s3://bucket/prefix",
        "silo fleet archive many --verify",
        "silo fleet archive many oxford --back",
    )
)
@click.argument("directory", metavar="DIR", shell_complete=completion.directories)
@click.argument("names", metavar="[NAME]…", nargs=-1)
@click.option(
    "--to", "address", metavar="URL",
    help="The object store: s3://bucket/prefix. Default: warc_store in endpoints.toml.",
)  # fmt: skip
@click.option("--back", is_flag=True, help="Bring the files back; they stay in the store, too.")
@click.option(
    "--verify", "verifies", is_flag=True,
    help="Read the files in the store and compare their SHA-256; write and delete nothing.",
)  # fmt: skip
@quiet_option
def archive(
    *,
    directory: str,
    names: tuple[str, ...],
    address: str | None,
    back: bool,
    verifies: bool,
    quiet: bool,
) -> int:
    """Move the WARC files of ended harvests into an object store (S3).

    DIR is a fleet, another directory of Silos, or one Silo; NAME are some of its Silos. A file
    is deleted here only after it was read back from the store and compared. After an
    interruption, the same command goes on. Credentials and the address of the service are
    configured as for other programs of AWS: AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, ~/.aws/config.
    """
    if back and verifies:
        raise click.UsageError("give --back or --verify, not both")
    if address and (back or verifies):
        flag = "--back" if back else "--verify"
        raise click.UsageError(f"{flag} takes no --to; each Silo knows where its files are")
    moved, done, is_ended = Moved(), 0, False
    what = "brought back" if back else "moved to the object store"
    if verifies:
        what = "intact in the object store"

    def count(size: int) -> None:
        nonlocal done
        done += size
        show(done // 1_000_000)

    with told(), sentences():
        places = {} if back or verifies else _places(directory, address)
        try:
            with counting("MB sent or read", quiet=quiet) as show:
                for name, path in _silos(directory, names):
                    try:
                        if back:
                            bring_back(path, moved, count)
                        elif verifies:
                            verify(path, moved, count)
                        elif place := places[name]:
                            archive_silo(path, place, moved, count)
                    except (ArchiveRunning, JournalUnreadable, ElsewhereUnreadable) as error:
                        moved.faults.append(str(error))
            is_ended = True
        finally:
            if moved.faults or (not quiet and (is_ended or moved.files)):
                _report(moved, what, most=len(moved.faults) if verifies else SHOWN)
    return ExitCode.LOSSES if moved.faults else ExitCode.OK


def _places(directory: str, address: str | None) -> Mapping[str, str]:
    """Name of a Silo → the store for its files; empty to keep them here."""
    if address:
        return defaultdict(lambda: address)
    wishes = load_wishes(directory) if os.path.exists(wishes_path(directory)) else Wishes()
    named = {name: one.warc_store for name, one in wishes.endpoints.items()}
    rest = str(wishes.defaults.get("warc_store", ""))
    if not rest and not any(named.values()):
        raise click.UsageError(
            "say where to put the files: --to s3://bucket/prefix, or warc_store in the"
            " table [defaults] of fleet/endpoints.toml"
        )
    return defaultdict(lambda: rest, named)


def _silos(directory: str, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The names and the directories of Silos."""
    if os.path.exists(os.path.join(directory, VERSION_FILE)):
        if names:
            fail(f"{directory} is one Silo; give no NAME")
        yield "", directory
        return
    granary = Granary(directory, create=False)
    if not granary.silos:
        fail(f"{directory} has no Silos; on each node, give the directory of its Silos")
    for name in names:
        if not granary.issilo(name):
            fail(f"{directory} has no Silo {name!r}")
    for name in names or granary.silos:
        yield name, os.path.join(directory, name)


def _report(moved: Moved, what: str, most: int) -> None:
    size = f" ({moved.bytes / 1e6:,.1f} MB)" if moved.files else ""
    files = f"{counted(moved.files, 'WARC file')}{size}"
    click.echo(f"{files} {what}")
    if moved.left:
        click.echo(
            f"{moved.left:,} stay here: harvests have not ended, or pages are not stored yet"
        )
    for sentence in moved.faults[:most]:
        click.echo(shown(f"silo: {sentence}"), err=True)
    if len(moved.faults) > most:
        click.echo(f"silo: and {len(moved.faults) - most:,} more", err=True)
