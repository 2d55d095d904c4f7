"""A selection as one file for data people: an SQLite database, or a Parquet file.

The database has a row of ``record`` for each record, a table for each element of Dublin Core with
its values in their order, and tables of sets, links, versions and files, all with keys, and a
full-text search. The Parquet file has a row for each record, with its values in lists.
"""

import json
import math
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, BinaryIO

from recordsilo import HarvestedRecord, Silo
from recordsilo.extras import needed
from recordsilo.formats import Description, links_of
from recordsilo.formats.values import FIELD_OF_ELEMENT, Values, doi_of
from recordsilo.index.facets import Facet, contributed_facets
from recordsilo.records.description import datestamp_of, metadata_paths, sets_of, storable, years_of
from recordsilo.records.manifest import Manifest, upstream_newer
from recordsilo.repository import Repository
from recordsilo.selection import Selection
from siloexport.targets.tables import Contributed, Progress, TableReport, described, for_each

_COLUMNS = {
    "identifier": "TEXT NOT NULL UNIQUE", "title": "TEXT", "creators": "TEXT", "year": "INTEGER",
    "types": "TEXT", "subjects": "TEXT", "publishers": "TEXT", "languages": "TEXT",
    "description": "TEXT", "doi": "TEXT", "datestamp": "TEXT", "changed": "TEXT",
    "version": "TEXT", "versions": "INTEGER", "origin": "TEXT", "state": "TEXT",
    "is_curated": "INTEGER", "source_is_newer": "INTEGER",
}  # fmt: skip
"""The columns of ``record``, beside those that packages contribute."""
_LISTS = ("creators", "types", "subjects", "publishers", "languages")
"""The columns that are lists in Parquet, and joined texts in SQLite."""
_SEARCHED = "title, creators, subjects, description"
_ELEMENT = """
CREATE TABLE {0} (record INTEGER NOT NULL REFERENCES record, position INTEGER NOT NULL,
  text TEXT NOT NULL, lang TEXT, PRIMARY KEY (record, position)) WITHOUT ROWID;
CREATE INDEX {0}_text ON {0} (text);"""
_OTHERS = """
CREATE TABLE set_member (record INTEGER NOT NULL REFERENCES record, spec TEXT NOT NULL,
  name TEXT, PRIMARY KEY (record, spec)) WITHOUT ROWID;
CREATE INDEX set_member_spec ON set_member (spec);
CREATE TABLE link (record INTEGER NOT NULL REFERENCES record, url TEXT NOT NULL,
  field TEXT NOT NULL, PRIMARY KEY (record, url, field)) WITHOUT ROWID;
CREATE INDEX link_url ON link (url);
CREATE TABLE version (record INTEGER NOT NULL REFERENCES record, name TEXT NOT NULL,
  position INTEGER NOT NULL, date TEXT, made TEXT, origin TEXT NOT NULL, derived_from TEXT,
  agent TEXT, message TEXT, state TEXT, is_current INTEGER NOT NULL,
  PRIMARY KEY (record, name)) WITHOUT ROWID;
CREATE TABLE file (record INTEGER NOT NULL, version TEXT NOT NULL, path TEXT NOT NULL,
  size INTEGER, sha256 TEXT, is_metadata INTEGER NOT NULL, PRIMARY KEY (record, version, path),
  FOREIGN KEY (record, version) REFERENCES version) WITHOUT ROWID;
"""


def write_sqlite(
    silo: Silo, selection: Selection, out: BinaryIO, *, progress: Progress = lambda _records: None
) -> TableReport:
    """Write an SQLite database.

    Args:
        selection: Which records.
        out: The file.
        progress: Called with the number of records processed.

    Raises:
        SearchError, IndexProblem: The selection cannot be looked up.
        OSError: The file cannot be written.

    Cost: the database is made in the directory for temporary files (TMPDIR), then copied.
    """
    facets = tuple(one for one in contributed_facets() if one.is_column)
    contributed = Contributed(silo.path, facets)
    set_names = Repository(silo.path).set_names
    with _temporary("records.db") as path:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
            database.executescript(_schema(facets))
            database.execute("BEGIN")
            writer = _RowWriter(database, facets, {k: str(v) for k, v in set_names.items()})

            def rows(record: HarvestedRecord, manifest: Manifest) -> int:
                return writer.write(record, manifest, contributed.of_record(manifest.item_id))

            report = for_each(silo, selection, rows, progress, contributed)
            database.execute("INSERT INTO record_search (record_search) VALUES ('rebuild')")
            database.execute("COMMIT")
            database.execute("PRAGMA optimize")
        with open(path, "rb") as made:
            shutil.copyfileobj(made, out, 1 << 20)
    return report


