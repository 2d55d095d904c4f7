"""The kinds of jobs, each contributed by a package through an entry point.

An entry point ``change`` names a `Kind`. One with a dot (``harvest.proposals``) names a
step that is done after a job of that kind: ``(Work, Ending) -> Ending``.
"""

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TypeAlias

from silowork.errors import JobRefused
from silowork.values import Ending
from silowork.work import Asked, Fields, Kind, Work

ENTRY_POINTS = "recordsilo.jobs"
Step: TypeAlias = Callable[[Work, Ending], Ending]


@cache
def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def kind_names() -> list[str]:
    """The names of all kinds, sorted."""
    return sorted(name for name in _points() if "." not in name)


def kind_of(name: str) -> Kind:
    """A kind by its name.

    Raises:
        JobRefused: No package has a kind of that name.
    """
    if name not in kind_names():
        raise JobRefused(f"there is no kind of job {name!r}; there are {', '.join(kind_names())}")
    kind: Kind = _points()[name].load()
    return kind


def steps_after(name: str) -> list[Step]:
    """What other packages do after a job of a kind, by the names of the entry points."""
    return [_points()[one].load() for one in sorted(_points()) if one.startswith(f"{name}.")]


def begun_by_form() -> list[str]:
    """The names of kinds that a form begins."""
    return [name for name in kind_names() if kind_of(name).read is not None]


def read_request(kind: str, fields: Fields, silo_path: str, records: int) -> Asked:
    """A job from the fields of a form.

    Args:
        kind: One of `begun_by_form`; bulk changes begin with their preview, not here.
        fields: Names → texts.
        records: How many the Silo has.

    Raises:
        JobRefused: A sentence says what is wrong.
    """
    known = begun_by_form()
    if kind not in known:
        raise JobRefused(f"a job of the kind {kind!r} is not begun here; {', '.join(known)} are")
    read = kind_of(kind).read
    assert read is not None
    return read(fields, silo_path, records)
