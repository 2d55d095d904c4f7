"""Batch edits on the page: rules, spreadsheets, attached files, undo."""

import html
import json
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from recordsilo import Silo
from recordsilo.selection import Selection
from silocuration.batch.job import create_job, held, job_report
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet, load_rules
from silocuration.editing.rules import Add
from silocuration.errors import JobBusy
from silowork.ledger import JobLedger
from webui.bulk import jobs as previewed
from webui.bulk import previews
from webui.pages import bulk_report

PLAIN = "oai:example.org:1"
HTML = "text/html"
RULE = {
    "search": "q=Record",
    "changes": "1",
    "change-0-do": "replace pattern",
    "change-0-field": "title",
    "change-0-pattern": "^Record",
    "change-0-by": "Item",
}


def content(silo: Silo, identifier: str, version: str | None = None) -> str:
    with silo[identifier].get_stream("oai_dc", version) as file:
        return str(file.read().decode())


def finished(silo: Silo, job_id: str, *, undone: bool = False) -> Any:
    """The report of a job, once it has come to its end and nobody is at it any more."""
    deadline = time.monotonic() + 90
    while True:
        report = job_report(silo, job_id)
        is_over = report.is_finished and not JobLedger(silo.path).active()
        if is_over and (not undone or not report.counts.get("done")):
            with suppress(JobBusy), held(silo, job_id):
                return report
        assert time.monotonic() < deadline, report.counts
        time.sleep(0.02)


def test_preview_counts_and_writes_nothing(client: Any, silo: Silo) -> None:
    answer = client.post("/bulk", RULE | {"do": "preview"})
    assert answer.status == 200
    found = answer.json["preview"]
    assert (found["records"], found["changed"], found["values"], found["copies"]) == (
        55,
        55,
        55,
        55,
    )
    sample = found["samples"][0]
    assert sample["before"][0][1].startswith("Record 1")
    assert sample["after"][0][1].startswith("Item 1")
    assert silo.count(curated=True) == 0


def test_a_preview_counts_deleted_records_apart(client: Any, silo: Silo) -> None:
    rule = {"changes": "1", "change-0-do": "add", "change-0-field": "type", "change-0-value": "x"}
    asked = rule | {"identifiers": f"{PLAIN}\noai:example.org:2", "do": "preview"}
    found = client.post("/bulk", asked).json["preview"]
    assert (found["records"], found["changed"], found["deleted"]) == (2, 1, 1)
    assert found["skipped"] == {}
    url = looked_at(client, client.post("/bulk", asked | {"do": "look"}))
    assert client.json(url)["preview"]["deleted"] == 1
    assert "<strong>1</strong> deleted records left out" in client.get(url).text


def test_a_preview_of_very_many_looks_at_some_and_says_so(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "LOOKED_AT", 10)
    found = client.post("/bulk", RULE | {"do": "preview"}).json["preview"]
    assert (found["complete"], found["records"]) == (False, 10)


THESIS = (
    b'<uketd_dc:uketddc xmlns:uketd_dc="http://naca.central.cranfield.ac.uk/ethos-oai/2.0/"'
    b' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A thesis</dc:title></uketd_dc:uketddc>'
)


def field_options(page: str, name: str) -> list[tuple[str, str]]:
    select = re.search(rf'<select id="{name}".*?</select>', page, re.DOTALL)
    assert select is not None, name
    return re.findall(r'<option value="([^"]*)"( selected)?', select[0])


def chosen_field(page: str, name: str) -> str:
    return next(value for value, selected in field_options(page, name) if selected)


