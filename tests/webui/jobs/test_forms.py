"""Starting jobs: one short form at a time, for the records of a search, now or at set times."""

import errno
import html
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from recordsilo import Silo
from recordsilo.index.facets import contributed_names
from recordsilo.index.search_values import ASKED, LARGE_FIELDS, NOT, SMALL_FIELDS
from silowork.due.timetable import Timetable
from silowork.forms import Field, Input, JobForm
from silowork.kinds import read_request
from silowork.ledger import JobLedger
from silowork.schedules import (
    Schedule,
    add_schedule,
    change_schedule,
    load_schedule,
    schedule_names,
)
from silowork.values import Ending
from silowork.work import Asked, Fields, Kind, Work
from tests.webui.conftest import SET
from webui.export_forms import export_forms

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
        text = client.get(one["url"]).text.partition("<footer")[0]  # which has that of the language
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
    told = {one["name"]: one for one in client.json("/jobs/new/harvest")["fields"]}
    assert told["prefix"]["default"] == "oai_dc uketd_dc"
    assert told["prefix"]["choices"][1:3] == [["uketd_dc", "uketd_dc"], ["mods", "mods"]]
    assert told["set"]["choices"][:2] == [["", "All records"], ["c", "Books"]]
    fields = {"kind": "harvest", "prefix-uketd_dc": "yes", "prefixes": "mets", "set": "a:b"}
    job = client.post("/jobs", fields).json
    assert job["arguments"] == {"prefixes": ["uketd_dc", "mets"], "set": "a:b"}
    assert job["title"] == "Harvest uketd_dc mets, set a:b"


def test_a_kind_of_another_package_has_a_form(
    client: Any, silo: Silo, contribute: Callable[[str, str, Any], None]
) -> None:
    form = JobForm(
        "Give <stars>", "To every record.", "Stars",
        (
            Field("number", "How <many>", Input.NUMBER, default="3", least=0, most=5),
            Field("who", "Who", Input.TICKS, default="a", choices=(("a", "Ada"), ("b", "Bob"))),
            Field("loud", "Loudly", Input.TICK),
        ),
        note="Stars <are> free.", see=("/search", "Records"),
    )  # fmt: skip

    def read(fields: Fields, _path: str, _records: int) -> Asked:
        who = [one for one in "ab" if fields.get(f"who-{one}")]
        return Asked("Stars", {"number": fields["number"], "who": who})

    def run(work: Work) -> Ending:
        return Ending(True, "given")

    kind = Kind("stars", "Stars", run, read=read, form=lambda _path: form)
    contribute("recordsilo.jobs", "stars", kind)
    assert {"name": "stars", "heading": "Give <stars>", "url": "/jobs/new/stars"} in client.json(
        "/jobs/new"
    )["forms"]
    page = client.get("/jobs/new/stars").text
    for part in (
        "Stars &lt;are&gt; free.",
        "How &lt;many&gt;",
        'type="number" value="3" step=any min=0 max=5',
        'name="who-a" value="yes" type="checkbox" checked',
        'name="who-b" value="yes" type="checkbox">',
        '<a href="/search">Records</a>',
    ):
        assert part in page, part
    job = client.post("/jobs", {"kind": "stars", "number": "4", "who-b": "yes"}).json
    assert job["arguments"] == {"number": "4", "who": ["b"]}
    assert "Stars started" in client.get("/activity").text
    assert client.post("/jobs", {"kind": "stars", "number": "4", "x": "y"}).status == 400


def test_an_export_is_for_the_records_of_a_search_with_its_filters(client: Any, silo: Silo) -> None:
    query = urlencode({"q": "Record", "deleted": "false", "title": ""})
    page = client.get(f"/jobs/new/export-csv?{query}").text
    assert "<strong>55 records found</strong>" in page
    assert '<input type="hidden" name="search" value="deleted=false">' in page
    assert "Remove filter:</span>" not in page  # the chips of the search, with links to this form
    assert '<a href="/jobs/new/export-csv?q=Record" dir="auto">' in page
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


