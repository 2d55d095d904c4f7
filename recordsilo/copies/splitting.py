"""Divide a Silo into several new ones, in one pass: by set, prefix, year, type or language."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime

from recordsilo.batches import batched
from recordsilo.changed import moment_of, removed_since
from recordsilo.copies.beside import carry_some, created_of, settings_of
from recordsilo.copies.copying import CopyReport, Progress, add, leave_out_removed, order_of
from recordsilo.copies.errors import CopyRefused
from recordsilo.copies.new_silo import NewSilo, Order, check_apart
from recordsilo.disk.atomic_file import make_directory, remove_file, replace_file
from recordsilo.disk.identifier import clean
from recordsilo.disk.names import COPYING
from recordsilo.disk.regular_file import open_regular
from recordsilo.errors import VERSION_FILE, SiloNotFound
from recordsilo.index import Described
from recordsilo.records.place import RecordPlace
from recordsilo.selection import Selection, selection_table
from recordsilo.silo import Silo
from recordsilo.wording import counted

REST, SELECTED = "rest", "selected"
BY = ("set", "prefix", "year", "type", "language", "selection")
MOST, _CHUNK, _LONGEST = 500, 500, 100
Parts = Mapping[str, CopyReport]
"""Name of a part's directory → what was copied there."""


def split_silo(
    silo: Silo,
    target: str,
    by: str,
    select: Selection,
    progress: Progress,
    *,
    dry_run: bool = False,
) -> Parts:
    """Divide the selected records: each is in a part for each of its values, or in the rest.

    Args:
        silo: Nothing is written there.
        target: The directory of the new Silos, new or of the same split that was interrupted.
        by: One of `BY`. ``set``: the sets at the top; ``prefix``: the identifier up to its last
            colon; ``selection``: the selected records, and the others.
        select: What is divided; with ``selection``, what is selected.
        progress: Called with the number of records so far; may raise to stop.
        dry_run: Only count.

    Raises:
        CopyRefused: It cannot begin or continue, or would make more than `MOST` Silos.
        SearchError, IndexProblem: See `Selection.iterate`.
        OSError: A directory cannot be written.
    """
    check_apart([silo.path], target)
    if by == "selection" and select.is_everything:
        raise CopyRefused("select the records of the first Silo, for example with --search")
    order = order_of("split", [silo.path], selection_table(select), by=by)
    _check_place(target, order)
    parts = _counted(silo, by, select)
    if dry_run:
        return parts
    target = _begun(target, order)
    todo = [name for name in parts if not _is_done(f"{target}/{name}")]
    finished = sorted(parts.keys() - set(todo))
    for name in finished:
        parts[name].there = parts[name].records
    if finished and (changed := _changed_since(silo, os.stat(f"{target}/{COPYING}").st_mtime)):
        parts[finished[0]].notes.append(
            f"{counted(changed, 'record')} changed since this split began, and the parts that were"
            f" finished before ({', '.join(finished)}) do not know of it; to be sure that no record"
            f" is missing or old, delete {target} and split again"
        )
    with ExitStack() as stack:
        news = {
            name: stack.enter_context(NewSilo(f"{target}/{name}", {**order, "part": name}))
            for name in todo
        }
        for name, new in news.items():
            if not new.is_whole:
                told = parts[name].notes.append
                parts[name].left = carry_some([silo.path], new.path, told, responses=False)
        for done, (identifier, some) in enumerate(_named(silo, by, select), 1):
            for name in some:
                if name in news and not news[name].is_whole:
                    place = RecordPlace.in_silo(silo.path, identifier)
                    add(news[name], place, parts[name], lambda _count: None)
            progress(done)
        for name, new in news.items():
            _finish(silo, new, parts[name])
    remove_file(f"{target}/{COPYING}")
    return parts


def _counted(silo: Silo, by: str, select: Selection) -> Parts:
    """The parts with their numbers of records, by name."""
    counts = Counter(name for _, some in _named(silo, by, select) for name in some)
    if len(counts) > MOST:
        raise CopyRefused(
            f"this would make {len(counts):,} Silos, and at most {MOST} are made at once; select "
            "fewer records, or divide by something else"
        )
    return {name: CopyReport(counts[name]) for name in sorted(counts)}


def _finish(silo: Silo, new: NewSilo, report: CopyReport) -> None:
    if not new.is_whole:
        leave_out_removed(silo, new)
    new.finish(settings_of([silo.path]), created_of([silo.path]))
    if new.records:
        report.count(new)


def _begun(target: str, order: Order) -> str:
    """Make the directory of a split, and note in it that it is not finished; returns its path."""
    path = os.path.abspath(target)
    try:
        make_directory(path)
    except OSError as error:
        raise SiloNotFound.uncreated(target, error) from error
    if not os.path.exists(f"{path}/{COPYING}"):  # its time is that of the beginning
        replace_file(f"{path}/{COPYING}", json.dumps(order).encode())
    return path


def _changed_since(silo: Silo, moment: float) -> int:
    """The number of records that were changed or removed after a time (of the system's clock)."""
    since = f"{datetime.fromtimestamp(int(moment) + 1, UTC):%Y-%m-%dT%H:%M:%S}"
    changed = silo.search("", {"changed_since": since}).total
    return changed + len(removed_since(silo, moment_of(since)))


def _check_place(target: str, order: Mapping[str, object]) -> None:
    try:
        names = os.listdir(target)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise CopyRefused(f"{target} is a file; choose a new directory") from None
    if not names:
        return
    try:
        with open_regular(f"{target}/{COPYING}") as file:
            begun = json.load(file)
    except (OSError, ValueError):
        raise CopyRefused(f"{target} exists; choose a new directory") from None
    if begun != dict(order):
        raise CopyRefused(
            f"{target} has another copy that is not finished; finish it by the same command, or "
            "delete the directory"
        )


def _is_done(path: str) -> bool:
    return os.path.exists(f"{path}/{VERSION_FILE}") and not os.path.exists(f"{path}/{COPYING}")


def _named(silo: Silo, by: str, select: Selection) -> Iterator[tuple[str, list[str]]]:
    """Each record, and the names of the parts that it is in."""
    if by == "selection":
        chosen = set(select.iterate(silo))
        yield from ((one, [SELECTED if one in chosen else REST]) for one in silo)
        return
    tops = _tops(silo) if by == "set" else {}
    for some in batched(select.iterate(silo), _CHUNK):
        described = {} if by == "prefix" else silo.described(some)
        for identifier in some:
            if by == "prefix":
                values = [identifier.rpartition(":")[0]]
            else:
                found = described.get(identifier, Described()).values.get(by, ())
                values = [tops.get(value, value) for value in found]
            names = dict.fromkeys(_name(value) for value in values if value)
            yield identifier, [*names] or [REST]


def _tops(silo: Silo) -> dict[str, str]:
    """setSpec → the set at the top that it is in: ``a`` for ``a:b``."""
    return {spec: spec.partition(":")[0] for spec in silo.set_counts()}


def _name(value: str) -> str:
    """The name of a directory for a value."""
    name = clean(value)
    if len(name) > _LONGEST or name.startswith(".") or name in (REST, COPYING):
        digest = hashlib.sha256(value.encode()).hexdigest()[:12]
        name = f"{name[:_LONGEST].lstrip('.')}-{digest}"
    return name
