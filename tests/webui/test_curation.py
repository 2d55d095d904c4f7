"""Changes: made by programs and by forms, refused for harvested versions and old revisions."""

import os
import socket
from typing import Any

import pytest

from recordsilo import Silo

PLAIN = "oai:example.org:1"
URL = "/records/oai+example,org+1"
COPY = URL + "/versions/workingcopy"
AGENT = "a.curator"
HTML = "text/html"


def content(silo: Silo, path: str, version: str) -> bytes:
    with silo[PLAIN].get_stream(path, version) as file:
        return file.read()


def test_cloning_makes_a_curated_copy_and_leads_to_it(client: Any, silo: Silo) -> None:
    before = content(silo, "oai_dc", "1")
    fields = {"name": "workingcopy", "clone_of": "1", "message": "Mend the names"}
    answer = client.post(URL + "/versions", fields)
    assert answer.status == 201
    assert answer.headers["Location"] == COPY
    record = silo[PLAIN]
    assert answer.headers["ETag"] == client.get(URL + ".json").headers["ETag"]
    assert answer.json["current_version"] == record.currentversion == "workingcopy"
    origin = record.origin("workingcopy")
    assert (origin.kind, origin.of, origin.agent) == ("clone", "1", AGENT)
    assert origin.message == "Mend the names"
    assert content(silo, "oai_dc", "workingcopy") == before


def test_a_form_is_answered_with_the_way_to_the_page(client: Any) -> None:
    answer = client.post(URL + "/versions", {"name": "workingcopy", "clone_of": "1"}, accept=HTML)
    assert answer.status == 303
    page = client.get(answer.headers["Location"])
    assert "Copy created" in page.text
    assert 'value="workingcopy-2"' in page.text


def test_an_empty_version_is_made_without_clone_of(client: Any, silo: Silo) -> None:
    assert client.post(URL + "/versions", {"name": "draft"}).status == 201
    assert silo[PLAIN].origin("draft").kind == "local"
    assert silo[PLAIN].paths("draft") == []


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({}, 400, "bad_request"),
        ({"name": "1"}, 409, "version_exists"),
        ({"name": "a/b"}, 400, "bad_version_name"),
        ({"name": ".."}, 400, "bad_version_name"),
        ({"name": "x", "clone_of": "9"}, 404, "version_not_found"),
    ],
)
def test_a_version_that_cannot_be_made_is_refused(
    client: Any, silo: Silo, fields: dict[str, str], status: int, code: str
) -> None:
    answer = client.post(URL + "/versions", fields)
    assert (answer.status, answer.error["code"]) == (status, code)
    assert silo[PLAIN].versions == ["1"]


def test_a_file_is_added_by_a_form_and_version_1_stays(
    client: Any, silo: Silo, working_copy: str
) -> None:
    before = content(silo, "oai_dc", "1")
    answer = client.upload(
        COPY + "/files",
        [("path", None, "docs/läs mig.txt".encode()), ("message", None, b"Why not"),
         ("part", "C:\\x.txt", b"words")],
        accept=HTML,
    )  # fmt: skip
    assert answer.status == 303
    record = silo[working_copy]
    assert record.paths("workingcopy") == ["oai_dc", "docs/läs mig.txt"]
    assert content(silo, "docs/läs mig.txt", "workingcopy") == b"words"
    assert AGENT in record.version_log("workingcopy")[-1]
    assert "Why not" in record.version_log("workingcopy")[-1]
    assert record.paths("1") == ["oai_dc"]
    assert content(silo, "oai_dc", "1") == before
    page = client.get(answer.headers["Location"].removesuffix("#files"))
    assert "docs/läs mig.txt" in page.text
    assert client.get(COPY + "/files/docs/l%C3%A4s%20mig.txt").body == b"words"


@pytest.mark.parametrize(
    ("filename", "path"),
    [("x.txt", "x.txt"), ("C:\\\\dir\\\\x.txt", "x.txt"), ("../../x.txt", "x.txt")],
)
def test_without_a_path_the_last_part_of_the_files_name_is_taken(
    client: Any, silo: Silo, working_copy: str, filename: str, path: str
) -> None:
    assert client.upload(COPY + "/files", [("part", filename, b"x")]).status == 201
    assert silo[working_copy].paths("workingcopy") == ["oai_dc", path]


def test_an_existing_file_is_replaced_only_when_told(
    client: Any, silo: Silo, working_copy: str
) -> None:
    assert working_copy
    part = ("part", "oai_dc", b"<new/>")
    refused = client.upload(COPY + "/files", [part])
    assert (refused.status, refused.error["code"]) == (409, "conflict")
    assert client.upload(COPY + "/files", [("replace", None, b"yes"), part]).status == 201
    assert content(silo, "oai_dc", "workingcopy") == b"<new/>"


