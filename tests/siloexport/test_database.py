"""A selection as an SQLite database and as Parquet: the same values as in the other tables."""

import io
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.index.facets import Facet
from siloexport import Selection
from siloexport.commands.export import export
from siloexport.targets.database import _first, write_parquet, write_sqlite
from siloexport.targets.tables import write_jsonl

RICH = (
    b'<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    b'xmlns:dc="http://purl.org/dc/elements/1.1/">'
    b'<dc:title xml:lang="de">\xc3\x9cber "Solar"</dc:title><dc:title>On solar cells</dc:title>'
    b"<dc:creator>Chen, Li</dc:creator><dc:creator>O'Brien, M.</dc:creator>"
    b"<dc:date>2016-05</dc:date><dc:identifier>https://doi.org/10.5555/wex.2</dc:identifier>"
    b"</oai_dc:dc>"
)


@pytest.fixture
def rich(silo: Silo) -> Silo:
    silo["2"].put_stream("oai_dc", RICH, metadata=True)
    return silo


@pytest.fixture
def database(rich: Silo, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "r.db"
    with path.open("wb") as out:
        report = write_sqlite(rich, Selection(), out)
    assert (report.records, report.deleted) == (3, 1)
    connection = sqlite3.connect(path)
    yield connection
    connection.close()


def ask(database: sqlite3.Connection, sql: str) -> list[tuple[Any, ...]]:
    return database.execute(sql).fetchall()


def test_the_database_is_sound_and_has_the_values_in_their_order(
    database: sqlite3.Connection,
) -> None:
    assert ask(database, "PRAGMA integrity_check") == [("ok",)]
    assert ask(database, "PRAGMA foreign_key_check") == []
    (row,) = ask(
        database,
        "SELECT id, title, creators, year, doi, version, versions, is_curated FROM record "
        "WHERE identifier = 'oai:example.org:2'",
    )
    number, *values = row
    assert values == [
        'Über "Solar"', "Chen, Li; O'Brien, M.", 2016, "10.5555/wex.2", "workingcopy", 2, 1,
    ]  # fmt: skip
    of_it = f"WHERE record = {number} ORDER BY position"
    assert ask(database, f"SELECT position, text, lang FROM title {of_it}") == [
        (1, 'Über "Solar"', "de"), (2, "On solar cells", None),
    ]  # fmt: skip
    assert ask(database, f"SELECT text FROM creator {of_it}") == [("Chen, Li",), ("O'Brien, M.",)]
    versions = ask(database, f"SELECT name, origin, is_current FROM version {of_it}")
    assert versions == [("1", "harvest", 0), ("workingcopy", "clone", 1)]
    assert ask(database, f"SELECT url FROM link WHERE record = {number}") == [
        ("https://doi.org/10.5555/wex.2",)
    ]
    assert ("workingcopy", "oai_dc", len(RICH), 1) in ask(
        database, f"SELECT version, path, size, is_metadata FROM file WHERE record = {number}"
    )


def test_the_search_finds_words_without_accents(database: sqlite3.Connection) -> None:
    found = ask(
        database,
        "SELECT identifier FROM record_search JOIN record ON id = record_search.rowid "
        "WHERE record_search MATCH 'uber AND chen'",
    )
    assert found == [("oai:example.org:2",)]


def test_parquet_has_the_values_of_the_json_lines(rich: Silo, tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    with path.open("wb") as out:
        assert write_parquet(rich, Selection(), out).records == 3
    lines = io.StringIO()
    write_jsonl(rich, Selection(), lines, ("record", "creators", "year", "doi", "sets"))
    expected = [json.loads(line) for line in lines.getvalue().splitlines()]
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT identifier, creators, CAST(year AS VARCHAR), doi, sets "
            f"FROM '{path}' ORDER BY identifier"
        ).fetchall()
    names = ("record", "creators", "year", "doi", "sets")
    found = [dict(zip(names, row, strict=True)) for row in rows]
    assert [{k: v for k, v in one.items() if v} for one in found] == expected


@pytest.mark.parametrize("kind", ["sqlite", "parquet"])
def test_what_cannot_be_read_is_named_and_has_no_rows(
    rich: Silo, tmp_path: Path, kind: str
) -> None:
    os.unlink(rich["1"].to_dirpath("oai_dc"))
    out = tmp_path / f"r.{kind}"
    result = CliRunner().invoke(export, [kind, rich.path, str(out)])
    assert "oai:example.org:1 was left out" in result.output
    with duckdb.connect() as connection:
        if kind == "parquet":
            (count,) = connection.execute(f"SELECT count(*) FROM '{out}'").fetchall()[0]
        else:
            with sqlite3.connect(out) as database:
                ((count,),) = ask(database, "SELECT count(*) FROM record")
            database.close()
    assert count == 2


def test_numbers_of_packages_that_are_none_are_left_out() -> None:
    number = Facet("x", "X", is_number=True)
    values = [_first(number, [text]) for text in ("7", "2.5", "nan", "inf", "-1e999", "much")]
    assert values == [7, 2.5, None, None, None, None]
    assert _first(number, []) is None
