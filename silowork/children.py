"""The processes of workers and jobs: ``python -m silowork``, each started by another one.

A child's standard input is a pipe to which nothing is written: the child ends when it is closed.
"""

import subprocess
import sys
from contextlib import suppress
from typing import IO

from recordsilo.child_process import SECONDS_TO_END
from silowork.stop import Stop

Child = subprocess.Popen[bytes]
SECONDS_BETWEEN_LOOKS = 0.2
"""Between two looks at whether a child is to be asked to end."""


def started(*arguments: str, log: IO[bytes] | None = None) -> Child:
    """Start a child in a session of its own, so that only its parent handles Ctrl-C.

    Args:
        arguments: See `silowork.__main__`.
        log: Gets what it prints; by default it prints where this process does.

    Raises:
        OSError: No process can be started.
    """
    return subprocess.Popen(  # noqa: S603  # our own module and paths
        [sys.executable, "-P", "-m", "silowork", *arguments],
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def ask_to_end(child: Child) -> None:
    """Close the child's standard input; may be called again."""
    with suppress(OSError):
        if child.stdin is not None:
            child.stdin.close()


def ended(child: Child, seconds: float = SECONDS_TO_END + 2.0) -> int:
    """Ask a child to end, kill it after some seconds, and return its exit code."""
    ask_to_end(child)
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()


def end_of(child: Child, stop: Stop) -> int:
    """Wait for a child's end, which it is asked for as soon as `stop` is; return its exit code."""
    while child.poll() is None:
        if stop.wait(SECONDS_BETWEEN_LOOKS):
            ended(child)
    ask_to_end(child)
    return int(child.returncode)


def told(code: int) -> str:
    """How a child ended, as a predicate; a negative code is that of a signal."""
    return f"was killed by signal {-code}" if code < 0 else f"ended with {code}"
