"""Facets of any field over all records of a search, as they were counted last.

``.silo/facets/<search and field>-<grouping>.json`` has what `KeptFacet` has, as JSON; the first
part is a digest of both. A file can always be made again, by `facet_job`; one that is damaged, or
of another release, is as if there were none. The oldest beyond `MOST_FILES` are removed, and all
of them when a record is removed for good, as they have its values.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from recordsilo.disk.atomic_file import make_directory, remove_left_over, remove_tree, replace_file
from recordsilo.disk.identifier import check_identifier
from recordsilo.disk.regular_file import open_regular
from recordsilo.removals import OnRemoval
from recordsilo.selection import Selection, selection_table
from silocuration.review.any_field import Grouping

PLACE = ".silo/facets"
MOST_GROUPS = 200
"""Groups of a file."""
MOST_RECORDS = 100
"""Records of a group that a file names."""
MOST_BYTES = 500_000
"""About the size of the largest file: further groups are left out."""
MOST_READ = 4_000_000
"""Bytes of a file that is read; no file that was written here is as large."""
MOST_FILES = 200
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class KeptGroup:
    """A group of values.

    Attributes:
        values: How many values, counting each time one occurs.
        records: How many records have one of them.
        first: The first of these records.
    """

    label: str
    values: int
    records: int
    first: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptFacet:
    """One grouping of the values of a field in all records of a search.

    Attributes:
        mark: `mark_of` the Silo when it was begun.
        date: When it was counted; UTC, ISO 8601.
        read: Records whose values were read.
        unread: Records whose description cannot be read.
        groups: How many groups there are; `first` has the first of them.
    """

    mark: str
    date: str
    read: int
    unread: int
    groups: int
    first: tuple[KeptGroup, ...]


def read_facet(silo_path: str, select: Selection, field: str, how: Grouping) -> KeptFacet | None:
    """What was counted last; None if nothing was, or the file cannot be read."""
    try:
        with open_regular(_file_of(silo_path, select, field, how)) as file:
            content = file.read(MOST_READ + 1)
        return _parsed(json.loads(content)) if len(content) <= MOST_READ else None
    except (OSError, ValueError, LookupError, TypeError, OverflowError, RecursionError):
        return None


def keep_facets(
    silo_path: str, select: Selection, field: str, facets: Mapping[Grouping, KeptFacet]
) -> None:
    """Keep the groupings of a field, each in its file, completely or not at all.

    Raises:
        OSError: A file cannot be written; those before it are.
    """
    make_directory(os.path.join(silo_path, PLACE))
    for how, one in facets.items():
        path = _file_of(silo_path, select, field, how)
        remove_left_over(path)
        replace_file(path, json.dumps(_table(one)).encode())
    _remove_oldest(os.path.join(silo_path, PLACE))


def forget_facets(silo_path: str, _identifiers: Sequence[str] = ()) -> None:
    """Remove all that was counted.

    Raises:
        OSError: A file cannot be removed.
    """
    with suppress(FileNotFoundError):
        remove_tree(os.path.join(silo_path, PLACE))


REMOVAL = OnRemoval("facets", forget_facets)


def within_size(groups: Iterable[KeptGroup]) -> tuple[KeptGroup, ...]:
    """Return the first groups that a file has room for, with the records that it has room for."""
    kept: list[KeptGroup] = []
    size = 0
    for one in groups:
        size += len(json.dumps([one.label, one.first]))
        if size > MOST_BYTES:
            break
        kept.append(one)
    return tuple(kept)


def _file_of(silo_path: str, select: Selection, field: str, how: Grouping) -> str:
    asked = json.dumps([selection_table(select), field], sort_keys=True)
    digest = hashlib.sha256(asked.encode("ascii")).hexdigest()[:32]
    return os.path.join(silo_path, PLACE, f"{digest}-{how}.json")


def _table(one: KeptFacet) -> dict[str, Any]:
    return {
        "format": _FORMAT, "mark": one.mark, "date": one.date, "read": one.read,
        "unread": one.unread, "groups": one.groups,
        "first": [[each.label, each.values, each.records, each.first] for each in one.first],
    }  # fmt: skip


def _parsed(table: Any) -> KeptFacet:
    if table["format"] != _FORMAT:
        raise ValueError("another format")
    first = tuple(
        KeptGroup(_sound(label), int(values), int(records), tuple(map(check_identifier, some)))
        for label, values, records, some in table["first"]
    )
    read, unread, groups = (int(table[name]) for name in ("read", "unread", "groups"))
    return KeptFacet(_sound(table["mark"]), _sound(table["date"]), read, unread, groups, first)


def _sound(text: Any) -> str:
    """The text, if a page can have it: without a lone surrogate or U+0000.

    Raises:
        ValueError: It has one.
        TypeError: It is no text.
    """
    if not isinstance(text, str):
        raise TypeError("not a text")
    if "\0" in text:
        raise ValueError("U+0000")
    text.encode()
    return text


def _remove_oldest(directory: str) -> None:
    try:
        with os.scandir(directory) as entries:
            by_age = sorted((one.stat().st_mtime_ns, one.path) for one in entries)
    except FileNotFoundError:  # some are being removed; the next count looks again
        return
    for _age, path in by_age[:-MOST_FILES]:
        with suppress(FileNotFoundError):
            os.unlink(path)