def test_a_field_is_chosen_from_those_of_the_records(client: Any, silo: Silo) -> None:
    record = silo.get_item("oai:example.org:900")
    record.put_stream("uketd_dc", THESIS, "1", metadata=True)
    record.sync()
    fields = {"search": "", "changes": "1", "change-0-do": "move", "change-0-field": "subject"}
    for identifiers, is_thesis in (("oai:example.org:101", False), (record.item_id, True)):
        asked = fields | {"identifiers": identifiers, "do": "add", "add": "trim"}
        page = client.post("/bulk", asked, accept=HTML).text
        for name in ("add-field", "change-0-field", "change-0-to", "change-1-field"):
            offered = [value for value, _selected in field_options(page, name)]
            assert offered[0] == "title"
            assert ("uketdterms:sponsor" in offered) == is_thesis, (identifiers, name)
        assert chosen_field(page, "change-0-field") == "subject"
        assert chosen_field(page, "change-1-field") == "subject"


def test_a_rule_is_built_button_by_button(client: Any) -> None:
    page = client.get("/bulk?q=Record")
    assert "55 records found" in page.text
    fields = {"search": "q=Record", "changes": "0"}
    added = client.post(
        "/bulk", fields | {"do": "add", "add": "map", "add-field": "type"}, accept=HTML
    )
    assert 'name="change-0-table"' in added.text
    assert chosen_field(added.text, "change-0-field") == "type"
    one = fields | {
        "changes": "1",
        "change-0-do": "map",
        "change-0-field": "type",
        "change-0-table": "a\tb",
    }
    less = client.post("/bulk", one | {"do": "remove-0"}, accept=HTML)
    assert 'name="changes" value="0"' in less.text


def test_applying_changes_what_was_previewed_and_undoing_restores_it(
    client: Any, silo: Silo
) -> None:
    before = content(silo, "oai:example.org:100")
    answer = client.post("/bulk", RULE | {"do": "apply", "message": "Items they are"})
    assert answer.status == 202
    report = finished(silo, answer.json["job"])
    assert report.counts == {"done": 55}
    assert "Item 100" in content(silo, "oai:example.org:100")
    assert content(silo, "oai:example.org:100", "1") == before
    assert silo["oai:example.org:100"].origin("workingcopy").agent == report.about["agent"]
    page = client.get(answer.json["url"])
    assert "Items they are" in page.text
    assert "title: /^Record/ → " in page.text
    assert "pattern = &#34;^Record&#34;" in page.text
    assert "Undo" in page.text
    assert answer.json["job"] in client.get("/bulk/jobs").text
    silo["oai:example.org:101"].put_stream("note.txt", b"x", "workingcopy")
    assert client.post(answer.json["url"] + "/undo", {}).status == 202
    report = finished(silo, answer.json["job"], undone=True)
    assert report.counts == {"undone": 54, "kept": 1}
    assert "oai:example.org:101" in client.get(answer.json["url"]).text
    assert silo["oai:example.org:100"].versions == ["1"]


def test_only_pasted_identifiers_are_changed(client: Any, silo: Silo) -> None:
    fields = RULE | {"search": "", "identifiers": "oai:example.org:100\r\noai:example.org:102 \r\n"}
    answer = client.post("/bulk", fields | {"do": "apply"})
    finished(silo, answer.json["job"])
    assert silo.count(curated=True) == 2


def test_what_a_rule_cannot_mean_is_a_sentence_and_the_form_is_kept(client: Any) -> None:
    fields = RULE | {"change-0-pattern": "(", "change-0-by": "Kept as typed"}
    page = client.post("/bulk", fields | {"do": "preview"}, accept=HTML)
    assert page.status == 400
    assert "is not a valid pattern" in page.text
    assert "Kept as typed" in page.text
    error = client.post("/bulk", fields | {"do": "apply"}).error
    assert error["code"] == "bad_rule"


def test_a_pattern_of_gigabytes_is_a_sentence(client: Any) -> None:
    fields = RULE | {"change-0-pattern": "(?:(?:(?:(?:x{100}){100}){100}){100}){100}"}
    error = client.post("/bulk", fields | {"do": "preview"}).error
    assert error["code"] == "bad_rule"
    assert "use smaller counts" in error["message"]


