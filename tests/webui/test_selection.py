"""The selection: stored ticks, actions on the selection, and zips sent while written."""

import csv
import io
import json
import os
import re
import sqlite3
import threading
import time
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import bagit
import pytest
from waiting import wait_until

from recordsilo import Silo
from silocuration.batch.journal import job_ids
from webui.http.streams import BrokeOff, Piped
from webui.search import selections

PLAIN = "oai:example.org:1"
JSON = "application/json"


def keep(
    client: Any, *ticked: str, had: tuple[str, ...] = (), do: str = "keep", **more: str
) -> Any:
    fields = {f"row-{n}": one for n, one in enumerate((*ticked, *had))}
    fields |= {f"tick-{n}": "yes" for n in range(len(ticked))}
    fields |= {f"had-{n}": "yes" for n in range(len(ticked), len(ticked) + len(had))}
    return client.post("/selection", fields | {"do": do} | more, accept=JSON)


def selected(client: Any) -> list[str]:
    return [one["identifier"] for one in client.json("/selection.json")["records"]]


def named(silo: Silo, *numbers: int) -> tuple[str, ...]:
    return tuple(f"oai:example.org:{n}" for n in numbers)


def test_ticks_are_kept_while_paging_and_removed_when_unticked(client: Any, silo: Silo) -> None:
    assert keep(client, *named(silo, 100, 101)).json["count"] == 2
    assert keep(client, *named(silo, 120)).json["said"] == "3 selected"
    assert keep(client, had=named(silo, 101)).json["count"] == 2
    assert selected(client) == [*named(silo, 100, 120)]
    page = client.get("/search?q=record&sort=identifier").text
    assert page.count(" checked></span>") == 2
    assert keep(client, do="clear").json["count"] == 0
    assert selected(client) == []


def test_all_of_a_list_are_those_that_have_a_record(client: Any) -> None:
    listed = "oai:example.org:100 nope oai:example.org:101 oai:example.org:102"
    client.post("/searches", {"identifiers": listed, "title": "pasted"})
    assert "Select all 3<" in client.get("/searches/pasted").text
    assert keep(client, do="all", search="saved=pasted").json["count"] == 3
    client.post("/searches", {"identifiers": "nope", "title": "none"})
    assert keep(client, do="all", search="saved=none").json["count"] == 3


def test_a_page_and_all_that_a_search_finds_are_selected(client: Any, silo: Silo) -> None:
    rows = {f"row-{n}": one for n, one in enumerate(named(silo, 100, 101))}
    answer = client.post("/selection", rows | {"do": "page", "back": "/search?q=record"})
    assert answer.status == 200
    answer = client.post(
        "/selection", {"do": "page", "back": "/search?q=a", **rows}, accept="text/html"
    )
    assert (answer.status, answer.headers["Location"]) == (303, "/search?q=a")
    assert len(selected(client)) == 2
    assert keep(client, do="all", search="q=record").json["count"] == 55


def test_a_selection_never_leads_to_another_site(client: Any) -> None:
    answer = client.post("/selection", {"back": "//evil.example/"}, accept="text/html")
    assert answer.headers["Location"] == "/"


def test_a_selection_has_a_limit_and_what_was_selected_stays(
    client: Any, silo: Silo, monkeypatch: Any
) -> None:
    keep(client, *named(silo, 100))
    monkeypatch.setattr(selections, "MOST", 40)
    answer = keep(client, do="all", search="q=record")
    assert answer.status == 400
    assert "at most 40 records" in answer.error["message"]
    assert selected(client) == [*named(silo, 100)]


def test_the_selection_is_what_the_batch_edit_changes(client: Any, silo: Silo) -> None:
    search = keep(client, *named(silo, 100, 101)).json["search"]
    answer = client.post("/selection", {"do": "batch"}, accept="text/html")
    assert answer.headers["Location"] == f"/bulk?{search}"
    page = client.get(f"/bulk?{search}").text
    assert "2 selected records" in page
    change = {"change-0-do": "add", "change-0-field": "subject", "change-0-value": "chosen"}
    form = {"search": search, "changes": "1", **change}
    assert client.post("/bulk", form).json["preview"]["changed"] == 2


def test_a_selection_that_changed_meanwhile_is_not_changed_for_another(
    client: Any, silo: Silo
) -> None:
    search = keep(client, *named(silo, 100, 101)).json["search"]
    keep(client, *named(silo, 102))
    form = {"search": search, "changes": "0", "state": "ready", "do": "apply"}
    answer = client.post("/bulk", form)
    assert answer.status == 409
    assert "has changed" in answer.error["message"]
    assert not job_ids(silo.path)


