"""The list of records: pages, filters, jumps, and the same as JSON."""

import json
import os
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from recordsilo import Silo
from recordsilo.records.manifest import Origin
from webui.server import PageServer
from webui.site import SetCounts

PLAIN = "oai:example.org:1"
DELETED = "oai:example.org:2"
SET = "7374617475733D707562"
JSON = "application/json"


def identifiers(listing: Any) -> list[str]:
    return [row["identifier"] for row in listing["records"]]


def test_following_next_meets_every_record_once_in_order(client: Any, silo: Silo) -> None:
    found, url = [], "/records.json?limit=7"
    while url:
        listing = client.json(url)
        assert listing["total"] == len(silo) == 60
        found += identifiers(listing)
        url = listing["next"]
    assert found == sorted(found)
    assert found == list(silo)


def test_following_previous_goes_the_same_way_back(client: Any) -> None:
    pages, url = [], "/records.json?limit=25"
    while url:
        pages.append(client.json(url))
        url = pages[-1]["next"]
    url, back = pages[-1]["previous"], []
    while url:
        back.append(client.json(url))
        url = back[-1]["previous"]
    assert [identifiers(p) for p in reversed(back)] == [identifiers(p) for p in pages[:-1]]


def test_the_cursor_is_given_as_an_identifier_too(client: Any) -> None:
    first = client.json("/records.json?limit=2")
    second = client.json(f"/records.json?limit=2&after={quote(first['after'], safe='')}")
    assert identifiers(second) == identifiers(client.json(first["next"]))
    assert client.json("/records.json?limit=1000")["after"] is None


def test_the_list_asks_the_store_for_one_page_only(client: Any, silo: Silo) -> None:
    asked: list[dict[str, Any]] = []
    page = silo.page

    def watched(**how: Any) -> Any:
        asked.append(how)
        return page(**how)

    silo.page = watched  # type: ignore[method-assign]  # to see what is asked for
    client.get("/records.json?limit=25")
    assert [how["limit"] for how in asked] == [25]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("deleted=yes", [DELETED]),
        ("curated=yes", [PLAIN]),
        ("newer=yes", []),
        (f"set={SET}&deleted=yes", [DELETED]),
        ("set=nothing", []),
    ],
)
def test_filters_choose_records(
    client: Any, working_copy: str, query: str, expected: list[str]
) -> None:
    assert working_copy == PLAIN
    listing = client.json(f"/records.json?{query}")
    assert identifiers(listing) == expected
    assert listing["total"] == len(expected)


def test_filters_are_kept_from_page_to_page(client: Any) -> None:
    listing = client.json("/records.json?deleted=no&limit=50")
    assert listing["filters"] == {"deleted": "no"}
    rest = client.json(listing["next"])
    assert rest["total"] == 59
    assert DELETED not in identifiers(listing) + identifiers(rest)


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "limit=1001", "limit=-1", "limit=٣",
                                   "deleted=maybe", "curated=1"])  # fmt: skip
def test_values_that_mean_nothing_are_refused_in_a_sentence(client: Any, query: str) -> None:
    answer = client.get("/records.json?" + quote(query, safe="=&"))
    assert answer.status == 400
    assert answer.error["code"] == "bad_request"
    assert client.get("/records?" + quote(query, safe="=&")).status == 400


@pytest.mark.parametrize("typed", [PLAIN, " oai:example.org:1 ", "oai+example,org+1"])
def test_jumping_leads_to_a_record_in_every_form_of_its_identifier(client: Any, typed: str) -> None:
    twin = client.get("/records.json?find=" + quote(typed))
    assert (twin.status, twin.headers["Location"]) == (303, "/records/oai+example,org+1.json")


