"""A move that kills itself with SIGKILL at its n-th step: python killed_move.py DIR N."""

import os
import sys

from killing import kill_at

from recordsilo.state import PersistentState
from silofleet import moving, silo_directories
from silofleet.fleet import Fleet
from silofleet.ledger import FleetLedger

STEPS = [
    (silo_directories, "_ran"), (moving, "copy"), (moving, "compare"), (PersistentState, "sync"),
    (os, "rename"), (FleetLedger, "switch"), (FleetLedger, "end_move"),
]  # fmt: skip

if __name__ == "__main__":
    kill_at(STEPS, int(sys.argv[2]), early=True)
    with Fleet(sys.argv[1]) as fleet:
        moving.move(fleet, "one", "n2", print)
