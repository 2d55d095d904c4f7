"""Where temporary directories are in memory, which halves the time of tests that write."""

import os
import shutil

_SHARED, _ROOM = "/dev/shm", 2 << 30  # bytes; two processes of tests hold a tenth of it at once


def _has_room() -> bool:
    return os.access(_SHARED, os.W_OK) and shutil.disk_usage(_SHARED).free >= _ROOM


MEMORY = _SHARED if _has_room() else None
"""A directory in memory; None where the machine has none, or too little."""