def test_a_field_that_no_format_has_is_refused_with_the_nearest(client: Any, silo: Silo) -> None:
    fields = {
        "search": "q=Record", "changes": "1", "change-0-do": "set", "change-0-field": "rigths",
        "change-0-values": "open",
    }  # fmt: skip
    for action in ("preview", "apply", "keep"):
        error = client.post("/bulk", fields | {"do": action, "name": "rights"}).error
        assert error["code"] == "bad_rule", action
        assert "did you mean 'rights'?" in error["message"]
    assert silo.count(curated=True) == 0


def test_broken_rules_are_named_beside_the_sound_ones(client: Any, silo: Silo) -> None:
    directory = Path(silo.path, "curation", "rules")
    directory.mkdir(parents=True)
    broken = {
        "list": "[[change]]\ndo = []", "deep": "title = " + "[" * 3000,
        "language": '[[change]]\ndo = "language"\nfield = "title"\nlang = "\\u0000"',
        "caf\udce9": "title = 1", "-": "",
    }  # fmt: skip
    for name, text in broken.items():
        (directory / f"{name}.toml").write_text(text)
    (directory / "directory.toml").mkdir()
    client.post("/bulk", RULE | {"do": "keep", "name": "items"})
    lines = {line["name"]: line for line in client.json("/rules")["rules"]}
    assert len(lines) == len(broken) + 2
    assert lines.pop("items")["changes"] == 1
    assert all(line["fault"] for line in lines.values())
    page = client.get("/rules")
    assert page.status == 200
    assert 'href="/rules/items"' in page.text
    assert "nested too deeply" in page.text
    assert "directory.toml" in page.text
    assert silo.path not in page.text
    assert client.get("/rules/list", accept="application/json").error["code"] == "bad_rule"


def test_a_catastrophic_pattern_times_out(client: Any, silo: Silo) -> None:
    record = silo[PLAIN]
    record.clone_version("1", "workingcopy")
    text = content(silo, PLAIN).replace("On the keeping of records", "a" * 40 + "!")
    record.put_stream("oai_dc", text.encode(), "workingcopy")
    fields = RULE | {"search": "", "identifiers": PLAIN, "change-0-pattern": "(a|aa)+$"}
    error = client.post("/bulk", fields | {"do": "preview"}).error
    assert "takes too long" in error["message"]
    page = client.post("/bulk", fields | {"do": "preview"}, accept=HTML)
    assert (page.status, client.json("/bulk/jobs")["jobs"]) == (400, [])


@pytest.mark.parametrize(
    "fields",
    [{"changes": "1", "change-0-do": "burn"}, {"changes": "x"}, {"changes": "0", "do": "fly"},
     {"search": "nothing=1"}],
)  # fmt: skip
def test_a_form_of_somebody_elses_making_is_a_sentence(client: Any, fields: dict[str, str]) -> None:
    answer = client.post("/bulk", fields)
    assert (answer.status, answer.error["code"]) == (400, "bad_request")


def test_an_unknown_button_is_refused_with_the_known_ones(client: Any) -> None:
    client.post("/bulk", RULE | {"do": "keep", "name": "items"})
    for url, known in (("/rules/items", "test, look, apply"), ("/bulk", "preview, look, apply")):
        answer = client.post(url, RULE | {"do": "aply"})
        assert (answer.status, answer.error["code"]) == (400, "bad_request")
        assert known in answer.error["message"]


def test_a_rule_is_kept_looked_at_tested_applied_and_deleted(client: Any, silo: Silo) -> None:
    kept = client.post(
        "/bulk", RULE | {"do": "keep", "name": "items", "keep": "yes", "title": "Items"}
    )
    assert kept.status == 201
    rule_set = load_rules(silo.path, "items")
    assert rule_set.keep
    assert rule_set.select.query == "Record"
    assert "items" in client.get("/rules").text
    page = client.get("/rules/items").text
    assert "^Record" in page
    assert 'Changes: <span dir="auto">title: ' in page
    assert "search Record</span>" in page
    assert 'value="^Record"' in client.get("/bulk?rule=items").text
    assert client.post("/rules/items", {"do": "test"}).json["preview"]["changed"] == 55
    answer = client.post("/rules/items", {"do": "apply"})
    assert finished(silo, answer.json["job"]).about["rule"] == "items"
    assert client.post("/rules/items/delete", {}, accept=HTML).status == 303
    assert client.json("/rules")["rules"] == []


