"""Filters among the words of a query, as ``solar -type:Thesis year:2010..2016``. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from recordsilo.errors import SearchError
from recordsilo.index.asked import check_asked
from recordsilo.index.facets import facet_called, facet_named, facet_names
from recordsilo.index.query_syntax import COLUMN_OF_FIELD
from recordsilo.index.search_values import (
    ASKED,
    FLAGS,
    NOT,
    SearchFilters,
    is_expression,
    range_of,
)

_FILTER = re.compile(
    r'"[^"]*"?|(?<!\S)(?P<minus>-|NOT )?(?P<name>[^\W\d]\w*):'
    r'(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))(?!\S)'
)
"""A phrase, in which there is none, or what may be a filter among words."""
_YEARS = re.compile(
    r"(?P<first>\d{4})[-–](?P<last>\d{4})|(?P<sign>[<>])(?P<equal>=?)(?P<year>\d{1,4})"
)
_TRUTH = {"true": True, "false": False}


class TypedFilter(NamedTuple):
    """A filter among words.

    Attributes:
        key: The field, with `NOT` behind it if records with the value are excluded.
        value: As typed.
    """

    key: str
    value: str


def filters_within(
    query: str, filters: SearchFilters, *, strict: bool = False, known: Collection[str] = ()
) -> tuple[str, SearchFilters]:
    """Read the filters among the words of a query.

    Args:
        query: As typed. With an ``OR``, all of it are words, because filters apply to the whole.
        filters: Those that are known already; for a field that they have, any value counts.
        strict: Whether a value that its field cannot have is an error; otherwise it is words.
        known: The names of the fields; by default those of a Silo.

    Returns:
        The words, and all filters.

    Raises:
        SearchError: In a strict reading, such as ``year:abc`` or ``has_file:maybe``.
    """
    words, typed = split(query, strict=strict, known=known)
    if not typed:
        return query, filters
    flags, values = dict(filters.flags), {name: list(v) for name, v in filters.values.items()}
    for key, value in typed:
        if key in FLAGS:
            flags[key] = _TRUTH[value]
        else:
            values.setdefault(key, []).append(value)
    return words, replace(filters, flags=flags, values=values)


def split(
    query: str, *, strict: bool = False, known: Collection[str] = ()
) -> tuple[str, tuple[TypedFilter, ...]]:
    """The words of a query, and the filters among them; see `filters_within`."""
    if ":" not in query or "OR" in query.split():
        return query, ()
    known = known or facet_names()
    typed: list[TypedFilter] = []

    def without(match: re.Match[str]) -> str:
        one = _filter_of(match, strict=strict, known=known)
        typed.extend(one)
        return "" if one else match[0]

    words = _FILTER.sub(without, query).strip()
    return (words, tuple(typed)) if typed else (query, ())


def typed(filters: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Filters as one types them among words, such as ``-type:"In Proceedings"``."""
    for key, value in filters:
        quoted = value if re.fullmatch(r'[^\s"]+', value) else '"' + value.replace('"', "") + '"'
        yield f"{'-' if key.endswith(NOT) else ''}{key.removesuffix(NOT)}:{quoted}"


def _filter_of(
    match: re.Match[str], *, strict: bool, known: Collection[str]
) -> tuple[TypedFilter, ...]:
    """The filter that a word is; empty if it is none.

    Raises:
        SearchError: See `filters_within`.
    """
    name, value = match["name"] and facet_called(match["name"]), match["word"] or match["phrase"]
    if not value or name not in known:
        return ()
    if name == "year":
        value = _as_range(value)
    if name in COLUMN_OF_FIELD and not (name in ASKED and is_expression(value)):
        return ()
    try:
        _check(name, value)
    except SearchError:
        if strict:
            raise
        return ()
    if name in FLAGS:
        opposite = {"true": "false", "false": "true"}[value]
        return (TypedFilter(name, opposite if match["minus"] else value),)
    return (TypedFilter(name + (NOT if match["minus"] else ""), value),)


def _as_range(value: str) -> str:
    """Years as a range: ``2016-2018`` is ``2016..2018``, and ``>2020`` is ``2021..``."""
    found = _YEARS.fullmatch(value)
    if found is None:
        return value
    if found["first"]:
        return f"{found['first']}..{found['last']}"
    year, others = int(found["year"]), 0 if found["equal"] else 1
    return f"{year + others}.." if found["sign"] == ">" else f"..{year - others}"


def written(name: str) -> str:
    """How a filter is typed among words, with values that it can have."""
    if name in FLAGS:
        return f"{name}:true or {name}:false"
    if name == "changed":
        return "changed:2026-11 or changed:2026-11-01..2026-11-15"
    if name == "title":
        return "title:/expression/"
    if facet_named(name).is_number:
        numbers = "2016", "2016..2018"
        return " or ".join(f"{name}:{one}" for one in numbers)
    return f"{name}:…"


def is_typed(name: str, value: str) -> bool:
    """Whether a filter can have a value that was typed."""
    try:
        _check(name, value)
    except SearchError:
        return False
    return bool(value)


def _check(name: str, value: str) -> None:
    if name in FLAGS:
        if value not in _TRUTH:
            raise SearchError(f"{name} is true or false, not {value!r}")
    elif name in ASKED:
        check_asked(value, name)
    elif name in facet_names():
        range_of(name, value)
