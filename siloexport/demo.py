"""The part of `silo demo` that exports; what it needs is loaded when it runs."""

import os
import shlex

import click

from recordsilo.cli import ExitCode, fail
from recordsilo.demos import DemoPart

_RUNS = (
    ("files", "files", "--search", "pollinator"),
    ("ocfl", "root", "--search", "pollinator"),
    ("csv", "records.csv", "--on-conflict", "overwrite"),
    ("sqlite", "records.db", "--on-conflict", "overwrite"),
)
"""Kind, name of what it writes, and options; none needs an extra."""


def _run(silo_path: str, _site: str) -> None:
    """Export the sample into a directory beside it, and show the commands."""
    from siloexport.commands.export import export  # noqa: PLC0415  # it loads all kinds

    silo = os.path.relpath(silo_path)
    for kind, name, *options in _RUNS:
        words = [kind, silo, os.path.join(f"{silo}-export", name), *options]
        click.echo(f"$ silo export {shlex.join(words)}")
        os.makedirs(f"{silo_path}-export", exist_ok=True)
        if code := export.main(words, "silo export", standalone_mode=False):
            fail("the export is not complete; run the same command again", ExitCode(code))
    click.echo(f"What was exported is in {silo}-export")


EXPORT = DemoPart(
    "export",
    "Export it, too: files, a storage root, CSV and SQLite.",
    lambda: None,
    _run,
)