@pytest.mark.parametrize("name", ["../../x", "..%2F..%2Fx", "a.toml", "%2Fetc%2Fpasswd"])
def test_no_name_of_a_rule_leads_out_of_the_silo(client: Any, name: str) -> None:
    assert client.get(f"/bulk?rule={name}", accept="application/json").status == 400
    assert client.get(f"/rules/{name}", accept="application/json").status in {400, 404}
    fields = RULE | {"do": "keep", "name": name.replace("%2F", "/")}
    assert client.post("/bulk", fields).status == 400


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"do": "map", "table": "Article Journal"}, "the line 'Article Journal' has no =>"),
        ({"do": "map", "table": "a => b\na => c"}, "'a' has two new values"),
        ({"do": "set", "values": " \n"}, "'set' needs values"),
    ],
)
def test_a_slip_in_the_form_deletes_nothing(client: Any, change: dict[str, str], told: str) -> None:
    fields = {"search": "q=Record", "changes": "1", "do": "preview", "change-0-field": "type"}
    fields |= {f"change-0-{name}": text for name, text in change.items()}
    page = client.post("/bulk", fields, accept=HTML)
    assert page.status == 400
    assert f"Change 1: {told}" in html.unescape(page.text)


# -- spreadsheets -----------------------------------------------------------------------


def test_a_spreadsheet_is_exported_edited_previewed_and_applied(client: Any, silo: Silo) -> None:
    sheet = client.get("/bulk/sheet.csv?q=Record")
    assert sheet.headers["Content-Type"].startswith("text/csv")
    edited = sheet.body.replace(b"Record 100", b"Leaf 100")
    assert edited != sheet.body
    answer = client.upload("/bulk/sheet", [("part", "records.csv", edited)], accept=HTML)
    assert answer.status == 303
    url = answer.headers["Location"]
    page = client.get(url)
    assert "Leaf 100" in page.text
    assert '<h1 dir="auto">Spreadsheet</h1>' in page.text
    assert "<title>Spreadsheet" in page.text
    assert client.json(url)["preview"]["changed"] == 1
    assert silo.count(curated=True) == 0
    applied = client.post(url + "/resume", {"message": "By hand"})
    assert applied.status == 202
    assert finished(silo, applied.json["job"]).counts["done"] == 1
    assert "Leaf 100" in content(silo, "oai:example.org:100")


def test_changes_of_a_spreadsheet_are_grouped_and_what_is_unticked_is_not_made(
    client: Any, silo: Silo
) -> None:
    edited = client.get("/bulk/sheet.csv?q=Record").body
    for number in (100, 101, 102):
        edited = edited.replace(b"Record %d" % number, b"Leaf")
    edited = edited.replace(b"Record 103", b"Branch")
    answer = client.upload("/bulk/sheet", [("part", "records.csv", edited)])
    assert (answer.status, set(answer.json)) == (201, {"job", "url"})
    url = answer.json["url"]
    twin = client.json(url)
    assert {(one["old"], one["new"]) for one in twin["changes"]} == {
        ("Record 100", "Leaf"), ("Record 101", "Leaf"), ("Record 102", "Leaf"),
        ("Record 103", "Branch"),
    }  # fmt: skip
    number = [one["new"] for one in twin["changes"]].index("Branch")
    page = client.get(f"{url}/changes?number={number}").text
    assert "Record 103" in page
    answer = client.post(url + "/changes", {f"change-{number}": "yes", "do": "apply"})
    assert finished(silo, answer.json["job"]).counts["done"] == 3
    assert "Branch" not in content(silo, "oai:example.org:103")


