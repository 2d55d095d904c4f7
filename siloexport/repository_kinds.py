"""The kinds of targets that other repositories take in: RO-Crates."""

from contextlib import AbstractContextManager, nullcontext

from siloexport.target_kinds import Opening, TargetKind
from siloexport.targets import Target
from siloexport.targets.rocrate import CrateTarget


def _crates(opening: Opening) -> AbstractContextManager[Target]:
    return nullcontext(CrateTarget(opening.out, opening.versions))


ROCRATE = TargetKind(
    "rocrate",
    "RO-Crates",
    "Export RO-Crates",
    """Write one RO-Crate 1.2 (a directory) for each record to OUT.

    A crate has the record's files and metadata, and ro-crate-metadata.json, which describes
    them, the people, licences and identifiers, and how each version was made.
    """,
    examples=(
        "silo export rocrate myrepo crates",
        "silo export rocrate myrepo crates --versions all --search 'type:Dataset'",
    ),
    open=_crates,
    is_directory=True,
    explained="Directories that describe themselves in JSON-LD, for research data repositories.",
    order=14,
)
