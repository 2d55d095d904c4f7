"""`silo usage import`: log lines into the Silo."""

import json
import sys
import time
from typing import Any

import click

from recordsilo.cli import ExitCode, example, fail
from recordsilo.commands.options import directory, json_object, quiet_option
from recordsilo.wording import counted
from usagestats.commands.group import opened
from usagestats.commands.trying import log_format, profile
from usagestats.packages import check_extra
from usagestats.rules.settings import logs_of, read_settings
from usagestats.store.consistency import are_counts_lost
from usagestats.store.ledger import UsageLedger

_SECONDS = 5.0


@click.command("import", epilog=example("silo usage import myrepo /var/log/apache2/access.log*"))
@directory
@click.argument("logs", metavar="[LOG]...", nargs=-1)
@log_format
@profile
@click.option("--complete", is_flag=True, help="Read a last line without a line end, too.")
@click.option(
    "--again", is_flag=True, help="Read imported lines again, and replace what they gave."
)
@click.option(
    "-j", "--jobs", "processes", type=click.IntRange(1, 64), default=1, show_default=True,
    help="Number of processes.",
)  # fmt: skip
@json_object
@quiet_option
def import_command(silo_dir: str, *, as_json: bool, quiet: bool, **given: Any) -> int:
    """Import access logs, and count the uses of records in them.

    Lines that were imported before are recognised, also in files that were renamed, compressed
    or have grown. An import that was interrupted continues with the same command. Without a
    LOG, those that usage.toml names (logs) are imported.
    """
    check_extra()
    with opened(silo_dir):
        from usagestats.importing.importing import ImportRequest, import_logs  # noqa: PLC0415

        logs = given["logs"]
        if not logs:
            logs = logs_of(silo_dir, read_settings(silo_dir))
            if not logs and not _is_to_be_counted(silo_dir):
                fail('name a LOG, or write into usage/usage.toml: logs = ["/path/access.log*"]')
        request = ImportRequest(
            logs, given["profile"] or "", given["log_format"] or "",
            complete=given["complete"], again=given["again"], processes=given["processes"],
        )  # fmt: skip
        with _Display(quiet=quiet) as show:
            receipt = import_logs(silo_dir, request, progress=show)
    for sentence in receipt.failed:
        click.echo(f"silo: {sentence}", err=True)
    if receipt.failed and receipt.files and not (receipt.lines or receipt.known):
        return ExitCode.USAGE
    if as_json:
        click.echo(json.dumps(receipt.as_json(), indent=2))
    elif not quiet or not receipt.whole:
        click.echo(receipt.text())
    return ExitCode.OK if receipt.whole else ExitCode.LOSSES


def _is_to_be_counted(silo_dir: str) -> bool:
    """Whether days wait to be counted, because an import was interrupted or counts were lost."""
    with UsageLedger(silo_dir, "read") as ledger:
        return bool(ledger.stale()) or are_counts_lost(silo_dir, ledger)


class _Display:
    """Shows the lines so far and their speed: in a terminal at once, else every 5 seconds."""

    def __init__(self, *, quiet: bool) -> None:
        self._begun = self._last = time.monotonic()
        self._quiet, self._in_terminal = quiet, sys.stderr.isatty() and not quiet

    def __enter__(self) -> "_Display":
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._in_terminal:
            click.echo("\r\x1b[K", err=True, nl=False)

    def __call__(self, name: str, lines: int) -> None:
        """Show how far the import is."""
        now = time.monotonic()
        if self._quiet or (not self._in_terminal and now - self._last < _SECONDS):
            return
        self._last = now
        text = (
            f"{name}: {counted(lines, 'line')}, {lines / max(now - self._begun, 1e-3):,.0f} lines/s"
        )
        click.echo(f"\r\x1b[K{text}" if self._in_terminal else text, err=True,
                   nl=not self._in_terminal)  # fmt: skip
