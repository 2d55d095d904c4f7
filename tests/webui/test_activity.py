"""The activity log as the page writes and shows it, and attacks on it."""

import csv
import html
import io
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import webui
from recordsilo import Silo
from recordsilo.selection import Selection
from silocuration.activity import Activity, ActivityFilter, activity, changes_of, log_activity
from silocuration.batch.job import create_job, run_job, undo_job
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import SetValues
from silowork.ledger import JobLedger
from webui.activity import action_labels, in_words
from webui.pages.activity import SHOWN

from .bulk.conftest import RULE
from .conftest import SET, SET_NAME

URL = "/records/oai+example,org+1"
COPY = URL + "/versions/workingcopy"
PLAIN = "oai:example.org:1"
ATTACK = "<script>alert(1)</script>"


def logged(silo: Silo) -> list[tuple[str, str, str | None, str | None]]:
    lines = [one for _, one in activity(silo.path, ActivityFilter())]
    return [(one.action, one.what, one.old, one.new) for one in reversed(lines)]


def test_every_change_of_the_page_is_logged_with_who_and_why(client: Any, silo: Silo) -> None:
    client.post(URL + "/versions", {"name": "workingcopy", "clone_of": "1", "message": ATTACK})
    client.ask("PUT", COPY + "/files/a.txt", b"12345")
    client.post(COPY + "/rename-file", {"path": "a.txt", "new_path": "b.txt"})
    client.post(COPY + "/delete-file", {"path": "b.txt"})
    client.post(COPY + "/rename", {"name": "mine"})
    client.post(URL + "/versions/mine/delete", {})
    client.post(URL + "/delete", {})
    found = logged(silo)
    assert [one[0] for one in found] == [
        "copy", "put", "rename file", "delete file", "rename version", "delete version",
        "delete record",
    ]  # fmt: skip
    assert found[2][1:] == ("file", "a.txt", "b.txt")
    assert str(found[1][3]).endswith("5 bytes")
    lines = client.json("/activity")["activity"]
    assert {line["agent"] for line in lines} == {"a.curator"}
    assert lines[-1]["message"] == ATTACK
    page = client.get("/activity?q=" + ATTACK).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert ATTACK not in page


def test_every_action_that_is_logged_has_words() -> None:
    noted = re.compile(r'note\((?:call, )?"([a-z -]+)"|action="([a-z -]+)",|_note\("([a-z ]+)"')
    top = Path(webui.__file__).parent.parent
    sources = [file for name in ("webui", "silocuration") for file in (top / name).rglob("*.py")]
    logged = {
        "".join(found) for path in sources for found in noted.findall(path.read_text("utf-8"))
    }
    assert {"keep rule", "rename version", "propose", "sign in"} <= logged
    assert logged - set(action_labels()) == set()


def test_a_refused_change_is_not_logged(client: Any, silo: Silo) -> None:
    assert client.ask("PUT", URL + "/versions/1/files/a.txt", b"x").status == 403
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert client.post(URL + "/delete", {}, headers=cross).status == 403
    assert logged(silo) == []


@pytest.mark.parametrize("name", ["since", "until"])
def test_a_bound_that_is_not_a_date_is_refused(client: Any, name: str) -> None:
    for date in ("2026", "2026-11", "2026-11-23", "2026-11-23T00:14", "2026-11-23T00:14:00.5", ""):
        for page in ("/activity", "/activity/log.csv", "/activity/log.jsonl"):
            assert client.get(f"{page}?{name}={date}").status == 200, date
    for wrong in ("abc", "23.11.2026", "2026-13", "2026-02-30", "26-11-23", "２０２６"):
        for page in ("/activity", "/activity/log.csv", "/activity/log.jsonl"):
            answer = client.get(f"{page}?{name}={quote(wrong)}")
            assert answer.status == 400, wrong
            assert "is not a date" in answer.text


