"""The page that facets any field: each group leads to its records, each value to renaming."""

import html
from typing import Any

import pytest
from waiting import wait_until

from recordsilo import Silo
from recordsilo.selection import Selection
from silocuration.review import any_field
from silocuration.review.any_field import Grouping
from silocuration.review.kept_facets import (
    MOST_RECORDS,
    KeptFacet,
    KeptGroup,
    keep_facets,
    read_facet,
)
from silowork.ledger import JobLedger
from silowork.running import run_job
from webui.app import create_app
from webui.site import SiteSettings

URL = "/search/fields?q=Record&field=title"


def test_values_lead_to_their_records_and_to_renaming(client: Any) -> None:
    page = client.get(URL).text
    assert "55 records were read." in page
    assert "group=Record+100" in page
    assert "/bulk/rename?field=title&amp;value=Record+100&amp;search=q%3DRecord" in page
    one = client.get(URL + "&group=Record+100").text
    assert "/records/oai+example,org+100" in one
    assert 'name="change-0-value" value="Record 100"' in one


def test_a_group_is_told_in_words_and_as_json(client: Any) -> None:
    assert "No value" in client.get("/search/fields?field=rights&kind=blank").text
    told = client.json("/search/fields.json?q=Record&field=title&kind=shape")
    assert told["groups"] == [{"group": "Aa 999", "values": 55, "records": 55}]
    assert "now" in client.get(URL + "&group=gone").text
    assert client.get("/search/fields?kind=colour").status == 400


