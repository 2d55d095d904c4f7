"""Export chosen versions of records from a Silo to a target.

    >>> from recordsilo import SearchFilters, Selection, Silo
    >>> from siloexport import Export, FilesTarget
    >>> ready = Selection(filters=SearchFilters(values={"state": ["ready"]}))
    >>> report = Export(Silo("myrepo"), FilesTarget("out")).run(ready)
    >>> report.whole
    True

A `Selection` says which records are exported, a `Policy` which of their versions, a `Target`
where to. The result is a report. docs/export.md shows the commands.
"""

from recordsilo.selection import Selection
from siloexport.engine.export import Export, Watch
from siloexport.errors import (
    Conflict,
    CredentialsRefused,
    DepositFailed,
    ExportError,
    RetryLater,
    TargetFull,
    TargetUnusable,
)
from siloexport.plan import Policy, Versions
from siloexport.report import DepositOutcome, Progress, RunReport, VerifyReport
from siloexport.targets import Target
from siloexport.targets.bag import BagTarget
from siloexport.targets.datacite import DataciteTarget
from siloexport.targets.datacite_dois import DataciteSettings
from siloexport.targets.dspace import DspaceSettings, DspaceTarget
from siloexport.targets.files import FilesTarget
from siloexport.targets.ocfl import OcflTarget
from siloexport.targets.sip import SipTarget
from siloexport.targets.sip_writing import SipSettings
from siloexport.values import ActionKind, Deletions, OnConflict, Result
from silowork.stop import Stop

__all__ = [
    "ActionKind",
    "BagTarget",
    "Conflict",
    "CredentialsRefused",
    "DataciteSettings",
    "DataciteTarget",
    "Deletions",
    "DepositFailed",
    "DepositOutcome",
    "DspaceSettings",
    "DspaceTarget",
    "Export",
    "ExportError",
    "FilesTarget",
    "OcflTarget",
    "OnConflict",
    "Policy",
    "Progress",
    "Result",
    "RetryLater",
    "RunReport",
    "Selection",
    "SipSettings",
    "SipTarget",
    "Stop",
    "Target",
    "TargetFull",
    "TargetUnusable",
    "VerifyReport",
    "Versions",
    "Watch",
]
