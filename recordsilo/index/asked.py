"""Filters that ask the rows of the index: periods of the last change here, patterns of titles.

A period is a year, a month, a day or a time (UTC), or a range of them: ``2026-11``,
``2026-11-01..2026-11-15``, ``2026-11-28T12:00..``. A pattern is a whole title, the beginning of one
(``poll*``), or a regular expression between slashes (``/\\bwin(d|ter)\\b/``), found anywhere in it.
Case does not count; for titles without slashes neither do accents, nor what comes before the first
letter or digit.

Cost, over a million titles: a whole title or its beginning is found by their order; a regular
expression is searched for in each title (4 s).
"""

import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING

from pyroaring import BitMap

from recordsilo.errors import SearchError
from recordsilo.index.columns import Columns
from recordsilo.index.rows import title_key
from recordsilo.index.search_values import bound_of, is_expression
from recordsilo.index.titles import titles_between
from recordsilo.patterns import PATTERN_SECONDS, PatternRefused, compiled
from recordsilo.records.description import storable

if TYPE_CHECKING:
    import regex

CHANGED = "changed"
SECONDS = 30.0
"""The longest time for which titles are searched for one expression."""
_PERIOD = re.compile(r"(\d{4})(?:-(\d\d))?", re.ASCII)
_LAST = "\U0010ffff"
_TIMED = 10_000


def check_asked(value: str, name: str) -> None:
    """Check a value before the index is asked.

    Args:
        value: Of the filter.
        name: The filter, one of `recordsilo.index.search_values.ASKED`.

    Raises:
        SearchError: It is no period, or no pattern.
    """
    if name == CHANGED:
        bounds_of(value)
    elif is_expression(value):
        _expression(value)
    elif storable(value) != value:
        raise SearchError(f"the title {value!r} is not valid text; use UTF-8")
    elif not title_key(value.removesuffix("*")):
        raise SearchError(f"the title {value!r} has no letter or digit; write a word, or /.../")


def bounds_of(period: str) -> tuple[int, int]:
    """The first and the last second of a period, since 0001-01-01.

    Raises:
        SearchError: It is none, or ends before it begins.
    """
    first, dots, last = period.partition("..")
    if not dots:
        last = first
    if not (first or last):
        raise SearchError(
            f"{period!r} is not a period; write 2026-11, 2026-11-28.. or ..2026-11-28"
        )
    low = _bound(first, last=False) if first else 0
    high = _bound(last, last=True) if last else 1 << 40
    if low > high:
        raise SearchError(f"the period {period!r} ends before it begins; write {last}..{first}")
    return low, high


def ids_of(
    connection: sqlite3.Connection, columns: Columns, name: str, values: Sequence[str]
) -> BitMap:
    """The row ids of the records that have one of some values.

    Args:
        connection: A connection with an open snapshot of the index.
        columns: The facet columns, in step with that snapshot.
        name: The filter.
        values: As `check_asked` accepts them.

    Raises:
        SearchError: An expression takes too long.
    """
    ask = _changed_within if name == CHANGED else _titled
    return BitMap.union(BitMap(), *(ask(connection, columns, value) for value in values))


def _changed_within(connection: sqlite3.Connection, columns: Columns, period: str) -> BitMap:
    return columns.changed_within(connection, *bounds_of(period))


def _titled(connection: sqlite3.Connection, columns: Columns, pattern: str) -> BitMap:
    return BitMap(_each_titled(connection, columns, pattern))


def _each_titled(connection: sqlite3.Connection, columns: Columns, pattern: str) -> Iterator[int]:
    if is_expression(pattern):
        yield from _matching(connection, pattern)
        return
    key = title_key(pattern.removesuffix("*"))
    last = key + _LAST if pattern.endswith("*") else key
    yield from (one.number for one in titles_between(connection, columns, key, last))


def _matching(connection: sqlite3.Connection, pattern: str) -> Iterator[int]:
    expression, ends = _expression(pattern), time.monotonic() + SECONDS
    rows = connection.execute("SELECT id, title FROM record")
    try:
        for count, (number, title) in enumerate(rows):
            if expression.search(title, timeout=PATTERN_SECONDS):
                yield number
            if count % _TIMED == 0 and time.monotonic() > ends:
                raise TimeoutError
    except TimeoutError:
        raise SearchError(f"the pattern {pattern} takes too long; write a simpler one") from None


def _expression(pattern: str) -> "regex.Pattern[str]":
    try:
        return compiled(pattern[1:-1], ignore_case=True)
    except PatternRefused as error:
        raise SearchError(str(error)) from None


def _bound(text: str, *, last: bool) -> int:
    found = _PERIOD.fullmatch(text)
    if found is None:
        return bound_of(text, last=last)
    year, month = int(found[1]), int(found[2] or (12 if last else 1))
    try:
        day = date(year, month, 1)
        if last:
            day = (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    except (ValueError, OverflowError):
        raise SearchError(f"{text!r} is not a year or a month; write 2026 or 2026-11") from None
    return bound_of(day.isoformat(), last=last)
