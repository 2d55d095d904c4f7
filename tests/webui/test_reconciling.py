"""``/reconcile``: the Silo as a reconciliation service, and our own client against it."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from recordsilo import Silo
from silocuration.reconciling.authorities import Authority, change_authorities
from silocuration.reconciling.client import Service
from silocuration.reconciling.places import ReconciliationPlace
from silocuration.reconciling.protocol import Query
from webui.app import create_app
from webui.people.accounts import add_account
from webui.people.roles import Role
from webui.site import Settings

REFINE = {"Origin": "http://127.0.0.1:3333", "Sec-Fetch-Site": "cross-site"}
"""What a browser adds for a page of OpenRefine on this machine."""
SMITH, ORTEGA = "creator:Smith, J.", "creator:Ortega, Núria"


def asked(client: Any, path: str) -> Any:
    answer = client.get(path)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    return answer.json


def test_the_manifest_has_what_a_client_needs(client: Any) -> None:
    manifest = asked(client, "/reconcile")
    own = f"http://127.0.0.1:{client.port}/reconcile"
    assert manifest["versions"] == ["0.2"]
    assert {*manifest} >= {"name", "identifierSpace", "schemaSpace", "defaultTypes", "extend"}
    assert manifest["view"]["url"] == own + "/view?id={{id}}"
    assert manifest["preview"]["url"] == own + "/preview?id={{id}}"
    assert manifest["suggest"]["entity"] == {"service_url": own, "service_path": "/suggest/entity"}


def test_a_batch_is_answered_as_it_is_posted_by_a_program(client: Any) -> None:
    batch = {
        "q0": {"query": "J Smith", "type": "Person", "type_strict": "should", "limit": 3},
        "q1": {"query": "On the keeping of record", "type": "Record"},
        "q2": {"query": "nobody of this name"},
        "q3": {"query": "doi:10.1234/abc.5", "type": "Record"},
        "q4": {"query": "J Smith", "type": "Unknown"},
    }
    answer = client.ask("POST", "/reconcile", fields={"queries": json.dumps(batch)}, headers=REFINE)
    assert answer.status == 200
    assert answer.headers["Access-Control-Allow-Origin"] == REFINE["Origin"]
    found = answer.json
    best = found["q0"]["result"][0]
    assert (best["id"], best["match"], best["score"]) == (SMITH, True, 97.0)
    assert best["type"] == [{"id": "Person", "name": "Person"}]
    record = found["q1"]["result"][0]
    assert (record["id"], record["match"]) == ("record:oai:example.org:1", False)
    assert record["score"] > 80
    assert found["q2"]["result"] == []
    assert [one["match"] for one in found["q3"]["result"]] == [True]
    assert found["q4"]["result"] == []


def test_one_query_and_properties_of_entities_are_answered(client: Any, silo: Silo) -> None:
    authority = Authority("Smith, J.", "0000-0002-1825-0097", "Smith, Jane")
    change_authorities(silo.path, "creator", [authority])
    assert asked(client, "/reconcile?query=Jane+Smith")["result"][0]["id"] == SMITH
    extend = {
        "ids": [SMITH, "record:oai:example.org:1", "creator:unknown"],
        "properties": [{"id": "identifier"}, {"id": "records"}, {"id": "title"}, {"id": "odd"}],
    }
    found = client.ask("POST", "/reconcile", fields={"extend": json.dumps(extend)}).json
    assert [one["id"] for one in found["meta"]] == ["identifier", "records", "title"]
    assert found["rows"][SMITH] == {
        "identifier": [{"str": "https://orcid.org/0000-0002-1825-0097"}],
        "records": [{"int": 1}],
        "title": [],
    }
    assert found["rows"]["record:oai:example.org:1"]["title"] == [
        {"str": "On the keeping of records"}
    ]
    assert found["rows"]["creator:unknown"]["title"] == []


@pytest.mark.parametrize(
    "fields",
    [{"queries": "[]"}, {"queries": "x"}, {"extend": "{}"}, {"query": "{}"},
     {"queries": json.dumps({str(n): {"query": "a"} for n in range(51)})}],
)  # fmt: skip
def test_what_is_not_as_specified_is_refused_in_json(client: Any, fields: dict[str, str]) -> None:
    answer = client.ask("POST", "/reconcile", fields=fields)
    assert (answer.status, answer.json["status"]) == (400, "error")


def test_names_are_suggested_and_shown(client: Any) -> None:
    found = asked(client, "/reconcile/suggest/entity?prefix=ort")["result"]
    assert [one["id"] for one in found] == [ORTEGA]
    assert asked(client, "/reconcile/suggest/type?prefix=pers")["result"][0]["id"] == "Person"
    names = asked(client, "/reconcile/suggest/property?prefix=doi")["result"]
    assert names == [{"id": "doi", "name": "DOI"}]
    proposed = asked(client, "/reconcile/properties?type=Person")
    assert [one["id"] for one in proposed["properties"]] == ["identifier", "records"]
    assert client.get("/reconcile/suggest/nothing").status == 404
    view = client.get(f"/reconcile/view?id={quote(SMITH)}")
    assert view.headers["Location"] == "/search?creator=Smith%2C+J."
    view = client.get("/reconcile/view?id=record:oai:example.org:1")
    assert view.headers["Location"] == "/records/oai+example,org+1"
    assert client.get("/reconcile/view?id=creator:unknown").status == 404


def test_a_preview_runs_nothing_and_may_be_framed_by_this_machine(client: Any) -> None:
    hostile = "creator:<script>alert(1)</script><img src=x onerror=alert(2)>"
    answer = client.get(f"/reconcile/preview?id={quote(hostile)}")
    assert answer.status == 200
    assert b"<script" not in answer.body
    assert b"<img" not in answer.body
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'; sandbox; frame-ancestors 'self' http://127.0.0.1:*" in policy


def test_pages_of_strangers_cannot_read_it(client: Any, silo: Silo) -> None:
    stranger = {"Origin": "https://refine.example.org", "Sec-Fetch-Site": "cross-site"}
    fields = {"queries": '{"q0": {"query": "Smith"}}'}
    answer = client.ask("POST", "/reconcile", fields=fields, headers=stranger)
    assert "Access-Control-Allow-Origin" not in answer.headers
    file = Path(silo.path, "curation", "reconciliation.toml")
    file.parent.mkdir(exist_ok=True)
    file.write_text('[service]\norigins = ["https://refine.example.org"]\n')
    answer = client.ask("POST", "/reconcile", fields=fields, headers=stranger)
    assert answer.headers["Access-Control-Allow-Origin"] == stranger["Origin"]
    near = stranger | {"Origin": "http://127.0.0.1.example.org"}
    answer = client.ask("POST", "/reconcile", fields=fields, headers=near)
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_nobody_is_answered_without_sign_in_unless_a_manager_says_so(
    silo: Silo, stage: Any, stage_client: Any
) -> None:
    add_account(silo.path, "vera", Role.VIEWER, "a long enough password")
    stage.app = create_app(silo, Settings(sign_in=True))
    assert stage_client.get("/reconcile").status == 401
    file = Path(silo.path, "curation", "reconciliation.toml")
    file.parent.mkdir(exist_ok=True)
    file.write_text("[service]\npublic = true\n")
    assert stage_client.get("/reconcile").status == 200
    assert stage_client.get("/search").status == 303


def test_our_client_gets_answers_from_our_service(client: Any) -> None:
    url = f"http://127.0.0.1:{client.port}/reconcile"
    place = ReconciliationPlace("own", "own", url=url, private=True, delay=0.0)
    with Service(place) as service:
        assert service.manifest.preview.startswith(url)
        found = service.candidates([Query("Smith J.", ("Person",)), Query("ortega n.")])
    assert [one[0].id for one in found] == [SMITH, ORTEGA]
