"""The form and the XML editor of a working copy: what is stored, and what is refused."""

import html
import re
from typing import Any

import pytest

from recordsilo import Silo
from recordsilo.records.manifest import Origin
from silocuration.editing.fields import write_fields

PLAIN = "oai:example.org:1"
URL = "/records/oai+example,org+1"
COPY = URL + "/versions/workingcopy"
EDIT = COPY + "/edit"
XML = COPY + "/edit-xml"
HTML = "text/html"


def content(silo: Silo, version: str = "workingcopy") -> str:
    with silo[PLAIN].get_stream("oai_dc", version) as file:
        return str(file.read().decode())


def form_of(page: str) -> dict[str, str]:
    """The fields that a browser would send of the page's form, its buttons left out."""
    body = page[page.index('class="edit"') :]
    found = {}
    for tag in re.findall(r"<input [^>]*>", body):
        attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        if attributes.get("type") != "checkbox":
            found[attributes["name"]] = html.unescape(attributes.get("value", ""))
    for name, text in re.findall(
        r'<textarea[^>]* name="([^"]+)"[^>]*>\n(.*?)</textarea>', body, re.DOTALL
    ):
        found[name] = html.unescape(text).replace("\n", "\r\n")
    return found


def number_of(form: dict[str, str], text: str) -> str:
    """The number of the value in a form."""
    return next(n.removeprefix("text-") for n, v in form.items() if v == text and "text-" in n)


def test_curate_makes_the_working_copy_and_opens_its_form(client: Any, silo: Silo) -> None:
    answer = client.post(URL + "/curate", {"if_match": str(silo[PLAIN].revision)}, accept=HTML)
    assert answer.status == 303
    assert answer.headers["Location"] == EDIT + "?done=cloned"
    page = client.get(answer.headers["Location"])
    assert page.status == 200
    assert 'value="On the keeping of records"' in page.text
    assert silo[PLAIN].currentversion == "workingcopy"


def test_a_saved_form_leads_back_to_the_search_that_the_record_came_from(
    client: Any, silo: Silo
) -> None:
    found = "?from=q%3Dkeeping"
    assert '<input type="hidden" name="from" value="q=keeping">' in client.get(URL + found).text
    opened = client.post(URL + "/curate", {"from": "q=keeping"}, accept=HTML).headers["Location"]
    page = client.get(opened).text
    assert f'href="{COPY}{found}"' in page
    saved = client.post(EDIT, form_of(page), accept=HTML).headers["Location"]
    assert "/search?q=keeping" in client.get(saved).text
    assert f'href="{EDIT}{found}"' in client.get(URL + found).text


def test_curate_opens_a_working_copy_that_is_there(
    client: Any, silo: Silo, working_copy: str
) -> None:
    revision = silo[working_copy].revision
    assert client.post(URL + "/curate", {}, accept=HTML).headers["Location"] == EDIT
    assert silo[working_copy].revision == revision


def test_a_form_saved_as_it_came_changes_nothing(
    client: Any, silo: Silo, working_copy: str
) -> None:
    before, revision = content(silo), silo[working_copy].revision
    assert client.post(EDIT, form_of(client.get(EDIT).text), accept=HTML).status == 303
    assert content(silo) == before
    assert silo[working_copy].revision == revision


def test_a_changed_value_is_stored_and_the_harvested_version_stays(
    client: Any, silo: Silo, working_copy: str
) -> None:
    form = form_of(client.get(EDIT).text)
    place = number_of(form, "Smith, J.")
    form |= {
        f"text-{place}": "Smith, Jane",
        f"lang-{place}": "en",
        "message": "Her name",
        "state": "ready",
    }
    answer = client.post(EDIT, form, accept=HTML)
    assert answer.status == 303
    assert "Changes saved" in client.get(answer.headers["Location"]).text
    assert '<dc:creator xml:lang="en">Smith, Jane</dc:creator>' in content(silo)
    assert "Smith, J.<" in content(silo, "1")
    record = silo[working_copy]
    assert record.state.version("workingcopy").state == "ready"
    assert record.version_log("workingcopy")[-1].startswith("Edited oai_dc [")
    assert "a.curator: Her name" in record.version_log("workingcopy")[-1]