def test_jumping_to_no_record_begins_where_it_would_stand(client: Any) -> None:
    listing = client.json("/records.json?find=oai:example.org:12")
    assert identifiers(listing)[0] == "oai:example.org:120"
    assert listing["previous"]


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("", ""),
        ("set=a%3Ab&deleted=no", "?set=a%3Ab&deleted=false"),
        ("curated=yes&newer=yes&limit=100", "?curated=true&upstream_newer=true&limit=100"),
        ("find=oai%3A1&from=x", "?q=oai%3A1"),
        ("after=x&before=&deleted=", ""),
    ],
)
def test_the_list_for_people_is_the_search_with_the_same_filters(
    client: Any, query: str, fields: str
) -> None:
    answer = client.get("/records?" + query, accept="text/html")
    assert (answer.status, answer.headers["Location"]) == (303, "/search" + fields)
    assert client.get(answer.headers["Location"]).status in {200, 303}


def test_words_of_an_address_with_a_slip_are_kept(client: Any) -> None:
    answer = client.get("/records?q=keeping", accept="text/html")
    assert answer.headers["Location"] == "/search?q=keeping"
    answer = client.get("/search?q=keeping&look=compact", accept="text/html")
    assert (answer.status, "There is no filter look" in answer.text) == (400, True)
    assert "1 record" in answer.text
    wrong = client.get("/search?q=keeping&year=x", accept="text/html")
    assert wrong.status == 400


def test_a_row_shows_title_date_sets_by_name_and_marks(client: Any, working_copy: str) -> None:
    text = client.get("/search").text
    assert working_copy in text
    assert "On the keeping of records" in text
    assert '<time datetime="2004-06-24T00:00:00Z">24 Jun 2004</time>' in text
    assert f'<a href="/search?set={SET}" dir="auto">Status = Published &amp; &lt;read&gt;' in text
    assert '<span class="badge curated">curated</span>' in text
    rows = client.get("/search?deleted=false").text
    assert '<span class="badge deleted">deleted</span>' not in rows
    rows = client.get("/search?deleted=true").text
    assert '<span class="badge deleted">deleted</span>' in rows


def test_something_newer_at_the_source_is_marked(
    client: Any, silo: Silo, working_copy: str
) -> None:
    with silo.batch([working_copy]) as batch:
        edit = batch.edit(working_copy)
        origin = silo[working_copy].origin("1")
        edit.add_version("2", date="2005-01-01T00:00:00", origin=origin, move_cursor=False)
    assert identifiers(client.json("/records.json?newer=yes")) == [working_copy]
    assert "newer at the source" in client.get("/search?upstream_newer=true").text
    record = client.json("/records/oai+example,org+1.json")
    assert record["upstream_newer"] is True
    assert "The source has changed since" in client.get("/records/oai+example,org+1").text


def test_an_empty_silo_says_how_to_begin(
    tmp_path: Any, serve: Callable[..., PageServer], client: Any
) -> None:
    with Silo(str(tmp_path / "new")) as silo:
        empty = type(client)(serve(silo).port)
        page = empty.get("/search")
        assert page.status == 200
        assert "No records yet" in page.text
        assert '<button type="submit">Harvest</button>' in page.text
        assert empty.json("/records.json") == {
            "records": [], "total": 0, "limit": 50, "filters": {},
            "after": None, "next": None, "previous": None,
        }  # fmt: skip
        assert "No sets" in empty.get("/sets").text


def test_filters_that_nothing_fits_offer_the_way_back(client: Any) -> None:
    page = client.get("/search?upstream_newer=true")
    assert page.status == 200
    assert "No records found" in page.text
    assert "Show all records" in page.text


