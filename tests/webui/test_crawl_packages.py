"""The pages of packages: their list, the way of each through the steps, and a step tried again."""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from packages_made import made
from playwright.sync_api import Page

from recordsilo import Silo
from silocrawl.messages import TO_PACKAGE, TO_SUBMIT
from silocrawl.packages.indexing import index
from silocrawl.packages.kept import keep_package
from silocrawl.packages.layout import merged_name, state_file, store_file
from silocrawl.packages.settings import StoreSettings, store_settings
from silocrawl.packages.store import open_store
from silocrawl.packages.submitting import kept_receipt_file, submit
from silocrawl.packages.values import Package, PackageState, checkpoint_message, package_message
from silocrawl.packages.verifying import verify
from silocrawl.sharing import open_own_queues
from silowork.queues.values import Message
from tests.webui.test_browser import fits, is_accessible

ID = "own-cp00001"
URL = f"/crawling/packages/{ID}"
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def settings(silo: Silo, tmp_path: Path) -> StoreSettings:
    found = StoreSettings(str(tmp_path / "store"), nodes=("reading-room", "web"))
    store_settings(silo.path, found)
    return found


@pytest.fixture
def verified(silo: Silo, settings: StoreSettings) -> Package:
    """A package that is verified, with something harmful in it, and merged on one node."""
    store = open_store(settings.store, is_new=True)
    work = made(Path(silo.path), store, viral=True, settings=settings)
    for step in (submit, index, verify):
        step(work, settings)
    store.put(merged_name(ID, "web"), b"2026-03-02T10:00:00Z\n")
    states = [one for one in PackageState if one is not PackageState.MERGED]
    history = tuple((one, NOW + timedelta(hours=n)) for n, one in enumerate(states))
    return keep_package(silo.path, replace(work.package, store=store.address, history=history))


@pytest.fixture
def failed(silo: Silo, settings: StoreSettings) -> Package:
    """A package whose submission failed too often."""
    store = open_store(settings.store, is_new=True)
    work = made(Path(silo.path), store, "own-cp00002", settings=settings)
    history = tuple((one, NOW) for one in list(PackageState)[:3])
    error = f"{silo.path}/x <b> is not there"
    one = replace(work.package, store=store.address, history=history, error=error)
    with open_own_queues(silo.path) as queues:
        queues.put([package_message(TO_SUBMIT, one)])
        queues.failed(queues.take(TO_SUBMIT), error, None)
    return keep_package(silo.path, one)


def test_without_packages_the_page_says_how_to_begin(client: Any, silo: Silo) -> None:
    assert client.json("/crawling/packages") == {
        "packages": [], "waiting": [], "problems": [], "next": None,
    }  # fmt: skip
    page = client.get("/crawling/packages").text
    assert "No packages yet" in page
    assert "silo crawl package DIR" in page