def test_the_last_title_goes_only_when_that_is_said(
    client: Any, silo: Silo, working_copy: str
) -> None:
    revision = silo[working_copy].revision
    form = form_of(client.get(EDIT).text)
    form |= {f"text-{number_of(form, 'On the keeping of records')}": " "}
    refused = client.post(EDIT, form, accept=HTML)
    assert refused.status == 409
    assert "Save without a title" in refused.text
    assert form_of(refused.text)["base"] == form["base"]
    assert "anyway=yes" in client.post(EDIT, form).error["message"]
    assert silo[working_copy].revision == revision
    assert client.post(EDIT, form | {"anyway": "yes"}, accept=HTML).status == 303
    assert "dc:title" not in content(silo)


def test_a_language_that_is_no_tag_is_refused_and_stays_in_the_form(
    client: Any, silo: Silo, working_copy: str
) -> None:
    revision = silo[working_copy].revision
    form = form_of(client.get(EDIT).text)
    language = f"lang-{number_of(form, 'On the keeping of records')}"
    wrong = form | {language: "not a tag!"}
    refused = client.post(EDIT, wrong, accept=HTML)
    assert refused.status == 400
    assert "is not a language tag, so nothing was saved" in refused.text
    assert form_of(refused.text)[language] == "not a tag!"
    assert "'not a tag!' is not a language tag" in client.post(EDIT, wrong).error["message"]
    assert silo[working_copy].revision == revision
    assert client.post(EDIT, form | {language: "zh-Hant"}, accept=HTML).status == 303


def test_a_language_that_is_stored_does_not_keep_a_form_from_being_saved(
    client: Any, silo: Silo, working_copy: str
) -> None:
    stored = content(silo).replace("<dc:title", '<dc:title xml:lang="not a tag!"', 1)
    silo[working_copy].put_stream("oai_dc", stored)
    form = form_of(client.get(EDIT).text)
    form[f"text-{number_of(form, 'On the keeping of records')}"] = "On keeping"
    assert client.post(EDIT, form, accept=HTML).status == 303
    assert '"not a tag!">On keeping<' in content(silo)


def test_a_form_says_what_is_not_saved_and_its_buttons_stay_at_their_field(
    client: Any, working_copy: str
) -> None:
    assert working_copy
    page = client.get(EDIT).text
    assert 'data-unsaved="no"' in page
    moved = client.post(EDIT, form_of(page) | {"do": "down-1"}, accept=HTML).text
    assert 'data-unsaved="yes"' in moved
    buttons = re.findall(r'<button [^>]*value="(?:up|down|remove)-[^>]*>', moved)
    assert buttons
    for button in buttons:
        place = re.search(r'formaction="[^"]*#([^"]+)"', button)
        assert place is not None, button
        assert f'id="{place[1]}"' in moved


def test_a_button_leads_back_to_the_value_it_is_about(client: Any, working_copy: str) -> None:
    assert working_copy
    page = client.get(EDIT).text
    places = {
        button: re.search(rf'value="{button}" formaction="[^"]*#([^"]+)"', page)
        for button in ("up-2", "down-1", "remove-2", "remove-1", "remove-0")
    }
    assert {name: found and found[1] for name, found in places.items()} == {
        "up-2": "creator-1",
        "down-1": "creator-2",
        "remove-2": "creator-1",
        "remove-1": "creator-1",
        "remove-0": "add",
    }
    added = client.post(EDIT, form_of(page) | {"do": "add-creator"}, accept=HTML).text
    assert re.search('<input id="creator-3"[^>]* autofocus', added)
    filled = form_of(added)
    filled[f"text-{number_of(filled, '')}"] = "Third, T."
    filled = client.post(EDIT, filled | {"do": "add-creator"}, accept=HTML).text
    assert re.search(r'role="status"[^>]*>Unsaved: Creator\s*</p>', filled)
    assert "Unsaved: " not in page
    assert "Unsaved: " not in added  # it would be saved without the empty value
    assert 'data-unsaved="no"' in added
    twin = client.post(EDIT, form_of(page) | {"do": "remove-2"}).json
    assert twin["unsaved"] == ["creator"]