@pytest.mark.long
def test_no_field_of_an_export_takes_a_filter_of_the_search(client: Any, silo: Silo) -> None:
    names = [*SMALL_FIELDS, *LARGE_FIELDS, *ASKED, *contributed_names()]
    found = 0
    for name in (*names, *(name + NOT for name in (*SMALL_FIELDS, *LARGE_FIELDS)), "until"):
        wanted = "2001-02-03" if name == "until" else "2016"
        search = urlencode({name: wanted})
        answer = client.get(f"/search.json?{search}", accept="application/json")
        if answer.status != 200:
            continue  # its values are of another kind
        found += 1
        said = f"{answer.json['total']} record{'s' * (answer.json['total'] != 1)} found"
        for form in export_forms(silo.path):
            page = client.get(f"/jobs/new/export-{form.first.name}?{search}", accept=HTML).text
            kept = re.search('name="counted" value="([^"]*)"', page)
            assert f"<strong>{said}</strong>" in page, (form.first.name, name)
            assert kept, name
            assert html.unescape(kept[1]) == search
            fields = page[page.index("<article") : page.index("</article")]
            assert wanted not in re.findall('value="([^"]*)"', fields), (form.first.name, name)
    assert found > 20


def test_a_field_called_like_a_filter_can_be_filled_in_beside_a_query(client: Any) -> None:
    page = client.get("/jobs/new/export-datacite?type=Dataset", accept=HTML).text
    assert "<strong>0 records found</strong>" in page
    assert 'value="type=Dataset"' in page
    search = quote("deleted=false&type=Thesis")
    url = f"/jobs/new/export-datacite?search={search}&type=Dataset&publisher=Shore"
    page = client.get(url, accept=HTML).text
    assert 'name="search" value="deleted=false&amp;type=Thesis"' in page
    assert re.search('<option value="Dataset" selected|name="type"[^>]* value="Dataset"', page)
    assert re.search('name="publisher"[^>]* value="Shore"', page)


FORMS = (
    {"form": "files", "name": "out"}, {"form": "bag", "name": "out"},
    {"form": "sip", "name": "out"},
    {"form": "csv", "name": "out"}, {"form": "jsonl", "name": "out"},
    {"form": "sqlite", "name": "out"}, {"form": "parquet", "name": "out"},
    {"form": "links", "name": "out"}, {"form": "zip", "name": "out"},
    {"form": "fedora", "place": "a"},
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form["form"])
def test_what_stands_in_the_form_of_an_export_counts(
    client: Any, silo: Silo, form: dict[str, str]
) -> None:
    os.makedirs(f"{silo.path}/curation", exist_ok=True)
    with open(f"{silo.path}/curation/fedora.toml", "w", encoding="utf-8") as file:
        file.write('[a]\nurl = "http://127.0.0.1:1/rest"\n')
    conditions = {"search": "deleted=false&type=Thesis", "q": "Record", "set": SET, "state": ""}
    fields = {"kind": "export", **form, **conditions}
    wanted = {"query": "Record", "deleted": False, "type": ["Thesis"], "set": [SET]}
    assert client.post("/jobs", fields).status == 400  # there is no such record
    fields["search"] = "deleted=false"
    del wanted["type"]
    assert client.post("/jobs", fields).json["arguments"]["select"] == wanted
    assert client.post("/jobs", fields | {"when": "daily", "at": "02:00"}).status == 201
    (name,) = schedule_names(silo.path)
    assert "Record" in load_schedule(silo.path, name).fields["select"]


def test_an_export_says_of_what_it_is_on_its_page_and_in_its_schedule(
    client: Any, silo: Silo
) -> None:
    conditions = {"search": "deleted=false", "q": "Record", "set": SET, "state": ""}
    fields = {"kind": "export", "form": "zip", "name": "out", **conditions}
    fields |= {"versions": "all", "names": "oai_dc note.xml", "conflicts": "overwrite"}
    job = client.post("/jobs", fields).headers["Location"]
    assert client.post("/jobs", fields | {"when": "daily", "at": "02:00"}).status == 201
    for page in (job, "/schedules"):
        text = client.get(page).text
        (link,) = re.findall(r'<a href="(/search[^"]*)">([^<]*search Record)</a>', text)
        assert client.json(html.unescape(link[0]))["total"] == 55
        for label, value in (
            ("Versions", "all"),
            ("If others changed the target", "overwrite"),
            ("Only files of these names", "oai_dc note.xml"),
        ):
            assert f'<dt>{label}</dt><dd dir="auto">{value}</dd>' in text
    usual = client.post("/jobs", {"kind": "export", "form": "csv", "name": "all"}).headers[
        "Location"
    ]
    text = client.get(usual).text
    assert '<a href="/search">all records</a>' in text
    assert "<dt>Versions</dt>" not in text
    listed = {"identifiers": ["oai:example.org:1"]}
    fields = {"kind": "export", "form": "csv", "name": "one", "select": json.dumps(listed)}
    one = client.post("/jobs", fields).headers["Location"]
    assert '<dd dir="auto">1 identifier</dd>' in client.get(one).text


