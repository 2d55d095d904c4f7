"""The exit codes of `silo export`: a report → its exit code. Pure."""

from enum import IntEnum

from recordsilo.cli import ExitCode
from siloexport.report import ReconcileReport, RollbackReport, RunReport, VerifyReport


class ExportExit(IntEnum):
    """The exit codes of `silo export`, beyond those of every command."""

    DIFFERS = 4
    """The target differs from what was exported."""
    CONFLICTS = 5
    """Records that others changed in the target were not written."""


def exit_of_run(report: RunReport) -> int:
    """Return the exit code of a run or a dry run."""
    if report.interrupted:
        return ExitCode.INTERRUPTED
    if report.stopped:
        return ExitCode.STOPPED
    if report.failed:
        return ExitCode.LOSSES
    return ExportExit.CONFLICTS if report.conflicts else ExitCode.OK


def exit_of_verification(report: VerifyReport) -> int:
    """Return the exit code of a verification."""
    if report.differences:
        return ExportExit.DIFFERS
    return ExitCode.LOSSES if report.unreadable else ExitCode.OK


def exit_of_reconciliation(report: ReconcileReport) -> int:
    """Return the exit code of a reconciliation; changes by others will be conflicts."""
    if report.unreadable:
        return ExitCode.LOSSES
    return ExportExit.CONFLICTS if report.changed else ExitCode.OK


def exit_of_rollback(report: RollbackReport) -> int:
    """Return the exit code of a roll-back; objects that were kept are losses."""
    return ExitCode.LOSSES if report.kept else ExitCode.OK
