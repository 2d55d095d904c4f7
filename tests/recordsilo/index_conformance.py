"""Requirements for every index, tested through a Silo; derive from `IndexConformance` to run them.

Engines may differ in what they rank first and in how they order records with equal keys.
"""

import itertools
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recordsilo import Origin, Silo
from recordsilo.errors import RecordNotFound, SearchError
from recordsilo.formats.quality import UNREADABLE
from recordsilo.index import Around, Entry, PageRequest, SearchFilters
from recordsilo.index.facets import GROUP, Facet
from recordsilo.index.search_values import FACETS

DC = (
    '<metadata xmlns="http://www.openarchives.org/OAI/2.0/"><oai_dc:dc '
    'xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/">%s</oai_dc:dc></metadata>'
)
RECORDS: dict[str, dict[str, Any]] = {
    "a": {
        "title": "Wind turbines in winter", "creator": ["Adeyemi, Fiona"],
        "subject": ["energy", "wind"], "date": "2001", "type": "Article",
        "sets": ("physics:energy",), "datestamp": "2020-01-01T00:00:00",
    },
    "b": {
        "title": "Élan and solar cells", "creator": ["Adeyemi, Fiona", "Brown, A."],
        "subject": ["energy"], "date": "2002-05", "type": "Article", "language": "en",
        "sets": ("physics",), "datestamp": "2020-01-02T12:00:00",
    },
    "c": {
        "title": "Cells, solar and other", "creator": ["Chen, Li"], "subject": ["biology"],
        "description": "The wind is not in the title", "date": "2002", "type": "Thesis",
        "publisher": "A Press", "sets": ("physicsx", "biology"),
        "datestamp": "2020-01-03T00:00:00",
    },
    "d": {
        "title": "Photography", "creator": ["Brown, A."], "subject": ["art"], "type": "Thesis",
        "identifier": ["https://doi.org/10.5555/12345678"], "date": "1999",
        "datestamp": "2020-01-04T00:00:00",
    },
}  # fmt: skip
"""Identifier → its description, its setSpecs and the datestamp of the source."""


def put(silo: Silo, record: str, /, **described: Any) -> None:
    """Harvest a new version of a record."""
    sets, stamp = described.pop("sets", ()), described.pop("datestamp", "2020-01-01T00:00:00")
    values = {k: [v] if isinstance(v, str) else v for k, v in described.items()}
    xml = DC % "".join(f"<dc:{k}>{v}</dc:{k}>" for k, many in values.items() for v in many)
    with silo.batch([record]) as batch:
        edit = batch.edit(record)
        name = str(len(edit.manifest.versions) + 1)
        origin = Origin("harvest", prefixes={"oai_dc": stamp})
        edit.add_version(name, date=stamp, origin=origin)
        edit.put(name, "oai_dc", xml.encode(), metadata=True)
        edit.set_metadata("setSpec", list(sets))


def put_all(silo: Silo, identifiers: Iterable[str] = RECORDS) -> None:
    for identifier in identifiers:
        put(silo, identifier, **RECORDS[identifier])


def found(silo: Silo, query: str = "", sort: str = "identifier", **filters: Any) -> str:
    """The identifiers found, joined; asked for in pages of one and all at once."""
    wanted = SearchFilters(**filters)
    whole = silo.search(query, wanted, page=PageRequest(limit=1000, sort=sort))
    one_by_one, page = [], PageRequest(limit=1, sort=sort)
    for _ in range(whole.total + 1):
        result = silo.search(query, wanted, page=page)
        assert result.total == whole.total
        one_by_one += [row.identifier for row in result.rows]
        if result.next_page is None:
            break
        page = PageRequest(limit=1, sort=sort, after=result.next_page)
    assert one_by_one == [row.identifier for row in whole.rows]
    assert len(one_by_one) == whole.total
    return "".join(one_by_one)


