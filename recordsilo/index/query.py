"""Lists of records from the index: filters, keyset paging, counts."""

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from pyroaring import BitMap

from recordsilo.index.packing import WRONG, Unpacker, damaged, numbers_in
from recordsilo.index.projection import Described, ManifestStamp, Row, first_doi
from recordsilo.index.query_syntax import spaced
from recordsilo.index.schema import NAME, NAMES

COLUMNS = (
    "identifier, datestamp, title, facets, deleted, curated, upstream_newer, "
    "current_version, versions, revision, seconds"
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
"""A larger set, in multiples of the root of the number of records, is walked for its members."""


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


@lru_cache(maxsize=4096)  # records of one day have equal datestamps
def dated(seconds: int) -> str:
    """A time in seconds since 0001-01-01 as a datestamp in the usual form.

    Raises:
        OverflowError: There is no such time.
    """
    return (datetime(1, 1, 1) + timedelta(seconds=seconds)).isoformat()  # noqa: DTZ001 - UTC, as ever


def row_of(found: Sequence[object], sets: Iterable[str]) -> Row:
    """A `Row` from its values in order; the sets are given apart.

    Raises:
        sqlite3.DatabaseError: A value is not one that was written.
    """
    (identifier, datestamp, title, _sets, deleted, curated, newer, current, versions, rev) = found
    try:
        return Row(
            identifier=str(identifier),
            datestamp=str(datestamp),
            title=str(title),
            sets=tuple(sets),
            deleted=bool(deleted),
            curated=bool(curated),
            upstream_newer=bool(newer),
            current_version=str(current),
            versions=int(str(versions)),
            revision=int(str(rev)),
        )
    except WRONG as error:
        raise damaged(error) from error


def rows_of(
    connection: sqlite3.Connection,
    found: Sequence[Sequence[Any]],
    specs: Mapping[int, str] | None = None,
) -> list[Row]:
    """The rows in a result with `COLUMNS`, in its order.

    Args:
        specs: The setSpecs by their numbers; None asks the index.

    Raises:
        sqlite3.DatabaseError: A value is not one that was written.
    """
    try:
        numbers = [numbers_in(row[3]) for row in found]
        dates = [dated(row[10]) if row[1] is None else row[1] for row in found]
    except WRONG as error:
        raise damaged(error) from error
    if specs is None:
        rows = connection.execute(
            "SELECT id, value FROM facet_value "
            "WHERE field = 'set' AND id IN (SELECT value FROM json_each(?))",
            (json.dumps([*{number for some in numbers for number in some}]),),
        )
        specs = dict(rows.fetchall())
    return [
        row_of((row[0], date, *row[2:10]), [specs[number] for number in some if number in specs])
        for row, date, some in zip(found, dates, numbers, strict=True)
    ]


class _Where:
    """A WHERE clause and its parameters, for conditions other than a set."""

    def __init__(self, filters: Filters) -> None:
        self.terms: list[str] = []
        self.parameters: list[object] = []
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


def count(connection: sqlite3.Connection, filters: Filters, members: BitMap | None = None) -> int:
    """The number of records that pass the filters; fast for no filter, for one flag and a set.

    Args:
        members: Those that pass, if there is a condition on the set.
    """
    where = _Where(filters)
    if members is not None:
        return len(members)
    if not where.terms:
        sql = "SELECT value FROM about WHERE key = 'records'"
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
    members: BitMap | None = None,
    after: str | None = None,
    before: str | None = None,
    starting: str | None = None,
) -> Page:
    """A page of the list; the cost does not depend on the position.

    Args:
        limit: The largest number of rows.
        members: The records that pass, if there is a condition on the set.
        after: Only identifiers greater than this one.
        before: Only identifiers less than this one; the page ends just before it.
        starting: Only identifiers from this one on (it need not exist).
    """
    backwards = before is not None
    bounds = {">": after, ">=": starting, "<": before}
    listed = _Listed(connection, filters, members)
    found = listed.rows(bounds, limit + 1, backwards=backwards)
    more = len(found) > limit
    rows = found[:limit]
    if backwards:
        rows.reverse()
    behind: tuple[str, str | None] = (">=", before)
    ahead = ("<", starting) if after is None else ("<=", after)
    if rows:
        behind = (">", rows[-1].identifier)
        ahead = ("<", rows[0].identifier)
    return Page(
        rows=tuple(rows),
        total=count(connection, filters, members),
        has_next=listed.has(*behind) if backwards else more,
        has_previous=more if backwards else listed.has(*ahead),
    )


