"""Facets, orders and columns that other packages contribute."""

import io
import logging
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recordsilo import Origin, Silo
from recordsilo.errors import IndexProblem, SearchError
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.index.facets import GROUP, Facet
from recordsilo.index.record_reading import described
from recordsilo.selection import Selection, filters_from, selection_from
from siloexport.errors import ExportError
from siloexport.targets.tables import check_columns, write_csv, write_jsonl

Contribute = Callable[[str, str, Any], None]
GOOD = "<dc><title>Tides</title><creator>A</creator><date>1999</date><type>Article</type></dc>"
IDENTIFIERS = ("a", "b", "c", "d")


class Ledger:
    """What a made-up package keeps beside the records."""

    def __init__(self) -> None:
        self.stamp = "1"
        self.kept: dict[str, tuple[str, ...]] = {}
        self.asked: list[list[str]] = []

    def values(self, _path: str, identifiers: Sequence[str]) -> Mapping[str, Sequence[str]]:
        self.asked.append(sorted(identifiers))
        return {one: self.kept[one] for one in identifiers if one in self.kept}

    def facet(self, name: str, **more: Any) -> Facet:
        return Facet(name, name.title(), self.values, lambda _path: self.stamp, **more)


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[Silo]:
    with Silo(str(tmp_path / "silo"), uri_base="http://x.org/") as silo:
        for name in IDENTIFIERS:
            silo.get_item(name).put_stream("oai_dc", GOOD, None, True)
        yield silo


def counts(silo: Silo, name: str, **filters: Any) -> dict[str, int]:
    found = silo.search(filters=SearchFilters(**filters), facets=[name], page=PageRequest(limit=1))
    return {one.value: one.count for one in found.facets[name]}


def found(silo: Silo, sort: str | None = None, **values: Sequence[str]) -> list[str]:
    page = PageRequest(sort=sort)
    return [row.identifier for row in silo.search("", SearchFilters(values=values), page=page).rows]


def test_a_contributed_facet_filters_and_counts(silo: Silo, contribute: Contribute) -> None:
    ledger = Ledger()
    ledger.kept = {"a": ("red",), "b": ("red", "blue")}
    contribute(GROUP, "colour", ledger.facet("colour"))
    assert counts(silo, "colour") == {"red": 2, "blue": 1}
    assert found(silo, colour=["blue"]) == ["b"]
    assert found(silo, colour=["red"]) == ["a", "b"]
    assert found(silo, colour=["green"]) == []
    assert list(Selection(filters=filters_from(["colour=blue"])).iterate(silo)) == ["b"]
    assert selection_from({"colour": "blue"}).find(silo) == ("b",)


def test_values_are_read_once_and_again_only_where_something_changed(
    silo: Silo, contribute: Contribute
) -> None:
    ledger = Ledger()
    ledger.kept = {"a": ("red",)}
    contribute(GROUP, "colour", ledger.facet("colour"))
    counts(silo, "year")
    assert ledger.asked == []
    counts(silo, "colour")
    counts(silo, "colour")
    assert ledger.asked == [list(IDENTIFIERS)]
    silo["b"].put_stream("note.txt", "x")
    silo.get_item("e").put_stream("oai_dc", GOOD, None, True)
    ledger.kept |= {"b": ("blue",), "e": ("red",)}
    assert counts(silo, "colour") == {"red": 2, "blue": 1}
    assert ledger.asked[1:] == [["b", "e"]]
    ledger.kept, ledger.stamp = {"c": ("green",)}, "2"
    assert counts(silo, "colour") == {"green": 1}
    assert ledger.asked[2:] == [[*IDENTIFIERS, "e"]]
    silo.del_item("c")
    assert counts(silo, "colour") == {}
    with Silo(silo.path) as other:
        assert counts(other, "colour") == {}
    assert len(ledger.asked) == 3
    ledger.stamp = ""
    assert counts(silo, "colour") == {}
    assert len(ledger.asked) == 3


