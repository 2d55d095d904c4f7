"""The kinds of jobs, each contributed by a package through an entry point.

An entry point ``change`` names a `Kind`. One with a dot (``harvest.proposals``) names a
step that is done after a job of that kind: ``(Work, Ending) -> Ending``.
"""

from collections import UserDict
from collections.abc import Callable
from typing import TypeAlias

from recordsilo.contributions import (
    OURS,
    ContributionBroken,
    contribution,
    load,
    points,
    warn_once,
)
from silowork.errors import JobRefused
from silowork.values import Ending, Job
from silowork.work import Asked, Fields, Kind, Work

ENTRY_POINTS = "recordsilo.jobs"
Step: TypeAlias = Callable[[Work, Ending], Ending]


def kind_names() -> list[str]:
    """The names of all kinds, sorted."""
    return [name for name in points(ENTRY_POINTS) if "." not in name]


def kind_of(name: str) -> Kind:
    """A kind by its name.

    Raises:
        JobRefused: No package has a kind of that name, or it cannot be loaded.
    """
    if name not in kind_names():
        raise JobRefused(f"there is no kind of job {name!r}; there are {', '.join(kind_names())}")
    try:
        return contribution(ENTRY_POINTS, name, Kind)
    except ContributionBroken as error:
        raise JobRefused(str(error)) from error


def steps_after(name: str) -> list[Step]:
    """The steps of other packages after a job of a kind, sorted by entry point."""
    steps = points(ENTRY_POINTS)
    return [load(steps[one]) for one in steps if one.startswith(f"{name}.")]


def own_names() -> list[str]:
    """The names of the kinds and steps of this distribution, sorted."""
    found = points(ENTRY_POINTS).values()
    return [point.name for point in found if point.dist and point.dist.name == OURS]


def done_in_all(job: Job) -> int | None:
    """How many records the whole job did; None while it runs, or if that is not known."""
    if not job.counts:
        return None
    try:
        return int(job.counts.get(kind_of(job.kind).result, 0))
    except JobRefused:  # a package that was there when the job was started
        return None


def begun_by_form() -> list[str]:
    """The names of the kinds that can be started by a form."""
    found = []
    for name in kind_names():
        try:
            if kind_of(name).read is not None:
                found.append(name)
        except JobRefused as error:
            warn_once(str(error))
    return found


def read_request(kind: str, fields: Fields, silo_path: str, records: int) -> Asked:
    """Make a job from the fields of a form.

    Args:
        kind: One of `begun_by_form`; batch edits start from their preview instead.
        fields: Name → text.
        records: The number of records in the Silo.

    Raises:
        JobRefused: A field is invalid, or the kind does not have it; the message says which.
    """
    known = begun_by_form()
    if kind not in known:
        raise JobRefused(
            f"a job of the kind {kind!r} cannot be started here; use one of {', '.join(known)}"
        )
    read = kind_of(kind).read
    assert read is not None
    noting = _Noting(fields)
    asked = read(noting, silo_path, records)
    if unknown := sorted(fields.keys() - noting.read):
        raise JobRefused(
            f"a job of the kind {kind!r} has no field {unknown[0][:50]!r} here; "
            f"it has {', '.join(sorted(noting.read)) or 'none'}"
        )
    return asked


class _Noting(UserDict[str, str]):
    """Fields that record which of them are read, even if they are missing."""

    def __init__(self, fields: Fields) -> None:
        self.read: set[str] = set()
        super().__init__(fields)

    def __contains__(self, name: object) -> bool:
        self.read.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.read.add(name)
        return super().__getitem__(name)