def test_the_form_is_headed_by_the_title_and_shows_what_is_to_be_corrected(
    client: Any, silo: Silo, working_copy: str
) -> None:
    text = content(silo).replace("2003", "In spring").replace("eng", "en-gb-oed-x")
    silo[working_copy].put_stream("oai_dc", text.encode(), "workingcopy")
    page = client.get(EDIT).text
    assert '<h1 dir="auto">Edit “On the keeping of records”</h1>' in page
    assert '<h1 dir="auto">Edit “On the keeping of records” as XML</h1>' in client.get(XML).text
    assert re.search(r'id="date-1-found"><span class="badge finding">Invalid date<', page)
    assert re.search('<input id="date-1"[^>]* aria-describedby="date-1-found"', page)
    assert re.search(r'No type</span>\s*<button form="description"[^>]*value="add-type"', page)
    form = form_of(page)
    form[f"text-{number_of(form, 'In spring')}"] = "2003"
    corrected = client.post(EDIT, form | {"do": "add-type"}, accept=HTML).text
    assert "Invalid date" not in corrected
    codes = {one["code"] for one in client.json(EDIT)["findings"]}
    assert {"Q202", "Q501"} <= codes


def test_curating_from_a_finding_opens_the_form_at_its_value(client: Any, silo: Silo) -> None:
    lines = client.json("/quality")["findings"]
    url = next(one["url"] for one in lines if one["code"] == "Q501")
    assert client.json(url)["total"]
    page = client.get(URL).text
    assert '<button form="curate-form" class="plain" name="at" value="Q501">' in page
    answer = client.post(URL + "/curate", {"at": "Q501"}, accept=HTML)
    assert answer.headers["Location"] == EDIT + "?done=cloned&at=Q501"
    form = client.get(answer.headers["Location"]).text
    assert re.search('<input id="type-1"[^>]* autofocus', form)
    assert f'href="{EDIT}?at=Q501"' in client.get(URL).text
    text = content(silo).replace("2003", "In spring")
    silo[PLAIN].put_stream("oai_dc", text.encode(), "workingcopy")
    assert re.search('<input id="date-1"[^>]* autofocus', client.get(EDIT + "?at=Q202").text)
    assert client.get(EDIT + "?at=Q999").status == 200


