"""The probable duplicates that were found last, kept in ``.silo/duplicates.json``.

The file has what `KeptDuplicates` has, as JSON. It can always be made again; one that is damaged,
or of another release, is made again. Titles are not in it, so nothing of a removed record is.

As a program, ``python -m silocuration.review.kept_duplicates DIR``, this looks for them and
ends; it ends at once when its standard input does.
"""

import json
import math
import os
import signal
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from recordsilo import Silo
from recordsilo.child_process import end_with_parent, wait_for_end_of
from recordsilo.disk.atomic_file import replace_file
from recordsilo.disk.regular_file import open_regular
from recordsilo.records.manifest import now_text
from silocuration.review.duplicates import DuplicateGroup, alike, open_group

PLACE = ".silo/duplicates.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class KeptDuplicates:
    """What was found.

    Attributes:
        mark: `mark_of` the Silo when it was begun.
        date: When it was found; UTC, ISO 8601.
        seconds: How long it took.
        groups: Identifiers that are probably duplicates, whatever their marks; the surest
            first.
        undecided: For each group, those about which nothing is decided; two or more, or none.
    """

    mark: str
    date: str
    seconds: float
    groups: tuple[tuple[str, ...], ...]
    undecided: tuple[tuple[str, ...], ...]

    @property
    def to_decide(self) -> list[tuple[str, ...]]:
        """The groups about which a curator has to decide."""
        return [group for group in self.undecided if group]


def mark_of(silo: Silo) -> str:
    """A text that changes when records do."""
    return silo.changes(contributed=False).mark.rpartition(".")[0]


def read_kept(silo_path: str) -> KeptDuplicates | None:
    """What was found last; None if nothing was, or the file cannot be read."""
    try:
        with open_regular(os.path.join(silo_path, PLACE)) as file:
            return _parsed(json.load(file))
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


def _parsed(table: Any) -> KeptDuplicates:
    if table["format"] != _FORMAT:
        raise ValueError("another format")
    groups, undecided = (
        tuple(tuple(map(str, group)) for group in table[name]) for name in ("groups", "undecided")
    )
    if len(groups) != len(undecided):
        raise ValueError("groups are missing")
    seconds = float(table["seconds"])
    if not 0 <= seconds < math.inf:  # they would never be looked for again
        raise ValueError("the time is impossible")
    return KeptDuplicates(str(table["mark"]), str(table["date"]), seconds, groups, undecided)


def find_and_keep(silo: Silo) -> KeptDuplicates:
    """Look for duplicates, and keep them if the Silo can be written.

    Raises:
        IndexProblem: The index cannot be used now.

    Cost: see `alike`; reads the manifest of each record that is found.
    """
    mark, began = mark_of(silo), time.monotonic()
    groups = alike(silo)
    undecided = tuple(_undecided(silo, group.identifiers) for group in groups)
    seconds = time.monotonic() - began
    identifiers = tuple(group.identifiers for group in groups)
    return _keep(silo.path, KeptDuplicates(mark, now_text(), seconds, identifiers, undecided))


def after_marks(silo: Silo, kept: KeptDuplicates, identifiers: Collection[str]) -> KeptDuplicates:
    """Note what was decided about some records, without looking for others; keep it."""
    changed = {*identifiers}
    undecided = tuple(
        before if changed.isdisjoint(group) else _undecided(silo, group)
        for group, before in zip(kept.groups, kept.undecided, strict=True)
    )
    return _keep(silo.path, replace(kept, undecided=undecided))


def _undecided(silo: Silo, identifiers: tuple[str, ...]) -> tuple[str, ...]:
    found = open_group(silo, DuplicateGroup("", identifiers))
    return () if found is None else found.identifiers


def _keep(silo_path: str, kept: KeptDuplicates) -> KeptDuplicates:
    table = {
        "format": _FORMAT, "mark": kept.mark, "date": kept.date, "seconds": kept.seconds,
        "groups": kept.groups, "undecided": kept.undecided,
    }  # fmt: skip
    with suppress(OSError):
        replace_file(os.path.join(silo_path, PLACE), json.dumps(table).encode())
    return kept


if __name__ == "__main__":
    end_with_parent(partial(wait_for_end_of, 0), signal.SIG_DFL, 0)
    with Silo(sys.argv[1], create=False) as _silo:
        find_and_keep(_silo)
