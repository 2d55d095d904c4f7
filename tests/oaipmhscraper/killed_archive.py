"""A move of WARC files that kills itself at its n-th step: COMMAND SILO STORE N."""

import os
import sys

from killing import kill_at

from filestores.object_store import ObjectStore
from oaipmhscraper.harvests import archiving

STEPS = [
    (ObjectStore, "put"), (ObjectStore, "check"), (archiving, "note_elsewhere"), (os, "unlink"),
    (archiving, "flush_directory"), (archiving, "write_new"), (os, "rename"),
]  # fmt: skip

if __name__ == "__main__":
    command, silo, store, number = sys.argv[1:]
    kill_at(STEPS, int(number), early=True)
    moved = archiving.Moved()
    if command == "archive":
        archiving.archive(silo, store, moved)
    else:
        archiving.bring_back(silo, moved)
