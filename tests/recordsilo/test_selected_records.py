"""`Silo.records` and the tables of a search: many records at the prompt."""

import os
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest
from click.testing import CliRunner

from recordsilo import RecordNotFound, SearchError, Silo
from recordsilo.cli import silo_command
from recordsilo.extras import PackageMissing
from recordsilo.selection import Selection, selection_from

Harvest = Callable[..., str]


@pytest.fixture
def filled(silo: Silo, harvest: Harvest) -> Silo:
    for number, name in enumerate("dacb"):
        harvest(
            silo,
            f"x:{name}",
            date=f"201{number}-01-01T00:00:00",
            title=f"Solar {name}",
            sets=("s",),
        )
    silo["x:c"].clone_version("1", "workingcopy")
    silo["x:c"].set_version_state("workingcopy", "in work")
    silo.state["identifier_uri_prefix"] = "x:"
    return silo


def names(records: Iterator[Any]) -> list[str]:
    return [record.item_id for record in records]


SELECTIONS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["x:a", "x:b", "x:c", "x:d"]),
    ({"query": "solar -title:b"}, ["x:a", "x:c", "x:d"]),
    ({"state": "in work"}, ["x:c"]),
    ({"curated": True, "set": "s"}, ["x:c"]),
    ({"since": date(2011, 1, 1), "until": datetime(2012, 1, 1, tzinfo=UTC)}, ["x:a", "x:c"]),
    ({"changed_since": "2011-01-01"}, ["x:a", "x:b", "x:c", "x:d"]),
    ({"ids": ["d", "x:a", "d"]}, ["x:d", "x:a"]),
    ({"ids": iter(["d", "c"]), "query": "solar", "curated": False}, ["x:d"]),
    ({"ids": []}, []),
    ({"ids": "d"}, ["x:d"]),
    ({"filters": {"state!": "in work"}, "ids": ["c", "b"]}, ["x:b"]),
]


def test_records_are_selected_and_come_in_order(filled: Silo) -> None:
    for given, found in SELECTIONS:
        assert names(filled.records(**given)) == found, given


def test_a_selection_gives_the_same_records(filled: Silo) -> None:
    assert names(Selection(identifiers=("d", "a")).records(filled)) == ["x:d", "x:a"]
    selection = selection_from({"query": "solar", "curated": False})
    assert names(selection.records(filled)) == list(selection.iterate(filled))


def test_what_is_wrong_is_told_at_once(filled: Silo) -> None:
    with pytest.raises(RecordNotFound, match="has no record 'nope'"):
        filled.records(ids=["d", "nope"])
    with pytest.raises(SearchError, match="has no word to search for"):
        filled.records("(((")
    with pytest.raises(SearchError, match=r"there is no filter 'stat'.*did you mean 'state'"):
        filled.records(stat="in work")


def test_a_short_name_is_completed_by_the_beginnings_of_identifiers(silo: Silo) -> None:
    for name in ("oai:a.org:1", "oai:a.org:3038", "http://b.org/x/3038", "plain", "oai:c.org:9"):
        silo.get_item(name).sync()
    assert silo.similar("3038") == ["http://b.org/x/3038", "oai:a.org:3038"]
    assert silo.similar("9") == ["oai:c.org:9"]
    assert silo.similar("77") == []
    with pytest.raises(RecordNotFound, match=r"no record '9'; did you mean 'oai:c\.org:9'"):
        silo["9"]
    for command in (["show"], ["rm", "--yes"], ["cat"], ["log"], ["state", "--set", "ready"]):
        done = CliRunner().invoke(silo_command, [command[0], silo.path, "9", *command[1:]])
        assert "no record '9'; did you mean 'oai:c.org:9'?" in str(done.exception), command


def test_what_is_deleted_meanwhile_is_left_out(filled: Silo) -> None:
    found = filled.records()
    assert next(found).item_id == "x:a"
    del filled["x:c"]
    assert names(found) == ["x:b", "x:d"]


# -- tables ---------------------------------------------------------------------------------


def table_of(filled: Silo, kind: str) -> Any:
    try:
        return getattr(filled.search("solar", sort="identifier")[1:3], f"to_{kind}")()
    except PackageMissing:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"{kind} is not installed")


@pytest.mark.long
def test_a_result_is_a_table_of_pandas(filled: Silo) -> None:
    table = table_of(filled, "pandas")
    assert list(table["identifier"]) == ["x:b", "x:c"]
    assert list(table["title"]) == ["Solar b", "Solar c"]
    assert str(table["datestamp"].dtype) == "datetime64[us, UTC]"
    assert str(table["year"].dtype) == "Int64"
    assert list(table["is_curated"]) == [False, True]
    assert table["sets"][0] == ["s"]
    assert table["creators"][0] == []
    assert table["doi"].isna().all()


@pytest.mark.long
def test_a_result_is_a_table_of_polars(filled: Silo) -> None:
    table = table_of(filled, "polars")
    assert table["identifier"].to_list() == ["x:b", "x:c"]
    assert table["datestamp"].to_list()[0] == datetime(2013, 1, 1, tzinfo=UTC)
    assert table["sets"].to_list() == [["s"], ["s"]]
    assert table["year"].to_list() == [None, None]


@pytest.mark.long
def test_a_result_is_a_table_of_arrow(filled: Silo) -> None:
    table = table_of(filled, "arrow")
    assert table.num_rows == 2
    assert table.to_pylist()[1]["title"] == "Solar c"
    assert str(table.schema.field("datestamp").type) == "timestamp[us, tz=UTC]"
    nothing = filled.search("wind").to_arrow()
    assert (nothing.num_rows, nothing.schema) == (0, table.schema)


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_a_package_that_is_missing_is_named(
    filled: Silo, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    kind = package.removeprefix("py")
    with pytest.raises(PackageMissing, match=rf"needs the package {package}; install it: .*pip"):
        getattr(filled.search(), f"to_{kind}")()
