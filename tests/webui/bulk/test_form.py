"""The form of a batch edit: what it offers, previews, applies and refuses."""

import html
import json
import re
from typing import Any

import pytest

from recordsilo import Silo
from webui.bulk import previews

from .conftest import HTML, NOTHING, PLAIN, RULE, content, finished, looked_at

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


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"do": "map", "table": "Article Journal"}, "The line 'Article Journal' has no =>"),
        ({"do": "map", "table": "a => b\na => c"}, "'a' has two new values"),
        ({"do": "map", "table": "\n"}, "“Old and new values” cannot be empty"),
        ({"do": "set", "values": " \n"}, "“Values” cannot be empty"),
        ({"do": "replace", "value": ""}, "“Value” cannot be empty"),
        ({"do": "split", "separator": " "}, "“Separator” cannot be empty"),
        ({"do": "remove", "pattern": "("}, "'(' is not a valid pattern"),
        ({"do": "add", "lang": "x y", "value": "a"}, "'x y' is not a language tag"),
        ({"do": "move", "to": "titel"}, "has no field 'titel'; did you mean 'title'"),
    ],
)
def test_a_slip_is_told_in_the_forms_words_beside_its_input(
    client: Any, silo: Silo, change: dict[str, str], told: str
) -> None:
    fields = {"search": "q=Record", "changes": "1", "do": "preview", "change-0-field": "type"}
    fields |= {f"change-0-{name}": text for name, text in change.items()}
    page = client.post("/bulk", fields, accept=HTML)
    assert page.status == 400
    text = html.unescape(page.text)
    at = f"change-0-{[*change][1]}"
    assert f'<a href="#{at}">Change 1: ' in text
    beside = text.split(f'<small class="fault" id="{at}-fault" dir="auto">')[1].split("</small>")[0]
    assert told in beside
    assert re.search(rf'id="{at}" name="{at}"[^>]* aria-describedby="[^"]*{at}-fault"', text)
    assert text.count('aria-invalid="true" autofocus') == 1
    assert client.post("/bulk", fields).error["code"] == "bad_rule"
    assert silo.count(curated=True) == 0


def test_a_rule_without_a_name_is_told_beside_the_name(client: Any) -> None:
    for name, told in (("", "“Name of the rule” cannot be empty."), ("?", "'?' is not a valid")):
        page = client.post("/bulk", RULE | {"do": "keep", "name": name}, accept=HTML)
        assert page.status == 400
        assert f'<small class="fault" id="name-fault" dir="auto">{told}' in html.unescape(page.text)
        assert '<a href="#name">' in page.text


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


@pytest.mark.parametrize("do", ["preview", "look", "apply"])
def test_a_batch_edit_of_no_record_is_refused_in_its_form(client: Any, do: str) -> None:
    none = RULE | {"search": "q=nothingbeginsso", "do": do}
    page = client.post("/bulk", none, accept=HTML)
    assert page.status == 400
    assert f'role="alert" dir="auto">No record {NOTHING} change.' in page.text
    assert client.json("/bulk/jobs.json")["jobs"] == []
    assert client.json("/jobs.json")["jobs"] == []


def test_an_export_of_no_record_is_refused(client: Any) -> None:
    select = json.dumps({"query": "nothingbeginsso"})
    fields = {"kind": "export", "form": "files", "name": "out", "select": select}
    answer = client.post("/jobs", fields)
    assert f"No record {NOTHING} export." in answer.error["message"]
    assert client.json("/jobs.json")["jobs"] == []


def test_what_an_unfinished_form_would_do_is_nothing_and_no_error(client: Any) -> None:
    answer = client.post("/bulk", RULE | {"do": "sample"})
    assert (answer.status, "fault" in answer.json) == (200, False)
    answer = client.post("/bulk", RULE | {"do": "sample", "change-0-pattern": ""})
    assert (answer.status, answer.json["shown"], bool(answer.json["fault"])) == (200, [], True)