def test_a_record_changed_since_the_export_is_a_conflict_and_stays(client: Any, silo: Silo) -> None:
    edited = client.get("/bulk/sheet.csv?q=Record").body.replace(b"Record 100", b"Leaf 100")
    record = silo["oai:example.org:100"]
    record.clone_version("1", "workingcopy")
    other = content(silo, "oai:example.org:100").replace("Record 100", "Branch 100")
    record.put_stream("oai_dc", other.encode(), "workingcopy")
    answer = client.upload("/bulk/sheet", [("part", "records.csv", edited)])
    skipped = client.json(answer.json["url"])["preview"]["skipped"]
    assert skipped == {"was changed since the spreadsheet was made": 1}


def test_a_spreadsheet_that_means_nothing_is_a_sentence(client: Any) -> None:
    answer = client.upload("/bulk/sheet", [("part", "x.csv", b"\xff\xfe")])
    assert "UTF-8" in answer.error["message"]
    assert client.upload("/bulk/sheet", [("part", "x.csv", b"a,b\n1,2\n")]).status == 400
    sheet = client.get("/bulk/sheet.csv?q=Record").body.replace(b"mark,title", b"mark,titel")
    answer = client.upload("/bulk/sheet", [("part", "x.csv", sheet)])
    assert answer.status == 400
    assert "No record has a field 'titel'; did you mean 'title'?" in answer.error["message"]


def test_a_row_of_no_record_is_said_to_be_one(client: Any) -> None:
    sheet = client.get("/bulk/sheet.csv?q=keeping").body.replace(PLAIN.encode(), b"oai:x:none")
    url = client.upload("/bulk/sheet", [("part", "records.csv", sheet)]).json["url"]
    assert client.json(url)["preview"]["skipped"] == {"is not in this Silo": 1}
    assert '<li class="id">oai:x:none</li>' in client.get(url).text


def test_a_preview_says_that_titles_would_be_lost(client: Any) -> None:
    rule = {
        "search": "q=Record",
        "changes": "1",
        "change-0-do": "remove",
        "change-0-field": "title",
    }
    preview = client.post("/bulk", rule | {"do": "preview"}).json["preview"]
    assert preview["remarks"] == ["55 of the records would lose their only title"]


# -- files ------------------------------------------------------------------------------


def test_a_licence_is_attached_to_each(client: Any, silo: Silo) -> None:
    parts = [("search", None, b"q=Record"), ("part", "licence.txt", b"CC BY 4.0")]
    answer = client.upload("/bulk/attach", parts)
    assert answer.status == 201
    url = answer.json["url"]
    twin = client.json(url)
    assert twin["preview"]["changed"] == 55
    assert twin["attachment"] == {"path": "licence.txt"}
    assert [(one["what"], one["old"], one["new"], one["count"]) for one in twin["changes"]] == [
        ("licence.txt", None, "9 bytes", 55)
    ]
    assert "Record 101" in client.get(url + "/changes?number=0").text
    unticked = {"row-0": "oai:example.org:101", "do": "apply"}
    applied = client.post(url + "/changes", unticked)
    counts = finished(silo, applied.json["job"]).counts
    assert counts == {"done": 54, "left out": 1}
    assert silo["oai:example.org:100"].paths("workingcopy") == ["oai_dc", "licence.txt"]
    assert silo["oai:example.org:101"].versions == ["1"]


def test_a_premis_record_is_made_of_each(client: Any, silo: Silo) -> None:
    parts = [("search", None, b"q=Record"), ("premis", None, b"yes")]
    answer = client.upload("/bulk/attach", parts)
    applied = client.post(answer.json["url"] + "/resume", {})
    finished(silo, applied.json["job"])
    with silo["oai:example.org:100"].get_stream("premis.xml", "workingcopy") as file:
        assert b"premis" in file.read()


