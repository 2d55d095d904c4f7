"""The page ``/search`` of a directory of Silos: one search over all of them."""

import contextlib
import re
from collections.abc import Callable, Iterator
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from index_conformance import put

from recordsilo import Granary
from recordsilo.cli import silo_command
from recordsilo.index.facets import GROUP, Facet
from silofleet.search.everywhere import Everywhere
from silofleet.search.feeding import feed
from silofleet.search.values import AllSearch
from webui.app import create_app
from webui.http.security import LOOPBACK_ONLY
from webui.multi_silo import Shelf
from webui.people.authentication import Gate
from webui.server import PageServer
from webui.site import SiteSettings

RECORDS = {
    "ash": {
        "a/1": {"title": "Solar cells in winter", "creator": "Adeyemi, F.", "date": "2001"},
        "a2": {
            "title": "Solar &lt;b>heat&lt;/b>",
            "type": "Thesis",
            "date": "2002",
            "creator": ["ليلى", "Ames", "Bell", "Cork"],
        },
    },
    "the second": {
        "b1": {"title": "Solar cells, in winter", "creator": "Adeyemi, Fiona", "date": "2001"},
    },
}


@pytest.fixture
def granary(tmp_path: Path) -> Granary:
    granary = Granary(str(tmp_path / "many"))
    for name, records in RECORDS.items():
        with granary.get_silo(name) as silo:
            for identifier, described in records.items():
                put(silo, identifier, **described)
    return granary


@pytest.fixture
def page(granary: Granary, stage: Any, stage_client: Any) -> Iterator[Any]:
    stage.app = Shelf(
        granary, lambda silo: create_app(silo, SiteSettings(on_shelf=True)), LOOPBACK_ONLY
    )
    yield stage_client
    stage.app.close()


@pytest.mark.parametrize("by_index", [False, True])
def test_a_search_over_all_silos_leads_to_the_records_of_each(
    page: Any, granary: Granary, by_index: bool
) -> None:
    if by_index:
        feed(granary)
    found = page.json("/search.json?q=solar&sort=oldest")
    assert (found["total"], found["silos"], found["by_index"]) == (3, 2, by_index)
    assert len(found["hits"]) == 2
    text = page.get("/search?q=solar").text
    links = set(re.findall(r'href="(/silos/[^"?]*)', text))
    assert links == {
        "/silos/ash/records/a=1", "/silos/ash/records/a2", "/silos/the%20second/records/b1",
    }  # fmt: skip
    for link in links:
        assert page.get(link).status == 200
    assert "Also in" in text
    assert "<b>heat" not in text
    (by,) = re.findall(r'<p class="by" dir="auto">(.*ليلى.*)', text)
    assert by == (
        '<span dir="auto">ليلى</span>; <span dir="auto">Ames</span>; '
        '<span dir="auto">Bell</span> and 1 more</p>'
    )


def test_nothing_found_says_what_was_probably_meant(page: Any) -> None:
    text = page.get("/search?q=solr").text
    assert '<a href="/search?q=solar" dir="auto">solar</a> (3 records)' in text
    assert "Remove a filter" not in text
    assert "Remove a filter" in page.get("/search?q=nobodyatall&type=Thesis").text


def test_works_and_records_are_counted_apart_and_a_record_leads_on_through_the_hits(
    page: Any,
) -> None:
    for size in ("", "&limit=1"):
        text = page.get("/search?q=solar&sort=oldest" + size).text
        assert "2 works (3 records)" in " ".join(text.split())
    first = unescape(re.search(r'<h2><a href="(/silos/[^"]*)"', text)[1])
    record = page.get(first, accept="text/html").text
    assert '<a href="/search?q=solar&amp;sort=oldest&amp;limit=1">← Results</a>' in record
    assert "1 of 2" in record
    assert 'rel="prev"' not in record
    following = unescape(re.search(r'rel="next" href="([^"]*)"', record)[1])
    answer = page.get(following, accept="text/html")
    assert answer.status in (302, 303)
    last = page.get(answer.headers["Location"], accept="text/html").text
    assert "2 of 2" in last
    assert 'rel="next"' not in last
    assert page.get("/search?q=solar&hit=9", accept="text/html").status == 404
    assert page.get("/search?q=solar&hit=x", accept="text/html").status == 400
    assert page.get("/search?q=solar+date:2002").text.count("<h2><a") == 1


def test_the_list_of_silos_has_a_field_for_it(page: Any) -> None:
    assert 'action="/search"' in page.get("/").text


