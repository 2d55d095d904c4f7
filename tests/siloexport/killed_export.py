"""An export that kills itself with SIGKILL at its n-th step: a rename, a flush or a note.

python killed_export.py SILO OUT files|bags N
"""

import os
import signal
import sys
from typing import Any

from recordsilo import Silo
from siloexport import BagTarget, Export, FilesTarget, Policy, Versions
from siloexport.ledger import EntryPen, Ledger
from siloexport.targets.directory import DirectoryTarget

STEPS = [
    (os, "rename"),
    (DirectoryTarget, "flush"),
    (Ledger, "begin_all"),
    (Ledger, "end_all"),
    (Ledger, "note_sha512"),
    (EntryPen, "committing"),
]


def main(silo_path: str, out: str, form: str, left: int) -> None:
    for owner, name in STEPS:
        real = getattr(owner, name)

        def stepping(*arguments: Any, _real: Any = real, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            result = _real(*arguments, **named)
            if left == 1:  # between this step and the next
                left = 0
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        setattr(owner, name, stepping)
    target = BagTarget(out) if form == "bags" else FilesTarget(out, Versions.ALL)
    with Silo(silo_path) as silo:
        Export(silo, target, Policy(Versions.ALL)).run()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