def test_a_file_cannot_be_attached_outside_the_version(client: Any) -> None:
    parts = [("path", None, b"../../x"), ("part", "x.txt", b"x")]
    assert client.upload("/bulk/attach", parts).status == 400


# -- attacks ----------------------------------------------------------------------------

ATTACK = "\"'><script>alert(1)</script>${7*7}<%"


def test_what_is_typed_into_a_rule_is_never_markup(client: Any, silo: Silo) -> None:
    names = ("title", "identifiers", "file", "name", "message", "change-0-field", "change-0-by")
    fields = RULE | dict.fromkeys(names, ATTACK)
    for action in ("add", "remove-9", "preview"):
        page = client.post("/bulk", fields | {"do": action, "add": "map"}, accept=HTML)
        assert page.status in {200, 303, 400}
        page = client.get(page.headers["Location"]) if page.status == 303 else page
        assert "<script>alert" not in page.text
        assert "7*7" in page.text
    fields = RULE | {"title": ATTACK, "name": "attack", "do": "keep"}
    assert client.post("/bulk", fields).status == 201
    job = client.post("/bulk", RULE | {"title": ATTACK, "message": ATTACK, "do": "apply"}).json
    finished(silo, job["job"])
    for path in ("/rules", "/rules/attack", "/bulk?rule=attack", "/bulk/jobs", job["url"]):
        page = client.get(path)
        assert page.status == 200, path
        assert "<script>alert" not in page.text


def test_what_another_site_asks_for_is_refused(client: Any, silo: Silo) -> None:
    headers = {"Sec-Fetch-Site": "cross-site"}
    for path in ("/bulk", "/bulk/sheet", "/bulk/attach", "/upstream", "/quality/duplicates"):
        answer = client.post(path, RULE | {"do": "apply"}, headers=headers)
        assert (answer.status, answer.error["code"]) == (403, "cross_site"), path
    assert silo.count(curated=True) == 0


