"""Lists of records from the index: filters, keyset paging, counts."""

import json
import math
import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recordsilo.index.projection import Described, ManifestStamp, Row, first_doi
from recordsilo.index.query_syntax import spaced

COLUMNS = (
    "identifier, datestamp, title, sets, deleted, curated, upstream_newer, "
    "current_version, versions, revision"
)


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on the records of a list; None means no condition.

    Attributes:
        set_spec: In this set, or in one below it (``a`` contains ``a:b``).
        deleted: Deleted by the source, or not.
        curated: The current version was made by people, or not.
        upstream_newer: The current version is curated and the source has a newer one,
            or not.
    """

    set_spec: str | None = None
    deleted: bool | None = None
    curated: bool | None = None
    upstream_newer: bool | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a list, in the order of identifiers (by code point).

    Attributes:
        total: The number of records in the whole list.
    """

    rows: tuple[Row, ...]
    total: int
    has_next: bool
    has_previous: bool


_FURTHER = 4
"""Records that are looked at for members of a set, as a multiple of the root of their number."""


class Titled(NamedTuple):
    """A record's number in the index, its identifier, its title and its first DOI."""

    number: int
    identifier: str
    title: str
    doi: str


LONGEST_SHOWN = 20_000
"""Characters of an abstract in which words are marked."""
UNREAD = -1
"""The inode in the row of a record whose manifest cannot be read."""
WRONG = (ValueError, TypeError, LookupError, OverflowError)
"""What decoding a value raises that this index has not written."""


def damaged(error: Exception) -> sqlite3.DatabaseError:
    """The error of a damaged index, for one of `WRONG`."""
    return sqlite3.DatabaseError(f"a row has an impossible value: {error}")


def row_of(found: sqlite3.Row | tuple[object, ...]) -> Row:
    """A `Row` from a result with `COLUMNS`.

    Raises:
        sqlite3.DatabaseError: A value is not one that was written.
    """
    (identifier, datestamp, title, sets, deleted, curated, newer, current, versions, rev) = found
    try:
        return Row(
            identifier=str(identifier),
            datestamp=str(datestamp),
            title=str(title),
            sets=tuple(map(str, json.loads(str(sets)))),
            deleted=bool(deleted),
            curated=bool(curated),
            upstream_newer=bool(newer),
            current_version=str(current),
            versions=int(str(versions)),
            revision=int(str(rev)),
        )
    except WRONG as error:
        raise damaged(error) from error


_OF_SET = (
    "SELECT {} FROM record_set WHERE {} value IN (SELECT id FROM facet_value "
    "WHERE field = 'set' AND (value = ? OR (value > ? AND value < ?)))"
)
_IS_MEMBER = "id IN (" + _OF_SET.format("id", "") + ")"
_EACH_IS_MEMBER = "EXISTS (" + _OF_SET.format("1", "record_set.id = record.id AND") + ")"
"""The same condition, asked of each record: fast for a list that begins near a few members."""


def _below(set_spec: str) -> tuple[str, str, str]:
    """The parameters of `_OF_SET`: a set, and the bounds of those below it."""
    return set_spec, set_spec + ":", set_spec + ";"


class _Where:
    """A WHERE clause and its parameters.

    Args:
        filters: The conditions.
        each: Whether membership is asked of each record; otherwise all members are read.
    """

    def __init__(self, filters: Filters, *, each: bool = False) -> None:
        self.terms: list[str] = []
        self.parameters: list[object] = []
        if filters.set_spec is not None:
            self.add(_EACH_IS_MEMBER if each else _IS_MEMBER, *_below(filters.set_spec))
        for column in ("deleted", "curated", "upstream_newer"):
            wanted = getattr(filters, column)
            if wanted is not None:
                self.add(column if wanted else f"NOT {column}")

    def add(self, term: str, *parameters: object) -> "_Where":
        self.terms.append(term)
        self.parameters.extend(parameters)
        return self

    @property
    def sql(self) -> str:
        return " WHERE " + " AND ".join(self.terms) if self.terms else ""


def count(connection: sqlite3.Connection, filters: Filters) -> int:
    """The number of records that pass the filters; fast for no filter, and for one flag."""
    where = _Where(filters)
    if not where.terms:
        sql = "SELECT value FROM about WHERE key = 'records'"
    elif filters == Filters(set_spec=filters.set_spec):
        sql = _OF_SET.format("count(DISTINCT id)", "")  # no row of a record is read
    elif len(where.terms) == 1 and where.terms[0].startswith("NOT "):
        marked = where.terms[0].removeprefix("NOT ")  # few records, with a partial index
        sql = f"SELECT count(*) FROM record WHERE {marked}"  # noqa: S608 - a column of ours
        return count(connection, Filters()) - int(connection.execute(sql).fetchone()[0])
    else:
        sql = f"SELECT count(*) FROM record{where.sql}"  # noqa: S608 - made of constants above
    return int(connection.execute(sql, where.parameters).fetchone()[0])


