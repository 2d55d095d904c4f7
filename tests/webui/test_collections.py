"""Collections: their page, picture, order and feed; the feed of any search."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from lxml import etree
from playwright.sync_api import Page, expect

from recordsilo import Silo
from silocuration.collections import MOST_TEXT, Collection, collection_of
from silocuration.searches import load_search
from tests.webui.conftest import ATTACK, PLAIN, RIGHT_TO_LEFT
from tests.webui.test_file_view import png
from webui import atom
from webui.words.markdown import first_words, html_of, is_link

HERE = os.path.dirname(__file__)
PNG = png(40, 30)
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
    bad = client.upload(url + "/edit", [("part", "x.png", PNG[:8] + bytes(40))])
    assert (bad.status, client.get(url + "/picture").status) == (400, 404)
    assert "not a PNG, JPEG, GIF or WebP file" in bad.text
    assert client.upload(url + "/edit", [("part", "x.svg", PNG)]).status == 200
    sent = client.get(url + "/picture")
    assert (sent.headers["Content-Type"], sent.body) == ("image/png", PNG)
    assert "sandbox" in sent.headers["Content-Security-Policy"]
    assert client.json(url + ".json")["text"] == ""
    client.post(url + "/end", {})
    assert [one for one in os.listdir(f"{silo.path}/curation/searches") if "png" in one] == []
    assert load_search(silo.path, name).collection is None


def test_what_is_no_picture_is_told_at_its_field(client: Any, name: str) -> None:
    url = f"/collections/{name}/edit"
    assert "The saved search gets this title, too." in client.get(url).text
    headers = {"Referer": f"http://127.0.0.1:{client.port}{url}"}
    bad = client.upload(url, [("part", "x.txt", b"text")], accept="text/html", headers=headers)
    assert bad.status == 400
    assert 'id="part-fault">The picture is not a PNG' in bad.text
    assert 'aria-describedby="part-hint part-fault"' in bad.text


@pytest.mark.long
@pytest.mark.browser
def test_what_is_no_picture_is_told_at_its_field_in_a_browser(
    name: str, open_page: Callable[..., Page]
) -> None:
    page = open_page(f"/collections/{name}/edit")
    text = {"name": "x.txt", "mimeType": "text/plain", "buffer": b"text"}
    field = page.get_by_label("Upload a picture")
    for _time in range(2):
        field.set_input_files(text)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("alert")).to_have_text(
            "The picture is not a PNG, JPEG, GIF or WebP file."
        )
        expect(page.locator("#part + .fault")).to_be_visible()
    expect(field).to_have_attribute("aria-describedby", "part-hint part-fault")
    expect(field).to_be_focused()
    expect(page.locator(".sending")).to_be_hidden()


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
    entry = atom.AtomEntry(text, text, "http://h/r", date, (text,), (text,))
    iri = atom.AtomEntry("oai:x y\x00中", text, "http://h/r", date)
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


def test_the_text_is_markdown_that_can_hold_nothing_else(client: Any, name: str) -> None:
    text = (
        "# Water\n\nOn *water*, [here](https://example.org/).\n\n- <b>bold</b>\n"
        "- ![picture](https://example.org/x.png)\n- [bad](javascript:alert(1))\n"
        "- [worse](//example.org)\n\n<script>alert(1)</script>"
    )
    client.upload(f"/collections/{name}/edit", [("text", None, text.encode())])
    page = client.get(f"/collections/{name}").text
    assert '<h2 dir="auto">Water</h2>' in page
    link = '<a href="https://example.org/" rel="nofollow noopener noreferrer">here</a>'
    assert f"<em>water</em>, {link}." in page
    for kept_out in ("<b>", '<img src="https:', "<script>alert", 'href="javascript', 'href="//'):
        assert kept_out not in page
    assert "On water, here." in client.get("/collections").text


def test_first_words_and_links_of_markdown() -> None:
    assert first_words("# Title\n\nOne *two*\n`three`\n\nfour") == "One two three"
    assert first_words("# Title") == first_words("") == ""
    assert html_of("") == ""
    good = ("https://a.org", "mailto:a@b.org", "/search?q=1", "#top")
    assert all(map(is_link, good))
    bad = ("javascript:x", "data:text/html,x", "//a.org", "/\\a.org", "x", "http://[", "")
    assert not any(map(is_link, bad))


def test_what_cannot_be_a_record_is_never_put_first(client: Any, silo: Silo, name: str) -> None:
    fields = {"row-0": "a\0b", "place-0": "1"}
    assert client.post(f"/collections/{name}/order", fields).status == 400
    file = f"{silo.path}/curation/searches/{name}.toml"
    with open(file, "a", encoding="utf-8") as written:
        written.write('first = ["a\\u0000b", 1]\n')
    assert client.get(f"/collections/{name}").status == 200
    assert client.get(f"/collections/{name}/edit").status == 200


@pytest.mark.long
@pytest.mark.browser
def test_the_order_is_changed_by_dragging_and_by_keys(
    client: Any, name: str, open_page: Callable[..., Page]
) -> None:
    client.post(f"/collections/{name}/edit", {"title": "Many records", "sort": "identifier"})
    page = open_page(f"/collections/{name}/edit")
    rows = page.locator("ol.places > li")
    titles = rows.locator("label").all_text_contents()
    grip = page.get_by_role("button", name=f"Move {titles[2]}", exact=True)
    grip.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(grip).to_be_focused()
    expect(page.get_by_text(f"{titles[2]}: place 1")).to_be_attached()
    numbers = rows.locator("input[type=number]")
    assert [one.input_value() for one in numbers.all()[:4]] == ["1", "2", "", ""]
    rows.nth(3).locator(".mover").hover()
    target = rows.nth(0).bounding_box()
    assert target is not None
    page.mouse.down()
    page.mouse.move(target["x"] + 20, target["y"] + 3, steps=8)
    page.mouse.up()
    expected = [titles[3], titles[2], titles[0]]
    assert rows.locator("label").all_text_contents()[:3] == expected
    assert Axe().run(page).response["violations"] == []
    page.get_by_role("button", name="Save the order").click()
    found = client.json(f"/collections/{name}.json")
    assert [one["title"] for one in found["records"]][:3] == expected
