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

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
from siloexport.values import ActionKind, Deletions, OnConflict, Result
from silowork.stop import Stop

if TYPE_CHECKING:
    from siloexport.targets.bag import BagTarget
    from siloexport.targets.datacite import DataciteTarget
    from siloexport.targets.datacite_dois import DataciteSettings
    from siloexport.targets.dspace import DspaceSettings, DspaceTarget
    from siloexport.targets.files import FilesTarget
    from siloexport.targets.ocfl import OcflTarget
    from siloexport.targets.sip import SipTarget
    from siloexport.targets.sip_writing import SipSettings

_TARGETS = {
    "BagTarget": "bag",
    "DataciteSettings": "datacite_dois",
    "DataciteTarget": "datacite",
    "DspaceSettings": "dspace",
    "DspaceTarget": "dspace",
    "FilesTarget": "files",
    "OcflTarget": "ocfl",
    "SipSettings": "sip_writing",
    "SipTarget": "sip",
}
"""The targets and their settings, and the modules in `siloexport.targets` that have them."""

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


def __getattr__(name: str) -> Any:
    """Import a target on first use; each command needs one of them."""
    if name in _TARGETS:
        return getattr(import_module(f"siloexport.targets.{_TARGETS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