def lines_of(silo: Silo) -> list[Activity]:
    return [one for _, one in activity(silo.path, ActivityFilter())][::-1]


def test_keeping_and_deleting_rules_is_logged_with_what_they_say(client: Any, silo: Silo) -> None:
    for by in ("report", "thesis"):
        form = RULE | {"do": "keep", "name": "types", "change-0-by": by}
        assert client.post("/bulk", form).status == 201
    assert client.post("/rules/types/delete", {}).status == 200
    kept, again, deleted = lines_of(silo)
    assert [one.action for one in (kept, again, deleted)] == [
        "keep rule", "keep rule", "delete rule",
    ]  # fmt: skip
    assert {one.what for one in (kept, again, deleted)} == {"types"}
    assert {one.agent for one in (kept, again, deleted)} == {"a.curator"}
    assert kept.old is None
    assert "report" in str(kept.new)
    assert again.old == kept.new
    assert "thesis" in str(again.new)
    assert (deleted.old, deleted.new) == (again.new, None)
    assert client.post("/rules/types/delete", {}).status == 404
    assert len(lines_of(silo)) == 3


def test_keeping_and_deleting_searches_is_logged_with_what_they_ask(
    client: Any, silo: Silo
) -> None:
    for title in ("Keys", "Keys 2"):
        assert client.post("/searches", {"title": title, "search": "q=Record"}).status == 201
    with open(os.path.join(silo.path, "curation", "searches", "keys-2.toml"), "w") as file:
        file.write("no TOML")
    for name in ("keys", "keys-2"):
        assert client.post(f"/searches/{name}/delete", {}).status == 200
    assert client.post("/searches/keys/delete", {}).status == 404
    asked = '{"query": "Record"}'
    assert logged(silo) == [
        ("keep search", "keys", None, asked),
        ("keep search", "keys-2", None, asked),
        ("delete search", "keys", asked, None),
        ("delete search", "keys-2", None, None),
    ]


def test_a_second_saved_search_of_one_name_replaces_the_first_only_if_asked(
    client: Any, silo: Silo
) -> None:
    asked = {"title": "Open keys", "search": "q=Record"}
    assert client.post("/searches", asked).status == 201
    again = {"title": "open  Keys", "search": "q=keeping"}
    answer = client.post("/searches", again)
    assert (answer.status, answer.error["code"]) == (409, "conflict")
    assert answer.error["message"] == "There is already a saved search “open  Keys”."
    page = client.ask("POST", "/searches", fields=again, accept="text/html")
    assert page.status == 409
    assert '<input type="hidden" name="search" value="q=keeping">' in page.text
    assert '<input type="hidden" name="replace" value="yes">' in page.text
    assert client.post("/searches", again | {"replace": "yes"}).json["name"] == "open-keys"
    (one,) = client.json("/searches.json")["searches"]
    assert one["select"] == {"query": "keeping"}
    assert logged(silo)[-1] == (
        "keep search", "open-keys", '{"query": "Record"}', '{"query": "keeping"}'
    )  # fmt: skip


def test_a_deleted_search_is_called_what_it_was_called(client: Any, silo: Silo) -> None:
    asked = {"title": "Old keys", "search": f"q=Record&set={SET}"}
    assert client.post("/searches", asked).status == 201
    assert client.post("/searches/old-keys/delete", {}).status == 200
    page = html.unescape(client.get("/activity").text)
    assert 'Saved search deleted <span dir="auto">Old keys</span>' in page
    assert "“Old keys”" not in page
    assert ">Old keys</a>" in page  # saved, and not there any more
    assert "deleted the saved search Old keys" in re.sub("<[^>]+>", "", client.get("/").text)


