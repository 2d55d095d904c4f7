"""Hostile names, files and parameters: each answer is plain, and none is an error of the server."""

import io
import json
import socket
import zipfile
from pathlib import Path
from typing import Any

import pytest

from recordsilo import Silo
from webui import urls

from .conftest import ATTACK, PLAIN, dublin_core, harvest

NAMES = ("../../../evil", "/etc/passwd", "..", "C:\\x", "a/../../b", "x\u202ey", "~/.ssh")


@pytest.mark.parametrize("kind", ["files", "bags"])
def test_every_entry_of_a_zip_is_below_a_directory_of_its_record(
    client: Any, silo: Silo, kind: str
) -> None:
    harvest(silo, {name: dublin_core(("title", "Hostile")) for name in NAMES})
    answer = client.get(f"/search/{kind}.zip?q=hostile")
    entries = zipfile.ZipFile(io.BytesIO(answer.body)).namelist()
    assert len({entry.split("/")[0] for entry in entries}) == len(NAMES)
    for entry in entries:
        assert not set(entry.split("/")) & {"", ".", ".."}
        assert "\\" not in entry
        assert ":" not in entry


def test_names_of_sets_and_of_the_repository_are_escaped_everywhere(
    client: Any, silo: Silo
) -> None:
    path = Path(silo.path, "oaipmh_harvester.json")
    state = json.loads(path.read_text(encoding="utf-8"))
    state["sets"] = dict.fromkeys(state["sets"], f"</script>\"'>{ATTACK}")
    state["identify"] = {"repositoryName": f"</title></script>{ATTACK}"}
    path.write_text(json.dumps(state), encoding="utf-8")
    for page in ("/", "/sets", "/search", "/quality", "/jobs/new/harvest", urls.record(PLAIN)):
        answer = client.get(page)
        assert answer.status == 200
        assert "<script>alert" not in answer.text
        assert "<img src=x" not in answer.text


BAD = (
    "type!=", "!=x", "year=9..x", "year=..", "year=1..2..3", "year=-5", "year=" + "9" * 400,
    "year=%D9%A1..", "set=%00", "type=%ed%a0%80", "curated=maybe", "curated!=true", "after=%7B",
    "after=null", "after=[1e999]", "after=[[[[", "by=type.x", "by=a.b", "sort=-nope", "limit=-1",
    "limit=1e9", "since=2020-13-45", "since=%00", "until='", "format!=oai_dc&format=oai_dc",
    "finding=Q999", "q=%22", "q=((((", "q=NEAR(", "q=*", "selection=x", "saved=../../x",
    "since=2020&until=2019",
)  # fmt: skip


@pytest.mark.long
def test_no_parameter_is_an_error_of_the_server(client: Any) -> None:
    for query in BAD:
        for page in ("/search?", "/search/values?field=type&", "/search/results.csv?", "/bulk?"):
            assert client.get(page + query).status in {200, 400, 404, 409}, page + query


def test_a_damaged_file_makes_its_own_page_a_sentence(client: Any, silo: Silo) -> None:
    for path, page in (
        ("curation/places/x.toml", "/places"),
        ("curation/schedules/x.toml", "/schedules"),
        ("curation/accounts/x.toml", "/accounts"),
        ("curation/searches/x.toml", "/searches"),
        ("curation/rules/x.toml", "/rules"),
    ):
        file = Path(silo.path, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        for content in (b"", b"\xff\xfe", b"[" * 9000, b"url = 5\nselect = 3\nkind = []\n"):
            file.write_bytes(content)
            assert client.get(page).status == 200
            assert client.get("/").status == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("Cookie", one) for one in ("a/b=1", "ok=1; x,y=2", "a@b=c", "name(1)=2", '"="')),
        *(("X-Odd", one) for one in ("=?nope?q?x?=", "=?utf-8?b?%%%?=")),
    ],
)
def test_an_odd_header_of_somebody_else_refuses_no_request(
    client: Any, name: str, value: str
) -> None:
    """Browsers send the cookies of every page on this machine, whatever its port."""
    assert client.get("/search", headers={name: value}).status == 200
    assert client.get("/records/nobody", headers={name: value}).status == 404


def test_a_request_without_a_host_is_malformed(client: Any) -> None:
    with socket.create_connection(("127.0.0.1", client.port), timeout=20) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        came = b"".join(iter(lambda: connection.recv(65536), b""))
    assert came.startswith(b"HTTP/1.1 400 ")
    assert b"CherryPy" not in came
