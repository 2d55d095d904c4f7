"""How a command of `silo export` ends: a report → its exit code. Pure."""

from enum import IntEnum

from recordsilo.cli import ExitCode
from siloexport.report import ReconcileReport, RollbackReport, RunReport, VerifyReport


class ExportExit(IntEnum):
    """The exit codes of `silo export`, beyond those of every command."""

    DIFFERS = 4
    """What is in the target is not what was exported."""
    CONFLICTS = 5
    """All is done but for what others changed in the target."""


def exit_of_run(report: RunReport) -> int:
    """That of a run, or of a dry run."""
    if report.interrupted:
        return ExitCode.INTERRUPTED
    if report.stopped:
        return ExitCode.STOPPED
    if report.failed:
        return ExitCode.LOSSES
    return ExportExit.CONFLICTS if report.conflicts else ExitCode.OK


def exit_of_verification(report: VerifyReport) -> int:
    """That of a verification."""
    if report.differences:
        return ExportExit.DIFFERS
    return ExitCode.LOSSES if report.unreadable else ExitCode.OK


def exit_of_reconciliation(report: ReconcileReport) -> int:
    """That of a reconciliation: what others changed is a conflict of the next run."""
    if report.unreadable:
        return ExitCode.LOSSES
    return ExportExit.CONFLICTS if report.changed else ExitCode.OK


def exit_of_rollback(report: RollbackReport) -> int:
    """That of a roll-back: what stays is a loss."""
    return ExitCode.LOSSES if report.kept else ExitCode.OK