def write_parquet(
    silo: Silo, selection: Selection, out: BinaryIO, *, progress: Progress = lambda _records: None
) -> TableReport:
    """Write a Parquet file: a row for each record, elements of Dublin Core as lists of texts.

    Args:
        selection: Which records.
        out: The file.
        progress: Called with the number of records processed.

    Raises:
        PackageMissing: DuckDB is not installed.
        SearchError, IndexProblem: The selection cannot be looked up.
        OSError: The file cannot be written.
    """
    duckdb = needed("duckdb", "The export of Parquet", "usage")
    facets = tuple(one for one in contributed_facets() if one.is_column)
    contributed = Contributed(silo.path, facets)
    with _temporary("records.jsonl") as path:
        with open(path, "w", encoding="utf-8") as lines:

            def row(record: HarvestedRecord, manifest: Manifest) -> int:
                own = contributed.of_record(manifest.item_id)
                lines.write(json.dumps(_parquet_row(record, manifest, facets, own)) + "\n")
                return 1

            report = for_each(silo, selection, row, progress, contributed)
        kinds = {**_parquet_kinds(), **{one.name: _kind_of(one) for one in facets}}
        made = f"{path}.parquet"
        with closing(duckdb.connect()) as connection:
            connection.execute("SET threads = 2")
            given = ", ".join(f"'{name}': '{kind}'" for name, kind in kinds.items())
            connection.execute(
                f"COPY (SELECT * FROM read_json({_quoted(path)}, format = 'newline_delimited', "  # noqa: S608 - names of ours
                f"columns = {{{given}}}, maximum_object_size = 268435456)) "
                f"TO {_quoted(made)} (FORMAT parquet, COMPRESSION zstd)"
            )
        with open(made, "rb") as file:
            shutil.copyfileobj(file, out, 1 << 20)
    return report


@contextmanager
def _temporary(name: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="silo-export-") as directory:
        yield os.path.join(directory, name)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _schema(facets: Sequence[Facet]) -> str:
    columns = [f"{name} {kind}" for name, kind in _COLUMNS.items()]
    columns += [f'"{one.name}" {"REAL" if one.is_number else "TEXT"}' for one in facets]
    tables = "".join(_ELEMENT.format(name) for name in FIELD_OF_ELEMENT)
    return (
        f"CREATE TABLE record (id INTEGER PRIMARY KEY, {', '.join(columns)});{tables}{_OTHERS}"
        "CREATE INDEX record_year ON record (year); CREATE INDEX record_doi ON record (doi);"
        f"CREATE VIRTUAL TABLE record_search USING fts5 ({_SEARCHED}, content = 'record', "
        "content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2');"
    )


