"""The events of a Silo: files of Parquet, one directory for each day.

A file is named by the digest of the lines that it is from, so writing it again changes nothing.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from recordsilo.disk.atomic_file import Barrier, StrictBarrier, flush_directory, make_parents
from recordsilo.extras import later
from silosteps.engine import Engine
from silosteps.errors import StepsError
from silosteps.step_file import steps_of
from usagestats.store.ledger import UsageLedger
from usagestats.store.paths import events_path, place

if TYPE_CHECKING:
    import numpy as np
else:
    np = later("numpy", "silo usage", "usage")

SUFFIX = ".parquet"
_NEW = ".new"
_DAYS = 256
"""Days whose events are given to the engine at once."""


def engine(silo_path: str, *, threads: int | None = None, memory: str = "512MB") -> Engine:
    """Return the engine with the steps of this package."""
    return Engine(
        steps_of("usagestats"), place(silo_path, "scratch"), memory=memory, threads=threads
    )


def event_path(silo_path: str, day: str, name: str) -> str:
    """Return the path of a file of events."""
    return os.path.join(events_path(silo_path, day), name + SUFFIX)


def write_events(
    silo_path: str,
    steps: Engine,
    name: str,
    columns: Mapping[str, np.ndarray[Any, Any]],
    *,
    items: Mapping[int, str],
    countries: list[str],
    barrier: Barrier,
) -> dict[str, tuple[str, int]]:
    """Write the events of a block, a file for each day.

    Args:
        name: Of the files.
        columns: As ``steps.sql`` describes them; `item` and `country` are numbers.
        items: Number → identifier.
        countries: Codes, by their number.
        barrier: Flushed at the end: then the files are on the medium.

    Returns:
        Day → name and number of its events.
    """
    written: dict[str, tuple[str, int]] = {}
    steps.table(
        "country_code",
        {"number": np.arange(len(countries)), "code": np.array(countries, object)},
    )
    for some in _by_days(columns):
        numbers = np.unique(some["item"])
        names = np.array([_storable(items[one]) for one in numbers.tolist()], object)
        steps.table("given", some)
        steps.table("item_name", {"number": numbers, "name": names})
        steps.run("named_events").drop(("given", "item_name"))
        days, events = np.unique(some["day"], return_counts=True)
        for day, number in zip(days.tolist(), events.tolist(), strict=True):
            text = day_text(day)
            path = event_path(silo_path, text, name)
            make_parents(path, silo_path)
            staged = f"{path}.{os.getpid()}{_NEW}"
            steps.run("write_events", day=day, file=staged)
            _finish(staged, path, barrier)
            written[text] = (name, number)
    if written:
        steps.drop(("named", "country_code"))
        barrier.directory_changed(place(silo_path, "events"))
        barrier.flush()
    return written


def _by_days(
    columns: Mapping[str, np.ndarray[Any, Any]],
) -> Iterator[Mapping[str, np.ndarray[Any, Any]]]:
    """Yield the events of at most `_DAYS` days at a time, as each day reads all that is given."""
    days = np.unique(columns["day"])
    if len(days) <= _DAYS:
        yield from (columns,) if len(days) else ()
        return
    order = np.argsort(columns["day"], kind="stable")
    ends = np.searchsorted(columns["day"][order], days[_DAYS::_DAYS])
    for rows in np.split(order, ends):
        yield {name: values[rows] for name, values in columns.items()}


def _storable(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _finish(staged: str, path: str, barrier: Barrier) -> None:
    """Rename a new file."""
    fd = os.open(staged, os.O_RDONLY)
    try:
        barrier.file_written(fd)
    finally:
        os.close(fd)
    os.rename(staged, path)
    barrier.directory_changed(os.path.dirname(path))


def day_text(day: int) -> str:
    """Return a day, counted from 1970, in ISO 8601."""
    return str(np.datetime64(day, "D"))


def day_number(day: str) -> int:
    """Return the number of a day, counted from 1970."""
    return int(np.datetime64(day, "D").astype(np.int64))


def merge_files(silo_path: str, steps: Engine, ledger: UsageLedger, day: str, most: int) -> None:
    """Put the files of a day that are from the same logs into one, if they are too many.

    Those of other logs stay apart, so that they can be replaced when these are read again.
    """
    for names in ledger.files_by_source(day):
        if len(names) > most:
            _merge(silo_path, steps, ledger, day, names)


def _merge(silo_path: str, steps: Engine, ledger: UsageLedger, day: str, names: list[str]) -> None:
    made = hashlib.sha256("\n".join(names).encode()).hexdigest()[:32]
    path = event_path(silo_path, day, made)
    staged = f"{path}.{os.getpid()}{_NEW}"
    files = [event_path(silo_path, day, name) for name in names]
    steps.run("merge_events", files=files, file=staged)
    [(number,)] = steps.run("number_of_events", files=[staged]).all()
    barrier = StrictBarrier()
    _finish(staged, path, barrier)
    barrier.flush()
    ledger.replace_files(day, made, number, names)
    remove(silo_path, day, names)


def rewrite_without(
    silo_path: str, steps: Engine, ledger: UsageLedger, day: str, step: str, **values: Any
) -> tuple[int, list[str]]:
    """Remove events from a day.

    Args:
        ledger: Of the Silo.
        day: ISO 8601.
        step: The step that leaves them out, such as ``without_client``.
        values: Its parameters.

    Returns:
        How many they were, and the files that cannot be read, which stay.
    """
    removed, unreadable = 0, []
    for name, number in ledger.files(day):
        if not can_be_read(steps, event_path(silo_path, day, name)):
            unreadable.append(event_path(silo_path, day, name))
            continue
        made = f"{name}-without"
        path = event_path(silo_path, day, made)
        staged = f"{path}.{os.getpid()}{_NEW}"
        steps.run(step, files=[event_path(silo_path, day, name)], file=staged, **values)
        [(left,)] = steps.run("number_of_events", files=[staged]).all()
        if left == number:
            os.unlink(staged)
            continue
        barrier = StrictBarrier()
        _finish(staged, path, barrier)
        barrier.flush()
        ledger.replace_files(day, made if left else "", left, [name], fewer=True)
        remove(silo_path, day, [name] if left else [name, made])
        removed += number - left
    return removed, unreadable


def unreadable_files(
    silo_path: str, steps: Engine, ledger: UsageLedger, days: Iterable[str]
) -> dict[str, list[str]]:
    """Return the files of some days that are missing or damaged, by their day."""
    found: dict[str, list[str]] = {}
    for day in days:
        for name, _ in ledger.files(day):
            path = event_path(silo_path, day, name)
            if not can_be_read(steps, path):
                found.setdefault(day, []).append(path)
    return found


def can_be_read(steps: Engine, path: str) -> bool:
    """Whether a file of events is there and whole; reads all of it."""
    if not os.path.isfile(path):
        return False
    try:
        steps.run("read_events", files=[path]).all()
    except StepsError:
        return False
    return True


def remove(silo_path: str, day: str, names: Iterable[str]) -> None:
    """Remove files of events that the ledger no longer names."""
    for name in names:
        with suppress(FileNotFoundError):
            os.unlink(event_path(silo_path, day, name))
    if os.path.isdir(directory := events_path(silo_path, day)):
        flush_directory(directory)


def remove_unnamed(silo_path: str, ledger: UsageLedger, before: float) -> None:
    """Remove files of events that a killed import left, and that the ledger does not name.

    Args:
        ledger: Its ledger.
        before: Only files that were written before, in seconds since 1970: another import may
            be about to name younger ones.
    """
    named = ledger.all_files()
    for path in glob.glob(os.path.join(glob.escape(place(silo_path, "events")), "*", "*")):
        day, file = path.split(os.sep)[-2:]
        with suppress(FileNotFoundError):  # another process was faster
            if (day, file.removesuffix(SUFFIX)) not in named and os.path.getmtime(path) < before:
                os.unlink(path)
