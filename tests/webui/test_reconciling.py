"""``/reconcile``: the Silo as a reconciliation service, and our own client against it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from recordsilo import Silo
from silocuration.authorities import Authority, change_authorities
from silocuration.reconciling.http_service import Service
from silocuration.reconciling.places import ReconciliationPlace
from silocuration.reconciling.protocol import ReconciliationQuery
from webui.app import create_app
from webui.asked_jobs import asked_of
from webui.people.accounts import add_account
from webui.people.roles import Role
from webui.site import SiteSettings

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


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (  # guesses the types of a column
            b"queries=%7B%22q0%22%3A%7B%22query%22%3A%22Ortega%2C+N%C3%BAria%22%2C%22limit%22%3A3%7D%7D",
            {"q0": ORTEGA},
        ),
        (
            (
                b"queries=%7B%22q0%22%3A%7B%22query%22%3A%22N%C3%BAria+Ortega%22%2C%22type%22%3A"
                b"%22Person%22%2C%22type_strict%22%3A%22should%22%7D%7D"
            ),
            {"q0": ORTEGA},
        ),
        (
            (
                b"extend=%7B%22ids%22%3A%5B%22creator%3ASmith%2C+J.%22%5D%2C%22properties%22%3A%5B"
                b"%7B%22id%22%3A%22records%22%7D%5D%7D"
            ),
            {"rows": {SMITH: {"records": [{"int": 1}]}}},
        ),
        (  # no row of the column was reconciled
            (
                b"extend=%7B%22ids%22%3A%5B%5D%2C%22properties%22%3A%5B%7B%22id%22%3A%22records%22%7D"
                b"%5D%7D"
            ),
            {"rows": {}},
        ),
    ],
)
def test_what_the_server_of_openrefine_sends_is_answered(
    client: Any, body: bytes, expected: dict[str, Any]
) -> None:
    # OpenRefine 3.8.7 against this service, 29 November 2026: the bytes of its requests.
    headers = {
        "Accept-Encoding": "gzip, x-gzip, deflate",
        "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8",
        "User-Agent": "OpenRefine/3.8.7 [TRUNK]",
    }
    answer = client.ask("POST", "/reconcile", body, headers=headers)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    for key, wanted in expected.items():
        found = answer.json[key]
        assert wanted in (found, *(one["id"] for one in found.get("result", ())[:1]))


def test_openrefine_in_the_browser_reads_manifest_suggestions_and_preview(client: Any) -> None:
    for path in ("", "/suggest/entity?prefix=ort", "/suggest/property?prefix=rec&type=Person",
                 "/properties?type=Person&limit=100"):  # fmt: skip
        answer = client.get(
            f"/reconcile{path}", headers=REFINE | {"Accept": "application/json, */*"}
        )
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
        assert answer.headers["Access-Control-Allow-Origin"] == REFINE["Origin"]
        assert "Origin" in answer.headers["Vary"]
    told = client.get("/reconcile?callback=jQuery1&_=1", headers=REFINE).json
    assert told["batchSize"] == 50  # JSONP is only tried where this fails


def test_an_entity_is_found_by_its_id_as_openrefine_writes_it_into_an_address(
    client: Any, add_record: Callable[..., None]
) -> None:
    # OpenRefine encodes the address of a view or preview as a whole: & # + $ stay as they are.
    subject = "C++ & C# for 100% $& more"
    add_record("oai:example.org:a&b+c", ("title", "Odd names"), ("subject", subject))
    (one,) = asked(client, f"/reconcile/suggest/entity?prefix={quote('C++ & C#')}")["result"]
    assert one["name"] == subject
    for kind in ("view", "preview"):
        whole = quote(f"/reconcile/{kind}?id={one['id']}", safe=";,/?:@&=+$-_.!~*'()#")
        assert client.get(whole).status == (303 if kind == "view" else 200)
    view = client.get(f"/reconcile/view?id={quote(one['id'])}")
    assert view.headers["Location"] == "/search?" + urlencode({"subject": subject})
    rows = asked(client, f"/reconcile?extend={extension(one['id'], 'subject:' + subject)}")["rows"]
    assert [row["records"] for row in rows.values()] == [[{"int": 1}]] * 2
    found = asked(client, "/reconcile?query=" + quote('{"query": "Odd names", "type": "Record"}'))
    key = found["result"][0]["id"]
    assert client.get(quote(f"/reconcile/view?id={key}", safe=";,/?:@&=+$-_.!~*'()#")).status == 303


def extension(*ids: str) -> str:
    return quote(json.dumps({"ids": ids, "properties": [{"id": "records"}]}))


def test_a_blank_cell_does_not_spoil_its_batch(client: Any) -> None:
    batch = {"q0": {"query": "  "}, "q1": {"query": "Smith, J."}, "q2": {"query": ""}}
    found = client.ask("POST", "/reconcile", fields={"queries": json.dumps(batch)}).json
    assert [len(found[key]["result"]) > 0 for key in batch] == [False, True, False]


def test_all_rows_that_openrefine_shows_are_asked_for_at_once(client: Any) -> None:
    # A preview of columns has all rows of the page: at most 1,000.
    ids = [f"creator:{number}" for number in range(999)]
    asks = {"ids": [*ids, SMITH], "properties": [{"id": "records"}]}
    found = client.ask("POST", "/reconcile", fields={"extend": json.dumps(asks)}).json
    assert (len(found["rows"]), found["rows"][SMITH]) == (1000, {"records": [{"int": 1}]})
    asks["ids"] = [*ids, SMITH, ORTEGA]
    assert client.ask("POST", "/reconcile", fields={"extend": json.dumps(asks)}).status == 400


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
    stage.app = create_app(silo, SiteSettings(sign_in=True))
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
        found = service.candidates(
            [ReconciliationQuery("Smith J.", ("Person",)), ReconciliationQuery("ortega n.")]
        )
    assert [one[0].id for one in found] == [SMITH, ORTEGA]


# --------------------------------------------------------------------------- the page


@pytest.fixture
def staff(silo: Silo) -> Silo:
    lists = Path(silo.path, "curation", "lists")
    lists.mkdir(parents=True)
    (lists / "staff.csv").write_text(
        'id,name\n0000-0002-1825-0097,"Smith, J."\n17,"Ortega, N."\n18,"<b>Ortega, Nina</b>"\n'
    )
    Path(silo.path, "curation", "reconciliation.toml").write_text(
        '[places.staff]\nlist = "staff.csv"\nfields = ["creator"]\n'
        '[places.own]\nurl = "http://127.0.0.1:9/"\n'
    )
    return silo


def decide(client: Any, **fields: str) -> Any:
    return client.ask("POST", "/reconciliation", fields={"place": "staff", **fields})


def test_without_places_the_page_says_how_to_add_one(client: Any) -> None:
    assert 'href="/reconciliation/places"' in client.get("/reconciliation").text


def test_values_are_asked_accepted_in_bulk_and_taken_back(client: Any, staff: Silo) -> None:
    answer = decide(client, do="ask")
    assert (answer.status, "done=asked&n=4" in answer.headers["Location"]) == (303, True)
    page = client.get("/reconciliation").text
    assert "Accept 1 clear candidate" in page
    assert "<b>Ortega" not in page
    told = client.json("/reconciliation")
    assert told["numbers"] == {
        "open": 2, "without": 2, "accepted": 0, "rejected": 0, "unasked": 0
    }  # fmt: skip
    assert all(one["candidates"] for one in told["values"])
    without = client.json("/reconciliation?show=without")["values"]
    assert [one["candidates"] for one in without] == [[], []]
    page_without = client.get("/reconciliation?show=without").text
    assert 'type="checkbox" value="none"' in page_without
    assert "Save decisions" in page_without
    accepted = decide(client, do="clear").headers["Location"]
    assert "n=1" in accepted
    assert client.json("/reconciliation")["numbers"]["accepted"] == 1
    record = client.get("/records/oai+example,org+1").text
    assert 'href="https://orcid.org/0000-0002-1825-0097"' in record
    assert "Write identifiers into the records" in client.get("/reconciliation").text
    planned = decide(client, do="write", field="creator").headers["Location"]
    assert planned.startswith("/bulk")
    assert client.get(planned).status == 200
    form = client.get("/bulk?job=" + planned.rpartition("/")[2])
    assert (form.status, "Write identifiers" in form.text) == (200, True)
    batch = accepted.partition("batch=")[2]
    assert "n=1" in decide(client, do="undo", batch=batch).headers["Location"]
    assert client.json("/reconciliation")["numbers"]["accepted"] == 0
    assert decide(client, do="clear", score="1000").status == 400


NO_PLACE = "Dublin Core has no place for identifiers"


def test_the_page_says_that_dublin_core_has_no_place_for_identifiers(
    client: Any, staff: Silo, working_copy: str
) -> None:
    decide(client, do="ask")
    assert NO_PLACE not in client.get("/reconciliation").text
    decide(client, do="clear")
    assert NO_PLACE in client.get("/reconciliation").text
    mods = (
        b'<mods xmlns="http://www.loc.gov/mods/v3"><titleInfo><title>T</title></titleInfo></mods>'
    )
    staff[working_copy].put_stream("mods", mods, metadata=True)
    assert NO_PLACE not in client.get("/reconciliation").text


def test_values_are_decided_one_by_one(client: Any, staff: Silo) -> None:
    decide(client, do="ask")
    chosen = {"value-0": "Ortega, Núria", "pick-0": "id:17", "value-1": "Smith, J.",
              "pick-1": "none", "value-2": "unknown", "pick-2": "id:17"}  # fmt: skip
    answer = decide(client, do="save", **chosen)
    assert "done=decided&n=2" in answer.headers["Location"]
    told = client.json("/reconciliation?show=accepted")
    assert [(one["value"], one["id"]) for one in told["values"]] == [("Ortega, Núria", "17")]
    answer = decide(client, do="undo-0", **{"value-0": "Ortega, Núria"})
    assert "n=1" in answer.headers["Location"]
    assert decide(client, do="save").status == 400


def test_contributors_have_identifiers_of_their_own(
    client: Any, staff: Silo, add_record: Callable[..., None]
) -> None:
    add_record("oai:example.org:c", ("title", "Edited"), ("contributor", "Smith, J."))
    about = {"place": "staff", "field": "contributor"}
    assert "n=1" in client.post("/reconciliation", about | {"do": "ask"}).headers["Location"]
    assert "n=1" in client.post("/reconciliation", about | {"do": "clear"}).headers["Location"]
    url = "/reconciliation?place=staff&field=contributor&show=accepted"
    (one,) = client.json(url)["values"]
    assert (one["value"], one["records"], one["id"]) == (
        "Smith, J.",
        1,
        "https://orcid.org/0000-0002-1825-0097",
    )
    assert "q=contributor%3A%22Smith%2C+J.%22" in client.get(url).text
    assert client.json("/search.json?q=contributor%3A%22Smith%2C+J.%22")["total"] >= 1
    record = client.get("/records/oai+example,org+c").text
    assert 'href="https://orcid.org/0000-0002-1825-0097"' in record


def test_a_service_is_asked_by_a_job(client: Any, staff: Silo) -> None:
    answer = client.ask("POST", "/reconciliation", fields={"place": "own", "do": "ask"})
    assert answer.headers["Location"].startswith("/jobs/")
    page = client.get(answer.headers["Location"]).text
    assert '<a href="/search">Back to the search</a>' in page
    given = {"place": "own", "field": "creator", "select": {"query": "water"}}
    asked = asked_of("reconcile", given, str)
    assert asked is not None
    assert (asked.url, asked.shown_label) == ("/search?q=water", "Show the candidates")
    assert asked.shown == "/reconciliation?q=water&place=own&field=creator"
    assert client.get("/reconciliation?place=nothing").status == 404


PLACES = "/reconciliation/places"


def added(client: Any, name: str, content: bytes | None = None, **fields: str) -> Any:
    chosen = "" if content is None else "people.csv"  # as browsers send it
    parts: list[tuple[str, str | None, bytes]] = [("part", chosen, content or b"")]
    parts += [(key, None, value.encode()) for key, value in ({"name": name} | fields).items()]
    return client.upload(PLACES, parts, accept="text/html")


def test_a_list_is_added_tested_used_and_removed(client: Any, silo: Silo) -> None:
    content = b'id;name\n0000-0002-1825-0097;"Smith, J."\n'
    answer = added(client, "people", content, title="Our people", **{"for-creator": "yes"})
    assert (answer.status, answer.headers["Location"]) == (303, PLACES + "?done=add")
    page = client.get(PLACES).text
    assert "Our people" in page
    assert "The list has 1 name." in client.post(f"{PLACES}/people/test", {}).text
    fields = {"place": "people", "do": "ask"}
    assert "n=4" in client.post("/reconciliation", fields).headers["Location"]
    assert client.post(f"{PLACES}/people/remove", {}).headers["Location"] == PLACES + "?done=remove"
    assert client.json(PLACES)["places"] == []
    assert not Path(silo.path, "curation", "lists", "people.csv").exists()
    assert Path(silo.path, "curation", "reconciliation", "people", "creator.jsonl").exists()


@pytest.mark.parametrize(
    ("name", "content", "fields", "said"),
    [
        ("Our people", b"id,name\n", {}, "Use small letters"),
        ("people", None, {}, "Give the address of a service, or choose a list."),
        ("people", b"name\nSmith\n", {}, "must name the columns id and name"),
        ("people", b"id,name\n1,\n", {}, "line 2 has no id or no name"),
        ("people", b"", {}, "its first line must name the columns id and name"),
        ("people", b"id,name\n", {}, "it has no names below its first line"),
        ("people", b"id,name,id\n1,a,2\n", {}, "names the column id twice"),
        ("people", b'id,name\n1,"a\n2,b\n', {}, "line 2: a quotation mark is not closed"),
        ("people", b"\xff", {}, "save it as UTF-8"),
        ("people", None, {"url": "ftp://example.org/"}, "no address of http or https"),
        ("people", None, {"url": "http://a@example.org/"}, "no address of http or https"),
        ("people", b"id,name\n", {"url": "https://example.org/"}, "either an address or a list"),
        ("staff", None, {"url": "https://example.org/"}, "already a service or list"),
    ],
)
def test_what_cannot_be_added_is_refused_in_the_form(
    client: Any, staff: Silo, name: str, content: bytes | None, fields: dict[str, str], said: str
) -> None:
    answer = added(client, name, content, **fields)
    assert (answer.status, said in answer.text) == (400, True), answer.text
    assert len(client.json(PLACES)["places"]) == 2
    assert not Path(staff.path, "curation", "reconciliation-places").exists()


def test_a_service_is_tested_and_has_a_public_address_unless_the_file_says_so(
    client: Any, silo: Silo
) -> None:
    url = f"http://127.0.0.1:{client.port}/reconcile"
    assert added(client, "own", url=url).status == 303
    assert "Its address is not public" in client.post(f"{PLACES}/own/test", {}).text
    file = Path(silo.path, "curation", "reconciliation.toml")
    file.write_text("[added]\nprivate = true\n")
    page = client.post(f"{PLACES}/own/test", {}).text
    assert "The service answers as" in page
    assert "Types: Person, Organization" in page
    file.write_text('[added]\nprivate = "yes"\n')
    assert "added has private, true or false" in client.get(PLACES).text


def test_a_service_says_what_it_is_before_it_is_added(client: Any, silo: Silo) -> None:
    url = f"http://127.0.0.1:{client.port}/reconcile"
    fields = {"ask": "yes", "name": "own", "url": url, "title": "Ours", "for-creator": "yes"}
    page = client.post(PLACES, fields, accept="text/html").text
    assert "Add Ours?" in page
    assert "Its address is not public" in page
    assert "Add anyway" in page
    Path(silo.path, "curation").mkdir(exist_ok=True)
    Path(silo.path, "curation", "reconciliation.toml").write_text("[added]\nprivate = true\n")
    page = client.post(PLACES, fields, accept="text/html").text
    assert "The service answers as" in page
    assert "Add anyway" not in page
    assert client.json(PLACES)["places"] == []
    form = re.search(
        r'<form action="/reconciliation/places" method="post">.*?</form>', page, re.DOTALL
    )
    assert form is not None
    hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form[0]))
    assert client.post(PLACES, hidden, accept="text/html").status == 303
    (one,) = client.json(PLACES)["places"]
    assert (one["url"], one["title"], one["fields"]) == (url, "Ours", ["creator"])
    assert client.post(PLACES, fields).status == 400


def test_a_service_or_list_is_changed(client: Any, silo: Silo) -> None:
    added(client, "people", b"id,name\n1,Smith\n", title="People", type="Person")
    added(client, "ror", url="https://reconcile.example.org/ror")
    page = client.get(PLACES).text
    assert f'action="{PLACES}/people/change"' in page
    parts = [("part", "new.csv", b"id,name\n1,Smith\n2,Jones\n"), ("title", None, b"Staff"),
             ("for-creator", None, b"yes")]  # fmt: skip
    answer = client.upload(f"{PLACES}/people/change", parts, accept="text/html")
    assert answer.headers["Location"] == PLACES + "?done=change"
    assert "The list has 2 names." in client.post(f"{PLACES}/people/test", {}).text
    url = "https://reconcile.example.org/2"
    assert client.post(f"{PLACES}/ror/change", {"url": url, "title": "ROR"}).status == 200
    told = {one["name"]: one for one in client.json(PLACES)["places"]}
    assert (told["people"]["title"], told["people"]["type"], told["people"]["fields"]) == (
        "Staff", "", ["creator"])  # fmt: skip
    assert (told["ror"]["url"], told["ror"]["title"]) == (url, "ROR")
    for name, wrong, said in (("people", {"url": url}, "is a list, without an address"),
                              ("ror", {}, "is a service, and needs its address"),
                              ("ror", {"url": "ftp://a/"}, "no address of http or https"),
                              ("nothing", {"url": url}, "no service or list")):  # fmt: skip
        answer = client.post(f"{PLACES}/{name}/change", wrong)
        assert (answer.status, said in answer.text) == (404 if name == "nothing" else 400, True)
    assert told == {one["name"]: one for one in client.json(PLACES)["places"]}


def test_places_of_the_file_are_not_removed_on_the_page(client: Any, staff: Silo) -> None:
    assert client.post(f"{PLACES}/staff/remove", {}).status == 404
    assert client.post(f"{PLACES}/nothing/test", {}).status == 404
    assert client.post(f"{PLACES}/staff/change", {"title": "Ours"}).status == 404
    assert client.post(f"{PLACES}/staff/rename", {}).status == 404
    assert "The list has 3 names." in client.post(f"{PLACES}/staff/test", {}).text


@pytest.mark.long
@pytest.mark.browser
def test_a_service_is_added_and_changed_in_a_browser(
    open_page: Callable[..., Page], silo: Silo
) -> None:
    Path(silo.path, "curation").mkdir(exist_ok=True)
    Path(silo.path, "curation", "reconciliation.toml").write_text("[added]\nprivate = true\n")
    page = open_page(PLACES)
    page.get_by_label("Name").fill("ours")
    page.get_by_label("Address of a service").fill(page.url.replace(PLACES, "/reconcile"))
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("The service answers as")).to_be_visible()
    expect(page.get_by_label("Address of a service")).to_have_value(re.compile("/reconcile$"))
    card = page.get_by_role("region", name="Add ours?")
    said, around = card.get_by_role("status").bounding_box(), card.bounding_box()
    assert said
    assert around
    assert said["x"] + said["width"] <= around["x"] + around["width"]
    assert Axe().run(page).response["violations"] == []
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("Added.")).to_be_visible()
    page.locator("main summary", has_text="Change").click()
    assert Axe().run(page).response["violations"] == []
    page.locator("#ours-title").fill("Our own")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Our own")).to_be_visible()


@pytest.mark.long
@pytest.mark.browser
def test_a_service_that_does_not_answer_says_why_in_a_browser_and_is_added_anyway(
    open_page: Callable[..., Page], silo: Silo
) -> None:
    Path(silo.path, "curation").mkdir(exist_ok=True)
    Path(silo.path, "curation", "reconciliation.toml").write_text("[added]\nprivate = true\n")
    page = open_page(PLACES)
    page.get_by_label("Name").fill("svc2")
    page.get_by_label("Address of a service").fill("http://127.0.0.1:9/reconcile")
    page.get_by_role("button", name="Continue").click()
    card = page.get_by_role("region", name="Add svc2?")
    expect(card.get_by_role("status")).to_contain_text("refused")
    expect(page.get_by_label("Address of a service")).to_have_value(re.compile(":9/reconcile$"))
    page.get_by_role("button", name="Add anyway").click()
    expect(page.get_by_text("Added.")).to_be_visible()


@pytest.mark.long
@pytest.mark.browser
def test_a_list_that_cannot_be_used_says_why_in_a_browser(
    open_page: Callable[..., Page], silo: Silo
) -> None:
    page = open_page(PLACES)
    for content, why in ((b"", "must name the columns id and name"), (b"id,name\n", "no names")):
        page.get_by_label("Name").fill("people")
        page.locator("input[type=file]").set_input_files(
            {"name": "people.csv", "mimeType": "text/csv", "buffer": content}
        )
        page.get_by_role("button", name="Continue").click()
        expect(page.locator("main")).to_contain_text(why)
        assert page.get_by_label("Name").input_value() == "people"


@pytest.mark.long
@pytest.mark.browser
def test_ten_creators_are_reconciled_within_the_promised_clicks(
    open_page: Callable[..., Page], silo: Silo, add_record: Callable[..., None]
) -> None:
    names = [f"{name}, A." for name in ("Ash", "Bell", "Carr", "Dunn", "Eden", "Fox", "Gray",
                                        "Hart", "Ince", "Judd")]  # fmt: skip
    add_record("oai:example.org:ten", ("title", "Ten hands"), *(("creator", one) for one in names))
    lists = Path(silo.path, "curation", "lists")
    lists.mkdir(parents=True)
    lines = [f'{n}{m},"{one[:-2]}{first}"' for n, one in enumerate(names)
             for m, first in enumerate(("Anna", "Alma"))]  # fmt: skip
    (lists / "staff.csv").write_text("\n".join(["id,name", *lines]))
    file = Path(silo.path, "curation", "reconciliation.toml")
    file.write_text('[places.staff]\nlist = "staff.csv"\nfields = ["creator"]\n')
    page = open_page("/search?q=%22Ten+hands%22")
    clicks = 0

    def click(what: Any) -> None:
        nonlocal clicks
        clicks += 1
        what.click()

    click(page.get_by_text("Actions", exact=True))
    click(page.get_by_role("link", name="Reconcile", exact=True))
    click(page.get_by_role("button", name="Ask for 10 values"))
    for name in names:
        click(page.get_by_role("radio", name=f"{name[:-2]}Alma"))
    click(page.get_by_role("button", name="Save decisions"))
    expect(page.get_by_text("10 decisions saved.")).to_be_visible()
    write = page.get_by_role("button", name="Write identifiers into the records").bounding_box()
    assert write
    assert write["width"] < 400  # as wide as its text, not as the page
    assert Axe().run(page).response["violations"] == []
    manual = Path(__file__).parents[2] / "docs" / "page-curating.md"
    line = re.search(r"^\| Reconcile ten creators.*\| (\d+) \|$", manual.read_text(), re.MULTILINE)
    assert line is not None
    assert clicks <= int(line[1]) <= 14