class _RowWriter:
    """Writes the rows of one record after the other."""

    def __init__(
        self, database: sqlite3.Connection, facets: Sequence[Facet], set_names: dict[str, str]
    ) -> None:
        self._database, self._facets, self._set_names = database, facets, set_names
        marks = ", ".join("?" * (len(_COLUMNS) + len(facets) + 1))
        self._insert = f"INSERT INTO record VALUES ({marks})"  # noqa: S608 - marks only
        self._number = 0

    def write(
        self, record: HarvestedRecord, manifest: Manifest, own: Mapping[str, Sequence[str]]
    ) -> int:
        """Write the rows of a record; return how many rows of ``record`` that are: 1."""
        found = described(record, manifest.current)
        links = set()
        for path in metadata_paths(manifest.current):
            for link in links_of(path, record.read(manifest.current.name, path)):
                links.add((storable(link.url), link.field))
        self._number += 1
        number = self._number
        own_values = [_first(one, own.get(one.name, ())) for one in self._facets]
        values = [*_record_row(manifest, found).values(), *own_values]
        self._database.execute(self._insert, (number, *map(_stored, values)))
        for name, field in FIELD_OF_ELEMENT.items():
            listed: Values = getattr(found, field)
            self._many(name, [(number, at, one.text, one.lang or None)
                              for at, one in enumerate(listed, 1)])  # fmt: skip
        self._many("set_member", [(number, one, self._set_names.get(one))
                                  for one in sets_of(manifest)])  # fmt: skip
        self._many("link", [(number, *one) for one in sorted(links)])
        self._many("version", [
            (number, one.name, at, one.date, one.origin.date or None, one.origin.kind,
             one.origin.of, one.origin.agent or None, one.origin.message or None, one.state,
             one.name == manifest.current_version)
            for at, one in enumerate(manifest.versions, 1)
        ])  # fmt: skip
        self._many("file", [
            (number, one.name, path, digest.size if digest else None,
             digest.sha256 if digest else None, path in one.metadata_files)
            for one in manifest.versions
            for path, digest in (one.digests or {}).items()
        ])  # fmt: skip
        return 1

    def _many(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            self._database.executemany(
                f"INSERT INTO {table} VALUES ({marks})",  # noqa: S608 - names of ours
                [tuple(map(_stored, row)) for row in rows],
            )


def _record_row(manifest: Manifest, found: Description) -> dict[str, Any]:
    """The columns of ``record``, by name, in their order."""
    current = manifest.current
    year = next(iter(years_of(found.dates)), None)
    row = {
        "identifier": manifest.item_id,
        "title": found.title or None,
        "creators": _joined(found.creators),
        "year": int(year) if year else None,
        "types": _joined(found.types),
        "subjects": _joined(found.subjects),
        "publishers": _joined(found.publishers),
        "languages": _joined(found.languages),
        "description": "\n".join(one.text for one in found.descriptions) or None,
        "doi": doi_of(found.identifiers) or None,
        "datestamp": datestamp_of(manifest),
        "changed": manifest.changed[:19] or None,
        "version": current.name,
        "versions": len(manifest.versions),
        "origin": current.origin.kind,
        "state": current.state,
        "is_curated": current.is_curated,
        "source_is_newer": upstream_newer(manifest),
    }
    assert row.keys() == _COLUMNS.keys()
    return row


def _parquet_kinds() -> dict[str, str]:
    kinds = {
        name: "BIGINT" if kind.startswith("INTEGER") else "VARCHAR"
        for name, kind in _COLUMNS.items()
    }
    kinds |= dict.fromkeys(("is_curated", "source_is_newer"), "BOOLEAN")
    elements = {f"dc_{name}": "VARCHAR[]" for name in FIELD_OF_ELEMENT}
    return {**kinds, **dict.fromkeys((*_LISTS, "sets"), "VARCHAR[]"), **elements}


def _parquet_row(
    record: HarvestedRecord,
    manifest: Manifest,
    facets: Sequence[Facet],
    own: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    found = described(record, manifest.current)
    row = _record_row(manifest, found)
    for name in _LISTS:
        row[name] = [one.text for one in getattr(found, name)]
    row["sets"] = list(sets_of(manifest))
    for name, field in FIELD_OF_ELEMENT.items():
        row[f"dc_{name}"] = [one.text for one in getattr(found, field)]
    for one in facets:
        values = own.get(one.name, ())
        row[one.name] = _first(one, values) if one.is_number else list(values)
    return {name: _cleaned(value) for name, value in row.items()}


def _kind_of(facet: Facet) -> str:
    return "DOUBLE" if facet.is_number else "VARCHAR[]"


def _first(facet: Facet, values: Sequence[str]) -> Any:
    """A contributed value as a cell: a number, or the texts joined."""
    if not facet.is_number:
        return "; ".join(values) or None
    try:
        found = float(values[0]) if values else math.nan
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _joined(values: Values) -> str | None:
    return "; ".join(one.text for one in values) or None


def _stored(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


def _cleaned(value: Any) -> Any:
    return [storable(one) for one in value] if isinstance(value, list) else _stored(value)
