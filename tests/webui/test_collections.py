"""Collections: their page, picture, order and feed; the feed of any search."""

import os
from typing import Any

import pytest
from lxml import etree

from recordsilo import Silo
from silocuration.collections import MOST_TEXT, Collection, collection_of
from silocuration.searches import load_search
from tests.webui.conftest import ATTACK, PLAIN, RIGHT_TO_LEFT
from webui import atom
from webui.collections import paragraphs

HERE = os.path.dirname(__file__)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
NAMES = {"a": "http://www.w3.org/2005/Atom"}


def checked(body: bytes) -> Any:
    """The feed, valid by the grammar of RFC 4287."""
    grammar = etree.RelaxNG(etree.parse(os.path.join(HERE, "atom.rng")))
    feed = etree.fromstring(body)
    grammar.assertValid(feed)
    return feed


@pytest.fixture
def name(client: Any) -> str:
    """A collection of the records of the sample whose titles begin with Record."""
    made = client.post("/searches", {"title": "Many records", "search": "q=record*"}).json
    client.post(f"/collections/{made['name']}/edit", {"title": "Many records", "text": "First."})
    return str(made["name"])


def test_a_saved_search_becomes_a_collection_and_is_listed(client: Any, name: str) -> None:
    (one,) = client.json("/collections.json")["collections"]
    assert (one["title"], one["text"], one["picture"]) == ("Many records", "First.", "")
    assert f'href="{one["url"]}"' in client.get("/").text
    found = client.json(one["url"] + ".json")
    assert found["total"] == client.json("/search.json?q=record*")["total"]
    assert len(found["records"]) == 25
    assert len(client.json(found["next"])["records"]) == 25


def test_a_search_that_is_no_collection_has_no_page(client: Any) -> None:
    client.post("/searches", {"title": "Mere", "search": "q=record*"})
    assert client.get("/collections/mere").status == 404
    assert client.get("/collections/mere/edit").status == 200
    assert client.get("/collections/nope/edit").status == 404
    assert client.json("/collections.json")["collections"] == []


def test_records_with_a_number_come_first_if_the_search_finds_them(
    client: Any, silo: Silo, name: str
) -> None:
    fields = {"row-0": "oai:example.org:140", "place-0": "2", "row-1": PLAIN, "place-1": "1",
              "row-2": "oai:example.org:150", "place-2": "1.5", "row-3": "oai:example.org:101",
              "place-3": "", "row-4": RIGHT_TO_LEFT, "place-4": "-1"}  # fmt: skip
    client.post(f"/collections/{name}/order", fields)
    found = client.json(f"/collections/{name}.json")
    shown = [one["identifier"] for one in found["records"]]
    assert found["first"] == [RIGHT_TO_LEFT, *shown[:3]]
    assert shown[:3] == [PLAIN, "oai:example.org:150", "oai:example.org:140"]
    page, seen = found, list(shown)
    while page["next"]:
        page = client.json(page["next"])
        seen += [one["identifier"] for one in page["records"]]
    assert len(seen) == len(set(seen)) == found["total"]
    assert client.post(f"/collections/{name}/order", {"row-0": PLAIN, "place-0": "x"}).status == 400


def test_a_picture_is_sent_with_its_own_type_and_nothing_else_is_taken(
    client: Any, silo: Silo, name: str
) -> None:
    url = f"/collections/{name}"
    assert client.get(url + "/picture").status == 404
    bad = client.upload(url + "/edit", [("part", "x.png", ATTACK.encode())])
    assert (bad.status, client.get(url + "/picture").status) == (400, 404)
    assert client.upload(url + "/edit", [("part", "x.svg", PNG)]).status == 200
    sent = client.get(url + "/picture")
    assert (sent.headers["Content-Type"], sent.body) == ("image/png", PNG)
    assert "sandbox" in sent.headers["Content-Security-Policy"]
    assert client.json(url + ".json")["text"] == ""
    client.post(url + "/end", {})
    assert [one for one in os.listdir(f"{silo.path}/curation/searches") if "png" in one] == []
    assert load_search(silo.path, name).collection is None


def test_texts_are_escaped(client: Any, name: str) -> None:
    url = f"/collections/{name}"
    client.post(url + "/edit", {"title": ATTACK, "text": f"{ATTACK}\n\nTwo"})
    for page in (url, url + "/edit", "/collections", "/"):
        assert ATTACK not in client.get(page).text, page
    assert checked(client.get(url + "/feed.atom").body).findtext("a:title", None, NAMES) == ATTACK
    assert client.post(url + "/edit", {"text": "x" * (MOST_TEXT + 1)}).status == 400


def test_feeds_are_valid(client: Any, name: str) -> None:
    feed = checked(client.get(f"/collections/{name}/feed.atom").body)
    assert len(feed.findall("a:entry", NAMES)) == 25
    found = client.get("/search.atom")
    assert found.headers["Content-Type"].startswith("application/atom+xml")
    entries = checked(found.body).findall("a:entry", NAMES)
    assert len(entries) == 25
    one = checked(client.get("/search.atom?creator=Smith%2C+J.").body)
    assert one.findtext("a:entry/a:author/a:name", None, NAMES) == "Ortega, Núria"
    assert one.findtext("a:entry/a:id", None, NAMES) == PLAIN
    assert one.find("a:entry/a:link", NAMES).get("href").startswith("http://")
    assert len(checked(client.get("/search.atom?q=nobody").body).findall("a:entry", NAMES)) == 0
    assert 'type="application/atom+xml"' in client.get("/search?q=record*").text


@pytest.mark.parametrize("date", ["", "x", "2001-02-03", "2001-02-03T04:05:06", "\x00"])
@pytest.mark.parametrize("text", ["a", "\x00\ud800<&", "中"])
def test_a_feed_is_valid_whatever_the_records_say(date: str, text: str) -> None:
    entry = atom.Entry(text, text, "http://h/r", date, (text,), (text,))
    iri = atom.Entry("oai:x y\x00中", text, "http://h/r", date)
    feed = atom.Feed(text, "http://h/f", "http://h/p", text, text, date)
    checked(atom.written(feed, [entry, iri]))
    checked(atom.written(feed, []))


def test_what_people_wrote_wrongly_into_a_collection_is_left_out(silo: Silo, client: Any) -> None:
    client.post("/searches", {"title": "Odd", "search": "q=record*"})
    path = f"{silo.path}/curation/searches/odd.toml"
    with open(path, "a", encoding="utf-8") as file:
        file.write('\n[collection]\ntext = 5\nfirst = [1, "x"]\npicture = "../../x"\n')
    assert collection_of(load_search(silo.path, "odd")) == Collection("5", first=("x",))
    assert client.get("/collections/odd").status == 200


def test_paragraphs() -> None:
    assert paragraphs("a\nb\n \n\nc\n") == ["a\nb", "c"]


def test_what_cannot_be_a_record_is_never_put_first(client: Any, silo: Silo, name: str) -> None:
    fields = {"row-0": "a\0b", "place-0": "1"}
    assert client.post(f"/collections/{name}/order", fields).status == 400
    file = f"{silo.path}/curation/searches/{name}.toml"
    with open(file, "a", encoding="utf-8") as written:
        written.write('first = ["a\\u0000b", 1]\n')
    assert client.get(f"/collections/{name}").status == 200
    assert client.get(f"/collections/{name}/edit").status == 200
