"""Records one after another: the queue of a finding, and who else is in it."""

import html
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from recordsilo import Silo
from recordsilo.index import PageRequest, cursor_behind
from webui.queues import QueuePlace, Round

from .conftest import dublin_core, harvest
from .test_edit import form_of, number_of

HTML = "text/html"
WRONG = ("a", "b", "c")
QUEUE = "/queue?finding=Q202"


@pytest.fixture
def invalid_dates(silo: Silo) -> list[str]:
    """Three records with an invalid date."""
    named = [f"oai:example.org:wrong-{one}" for one in WRONG]
    harvest(silo, {one: dublin_core(("title", f"Of {one}"), ("date", "20x6")) for one in named})
    return named


def shown(client: Any, url: str) -> Any:
    """The page that an address leads to."""
    answer = client.get(url, accept=HTML)
    while answer.status == 303:
        url = answer.headers["Location"]
        answer = client.get(url, accept=HTML)
    assert answer.status == 200
    return url, answer.text


def left(page: str) -> str:
    found = re.search(r'<strong class="place">([^<]+)', page)
    return found[1] if found else ""


def saved(client: Any, at: tuple[str, str], **texts: str) -> Any:
    """Send the form of a page with other values."""
    url, page = at
    fields = form_of(page)
    for old, new in texts.items():
        fields[f"text-{number_of(fields, old)}"] = new
    return client.post(urlsplit(url).path, fields, accept=HTML)


def test_a_queue_goes_on_when_a_corrected_record_has_left_it(
    client: Any, silo: Silo, invalid_dates: list[str]
) -> None:
    at = shown(client, QUEUE)
    seen = []
    for number in (3, 2, 1):
        assert left(at[1]) == f"{number} left"
        assert "autofocus" in at[1]
        seen.append(urlsplit(at[0]).path)
        answer = saved(client, at, **{"20x6": "2016"})
        at = shown(client, answer.headers["Location"])
    assert len(set(seen)) == 3
    assert "3 done in" in at[1]
    assert silo.search(finding="Q202").total == 0
    assert all(silo[one].currentversion == "workingcopy" for one in invalid_dates)


def test_what_is_skipped_gets_no_copy_and_is_told_at_the_end(
    client: Any, silo: Silo, invalid_dates: list[str]
) -> None:
    at = shown(client, QUEUE)
    for _number in WRONG:
        (skip,) = set(re.findall(r'href="(/queue\?[^"]+)">Skip', at[1]))
        at = shown(client, html.unescape(skip))
    assert "0 done in" in at[1]
    assert "3 skipped" in at[1]
    assert "3 records are left" in at[1]
    assert all([*silo[one].versions] == ["1"] for one in invalid_dates)


def test_a_form_without_a_change_is_not_stored(
    client: Any, silo: Silo, invalid_dates: list[str]
) -> None:
    answer = saved(client, shown(client, QUEUE))
    assert answer.status == 303
    fields = parse_qs(urlsplit(answer.headers["Location"]).query)
    assert fields["round"][0].endswith("-0-1")
    assert [*silo[invalid_dates[0]].versions] == ["1"]


def test_what_still_has_the_finding_is_told_with_the_way_back(
    client: Any, invalid_dates: list[str]
) -> None:
    answer = saved(client, shown(client, QUEUE), **{"20x6": "20y6"})
    _url, page = shown(client, answer.headers["Location"])
    assert "still has the finding" in page
    assert left(page) == "2 left"


def test_of_two_people_in_a_queue_the_second_sees_what_the_first_did(
    client: Any, silo: Silo, invalid_dates: list[str]
) -> None:
    first = second = shown(client, QUEUE)
    assert saved(client, first, **{"20x6": "2016"}).status == 303
    answer = saved(client, second, **{"20x6": "2017"})
    assert answer.status == 412
    assert "changed in the meantime" in answer.text
    with silo[invalid_dates[0]].get_stream("oai_dc", "workingcopy") as file:
        assert b">2016<" in file.read()


def test_a_record_without_a_form_is_skipped_by_hand(client: Any, silo: Silo) -> None:
    _url, page = shown(client, "/queue?deleted=true")
    assert "cannot be edited in a form" in page
    assert "Save and next" not in page


def test_the_lists_of_a_finding_lead_into_its_queue(client: Any, invalid_dates: list[str]) -> None:
    assert "Correct one by one" in client.get("/search?finding=Q202", accept=HTML).text
    assert "Correct one by one" in client.get("/quality", accept=HTML).text


def test_the_cursor_behind_an_identifier_needs_no_record_of_it(silo: Silo) -> None:
    page = PageRequest(limit=1, sort="identifier", after=cursor_behind("oai:example.org:100x"))
    assert silo.search("Record", page=page).rows[0].identifier == "oai:example.org:101"


def test_a_round_is_read_as_it_is_written_and_what_is_none_begins() -> None:
    round_ = Round(100, 31, 2)
    assert Round.of(round_.field, 340.0) == round_
    assert round_.told(340.0) == "31 done in 4 minutes, 2 skipped"
    for wrong in ("", "x", "1-2", "999-0-0", "1-2-99999999"):
        assert Round.of(wrong, 500.0) == Round(500)
    assert QueuePlace.at(round_, 345.0, back="", skip="").clock == "4:05"