def test_an_old_line_of_a_deleted_search_says_its_words(client: Any, silo: Silo) -> None:
    line = Activity("2026-01-01T00:00:00Z", "cara", "delete search", what="old-keys")
    words = json.dumps({"query": "wind", "set": [SET]})
    log_activity(silo.path, [replace(line, old=words)])
    page = html.unescape(client.get("/activity").text)
    assert f'<span dir="auto">set {SET_NAME} and search wind</span>' in page
    log_activity(silo.path, [replace(line, what="unreadable", date="2026-01-02T00:00:00Z")])
    assert '<span dir="auto">unreadable</span>' in client.get("/activity").text


def test_searches_and_rules_are_shown_in_words_with_a_link(client: Any, silo: Silo) -> None:
    asked = {"title": "Keys", "search": f"q=Record&type!=Thesis&set={SET}"}
    assert client.post("/searches", asked).status == 201
    assert client.post("/bulk", RULE | {"do": "keep", "name": "items"}).status == 201
    page = html.unescape(client.get("/activity").text)
    assert '<a href="/searches/keys" dir="auto">Keys</a>' in page
    assert f"without type Thesis and set {SET_NAME} and search Record" in page
    rule = RULE | {"do": "keep", "name": "of-set", "search": f"set={SET}"}
    assert client.post("/bulk", rule).status == 201
    assert f"set {SET_NAME}</span>" in html.unescape(client.get("/rules/of-set").text)
    assert '<a href="/rules/items" dir="auto">items</a>' in page
    assert '<ins dir="auto">Title: /^Record/ → Item</ins>' in page
    assert "{" not in page
    assert "[[change]]" not in page


@pytest.mark.parametrize("text", ["", "[" * 5000, "[1]", '{"query": 7}', "x = 1", "change = [7]"])
def test_what_the_log_says_is_shown_as_it_is_if_it_cannot_be_read(text: str) -> None:
    for action in ("keep search", "delete rule", "edit"):
        line = Activity("2026-01-01T00:00:00Z", "cara", action, what="x", old=text)
        assert in_words(line) == (text, None)


def test_beginning_a_bulk_change_and_its_undoing_is_logged(client: Any, silo: Silo) -> None:
    job = client.post("/bulk", RULE | {"do": "apply", "title": "Items"}).json["job"]
    client.post(f"/bulk/jobs/{job}/undo", {})
    begun = [one for one in lines_of(silo) if not one.identifier]
    assert [(one.action, one.agent, one.message) for one in begun] == [
        ("change", "a.curator", "Batch edit: Items (Title: /^Record/ → Item)"),
        ("undo", "a.curator", "Undo: Items (Title: /^Record/ → Item)"),
    ]  # fmt: skip
    assert begun[0].job == job


def test_a_bulk_change_and_its_undoing_are_logged_value_by_value(
    client: Any, silo: Silo, working_copy: str
) -> None:
    rules = RuleSet("types", rules=(SetValues("publisher", ("Press",)),), select=Selection(
        identifiers=(PLAIN, "oai:example.org:100")))  # fmt: skip
    job = create_job(silo, rules_job(rules), agent="ada", message="one spelling")
    run_job(silo, job)
    undo_job(silo, job, agent="bob")
    assert logged(silo) == [
        ("bulk", "publisher", None, "Press"),
        ("bulk", "publisher", None, "Press"),
        ("undo", "publisher", "Press", None),
        ("undo", "version", "workingcopy", None),
    ]
    assert len(client.json("/activity?agent=bob")["activity"]) == 2
    assert len(client.json(f"/activity?q={job}&record={PLAIN}")["activity"]) == 2


