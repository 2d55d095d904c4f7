"""`Silo.search`: the same results as checking every record, for any query."""

import json
import os
import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from recordsilo import Origin, Silo
from recordsilo.audit import Audit
from recordsilo.errors import SearchError
from recordsilo.formats import canonical_identifier
from recordsilo.index import PageRequest, SearchFilters, catalogue, columns, orders
from recordsilo.index.columns import Rows
from recordsilo.index.query import stamps
from recordsilo.index.query_syntax import _UNSPACED, parse_query, spaced

Harvest = Callable[..., str]
DC = (
    '<metadata xmlns="http://www.openarchives.org/OAI/2.0/"><oai_dc:dc '
    'xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/">%s</oai_dc:dc></metadata>'
)


@dataclass(frozen=True)
class Made:
    """A record as it was made, to compare with what is found."""

    identifier: str
    title: str = ""
    creators: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    date: str = ""
    sets: tuple[str, ...] = ()
    datestamp: str = "2020-01-01T00:00:00"
    identifiers: tuple[str, ...] = ()

    @property
    def metadata(self) -> bytes:
        fields = [("title", self.title), ("date", self.date)]
        for name, values in (
            ("creator", self.creators), ("subject", self.subjects), ("type", self.types),
            ("identifier", self.identifiers),
        ):  # fmt: skip
            fields += [(name, value) for value in values]
        return (DC % "".join(f"<dc:{n}>{v}</dc:{n}>" for n, v in fields if v)).encode()


def make(silo: Silo, *records: Made) -> None:
    with silo.batch([one.identifier for one in records]) as batch:
        for one in records:
            edit = batch.edit(one.identifier)
            name = str(len(edit.manifest.versions) + 1)
            origin = Origin("harvest", prefixes={"oai_dc": one.datestamp})
            edit.add_version(name, date=one.datestamp, origin=origin)
            edit.put(name, "oai_dc", one.metadata, metadata=True)
            edit.set_metadata("setSpec", list(one.sets))


def found(silo: Silo, query: str = "", **filters: Any) -> list[str]:
    """All identifiers found, over pages of two."""
    page: PageRequest | None = PageRequest(limit=2, sort=filters.pop("sort", "identifier"))
    identifiers = []
    while page is not None:
        result = silo.search(query, SearchFilters(**filters), (), page)
        identifiers += [row.identifier for row in result.rows]
        after = result.next_page
        page = PageRequest(limit=2, sort=page.sort, after=after) if after else None
    assert result.total == len(identifiers)
    return identifiers


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Silo]:
    with Silo(str(tmp_path / "silo")) as silo:
        make(
            silo,
            Made("a", "Solar cells", ("Adeyemi, Fiona",), ("energy",), ("Article",), "2019"),
            Made("b", "Wind and solar power", ("Li, Helen",), ("energy", "wind"), ("Thesis",)),
            Made("c", "音乐的历史", ("高橋, 翔",), ("音乐",), ("Article",), "2021-05-01"),
            Made("d", "Élan vital", date="circa 1907", sets=("x:y",)),
        )
        yield silo


# -- words ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", "abcd"),
        ("solar", "ab"),
        ("SOLAR", "ab"),
        ("solar wind", "b"),
        ("solar -wind", "a"),
        ("-solar", "cd"),
        ("solar NOT wind", "a"),
        ("NOT solar", "cd"),
        ('cells NOT "solar cells"', ""),
        ("wind NOT title:solar", ""),
        ("solar NOT -wind", "a"),
        ("solar AND wind", "b"),
        ("solar AND NOT wind", "a"),
        ("solar not wind", ""),
        ('solar "NOT" wind', ""),
        ("solar AND", "b"),
        ("solar NOT", ""),
        ("AND", "b"),
        ("title:NOT", ""),
        ('"solar cells"', "a"),
        ('"cells solar"', ""),
        ("sol*", "ab"),
        ("sol", ""),
        ("cells OR 音乐", "ac"),
        ("title:wind", "b"),
        ("subject:wind -title:solar", ""),
        ('creator:"Adeyemi, Fiona"', "a"),
        ("creator:solar", ""),
        ("音乐", "c"),
        ("乐音", ""),
        ("elan", "d"),
        ("identifier:d", "d"),
        ("nosuchfield:x", ""),
        ("***", "abcd"),
        ("OR", "abcd"),
        ("-", "abcd"),
    ],
)
def test_words_find_what_the_syntax_says(library: Silo, query: str, expected: str) -> None:
    assert "".join(found(library, query)) == expected


