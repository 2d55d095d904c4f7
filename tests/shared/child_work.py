"""What children do in tests, as functions of a module that they can import."""

import os
import sys
import time
from pathlib import Path

from silowork.warm_children import Parent


def echo(parent: Parent, prefix: str = "") -> None:
    """Say everything that was heard again, until asked to end."""
    while (message := parent.hear()) is not None:
        parent.say(f"{prefix}{message}")


def work_until_interrupted(parent: Parent) -> None:
    """Work until interrupted, and say so."""
    try:
        with parent.stop.interrupting():
            parent.say("working")
            time.sleep(60)
    except KeyboardInterrupt:
        parent.say("interrupted")


def ignore(parent: Parent, path: str) -> None:
    """Ignore that it is to end."""
    Path(path).write_text(str(os.getpid()), encoding="utf-8")
    parent.say("ignoring")
    end = time.monotonic() + 60
    while time.monotonic() < end:
        time.sleep(0.05)


def end_well_if_main_was_loaded(_parent: Parent) -> None:
    """End well if the main script, which is run again in a child, says that it found a module."""
    sys.exit(not sys.modules["__mp_main__"].WAS_LOADED)


def fail(_parent: Parent) -> None:
    """Fail."""
    raise LookupError("what was wanted is not there")


def give_up(_parent: Parent) -> None:
    """End with a reason."""
    sys.exit("what was wanted is not there")


def end_late(parent: Parent, *_job: str) -> None:
    """End when asked to, as a process does for which that took too long."""
    parent.hear()
    sys.exit(os.EX_TEMPFAIL)


def touch_later(_parent: Parent, path: str) -> None:
    """Make a file after a moment."""
    time.sleep(0.1)
    Path(path).touch()