def test_packages_are_listed_the_newest_first(
    client: Any, silo: Silo, verified: Package, failed: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_package(silo.path, replace(failed, ended=failed.ended + timedelta(days=1)))
    monkeypatch.setattr("webui.crawling.packages.LISTED", 1)
    first = client.json("/crawling/packages")
    second = client.json(first["next"])
    assert [one["package"] for one in first["packages"]] == [failed.id]
    assert [one["state"] for one in second["packages"]] == ["verified"]
    assert second["next"] is None
    assert verified.ark in client.get("/crawling/packages?start=1").text
    page = client.get("/crawling/packages").text
    assert '<span class="badge deleted">failed</span>' in page


def test_checkpoints_that_cannot_be_packaged_are_listed(client: Any, silo: Silo) -> None:
    with open_own_queues(silo.path) as queues:
        queues.put([checkpoint_message("own", "cp00009-20261128110000")])
        queues.failed(queues.take(TO_PACKAGE), f"{silo.path}/x.warc.gz is not there", None)
    (one,) = client.json("/crawling/packages")["waiting"]
    assert (one["is_dead"], one["reason"].endswith("/x.warc.gz is not there")) == (True, True)
    page = client.get("/crawling/packages").text
    assert '<a href="/crawling/dead/checkpoints-to-package">failed too often</a>' in page
    assert silo.path not in page
    assert client.get("/crawling/dead/checkpoints-to-package").status == 200


def test_messages_that_others_have_named_are_listed_as_text(client: Any, silo: Silo) -> None:
    names = ["../../etc", "<script>alert(1)</script>", "\0", "x" * 500]
    with open_own_queues(silo.path) as queues:
        queues.put([Message(TO_PACKAGE, b"{}", one) for one in names])
    assert [one["package"] for one in client.json("/crawling/packages")["waiting"]] == names
    assert "<script>alert" not in client.get("/crawling/packages").text


def test_a_package_has_its_way_its_files_its_receipt_and_its_nodes(
    client: Any, silo: Silo, verified: Package
) -> None:
    found = client.json(URL)
    assert [bool(step["at"]) for step in found["steps"]] == [True] * 5 + [False]
    assert found["steps"][-1]["is_next"]
    assert {one["ark"] for one in found["warcs"]} == {one.ark for one in verified.warcs}
    assert found["receipt"]["place"].endswith(ID)
    assert found["nodes"] == {"reading-room": None, "web": "2026-03-02T10:00:00Z"}
    page = client.get(URL).text
    for said in (verified.ark, "Shown from", "viral", "reading-room", "not yet"):
        assert said in page
    assert "Try again" not in page


def test_where_no_node_is_named_the_page_says_so_and_shows_who_has_merged(
    client: Any, silo: Silo, verified: Package
) -> None:
    os.unlink(store_file(silo.path))
    found = client.json(URL)
    assert found["nodes"] == {"web": "2026-03-02T10:00:00Z"}
    assert found["steps"][-1]["is_unasked"]
    page = client.get(URL).text
    assert "No access node is named" in page
    assert "not asked for" in page


def test_a_failed_step_says_why_and_what_to_do_and_is_tried_again(
    client: Any, silo: Silo, failed: Package
) -> None:
    url = f"/crawling/packages/{failed.id}"
    page = client.get(url).text
    assert "x &lt;b&gt; is not there See that the store answers" in page
    assert silo.path not in page
    assert "Try again" in page
    answer = client.post(f"{url}/retry", {}, accept="text/html")
    assert "as soon as silo crawl run comes to it" in client.get(answer.headers["Location"]).text
    with open_own_queues(silo.path) as queues:
        assert queues.sizes()[TO_SUBMIT].waiting == 1
    assert client.post(f"{url}/retry", {}).json == {"package": failed.id, "is_new": False}


def test_what_is_damaged_or_gone_is_told(
    client: Any, silo: Silo, verified: Package, settings: StoreSettings
) -> None:
    Path(kept_receipt_file(silo.path, ID)).write_bytes(b"{}")
    Path(settings.store).rename(f"{settings.store}-gone")
    answer = client.get(URL)
    assert (answer.status, silo.path in answer.text) == (200, False)
    assert "is not there" in answer.text
    Path(state_file(silo.path, ID)).write_text("{")
    (problem,) = client.json("/crawling/packages")["problems"]
    assert silo.path not in problem
    answer = client.get(URL)
    assert (answer.status, silo.path in answer.text) == (500, False)
    for wrong in ("none", "..%2F..", "a%20b", "%5Ex"):
        assert client.get(f"/crawling/packages/{wrong}").status == 404
        assert client.post(f"/crawling/packages/{wrong}/retry", {}).status == 404


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.usefixtures("verified")
def test_the_pages_are_for_everybody(open_page: Callable[..., Page], failed: Package) -> None:
    page = open_page("/crawling/packages", viewport={"width": 320, "height": 800})
    for path in ("/crawling/packages", URL, f"/crawling/packages/{failed.id}"):
        page.goto(path)
        is_accessible(page, path)
        fits(page, path)