def neighbours(
    connection: sqlite3.Connection,
    identifier: str,
    filters: Filters,
    limit: int,
    members: BitMap | None = None,
) -> tuple[Row, ...]:
    """The records of a list that are nearest to an identifier; see `Index.neighbours`.

    Args:
        members: The records that pass, if there is a condition on the set.
    """
    listed = _Listed(connection, filters, members)
    before = listed.rows({"<": identifier}, limit, backwards=True)
    behind = listed.rows({">": identifier}, limit, backwards=False)
    return (*reversed(before), *behind)


@dataclass(frozen=True, slots=True)
class _Listed:
    """The records of a list, in the order of identifiers.

    Attributes:
        members: Those that pass, if there is a condition on the set. The rows of few are read and
            sorted; many are met soon on the way along the identifiers.
    """

    connection: sqlite3.Connection
    filters: Filters
    members: BitMap | None

    def rows(self, bounds: Mapping[str, str | None], limit: int, *, backwards: bool) -> list[Row]:
        """The first rows of the list, within bounds of the identifier that are not None."""
        where, order = _Where(self.filters), "DESC" if backwards else "ASC"
        for operator, value in bounds.items():
            if value is not None:
                where.add(f"name {operator} {NAME}", value)
        if self.members is None:
            sql = f"SELECT {COLUMNS} FROM record{where.sql} ORDER BY name {order} LIMIT ?"  # noqa: S608 - constants
            found = self.connection.execute(sql, (*where.parameters, limit)).fetchall()
            return rows_of(self.connection, found)
        if len(self.members) > _FURTHER * math.isqrt(count(self.connection, Filters())):
            sql = f"SELECT id FROM record{where.sql} ORDER BY name {order}"  # noqa: S608
            ids = (number for (number,) in self.connection.execute(sql, where.parameters))
            return self._of([*islice(filter(self.members.__contains__, ids), limit)], order)
        rows = self._of(self.members, order, where)
        return rows[:limit]

    def _of(self, ids: Iterable[int], order: str, where: "_Where | None" = None) -> list[Row]:
        """The rows of some records that meet a condition."""
        where = where or _Where(Filters())
        where.add("id IN (SELECT value FROM json_each(?))", json.dumps([*ids]))
        sql = f"SELECT {COLUMNS} FROM record{where.sql} ORDER BY +name {order}"  # noqa: S608
        return rows_of(self.connection, self.connection.execute(sql, where.parameters).fetchall())

    def has(self, operator: str, value: str | None) -> bool:
        """Whether there are records on one side of an identifier, if that is not None."""
        backwards = operator.startswith("<")
        return value is not None and bool(self.rows({operator: value}, 1, backwards=backwards))


def version_count(connection: sqlite3.Connection) -> int:
    """The number of versions of all records; reads only the rows without exactly one."""
    others = "SELECT coalesce(sum(versions - 1), 0) FROM record WHERE versions <> 1"
    return count(connection, Filters()) + int(connection.execute(others).fetchone()[0])


