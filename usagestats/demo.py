"""The part of `silo demo` that shows usage; what it needs is loaded when it runs."""

from datetime import UTC, datetime

import click

from recordsilo.demos import DemoPart
from usagestats.commands.group import told
from usagestats.packages import check_extra


def _run(silo_path: str, _site: str) -> None:
    """Import the made-up access log of the sample, and show the receipt."""
    with told():
        from usagestats.sample import import_sample  # noqa: PLC0415  # it loads the engine

        click.echo("A made-up access log of a year:")
        receipt = import_sample(
            silo_path, today=datetime.now(UTC).date(), progress=lambda _name, _lines: None
        )
    click.echo(receipt.text())


USAGE = DemoPart("usage", "Import a made-up access log of a year, too.", check_extra, _run)