def test_numbers_sort_both_ways_and_records_without_come_last(
    silo: Silo, contribute: Contribute
) -> None:
    ledger = Ledger()
    ledger.kept = {"a": ("10",), "b": ("9.5", "nan"), "d": ("10", "200")}
    contribute(GROUP, "hits", ledger.facet("hits", is_order=True, is_facet=False))
    assert found(silo, "hits") == ["b", "a", "d", "c"]
    assert found(silo, "-hits") == ["d", "a", "b", "c"]
    for sort in ("hits", "-hits"):
        after, walked = None, []
        while True:
            page = silo.search(page=PageRequest(limit=1, after=after, sort=sort))
            walked += [row.identifier for row in page.rows]
            if (after := page.next_page) is None:
                break
        assert walked == found(silo, sort)


def test_labels_are_the_values_that_a_filter_may_have(silo: Silo, contribute: Contribute) -> None:
    ledger = Ledger()
    ledger.kept = {"a": ("red",)}
    contribute(GROUP, "colour", ledger.facet("colour", labels={"red": "a red cover"}))
    with pytest.raises(SearchError, match="there is no colour 'rde'; there are red; did you mean"):
        found(silo, colour=["rde"])
    with pytest.raises(SearchError, match="there is no order 'colour'"):
        found(silo, "colour")


def test_a_package_adds_findings(silo: Silo, contribute: Contribute) -> None:
    ledger = Ledger()
    ledger.kept = {"a": ("X901",), "b": ("X901",)}
    facet = ledger.facet("finding.made-up", labels={"X901": "made up"})
    contribute(GROUP, "finding.made-up", facet)
    silo["b"].put_stream("oai_dc", GOOD.replace("1999", "soon"), None, True)
    assert counts(silo, "finding") == {"X901": 2, "Q202": 1}
    assert found(silo, finding=["X901"]) == ["a", "b"]
    assert found(silo, finding=["X901", "Q202"]) == ["a", "b"]
    with silo.batch(["e"]) as batch:
        edit = batch.edit("e")
        edit.add_version("1", date="2004-06-24", origin=Origin("harvest"))
        edit.put("1", "oai_dc", GOOD.encode(), metadata=True)
    ledger.kept, ledger.stamp = {"e": ("X901",)}, "2"
    assert counts(silo, "finding") == {"X901": 1, "Q202": 1}
    record = silo["e"]
    record.metadata["deleted_at_version"] = "1"
    record.sync()
    assert counts(silo, "finding") == {"Q202": 1}


def test_a_facet_may_be_read_from_the_records(silo: Silo, contribute: Contribute) -> None:
    decade = described(
        lambda _manifest, description: [f"{date.text[:3]}0s" for date in description.dates]
    )
    contribute(GROUP, "decade", Facet("decade", "Decade", decade, lambda _path: "1"))
    assert counts(silo, "decade") == {"1990s": 4}
    silo["d"].put_stream("oai_dc", GOOD.replace("1999", "2004"), None, True)
    assert counts(silo, "decade") == {"1990s": 3, "2000s": 1}


