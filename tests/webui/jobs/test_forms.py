"""Starting jobs: one short form at a time, for the records of a search, now or at set times."""

import errno
import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from recordsilo import Silo
from silowork.ledger import JobLedger
from silowork.schedules import load_schedule, schedule_names

HTML = "text/html"


def state_of_a_harvest(silo: Silo) -> None:
    """What a harvest notes of its source."""
    silo.state["base_oai_url"] = "http://source.example/oai"
    silo.state.sync()
    state = {
        "sets": {"a:b": "Theses <of> 2016", "c": "Books"},
        "formats": {"mods": ["", ""], "uketd_dc": ["", ""], "oai_dc": ["", ""], "rdf": ["", ""]},
        "harvested": {"oai_dc": {"": "2026-11-23T01:47:00Z"}, "uketd_dc": {}},
    }
    with open(f"{silo.path}/oaipmh_harvester.json", "w", encoding="utf-8") as file:
        json.dump(state, file)


def test_first_what_then_one_form(client: Any, silo: Silo) -> None:
    state_of_a_harvest(silo)
    page = client.get("/jobs/new").text
    assert "<form action=" not in page
    forms = client.json("/jobs/new")["forms"]
    assert [one["name"] for one in forms][:3] == ["update", "harvest", "export-files"]
    for one in forms:
        assert f'<a href="{one["url"]}">' in page
        text = client.get(one["url"]).text
        assert text.count('method="post"') <= 1
        assert text.count("<h1>") == 1
    assert client.get("/jobs/new/tape", accept=HTML).status == 404


def test_formats_and_sets_are_chosen_from_those_of_the_source(client: Any, silo: Silo) -> None:
    assert 'name="url" type="url"' in client.get("/jobs/new/harvest").text
    state_of_a_harvest(silo)
    page = client.get("/jobs/new/harvest").text
    assert "http://source.example/oai" in page
    assert 'name="url"' not in page
    assert '<option value="a:b">Theses &lt;of&gt; 2016</option>' in page
    assert re.findall(r'name="prefix-(\w+)" value="yes" type="checkbox"( checked)?', page) == [
        ("oai_dc", " checked"), ("uketd_dc", " checked"), ("mods", ""), ("rdf", ""),
    ]  # fmt: skip
    told = client.json("/jobs/new/harvest")
    assert told["formats"][1:3] == [
        {"prefix": "uketd_dc", "harvested": True}, {"prefix": "mods", "harvested": False},
    ]  # fmt: skip
    assert told["sets"][0] == {"spec": "c", "name": "Books"}
    fields = {"kind": "harvest", "prefix-uketd_dc": "yes", "prefixes": "mets", "set": "a:b"}
    job = client.post("/jobs", fields).json
    assert job["arguments"] == {"prefixes": ["uketd_dc", "mets"], "set": "a:b"}
    assert job["title"] == "Harvest uketd_dc mets, set a:b"


def test_an_export_is_for_the_records_of_a_search_with_its_filters(client: Any, silo: Silo) -> None:
    query = urlencode({"q": "Record", "deleted": "false", "title": ""})
    page = client.get(f"/jobs/new/export-csv?{query}").text
    assert "<strong>55 records found</strong>" in page
    assert '<input type="hidden" name="deleted" value="false">' in page
    known = client.json(f"/jobs/new/export-csv.json?{query}")
    assert known["records"] == 55
    assert known["select"] == {"query": "Record", "deleted": False}
    fields = {"kind": "export", "form": "csv", "name": "t", "select": json.dumps(known["select"])}
    job = client.post("/jobs", fields).json
    assert job["arguments"]["select"] == known["select"]
    none = client.get("/jobs/new/export-csv?q=zzzz").text
    assert "No record matches; nothing would be exported." in none
    assert '<button type="submit" disabled>Export</button>' in none
    for bad in ("[]", "{", '{"colour": ["red"]}'):
        assert client.post("/jobs", fields | {"select": bad}).status == 400


def test_a_form_can_repeat_its_job(client: Any, silo: Silo) -> None:
    fields = {"kind": "audit", "share": "5", "when": "sun", "at": "04:30"}
    answer = client.post("/jobs", fields, accept=HTML)
    assert answer.headers["Location"] == "/schedules?done=added"
    assert JobLedger(silo.path).jobs() == []
    (name,) = schedule_names(silo.path)
    assert name == "audit"
    page = client.get("/schedules").text
    assert "Audit: 5% of the records byte for byte" in page
    assert "Every Sunday at 04:30 UTC" in page
    assert client.post("/jobs", fields).status == 201
    assert len(schedule_names(silo.path)) == 2
    url = f"/schedules/{name}"
    assert client.post(url + "/change", {"when": "6h", "at": ""}).status == 200
    assert " · Every 6 hours</h2>" in client.get("/schedules").text
    assert client.post(url + "/pause", {}).status == 200
    assert load_schedule(silo.path, name).timetable.is_paused
    assert "Paused." in client.get("/schedules").text
    JobLedger(silo.path).add("audit", "Audit", {}, f"schedule:{name}")
    assert client.post(url + "/run", {}).status == 409
    listed = client.json("/schedules")["schedules"]
    assert [one["next"] is None for one in listed] == [True, False]
    assert client.post(url + "/remove", {}).status == 200
    assert client.post(url + "/remove", {}).status == 404
    assert client.post(url + "/explode", {}).status == 404


def test_schedules_are_listed_though_the_ledger_of_jobs_is_damaged(client: Any, silo: Silo) -> None:
    fields = {"kind": "audit", "share": "5", "when": "daily", "at": "02:00"}
    assert client.post("/jobs", fields).status == 201
    JobLedger(silo.path).add("audit", "Audit", {}, "ada")
    for file in Path(silo.path, "curation", "jobs").glob("ledger.sqlite*"):
        file.write_bytes(b"no database " * 400)
    page = client.get("/schedules")
    assert page.status == 200
    assert "The list of jobs cannot be read" in page.text
    assert "Every day at 02:00 UTC" in page.text
    assert "Running now." not in page.text


@pytest.mark.parametrize(
    ("number", "status", "code"),
    [(errno.EROFS, 503, "not_writable"), (errno.ENOSPC, 507, "disk_full")],
)
def test_where_nothing_can_be_written_no_job_is_begun(
    client: Any, monkeypatch: pytest.MonkeyPatch, number: int, status: int, code: str
) -> None:
    def refuse(path: str, **_: Any) -> None:
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr("silowork.ledger.os.makedirs", refuse)
    given = {"kind": "audit", "share": "5"}
    answer = client.post("/jobs", given, headers={"Accept": "application/json"})
    assert (answer.status, answer.error["code"]) == (status, code)


def test_what_is_no_time_is_refused_in_a_sentence(client: Any, silo: Silo) -> None:
    for given in ({"when": "never"}, {"when": "daily", "at": "noon"}):
        answer = client.post("/jobs", {"kind": "audit", "share": "5"} | given)
        assert answer.status == 400
    assert schedule_names(silo.path) == []


def test_no_job_and_no_schedule_stores_a_password(client: Any, silo: Silo) -> None:
    given = {"kind": "harvest", "prefixes": "oai_dc", "url": "http://ada:secret@source.example/oai"}
    for more in ({}, {"when": "daily", "at": "02:00"}):
        answer = client.post("/jobs", given | more)
        assert (answer.status, "netrc of the worker" in answer.text) == (400, True)
    assert schedule_names(silo.path) == JobLedger(silo.path).jobs() == []
