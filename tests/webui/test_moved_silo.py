"""Pages of a Silo that is moved away while it is shown, and comes back."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from copies import copy_of

from recordsilo import Granary, Silo
from webui.app import create_app
from webui.http.security import LOOPBACK_ONLY
from webui.multi_silo import Shelf
from webui.site import SiteSettings

GONE = "This Silo is no longer at its place: it was moved or deleted, or its disk is not there."
PAGES = ("/", "/records", "/search?q=solar", "/jobs", "/harvests", "/queue", "/people", "/nothing")


def test_pages_say_that_the_silo_was_moved_and_go_on_when_it_is_back(
    client: Any, silo: Silo
) -> None:
    before = {page: client.get(page).status for page in PAGES}
    away = f"{silo.path}-away"
    os.rename(silo.path, away)
    for page in PAGES[:-1]:
        answer = client.get(page)
        assert (answer.status, GONE in answer.text) == (503, True), page
        assert silo.path not in answer.text
    page = client.get("/search").text
    assert "<h1>This Silo is not there</h1>" in page
    assert '<a href="">Try again</a>' in page
    assert "Go to the records" not in page
    answer = client.get("/search.json")
    assert (answer.status, answer.error["code"]) == (503, "silo_gone")
    assert client.post("/selection", {"add": "oai:x:1"}).status == 503
    styled = re.findall(r'href="(/static/[^"]+\.css[^"]*)"', client.get("/").text)
    assert {client.get(one).status for one in styled} == {200}
    assert not os.path.lexists(silo.path)
    os.rename(away, silo.path)
    assert {page: client.get(page).status for page in PAGES} == before


def test_the_page_speaks_of_it_in_the_language_of_the_reader(client: Any, silo: Silo) -> None:
    os.rename(silo.path, f"{silo.path}-away")
    answer = client.get("/", headers={"Accept-Language": "de"})
    assert "Dieses Silo ist nicht mehr an seinem Ort" in answer.text
    assert "<h1>Dieses Silo ist nicht da</h1>" in answer.text


@pytest.fixture
def shelf(harvested: str, tmp_path: Path, client: Any, stage: Any) -> Iterator[Any]:
    for name in ("first", "second"):
        copy_of(harvested, tmp_path / "granary" / name)
    shelf = Shelf(
        Granary(str(tmp_path / "granary"), create=False),
        lambda silo: create_app(silo, SiteSettings(on_shelf=True)),
        LOOPBACK_ONLY,
    )
    stage.app = shelf
    yield client
    shelf.close()


def test_one_of_several_silos_is_moved_away_and_comes_back(shelf: Any, tmp_path: Path) -> None:
    first, away = tmp_path / "granary" / "first", tmp_path / "away"
    assert shelf.get("/silos/first/search").status == 200
    first.rename(away)
    for _ in range(2):
        assert shelf.get("/silos/first/search").status == 404
        assert [one["name"] for one in shelf.json("/silos.json")["silos"]] == ["second"]
        assert shelf.get("/search?q=solar").status == 200
    assert not first.exists()
    away.rename(first)
    assert shelf.get("/silos/first/search").status == 200
    assert [one["name"] for one in shelf.json("/silos.json")["silos"]] == ["first", "second"]


def test_the_directory_of_silos_is_moved_away_and_comes_back(shelf: Any, tmp_path: Path) -> None:
    granary, away = tmp_path / "granary", tmp_path / "away"
    assert shelf.get("/silos/first/search").status == 200
    granary.rename(away)
    for page, status in {"/": 503, "/silos/first/search": 503, "/silos.json": 503}.items():
        assert shelf.get(page).status == status, page
    assert not granary.exists()
    away.rename(granary)
    assert shelf.get("/silos/first/search").status == 200
