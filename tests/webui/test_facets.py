"""The facets of the page: any of several values, exclusion, years in order, orders, chips."""

import re
from typing import Any

import pytest

from recordsilo import Silo
from tests.webui.conftest import dublin_core, harvest
from webui.http.errors import BadRequest
from webui.http.messages import parse_pairs
from webui.search.request import SearchRequest

TYPES = ("Article", "Article", "Article", "Thesis", "Book")


@pytest.fixture
def typed(silo: Silo) -> Silo:
    """Five records of three types and years."""
    years = (2001, 2002, 2003, 2003, 2006)
    records: dict[str, bytes | None] = {
        f"t:{n}": dublin_core(("title", f"Tzz {n}"), ("type", kind), ("date", str(year)))
        for n, (kind, year) in enumerate(zip(TYPES, years, strict=True))
    }
    harvest(silo, records)
    return silo


def links(page: str) -> list[str]:
    return [url.replace("&amp;", "&") for url in re.findall(r'href="([^"]*)"', page)]


def test_a_second_value_of_a_facet_widens_and_one_of_another_narrows(
    client: Any, typed: Silo
) -> None:
    one = client.get("/search?type=Thesis").text
    assert "/search?type=Thesis&type=Book" in links(one)
    assert client.json("/search.json?type=Thesis&type=Book")["total"] == 2
    assert client.json("/search.json?type=Thesis&type=Book&year=2006")["total"] == 1
    counted = client.json("/search.json?type=Thesis")["facets"]["type"]
    assert [(v["value"], v["count"]) for v in counted] == [
        ("Article", 3),
        ("Book", 1),
        ("Thesis", 1),
    ]


def test_facets_without_values_are_left_out_and_sets_come_after_what_a_record_says(
    client: Any, typed: Silo
) -> None:
    titles = re.findall(
        r'<details class="facet"[^>]*>\s*<summary>([^<\n]*)', client.get("/search").text
    )
    assert titles[:6] == ["Type", "Year", "Creator", "Subject", "Language", "Set"]
    nothing = client.get("/search?q=nobodyatall").text
    assert '<details class="facet"' not in nothing
    assert "Edit in a spreadsheet" not in nothing
    assert "Download:" not in nothing


def test_a_value_is_excluded_and_included_again(client: Any, typed: Silo) -> None:
    assert "/search?type%21=Article" in links(client.get("/search").text)
    page = client.get("/search?type%21=Article").text
    assert "Include again" in page
    assert client.json("/search.json?q=tzz*&type%21=Article")["total"] == 2
    request = SearchRequest.of(parse_pairs("type!=Article&sort=title"))
    assert request.toggling()("type", "Article") == "/search?type=Article&sort=title"
    assert request.toggling()("type!", "Article") == "/search?sort=title"


def test_chips_tell_any_of_and_not(client: Any, typed: Silo) -> None:
    page = client.get("/search?type=Thesis&type=Book&year=2001..2006&language!=eng").text
    chips = page[page.index('class="chosen"') : page.index("Clear all")]
    said = " ".join(
        re.sub(r"<[^>]+>", " ", re.sub(r'<span class="unseen">.*?</span>', "", chips)).split()
    )
    for text in ("Type: any of Thesis × Book ×", "Year: 2001–2006 ×", "Language: not eng ×"):
        assert text in said
    assert "Filters\\n (4)" in page or re.search(r"Filters\s*\(4\)", page)


def test_years_are_in_order_with_their_gaps_and_lead_to_themselves(
    client: Any, typed: Silo
) -> None:
    page = client.get("/search?q=tzz*").text
    years = re.findall(
        r'<th scope="row" dir="auto"><a href="([^"]*)">(\d+)</a></th><td[^>]*>(\d+)', page
    )
    assert [(year, int(count)) for _url, year, count in years] == [
        ("2001", 1), ("2002", 1), ("2003", 2), ("2004", 0), ("2005", 0), ("2006", 1),
    ]  # fmt: skip
    assert years[2][0].endswith("year=2003")
    choices = re.findall(r'class="choose" href="[^"]*year=(\d+)"', page)
    assert choices == ["2006", "2003", "2002", "2001"]
    by_count = re.findall(
        r'class="choose" href="[^"]*year=(\d+)', client.get("/search?q=tzz*&by=year.count").text
    )
    assert by_count[0] == "2003"


def test_two_fields_give_a_range_without_javascript(client: Any, typed: Silo) -> None:
    found = client.json("/search.json?q=tzz*&year_from=2002&year_to=2003")
    assert (found["total"], found["filters"]["year"]) == (3, ["2002..2003"])
    assert len(found["facets"]["year"]) == 4
    assert client.json("/search.json?q=tzz*&year_from=2003")["total"] == 3
    assert client.json("/search.json?q=tzz*&year_to=2001&year_from=2001")["total"] == 1
    page = client.get("/search?q=tzz*&year=2002..2003&type=Article").text
    assert re.search(r'name="year_from" value="2002"', page)
    form = page[page.index('class="range"') :]
    kept = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[: form.index("</form>")])
    assert kept == [("q", "tzz*"), ("type", "Article")]
    assert client.get("/search?year_from=2006&year_to=2001").status == 400


def test_the_order_of_a_facet_is_kept_in_the_address(client: Any, typed: Silo) -> None:
    page = client.get("/search?q=tzz*&by=type.name").text
    types = re.findall(r'class="choose" href="[^"]*type=(\w+)&amp;by=type.name"', page)
    assert types == ["Article", "Book", "Thesis"]
    assert SearchRequest.of(parse_pairs("by=type.count&by=year.name")).by_other == ()
    for wrong in ("by=type", "by=colour.name", "by=type.size"):
        with pytest.raises(BadRequest):
            SearchRequest.of(parse_pairs(wrong))


def test_a_value_in_use_that_nothing_has_can_be_taken_off(client: Any, typed: Silo) -> None:
    page = client.get("/search?type=Nothing").text
    assert re.search(
        r'class="choose" href="/search" aria-current="true">.*?Nothing.*?>0<', page, re.DOTALL
    )


def test_all_values_of_a_facet_come_by_name_if_they_are_asked_for_so(
    client: Any, typed: Silo
) -> None:
    by_count = client.json("/search/values.json?field=type")["values"]
    by_name = client.json("/search/values.json?field=type&by=type.name")["values"]
    assert [one["value"] for one in by_name] == ["Article", "Book", "Thesis"]
    assert sorted(by_count, key=lambda one: one["value"]) == by_name
    assert "/search?type%21=Book" in links(client.get("/search/values?field=type").text)
