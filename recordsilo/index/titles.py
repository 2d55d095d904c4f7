"""Records by the beginnings of their titles, folded for sorting.

The columns have the records in the order of titles; a place in it is found by reading a few.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recordsilo.index.columns import Columns
from recordsilo.index.rows import title_key

_CHUNK = 50


class Title(NamedTuple):
    """A record's title, by which it is sorted."""

    key: str
    number: int
    title: str
    identifier: str


def titles_between(
    connection: sqlite3.Connection, columns: Columns, low: str, high: str
) -> Iterator[Title]:
    """The records whose titles' keys are within two bounds, both included, in their order.

    Args:
        connection: A connection with an open snapshot of the index.
        columns: The facet columns, in step with that snapshot.
        low, high: Texts as of `recordsilo.index.rows.title_key`.

    Cost: reads some records to find the first, those that are taken, and those that changed since
    the order was made.
    """
    order = columns.order(connection, "title")

    def key_of(number: int) -> str | None:
        return next((one.key for one in _read(connection, [number])), None)

    changed = [one for one in _read(connection, [*order.changed]) if low <= one.key <= high]
    changed.sort(reverse=True)
    place = order.first(key_of, low.__le__)
    for start in range(place, len(order.ids), _CHUNK):
        some = [one for one in order.ids[start : start + _CHUNK] if one not in order.changed]
        for one in sorted(_read(connection, some)):
            while changed and changed[-1] < one:
                yield changed.pop()
            if one.key > high:
                return
            yield one
    yield from reversed(changed)


def _read(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[Title]:
    rows = connection.execute(
        "SELECT id, title, identifier FROM record WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(numbers),),
    )
    return [Title(title_key(title), number, title, name) for number, title, name in rows]