def test_all_records_with_a_finding_are_repaired_from_the_quality_page(
    client: Any, silo: Silo
) -> None:
    named = [f"oai:example.org:framed-{one}" for one in WRONG]
    harvest(silo, {one: dublin_core(("title", one), ("date", "[2016]")) for one in named})
    assert "Repair what is certain" in client.get("/quality", accept=HTML).text
    assert "Repair what is certain" in client.get("/search?finding=Q202", accept=HTML).text
    answer = client.post("/quality/repair", {"finding": "Q202"}, accept=HTML)
    assert answer.status == 303
    page = client.get(answer.headers["Location"], accept=HTML).text
    assert "Change 3 records" in page
    assert silo.search(finding="Q202").total == 3
    answer = client.post("/quality/repair", {"finding": "Q101"}, accept=HTML)
    assert answer.status == 400


# -- clusters, duplicates and documents, one after another ------------------------------


def clusters_of_types(silo: Silo) -> None:
    """Two clusters: of three types, and of two."""
    for number, kind in enumerate(("Journal article", "journal Article", "Article, journal",
                                   "Book part", "book part")):  # fmt: skip
        harvest(silo, {f"oai:example.org:k{number}": dublin_core(("title", "x"), ("type", kind))})


def pressed(client: Any, page: str, action: str) -> str:
    """Press a button of the form of a cluster."""
    form = page.partition('id="decision"')[2].partition("</form>")[0]
    fields = dict(re.findall(r'name="([^"]+)"(?: type="\w+")? value="([^"]*)"', form))
    fields["to-0"] = re.findall(r'name="to-0" type="text" value="([^"]*)"', form)[0]
    fields = {name: html.unescape(value) for name, value in fields.items()} | {"do": action}
    answer = client.post("/clusters", fields, accept=HTML)
    assert answer.status in {200, 400}
    return str(answer.text)


def test_clusters_are_merged_one_after_another_by_one_rule(client: Any, silo: Silo) -> None:
    clusters_of_types(silo)
    page = client.get("/clusters?field=type&round=0", accept=HTML).text
    assert left(page) == "2 left"
    page = pressed(client, page, "next")
    assert left(page) == "1 left"
    assert "To be merged:" in page
    page = pressed(client, page, "next")
    assert "2 done in" in page
    assert "Preview 2 merges" in page
    form = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page)
    rule = client.post("/clusters", {**dict(form), "do": "merge"}).json["changes"]
    (table,) = (one["table"] for one in rule)
    assert len(table.splitlines()) == 3
    assert silo.count(curated=True) == 0


def test_a_cluster_is_skipped_ignored_or_refused_in_its_queue(client: Any, silo: Silo) -> None:
    clusters_of_types(silo)
    page = client.get("/clusters?field=type&round=0", accept=HTML).text
    refused = pressed(client, re.sub(r'name="value-0-\d+"', 'name="none"', page), "next")
    assert left(refused) == "2 left"
    assert "Nothing would be merged." in refused
    (key,) = re.findall(r'value="(ignore-\w+)"', page)
    page = pressed(client, page, key)
    assert left(page) == "1 left"
    assert "Ignored." in page
    page = pressed(client, page, "skip")
    assert "1 done in" in page
    assert "1 skipped" in page
    assert "Nothing was chosen to be merged." in page
    assert client.json("/clusters?field=type")["total"] == 1


def test_duplicates_are_decided_one_after_another(client: Any, silo: Silo) -> None:
    works = {
        f"oai:example.org:{work}{number}": dublin_core(
            ("title", f"{title} of the north"), ("creator", f"{work.title()}son, Ann"),
            ("date", "2016")
        )
        for work, title in (("a", "Salt marshes"), ("b", "Wide rivers"))
        for number in (1, 2)
    }  # fmt: skip
    harvest(silo, works)
    assert "Decide one by one" in client.get("/quality/duplicates", accept=HTML).text
    url = "/quality/duplicates?round=0"
    page = client.get(url, accept=HTML).text
    assert left(page) == "2 left"
    first = client.json(url)["group"]
    named = "\n".join(one["identifier"] for one in first)
    form = {"do": "duplicates", "identifiers": named, "of": first[0]["identifier"], "round": "0"}
    answer = client.post("/quality/duplicates", form, accept=HTML)
    page = client.get(answer.headers["Location"], accept=HTML).text
    assert left(page) == "1 left"
    assert "Marked as duplicates." in page
    undo = {"do": "unmark", "identifiers": first[1]["identifier"], "round": "9-1-0"}
    answer = client.post("/quality/duplicates", undo, accept=HTML)
    assert "round=9-0-0" in answer.headers["Location"]
    assert left(client.get(answer.headers["Location"], accept=HTML).text) == "2 left"
    page = client.get("/quality/duplicates?round=9-1-1&behind=oai:example.org:b2", accept=HTML).text
    assert "1 done in" in page
    assert "1. " in page


def test_a_record_without_a_title_is_skipped_without_a_question(client: Any, silo: Silo) -> None:
    harvest(silo, {"oai:example.org:untitled": dublin_core(("date", "2016"))})
    _, page = shown(client, "/queue?finding=Q101")
    assert re.search('<input id="title-1"[^>]* autofocus', page)  # the form added it
    assert 'data-unsaved="no"' in page
    assert "Unsaved: " not in page
