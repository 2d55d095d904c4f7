"""The group `silo fleet`."""

import click


@click.group()
def fleet() -> None:
    """Harvest many repositories again and again, each into its own Silo, and search them all.

    DIR is a directory of Silos.
    """
