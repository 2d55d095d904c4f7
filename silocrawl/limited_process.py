"""A process with limits that reads what strangers made, and what it says."""

import signal
import subprocess
import sys

from silocrawl import limited_child

MEMORY, SECONDS_OF_CPU, SECONDS = 1 << 30, 20, 60.0


def output_of(*arguments: str, given: bytes = b"") -> bytes | None:
    """Run the process (`limited_child`); empty if it could not read what it was given.

    None if it was killed or took too long: then another attempt may succeed. Using up its CPU time
    is no such end.

    Args:
        arguments: What it does, and with what.
        given: For its standard input.

    Raises:
        OSError: No process can be started.
    """
    command = [sys.executable, "-P", limited_child.__file__, str(MEMORY), str(SECONDS_OF_CPU)]
    try:
        done = subprocess.run(  # noqa: S603  # our own file
            [*command, *arguments],
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode < 0 and done.returncode != -signal.SIGXCPU:
        return None
    return done.stdout if done.returncode == 0 else b""