def test_a_job_that_failed_leads_back_to_its_form_as_it_was_filled_in(
    client: Any, silo: Silo
) -> None:
    def again(fields: dict[str, str]) -> str:
        kind = fields.pop("kind", "export")
        asked = read_request(kind, fields, silo.path, len(silo))
        ledger = JobLedger(silo.path)
        job_id = ledger.add(kind, asked.title, asked.arguments, "ada").job_id
        ledger.claim(job_id, 3)
        url = f"/jobs/{job_id}"
        assert "Change and start again" not in client.get(url).text
        ledger.end(job_id, Ending(False, sentence="the table was changed by others"))
        links = re.findall(r'href="([^"]*)">Change and start again<', client.get(url).text)
        return html.unescape(links[0]) if links else ""

    table = {"form": "jsonl", "name": "t", "columns": "record dc:title"}
    select = json.dumps({"query": "Record", "deleted": False, "set": [SET]})
    page = client.get(again(table | {"select": select})).text
    assert "<strong>55 records found</strong>" in page
    for shown in ('value="t"', 'value="record dc:title"', '<option value="jsonl" selected>'):
        assert shown in page
    source = "http://127.0.0.1:1/nope"
    page = client.get(again({"kind": "harvest", "url": source, "prefixes": "oai_dc mods"})).text
    assert f'value="{source}"' in page
    assert 'name="prefixes" value="mods"' in page
    listed = json.dumps({"identifiers": ["oai:example.org:1"]})
    assert again(table | {"select": listed}) == ""
    assert again({"kind": "audit"}) == ""


def test_an_export_whose_conditions_changed_since_they_were_counted_is_shown_first(
    client: Any, silo: Silo
) -> None:
    page = client.get("/jobs/new/export-csv?q=Record&deleted=false", accept=HTML).text
    counted = re.search('name="counted" value="([^"]*)"', page)
    assert counted is not None
    fields = {
        "kind": "export", "form": "jsonl", "name": "mine", "when": "daily", "at": "04:30",
        "search": "deleted=false", "q": "keeping", "set": "", "state": "",
        "counted": html.unescape(counted[1]),
    }  # fmt: skip
    answer = client.post("/jobs", fields, accept=HTML)
    assert answer.status == 409
    assert "<strong>1 record found</strong>" in answer.text
    assert "The conditions have changed since the number was shown: 1 record found." in answer.text
    assert 'name="name" value="mine"' in answer.text
    assert '<option value="jsonl" selected>' in answer.text
    assert '<option value="daily" selected>' in answer.text
    assert JobLedger(silo.path).jobs() == []
    again = re.search('name="counted" value="([^"]*)"', answer.text)
    assert again is not None
    fields["counted"] = html.unescape(again[1])
    assert client.post("/jobs", fields, accept=HTML).status == 303