def test_the_list_of_changes_is_walked_page_by_page(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = rules_job(RuleSet("", Selection("nothing at all"), (Add("title", "More"),)))
    made = sorted((create_job(silo, spec, agent="ada") for _ in range(5)), reverse=True)
    monkeypatch.setattr(bulk_report, "PAGE", 2)
    found, url = [], "/bulk/jobs"
    while url:
        answer = client.json(url)
        found += [one["job"] for one in answer["jobs"]]
        url = answer["next"]
    assert found == made
    page = client.get("/bulk/jobs?before=" + made[1]).text
    assert '<a class="step" href="/bulk/jobs">First page</a>' in page
    assert f'rel="next" href="/bulk/jobs?before={made[3]}"' in page
    assert "The list has no more entries." in client.get("/bulk/jobs?before=0").text


# -- previews of very many ----------------------------------------------------------------


def looked_at(client: Any, answer: Any) -> str:
    """The address of a planned change, once all that it would do was counted."""
    assert answer.status == 202, answer.text
    for _ in range(3000):
        job = client.json(answer.headers["Location"])
        if job["state"] not in {"queued", "running"}:
            assert (job["kind"], job["state"]) == ("preview", "done"), job["sentence"]
            return str(answer.json["url"])
        time.sleep(0.02)
    raise AssertionError(job)


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


def test_previews_that_were_not_applied_are_listed_apart(client: Any) -> None:
    url = previewed_url(client, RULE)
    page = client.get("/bulk/jobs").text
    assert "No batch edit was applied." in page
    _edits, previewed = page.split("Previewed, not applied")
    assert url in previewed
    assert client.post(f"{url}/discard", {}, accept=HTML).status == 303
    assert "No batch edits yet" in client.get("/bulk/jobs").text
    jobs = client.post("/bulk", RULE | {"do": "apply"}).json["job"]
    previewed_url(client, RULE)
    edits, previewed = client.get("/bulk/jobs").text.split("Previewed, not applied")
    assert jobs in edits
    assert jobs not in previewed


def test_changes_are_named_by_the_labels_of_the_page(client: Any) -> None:
    url = previewed_url(client, RULE | {"identifiers": "oai:example.org:100"})
    assert '<th scope="row">Title</th>' in client.get(url).text
    changes = client.get(f"{url}/changes?number=0").text
    assert "<h1>Title: " in changes
    assert "<title>Title: " in changes


def test_a_damaged_journal_hides_no_other_batch_edit(client: Any, silo: Silo) -> None:
    first, second = (client.post("/bulk", RULE | {"do": "look"}).json["job"] for _ in range(2))
    Path(silo.path, "curation", "jobs", f"{first}.sqlite").write_bytes(b"damaged")
    listed = client.json("/bulk/jobs.json")
    assert [one["job"] for one in listed["jobs"]] == [second]
    assert f"{first}.sqlite cannot be used" in listed["problems"][0]
    page = client.get("/bulk/jobs").text
    assert f"{first}.sqlite cannot be used" in page
    assert f'href="/bulk/jobs/{second}"' in page


def test_a_damaged_ledger_of_jobs_hides_no_batch_edit(client: Any, silo: Silo) -> None:
    edit = previewed_url(client, RULE)
    Path(silo.path, "curation", "jobs", "ledger.sqlite").write_bytes(b"damaged")
    for page in ("/bulk/jobs", edit, "/"):
        assert client.get(page).status == 200


# -- no records ----------------------------------------------------------------------------


NOTHING = "is selected, so there is nothing to"


@pytest.mark.parametrize("do", ["preview", "look", "apply"])
def test_a_batch_edit_of_no_record_is_refused_in_its_form(client: Any, do: str) -> None:
    none = RULE | {"search": "q=nothingbeginsso", "do": do}
    page = client.post("/bulk", none, accept=HTML)
    assert page.status == 400
    assert f'role="alert" dir="auto">No record {NOTHING} change.' in page.text
    assert client.json("/bulk/jobs.json")["jobs"] == []
    assert client.json("/jobs.json")["jobs"] == []


def test_an_attachment_to_no_record_is_refused_in_its_form(client: Any) -> None:
    parts = [("search", None, b"q=nothingbeginsso"), ("part", "licence.txt", b"CC0")]
    page = client.upload("/bulk/attach", parts, accept=HTML)
    assert page.status == 400
    assert f'role="alert" dir="auto">No record {NOTHING} attach' in page.text
    assert 'value="q=nothingbeginsso"' in page.text


def test_an_export_of_no_record_is_refused(client: Any) -> None:
    select = json.dumps({"query": "nothingbeginsso"})
    fields = {"kind": "export", "form": "files", "name": "out", "select": select}
    answer = client.post("/jobs", fields)
    assert f"No record {NOTHING} export." in answer.error["message"]
    assert client.json("/jobs.json")["jobs"] == []


def test_a_refused_spreadsheet_is_told_in_its_form(client: Any) -> None:
    for content, told in (
        (b"\xff\xfe", "UTF-8"),
        (b"identifier,mark,title\n", "The spreadsheet has no record"),
        (b"a,b\n1,2\n", "first row must name the columns"),
    ):
        parts = [("search", None, b"q=Record"), ("part", "x.csv", content)]
        page = client.upload("/bulk/sheet", parts, accept=HTML)
        assert page.status == 400
        alert = page.text.split('role="alert"')[1].split("</p>")[0]
        assert told in alert
        assert "q=Record" in page.text
        assert "Edited file" in page.text
    assert client.upload("/bulk/sheet", [], accept=HTML).status == 400


# -- what is left out of a preview ---------------------------------------------------------


def previewed_url(client: Any, fields: dict[str, str]) -> str:
    answer = client.post("/bulk", fields | {"do": "preview"}, accept=HTML)
    assert answer.status == 303, answer.text
    return str(answer.headers["Location"])


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
    for _ in range(500):
        page = client.get(url).text
        if "Previewed, not applied" in page:
            break
        time.sleep(0.02)
    assert "Change 55 records" in page
