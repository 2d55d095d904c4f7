"""Edited spreadsheets and attached files, previewed as batch edits."""

from typing import Any

from recordsilo import Silo

from .conftest import HTML, NOTHING, PLAIN, content, finished


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
    assert client.json(url)["preview"]["skipped"] == {"was not found in this Silo": 1}
    assert '<li class="id">oai:x:none</li>' in client.get(url).text


def test_a_refused_spreadsheet_is_told_in_its_form(client: Any) -> None:
    for sheet, told in (
        (b"\xff\xfe", "UTF-8"),
        (b"identifier,mark,title\n", "The spreadsheet has no record"),
        (b"a,b\n1,2\n", "first row must name the columns"),
    ):
        parts = [("search", None, b"q=Record"), ("part", "x.csv", sheet)]
        page = client.upload("/bulk/sheet", parts, accept=HTML)
        assert page.status == 400
        alert = page.text.split('role="alert"')[1].split("</p>")[0]
        assert told in alert
        assert "q=Record" in page.text
        assert "Edited file" in page.text
    assert client.upload("/bulk/sheet", [], accept=HTML).status == 400


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


def test_an_attachment_to_no_record_is_refused_in_its_form(client: Any) -> None:
    parts = [("search", None, b"q=nothingbeginsso"), ("part", "licence.txt", b"CC0")]
    page = client.upload("/bulk/attach", parts, accept=HTML)
    assert page.status == 400
    assert f'role="alert" dir="auto">No record {NOTHING} attach' in page.text
    assert 'value="q=nothingbeginsso"' in page.text
