"""Options that the commands of `silo export` share."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

from recordsilo.cli import ExitCode, fail
from recordsilo.commands.options import OutputFile, all_of, json_object, quiet_option
from siloexport.commands.exit_codes import ExportExit
from siloexport.errors import (
    ExportError,
    FileChanged,
    FileOfOtherKind,
    LedgerInUse,
    LedgerUnreadable,
    TargetFull,
    TargetUnusable,
)
from siloexport.plan import Versions
from siloexport.values import REPLACE, Deletions, OnConflict

F = TypeVar("F", bound=Callable[..., Any])


def which_versions(usual: Versions) -> Callable[[F], F]:
    """Return the option that names versions, with its default."""
    return click.option(
        "--versions",
        type=click.Choice([str(one) for one in Versions]),
        default=str(usual),
        show_default=True,
        help="Which versions of a record: the current one, those made by curators, or all.",
    )


what_goes = all_of(
    click.option(
        "--no-unwrap",
        is_flag=True,
        help="Do not export metadata as separate documents (oai_dc.xml).",
    ),
    click.option(
        "--deleted",
        "deletions",
        type=click.Choice([str(one) for one in Deletions]),
        default=str(Deletions.STATUS),
        show_default=True,
        help="What to do with an exported record that the source deleted.",
    ),
)
"""Which parts of the records, with `which_versions`."""

on_conflict = click.option(
    "--on-conflict",
    type=click.Choice([str(one) for one in OnConflict]),
    default=str(OnConflict.FAIL),
    show_default=True,
    help="What to do if others changed the target; overwrite compares every record, like verify.",
)
replace_file = click.option(
    "--on-conflict",
    type=click.Choice([str(one) for one in REPLACE]),
    default=str(OnConflict.FAIL),
    show_default=True,
    help="What to do if OUT was changed since the last export: fail, or overwrite it.",
)
limit = click.option("--limit", type=click.IntRange(1), help="The maximum number of records.")
how_run = all_of(
    click.option("--dry-run", is_flag=True, help="Print what would be done, and do nothing."),
    on_conflict,
    limit,
)
jobs = click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Number of records to process in parallel.",
)
report_file = click.option(
    "--report",
    "report_path",
    type=OutputFile(),
    metavar="FILE.jsonl",
    help="Write a line for each action to it.",
)
showing = all_of(report_file, json_object, quiet_option)
sample = click.option("--sample", default="100%", metavar="SHARE", help="Only a share: 10% or 0.1.")
purge = click.option("--purge", is_flag=True, help="Leave no tombstones.")


@contextlib.contextmanager
def export_errors() -> Iterator[None]:
    """Print an error of an export as one sentence and end with the exit code of its kind."""
    try:
        yield
    except TargetFull as error:
        fail(f"{error}; make room, then the same command continues", ExitCode.STOPPED)
    except TargetUnusable as error:
        fail(str(error), ExitCode.ENDPOINT)
    except (FileChanged, FileOfOtherKind) as error:
        fail(f"{error} (--on-conflict overwrite)", ExportExit.CONFLICTS)
    except LedgerInUse as error:
        fail(str(error), ExitCode.STOPPED)
    except LedgerUnreadable as error:
        fail(str(error), ExitCode.LOSSES)
    except ExportError as error:
        fail(str(error))