def test_a_change_between_reading_and_writing_is_merged_in_the_form(
    client: Any, silo: Silo, working_copy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = form_of(client.get(EDIT).text)
    form[f"text-{number_of(form, 'Smith, J.')}"] = "Smith, Jane"
    late = [content(silo).replace("2003", "2004").encode()]

    def overtaken(*args: Any) -> bytes:
        written = write_fields(*args)
        if late:
            silo[working_copy].put_stream("oai_dc", late.pop(), "workingcopy")
        return written

    monkeypatch.setattr("webui.editing.description_form.write_fields", overtaken)
    page = client.post(EDIT, form, accept=HTML)
    assert page.status == 412
    assert "This record was changed in the meantime" in page.text
    assert {"2004", "Smith, Jane"} <= set(form_of(page.text).values())


def test_the_form_says_that_the_source_has_changed(
    client: Any, silo: Silo, working_copy: str
) -> None:
    assert "Compare and decide" not in client.get(EDIT).text
    with silo.batch([working_copy]) as batch:
        edit = batch.edit(working_copy)
        origin = Origin("harvest", prefixes={"oai_dc": "2005-01-01"}, date="2005-01-01T00:00:00")
        edit.add_version("2", date="2005-01-01T00:00:00", origin=origin, move_cursor=False)
        newer = content(silo, "1").encode()
        edit.put("2", "oai_dc", newer, metadata=True, allow_frozen=True)
    assert 'href="/upstream/oai+example,org+1">Compare and decide' in client.get(EDIT).text


def test_the_buttons_add_remove_and_move_and_store_nothing(
    client: Any, silo: Silo, working_copy: str
) -> None:
    revision = silo[working_copy].revision
    form = form_of(client.get(EDIT).text)
    place = number_of(form, "Ortega, Núria")
    moved = form_of(client.post(EDIT, form | {"do": f"down-{place}"}, accept=HTML).text)
    assert number_of(moved, "Smith, J.") == place
    added = form_of(client.post(EDIT, moved | {"do": "add", "add": "subject"}, accept=HTML).text)
    new = max(int(n.removeprefix("name-")) for n, v in added.items() if v == "subject")
    added[f"text-{new}"] = "Archives & <records>"
    gone = f"remove-{number_of(added, '2003')}"
    last = form_of(client.post(EDIT, added | {"do": gone}, accept=HTML).text)
    assert silo[working_copy].revision == revision
    assert client.post(EDIT, last, accept=HTML).status == 303
    stored = content(silo)
    assert stored.index("Smith, J.") < stored.index("Ortega, Núria")
    assert "<dc:subject>Archives &amp; &lt;records&gt;</dc:subject>" in stored
    assert "2003" not in stored


@pytest.mark.parametrize("action", ["up-99999", "fly", "remove-x", "add-nothing", "theirs"])
def test_a_button_that_is_not_there_is_a_sentence(
    client: Any, working_copy: str, action: str
) -> None:
    assert working_copy
    form = form_of(client.get(EDIT).text)
    assert client.post(EDIT, form | {"do": action}).error["code"] == "bad_request"


def test_a_change_behind_ones_back_is_shown_beside_ones_own_and_not_overwritten(
    client: Any, silo: Silo, working_copy: str
) -> None:
    form = form_of(client.get(EDIT).text)
    record = silo[working_copy]
    theirs = content(silo).replace("2003", "2004").replace("On the keeping", "Upon the keeping")
    record.put_stream("oai_dc", theirs.encode(), "workingcopy")
    title, name = number_of(form, "On the keeping of records"), number_of(form, "Smith, J.")
    form |= {f"text-{title}": "Keeping records", f"text-{name}": "Smith, Jane"}
    answer = client.post(EDIT, form, accept=HTML)
    assert answer.status == 412
    assert content(silo) == theirs
    for text in ("On the keeping of records", "Upon the keeping of records", "Keeping records"):
        assert text in answer.text
    at = answer.text.index  # Enter presses the first button of the form, which must save
    assert at('<button form="description" class="unseen"') < at('value="theirs-title"')
    merged = form_of(answer.text)
    assert "Smith, Jane" in merged.values()
    assert "2004" in merged.values()
    assert merged[f"text-{number_of(merged, 'Keeping records')}"] == "Keeping records"
    taken = client.post(EDIT, merged | {"do": "theirs-title"}, accept=HTML)
    assert "Upon the keeping of records" in form_of(taken.text).values()
    assert client.post(EDIT, merged, accept=HTML).status == 303
    stored = content(silo)
    assert "Keeping records" in stored
    assert "Smith, Jane" in stored
    assert "2004" in stored


def test_a_program_gets_412_for_a_form_of_another_state(
    client: Any, silo: Silo, working_copy: str
) -> None:
    form = form_of(client.get(EDIT).text)
    silo[working_copy].put_stream("oai_dc", content(silo).replace("2003", "2004").encode())
    answer = client.post(EDIT, form)
    assert (answer.status, answer.error["code"]) == (412, "precondition_failed")


def test_a_record_that_only_got_another_file_meanwhile_is_saved(
    client: Any, silo: Silo, working_copy: str
) -> None:
    form = form_of(client.get(EDIT).text)
    silo[working_copy].put_stream("note.txt", b"x", "workingcopy")
    form[f"text-{number_of(form, '2003')}"] = "2005"
    assert client.post(EDIT, form, accept=HTML).status == 303
    assert "2005" in content(silo)


def test_a_state_there_is_not_is_a_sentence(client: Any, silo: Silo, working_copy: str) -> None:
    revision = silo[working_copy].revision
    form = form_of(client.get(EDIT).text) | {"state": "perfect"}
    assert client.post(EDIT, form).error["code"] == "bad_state"
    assert silo[working_copy].revision == revision


def test_characters_that_xml_cannot_hold_are_left_out(
    client: Any, silo: Silo, working_copy: str
) -> None:
    assert working_copy
    form = form_of(client.get(EDIT).text)
    place = number_of(form, "2003")
    form |= {f"text-{place}": "20\x0003\x0b!", f"lang-{place}": "e\x01n-US"}
    assert client.post(EDIT, form, accept=HTML).status == 303
    assert '<dc:date xml:lang="en-US">2003!</dc:date>' in content(silo)


def test_what_is_harvested_is_not_edited(client: Any) -> None:
    for path in ("/versions/1/edit", "/versions/1/edit-xml"):
        assert client.get(URL + path, accept="application/json").error["code"] == "read_only"
        assert client.post(URL + path, {"values": "0", "text": "<a/>"}).error["code"] == "read_only"


def test_the_form_tells_of_other_records_with_the_value(
    client: Any, silo: Silo, working_copy: str
) -> None:
    assert working_copy
    page = client.get(EDIT).text
    assert "No other record has this value" in page
    assert '<datalist id="values-creator">' in page
    assert '<option value="Ortega, Núria">' in page


def test_hostile_values_are_text_in_the_form(client: Any, silo: Silo) -> None:
    identifier = "oai:example.org:4<script>alert(4)</script>\"'"
    silo[identifier].clone_version("1", "workingcopy")
    listed = client.json("/records?limit=5&find=oai:example.org:4")["records"]
    url = next(one for one in listed if one["identifier"] == identifier)["url"]
    for action in ("edit", "edit-xml"):
        page = client.get(f"{url}/versions/workingcopy/{action}")
        assert page.status == 200
        assert "<script>alert" not in page.text
        assert "script&gt;alert(1)" in page.text.replace("&amp;", "&")


# -- XML ---------------------------------------------------------------------------------


def test_xml_is_stored_as_it_was_written(client: Any, silo: Silo, working_copy: str) -> None:
    form = form_of(client.get(XML).text)
    text = form["text"].replace("2003", "2003-05")
    assert client.post(XML, form | {"text": text, "do": "save"}, accept=HTML).status == 303
    assert content(silo) == content(silo, "1").replace("2003", "2003-05")
    assert silo[working_copy].origin("workingcopy").kind == "clone"


def test_xml_that_is_not_well_formed_is_refused_with_the_line(
    client: Any, silo: Silo, working_copy: str
) -> None:
    before = content(silo)
    form = form_of(client.get(XML).text)
    broken = "<a>\r\n<b>\r\n</a>\r\n"
    page = client.post(XML, form | {"text": broken}, accept=HTML)
    assert page.status == 409
    assert "Line 3" in page.text
    assert "&lt;/a&gt;" in page.text
    assert (
        client.post(XML, {"text": broken}).error["message"].startswith("Nothing was stored: line 3")
    )
    assert content(silo) == before
    assert working_copy


def test_xml_against_its_schema_is_stored_on_demand_only(
    client: Any, silo: Silo, working_copy: str
) -> None:
    assert working_copy
    form = form_of(client.get(XML).text)
    form["text"] = form["text"].replace("<dc:date>2003</dc:date>", "\r\n<dc:when>2003</dc:when>")
    page = client.post(XML, form, accept=HTML)
    assert page.status == 409
    assert "Line 3" in page.text
    assert "dc:when" not in content(silo)
    assert client.post(XML, form_of(page.text) | {"anyway": "yes"}, accept=HTML).status == 303
    assert "dc:when" in content(silo)


@pytest.mark.parametrize(
    "attack",
    [
        '<!DOCTYPE a [<!ENTITY b "lol"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        '<!DOCTYPE a SYSTEM "http://127.0.0.1:1/x.dtd"><a/>',
    ],
)
def test_entities_are_not_expanded_and_document_types_refused(
    client: Any, silo: Silo, working_copy: str, attack: str
) -> None:
    assert working_copy
    page = client.post(XML, {"text": attack}, accept=HTML)
    assert page.status == 409
    assert "document type" in page.text
    assert "root:" not in page.text
    assert "DOCTYPE" not in content(silo)


def test_xml_changed_behind_ones_back_is_not_overwritten(
    client: Any, silo: Silo, working_copy: str
) -> None:
    form = form_of(client.get(XML).text)
    theirs = content(silo).replace("2003", "2004")
    silo[working_copy].put_stream("oai_dc", theirs.encode(), "workingcopy")
    form["text"] = form["text"].replace("Smith, J.", "Smith, Jane")
    page = client.post(XML, form, accept=HTML)
    assert page.status == 412
    assert content(silo) == theirs
    assert "Smith, Jane" in page.text
    assert "2004" in page.text
    assert client.post(XML, form_of(page.text), accept=HTML).status == 303
    assert "Smith, Jane" in content(silo)


def test_a_file_that_is_no_text_or_too_large_is_a_sentence(
    client: Any, silo: Silo, working_copy: str
) -> None:
    silo[working_copy].put_stream("a.bin", b"\xff\xfe\x00", "workingcopy")
    silo[working_copy].put_stream("b.xml", b"<a>" + b"x" * (1 << 20) + b"</a>", "workingcopy")
    for path in ("a.bin", "b.xml"):
        answer = client.get(f"{XML}?path={path}", accept="application/json")
        assert answer.error["code"] == "conflict"
    assert client.get(f"{EDIT}?path=nothing", accept="application/json").status == 404