def test_a_file_can_be_marked_as_metadata(client: Any, silo: Silo, working_copy: str) -> None:
    parts = [("metadata", None, b"yes"), ("part", "mods.xml", b"<mods/>")]
    assert client.upload(COPY + "/files", parts).status == 201
    assert silo[working_copy].metadata_files["workingcopy"] == ["oai_dc", "mods.xml"]


def test_a_form_without_a_chosen_file_is_refused(client: Any, working_copy: str) -> None:
    assert working_copy
    assert client.upload(COPY + "/files", [("part", "", b"")]).error["code"] == "bad_request"
    assert client.upload(COPY + "/files", [("path", None, b"a")]).status == 400


def test_a_body_is_stored_as_a_file_by_put(client: Any, silo: Silo, working_copy: str) -> None:
    url = COPY + "/files/data/a.bin"
    payload = os.urandom(300_000)
    first = client.ask("PUT", url + "?message=because", payload)
    assert first.status == 201
    assert client.ask("PUT", url, payload + b"2").status == 200
    assert content(silo, "data/a.bin", "workingcopy") == payload + b"2"
    assert "because" in "".join(silo[working_copy].version_log("workingcopy"))
    refused = client.ask("PUT", COPY + "/files/mods?metadata=yes", b"<mods>")
    assert (refused.status, refused.error["code"]) == (400, "malformed_metadata")
    assert client.ask("PUT", COPY + "/files/mods?metadata=yes", b"<mods/>").status == 201
    assert silo[working_copy].metadata_files["workingcopy"] == ["oai_dc", "mods"]


def test_an_upload_that_breaks_off_leaves_the_old_content(
    client: Any, silo: Silo, working_copy: str
) -> None:
    before = silo[working_copy].revision
    with socket.create_connection(("127.0.0.1", client.port)) as connection:
        head = (
            f"PUT {COPY}/files/oai_dc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
        )
        connection.sendall(head.encode() + b"only this")
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(65536)
    assert b" 400 " in answer.split(b"\r\n")[0]
    assert silo[working_copy].revision == before
    assert content(silo, "oai_dc", "workingcopy") == content(silo, "oai_dc", "1")


def test_a_file_is_renamed_and_deleted(client: Any, silo: Silo, working_copy: str) -> None:
    fields = {"path": "oai_dc", "new_path": "old/oai_dc"}
    assert client.post(COPY + "/rename-file", fields).status == 200
    assert silo[working_copy].paths("workingcopy") == ["old/oai_dc"]
    assert client.post(COPY + "/delete-file", {"path": "old/oai_dc"}).status == 200
    assert silo[working_copy].paths("workingcopy") == []
    assert silo[working_copy].paths("1") == ["oai_dc"]


def test_a_file_is_deleted_by_its_address(client: Any, silo: Silo, working_copy: str) -> None:
    assert client.ask("DELETE", COPY + "/files/oai_dc").status == 200
    assert silo[working_copy].paths("workingcopy") == []


def test_a_version_is_renamed_and_deleted(client: Any, silo: Silo, working_copy: str) -> None:
    renamed = client.post(COPY + "/rename", {"name": "final"}, accept=HTML)
    assert renamed.headers["Location"] == URL + "/versions/final?done=renamed"
    assert silo[working_copy].versions == ["1", "final"]
    assert client.ask("DELETE", URL + "/versions/final").status == 200
    assert silo[working_copy].versions == ["1"]


def test_the_last_version_is_not_deleted(client: Any, silo: Silo) -> None:
    record = silo.get_item("local:1")
    record.sync()
    answer = client.ask("DELETE", "/records/local+1/versions/1")
    assert (answer.status, answer.error["code"]) == (409, "last_version")


READ_ONLY = [
    ("POST", "/versions/1/rename", {"name": "x"}),
    ("POST", "/versions/1/delete", {}),
    ("DELETE", "/versions/1", {}),
    ("POST", "/versions/1/rename-file", {"path": "oai_dc", "new_path": "b"}),
    ("POST", "/versions/1/delete-file", {"path": "oai_dc"}),
    ("DELETE", "/versions/1/files/oai_dc", {}),
    ("PUT", "/versions/1/files/oai_dc", {"a": "b"}),
    ("GET", "/versions/1/rename", None),
    ("GET", "/versions/1/delete", None),
    ("GET", "/versions/1/files", None),
    ("GET", "/versions/1/rename-file?path=oai_dc", None),
    ("GET", "/versions/1/delete-file?path=oai_dc", None),
]


@pytest.mark.parametrize(("method", "path", "fields"), READ_ONLY)
def test_a_harvested_version_is_read_only(
    client: Any, silo: Silo, method: str, path: str, fields: dict[str, str] | None
) -> None:
    before = silo[PLAIN].revision
    answer = client.ask(method, URL + path, fields=fields, accept="application/json")
    assert (answer.status, answer.error["code"]) == (403, "read_only")
    assert "Create a copy" in answer.error["message"]
    assert silo[PLAIN].revision == before


