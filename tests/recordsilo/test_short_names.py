"""Identifiers without their common beginning: the same identifiers, in the same order."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recordsilo import Row, Silo
from recordsilo.index import Entry, ManifestStamp
from recordsilo.index.catalogue import Catalogue
from recordsilo.index.projection import Text
from recordsilo.index.query import Filters
from recordsilo.index.rows import prepare
from recordsilo.index.schema import NAME

BEGINNINGS = ("", "oai:a.b:", "oai:a.b", "oai:a.c:", "oai", "p", "~", "\U0010ffff")
identifiers = st.builds(
    str.__add__,
    st.sampled_from(BEGINNINGS),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4),
).filter(bool)


def entry(identifier: str) -> tuple[Entry, ManifestStamp]:
    row = Row(identifier, "2020-01-01", "T", (), False, False, False, "1", 1, 1)
    return Entry(row, Text("T"), 0, {}, False), ManifestStamp(0, 0, 0)


def names(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM entry ORDER BY id")]


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Silo]:
    monkeypatch.setattr(Catalogue, "_catch_up", lambda _self, _rows: False)
    with Silo(str(tmp_path / "silo")) as silo:
        yield silo


@settings(
    deadline=None,
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.lists(identifiers, min_size=1, max_size=4), min_size=1, max_size=4), identifiers)
def test_names_stand_for_their_identifiers_in_the_same_order(
    empty: Silo, batches: list[list[str]], other: str
) -> None:
    index = empty._catalogue._index
    index.close()
    with contextlib.suppress(FileNotFoundError):
        Path(index.path).unlink()
    for batch in batches:
        index.settle(map(entry, batch))
    known = sorted({one for batch in batches for one in batch})
    assert [row.identifier for row in index.page(Filters(), 99).rows] == known
    assert sorted(index.rows([*known, other])) == known
    for after, limit in ((other, 99), (known[0], 2)):
        found = [row.identifier for row in index.page(Filters(), limit, after=after).rows]
        assert found == [one for one in known if one > after][:limit]
    with index.reading() as connection:
        ask = [connection.execute(f"SELECT {NAME}", (one,)).fetchone() for one in known]
        assert sorted(names(connection)) == [name for (name,) in ask]
    index.settle([], gone=known)
    assert index.rows(known) == {}


@pytest.mark.parametrize(
    ("first", "kept"),
    [
        (["oai:a.org:12", "oai:a.org:13"], ["=12", "=13"]),
        (["oai:a.org:12"], ["=12"]),
        (["one", "only"], ["=one", "=only"]),
        (["https://a.org/x-1", "https://a.org/x-2"], ["=1", "=2"]),
    ],
)
def test_names_leave_out_what_the_first_identifiers_begin_with(
    empty: Silo, first: list[str], kept: list[str]
) -> None:
    index = empty._catalogue._index
    index.settle(map(entry, first))
    index.settle(map(entry, ["a", "z"]))
    with index.reading() as connection:
        assert names(connection)[: len(first)] == kept
        assert {one[-1] for one in names(connection)[len(first) :]} == {"a", "z"}


def test_a_process_that_did_not_write_the_first_records_gives_the_same_names(empty: Silo) -> None:
    index = empty._catalogue._index
    index.settle(map(entry, ["oai:a:1", "oai:a:2"]))
    index.close()
    index.settle([entry("oai:a:1")])  # the same texts: the row is replaced
    index.close()
    index.settle(map(entry, ["oai:a:3", "oai:b:4"]))
    with index.reading() as connection:
        assert names(connection) == ["=1", "=2", "=3", ">oai:b:4"]


def test_a_beginning_that_was_rolled_back_is_forgotten(empty: Silo) -> None:
    index = empty._catalogue._index
    with contextlib.suppress(KeyboardInterrupt), index.writing() as connection:
        index._write(connection, [prepare(*entry("oai:a:1"))])
        raise KeyboardInterrupt
    index.settle([entry("oai:b:1")])
    with index.reading() as connection:
        assert names(connection) == ["=1"]
        found = connection.execute("SELECT identifier FROM record").fetchall()
        assert found == [("oai:b:1",)]
