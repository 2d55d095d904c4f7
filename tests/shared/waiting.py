"""Waiting for what other threads and processes do."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path


def wait_until(
    is_so: Callable[[], object], seconds: float = 120.0, *, between: float = 0.02
) -> None:
    """Wait until something is so.

    Args:
        is_so: Says whether it is.
        seconds: Until it fails; more than a busy machine takes.
        between: Seconds between two looks.
    """
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"it did not come about within {seconds:.0f} s"
        time.sleep(between)


def handles_sigterm(process: "subprocess.Popen[bytes]") -> bool:
    """Whether a process has started so far that it ends in its own way; looks at /proc."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    caught = next((line for line in status.splitlines() if line.startswith("SigCgt:")), "x 0")
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
