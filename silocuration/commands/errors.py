"""Errors of commands as messages and exit codes."""

from collections.abc import Iterator
from contextlib import contextmanager

from recordsilo.cli import ExitCode, fail
from silocuration.errors import CurationError, JobBusy, SheetChanged

CONFLICT = 5
"""Exit code if a file was left because it was changed; as for `silo export`."""


@contextmanager
def sentences(job: str = "") -> Iterator[None]:
    """Turn errors into a message and an exit code.

    Args:
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
        fail(f"interrupted; silo bulk resume DIR {job} continues", ExitCode.INTERRUPTED)
