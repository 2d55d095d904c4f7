"""Search: words, filters, facets and a page of the result, over the index (docs/search.md).

FTS5 turns the words into row ids. Row ids and filters become masks over the facet columns,
which are counted and paged. SQL reads only the rows of one page.
"""

import sqlite3
from collections.abc import Sequence
from heapq import nsmallest

from recordsilo.errors import SearchError, did_you_mean
from recordsilo.index.asked import check_asked
from recordsilo.index.columns import Columns
from recordsilo.index.facets import contributed_names, countable_names, facet_named, facet_names
from recordsilo.index.matching import Found, matches
from recordsilo.index.orders import order_for
from recordsilo.index.projection import Row
from recordsilo.index.query import COLUMNS as ROW_COLUMNS
from recordsilo.index.query import rows_of
from recordsilo.index.schema import NAME
from recordsilo.index.search_values import (
    ASKED,
    FLAGS,
    SORTS,
    Around,
    FacetValue,
    PageRequest,
    ResultPage,
    SearchFilters,
    range_of,
    unknown_filter,
)


def search(
    connection: sqlite3.Connection,
    columns: Columns,
    query: str,
    filters: SearchFilters,
    *,
    facets: Sequence[str],
    page: PageRequest,
) -> ResultPage:
    """Find records, in one snapshot of the index.

    Args:
        connection: A connection with an open snapshot of the index.
        columns: The facet columns, in step with that snapshot.
        query: As typed; see `query_syntax`.
        facets: Which fields of `facet_names` to count.
        page: Which part of the result, and its order.

    Raises:
        SearchError: Unknown facet, order or filter, an invalid date, or an ``after`` of
            another search.
    """
    check(facets, filters, page)
    hits, found = matches(connection, columns, query, filters)
    total = found.total
    order = order_for(page.sort, connection, columns, found, hits)
    ids, next_page = order.page(page)
    return ResultPage(
        rows=_rows(connection, columns, ids),
        total=total,
        next_page=next_page,
        sort=order.name,
        facets={name: _facet(columns, found, name, filters, page) for name in facets},
    )


def around(
    connection: sqlite3.Connection,
    columns: Columns,
    query: str,
    filters: SearchFilters,
    *,
    sort: str | None,
    identifier: str,
) -> Around | None:
    """The neighbours of a record in the order of a search; see `Index.around`.

    Args:
        columns: In step with the connection's snapshot.
        query: As typed.
        sort: As in `PageRequest`.

    Raises:
        SearchError: Unknown order or filter, or an invalid date.
    """
    check((), filters, PageRequest(sort=sort))
    hits, found = matches(connection, columns, query, filters)
    sql = f"SELECT id FROM entry WHERE name = {NAME}"  # noqa: S608 - constants
    row = connection.execute(sql, (identifier,)).fetchone()
    if row is None or row[0] not in found.ids:
        return None
    order = order_for(sort, connection, columns, found, hits)
    before, behind, place = order.around(row[0])
    names = dict(
        connection.execute(
            "SELECT id, identifier FROM record WHERE id IN (?, ?)", (before, behind)
        ).fetchall()
    )
    total = found.total
    return Around(names.get(before), names.get(behind), place, total)


def check(facets: Sequence[str], filters: SearchFilters, page: PageRequest) -> None:
    """Check a search before the index is queried.

    Args:
        facets: The fields to count.
        filters: Which records.
        page: Which part of the result, and its order.

    Raises:
        SearchError: Unknown facet, filter or order, or a page that is too large.
    """
    for name, values in filters.values.items():
        if isinstance(values, str):
            raise SearchError(f"the values of {name} are a list of texts, not the text {values!r}")
    for name in (*filters.fields, *filters.flags):
        if name not in facet_names():
            raise unknown_filter(name)
        for value in filters.named(name):
            check_asked(value, name) if name in ASKED else range_of(name, value)
        if (name in filters.flags) != (name in FLAGS):
            kinds = ("true or false", "a text")
            kind, other = kinds if name in FLAGS else kinds[::-1]
            raise SearchError(f"the filter {name!r} is {kind}, not {other}")
    for kind, names, allowed in (
        ("facet", facets, countable_names()),
        ("order", [page.sort] if page.sort and not _is_number(page.sort) else [], SORTS),
    ):
        for name in names:
            if name not in allowed:
                raise SearchError(
                    f"there is no {kind} {name!r}; there are {', '.join(allowed)}"
                    f"{did_you_mean(name, allowed)}"
                )
    if not 1 <= page.limit <= 1000:
        raise SearchError(f"a page has 1 to 1,000 rows, not {page.limit}")


def _is_number(sort: str) -> bool:
    name = sort.removeprefix("-")
    return name in contributed_names() and facet_named(name).is_order


def _facet(
    columns: Columns, matching: Found, name: str, filters: SearchFilters, page: PageRequest
) -> tuple[FacetValue, ...]:
    found = matching.without(name)
    if name in FLAGS:
        true = found.ids.intersection_cardinality(columns.flags[name])
        pairs = [("true", true), ("false", found.total - true)]
        return tuple(FacetValue(value, count) for value, count in pairs if count)
    texts = columns.values.texts
    size = len(columns.values.numbers.get(name, ()))
    limit = size if name in page.whole_facets else page.facet_limit
    counts = found.counts(columns, name, limit)
    best = [(-count, texts[number]) for number, count in counts.items()]
    best = nsmallest(limit, best) if limit * 4 < len(best) else sorted(best)[:limit]
    shown = {text for _count, text in best}
    for number in columns.values.of(name, filters.named(name)):
        if texts[number] not in shown:
            count = columns.of(name, number).intersection_cardinality(found.ids)
            best.append((-count, texts[number]))
    return tuple(FacetValue(text, -count) for count, text in sorted(best) if count)


def _rows(connection: sqlite3.Connection, columns: Columns, ids: Sequence[int]) -> tuple[Row, ...]:
    marks = ",".join("?" * len(ids))
    found = connection.execute(
        f"SELECT id, {ROW_COLUMNS} FROM record WHERE id IN ({marks})",  # noqa: S608 - marks
        ids,
    ).fetchall()
    read = rows_of(connection, [row[1:] for row in found], columns.values.specs)
    rows = {row[0]: one for row, one in zip(found, read, strict=True)}
    return tuple(rows[number] for number in ids if number in rows)
