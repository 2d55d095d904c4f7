"""`silo fleet rebuild` and `receipts`: rebuild the state of a fleet."""

import json
import os
from collections.abc import Iterator
from itertools import chain
from typing import TextIO

import click

from recordsilo.cli import ExitCode, example
from recordsilo.commands import completion
from silofleet.commands.group import directory, told
from silofleet.fleet import LOCAL
from silofleet.rebuild import path_before, read_found, rebuild, silos_of

SHOWN = 20


@click.command(epilog=example("silo fleet receipts /srv/silos --node n3 > n3.jsonl"))
@click.argument("directory", metavar="GRANARY", shell_complete=completion.directories)
@click.option("--node", default=LOCAL, metavar="NAME", help="Name of this node.")
def receipts(directory: str, node: str) -> None:
    """Print what the Silos in the directory GRANARY say of their harvests, for a rebuild."""
    with told():
        for one in silos_of(directory, node):
            click.echo(json.dumps(one))


@click.command(
    "rebuild", epilog=example("silo fleet rebuild many", "silo fleet rebuild many n*.jsonl")
)
@directory
@click.argument("files", nargs=-1, type=click.File("r", errors="replace"), metavar="[FILE]…")
def rebuild_command(directory: str, files: tuple[TextIO, ...]) -> int:
    """Rebuild the state of the fleet DIR from endpoints.toml and the receipts of its Silos.

    Without a FILE, the Silos are those in DIR; else the FILEs have what silo fleet receipts
    printed on each node. The state that there was is renamed to fleet.sqlite.before-rebuild, in
    place of an earlier one. Failures, quarantines, pauses that hosts asked for, and the list of
    runs are forgotten. It is refused if a node that has Silos by that state gave no receipts.
    """
    with told():
        found = chain.from_iterable(_found(files)) if files else silos_of(directory)
        count, problems = rebuild(directory, found)
    before = path_before(directory)
    kept = f"; the state before is {before}" if os.path.exists(before) else ""
    click.echo(f"{count:,} {'endpoint has' if count == 1 else 'endpoints have'} a Silo{kept}")
    for sentence in problems[:SHOWN]:
        click.echo(f"silo: {sentence}", err=True)
    if len(problems) > SHOWN:
        click.echo(f"silo: and {len(problems) - SHOWN:,} more", err=True)
    return ExitCode.LOSSES if problems else ExitCode.OK


def _found(files: tuple[TextIO, ...]) -> Iterator[Iterator[dict[str, object]]]:
    for file in files:
        yield read_found(file, file.name)