def test_uploading_into_a_harvested_version_is_refused(client: Any, silo: Silo) -> None:
    answer = client.upload(URL + "/versions/1/files", [("part", "a.txt", b"x")])
    assert (answer.status, answer.error["code"]) == (403, "read_only")
    assert silo[PLAIN].paths("1") == ["oai_dc"]


def test_a_harvested_version_offers_no_changes_in_the_page(client: Any, working_copy: str) -> None:
    assert working_copy
    harvested = client.get(URL + "/versions/1").text
    for offer in ("Add a file", "rename-file", "delete-file", "/versions/1/rename"):
        assert offer not in harvested
    curated = client.get(COPY).text
    for offer in ("Add a file", "rename-file", "delete-file", "/versions/workingcopy/rename"):
        assert offer in curated


def test_deleting_a_record_asks_first_and_is_remembered(client: Any, silo: Silo) -> None:
    question = client.get(URL + "/delete")
    assert "Later harvests will not restore it" in question.text
    answer = client.post(URL + "/delete", {"if_match": "1"}, accept=HTML)
    assert (answer.status, answer.headers["Location"]) == (303, "/search?done=record-deleted")
    assert PLAIN not in silo
    assert PLAIN in silo.removed()
    assert "Record deleted" in client.get("/search?done=record-deleted").text
    assert client.get(URL).status == 410


def test_a_record_is_deleted_by_its_address(client: Any, silo: Silo) -> None:
    assert client.ask("DELETE", URL).json == {"deleted": PLAIN}
    assert PLAIN in silo.removed()


def test_a_record_is_made_by_its_identifier(client: Any, silo: Silo) -> None:
    answer = client.post("/records", {"id": "local:new thing"})
    assert answer.status == 201
    assert answer.headers["Location"] == "/records/local+new%5E20thing"
    assert silo["local:new thing"].versions == ["1"]
    page = client.get(answer.headers["Location"], accept="text/html").text
    assert "This record was made here, so no harvested version exists." in page
    again = client.post("/records", {"id": "local:new thing"})
    assert (again.status, again.error["code"]) == (409, "conflict")
    assert client.post("/records", {"id": "\0"}).error["code"] == "bad_identifier"


def test_a_message_is_one_line_of_the_log(client: Any, silo: Silo) -> None:
    fields = {"name": "x", "clone_of": "1", "message": " two\r\nlines "}
    assert client.post(URL + "/versions", fields).status == 201
    assert silo[PLAIN].origin("x").message == "two lines"


def test_a_record_named_like_a_page_is_curated_under_records(client: Any, silo: Silo) -> None:
    for identifier in ("records", "static", "sets"):
        assert client.post("/records", {"id": identifier}).status == 201
        assert client.json(f"/records/{identifier}.json")["identifier"] == identifier
        put = client.ask("PUT", f"/records/{identifier}/versions/1/files/a", b"x")
        assert put.status == 201
        assert silo[identifier].paths() == ["a"]


# -- revisions -----------------------------------------------------------------------------

CHANGES = [
    ("POST", URL + "/versions", {"name": "x"}),
    ("POST", COPY + "/rename", {"name": "x"}),
    ("POST", COPY + "/delete", {}),
    ("POST", COPY + "/rename-file", {"path": "oai_dc", "new_path": "b"}),
    ("POST", COPY + "/delete-file", {"path": "oai_dc"}),
    ("PUT", COPY + "/files/notes.txt", {"any": "body"}),
    ("DELETE", COPY + "/files/oai_dc", {}),
    ("DELETE", COPY, {}),
    ("POST", URL + "/delete", {}),
    ("DELETE", URL, {}),
]


@pytest.mark.parametrize(("method", "path", "fields"), CHANGES)
def test_every_change_honours_if_match(
    client: Any, silo: Silo, working_copy: str, method: str, path: str, fields: dict[str, str]
) -> None:
    revision = silo[working_copy].revision
    for stale in (f'"{revision - 1}"', f'W/"{revision}"', str(revision), '"x"'):
        refused = client.ask(method, path, fields=fields, headers={"If-Match": stale})
        assert (refused.status, refused.error["code"]) == (412, "precondition_failed"), stale
        assert silo[working_copy].revision == revision
    whole = client.get(URL).headers["ETag"]
    either = {"If-Match": f'"{revision - 1}", {whole}'}
    assert client.ask(method, path, fields=fields, headers=either).status in {200, 201}
    assert working_copy not in silo or silo[working_copy].revision > revision