def test_a_status_is_chosen_in_the_form(client: Any, silo: Silo) -> None:
    keep(client, *named(silo, 100, 101))
    answer = client.post("/selection", {"do": "state-ready"}, accept="text/html")
    page = client.get(answer.headers["Location"]).text
    assert '<option value="ready" selected>' in page
    form = {"search": answer.headers["Location"].split("?")[1].split("&")[0], "state": "ready"}
    assert client.post("/bulk", form | {"changes": "0"}).json["preview"]["changed"] == 2


def test_an_action_on_nothing_says_so(client: Any) -> None:
    answer = keep(client, do="batch")
    assert answer.status == 400
    assert "No record is selected" in answer.error["message"]


def test_the_selection_is_exported_by_a_job_to_a_place_that_is_configured(
    client: Any, silo: Silo
) -> None:
    os.makedirs(f"{silo.path}/curation", exist_ok=True)
    with open(f"{silo.path}/curation/fedora.toml", "w", encoding="utf-8") as file:
        file.write('[a]\nurl = "http://h/rest"\n[b]\nurl = "http://h/other"\n')
    search = keep(client, *named(silo, 100, 101)).json["search"]
    page = client.get("/search?q=record").text
    assert 'name="do" value="export-fedora=b"' in page
    assert 'name="do" value="export-csv">Export a table<' in page
    assert 'href="/jobs/new/export-fedora?q=record&amp;place=b"' in page
    answer = client.post("/selection", {"do": "export-fedora=b"}, accept="text/html")
    form = answer.headers["Location"]
    assert form == f"/jobs/new/export-fedora?{search}&place=b"
    page = client.get(form).text
    assert "<strong>2 selected records</strong>" in page
    assert '<option value="b" selected>' in page
    select = json.dumps(client.json(form)["select"])
    job = client.post(
        "/jobs", {"kind": "export", "form": "fedora", "place": "b", "select": select}
    ).json
    assert job["arguments"]["select"] == {"identifiers": [*named(silo, 100, 101)]}
    assert job["arguments"]["place"] == "b"


def test_a_selection_is_saved_as_a_list(client: Any, silo: Silo) -> None:
    search = keep(client, *named(silo, 100, 101)).json["search"]
    answer = client.post("/searches", {"search": search, "title": "Two"})
    assert answer.json["select"] == {"identifiers": [*named(silo, 100, 101)]}
    assert client.get("/searches/two").text.count(" checked></span>") == 2


def test_records_deleted_meanwhile_leave_the_selection(client: Any, silo: Silo) -> None:
    search = keep(client, *named(silo, 100, 101)).json["search"]
    silo.del_item(named(silo, 100)[0])
    assert client.json(f"/bulk.json?{search}")["records"] == 1
    assert selected(client) == [*named(silo, 101)]
    assert client.json("/selection.json")["count"] == 1


def test_a_table_of_the_selection_has_creators_year_and_doi(client: Any, silo: Silo) -> None:
    search = keep(client, PLAIN, *named(silo, 100)).json["search"]
    text = client.get(f"/search/results.csv?{search}").body.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["identifier"] for row in rows] == [PLAIN, *named(silo, 100)]
    assert (rows[0]["creators"], rows[0]["year"], rows[0]["doi"]) == (
        "Ortega, Núria||Smith, J.", "2003", "10.1234/abc.5"
    )  # fmt: skip


def test_files_of_the_selection_are_a_zip(client: Any, silo: Silo) -> None:
    silo[PLAIN].clone_version("1", "workingcopy")
    silo[PLAIN].put_stream("scan.pdf", b"%PDF-" * 1000, "workingcopy")
    search = keep(client, PLAIN, *named(silo, 100)).json["search"]
    answer = client.get(f"/search/files.zip?{search}")
    assert re.search(r"-selected-[\d-]{10}-files\.zip", answer.headers["Content-Disposition"])
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [
            "oai+example,org+1/oai_dc",
            "oai+example,org+1/scan.pdf",
            "oai+example,org+100/oai_dc",
        ]


def test_bags_of_a_search_are_valid_after_unpacking(client: Any, silo: Silo, tmp_path: Any) -> None:
    answer = client.get("/search/bags.zip?q=keeping")
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        archive.extractall(tmp_path)
    assert [path.name for path in tmp_path.iterdir() if "+" in path.name] == ["oai+example,org+1"]
    bag = bagit.Bag(str(tmp_path / "oai+example,org+1"))
    assert bag.validate()
    assert bag.info["External-Identifier"] == PLAIN


def test_a_zip_names_the_records_that_could_not_be_read(client: Any, silo: Silo) -> None:
    search = keep(client, PLAIN).json["search"]
    os.unlink(silo[PLAIN].to_dirpath("oai_dc"))
    for kind in ("files", "bags"):
        answer = client.get(f"/search/{kind}.zip?{search}")
        with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
            assert archive.read("not-exported.txt").decode().startswith(PLAIN)


@pytest.mark.parametrize("kind", ["files", "bags"])
def test_a_zip_of_nothing_is_refused(client: Any, kind: str) -> None:
    answer = client.get(f"/search/{kind}.zip?q=nonsense", accept=JSON)
    assert answer.status == 400
    assert "nothing to download" in answer.error["message"]


