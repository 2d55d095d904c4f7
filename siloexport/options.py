"""Options that the commands of `silo export` share, and what they come to."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

from recordsilo import Silo
from recordsilo.cli import ExitCode, fail
from recordsilo.commands.options import as_json
from recordsilo.selection import Selection
from siloexport.errors import (
    ExportError,
    FileChanged,
    LedgerInUse,
    LedgerUnreadable,
    TargetUnusable,
)
from siloexport.exits import ExportExit
from siloexport.plan import Versions
from siloexport.values import REPLACE, Deletions, OnConflict

F = TypeVar("F", bound=Callable[..., Any])


def _all(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


what_goes = _all(
    click.option(
        "--versions",
        type=click.Choice([str(one) for one in Versions]),
        default=str(Versions.CURRENT),
        show_default=True,
        help="Which versions of a record: the current one, those made by people, or all.",
    ),
    click.option("--no-unwrap", is_flag=True, help="No documents of their own (oai_dc.xml)."),
    click.option(
        "--deleted",
        "deletions",
        type=click.Choice([str(one) for one in Deletions]),
        default=str(Deletions.STATUS),
        show_default=True,
        help="What becomes of an exported record that the source deleted.",
    ),
)
"""What of them; `policy_of` takes what they give."""

on_conflict = click.option(
    "--on-conflict",
    type=click.Choice([str(one) for one in OnConflict]),
    default=str(OnConflict.FAIL),
    show_default=True,
    help="Where others changed what was exported; overwrite compares every record, as verify does.",
)
replace_file = click.option(
    "--on-conflict",
    type=click.Choice([str(one) for one in REPLACE]),
    default=str(OnConflict.FAIL),
    show_default=True,
    help="Where OUT is not as exported last: leave it and fail, or overwrite it.",
)
limit = click.option("--limit", type=click.IntRange(1), help="Process at most so many records.")
how_run = _all(
    click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing."),
    on_conflict,
    limit,
)
jobs = click.option(
    "--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Records at once."
)
report_file = click.option(
    "--report", "report_path", metavar="FILE.jsonl", help="Write a line for each action there."
)
quiet = click.option("-q", "--quiet", is_flag=True, help="Show no progress; print only losses.")
showing = _all(report_file, as_json, quiet)
sample = click.option("--sample", default="100%", metavar="SHARE", help="Part of them: 10% or 0.1.")
purge = click.option("--purge", is_flag=True, help="Leave nothing of them, not even a trace.")


def check_not_empty(silo: Silo, selection: Selection) -> None:
    """End the command where nothing is selected: that is a slip of the pen."""
    if next(selection.iterate(silo), None) is None:
        by = f" by {selection}" if not selection.is_everything else ""
        fail(f"no record of {silo.storage_dir} is selected{by}")


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Errors of an export as one sentence and the exit code of their kind."""
    try:
        yield
    except TargetUnusable as error:
        fail(str(error), ExitCode.ENDPOINT)
    except FileChanged as error:
        fail(str(error), ExportExit.CONFLICTS)
    except LedgerInUse as error:
        fail(str(error), ExitCode.STOPPED)
    except LedgerUnreadable as error:
        fail(str(error), ExitCode.LOSSES)
    except ExportError as error:
        fail(str(error))
