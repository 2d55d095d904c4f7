"""Garbage collection and freed memory, in processes that work through many records."""

import ctypes
import gc
from contextlib import suppress

THRESHOLD = 100_000
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT, _LARGEST = 16 << 20, 4 << 20


def collect_rarely() -> None:
    """Exclude all present objects from garbage collection, and collect new ones rarely.

    Called once, when a process starts. Records, manifests and rows have no cycles, so counting
    references frees them; looking for cycles after every 700 new objects was a tenth of a
    harvest's CPU time (2026-11-22). Cycles that libraries make are still freed, after
    `THRESHOLD` new objects, so memory does not grow with the number of records.
    """
    gc.freeze()
    gc.set_threshold(THRESHOLD)


def leave_rest() -> None:
    """Exclude all objects from the garbage collection at the end of a process.

    Called once, before it ends: its memory is freed as a whole then. To look for cycles in what
    an import of usage has in memory took 0.15 s of CPU (2026-11-29).
    """
    gc.freeze()


def keep_freed_memory() -> None:
    """Let the C library keep memory that was freed, up to 16 MiB, for what comes next.

    Otherwise glibc gives the memory of each large object back to the system: of every page of a
    harvest, which then takes 0.3 ms longer to get the same memory again, cleared. Objects above
    4 MiB are still given back. Elsewhere this does nothing.
    """
    with suppress(AttributeError, OSError):  # no such function: another C library
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGEST)
        library.mallopt(_M_TRIM_THRESHOLD, _KEPT)