def test_facets_narrow_the_search(page: Any) -> None:
    text = page.get("/search?q=solar").text
    assert "/search?q=solar&amp;repository=the+second" in text
    assert "/search?q=solar&amp;repository%21=ash" in text
    found = page.json("/search.json?q=solar&repository!=ash")
    assert [one["identifier"] for one in found["hits"]] == ["b1"]
    assert found["facets"]["repository"] == [
        {"value": "ash", "count": 2},
        {"value": "the second", "count": 1},
    ]
    chosen = page.get("/search?q=solar&repository=ash&year=2001..2002").text
    assert "Remove filter:" in chosen
    assert 'name="repository" value="ash"' in chosen


def test_pages_of_the_result_follow_each_other(page: Any) -> None:
    first = page.get("/search?q=solar&limit=1").text
    assert 'rel="next" href="/search?q=solar&amp;limit=1&amp;start=1"' in first
    second = page.get("/search?q=solar&limit=1&start=1").text
    assert 'rel="next"' not in second
    assert 'rel="prev" href="/search?q=solar&amp;limit=1"' in second


def test_a_silo_that_did_not_answer_is_named_without_its_path(page: Any, granary: Granary) -> None:
    place = Path(granary.dir_of_silos, "ash")
    (place / "pairtree_root").rename(place / "elsewhere")
    (place / ".silo").rename(place / "too")
    text = page.get("/search?q=solar").text
    assert "These did not answer" in text
    assert '<strong dir="auto">ash</strong>' in text
    assert granary.dir_of_silos not in text
    (missing,) = page.json("/search.json?q=solar")["did_not_answer"]
    assert missing["name"] == "ash"


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("repository=oak", 400, "There is no Silo"),
        ("sort=title", 400, "choose one of relevance, newest, oldest, -"),
        ("yaer=2001", 400, "did you mean year"),
        ("sate=x", 400, "The filters are: repository, "),
        ("deleted!=true", 400, "There is no filter"),
        ("start=5000", 400, "first 1,000 hits"),
        ("start=x", 400, "must be a number"),
        ("since=never", 400, "is not a date"),
    ],
)
def test_wrong_searches_get_a_sentence(page: Any, query: str, status: int, said: str) -> None:
    answer = page.get(f"/search?{query}")
    assert answer.status == status
    assert said in answer.text
    assert page.get(f"/search.json?{query}").status == status


