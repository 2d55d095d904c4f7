"""An export that kills itself with SIGKILL at its n-th step: a rename, a flush or a note.

python killed_export.py SILO OUT files|bags|sips|ocfl|"ocfl by renames" N
"""

import os
import sys

from killing import kill_at

from recordsilo import Silo
from siloexport import (
    BagTarget,
    Export,
    FilesTarget,
    OcflTarget,
    Policy,
    SipTarget,
    Target,
    Versions,
)
from siloexport.ledger import EntryPen, Ledger
from siloexport.targets import ocfl_writing
from siloexport.targets.directory import DirectoryTarget

STEPS = [
    (os, "rename"),
    (DirectoryTarget, "flush"),
    (OcflTarget, "flush"),
    (ocfl_writing, "exchange"),
    (ocfl_writing, "remove_tree"),
    (Ledger, "begin_all"),
    (Ledger, "end_all"),
    (Ledger, "note_sha512"),
    (EntryPen, "committing"),
]


def target_of(form: str, out: str) -> Target:
    """The target in a directory."""
    if form == "files":
        return FilesTarget(out, Versions.ALL)
    if form.startswith("ocfl"):
        return OcflTarget(out)
    return BagTarget(out) if form == "bags" else SipTarget(out)


def main(silo_path: str, out: str, form: str, left: int) -> None:
    if form == "ocfl by renames":
        ocfl_writing.exchange = lambda *_: False
    kill_at(STEPS, left, early=True)
    with Silo(silo_path) as silo:
        Export(silo, target_of(form, out), Policy(Versions.ALL)).run()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
