"""Errors of commands as messages and exit codes."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager

from recordsilo.cli import ExitCode, fail
from silocuration.errors import CurationError, JobBusy, SheetChanged

CONFLICT = 5
"""Exit code if a file was left because it was changed; as for `silo export`."""


@contextmanager
def sentences(silo_dir: str = "", job: str = "") -> Iterator[None]:
    """Turn errors into a message and an exit code.

    Args:
        silo_dir: The Silo of the running job, as the command got it.
        job: The id of the running job, which can be resumed after an interrupt.
    """
    try:
        yield
    except SheetChanged as error:
        fail(str(error), CONFLICT)
    except JobBusy as error:
        fail(f"{error}; try again when it has ended", ExitCode.STOPPED)
    except CurationError as error:
        fail(str(error))
    except KeyboardInterrupt:
        if not job:
            raise
        again = shlex.join(["silo", "bulk", "resume", silo_dir, job])
        fail(f"interrupted; {again} continues", ExitCode.INTERRUPTED)