def page(
    connection: sqlite3.Connection,
    filters: Filters,
    limit: int,
    *,
    after: str | None = None,
    before: str | None = None,
    starting: str | None = None,
) -> Page:
    """A page of the list; the cost does not depend on the position.

    Args:
        limit: The largest number of rows.
        after: Only identifiers greater than this one.
        before: Only identifiers less than this one; the page ends just before it.
        starting: Only identifiers from this one on (it need not exist).
    """
    backwards = before is not None
    bounds = {"identifier > ?": after, "identifier >= ?": starting, "identifier < ?": before}
    found = _rows(connection, filters, bounds, limit + 1, backwards=backwards)
    more = len(found) > limit
    rows = found[:limit]
    if backwards:
        rows.reverse()
    behind: tuple[str, str | None] = ("identifier >= ?", before)
    ahead = ("identifier < ?", starting) if after is None else ("identifier <= ?", after)
    if rows:
        behind = ("identifier > ?", rows[-1].identifier)
        ahead = ("identifier < ?", rows[0].identifier)
    return Page(
        rows=tuple(rows),
        total=count(connection, filters),
        has_next=_exists(connection, filters, *behind) if backwards else more,
        has_previous=more if backwards else _exists(connection, filters, *ahead),
    )


def neighbours(
    connection: sqlite3.Connection, identifier: str, filters: Filters, limit: int
) -> tuple[Row, ...]:
    """The records of a list that are nearest to an identifier; see `Index.neighbours`."""
    before = _rows(connection, filters, {"identifier < ?": identifier}, limit, backwards=True)
    behind = _rows(connection, filters, {"identifier > ?": identifier}, limit, backwards=False)
    return (*reversed(before), *behind)


def _rows(
    connection: sqlite3.Connection,
    filters: Filters,
    bounds: Mapping[str, str | None],
    limit: int,
    *,
    backwards: bool,
) -> list[Row]:
    """The first rows of a list, within bounds that are not None.

    The members of a large set are looked for among the records nearest to the beginning; all
    are read only if too few are there.
    """
    within = {term: value for term, value in bounds.items() if value is not None}
    found: list[Row] = []
    if filters.set_spec is not None:
        few = math.isqrt(count(connection, Filters()))
        if _has_more(connection, filters.set_spec, few):
            end = _identifier_at(connection, within, _FURTHER * few, backwards=backwards)
            near = (
                within
                if end is None
                else {**within, f"identifier {'>' if backwards else '<'} ?": end}
            )
            found = _selected(connection, _Where(filters, each=True), near, limit, backwards)
            if end is None or len(found) == limit:
                return found
            within[f"identifier {'<=' if backwards else '>='} ?"] = end
    rest = _selected(connection, _Where(filters), within, limit - len(found), backwards)
    return [*found, *rest]


def _selected(
    connection: sqlite3.Connection,
    where: _Where,
    bounds: Mapping[str, str],
    limit: int,
    backwards: bool,
) -> list[Row]:
    for term, value in bounds.items():
        where.add(term, value)
    order = "DESC" if backwards else "ASC"
    sql = f"SELECT {COLUMNS} FROM record{where.sql} ORDER BY identifier {order} LIMIT ?"  # noqa: S608 - constants
    return [*map(row_of, connection.execute(sql, (*where.parameters, limit)))]


def _has_more(connection: sqlite3.Connection, set_spec: str, most: int) -> bool:
    sql = f"SELECT 1 FROM ({_OF_SET.format('id', '')} LIMIT 1 OFFSET ?)"  # noqa: S608 - constants
    return connection.execute(sql, (*_below(set_spec), most)).fetchone() is not None


def _identifier_at(
    connection: sqlite3.Connection, bounds: Mapping[str, str], place: int, *, backwards: bool
) -> str | None:
    """The identifier at a place of the list of all records; None if that ends before."""
    where = _Where(Filters())
    for term, value in bounds.items():
        where.add(term, value)
    order = "DESC" if backwards else "ASC"
    sql = f"SELECT identifier FROM record{where.sql} ORDER BY identifier {order} LIMIT 1 OFFSET ?"  # noqa: S608 - constants
    found = connection.execute(sql, (*where.parameters, place)).fetchone()
    return None if found is None else str(found[0])


def _exists(connection: sqlite3.Connection, filters: Filters, term: str, value: str | None) -> bool:
    backwards = term.startswith("identifier <")
    return value is not None and bool(
        _rows(connection, filters, {term: value}, 1, backwards=backwards)
    )