def test_a_mistake_in_a_form_is_told_in_the_form(client: Any, silo: Silo) -> None:
    sent = {
        "kind": "harvest",
        "url": "ftp://source.example/",
        "prefixes": "mets",
        "from": "2016-01-01",
    }
    answer = client.post("/jobs", sent, accept=HTML)
    assert answer.status == 400
    assert 'role="alert"' in answer.text
    assert 'value="ftp://source.example/"' in answer.text
    assert 'value="mets"' in answer.text
    dated = sent | {"url": "http://source.example/", "from": "2026-13-45"}
    text = client.post("/jobs", dated, accept=HTML).text
    assert '<a href="#from">“2026-13-45” is not a date; write YYYY-MM-DD.</a>' in text
    assert text.count("aria-invalid") == 1
    turned = dated | {"from": "2016-01-01T10:00:00Z", "until": "2015-12-31"}
    text = client.post("/jobs", turned, accept=HTML).text
    assert "2015-12-31 is before 2016-01-01T10:00:00Z; exchange them.</a>" in text
    export = {"kind": "export", "form": "csv", "name": "../up", "search": "", "q": "keeping"}
    answer = client.post("/jobs", export, accept=HTML)
    assert (answer.status, 'value="../up"' in answer.text) == (400, True)
    assert "<strong>1 record found</strong>" in answer.text


def test_the_proposed_name_of_an_export_says_what_is_in_it(client: Any) -> None:
    for url, name in (
        (f"export-csv?set={SET}&q=Keeping+%C3%A1", "example-keeping-a-status-published-read"),
        ("export-files", "example-files"),
    ):
        page = client.get(f"/jobs/new/{url}", accept=HTML).text
        assert re.findall('name="name" value="([^"]*)"', page) == [name]


def test_values_of_which_any_will_do_are_kept(client: Any, silo: Silo) -> None:
    page = client.get(f"/jobs/new/export-csv?set={SET}&set=other&q=keeping", accept=HTML).text
    assert 'id="only-set"' not in page
    fields = {"kind": "export", "form": "csv", "name": "t", "search": f"set={SET}&set=other"}
    job = client.post("/jobs", fields | {"q": "keeping"}).json
    assert job["arguments"]["select"] == {"query": "keeping", "set": [SET, "other"]}


def test_ticked_records_can_be_narrowed_down(client: Any, silo: Silo) -> None:
    names = [one for one in silo if one.startswith("oai:example.org:1")][:4]
    ticked = {f"row-{n}": one for n, one in enumerate(names)}
    ticked |= {f"tick-{n}": "yes" for n in range(len(names))}
    kept = client.post("/selection", {"do": "keep"} | ticked, accept="application/json")
    search = kept.json["search"]
    told = client.json(f"/jobs/new/export-csv.json?{search}")
    assert told["records"] == 4
    one = client.json(f"/jobs/new/export-csv.json?search={quote(search)}&q=keeping")
    assert (one["records"], one["said"]) == (1, "1 selected record")


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


def test_a_timetable_that_is_no_choice_is_kept_when_another_thing_is_saved(
    client: Any, silo: Silo
) -> None:
    wish = Timetable((time(4, 0),), days=(1, 15), months=(6,))
    over = Timetable(every=timedelta(days=1), end=datetime(2020, 1, 1, tzinfo=UTC))
    add_schedule(silo.path, Schedule("accounts", "audit", wish, {"share": "5"}))
    add_schedule(silo.path, Schedule("past", "audit", replace(over, is_paused=True)))
    change_schedule(silo.path, "past", timetable=over)
    page = client.get("/schedules").text
    words = "On day 1, 15 of the month, in June, at 04:00 UTC"
    assert f'<option value="same" selected>{words}</option>' in page
    assert page.count("It has no further run.") == 1
    client.post("/schedules/accounts/change", {"when": "same", "at": "05:00"})
    assert load_schedule(silo.path, "accounts").timetable == wish
    client.post("/schedules/accounts/change", {"when": "monthly", "at": "05:00"})
    assert load_schedule(silo.path, "accounts").timetable == Timetable((time(5, 0),), days=(1,))


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
@pytest.mark.parametrize(
    ("address", "given"),
    [
        ("/jobs", {"kind": "audit", "share": "5"}),
        ("/upstream", {}),
    ],
)
def test_where_nothing_can_be_written_no_job_is_begun(
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    status: int,
    code: str,
    address: str,
    given: dict[str, str],
) -> None:
    def refuse(_silo: str, directory: str) -> None:
        raise OSError(number, os.strerror(number), directory)

    monkeypatch.setattr("silowork.ledger.make_in_silo", refuse)
    answer = client.post(address, given, headers={"Accept": "application/json"})
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
