"""The commands of this package."""

import click

commands: list[click.Command] = []