DOI = (
    "10.5555/wex.4393", "doi:10.5555/wex.4393", "DOI:10.5555/WEX.4393", "urn:doi:10.5555/wex.4393",
    "https://doi.org/10.5555/wex.4393", "http://dx.doi.org/10.5555/wex.4393",
    "doi.org/10.5555/wex.4393", "https://www.doi.org/10.5555%2Fwex.4393?locatt=mode:legacy",
    "info:doi/10.5555/wex.4393", "https://hdl.handle.net/10.5555/wex.4393",
    "hdl:10.5555/wex.4393",
)  # fmt: skip
HANDLE = (
    "hdl:1721.1/4393", "http://hdl.handle.net/1721.1/4393", "hdl.handle.net/1721.1/4393?show=full",
    "HDL:1721.1/4393", "info:hdl/1721.1/4393", "https://hdl.handle.net/1721.1%2F4393",
)  # fmt: skip


@pytest.mark.parametrize("spellings", [DOI, HANDLE])
def test_an_identifier_is_found_in_whichever_spelling_it_is_asked_for(
    tmp_path: Path, spellings: tuple[str, ...]
) -> None:
    with Silo(str(tmp_path / "s")) as silo:
        records = [Made(f"r:{n:02}", identifiers=(one,)) for n, one in enumerate(spellings)]
        make(silo, *records, Made("x:1", identifiers=("doi:10.5555/wex.4394", "hdl:1721.1/4394")))
        everyone = [one.identifier for one in records]
        for asked in spellings:
            assert found(silo, asked) == everyone, asked
            assert found(silo, f'identifier:"{asked}"') == everyone, asked
            assert found(silo, f"{asked[:-1]}* -{asked}") == ([] if "?" in asked else ["x:1"])


@pytest.mark.parametrize(
    ("text", "canonical"),
    [*((one, "doi:10.5555/wex.4393") for one in DOI if one.islower()),
     *((one, "hdl:1721.1/4393") for one in HANDLE if one.islower()),
     ("doi://10.5555/gulls", "doi:10.5555/gulls"),
     ("doi: 10.5555/gulls", "doi:10.5555/gulls"),
     ("https://doi.org/1721.1/7", "hdl:1721.1/7")],
)  # fmt: skip
def test_the_spellings_of_an_identifier_have_one_canonical_form(text: str, canonical: str) -> None:
    assert canonical_identifier(text) == canonical
    assert canonical_identifier(canonical) == canonical


@pytest.mark.parametrize(
    "text",
    ["", "10.5555", "10.5555/", "doi:", "doi:abc", "doi:abc/1", "hdl:", "hdl:1721.1", "1721.1/7",
     "https://doi.org/", "https://example.org/10.5555/1", "https://notdoi.org/10.5555/1",
     "see doi:10.5555/1", "10.5555/1 and more", "hdl.handle.net", "oai:example.org:1"],
)  # fmt: skip
def test_another_text_is_left_as_it_is(text: str) -> None:
    assert canonical_identifier(text) == text


@pytest.fixture(scope="module")
def text_table() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE text USING fts5 "
        "(title, creators, subjects, abstract, identifiers, harvested_title)"
    )
    yield connection
    connection.close()


