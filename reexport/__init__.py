"""Re-export: the chosen versions of records, out of a Silo into something else.

    >>> from recordsilo import Silo
    >>> from recordsilo.selection import Selection, filters_from
    >>> from reexport import Export, FilesTarget
    >>> ready = Selection(filters=filters_from(state="ready"))
    >>> report = Export(Silo("myrepo"), FilesTarget("out")).run(ready)
    >>> report.whole
    True

Which records go is a `Selection`, what of them a `Policy`, where to a `Target`; what
became of them is a report, a value. docs/export.md shows the commands.
"""

from recordsilo.selection import Selection
from reexport.engine import Export, Stop, Watch
from reexport.errors import (
    Conflict,
    CredentialsRefused,
    DepositFailed,
    ExportError,
    RetryLater,
    TargetFull,
    TargetUnusable,
)
from reexport.plan import Policy, Versions
from reexport.report import DepositOutcome, Progress, RunReport, VerifyReport
from reexport.targets import Target
from reexport.targets.bag import BagTarget
from reexport.targets.files import FilesTarget
from reexport.values import ActionKind, Deletions, OnConflict, Result

__all__ = [
    "ActionKind",
    "BagTarget",
    "Conflict",
    "CredentialsRefused",
    "Deletions",
    "DepositFailed",
    "DepositOutcome",
    "Export",
    "ExportError",
    "FilesTarget",
    "OnConflict",
    "Policy",
    "Progress",
    "Result",
    "RetryLater",
    "RunReport",
    "Selection",
    "Stop",
    "Target",
    "TargetFull",
    "TargetUnusable",
    "VerifyReport",
    "Versions",
    "Watch",
]