def test_many_silos_without_an_index_are_said(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("silofleet.search.everywhere.ASKED_AT_MOST", 1)
    answer = page.get("/search?q=solar")
    assert answer.status == 503
    assert "silo fleet index" in answer.text


SILOS = {"oak": 1, "ash": 2, "elm": 0}
"""Silo → records that are found, on one of two nodes or on none."""


def test_hits_of_other_nodes_lead_to_their_pages(
    page: Any, granary: Granary, tmp_path: Path
) -> None:
    own = Granary(str(tmp_path / "own"))
    with own.get_silo("oak") as silo:
        put(silo, "o1", title="Solar cells in winter", creator="Adeyemi, F.", date="2001")
    address = f"http://127.0.0.1:{page.port}"
    (tmp_path / "own/fleet").mkdir()
    (tmp_path / "own/fleet/endpoints.toml").write_text(f'[nodes.n2]\nsearch = "{address}/"\n')
    shelf = Shelf(own, partial(create_app, settings=SiteSettings(on_shelf=True)), LOOPBACK_ONLY)
    with contextlib.closing(shelf), PageServer(shelf) as server:
        here = type(page)(server.port)
        text = here.get("/search?q=solar").text
        found = here.json("/search.json?q=solar")
        silos = {name: here.json(f"/search.json?q=solar&repository={name}") for name in SILOS}
    assert set(re.findall(r'href="([^"]*/records/[^"]*)"', text)) == {
        "/silos/oak/records/o1?all=q%3Dsolar&amp;hit=1&amp;of=2",
        f"{address}/silos/ash/records/a=1",
        f"{address}/silos/ash/records/a2", f"{address}/silos/the%20second/records/b1",
    }  # fmt: skip
    assert (found["total"], found["silos"], found["did_not_answer"]) == (4, 3, [])
    assert {one["value"]: one["count"] for one in found["facets"]["repository"]} == {
        "ash": 2, "oak": 1, "the second": 1,
    }  # fmt: skip
    assert granary.silos == ["ash", "the second"]
    assert {name: one["total"] for name, one in silos.items()} == SILOS
    assert not any(one["did_not_answer"] for one in silos.values())


def test_what_packages_contribute_is_beside_the_results(
    page: Any, granary: Granary, contribute: Callable[[str, str, Any], None]
) -> None:
    kept = {"reader": {"a2": ["child"], "b1": ["adult"]}, "loans": {"a2": ["3"], "b1": ["20"]}}
    for name, kind in (
        ("reader", {"labels": {"child": "a child", "adult": "an adult"}}),
        ("loans", {"is_order": True, "is_facet": False}),
    ):
        values = partial(_some, kept[name])
        contribute(GROUP, name, Facet(name, f"The {name}", values, lambda _path: "1", **kind))
    text = page.get("/search").text
    assert ">A child<" in text
    assert '<option value="-loans">The loans, highest first</option>' in text
    ordered = page.json("/search.json?sort=-loans")
    assert [one["identifier"] for one in ordered["hits"]] == ["b1", "a2"]
    assert {one["value"] for one in ordered["facets"]["reader"]} == {"child", "adult"}
    assert page.json("/search.json?loans=..5&reader=child")["total"] == 1
    asked = page.json("/search.json?here=yes&facet=of_another_package&facet=year")
    assert asked["facets"]["of_another_package"] == []
    assert len(asked["facets"]["year"]) == 2
    assert page.get("/search.json?facet=of_another_package").status == 400


@pytest.fixture
def guarded(granary: Granary, stage: Any, stage_client: Any) -> Iterator[Any]:
    """A page that requires sign-in."""
    gate = Gate.of(granary.dir_of_silos, "page", sign_in=True)
    settings = SiteSettings(sign_in=True, on_shelf=True)
    stage.app = Shelf(
        granary, lambda silo: create_app(silo, settings, gate.below()), LOOPBACK_ONLY, gate
    )
    yield stage_client
    stage.app.close()


def token_of(directory: str, *words: str, given: str = "") -> str:
    command = ["fleet", "token", directory, *words]
    return CliRunner().invoke(silo_command, command, input=given, catch_exceptions=False).output


def test_a_node_that_requires_sign_in_is_asked_with_its_token(
    guarded: Any, granary: Granary, tmp_path: Path
) -> None:
    directory = str(tmp_path / "own")
    with Granary(directory).get_silo("oak") as silo:
        put(silo, "o1", title="Solar heat", date="2001")
    (tmp_path / "own/fleet").mkdir()
    table = f'[nodes.n2]\nsearch = "http://127.0.0.1:{guarded.port}/"\n'
    (tmp_path / "own/fleet/endpoints.toml").write_text(table)

    def why() -> str:
        answer = Everywhere(Granary(directory)).search(AllSearch("solar"))
        assert answer.total == (1 if answer.missing else 4)
        return answer.missing[0].why if answer.missing else ""

    assert "it asks for sign-in" in why()
    token = token_of(granary.dir_of_silos).strip()
    assert "kept" in token_of(directory, "--of", "n2", given=token + "\n")
    assert why() == ""
    kept = tmp_path / "own/fleet/search-tokens/n2"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert token not in Path(granary.dir_of_silos, "fleet/search-token").read_text()
    kept.chmod(0o640)
    assert "chmod 600" in why()
    kept.chmod(0o600)
    token_of(granary.dir_of_silos)  # another one
    assert why() == "it does not accept the token that is kept for it"
    assert "removed" in token_of(directory, "--of", "n2", "--remove")
    assert "it asks for sign-in" in why()


def test_a_token_allows_the_search_of_a_node_and_nothing_else(
    guarded: Any, granary: Granary
) -> None:
    def status(path: str, authorization: str) -> int:
        headers = {"Authorization": authorization, "Accept": "application/json"}
        return guarded.get(path, headers=headers).status

    assert status("/search.json?here=yes", "Bearer x") == 401  # there is no token yet
    token = token_of(granary.dir_of_silos).strip()
    bearer = f"Bearer {token}"
    assert status("/search.json?here=yes", bearer) == 200
    for wrong in ("", token, "Bearer ", f"Basic {token}", f"Bearer {token}x", f"Bearer {'x' * 43}"):
        assert status("/search.json?here=yes", wrong) == 401, wrong
    for path in ("/", "/silos.json", "/search.json", "/search?here=yes", "/fleet.json",
                 "/silos/ash/search.json?here=yes", "/search.json?token=" + token):  # fmt: skip
        assert status(path, bearer) in {401, 404}, path
    assert guarded.post("/search.json?here=yes", {}, headers={"Authorization": bearer}).status in {
        401, 403, 405,
    }  # fmt: skip
    digest = Path(granary.dir_of_silos, "fleet/search-token").read_text().strip()
    assert status("/search.json?here=yes", f"Bearer {digest}") == 401


def _some(kept: dict[str, list[str]], _path: str, identifiers: list[str]) -> dict[str, list[str]]:
    return {one: kept[one] for one in identifiers if one in kept}