def titled(connection: sqlite3.Connection, after: int, limit: int) -> list[Titled]:
    """Titles and DOIs of records; see `Index.titled`."""
    found = connection.execute(
        f"SELECT id, {_TEXTS} FROM record WHERE NOT deleted AND id > ? ORDER BY id LIMIT ?",  # noqa: S608
        (after, limit),
    )
    read = Unpacker(connection).identifiers
    return [
        Titled(number, identifier, title, first_doi(read(packed, title, identifier)))
        for number, packed, title, identifier in found
    ]


def indexed(connection: sqlite3.Connection) -> list[str]:
    """The identifiers of all records, in no order."""
    return [identifier for (identifier,) in connection.execute("SELECT identifier FROM record")]


_TEXTS = "packed, title, identifier"
"""What `Unpacker` reads the texts of a row from."""


def row(connection: sqlite3.Connection, identifier: str) -> Row | None:
    """The row of a record; None if it is not in the index."""
    return rows(connection, [identifier]).get(identifier)


def rows(connection: sqlite3.Connection, identifiers: Sequence[str]) -> dict[str, Row]:
    """Record → its row; records that are not in the index are omitted."""
    sql = f"SELECT {COLUMNS} FROM record WHERE name IN {NAMES}"  # noqa: S608 - constants
    found = connection.execute(sql, (json.dumps(list(identifiers)),)).fetchall()
    return {row.identifier: row for row in rows_of(connection, found)}


def abstracts(connection: sqlite3.Connection, identifiers: Sequence[str]) -> dict[str, str]:
    """Record → the beginning of its abstract; without records that have none."""
    found = connection.execute(
        f"SELECT {_TEXTS} FROM record WHERE name IN {NAMES}",  # noqa: S608 - constants
        (json.dumps(list(identifiers)),),
    )
    read = Unpacker(connection).texts
    texts = {one[2]: read(*one)[3][:LONGEST_SHOWN] for one in found}
    return {identifier: text for identifier, text in texts.items() if text}


def identified(connection: sqlite3.Connection, spellings: Sequence[str]) -> list[str]:
    """The records among whose identifiers is one of some texts; see `Index.identified`.

    The full text finds those with the same words in a row, of which the same characters count.
    """
    read = Unpacker(connection).identifiers
    found = dict.fromkeys(
        one[2]
        for text in map(spaced, spellings)
        if any(map(str.isalnum, text))
        for one in connection.execute(
            "SELECT packed, record.title, identifier FROM text "
            "CROSS JOIN record ON record.id = text.rowid WHERE text MATCH ?",
            ('identifiers : "{}"'.format(text.replace('"', '""')),),
        )
        if f" {text} ".casefold() in f" {read(*one)} ".casefold()
    )
    return list(found)


def stamps(connection: sqlite3.Connection, identifiers: list[str]) -> dict[str, ManifestStamp]:
    """Record → the stamp of the manifest that was indexed, without unreadable records."""
    found = connection.execute(
        "SELECT identifier, mtime_ns, size, inode FROM record WHERE inode <> ? "  # noqa: S608
        f"AND name IN {NAMES}",  # for any number of parameters
        (UNREAD, json.dumps(identifiers)),
    )
    return {identifier: ManifestStamp(*stamp) for identifier, *stamp in found}


def described(connection: sqlite3.Connection, identifiers: Sequence[str]) -> dict[str, Described]:
    """Record → its description for lists; see `Index.described`."""
    rows = connection.execute(
        f"SELECT identifier, facets, facets_large, {_TEXTS} FROM record "  # noqa: S608 - constants
        f"WHERE name IN {NAMES}",
        (json.dumps(list(identifiers)),),
    ).fetchall()
    try:
        numbers = {name: numbers_in(small + large) for name, small, large, *_ in rows}
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
    found, read = {}, Unpacker(connection).identifiers
    for name, _small, _large, *packed in rows:
        fields: dict[str, tuple[str, ...]] = {}
        for field, value in (values[number] for number in numbers[name] if number in values):
            fields[field] = (*fields.get(field, ()), value)
        found[name] = Described(fields, first_doi(read(*packed)))
    return found
