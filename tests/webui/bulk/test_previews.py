"""Previews of whole batch edits: made as jobs, chosen from, applied or discarded."""

import html
from typing import Any

import pytest
from waiting import wait_until

from recordsilo import Silo
from webui.bulk import jobs as previewed
from webui.bulk import previews

from .conftest import HTML, RULE, content, finished, looked_at, previewed_url


def test_all_of_very_many_are_previewed_as_a_job_and_then_changed(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "LOOKED_AT", 10)
    begun = client.post("/bulk", RULE | {"do": "look"})
    url = looked_at(client, begun)
    counted = client.json(url)["preview"]
    assert (counted["records"], counted["changed"], counted["values"]) == (55, 55, 55)
    assert silo.count(curated=True) == 0
    page = client.get(url).text
    assert "Previewed, not applied" in page
    assert "Change 55 records" in page
    assert "Item 100</ins>" in page
    assert client.get(begun.headers["Location"], accept=HTML).headers["Location"] == url
    assert "Previewed, not applied" in client.get("/bulk/jobs").text
    client.post(url + "/resume", {"message": "as counted"})
    report = finished(silo, begun.json["job"])
    assert (report.counts, report.values) == ({"done": counted["changed"]}, counted["values"])
    assert report.about["message"] == "as counted"
    assert silo.count(curated=True) == 55
    assert "Preview all records" not in client.get(url).text


def test_a_planned_change_is_put_away_but_not_one_that_was_begun(client: Any, silo: Silo) -> None:
    first = looked_at(client, client.post("/bulk", RULE | {"do": "look"}))
    assert client.post(first + "/discard", {}, accept=HTML).headers["Location"] == "/bulk/jobs"
    assert client.json("/bulk/jobs")["jobs"] == []
    assert client.post(first + "/discard", {}).status == 404
    second = client.post("/bulk", RULE | {"do": "look"})
    url = looked_at(client, second)
    client.post(url + "/resume", {})
    finished(silo, second.json["job"])
    answer = client.post(url + "/discard", {})
    assert (answer.status, answer.error["code"]) == (409, "conflict")
    assert client.json(url)["counts"]["done"] == 55


def test_a_preview_remarks_on_a_field_that_no_record_has(client: Any) -> None:
    rule = RULE | {"change-0-field": "subjct"}
    remark = "no record has a field 'subjct'; did you mean 'subject'?"
    assert client.post("/bulk", rule).json["preview"]["remarks"] == [remark]
    url = looked_at(client, client.post("/bulk", rule | {"do": "look"}))
    assert html.unescape(client.get(url).text).count(remark) == 1


def test_a_preview_that_finds_nothing_offers_nothing_to_do(client: Any) -> None:
    rule = RULE | {"change-0-pattern": "^Nothing begins so", "do": "look"}
    url = looked_at(client, client.post("/bulk", rule))
    page = client.get(url).text
    assert "Nothing would change." in page
    assert f'action="{url}/resume"' not in page
    assert f'action="{url}/discard"' in page
    assert f'href="/bulk?job={url.rpartition("/")[2]}">Back to the form</a>' in page


def test_a_preview_says_that_titles_would_be_lost(client: Any) -> None:
    rule = {
        "search": "q=Record",
        "changes": "1",
        "change-0-do": "remove",
        "change-0-field": "title",
    }
    preview = client.post("/bulk", rule | {"do": "preview"}).json["preview"]
    assert preview["remarks"] == ["55 of the records would lose their only title"]


def test_kept_rules_and_sent_files_are_previewed_as_a_whole_too(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "LOOKED_AT", 10)
    assert client.post("/bulk", RULE | {"do": "keep", "name": "items"}).status == 201
    page = client.get(client.post("/rules/items", {"do": "test"}, accept=HTML).headers["Location"])
    assert "Change 55 records" in page.text
    url = looked_at(client, client.post("/rules/items", {"do": "look"}))
    assert client.json(url)["preview"]["changed"] == 55
    parts = [("search", None, b"q=Record"), ("part", "licence.txt", b"CC0")]
    monkeypatch.setattr(previewed, "AT_ONCE", 10)
    url = looked_at(client, client.upload("/bulk/attach", parts))
    assert client.json(url)["preview"]["changed"] == 55
    assert "Change 55 records" in client.get(url).text
    assert silo.count(curated=True) == 0


TWO = RULE | {"changes": "2", "change-1-do": "add", "change-1-field": "type",
              "change-1-value": "Text"}  # fmt: skip


def test_a_preview_groups_changes_and_what_is_unticked_is_not_made(client: Any, silo: Silo) -> None:
    url = previewed_url(client, TWO)
    twin = client.json(url)
    assert twin["changes"][0] == {
        "what": "type", "old": None, "new": "Text", "count": 55, "left_out": False
    }  # fmt: skip
    assert silo.count(curated=True) == 0
    found = client.json(f"{url}/changes?number=1")
    assert found["change"]["new"] == "Item 100"
    assert [one["title"] for one in found["records"]] == ["Record 100"]
    page = client.get(f"{url}/changes?number=0").text
    assert "Record 100" in page
    assert 'rel="next"' in page

    ticks = {f"change-{n}": "yes" for n in range(3)} | {"tick-0": "yes", "tick-2": "yes"}
    kept = client.post(f"{url}/changes", ticks)
    assert (kept.json["records"], kept.json["values"]) == (55, 109)
    record = {"row-0": "oai:example.org:102"}
    assert client.post(f"{url}/changes", record).json["records"] == 54
    assert "Change 54 records" in client.get(url).text
    answer = client.post(f"{url}/changes", {"do": "apply", "message": "as ticked"})
    report = finished(silo, answer.json["job"])
    assert report.counts == {"done": 54, "left out": 1}
    assert "Record 100" in content(silo, "oai:example.org:100")
    assert ">Text<" in content(silo, "oai:example.org:100")
    assert "Item 101" in content(silo, "oai:example.org:101")
    assert silo["oai:example.org:102"].currentversion == "1"
    assert client.post(f"{url}/changes", record).status == 409


def test_a_preview_of_which_nothing_is_ticked_changes_nothing(client: Any, silo: Silo) -> None:
    url = previewed_url(client, RULE | {"identifiers": "oai:example.org:100"})
    answer = client.post(f"{url}/changes", {"change-0": "yes", "do": "apply"})
    assert answer.status == 400
    assert silo.count(curated=True) == 0
    for wrong in ({"change-9": "yes"}, {"change-x": "yes"}, {"change-0": "1", "change-5000": "1"}):
        assert client.post(f"{url}/changes", wrong).status == 400
    assert client.get(f"{url}/changes?number=9").status == 404


def test_a_previewed_edit_goes_back_to_its_form_and_is_replaced(client: Any) -> None:
    first = previewed_url(client, RULE)
    page = client.get(f"/bulk?job={first.rpartition('/')[2]}").text
    assert 'value="^Record"' in page
    again = RULE | {"change-0-by": "Thing", "job": first.rpartition("/")[2]}
    second = previewed_url(client, again)
    assert [one["job"] for one in client.json("/bulk/jobs")["jobs"]] == [second.rpartition("/")[2]]


def test_a_larger_preview_is_watched_as_a_job(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previewed, "AT_ONCE", 10)
    url = previewed_url(client, RULE)
    wait_until(lambda: "Previewed, not applied" in client.get(url).text)
    assert "Change 55 records" in client.get(url).text
