"""A merge that kills itself at its n-th step: STORE ACCESS N."""

import os
import sys
from datetime import UTC, datetime

from killing import kill_at

from silocrawl import cdxj, places
from silocrawl.packages import merging
from silocrawl.packages.merging import AccessNode
from silocrawl.packages.store import open_store

STEPS = [
    (os, "rename"), (cdxj, "flush_directory"), (places, "replace_file"), (merging, "append_lines"),
    (merging, "merge_places"), (merging, "replace_file"),
]  # fmt: skip

if __name__ == "__main__":
    address, directory, number = sys.argv[1:]
    kill_at(STEPS, int(number), early=True)
    for _ in AccessNode(directory, "reading-room").merge(
        open_store(address), datetime(2026, 4, 1, tzinfo=UTC)
    ):
        pass