def test_a_directory_in_place_of_a_saved_search_hides_no_other_one(client: Any, silo: Silo) -> None:
    assert client.post("/searches", {"title": "soil", "search": "q=soil"}).status == 201
    os.mkdir(f"{silo.path}/curation/searches/odd.toml")
    listed = client.json("/searches")["searches"]
    assert [(one["name"], "fault" in one) for one in listed] == [("odd", True), ("soil", False)]
    refused = client.post("/searches/odd/delete", {})
    assert (refused.status, refused.error["code"]) == (409, "conflict")
    assert "Is a directory; remove it from curation/searches" in refused.error["message"]


@pytest.mark.parametrize("text", ["x = 1" + "0" * 9000, "x = " + "[" * 9000, "select = 7", "é"])
def test_an_unreadable_saved_search_is_named_and_can_be_deleted(
    client: Any, silo: Silo, text: str
) -> None:
    os.makedirs(f"{silo.path}/curation/searches", exist_ok=True)
    with open(f"{silo.path}/curation/searches/odd.toml", "w", encoding="latin-1") as file:
        file.write(text)
    assert "cannot be read" in client.json("/searches")["searches"][0]["fault"]
    assert client.post("/searches/odd/delete", {}).status == 200
    assert client.json("/searches")["searches"] == []


def test_what_is_written_waits_for_the_reader_and_ends_when_nobody_reads() -> None:
    written = 0

    def write(file: BinaryIO) -> None:
        nonlocal written
        for _ in range(1000):
            file.write(b"x" * 100_000)
            written += 100_000

    body = Piped(write)
    assert next(body)
    time.sleep(0.2)
    assert written < 2_000_000  # the pipe, and two buffers
    threads = threading.active_count()
    body.close()
    wait_until(lambda: threading.active_count() < threads)


def test_what_cannot_be_written_breaks_the_download_off() -> None:
    def write(file: BinaryIO) -> None:
        file.write(b"beginning")
        raise OSError("the disk failed")

    body = Piped(write)
    with pytest.raises(BrokeOff):
        list(body)
    body.close()


def test_only_records_of_the_silo_are_selected(client: Any, silo: Silo) -> None:
    (one,) = named(silo, 100)
    rows = {"row-0": one, "row-1": "oai:other:1", "row-2": "\0", "row-3": "../../x"}
    assert client.post("/selection", rows | {"do": "page"}, accept=JSON).json["count"] == 1
    assert selected(client) == [one]


@pytest.mark.long
@pytest.mark.parametrize(
    "content",
    [
        b"not a database",
        b"SQLite format 3\0" + b"\xff" * 4096,
        "CREATE TABLE selection (name TEXT)",
        "CREATE TABLE selected (person TEXT); CREATE TABLE other (x)",
        "CREATE VIEW selected AS SELECT 1 AS x",
    ],
)
def test_a_file_that_is_no_selection_is_set_aside(
    client: Any, silo: Silo, content: bytes | str
) -> None:
    path = Path(silo.path, ".silo", "selections.sqlite")
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(content)
    for page in ("/search", "/selection", "/records/oai+example,org+1"):
        assert client.get(page).status == 200
    (one,) = named(silo, 100)
    assert keep(client, one).json["count"] == 1
    assert selected(client) == [one]
    aside = path.with_name("selections.sqlite.unreadable").read_bytes()
    assert aside == content if isinstance(content, bytes) else aside


def test_a_damaged_page_of_the_file_loses_the_selection_only(client: Any, silo: Silo) -> None:
    client.post("/selection", {"do": "all", "search": "q=record"}, accept=JSON)
    path = Path(silo.path, ".silo", "selections.sqlite")
    whole = path.read_bytes()
    for place in range(4096, len(whole), 4096):
        path.write_bytes(whole[:place] + b"\xff" * 4096 + whole[place + 4096 :])
        assert client.get("/search?q=record").status == 200
        assert client.get("/selection").status == 200
        assert client.post("/selection", {"do": "all", "search": "q=record"}).status == 200


def test_what_is_refused_before_it_is_sent_is_never_written() -> None:
    called: list[object] = []
    body = Piped(called.append)
    body.close()
    body.close()
    assert called == []
    assert body._out.closed


def test_of_a_selection_it_is_told_how_many_the_search_finds(client: Any, silo: Silo) -> None:
    keep(client, PLAIN, *named(silo, 100, 101, 102))
    page = client.get("/search?q=record&limit=1").text
    assert "4 selected, 3 of them here" in page
    told = keep(client, *named(silo, 103), among="q=record").json
    assert (told["count"], told["here"]) == (5, 4)
    assert told["said"] == "5 selected, 4 of them here"
    assert "5 selected<" in client.get("/search").text
