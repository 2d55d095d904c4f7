"""Re-export: the chosen versions of records, out of a Silo into something else.

    >>> from recordsilo import Silo
    >>> from reexport import FilesTarget, Selection, export
    >>> report = export(Silo("myrepo"), FilesTarget("out"), Selection())

A *target* takes one `Package` after the other; which records go is a `Selection`;
what became of them is a `Report`.
"""

from reexport.engine import Report, Selection, export
from reexport.errors import ExportError, TargetUnusable
from reexport.package import Outcome, Package
from reexport.targets import Target
from reexport.targets.files import FilesTarget

__all__ = [
    "ExportError",
    "FilesTarget",
    "Outcome",
    "Package",
    "Report",
    "Selection",
    "Target",
    "TargetUnusable",
    "export",
]
