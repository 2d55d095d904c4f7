"""The command `silo star`."""

import click

from example_sibling.stars import give_stars
from recordsilo.cli import example, open_silo
from recordsilo.commands.options import directory, identifier


@click.command(epilog=example("silo star myrepo 6102 5"))
@directory
@identifier
@click.argument("number", type=click.IntRange(0, 5))
def star(silo_dir: str, item: str, number: int) -> None:
    """Give a record stars, from 0 to 5."""
    with open_silo(silo_dir) as silo:
        give_stars(silo.path, {silo.resolve(item): number})
