"""A directory of Silos as one page: each under its own path, every link within it."""

import re
import shutil
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

import pytest

from recordsilo import Granary
from webui.app import create_app
from webui.mount import Mounted
from webui.security import LOOPBACK_ONLY
from webui.shelf import Shelf, is_directory_of_silos
from webui.site import Settings


@pytest.fixture
def granary(harvested: str, tmp_path: Any) -> Granary:
    for name in ("first", "the second"):
        shutil.copytree(harvested, tmp_path / "granary" / name)
    return Granary(str(tmp_path / "granary"), create=False)


@pytest.fixture
def shelf(granary: Granary, client: Any, stage: Any) -> Iterator[Any]:
    shelf = Shelf(
        granary,
        lambda silo: create_app(silo, Settings(agent="a.curator", on_shelf=True)),
        LOOPBACK_ONLY,
    )
    stage.app = shelf  # after `client` set its own
    yield client
    shelf.close()


def test_the_list_leads_to_every_silo(shelf: Any) -> None:
    listed = shelf.json("/silos.json")["silos"]
    assert [(one["name"], one["records"]) for one in listed] == [("first", 60), ("the second", 60)]
    page = shelf.get("/").text
    for one in listed:
        assert f'href="{one["url"]}"' in page
        assert shelf.get(one["url"]).headers["Location"] == f"{one['url']}records"


def test_no_link_leaves_the_silo(shelf: Any) -> None:
    base = "/silos/the%20second"
    paths = ["/search?q=keeping", "/records", "/sets", "/records/oai+example,org+1", "/searches"]
    seen = 0
    for path in paths:
        page = shelf.get(base + path)
        assert page.status == 200, path
        for url in re.findall(r'(?:href|action|src|data-values)="(/[^"]*)"', page.text):
            assert url.startswith(base + "/"), url
            seen += 1
    assert seen > 100
    assert shelf.get(re.findall(r'href="(/[^"]*silo\.css[^"]*)"', page.text)[0]).status == 200


def test_every_page_of_a_silo_leads_back_to_the_list(shelf: Any) -> None:
    own = "/silos/the%20second/records/oai+example,org+1"
    found = re.search(r'class="shelf" href="([^"]*)"', shelf.get(own).text)
    assert found is not None
    back = urljoin(own, found[1])
    assert back == "/silos/"
    assert 'href="/silos/first/"' in shelf.get(back).text


def test_a_silo_by_itself_leads_to_no_list(client: Any) -> None:
    assert 'class="shelf"' not in client.get("/records").text


def test_the_twins_links_can_be_followed(shelf: Any) -> None:
    found, url = 0, "/silos/first/search.json?limit=25"
    while url:
        answer = shelf.json(url)
        found += len(answer["records"])
        assert all(row["url"].startswith("/silos/first/records/") for row in answer["records"])
        url = answer["next"]
    assert found == 60
    assert shelf.json("/silos/first/openapi.json")["servers"] == [{"url": "/silos/first/"}]


def test_a_change_reaches_one_silo_and_leads_back_to_it(shelf: Any) -> None:
    made = shelf.post("/silos/first/records", {"id": "new:1"})
    assert (made.status, made.headers["Location"]) == (201, "/silos/first/records/new+1")
    assert shelf.get("/silos/first/records/new+1.json").status == 200
    assert shelf.get("/silos/the%20second/records/new+1.json").status == 404


def test_texts_of_records_stay_as_they_are(shelf: Any) -> None:
    text = '" href="/x" {"url": "/y"}'
    answer = shelf.post("/silos/first/searches", {"search": "q=keeping", "title": text})
    assert answer.json["title"] == text
    page = shelf.get("/silos/first/searches").text
    assert "&#34; href=&#34;/x&#34;" in page


@pytest.mark.parametrize("path", ["/silos/third/", "/nothing", "/silos/..%2f/", "/silos/%2e%2e/x"])
def test_what_is_not_there_is_not_found(shelf: Any, path: str) -> None:
    assert shelf.get(path).status == 404
    assert shelf.get(path, accept="application/json").error["code"] == "not_found"


def test_the_list_answers_names_of_loopback_only_and_takes_no_change(shelf: Any) -> None:
    assert shelf.get("/", headers={"Host": "evil.example"}).status == 421
    assert shelf.post("/silos", {}).status == 405
    assert shelf.get("/silos/first").headers["Location"] == "/silos/first/"
    assert shelf.get("/records").headers["Location"] == "/"


def test_cookies_and_locations_get_the_path_and_others_stay() -> None:
    mounted = Mounted(lambda _environ, _start: [], "/silos/a")
    assert mounted._header("Set-Cookie", "s=1; Path=/; HttpOnly") == (
        "Set-Cookie",
        "s=1; Path=/silos/a/; HttpOnly",
    )
    assert mounted._header("Location", "//elsewhere/x")[1] == "//elsewhere/x"
    assert mounted._header("Location", "/records")[1] == "/silos/a/records"


def test_a_silo_is_no_directory_of_silos(harvested: str, granary: Granary, tmp_path: Any) -> None:
    assert is_directory_of_silos(granary.dir_of_silos)
    assert not is_directory_of_silos(harvested)
    assert not is_directory_of_silos(str(tmp_path / "nothing"))