def test_a_sample_is_called_one(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(any_field, "RECORDS", 10)
    page = client.get(URL).text
    assert "This is a sample: the first 10 of 55 records" in page
    assert "narrow the search or count all records." in page
    assert "The index has all values" not in page  # of titles it has none
    subjects = client.get("/search/fields?q=Record&field=subject").text
    assert ">The index has all values of this field.</a>" in subjects
    assert client.json(URL.replace("fields?", "fields.json?"))["complete"] is False


def count_all(client: Any, silo: Silo, field: str = "title") -> str:
    """Start the job as the button does, and wait for its end; returns its id."""
    fields = {"search": "q=Record", "field": field, "kind": "value"}
    answer = client.ask("POST", "/search/fields", fields=fields)
    assert answer.status == 202
    job_id = str(answer.json["job"])
    ledger = JobLedger(silo.path)
    wait_until(lambda: ledger.job(job_id).is_over)
    assert ledger.job(job_id).state == "done", ledger.job(job_id).sentence
    return job_id


def test_all_records_of_a_larger_result_are_counted_by_a_job(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(any_field, "RECORDS", 10)
    page = client.get(URL).text
    assert '<button type="submit">Count all 55 records</button>' in page
    assert '<input type="hidden" name="search" value="q=Record">' in page
    job_id = count_all(client, silo)
    page = client.get(URL).text
    assert "55 records were read, on " in page
    assert '<button type="submit">Count again</button>' in page
    assert "sample" not in page
    twin = client.json(URL.replace("fields?", "fields.json?") + "&kind=shape")
    assert twin["groups"] == [{"group": "Aa 999", "values": 55, "records": 55}]
    assert (twin["complete"], twin["read"], twin["current"], twin["job"]) == (True, 55, True, None)
    assert twin["counted"] > "2026"
    job = html.unescape(client.get(f"/jobs/{job_id}").text)
    assert "Count values: title (search Record)" in job
    assert 'href="/search/fields?q=Record&field=title">Show the groups</a>' in job
    assert '<a href="/search?q=Record">Back to the search</a>' in job
    assert "different values" in job


def test_counts_that_are_kept_say_that_records_have_changed(
    client: Any, silo: Silo, add_record: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(any_field, "RECORDS", 10)
    count_all(client, silo)
    assert "Records have changed since." not in client.get(URL).text
    add_record("oai:example.org:new", ("title", "Record new"))
    assert "This is a sample" in client.get(URL).text  # few records are read again
    monkeypatch.setattr("webui.pages.any_field.FEW", 10)
    assert "Records have changed since." in client.get(URL).text
    assert client.json(URL.replace("fields?", "fields.json?"))["current"] is False
    count_all(client, silo)
    page = client.get(URL).text
    assert "Records have changed since." not in page
    assert "56 records were read, on " in page


def test_while_a_job_counts_the_page_shows_it_and_offers_to_stop_it(
    silo: Silo, stage: Any, stage_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(any_field, "RECORDS", 10)
    stage.app = create_app(silo, SiteSettings(agent="ada", by_worker=True))  # and no worker runs
    fields = {"search": "q=Record", "field": "title", "kind": "shape"}
    answer = stage_client.ask("POST", "/search/fields", fields=fields, accept="text/html")
    assert answer.status == 303
    assert answer.headers["Location"].endswith("/search/fields?q=Record&field=title&kind=shape")
    (job,) = JobLedger(silo.path).active()
    page = stage_client.get(URL).text
    assert f'<form action="/jobs/{job.job_id}/stop" method="post">' in page
    assert "Count values: title (search Record)" in page
    assert "Jobs wait: no worker is running." in page
    assert "Count all" not in page
    assert "To see all groups, narrow the search." in page
    again = stage_client.ask("POST", "/search/fields", fields=fields)
    assert again.json["job"] == job.job_id
    log = stage_client.get("/activity").text
    assert log.count("Count values: title (search Record)") == 1
    assert stage_client.post(f"/jobs/{job.job_id}/stop", {}).status == 200
    assert "Count all 55 records" in stage_client.get(URL).text


def test_a_count_that_ends_while_the_page_is_made_is_followed_still(
    silo: Silo, stage: Any, stage_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(any_field, "RECORDS", 10)
    stage.app = create_app(silo, SiteSettings(agent="ada", by_worker=True))
    stage_client.post("/search/fields", {"search": "q=Record", "field": "title", "kind": "value"})
    (job,) = JobLedger(silo.path).active()

    def read_before_the_end(*asked: Any) -> KeptFacet | None:
        found = read_facet(*asked)
        run_job(silo.path, job.job_id)
        return found

    monkeypatch.setattr("webui.pages.any_field.read_facet", read_before_the_end)
    assert f'data-live="/jobs/{job.job_id}/events"' in stage_client.get(URL).text
    monkeypatch.setattr("webui.pages.any_field.read_facet", read_facet)
    assert "Count again" in stage_client.get(URL).text


def test_of_a_large_kept_group_the_first_records_are_listed(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = tuple(f"oai:example.org:{number}" for number in range(100, 100 + MOST_RECORDS))
    first = (KeptGroup("Large", 900, 800, names), KeptGroup("Small", 1, 1, names[:1]))
    date = "2026-01-02T00:00:00Z"
    kept = {Grouping.VALUE: KeptFacet("", date, 900, 1, 2, first)}
    keep_facets(silo.path, Selection("Record"), "title", kept)
    monkeypatch.setattr("webui.pages.any_field.FEW", 10)
    large, small = (client.get(f"{URL}&group={name}").text for name in ("Large", "Small"))
    assert "800 records" in large
    assert "Batch edit of these records" not in large
    assert "Batch edit of these records" in small
    assert "2 Jan 2026" in large
    assert "1 has no fields that can be read." in large


def test_only_a_field_of_a_search_is_counted(client: Any) -> None:
    asked = {"search": "q=Record", "kind": "value"}
    assert client.post("/search/fields", asked).error["message"].startswith("Enter the field")
    elsewhere = ("http://evil.example/", "http://evil.example/?q=", "q=a&//evil.example", "Record")
    for wrong in (
        {"kind": "colour"},
        {"search": "nofield=1"},
        {"search": "set!=a&colour=b"},
        *({"search": one} for one in elsewhere),
    ):
        assert client.post("/search/fields", asked | {"field": "title"} | wrong).status == 400


def test_records_of_a_group_are_batch_edited(client: Any) -> None:
    fields = {
        "changes": "1",
        "change-0-do": "replace",
        "change-0-field": "title",
        "change-0-value": "Record 100",
        "identifiers": "oai:example.org:100",
        "do": "kind-0",
    }
    page = client.post("/bulk", fields, accept="text/html").text
    assert "1 listed record" in page
    assert 'value="Record 100"' in page