def test_sets_are_shown_page_by_page(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    with silo.batch(["oai:example.org:100"]) as batch:
        batch.edit("oai:example.org:100").set_metadata("setSpec", [SET, "another", "third"])
    monkeypatch.setattr("webui.pages.sets.PAGE", 2)
    first = client.get("/sets").text
    assert first.count('href="/search?set=') == 2
    assert 'rel="next" href="/sets?start=2"' in first
    last = client.get("/sets?start=2").text
    assert last.count('href="/search?set=') == 1
    assert '<a class="step" href="/sets">First page</a>' in last
    assert len(client.json("/sets.json")["sets"]) == 3
    assert client.get("/sets?start=x").status == 400


def test_sets_are_listed_by_name_with_their_records(client: Any, silo: Silo) -> None:
    assert client.json("/sets.json") == {
        "sets": [
            {
                "spec": SET,
                "name": "Status = Published & <read>",
                "records": 60,
                "years": silo.set_years()[SET],
                "url": f"/search?set={SET}",
            }
        ]
    }
    page = client.get("/sets").text
    assert "Status = Published &amp; &lt;read&gt;" in page
    assert 'class="drawing spark"' in page
    assert "<title>Records by year. " in page
    with open(f"{silo.path}/oaipmh_harvester.json", "w", encoding="utf-8") as file:
        json.dump({"sets": {SET: "Another name"}}, file)
    assert client.json("/sets.json")["sets"][0]["name"] == "Another name"


def test_slow_counts_of_sets_are_kept_for_a_while_and_longer_while_nothing_is_written(
    silo: Silo,
) -> None:
    now = [0.0]
    counted: list[float] = []
    count = silo.set_counts

    def slow() -> dict[str, int]:
        counted.append(now[0])
        now[0] += 0.5
        return count()

    silo.set_counts = slow  # type: ignore[method-assign]  # a clock that goes while it counts
    counts = SetCounts(silo, lambda: now[0])
    assert counts() == {SET: 60}
    set_time(silo, time.time_ns())
    for now[0] in (1.0, 50.4, 50.5, 60.0):  # just written to: who knows whether it will be again
        assert counts() == {SET: 60}
    assert counted == [0.0, 50.5]
    set_time(silo, time.time_ns() - 10**9)
    for now[0] in (101.5, 300.0, 701.0):
        assert counts() == {SET: 60}
    assert counted == [0.0, 50.5, 101.5]
    set_time(silo, time.time_ns() - 2 * 10**9)
    counts()
    assert counted[3:] == [701.0]
    now[0] = 702.0 + SetCounts.LONGEST
    counts()
    assert counted[4:] == [702.0 + SetCounts.LONGEST]


def set_time(silo: Silo, nanoseconds: int) -> None:
    """As if the index had been written to at that time, and not since."""
    for name in os.listdir(f"{silo.path}/.silo"):
        if name.startswith("index.sqlite"):
            os.utime(f"{silo.path}/.silo/{name}", ns=(nanoseconds, nanoseconds))


def test_counts_of_sets_are_new_after_a_record_came(silo: Silo) -> None:
    counts = SetCounts(silo, lambda: 0.0)  # as if counting took no time, and is so not kept
    for more in range(5):
        assert counts() == counts() == {SET: 60 + more}
        with silo.batch([f"oai:example.org:more-{more}"]) as batch:
            edit = batch.edit(f"oai:example.org:more-{more}")
            edit.add_version("1", date="2004-06-24T00:00:00", origin=Origin("harvest"))
            edit.set_metadata("setSpec", [SET])


@pytest.mark.parametrize("content", ["", "[]", "{", '{"sets": [], "identify": 5}'])
def test_sets_without_a_readable_name_are_shown_by_their_spec(
    client: Any, silo: Silo, content: str
) -> None:
    with open(f"{silo.path}/oaipmh_harvester.json", "w", encoding="utf-8") as file:
        file.write(content)
    assert client.json("/sets.json")["sets"][0]["name"] == SET
    assert client.get("/search").status == 200


def test_asking_by_accept_gives_the_twin(client: Any) -> None:
    assert client.get("/records", accept=JSON).json == client.json("/records.json")
    assert client.get("/search").headers["Content-Type"] == "text/html; charset=utf-8"
    assert client.get("/records.json").headers["Content-Type"] == JSON
