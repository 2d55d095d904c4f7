"""What a Silo has noted of a job of Heritrix: marks beside its queues."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from silowork.queues.values import Queues

LAUNCH = re.compile(r"\d{14}")
"""Name of the directory of a launch."""


@dataclass(frozen=True, slots=True)
class Noted:
    """What is noted of a job.

    Attributes:
        target: The target of which it was made; empty if of none.
        directory: Of the job, absolute, if it is on a disk of this machine; else empty.
    """

    target: str = ""
    directory: str = ""


def noted(queues: Queues, job: str) -> Noted:
    """Return what is noted of a job."""
    with suppress(ValueError, TypeError, AttributeError, RecursionError):
        said = json.loads(queues.mark(_mark(job)) or "{}")
        return Noted(**{str(name): str(value) for name, value in said.items()})
    return Noted()


def note(queues: Queues, job: str, **changes: str) -> None:
    """Note something of a job."""
    before = noted(queues, job)
    if (after := replace(before, **changes)) != before:
        queues.put((), mark=(_mark(job), json.dumps(asdict(after))))


def launches_in(directory: str) -> list[str]:
    """The names of the directories of a job's launches, the oldest first."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return sorted(filter(LAUNCH.fullmatch, os.listdir(directory)))
    return []


def places_in(directory: str, launch: str, name: str) -> tuple[str, ...]:
    """Where an archive of a job is, now and when it is finished; empty if it is not there.

    Args:
        directory: Of the job.
        launch: In which it was written; empty if that is not known.
        name: Without a directory, and without ``.open``.
    """
    for path in _candidates(directory, launch, name):
        if os.path.exists(path) or os.path.exists(f"{path}.open"):
            return path, f"{path}.open"
    return ()


def _candidates(directory: str, launch: str, name: str) -> Iterator[str]:
    for one in [launch] if launch else reversed(launches_in(directory)):
        yield os.path.join(directory, one, "warcs", name)
    yield os.path.join(directory, "warcs", name)


def _mark(job: str) -> str:
    return f"heritrix {job}"
