"""The result of `Silo.search` is a sequence of records, whose pages are asked for as needed."""

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from recordsilo import Origin, PageRequest, SearchError, SearchFilters, Silo, search_result
from recordsilo.silo_then import SiloThen

COUNT = 25


def document(number: int) -> bytes:
    return (
        '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>Solar {'cells ' * (number % 3)}{number}</dc:title>"
        f"<dc:date>{2000 + number % 5}</dc:date>"
        f"<dc:type>{'Thesis' if number % 2 else 'Article'}</dc:type></oai_dc:dc>"
    ).encode()


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Pages of four rows; gives the cursors that were asked for."""
    asked: list[str | None] = []
    whole = Silo._result_page

    def page(self: Silo, *given: Any) -> Any:
        asked.append(given[-1].after)
        return whole(self, *given)

    monkeypatch.setattr(search_result, "PAGE", 4)
    monkeypatch.setattr("recordsilo.listing.PAGE", 4)
    monkeypatch.setattr("recordsilo.silo_then.PAGE", 4)
    monkeypatch.setattr(Silo, "_result_page", page)
    return asked


@pytest.fixture(scope="module")
def silo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Silo]:
    with Silo(str(tmp_path_factory.mktemp("found") / "silo")) as silo:
        names = [f"r{number:02}" for number in range(COUNT)]
        with silo.batch(names) as batch:
            for number, name in enumerate(names):
                edit = batch.edit(name)
                edit.add_version("1", date="2004-06-24T00:00:00", origin=Origin("local"))
                edit.put("1", "oai_dc", document(number), metadata=True)
        yield silo


def names(found: Any) -> list[str]:
    return [record.item_id for record in found]


def test_a_result_has_a_length_and_gives_its_records_in_order(silo: Silo) -> None:
    found = silo.search("solar", sort="identifier")
    assert len(found) == found.total == COUNT
    assert names(found) == list(silo)
    assert found[0] == silo["r00"]
    assert found[-1].title == "Solar 24"
    assert "r07" in found
    assert silo["r07"] in found
    assert "nope" not in found


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("sort", ["identifier", "newest", "title", "relevance"])
def test_slices_are_those_of_a_list(silo: Silo, sort: str) -> None:
    found = silo.search("solar", sort=sort)
    whole = names(found)
    assert len(set(whole)) == COUNT
    for part in (slice(3, 9), slice(None, None, -1), slice(-5, None), slice(20, 2, -7), slice(99)):
        assert names(found[part]) == whole[part]
        assert len(found[part]) == len(whole[part])
        assert names(found[2:20][part]) == whole[2:20][part]
    assert [found[place].item_id for place in (24, 3, 11, -1)] == [
        whole[place] for place in (24, 3, 11, -1)
    ]


def test_a_page_is_asked_for_when_it_is_needed_and_once(
    silo: Silo, small_pages: list[str | None]
) -> None:
    found = silo.search("solar", page=PageRequest(limit=4))
    assert len(found.rows) == 4
    assert len(small_pages) == 1
    assert len(names(found[:6])) == 6
    assert len(small_pages) == 3
    assert len(names(found)) == COUNT
    assert len(small_pages) == 3 + 7
    assert found[5].item_id
    assert len(small_pages) == 3 + 7 + 1


def test_results_are_equal_if_they_show_the_same(silo: Silo) -> None:
    found = silo.search("solar", None, ["type"])
    assert found == silo.search("solar", facets=["type"])
    assert found[3:5] == silo.search("solar", None, ["type"])[3:5]
    assert found not in (found[1:], silo.search("solar"), silo.search("title:7"), list(found))


def test_a_small_result_needs_no_further_page(silo: Silo, small_pages: list[str | None]) -> None:
    found = silo.search("title:7")
    assert names(found) == ["r07"]
    assert len(small_pages) == 1


def test_a_limit_is_the_most_records(silo: Silo) -> None:
    found = silo.search("solar", limit=3)
    assert (len(found), found.total, len(found.rows), len(list(found))) == (3, COUNT, 3, 3)
    assert len(silo.search("solar", limit=None)) == COUNT
    assert not silo.search("solar", limit=0)
    wrong: Any
    for wrong in (-1, True, "10", 2.5):
        with pytest.raises(SearchError, match="None for all"):
            silo.search("solar", limit=wrong)


def test_a_place_that_is_not_there_is_told(silo: Silo) -> None:
    with pytest.raises(IndexError, match="found 25 records, counted from 0; there is no 25"):
        silo.search("solar")[25]


def test_what_is_deleted_meanwhile_is_left_out(tmp_path: Path) -> None:
    with Silo(str(tmp_path / "silo")) as silo:
        for name in "abc":
            silo.get_item(name).sync()
        found = silo.search()
        del silo["b"]
        assert names(found) == ["a", "c"]
        with pytest.raises(KeyError):
            found[1]


@pytest.mark.usefixtures("small_pages")
def test_records_that_no_longer_match_cost_no_others(silo: Silo, tmp_path: Path) -> None:
    with Silo(str(tmp_path / "silo")) as changing:
        for number in range(11):
            changing.get_item(f"r{number:02}").put_stream("oai_dc", document(0), metadata=True)
        seen = []
        for record in changing.search("solar", sort="identifier"):
            seen.append(record.item_id)
            record.put_stream("oai_dc", document(0).replace(b"Solar", b"Wind"))
        assert seen == list(changing)
        assert not changing.search("solar")


def test_filters_are_given_by_their_names(silo: Silo) -> None:
    assert names(silo.search(year=2003, type="Thesis")) == ["r03", "r13", "r23"]
    assert len(silo.search("solar", year=[2003, "2004"])) == 10
    assert len(silo.search(year="2003..2004", curated=True)) == 10
    assert len(silo.search(None or "", {"type!": "Thesis"}, year=2003)) == 2
    assert not silo.search(has_file=True)
    assert len(silo.search(since=date(2004, 6, 24), until="2004-06-24")) == COUNT
    assert not silo.search(since=datetime(2004, 6, 24, 1, tzinfo=UTC))
    assert len(silo.search(year=None)) == COUNT


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"yaer": 2016}, "there is no filter 'yaer'.*did you mean 'year'"),
        ({"limt": 5}, "did you mean 'limit'"),
        ({"has_file": "yes"}, "has_file is true or false, not 'yes'"),
        ({"year": 2016.5}, "year is a text or a list of texts, not 2016.5"),
        ({"type": []}, "type lists no value"),
        ({"year": True}, "year is a text or a list of texts, not True"),
        ({"filters": {"year": ["2016"]}, "year": 2016}, "year is given twice"),
        ({"filters": {"since": "2016"}, "since": "2016"}, "since is given twice"),
        ({"sort": "newst"}, "did you mean 'newest'"),
    ],
)
def test_wrong_filters_are_told_with_the_nearest(
    silo: Silo, given: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(SearchError, match=sentence):
        silo.search("solar", **given)


def test_facets_are_counted_when_they_are_looked_up(silo: Silo) -> None:
    found = silo.search("solar", SearchFilters(values={"type": ["Thesis"]}), ["year"])
    assert list(found.facets) == list(silo.search(facets="year").facets) == ["year"]
    assert {one.value: one.count for one in found.facets["type"]} == {
        "Article": 13,
        "Thesis": 12,
    }
    assert repr(found.facets).startswith("year: 2001 3, 2003 3, ")
    with pytest.raises(SearchError, match=r"there is no facet 'yaer'.*did you mean 'year'"):
        found.facets["yaer"]


def test_a_result_shows_its_first_records(silo: Silo) -> None:
    assert repr(silo.search("solar", sort="identifier", limit=7)) == (
        "7 records of 25 found, by identifier\n"
        "  r00  Solar 0\n"
        "  r01  Solar cells 1\n"
        "  r02  Solar cells cells 2\n"
        "  r03  Solar 3\n"
        "  r04  Solar cells 4\n"
        "  … and 2 more"
    )
    assert repr(silo.search("wind")) == "0 records found, by relevance"
    assert repr(silo.search("solar", type="thesis")) == (
        "0 records found; without type=thesis, it finds 25 records; "
        "no record has the type 'thesis'; did you mean 'Thesis'?"
    )


@pytest.mark.usefixtures("small_pages")
def test_a_result_of_a_silo_as_it_was_reads_on_and_again(silo: Silo) -> None:
    time.sleep(1 - time.time() % 1)  # the Silo may be of this second, and a moment is a whole one
    with SiloThen(silo.storage_dir, datetime.now(UTC).isoformat()[:19]) as then:
        found = then.search("solar")
        assert names(found) == list(silo)
        assert found[20].item_id == "r20"
        assert found[3].item_id == "r03"
        assert names(found[9:2:-3]) == ["r09", "r06", "r03"]