class IndexConformance(ABC):
    """Derive a class, and let `open_silo` and `lose` do it with the index to be tested."""

    @abstractmethod
    def open_silo(self, path: str) -> Silo:
        """Open a Silo whose index is the one to be tested; another process's, if opened twice."""

    @abstractmethod
    def lose(self, path: str) -> None:
        """Damage or delete the index of a Silo."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> str:
        return str(tmp_path / "silo")

    @pytest.fixture
    def empty(self, path: str) -> Iterator[Silo]:
        with self.open_silo(path) as silo:
            yield silo

    @pytest.fixture
    def silo(self, empty: Silo) -> Silo:
        put_all(empty)
        return empty

    # -- membership and order ---------------------------------------------------------------

    def test_a_new_silo_is_empty(self, empty: Silo) -> None:
        assert (len(empty), list(empty), empty.set_counts(), empty.version_count()) == (
            0,
            [],
            {},
            0,
        )
        assert found(empty) == ""
        assert empty.search("word", facets=["subject"]).facets == {"subject": ()}

    def test_records_are_listed_by_code_point(self, empty: Silo) -> None:
        for name in ("b", "é", "Z", "a:2", "a:10", "𝒜"):
            put(empty, name, title="x")
        assert list(empty) == sorted(["b", "é", "Z", "a:2", "a:10", "𝒜"])
        assert len(empty) == empty.count() == 6

    def test_a_row_says_what_the_manifest_does(self, silo: Silo) -> None:
        row = silo.row("b")
        assert (row.identifier, row.title, row.sets) == ("b", "Élan and solar cells", ("physics",))
        assert (row.datestamp, row.versions, row.current_version) == (
            "2020-01-02T12:00:00", 1, "1",
        )  # fmt: skip
        assert (row.deleted, row.curated, row.upstream_newer) == (False, False, False)
        assert row.revision == silo["b"].revision
        with pytest.raises(RecordNotFound):
            silo.row("nope")

    @pytest.mark.parametrize(
        "sort", ["relevance", "newest", "oldest", "identifier", "title", "type"]
    )
    @pytest.mark.parametrize("query", ["", "solar OR wind", "cells -other"])
    def test_a_record_knows_its_neighbours_in_every_order(
        self, silo: Silo, sort: str, query: str
    ) -> None:
        silo.search(page=PageRequest(sort=sort))  # what changes now, changes behind its back
        for name, title in (("a", "Zoology of wind"), ("e", "Solar cells"), ("aa", "An old wind")):
            put(silo, name, **RECORDS["a"] | {"title": title})
        wanted = SearchFilters({"deleted": False}, {"creator!": ["Chen, Li"]})
        rows = silo.search(query, wanted, page=PageRequest(limit=100, sort=sort)).rows
        names = [None, *(row.identifier for row in rows), None]
        for place, name in enumerate(names[1:-1], 1):
            found = silo.around(str(name), query, wanted, sort)
            assert found == Around(names[place - 1], names[place + 1], place, len(rows))
        assert silo.around("d", "wind", wanted, sort) is None
        assert silo.around("nope", query, wanted, sort) is None
        with pytest.raises(SearchError):
            silo.around("a", sort="best")

    def test_descriptions_of_a_page_have_the_values_in_the_records_order(self, silo: Silo) -> None:
        put(silo, "b", **RECORDS["b"] | {"creator": ["Zu, A.", "Adeyemi, Fiona"]})
        put(silo, "gone", title="", identifier=["10.5555/\u4e2d", "doi:10.5555/b"])
        found = silo.described(["d", "b", "gone", "nope"])
        assert set(found) == {"d", "b", "gone"}
        assert found["b"].creators == ("Zu, A.", "Adeyemi, Fiona")
        assert (found["b"].year, found["b"].values["type"]) == ("2002", ("Article",))
        assert found["b"].values["set"] == ("physics",)
        assert (found["b"].doi, found["d"].doi, found["gone"].doi) == (
            "", "10.5555/12345678", "10.5555/b",
        )  # fmt: skip
        assert found["d"].as_json() == {
            "creators": ["Brown, A."], "year": "1999", "types": ["Thesis"], "publishers": [],
            "doi": "10.5555/12345678",
        }  # fmt: skip
        assert silo.described([]) == {}
        titled = {one.identifier: (one.title, one.doi) for one in silo.titled()}
        assert titled.keys() == {row.identifier for row in silo.page().rows} - {"gone"} | {"gone"}
        assert sorted(silo.indexed()) == silo.keys()
        assert (titled["d"][1], titled["gone"]) == ("10.5555/12345678", ("", "10.5555/b"))

    def test_a_list_is_paged_both_ways_from_any_point(self, silo: Silo) -> None:
        first = silo.page(limit=2)
        assert [row.identifier for row in first.rows] == ["a", "b"]
        assert (first.total, first.has_next, first.has_previous) == (4, True, False)
        last = silo.page(limit=2, after="b")
        assert [row.identifier for row in last.rows] == ["c", "d"]
        assert (last.has_next, last.has_previous) == (False, True)
        back = silo.page(limit=1, before="c")
        assert [row.identifier for row in back.rows] == ["b"]
        assert (back.has_next, back.has_previous) == (True, True)
        assert [r.identifier for r in silo.page(from_identifier="bb").rows] == ["c", "d"]
        beyond = silo.page(after="z")
        assert (beyond.rows, beyond.has_next, beyond.has_previous) == ((), False, True)
        assert [row.identifier for row in silo.neighbours("b", limit=1)] == ["a", "c"]
        near = silo.neighbours("bb", set_spec="physics")
        assert [row.identifier for row in near] == ["a", "b"]

    def test_lists_are_filtered_and_counted(self, silo: Silo) -> None:
        silo["a"].clone_version("1", "mine")
        put(silo, "a", **RECORDS["a"])
        silo["a"].set_version_cursor("mine")
        for filters, expected in (
            ({"set_spec": "physics"}, "ab"), ({"set_spec": "physics:energy"}, "a"),
            ({"curated": False, "set_spec": "biology"}, "c"), ({"deleted": True}, ""),
            ({"deleted": False}, "abcd"),
        ):  # fmt: skip
            assert "".join(r.identifier for r in silo.page(**filters).rows) == expected, filters
            assert silo.count(**filters) == silo.page(**filters).total == len(expected), filters
        assert silo.set_counts() == {"biology": 1, "physics": 1, "physics:energy": 1, "physicsx": 1}
        assert silo.version_count() == sum(len(record.versions) for record in silo.iteritems())

    def test_the_records_of_each_set_are_counted_by_year(self, silo: Silo) -> None:
        counted = {
            "physics:energy": {"2001": 1}, "physics": {"2002": 1},
            "physicsx": {"2002": 1}, "biology": {"2002": 1},
        }  # fmt: skip
        assert silo.set_years() == counted
        put(silo, "a", **RECORDS["a"] | {"date": "", "sets": ("physics", "new")})
        put(silo, "c", **RECORDS["c"] | {"date": "2003"})
        put(silo, "e", title="Another", date="2003", sets=("physicsx",))
        del silo["b"]
        assert silo.set_years() == {"physicsx": {"2003": 2}, "biology": {"2003": 1}}

    # -- words --------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("wind", "ac"), ("WIND", "ac"), ("elan", "b"), ("solar cells", "bc"),
            ('"solar cells"', "b"), ("photo*", "d"), ("photo", ""), ("win*", "ac"),
            ("title:wind", "a"), ("subject:energy", "ab"), ("abstract:wind", "c"),
            ('creator:"Adeyemi, Fiona"', "ab"), ("wind -turbines", "c"), ("-wind", "bd"),
            ("photography OR turbines", "ad"), ("doi:10.5555/12345678", "d"), ("nothing", ""),
            ("identifier:d", "d"), ("", "abcd"), ("?!", "abcd"), ('"', "abcd"),
        ],
    )  # fmt: skip
    def test_words_phrases_beginnings_and_fields(
        self, silo: Silo, query: str, expected: str
    ) -> None:
        assert found(silo, query) == expected

    def test_any_text_is_a_query(self, silo: Silo) -> None:
        for parts in itertools.product(
            ("a", '"', "*", "-", "OR", "title:", "\0", "(", "é"), repeat=2
        ):
            silo.search(" ".join(parts))
            silo.search("".join(parts))

    # -- filters and facets -------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({"values": {"set": ["physics"]}}, "ab"), ({"values": {"set": ["physicsx"]}}, "c"),
            ({"values": {"year": ["2002"]}}, "bc"), ({"values": {"year": ["1999", "2001"]}}, "ad"),
            ({"values": {"type": ["Thesis"], "subject": ["art", "energy"]}}, "d"),
            ({"values": {"creator": ["Brown, A."]}}, "bd"), ({"values": {"language": ["en"]}}, "b"),
            ({"values": {"publisher": ["A Press"]}}, "c"),
            ({"values": {"format": ["oai_dc"]}}, "abcd"),
            ({"values": {"subject": ["unknown"]}}, ""), ({"values": {"state": ["ready"]}}, ""),
            ({"since": "2020-01-02"}, "bcd"), ({"until": "2020-01-02"}, "ab"),
            ({"since": "2020-01-02T12:00:00", "until": "2020-01-03"}, "bc"),
            ({"changed_since": "2026-01-01"}, "abcd"), ({"changed_since": "9000-01-01"}, ""),
            ({"flags": {"deleted": False}}, "abcd"), ({"flags": {"has_file": True}}, ""),
            ({"values": {"type!": ["Thesis"]}}, "ab"), ({"values": {"set!": ["physics"]}}, "cd"),
            ({"values": {"language!": ["en"]}}, "acd"),
            ({"values": {"subject!": ["energy", "art"]}}, "c"),
            ({"values": {"subject": ["energy"], "subject!": ["wind"]}}, "b"),
            ({"values": {"year": ["2000..2001"]}}, "a"), ({"values": {"year": ["..1999"]}}, "d"),
            ({"values": {"year": ["1999", "2002.."]}}, "bcd"),
            ({"values": {"year!": ["2000..2001"]}}, "bcd"),
            ({"values": {"year": ["1999..2002"], "type": ["Thesis"]}}, "cd"),
            ({"flags": {"curated": False, "upstream_newer": False}}, "abcd"),
            ({"flags": {"has_doi": True}}, "d"), ({"flags": {"has_doi": False}}, "abc"),
            ({"values": {"agent!": ["ann"]}}, "abcd"), ({"values": {"agent": ["ann"]}}, ""),
            ({"values": {"changed": ["2026.."]}}, "abcd"), ({"values": {"changed": ["2025"]}}, ""),
            ({"values": {"changed!": ["..2025-12"]}}, "abcd"),
            ({"values": {"title": ["wind*", "PHOTOGRAPHY"]}}, "ad"),
            ({"values": {"title": ["elan*"]}}, "b"), ({"values": {"title": ["photo"]}}, ""),
            ({"values": {"title": [r"/\bsolar\b/"]}}, "bc"),
            ({"values": {"title!": ["/solar$/", "/^cells/"]}}, "abd"),
        ],
    )  # fmt: skip
    def test_filters(self, silo: Silo, filters: dict[str, Any], expected: str) -> None:
        assert found(silo, **filters) == expected
        assert found(silo, "wind", **filters) == "".join(i for i in expected if i in "ac")

    def test_flags_and_states_of_versions(self, silo: Silo) -> None:
        silo["a"].clone_version("1", "mine")
        with silo.batch(["b"]) as batch:
            batch.edit("b").put("1", "article.pdf", b"%PDF", allow_frozen=True)
        record = silo["c"]
        record.metadata["deleted_at_version"] = "1"
        record.sync()
        assert found(silo, flags={"curated": True}) == "a"
        assert found(silo, values={"state": ["in work"]}) == "a"
        assert found(silo, flags={"has_file": True}) == "b"
        assert found(silo, flags={"deleted": True}) == "c"
        assert silo.count(curated=True) == silo.count(deleted=True) == 1

    def test_who_changed_a_record_here(self, silo: Silo) -> None:
        silo["a"].clone_version("1", "mine", agent="ann")
        silo["a"].put_stream("notes.txt", b"x", agent="ben")
        silo["b"].set_version_state("1", "ready", agent="ann")
        assert found(silo, values={"agent": ["ann"]}) == "ab"
        assert found(silo, values={"agent": ["ben"]}) == "a"
        assert found(silo, values={"agent!": ["ann"]}) == "cd"
        put(silo, "c", title="Again")
        result = silo.search("", facets=["agent"])
        assert [(one.value, one.count) for one in result.facets["agent"]] == [
            ("ann", 2),
            ("ben", 1),
        ]

    @pytest.mark.parametrize(
        ("name", "value", "sentence"),
        [
            ("changed", "yesterday", "is not a date"), ("changed", "2026-13", "year or a month"),
            ("changed", "..", "is not a period"),
            ("title", "\ud800*", "is not valid text"),
            ("changed", "2026..2025", "ends before it begins"),
            ("title", "/(/", "not a valid pattern"), ("title", "*", "no letter or digit"),
        ],
    )  # fmt: skip
    def test_wrong_periods_and_patterns(
        self, silo: Silo, name: str, value: str, sentence: str
    ) -> None:
        with pytest.raises(SearchError, match=sentence):
            silo.search("", SearchFilters(values={name: [value]}))
        with pytest.raises(SearchError, match=f"there is no facet '{name}'"):
            silo.search("", facets=[name])

    def test_facets_count_what_was_found(self, silo: Silo) -> None:
        def counted(query: str, facet: str, **filters: Any) -> list[tuple[str, int]]:
            result = silo.search(query, SearchFilters(**filters), [facet])
            return [(one.value, one.count) for one in result.facets[facet]]

        assert counted("", "subject") == [("energy", 2), ("art", 1), ("biology", 1), ("wind", 1)]
        assert counted("", "year") == [("2002", 2), ("1999", 1), ("2001", 1)]
        assert counted("", "deleted") == [("false", 4)]
        assert counted("wind", "type") == [("Article", 1), ("Thesis", 1)]
        assert counted("", "creator", values={"type": ["Article"]}) == [
            ("Adeyemi, Fiona", 2), ("Brown, A.", 1),
        ]  # fmt: skip
        assert counted("nothing", "subject") == []
        few = silo.search("", facets=["subject"], page=PageRequest(facet_limit=2))
        assert [one.value for one in few.facets["subject"]] == ["energy", "art"]
        assert set(silo.search("", facets=FACETS).facets) == set(FACETS)

    def test_a_facet_counts_without_its_own_filters(self, silo: Silo) -> None:
        def counted(facet: str, **values: list[str]) -> dict[str, int]:
            result = silo.search("", SearchFilters(values=values), [facet])
            return {one.value: one.count for one in result.facets[facet]}

        assert counted("year", year=["1999"]) == {"2002": 2, "1999": 1, "2001": 1}
        assert counted("year", year=["1999"], type=["Article"]) == {"2001": 1, "2002": 1}
        assert counted("type", year=["2002"], type=["Thesis"]) == {"Article": 1, "Thesis": 1}
        assert counted("type", **{"type!": ["Thesis"]}) == {"Article": 2, "Thesis": 2}
        assert counted("year", **{"type!": ["Thesis"]}) == {"2001": 1, "2002": 1}
        flags = SearchFilters(flags={"deleted": True})
        assert [one.value for one in silo.search("", flags, ["deleted"]).facets["deleted"]] == [
            "false"
        ]

    def test_values_that_are_filtered_by_are_counted_whatever_the_limit(self, silo: Silo) -> None:
        page = PageRequest(facet_limit=1)
        wanted = SearchFilters(values={"year": ["1999"], "year!": ["2001"]})
        found = silo.search("", wanted, ["year"], page).facets["year"]
        assert [(one.value, one.count) for one in found] == [("2002", 2), ("1999", 1), ("2001", 1)]
        put(silo, "e", title="New", date="1999")  # changed records are counted apart
        found = silo.search("", wanted, ["year"], page).facets["year"]
        assert [(one.value, one.count) for one in found] == [("1999", 2), ("2001", 1)]
        page = PageRequest(facet_limit=1, whole_facets=["year"])
        assert len(silo.search("", None, ["year"], page).facets["year"]) == 3

    @pytest.mark.parametrize("value", ["2002..2001", "..", "a..b", "2001..x", "1..2..3"])
    def test_a_range_that_means_nothing_is_refused(self, silo: Silo, value: str) -> None:
        with pytest.raises(SearchError, match="range"):
            silo.search("", SearchFilters(values={"year": [value]}))
        assert found(silo, values={"publisher": [value]}) == ""

    def test_a_facet_without_values_is_empty(self, empty: Silo) -> None:
        for identifier, kind in (("a", "Article"), ("b", "Article"), ("c", "Thesis")):
            put(empty, identifier, type=kind)
        page = PageRequest(whole_facets=["year"])
        for filters in ({}, {"type": ["Article"]}, {"type!": ["Thesis"]}, {"year": ["2010..2016"]}):
            shown = empty.search("", SearchFilters(values=filters), ["year"], page)
            assert shown.facets["year"] == ()

    def test_contributed_facets_filter_count_and_sort(
        self, silo: Silo, contribute: Callable[[str, str, Any], None]
    ) -> None:
        loans, stamp = {"a": ["10"], "b": ["9.5"], "d": ["200"]}, ["1"]
        contribute(
            GROUP,
            "loans",
            Facet(
                "loans", "Loans", lambda _path, _some: loans, lambda _path: stamp[0], is_order=True
            ),
        )
        assert found(silo, sort="loans") == "badc"
        assert found(silo, sort="-loans") == "dabc"
        assert found(silo, values={"loans": ["10", "200"]}) == "ad"
        assert found(silo, values={"loans": ["9.5..10"]}) == "ab"
        assert found(silo, values={"loans!": ["10", "200"]}) == "bc"
        loans["c"], stamp[0] = ["10"], "2"
        (most, *_) = silo.search(facets=["loans"]).facets["loans"]
        assert (most.value, most.count) == ("10", 2)
        silo.del_item("a")
        assert found(silo, values={"loans": ["10"]}) == "c"

    @pytest.mark.parametrize(
        "asked",
        [
            {"facets": ["nope"]}, {"page": PageRequest(sort="nope")},
            {"page": PageRequest(limit=0)},
            {"filters": SearchFilters(values={"nope": ["x"]})},
            {"filters": SearchFilters(flags={"subject": True})},
            {"filters": SearchFilters(since="not a date")},
            {"page": PageRequest(after="no page", sort="identifier")},
        ],
    )  # fmt: skip
    def test_what_cannot_be_asked_is_refused(self, silo: Silo, asked: dict[str, Any]) -> None:
        with pytest.raises(SearchError):
            silo.search(**asked)

    # -- orders and paging --------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("sort", "expected"),
        [("identifier", "abcd"), ("oldest", "abcd"), ("newest", "dcba"), ("title", "cbda")],
    )
    def test_orders(self, silo: Silo, sort: str, expected: str) -> None:
        assert found(silo, sort=sort) == expected
        assert silo.search(page=PageRequest(sort=sort)).sort == sort

    def test_types_are_in_order_of_their_letters_and_records_without_one_come_last(
        self, silo: Silo
    ) -> None:
        put(silo, "a", **RECORDS["a"] | {"type": []})
        put(silo, "d", **RECORDS["d"] | {"type": ["Zine", "book"]})
        assert found(silo, sort="type") == "bdca"
        assert found(silo, sort="type", values={"type!": ["Article"]}) == "dca"
        near = silo.around("c", sort="type")
        assert near is not None
        assert (near.previous, near.next, near.place) == ("d", "a", 3)

    def test_hits_in_the_title_come_first(self, silo: Silo) -> None:
        assert found(silo, "wind", sort="relevance") == "ac"
        assert silo.search("wind").sort == "relevance"
        assert silo.search("").sort == "identifier"

    def test_a_page_of_one_order_is_refused_in_another(self, silo: Silo) -> None:
        after = silo.search(page=PageRequest(limit=1, sort="title")).next_page
        with pytest.raises(SearchError):
            silo.search(page=PageRequest(limit=1, sort="newest", after=after))

    # -- in step with the records -------------------------------------------------------------

    def test_single_edits_are_seen_at_once_by_all(self, silo: Silo, path: str) -> None:
        with self.open_silo(path) as other:
            assert found(other, "storage") == ""
            put(silo, "b", **{**RECORDS["b"], "title": "Storage", "subject": ["batteries"]})
            put(silo, "e", title="Storage of heat")
            assert found(other, "storage") == "be"
            assert found(other, "elan") == ""
            assert found(other, values={"subject": ["batteries"]}) == "b"
            silo.del_item("a")
            assert list(other) == ["b", "c", "d", "e"]
            assert found(other, "wind") == "c"
            assert "physics:energy" not in other.set_counts()

    def test_the_stamp_changes_when_a_record_does(self, silo: Silo) -> None:
        before = silo.index_stamp()
        put(silo, "e", title="x")
        after = silo.index_stamp()
        assert after is None or after != before

    def test_a_writer_killed_before_it_indexed_is_caught_up_with(
        self, silo: Silo, path: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert len(silo) == 4
        with self.open_silo(path) as killed:
            monkeypatch.setattr(killed._catalogue, "after_write", lambda _entries: None)
            put(killed, "b", title="Tides")
            put(killed, "e", title="Tides too")
            monkeypatch.setattr(killed._catalogue, "after_delete", lambda _identifier: None)
            killed.del_item("a")
        assert found(silo, "tides") == "be"
        with self.open_silo(path) as again:
            assert found(again, "tides") == "be"
            assert list(again) == ["b", "c", "d", "e"]

    def test_a_writer_killed_before_it_committed_changed_nothing(
        self, silo: Silo, path: str
    ) -> None:
        with self.open_silo(path) as killed:
            killed._catalogue.before_write(["a", "new"], durable=True)
        with self.open_silo(path) as again:
            assert list(again) == ["a", "b", "c", "d"]
            assert again._catalogue._index.unsettled() == []

    def test_a_manifest_replaced_by_other_means_shows_in_lists(
        self, silo: Silo, path: str, tmp_path: Path
    ) -> None:
        with self.open_silo(str(tmp_path / "other")) as other:
            put(other, "a", title="Restored", datestamp="1999-09-09T00:00:00")
            shutil.copytree(other["a"].path_to_item(), silo["a"].path_to_item(), dirs_exist_ok=True)
        assert silo.row("a").title == silo.page().rows[0].title == "Restored"
        assert silo.search(page=PageRequest(sort="identifier")).rows[0].title == "Restored"

    # -- lost and rebuilt ---------------------------------------------------------------------

    def test_a_lost_index_is_rebuilt_when_it_is_asked(self, silo: Silo, path: str) -> None:
        silo.close()
        self.lose(path)
        with self.open_silo(path) as again:
            assert list(again) == ["a", "b", "c", "d"]
            assert found(again, "wind") == "ac"

    def test_a_lost_index_is_no_hindrance_to_a_writer(self, silo: Silo, path: str) -> None:
        silo.close()
        self.lose(path)
        with self.open_silo(path) as again:
            put(again, "e", title="Wind and waves")
            assert found(again, "wind") == "ace"

    def test_a_rebuild_takes_in_what_came_and_drops_what_went(
        self, silo: Silo, tmp_path: Path
    ) -> None:
        with self.open_silo(str(tmp_path / "other")) as other:
            put(other, "new", title="Copied here")
            source = other["new"].path_to_item()
            shutil.copytree(source, source.replace(other.path, silo.path))
        shutil.rmtree(silo["b"].path_to_item())
        seen: list[int] = []
        assert silo.reindex(seen.append) == 4
        assert seen[-1:] == [4]
        assert list(silo) == ["a", "c", "d", "new"]
        assert found(silo, "copied") == "new"
        assert found(silo, "elan") == ""
        assert silo.reindex() == 4

    def test_what_cannot_be_read_is_kept_as_a_problem(self, silo: Silo) -> None:
        manifest = Path(silo["b"].path_to_item(), "__manifest.json")
        content = manifest.read_bytes()
        manifest.write_text("{")
        assert silo.reindex() == 4
        ((place, sentence),) = silo.index_problems()
        assert place in str(manifest)
        assert "cannot be read" in sentence
        manifest.write_bytes(content)
        assert silo.reindex() == 4
        assert silo.index_problems() == []
        assert found(silo, "elan") == "b"

    def test_a_record_that_became_unreadable_stays_as_it_was_last_read(self, silo: Silo) -> None:
        manifest = Path(silo["b"].path_to_item(), "__manifest.json")
        content, before = manifest.read_bytes(), silo.row("b")
        manifest.write_text("{")
        assert found(silo, "elan") == "b"
        (unread,) = silo.unread()
        assert (unread.identifier, unread.was_read) == ("b", True)
        assert "cannot be read" in unread.sentence
        assert silo.row("b") == before
        assert (len(silo), list(silo)) == (4, ["a", "b", "c", "d"])
        assert found(silo, values={"finding": [UNREADABLE]}) == "b"
        assert UNREADABLE in silo.described(["b"])["b"].values["finding"]
        assert silo.reindex() == 4
        assert [one.was_read for one in silo.unread()] == [True]
        manifest.write_bytes(content)
        assert found(silo, values={"finding": [UNREADABLE]}) == ""
        assert silo.unread() == silo.index_problems() == []
        assert found(silo, "elan") == "b"

    @pytest.mark.parametrize("is_asked", [True, False])
    def test_a_record_one_of_whose_files_was_away_is_found_once_it_is_back(
        self, silo: Silo, path: str, *, is_asked: bool
    ) -> None:
        place = Path(silo["b"].path_to_item(), "__1", "oai_dc")
        content = place.read_bytes()
        place.unlink()
        silo.close()
        self.lose(path)
        with self.open_silo(path) as again:
            assert (found(again, "elan"), again.reindex()) == ("", 4)
            place.write_bytes(content)
            if is_asked:
                again.reindex()
                assert found(again, "elan") == "b"
        with self.open_silo(path) as other:  # a handle looks when it is first asked
            assert found(other, "elan") == "b"
            assert other.row("b").title == "Élan and solar cells"

    def test_a_record_that_was_never_readable_is_listed_by_its_identifier(
        self, silo: Silo, path: str
    ) -> None:
        manifest = Path(silo["b"].path_to_item(), "__manifest.json")
        content = manifest.read_bytes()
        manifest.unlink()
        silo.close()
        self.lose(path)
        with self.open_silo(path) as again:
            assert list(again) == ["a", "b", "c", "d"]
            assert [(one.identifier, one.was_read) for one in again.unread()] == [("b", False)]
            assert found(again, "elan") == ""
            assert [row.title for row in again.rows(["b"]).values()] == [""]
            assert again.reindex() == 4
            assert [one.was_read for one in again.unread()] == [False]
            manifest.write_bytes(content)
            assert len(again) == 4
            assert found(again, "elan") == "b"
            assert again.unread() == []

    def test_unreadable_remains_of_a_record_go_with_its_directory(self, silo: Silo) -> None:
        place = Path(silo["b"].path_to_item())
        (place / "__manifest.json").write_text("{")
        assert len(silo) == len(list(silo)) == 4
        assert len(silo.unread()) == 1
        shutil.rmtree(place)
        assert (len(silo), silo.unread(), list(silo)) == (3, [], ["a", "c", "d"])

    # -- copies -------------------------------------------------------------------------------

    def test_a_copy_is_kept_in_step_by_what_changed(self, silo: Silo, path: str) -> None:
        copy: dict[int, Entry] = {}
        mark = taken_over(silo, copy, "")
        assert in_step(copy, silo)
        put(silo, "a", title="Another title", subject=["moved"])
        put(silo, "e", title="New here")
        silo.del_item("b")
        mark = taken_over(silo, copy, mark)
        assert in_step(copy, silo)
        silo.close()
        self.lose(path)
        with self.open_silo(path) as again:
            put(again, "c", title="After the loss")
            taken_over(again, copy, mark)
            assert in_step(copy, again)


def taken_over(silo: Silo, copy: dict[int, Entry], mark: str) -> str:
    """Bring a copy in step with a Silo; returns the new mark."""
    changes = silo.changes(mark)
    if changes.is_whole:
        copy.clear()
    for number in changes.gone:
        copy.pop(number, None)
    copy.update(silo.changed_entries(changes))
    return changes.mark


def in_step(copy: dict[int, Entry], silo: Silo) -> bool:
    rows = {one.row.identifier: one.row for one in copy.values()}
    described = silo.described(list(rows))
    return (
        len(copy) == len(rows)
        and rows == {row.identifier: row for row in silo.page().rows}
        and all(
            dict(one.facets) == dict(described[one.row.identifier].values) for one in copy.values()
        )
        and all(one.row.title in one.text.title for one in copy.values())
    )
