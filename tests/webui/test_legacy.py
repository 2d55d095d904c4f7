"""The interface of 2010: /<percent-encoded identifier>/<version>/<path>."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from recordsilo import Silo
from recordsilo.disk.identifier import url_segment
from webui.http.bodies import FORMS
from webui.http.multipart import MULTIPART

PLAIN = "oai:example.org:1"
ODD = "http://n2t.info/urn:nbn:se:kb:repos-1 中^*?"
JSON = "application/json"


@pytest.mark.parametrize("identifier", [PLAIN, ODD])
def test_a_record_is_found_by_its_encoded_identifier(
    client: Any, silo: Silo, identifier: str
) -> None:
    url = "/" + quote(identifier, safe="")
    page = client.get(url)
    assert (page.status, page.headers["Location"]) == (302, "/records/" + url_segment(identifier))
    manifest = client.get(url, accept=JSON)
    assert manifest.json == silo[identifier].manifest
    tag = manifest.headers["ETag"]
    assert tag.startswith(f'"{silo[identifier].revision}-')
    assert client.get(url, accept=JSON, headers={"If-None-Match": tag}).status == 304


def test_a_version_and_a_file_are_found_below_it(client: Any, silo: Silo) -> None:
    url = "/" + quote(ODD, safe="") + "/1"
    page = client.get(url)
    assert page.headers["Location"] == "/records/" + url_segment(ODD) + "/versions/1"
    assert [f["path"] for f in client.get(url, accept=JSON).json["files"]] == ["oai_dc"]
    file = client.get(url + "/oai_dc")
    with silo[ODD].get_stream("oai_dc", "1") as stored:
        assert (file.status, file.body) == (200, stored.read())


@pytest.mark.parametrize("path", ["/nobody", "/nobody/1", "/nobody/1/a", "/oai:example.org:1/9",
                                  "/oai:example.org:1/1/none"])  # fmt: skip
def test_what_is_not_there_is_a_real_404(client: Any, path: str) -> None:
    assert client.get(path).status == 404
    assert client.get(path, accept=JSON).error["status"] == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/nosuch"), ("POST", "/nosuch/1"), ("DELETE", "/nosuch"), ("PUT", "/nosuch/1/a"),
     ("POST", "/records/nosuch/versions"), ("POST", "/records/nosuch/versions/1/files"),
     ("POST", "/records/nosuch/versions/1/rename"), ("POST", "/upstream/nosuch")],
)  # fmt: skip
def test_a_change_to_what_is_not_there_is_a_404_whatever_its_body(
    client: Any, method: str, path: str
) -> None:
    statuses = {client.ask(method, path, body).status for body in ("", "nonsense")}
    assert statuses == ({405} if method == "PUT" else {404})


def sent(client: Any, method: str, path: str, kind: str, fields: dict[str, str]) -> Any:
    """Send the fields of a change as a body of one of the three kinds."""
    if kind == MULTIPART:
        parts = [(name, None, value.encode()) for name, value in fields.items()]
        return client.upload(path, parts, method=method)
    headers = {"Content-Type": kind}
    if kind == JSON:
        return client.ask(method, path, json.dumps(fields), headers=headers)
    return client.ask(method, path, fields=fields, headers=headers)


@pytest.mark.parametrize("kind", FORMS)
def test_every_change_of_2010_takes_its_fields_in_each_kind_of_body(
    client: Any, silo: Silo, kind: str
) -> None:
    url = "/" + quote(ODD, safe="")
    told = {"message": "Dürer’s “why”"}
    changes: list[tuple[str, str, dict[str, str], int]] = [
        ("POST", "/", {"id": "local:中"}, 201),
        ("POST", url, {"old_version": "1", "version": "copy"}, 201),
        ("POST", url, {"version": "empty"}, 201),
        ("POST", url + "/copy", {"path": "docs/a.txt", "part": " a text\r\n"}, 201),
        ("DELETE", url + "/copy/oai_dc", {}, 200),
        ("DELETE", url + "/empty", {}, 200),
    ]
    for method, path, fields, status in changes:
        answer = sent(client, method, path, kind, fields | told)
        assert answer.status == status, answer.text
    record = silo[ODD]
    assert record.versions == ["1", "copy"]
    assert record.paths("copy") == ["docs/a.txt"]
    assert client.get(url + "/copy/docs/a.txt").body == b" a text\r\n"
    assert any(told["message"] in line for line in record.versionlog)
    assert silo["local:中"].versions == ["1"]
    stale = {"if_match": str(record.revision - 1)}
    assert sent(client, "DELETE", url, kind, stale).error["code"] == "precondition_failed"
    assert sent(client, "DELETE", url, kind, told).status == 200
    assert ODD not in silo


@pytest.mark.parametrize("kind", FORMS)
def test_an_upload_without_a_name_or_a_content_says_what_is_missing(
    client: Any, kind: str, working_copy: str
) -> None:
    url = "/" + quote(working_copy, safe="") + "/workingcopy"
    assert "field path" in sent(client, "POST", url, kind, {"part": "x"}).error["message"]
    assert "field part" in sent(client, "POST", url, kind, {"path": "x"}).error["message"]


def test_posting_to_the_root_creates_an_object(client: Any, silo: Silo) -> None:
    answer = client.post("/", {"id": "local:made in the old way"})
    assert answer.status == 201
    assert silo["local:made in the old way"].versions == ["1"]


def test_posting_to_an_object_clones_or_creates_a_version(client: Any, silo: Silo) -> None:
    url = "/" + quote(ODD, safe="")
    assert client.post(url, {"old_version": "1", "version": "copy"}).status == 201
    assert client.post(url, {"version": "empty"}).status == 201
    record = silo[ODD]
    assert record.versions == ["1", "copy", "empty"]
    assert record.paths("copy") == ["oai_dc"]
    assert record.paths("empty") == []
    assert client.post(url, {"old_version": "1"}).error["code"] == "bad_request"


def test_posting_to_a_version_uploads_part_to_path_and_replaces(client: Any, silo: Silo) -> None:
    url = "/" + quote(ODD, safe="")
    client.post(url, {"old_version": "1", "version": "copy"})
    for content in (b"first", b"second"):
        parts = [("part", "name.txt", content), ("path", None, b"docs/a.txt")]
        assert client.upload(url + "/copy", parts).status == 201
    assert client.get(url + "/copy/docs/a.txt").body == b"second"
    assert client.upload(url + "/copy", [("part", "own.txt", b"x")]).status == 201
    assert silo[ODD].paths("copy") == ["oai_dc", "docs/a.txt", "own.txt"]


def test_deleting_works_at_every_level(client: Any, silo: Silo) -> None:
    url = "/" + quote(ODD, safe="")
    client.post(url, {"old_version": "1", "version": "copy"})
    assert client.ask("DELETE", url + "/copy/oai_dc").status == 200
    assert silo[ODD].paths("copy") == []
    assert client.ask("DELETE", url + "/copy").status == 200
    assert silo[ODD].versions == ["1"]
    assert client.ask("DELETE", url).status == 200
    assert ODD not in silo


def test_the_rules_of_today_hold_for_it(client: Any, silo: Silo) -> None:
    url = "/" + quote(PLAIN, safe="")
    uploaded = client.upload(url + "/1", [("part", "a", b"x")])
    assert (uploaded.status, uploaded.error["code"]) == (403, "read_only")
    assert client.ask("DELETE", url + "/1/oai_dc").error["code"] == "read_only"
    assert client.ask("DELETE", url + "/1").error["code"] == "read_only"
    stale = client.ask("DELETE", url, headers={"If-Match": '"99"'})
    assert (stale.status, PLAIN in silo) == (412, True)
    assert client.ask("PUT", url).headers["Allow"] == "GET, HEAD, POST, DELETE"


@pytest.mark.parametrize("path", ["/nope", "/facets/subject"])
def test_an_address_of_nothing_is_not_called_a_record(client: Any, path: str) -> None:
    answer = client.get(path, accept="text/html")
    assert answer.status == 404
    assert "There is no page at this address, and no record of this name." in answer.text
    assert client.get("/nope", accept="application/json").error["code"] == "record_not_found"
