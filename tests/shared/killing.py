"""For tests of what a kill leaves: a process that kills itself at its n-th step."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

KILLED = -signal.SIGKILL
"""The exit code of a killed process."""


def exit_code_of(program: str, *arguments: str) -> int:
    """Run a Python program that may import this module; its exit code."""
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}
    command = [sys.executable, program, *arguments]
    return subprocess.run(command, env=environment, check=False).returncode


def kill_at(steps: Iterable[tuple[Any, str]], number: int, *, early: bool = False) -> None:
    """Let this process kill itself with SIGKILL before its n-th step.

    Args:
        steps: Modules or classes, with the name of the function that is a step.
        number: From 1 on, counted over all of them.
        early: Do it as soon as the step before has ended.
    """
    left = number

    def kill_if(due: int) -> None:
        if left == due:
            os.kill(os.getpid(), signal.SIGKILL)

    for owner, name in steps:
        real = getattr(owner, name)

        def stepping(*arguments: Any, _real: Any = real, **named: Any) -> Any:
            nonlocal left
            left -= 1
            kill_if(0)
            result = _real(*arguments, **named)
            if early:
                kill_if(1)
            return result

        setattr(owner, name, stepping)