@settings(max_examples=examples(1500), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.text(max_size=40)
    | st.text(alphabet="ab\"*:-() ORANDNOTEAR+^{}title中\0'\ud800", max_size=40)
    | st.lists(
        st.sampled_from(['"', "title:", "-", "OR", "AND", "NOT", "NEAR(", "*", "x", ")"]),
        max_size=40,
    ).map(" ".join)
)
def test_no_input_breaks_a_search(text_table: sqlite3.Connection, query: str) -> None:
    parsed = parse_query(query)
    for expression in (parsed.wanted, parsed.excluded):
        if expression is not None:
            text_table.execute("SELECT count(*) FROM text WHERE text MATCH ?", (expression,))


def test_characters_of_unspaced_scripts_stand_alone() -> None:
    assert spaced("中文abc").split() == ["中", "文", "abc"]
    assert spaced("plain") == "plain"


def test_no_unspaced_character_is_missed() -> None:
    for start in range(0, 0x110000, 64):
        text = "".join(map(chr, range(start, start + 64)))
        assert spaced(text) == _UNSPACED.sub(r" \1 ", text)
        one = text[1 + start // 64 % 63]
        assert spaced(f"é{one}") == _UNSPACED.sub(r" \1 ", f"é{one}")


def test_a_query_has_a_bounded_number_of_terms_and_words(library: Silo) -> None:
    assert found(library, "solar " * 64) == ["a", "b"]
    for query in (
        "solar " * 65,
        " ".join(f"word{number}" for number in range(65)),
        " OR ".join(f"word{number}" for number in range(65)),
        " ".join(f"-word{number}" for number in range(65)),
        '"' + "solar " * 257 + '"',
        "中" * 257,
    ):
        with pytest.raises(SearchError, match="at most 64 terms and 256 words; this one has"):
            found(library, query)


# -- filters, facets, orders --------------------------------------------------------------


def test_facets_count_what_was_found(library: Silo) -> None:
    result = library.search("", None, ("type", "year", "set", "subject", "creator", "deleted"))
    counted = {name: {v.value: v.count for v in values} for name, values in result.facets.items()}
    assert counted["type"] == {"Article": 2, "Thesis": 1}
    assert counted["year"] == {"1907": 1, "2019": 1, "2021": 1}
    assert counted["set"] == {"x:y": 1}
    assert counted["subject"] == {"energy": 2, "wind": 1, "音乐": 1}
    assert counted["creator"]["Adeyemi, Fiona"] == 1
    assert counted["deleted"] == {"false": 4}
    narrowed = library.search("wind", None, ("type",))
    assert [(v.value, v.count) for v in narrowed.facets["type"]] == [("Thesis", 1)]


def test_filters_narrow(library: Silo) -> None:
    assert found(library, values={"type": ["Article"]}) == ["a", "c"]
    assert found(library, values={"type": ["Article", "Thesis"]}) == ["a", "b", "c"]
    assert found(library, values={"type": ["Article"], "year": ["2019"]}) == ["a"]
    assert found(library, values={"set": ["x"]}) == ["d"]
    assert found(library, values={"creator": ["Li, Helen"]}) == ["b"]
    assert found(library, values={"type": ["no such"]}) == []
    assert found(library, flags={"deleted": True}) == []
    assert found(library, since="2020-01-01", until="2020-01-01") == ["a", "b", "c", "d"]
    assert found(library, since="2020-01-02") == []


def test_what_was_changed_here_since_is_found_to_the_second(
    library: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = "recordsilo.records.edit.now_text"
    monkeypatch.setattr(clock, lambda: "2040-03-01T12:00:00.900000")
    library["b"].set_version_state("1", "ready")
    monkeypatch.setattr(clock, lambda: "2040-03-01T12:00:01.000000")
    library["c"].clone_version("1", "mine")
    assert found(library, changed_since="2040-03-01") == ["b", "c"]
    assert found(library, changed_since="2040-03-01T12:00:00") == ["b", "c"]
    assert found(library, changed_since="2040-03-01T12:00:01") == ["c"]
    assert found(library, changed_since="2040-03-01", values={"state": ["ready"]}) == ["b"]
    library.reindex()
    assert found(library, changed_since="2040-03-01T12:00:01Z") == ["c"]
    assert [*Audit(library.path).findings()] == []


def test_the_time_of_the_file_counts_where_a_manifest_does_not_say_it(library: Silo) -> None:
    place = Path(library.path, "pairtree_root", "b", "__manifest.json")
    members = json.loads(place.read_bytes())
    del members["changed"], members["checksum"]
    place.write_text(json.dumps(members))
    os.utime(place, (4_000_000_000, 4_000_000_000))  # 2096-10-02T07:06:40
    library.reindex()
    assert found(library, changed_since="2096-10-02T07:06:40") == ["b"]
    assert found(library, changed_since="2096-10-02T07:06:41") == []


def test_curated_record_is_found_by_its_own_title_and_by_the_harvested_one(library: Silo) -> None:
    record = library["a"]
    record.clone_version("1", "workingcopy")
    record.put_stream("oai_dc", Made("a", "Photovoltaics").metadata)
    assert found(library, "photovoltaics") == ["a"]
    assert found(library, "title:cells") == ["a"]
    assert found(library, flags={"curated": True}) == ["a"]
    assert found(library, flags={"has_file": True}) == []
    record.put_stream("paper.pdf", b"%PDF")
    assert found(library, flags={"has_file": True}) == ["a"]
    record.del_version("workingcopy")
    assert found(library, "photovoltaics") == []


def test_deleted_record_keeps_its_title_and_no_facets(library: Silo) -> None:
    with library.batch(["a"]) as batch:
        edit = batch.edit("a")
        edit.add_version("2", date="2022-01-01T00:00:00", origin=Origin("harvest"))
        edit.set_metadata("deleted_at_version", "2")
    assert found(library, "solar", flags={"deleted": True}) == ["a"]
    assert found(library, values={"type": ["Article"]}) == ["c"]
    library.del_item("a")
    assert found(library, "solar") == ["b"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"facets": ("colour",)}, "there is no facet 'colour'; there are set, year"),
        ({"filters": SearchFilters(values={"x": ["y"]})}, "there is no filter 'x'"),
        ({"filters": SearchFilters(flags={"type": True})}, "the filter 'type' is a text, not true"),
        ({"filters": SearchFilters(values={"deleted": ["x"]})}, "'deleted' is true or false, not"),
        ({"filters": SearchFilters(values={"yaer": ["1"]})}, r"has_file.*; did you mean 'year'\?"),
        (
            {"filters": SearchFilters(values={"state": ["foo"]})},
            "no state 'foo'; there are in work",
        ),
        (
            {"filters": SearchFilters(values={"state": ["deleted"]})},
            r"no state 'deleted'; .*; did you mean deleted:true\?",
        ),
        ({"filters": SearchFilters(values={"finding": ["Q999"]})}, "no finding 'Q999'; .* Q901"),
        (
            {"filters": SearchFilters(values={"year": ["abc"]})},
            "year 'abc' is not a number; .*2016",
        ),
        ({"filters": SearchFilters(values={"year!": [""]})}, "the year '' is not a number"),
        ({"filters": SearchFilters(since="yesterday")}, "'yesterday' is not a date"),
        ({"page": PageRequest(sort="size")}, "there is no order 'size'"),
        ({"page": PageRequest(limit=0)}, "1 to 1,000 rows"),
        ({"page": PageRequest(after="rubbish")}, "is not a page of this search"),
        ({"page": PageRequest(after='["newest", 3, 4]')}, "is not a page of this search"),
        ({"page": PageRequest(after='["identifier", {}, 4]')}, "is not a page of this search"),
        (
            {"page": PageRequest(sort="title", after=f'["title", "", {1 << 63}]')},
            "is not a page of this search",
        ),
    ],
)
def test_what_there_is_not_is_said_in_a_sentence(
    library: Silo, arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(SearchError, match=sentence):
        library.search("", **arguments)


words = st.sampled_from(["sun", "wind", "tide", "音"])
records = st.builds(
    Made,
    identifier=st.sampled_from([f"i{n}" for n in range(12)]),
    title=st.lists(words, min_size=1, max_size=2).map(" ".join),
    creators=st.lists(st.sampled_from(["A", "B", "C"]), max_size=2, unique=True).map(tuple),
    subjects=st.lists(words, max_size=2, unique=True).map(tuple),
    types=st.lists(st.sampled_from(["t", "u"]), max_size=2, unique=True).map(tuple),
    date=st.sampled_from(["", "2019", "2020-05"]),
    sets=st.lists(st.sampled_from(["a", "a:b", "c"]), max_size=2, unique=True).map(tuple),
    datestamp=st.sampled_from(
        ["2020-01-01T00:00:00", "2020-01-02T10:00:00", "2021-06-06T00:00:00"]
    ),
)


@pytest.mark.long
@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_search_agrees_with_looking_at_every_record(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Also when records change and go between two searches of one handle."""
    with Silo(str(tmp_path_factory.mktemp("silo") / "s")) as silo:
        there: dict[str, Made] = {}
        for _ in range(data.draw(st.integers(1, 3))):
            batch = data.draw(
                st.lists(records, min_size=1, max_size=6, unique_by=lambda r: r.identifier)
            )
            make(silo, *batch)
            for one in batch:  # a record's datestamp is the newest it ever had
                before = there.get(one.identifier, one)
                newest = max(one.datestamp, before.datestamp)
                there[one.identifier] = replace(one, datestamp=newest)
            if data.draw(st.booleans()):
                gone = data.draw(st.sampled_from(sorted(there)))
                silo.del_item(gone)
                del there[gone]
            word = data.draw(st.none() | words)
            wanted_set = data.draw(st.none() | st.sampled_from(["a", "a:b", "c"]))
            expected = [
                one
                for one in there.values()
                if (word is None or word in f"{one.title} {' '.join(one.subjects)}".split())
                and (
                    wanted_set is None
                    or any(s == wanted_set or s.startswith(wanted_set + ":") for s in one.sets)
                )
            ]
            filters = {"values": {"set": [wanted_set]}} if wanted_set else {}
            by_id = sorted(one.identifier for one in expected)
            assert found(silo, word or "", **filters) == by_id
            for sort in ("newest", "oldest", "title"):
                listed = found(silo, word or "", sort=sort, **filters)
                assert sorted(listed) == by_id
                keys = [there[i].title if sort == "title" else there[i].datestamp for i in listed]
                assert keys == sorted(keys, reverse=sort == "newest")
            facets = silo.search(
                word or "", SearchFilters(**filters), ("type", "creator", "subject", "year")
            ).facets
            for name, attribute in (("type", "types"), ("creator", "creators")):
                counts = Counter(v for one in expected for v in getattr(one, attribute))
                assert {v.value: v.count for v in facets[name]} == counts


@settings(max_examples=examples(80), deadline=None)
@given(st.data())
def test_each_way_of_counting_gives_the_same_numbers(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 150))
    values = data.draw(
        st.lists(st.lists(st.integers(0, 9), max_size=3, unique=True), min_size=size, max_size=size)
    )
    rows = Rows(
        array("I", range(1, size + 1)),
        array("q", [0]) * size,
        bytes(size),
        array("I", accumulate(map(len, values), initial=0)),
        array("i", chain.from_iterable(values)),
    )
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE facet_value (id INTEGER, field TEXT, value TEXT)")
        named = [(number, "type", str(number)) for number in range(10)]
        connection.executemany("INSERT INTO facet_value VALUES (?, ?, ?)", named)
        counted = columns.Columns(
            connection, large=True, base=columns.Base(0, rows, columns.bitmaps_of(rows), {})
        )
    found = BitMap(data.draw(st.sets(st.integers(1, size))))
    if data.draw(st.booleans()):  # nearly all
        found = BitMap(range(1, size + 1)) - BitMap([data.draw(st.integers(0, size))])
    expected = Counter(code for number in found for code in values[number - 1])
    assert counted.collected(found) == expected
    assert counted.counts("type", found, 10) == expected
    limit = data.draw(st.integers(1, 11))
    best = expected.most_common(limit)
    some = counted.counts("type", found, limit)
    assert all(some[code] == count for code, count in expected.items() if count >= best[-1][1])
    assert some.items() <= expected.items()
    wanted = data.draw(st.lists(st.integers(0, 12), max_size=3))
    assert [number in counted.any_of("type", wanted) for number in range(1, size + 1)] == [
        not set(some).isdisjoint(wanted) for some in values
    ]


@pytest.mark.parametrize("sort", ["oldest", "newest", "identifier", "title"])
def test_pages_of_many_records_are_those_of_few(
    library: Silo, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    """Few records are sorted by their keys; many are met on a walk along all records."""

    def listed() -> list[list[str]]:
        found, after = [], None
        while True:
            page = library._catalogue.search("", SearchFilters(), (), PageRequest(3, after, sort))
            found.append([row.identifier for row in page.rows])
            if (after := page.next_page) is None:
                return found

    made = [Made(f"m{n}", f"Title {n % 3}", datestamp=f"20{20 - n % 4}-01-01") for n in range(9)]
    make(library, *made)
    listed()
    make(library, Made("n", "Title 1"), replace(made[4], title="Aa", datestamp="2011-01-01"))
    library.del_item("m7")
    few = listed()
    monkeypatch.setattr(orders, "_FEW", -1)
    assert listed() == few
    assert [len(page) for page in few[:-1]] == [3] * (len(few) - 1)
    flat = [one for page in few for one in page]
    for place, identifier in enumerate(flat):
        near = library._catalogue.around(identifier, "", SearchFilters(), sort)
        assert near is not None
        assert near.place == place + 1
        assert near.previous == (flat[place - 1] if place else None)


# -- in step ------------------------------------------------------------------------------


def test_many_changes_load_the_columns_anew(library: Silo, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(library, "solar") == ["a", "b"]
    monkeypatch.setattr(columns, "MERGE_AT", 1)
    make(library, Made("e", "Solar wind"), Made("f", "Solar flares"), Made("g", "Moon"))
    library.del_item("a")
    assert found(library, "solar") == ["b", "e", "f"]
    assert found(library, sort="title") == ["d", "g", "f", "e", "b", "c"]


def test_change_by_another_process_is_found(library: Silo) -> None:
    assert found(library, "tides") == []
    with Silo(library.path) as other:
        make(other, Made("t", "Tides"))
    assert found(library, "tides") == ["t"]


def test_manifest_replaced_behind_the_index_is_read_again_when_it_is_shown(library: Silo) -> None:
    path = Path(library["a"].path_to_item(), "__manifest.json")
    text = path.read_text().replace("2020-01-01T00:00:00", "1999-09-09T00:00:00")
    path.unlink()
    path.write_text(text)
    assert library.row("a").datestamp == "1999-09-09T00:00:00"
    path.write_text(text.replace("1999-09-09", "1998-08-08"))
    (row,) = (one for one in library.page().rows if one.identifier == "a")
    assert row.datestamp == "1998-08-08T00:00:00"


def test_reindex_reads_only_what_changed(library: Silo, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = catalogue.read_chunks

    def counted(place_of: Any, root: str, chunks: Iterable[Sequence[str]]) -> Any:
        def noted() -> Iterator[Sequence[str]]:
            for chunk in chunks:
                read.extend(chunk)
                yield chunk

        return real(place_of, root, noted())

    monkeypatch.setattr(catalogue, "read_chunks", counted)
    assert library.reindex() == 4
    assert read == []
    path = Path(library["b"].path_to_item(), "__manifest.json")
    path.write_text(path.read_text().replace('"energy"', '"energy" '))
    assert library.reindex() == 4
    assert read == ["b"]


def test_interrupt_while_describing_leaves_nothing_staged(
    library: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    library["a"].clone_version("1", "workingcopy")
    with monkeypatch.context() as patch:
        patch.setattr("recordsilo.silo.project", interrupt)
        with pytest.raises(KeyboardInterrupt):
            library["a"].put_stream("f", "x")
        with pytest.raises(KeyboardInterrupt):
            library["a"].clone_version("1", "other")
    assert not list(Path(library.staging.directory()).iterdir())
    assert library["a"].versions == ["1", "workingcopy"]


@pytest.mark.long
def test_page_may_hold_more_rows_than_a_statement_has_variables(library: Silo) -> None:
    index = library._catalogue._index
    made = [f"n{number}" for number in range(33_000)]
    with index.writing() as connection:
        connection.executemany(
            "INSERT INTO entry SELECT NULL, ?, datestamp, title, current_version, versions, "
            "revision, seconds, flags, facets, facets_large, packed, described, mtime_ns, size, "
            "inode, changed, change, generation FROM entry WHERE name = '=a'",
            ((f"={one}",) for one in made),
        )
    with index.reading() as connection:
        assert len(stamps(connection, made)) == 33_000


def test_index_in_memory_is_brought_in_step_without_a_lock(
    library: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(library["a"].path_to_item(), "__manifest.json")
    assert len(library) == 4
    monkeypatch.setattr(type(library._catalogue._index), "is_private", True)
    monkeypatch.setattr(library._locks, "hold_if_free", None)
    path.write_text(path.read_text().replace("2020-01-01T00:00:00", "1999-09-09T00:00:00"))
    assert library.row("a").datestamp == "1999-09-09T00:00:00"


def test_filters_are_also_a_mapping(silo: Silo) -> None:
    for number, kind in enumerate(("Thesis", "Article", "Report")):
        xml = f"<dc><title>T</title><type>{kind}</type><date>201{number}</date></dc>"
        silo.get_item(f"oai:x:{number}").put_stream("oai_dc", xml.encode(), None, True)
    for filters, numbers in (
        ({"type": "Thesis"}, "0"),
        ({"type": ["Thesis", "Report"], "deleted": False}, "02"),
        ({"type!": "Thesis", "year": ("2011..2012",)}, "12"),
        ({"until": "1999-12-31"}, ""),
        ({}, "012"),
    ):
        found = [row.identifier.removeprefix("oai:x:") for row in silo.search(filters=filters).rows]
        assert "".join(found) == numbers, filters
        assert "".join(row.identifier[-1] for row in silo.found(filters)) == numbers
    where = silo.around("oai:x:2", filters={"type": ["Thesis", "Report"]})
    assert where is not None
    assert (where.place, where.previous) == (2, "oai:x:0")


@pytest.mark.parametrize(
    ("filters", "sentence"),
    [
        ({"tyep": "thesis"}, "no filter 'tyep'; .*; did you mean 'type'"),
        ({"type": 5}, "type is a text or a list of texts, not 5"),
        ({"type": []}, "type lists no value"),
        ({"curated": "yes"}, "curated is true or false, not 'yes'"),
        ({"since": 2016}, "since is a text, not 2016"),
        ({5: "a"}, "no filter '5'"),
        ("type=Thesis", "filters are SearchFilters or a mapping, not 'type=Thesis'"),
        (SearchFilters(values={"type": "Thesis"}), "the values of type are a list of texts"),
    ],
)
def test_a_wrong_mapping_of_filters_is_a_sentence(silo: Silo, filters: Any, sentence: str) -> None:
    for search in (silo.search, lambda filters: list(silo.found(filters))):
        with pytest.raises(SearchError, match=sentence):
            search(filters=filters)