def test_a_batch_edit_is_one_entry_with_its_changes_as_differences(client: Any, silo: Silo) -> None:
    rules = RuleSet("types", rules=(SetValues("title", ("Item",)),), select=Selection(
        identifiers=tuple(f"oai:example.org:{n}" for n in range(100, 130))))  # fmt: skip
    job = create_job(silo, rules_job(rules), agent="ada", message="one spelling")
    run_job(silo, job)
    undo_job(silo, job, agent="bob")
    found = client.json("/activity")
    assert [(one["action"], one["records"], one["agent"]) for one in found["entries"]] == [
        ("Batch edit undone", 30, "bob"),
        ("Batch edit", 30, "ada"),
    ]
    assert [one["said"] for one in found["entries"]] == ["types (Title: set to Item)"] * 2
    assert {one["url"] for one in found["entries"]} == {f"/bulk/jobs/{job}"}
    assert len(found["activity"]) == 60
    page = client.get("/activity").text
    assert page.count("<tr>") == 3
    assert page.count('<a class="id"') <= 2 * SHOWN
    assert re.search('<del dir="auto">.*Record.*</del> <ins dir="auto">.*Item.*</ins>', page)


def test_a_page_of_the_log_reads_some_lines_only(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webui.pages.activity.LOOKED_AT", 10)
    about = {"agent": "ada", "action": "bulk", "version": "w", "job": "20260101T000000Z-1"}
    lines = [changes_of([], identifier=f"x:{n}", **about) for n in range(15)]
    log_activity(silo.path, [one for each in lines for one in each])
    (whole,) = client.json("/activity")["entries"]
    assert (whole["records"], whole["is_cut"]) == (15, False)
    monkeypatch.setattr("webui.pages.activity.LOOKED_AT_OF_ONE", 0)
    first = client.json("/activity")
    assert [(one["records"], one["is_cut"]) for one in first["entries"]] == [(10, True)]
    assert "10 records or more" in client.get("/activity").text
    rest = client.json(first["next"])
    assert [(one["records"], one["is_cut"]) for one in rest["entries"]] == [(5, False)]
    assert rest["next"] is None


def test_a_batch_edit_and_its_undoing_are_an_entry_each_beyond_the_lines_of_a_page(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webui.pages.activity.LOOKED_AT", 10)
    about = {"agent": "ada", "version": "w", "job": "20260101T000000Z-1"}
    for action in ("bulk", "undo"):
        for n in range(15):
            log_activity(silo.path, changes_of([], identifier=f"x:{n}", action=action, **about))
    first = client.json("/activity")
    assert [(one["action"], one["records"]) for one in first["entries"]] == [
        ("Batch edit undone", 15)
    ]
    rest = client.json(first["next"])
    assert [(one["action"], one["records"]) for one in rest["entries"]] == [("Batch edit", 15)]
    assert rest["next"] is None


def test_the_title_of_a_job_is_said_in_the_language_of_the_page(client: Any, silo: Silo) -> None:
    change = JobLedger(silo.path).add("change", "Batch edit: types", {}, "ada").job_id
    log_activity(silo.path, [Activity("2026-01-01T00:00:00Z", "ada", "change", "", "", job=change)])
    german = {"Accept-Language": "de"}
    page = client.get("/activity", accept="text/html", headers=german).text
    assert ">Stapelbearbeitung: types</a>" in page


def test_an_undo_is_one_entry_also_when_others_worked_meanwhile(client: Any, silo: Silo) -> None:
    change = JobLedger(silo.path).add("change", "Batch edit: types", {}, "ada").job_id
    lines = [
        Activity(f"2026-01-01T00:00:{n:02}Z", who, action, f"x:{n}", "w", job=job)
        for n in range(40)
        for who, action, job in [("bob", "undo", change) if n % 2 else ("eve", "edit", "")]
    ]
    log_activity(silo.path, lines)
    found = client.json("/activity")
    undone = [one for one in found["entries"] if one["action"] == "Batch edit undone"]
    assert [(one["records"], one["agent"], one["is_title"]) for one in undone] == [
        (20, "bob", False)
    ]
    assert len(found["entries"]) == 21
    assert found["next"] is None


def test_entries_beyond_a_page_are_on_the_next(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webui.pages.activity.LIMIT", 2)
    lines = [Activity(f"2026-01-01T00:00:0{n}Z", "ada", "edit", f"x:{n}", "w") for n in range(5)]
    log_activity(silo.path, lines)
    found, url = [], "/activity.json"
    while url:
        page = client.get(url).json
        found.append([one["identifier"] for one in page["entries"]])
        url = page["next"]
    assert found == [["x:4", "x:3"], ["x:2", "x:1"], ["x:0"]]


def test_the_proposals_of_a_run_are_one_entry(client: Any, silo: Silo) -> None:
    lines = [
        Activity(f"2026-01-01T00:00:0{n}Z", "ada", "propose", f"x:{n}", "w", "version", None, "w")
        for n in range(5)
    ]
    log_activity(silo.path, lines)
    (one,) = client.json("/activity")["entries"]
    assert (one["action"], one["said"], one["records"]) == ("Merge proposed", "Source changes", 5)
    assert (one["identifier"], one["url"]) == ("", "/upstream")
    assert client.get("/activity").text.count("<tr>") == 2


def test_the_log_is_found_by_action(client: Any, silo: Silo) -> None:
    lines = [Activity("2026-01-01T00:00:00Z", "ada", action) for action in ("edit", "put", "odd")]
    log_activity(silo.path, lines)
    for action in ("put", "odd"):
        (one,) = client.json(f"/activity?action={action}")["activity"]
        assert one["action"] == action
        assert (
            f'<option value="{action}" selected>' in client.get(f"/activity?action={action}").text
        )


def test_the_log_is_walked_to_its_end_and_taken_away_whole(client: Any, silo: Silo) -> None:
    lines = [
        Activity(f"2026-01-01T00:00:{n % 60:02}Z", "ada", "edit", new=f"=cmd{n}")
        for n in range(230)
    ]
    log_activity(silo.path, lines)
    found, url = [], "/activity.json"
    while url:
        page = client.get(url).json
        found += page["activity"]
        url = page["next"]
    assert [one["new"] for one in found] == [f"=cmd{n}" for n in reversed(range(230))]
    rows = list(
        csv.DictReader(io.StringIO(client.get("/activity/log.csv").body.decode("utf-8-sig")))
    )
    assert [row["new"] for row in rows] == [f"'=cmd{n}" for n in reversed(range(230))]
    texts = client.get("/activity/log.jsonl").text.splitlines()
    assert [json.loads(one)["new"] for one in texts] == [one["new"] for one in found]


def test_a_search_of_a_long_log_stops_and_goes_on(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silocuration.activity._BLOCK", 500)
    monkeypatch.setattr("webui.pages.activity.EFFORT", 1000)
    lines = [
        Activity(f"2024-0{1 + n // 50}-01T10:00:{n % 50:02}Z", "ada", "edit", f"oai:x:{n}")
        for n in range(100)
    ]
    log_activity(silo.path, lines)
    address, pages, found = "/activity?record=oai%3Ax%3A3", 0, list[str]()
    while address:
        page = client.get(address).text
        said = client.get(address.replace("/activity", "/activity.json")).json
        found += [one["identifier"] for one in said["activity"]]
        assert ("Searched back to:" in page) == bool(said["next"])
        assert ("Search further back" in page) == bool(said["next"])
        if not said["activity"]:
            assert "No matching activity" in page
        link = re.search(r'<a href="([^"]+)" rel="next">', page)
        address, pages = html.unescape(link[1]) if link else "", pages + 1
    assert found == ["oai:x:3"]
    assert pages > 3


def test_a_place_that_is_none_is_refused(client: Any) -> None:
    for place in ("x", "../../etc:1", "2026-01:-5", "2026-01:" + "9" * 30, "2026-01"):
        assert client.get(f"/activity.json?before={place}").error["code"] == "bad_request"
    assert client.json("/activity?before=2026-01:999999999999999999")["activity"] == []


def test_a_silo_without_activity_says_so(client: Any) -> None:
    assert "No activity yet" in client.get("/activity").text
    assert "No matching activity" in client.get("/activity?agent=bob").text