@pytest.mark.parametrize(("method", "path", "fields"), [c for c in CHANGES if c[0] == "POST"])
def test_every_form_carries_the_revision_it_was_made_for(
    client: Any, silo: Silo, working_copy: str, method: str, path: str, fields: dict[str, str]
) -> None:
    revision = silo[working_copy].revision
    stale = client.ask(method, path, fields={**fields, "if_match": str(revision - 1)}, accept=HTML)
    assert stale.status == 412
    assert "This record was changed" in stale.text
    query = f"?path={fields['path']}" if "path" in fields else ""
    form = client.get(path + query).text
    assert f'name="if_match" value="{revision}"' in form
    done = client.ask(method, path, fields={**fields, "if_match": str(revision)}, accept=HTML)
    assert done.status == 303


def test_an_upload_honours_the_forms_revision(client: Any, silo: Silo, working_copy: str) -> None:
    revision = silo[working_copy].revision
    part = ("part", "a.txt", b"x")
    stale = client.upload(COPY + "/files", [("if_match", None, b"1"), part])
    assert revision != 1
    assert stale.status == 412
    assert (
        client.upload(COPY + "/files", [("if_match", None, b"%d" % revision), part]).status == 201
    )


def test_if_match_with_a_star_takes_any_revision(client: Any, working_copy: str) -> None:
    assert working_copy
    answer = client.ask("DELETE", COPY + "/files/oai_dc", headers={"If-Match": "*"})
    assert answer.status == 200


def test_a_files_own_etag_is_taken_where_it_is_replaced_or_deleted(
    client: Any, silo: Silo, working_copy: str
) -> None:
    file = COPY + "/files/oai_dc"
    first = {"If-Match": client.get(file).headers["ETag"]}
    assert client.ask("PUT", file, b"<a/>", headers=first).status == 200
    for method in ("PUT", "DELETE"):
        stale = client.ask(method, file, b"", headers=first)
        assert (stale.status, stale.error["code"]) == (412, "precondition_failed")
    assert content(silo, "oai_dc", "workingcopy") == b"<a/>"
    second = {"If-Match": client.get(file).headers["ETag"]}
    assert client.ask("DELETE", file, headers=second).status == 200
    assert client.ask("PUT", file, b"x", headers=second).status == 412


def test_a_file_may_be_put_only_where_there_is_none(
    client: Any, silo: Silo, working_copy: str
) -> None:
    for known in ("*", client.get(COPY + "/files/oai_dc").headers["ETag"]):
        refused = client.ask("PUT", COPY + "/files/oai_dc", b"x", headers={"If-None-Match": known})
        assert (refused.status, refused.error["code"]) == (412, "precondition_failed")
    new = client.ask("PUT", COPY + "/files/new.txt", b"x", headers={"If-None-Match": "*"})
    assert new.status == 201
    assert silo[working_copy].paths("workingcopy") == ["oai_dc", "new.txt"]


def test_a_change_made_between_looking_and_writing_is_noticed_by_the_store(
    client: Any, silo: Silo, working_copy: str
) -> None:
    """The page looks first, the store looks again under its lock."""
    record = silo[working_copy]
    original = type(record).clone_version

    def meanwhile(self: Any, *args: Any, **how: Any) -> str:
        silo[working_copy].put_stream("meanwhile.txt", b"x")
        return original(self, *args, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(record), "clone_version", meanwhile)
        answer = client.post(
            URL + "/versions",
            {"name": "other", "clone_of": "1"},
            headers={"If-Match": f'"{record.revision}"'},
        )
    assert (answer.status, answer.error["code"]) == (412, "precondition_failed")
    assert silo[working_copy].versions == ["1", "workingcopy"]


def test_questions_have_twins_that_tell_what_to_send(client: Any, working_copy: str) -> None:
    assert working_copy
    twin = client.json(COPY + "/rename-file.json?path=oai_dc")
    assert (twin["method"], twin["action"]) == ("POST", COPY + "/rename-file")
    assert [f["name"] for f in twin["fields"]] == ["path", "new_path", "message"]
    missing = client.get(COPY + "/rename-file.json?path=none")
    assert (missing.status, missing.error["code"]) == (404, "file_not_found")
    for path in (URL + "/delete.json", URL + "/versions.json", COPY + "/files.json"):
        assert client.json(path)["revision"] == twin["revision"]


@pytest.mark.parametrize(
    "line", ["x", "[1]", "[" * 99_999, '{"field": "type", "values": [], "distinct": true}', "\0"]
)
def test_a_malformed_list_of_ignored_clusters_is_said_in_a_sentence(
    client: Any, silo: Silo, line: str
) -> None:
    path = os.path.join(silo.path, "curation", "distinct.jsonl")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(line + "\n")
    refused = client.get("/clusters")
    assert refused.status == 503
    assert "curation/distinct.jsonl cannot be read" in refused.text
    assert silo.path not in refused.text
    assert client.post("/clusters", {"do": "restore-x"}).status == 503