def version_count(connection: sqlite3.Connection) -> int:
    """The number of versions of all records; reads only the rows without exactly one."""
    others = "SELECT coalesce(sum(versions - 1), 0) FROM record WHERE versions <> 1"
    return count(connection, Filters()) + int(connection.execute(others).fetchone()[0])


def titled(connection: sqlite3.Connection, after: int, limit: int) -> list[Titled]:
    """Titles and DOIs of records; see `Index.titled`."""
    found = connection.execute(
        "SELECT record.id, record.identifier, record.title, text.identifiers "
        "FROM record CROSS JOIN text ON text.rowid = record.id "
        "WHERE NOT deleted AND record.id > ? ORDER BY record.id LIMIT ?",
        (after, limit),
    )
    return [
        Titled(number, identifier, title, first_doi(identified))
        for number, identifier, title, identified in found
    ]


def set_counts(connection: sqlite3.Connection) -> dict[str, int]:
    """setSpec → number of its records, sorted by setSpec."""
    sql = (
        "SELECT facet_value.value, count(*) FROM record_set "
        "JOIN facet_value ON facet_value.id = record_set.value GROUP BY record_set.value ORDER BY 1"
    )
    return dict(connection.execute(sql))


def row(connection: sqlite3.Connection, identifier: str) -> Row | None:
    """The row of a record; None if it is not in the index."""
    sql = f"SELECT {COLUMNS} FROM record WHERE identifier = ?"  # noqa: S608 - constants
    found = connection.execute(sql, (identifier,)).fetchone()
    return None if found is None else row_of(found)


def rows(connection: sqlite3.Connection, identifiers: Sequence[str]) -> dict[str, Row]:
    """Record → its row; records that are not in the index are omitted."""
    named = "identifier IN (SELECT value FROM json_each(?))"
    sql = f"SELECT {COLUMNS} FROM record WHERE {named}"  # noqa: S608 - constants
    found = map(row_of, connection.execute(sql, (json.dumps(list(identifiers)),)))
    return {row.identifier: row for row in found}


def abstracts(connection: sqlite3.Connection, identifiers: Sequence[str]) -> dict[str, str]:
    """Record → the beginning of its abstract; without records that have none."""
    marks = ",".join("?" * len(identifiers))
    found = connection.execute(
        f"SELECT identifier, substr(abstract, 1, {LONGEST_SHOWN}) FROM record "  # noqa: S608
        f"JOIN text ON text.rowid = record.id WHERE identifier IN ({marks}) AND abstract <> ''",
        tuple(identifiers),
    )
    return dict(found.fetchall())


def identified(connection: sqlite3.Connection, spellings: Sequence[str]) -> list[str]:
    """The records among whose identifiers is one of some texts; see `Index.identified`.

    The full text finds those with the same words in a row, of which the same characters count.
    """
    found = dict.fromkeys(
        name
        for text in map(spaced, spellings)
        if any(map(str.isalnum, text))
        for name, texts in connection.execute(
            "SELECT record.identifier, text.identifiers FROM text "
            "CROSS JOIN record ON record.id = text.rowid WHERE text MATCH ?",
            ('identifiers : "{}"'.format(text.replace('"', '""')),),
        )
        if f" {text} ".casefold() in f" {texts} ".casefold()
    )
    return list(found)


def stamps(connection: sqlite3.Connection, identifiers: list[str]) -> dict[str, ManifestStamp]:
    """Record → the stamp of the manifest that was indexed, without unreadable records."""
    found = connection.execute(
        "SELECT identifier, mtime_ns, size, inode FROM record WHERE inode <> ? "
        "AND identifier IN (SELECT value FROM json_each(?))",  # for any number of parameters
        (UNREAD, json.dumps(identifiers)),
    )
    return {identifier: ManifestStamp(*stamp) for identifier, *stamp in found}


def described(connection: sqlite3.Connection, identifiers: Sequence[str]) -> dict[str, Described]:
    """Record → its description for lists; see `Index.described`."""
    rows = connection.execute(
        "SELECT record.identifier, facets, facets_large, text.identifiers "
        "FROM record JOIN text ON text.rowid = record.id "
        "WHERE record.identifier IN (SELECT value FROM json_each(?))",
        (json.dumps(list(identifiers)),),
    ).fetchall()
    try:
        numbers = {name: array("i", small + large) for name, small, large, _ in rows}
    except WRONG as error:
        raise damaged(error) from error
    known = {number for some in numbers.values() for number in some}
    values = {
        number: (field, value)
        for number, field, value in connection.execute(
            "SELECT id, field, value FROM facet_value WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(known)),),
        )
    }
    found = {}
    for name, _small, _large, identified in rows:
        fields: dict[str, tuple[str, ...]] = {}
        for field, value in (values[number] for number in numbers[name] if number in values):
            fields[field] = (*fields.get(field, ()), value)
        found[name] = Described(fields, first_doi(identified))
    return found