def test_a_broken_facet_is_named_where_it_is_asked_for_and_stops_nothing_else(
    silo: Silo, contribute: Contribute, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(_path: str, _identifiers: Sequence[str]) -> Mapping[str, Sequence[str]]:
        raise OSError("the ledger is gone")

    contribute(GROUP, "colour", Facet("colour", "Colour", fails, lambda _path: "1"))
    contribute(GROUP, "shape", "no facet")
    contribute(GROUP, "finding.fails", Facet("finding.fails", "F", fails, lambda _path: "1"))
    assert counts(silo, "year") == {"1999": 4}
    with caplog.at_level(logging.WARNING):
        assert counts(silo, "colour") == {}
        assert counts(silo, "finding") == {}
    assert "'colour' of the package" in caplog.text
    for name in ("colour", "shape"):
        with pytest.raises(SearchError, match=f"'{name}' of the package .* failed: "):
            found(silo, **{name: ["red"]})
    assert found(silo, finding=["Q202"]) == []


def test_columns_of_tables(silo: Silo, contribute: Contribute) -> None:
    ledger = Ledger()
    ledger.kept = {"a": ("red", "blue")}
    contribute(GROUP, "colour", ledger.facet("colour", is_column=True))
    contribute(GROUP, "shape", ledger.facet("shape"))
    out = io.StringIO()
    write_csv(silo, Selection(), out, ["record", "colour"])
    assert out.getvalue().splitlines()[:3] == ["record,colour", "a,red||blue", "b,"]
    out = io.StringIO()
    write_jsonl(silo, Selection(), out, ["record", "colour"])
    assert out.getvalue().splitlines()[0] == '{"record": "a", "colour": ["red", "blue"]}'
    assert len(ledger.asked) == 2
    with pytest.raises(ExportError, match="there is no field 'shape'; there are record, "):
        check_columns(["shape"])
    with pytest.raises(ExportError, match="; did you mean 'colour'"):
        check_columns(["colur"])


def test_a_facet_without_values_is_never_written(silo: Silo, contribute: Contribute) -> None:
    ledger = Ledger()
    ledger.stamp = ""
    contribute(GROUP, "colour", ledger.facet("colour"))
    counts(silo, "year")
    with closing(sqlite3.connect(Path(silo.path, ".silo", "index.sqlite"))) as index:
        assert counts(silo, "colour") == {}
        assert index.execute("SELECT count(*) FROM beside_facet").fetchone() == (0,)


def test_where_the_disk_is_full_a_facet_has_the_values_it_had(
    silo: Silo, contribute: Contribute, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: Any) -> None:
        raise IndexProblem("index.sqlite", "database or disk is full")

    ledger = Ledger()
    ledger.kept = {"a": ("red",)}
    contribute(GROUP, "colour", ledger.facet("colour"))
    assert counts(silo, "colour") == {"red": 1}
    monkeypatch.setattr("recordsilo.index.database.bring_in_step", full)
    ledger.stamp = "2"
    assert counts(silo, "colour") == {"red": 1}
    with pytest.raises(IndexProblem):
        found(silo, colour=["red"])


def test_a_copy_of_the_index_gets_the_values_that_differ(
    silo: Silo, contribute: Contribute
) -> None:
    ledger, copy = Ledger(), dict[str, Mapping[str, Sequence[str]]]()
    ledger.kept, ledger.stamp = {"a": ("10",), "b": ("9",)}, ""
    contribute(GROUP, "loans", ledger.facet("loans"))
    contribute(GROUP, "finding.loans", ledger.facet("finding.loans"))

    def given(mark: str) -> tuple[list[str], str]:
        """Bring the copy in step; returns the records that were given out, and the new mark."""
        changes = silo.changes(mark)
        assert changes.is_whole == (not mark)
        names = []
        for _number, entry in silo.changed_entries(changes):
            names.append(entry.row.identifier)
            copy[names[-1]] = entry.facets
        return names, changes.mark

    def loans() -> dict[str, Sequence[str]]:
        return {name: facets["loans"] for name, facets in copy.items() if "loans" in facets}

    names, mark = given("")
    assert (names, loans()) == (["a", "b", "c", "d"], {})
    ledger.stamp = "1"
    names, mark = given(mark)
    assert (names, loans()) == (["a", "b"], {"a": ("10",), "b": ("9",)})
    assert "10" in copy["a"]["finding"]
    ledger.stamp = "2"
    assert silo.changes(mark).mark == mark
    ledger.kept |= {"b": ("7", "8"), "c": ("1",), "e": ("2",)}
    ledger.stamp = "3"
    silo["a"].put_stream("note.txt", "x")
    silo.get_item("e").put_stream("oai_dc", GOOD, None, True)
    names, mark = given(mark)
    assert names == ["a", "e", "b", "c"]
    assert loans() == {"a": ("10",), "b": ("7", "8"), "c": ("1",), "e": ("2",)}
    silo.del_item("b")
    ledger.stamp = "4"
    names, mark = given(mark)
    assert names == []
    with closing(sqlite3.connect(f"{silo.path}/.silo/index.sqlite")) as index:
        noted = index.execute("SELECT count(*) FROM beside_change").fetchone()
    assert noted == (3,)  # none of a deleted record
    ledger.stamp = ""
    names, mark = given(mark)
    assert names == ["a", "c", "e"]
    assert {"a", "c", "e"}.isdisjoint(loans())
