"""The pages of crawls: their list, and the report of each with its figures."""

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from crawlmatch.crawls import match_into_silo
from crawlmatch.matching import MatchRequest
from recordsilo import Silo

PLAIN = "oai:example.org:1"
LINK, GONE, NEVER = (f"http://a.example.org/{name}" for name in ("1.pdf", "2.pdf", "3"))
TYPE = "=cmd|x<script>"


def line(status: int, url: str, mime: str, annotations: str = "-") -> str:
    return (
        f"2024-05-01T03:04:05.000Z {status:>5} {5000:>10} {url} - - {mime} #012 "
        f"20240501030405123+9 sha1:{'A' * 32} - {annotations}\n"
    )


@pytest.fixture
def crawled(silo: Silo, tmp_path: Path) -> Silo:
    """Three links: a full text that was held before, one that is gone, one never fetched."""
    log = tmp_path / "crawl.log"
    log.write_text(
        line(200, LINK, "application/pdf", "duplicate:digest") + line(404, GONE, TYPE)
        + line(200, "http://b.example.org/x.pdf", "application/pdf")
    )  # fmt: skip
    seeds = [(url, PLAIN) for url in (LINK, GONE, NEVER)]
    match_into_silo(silo.path, "spring", MatchRequest([str(log)], seed_rows=seeds))
    return silo


def test_without_a_crawl_the_list_says_how_to_match_one(client: Any) -> None:
    assert "silo crawl match DIR crawl.log.gz" in client.get("/crawls").text
    assert client.json("/crawls.json") == {"crawls": [], "problems": []}
    for name in ("spring", "!R", "..%2F.."):
        assert client.get(f"/crawls/{name}").status == 404


def test_the_list_has_each_crawl_and_names_what_cannot_be_read(client: Any, crawled: Silo) -> None:
    Path(crawled.path, "crawls", "broken").mkdir()
    Path(crawled.path, "crawls", "broken", "crawl.json").write_text("[" * 9)
    (one,) = (found := client.json("/crawls.json"))["crawls"]
    assert (one["name"], one["links"], one["full_texts"]) == ("spring", 3, 1)
    assert found["problems"] == ["The crawl broken cannot be read; match it again."]
    page = client.get("/crawls").text
    assert '<a href="/crawls/spring" dir="auto">spring</a>' in page
    assert "1 (33.3%)" in page


def test_the_report_has_every_figure_and_leads_to_the_records(client: Any, crawled: Silo) -> None:
    told = client.json("/crawls/spring.json")
    assert {name: count for name, count in told["outcomes"].items() if count} == {
        "fulltext-duplicate": 1, "http-4xx": 1, "not-attempted": 1,
    }  # fmt: skip
    assert (told["seed_rows"], told["full_texts"], told["dedupe_share"]) == (3, 1, 1.0)
    assert told["unseeded_full_texts"] == 1
    assert told["status"] == [{"value": one, "count": 1} for one in ("", "200", "404")]

    page = client.get("/crawls/spring").text
    for figure in re.findall(r'<figure class="chart" id="([\w-]+)"', page):
        assert figure == "outcomes" or told[figure]
    assert (
        page.count('href="/search?link_outcome=http-4xx"') == 4
    )  # picture and its name, both tables
    assert 'href="/search?link_status=404"' in page
    assert 'href="/search?link_domain=a.example.org"' in page
    assert PLAIN in client.get("/search?link_status=404&link_domain=a.example.org").text
    assert "Correct the link" in page
    assert "<script>" not in page.partition("<main")[2]
    assert PLAIN in client.get("/search?link_outcome=http-4xx").text


def test_the_figures_are_a_table_that_no_spreadsheet_evaluates(client: Any, crawled: Silo) -> None:
    answer = client.get("/crawls/spring/report.csv")
    assert "-crawl.csv" in answer.headers["Content-Disposition"]
    rows = list(csv.reader(answer.body.decode("utf-8-sig").splitlines()))
    assert rows[0] == ["table", "value", "count"]
    assert ["media types", "'" + TYPE, "1"] in rows
    assert ["outcome", "http-4xx", "1"] in rows


@pytest.mark.parametrize("kept", ["", json.dumps({"tables": 3})])
def test_a_crawl_with_damaged_figures_says_what_to_do(
    client: Any, crawled: Silo, kept: str
) -> None:
    Path(crawled.path, "crawls", "spring", "report.json").write_text(kept)
    for path in ("/crawls/spring", "/crawls/spring/report.csv"):
        assert client.get(path).status == 500
    assert "match the crawl again" in client.get("/crawls/spring.json").error["message"]


def test_the_form_of_a_match_lists_the_files_beside_the_silo(client: Any, silo: Silo) -> None:
    form = "/jobs/new/crawl-match"
    place = Path(f"{silo.path}.crawls")
    assert f"Put the files of the crawl into the directory {place.name}" in client.get(form).text
    place.mkdir()
    for name in ("b.log", "<seeds>"):
        (place / name).touch()
    page = client.get(form).text
    assert 'name="input-b.log" value="yes"' in page
    assert '<option value="&lt;seeds&gt;">' in page
    (ticks,) = [one for one in client.json(form)["fields"] if one["input"] == "ticks"]
    assert [value for value, _label in ticks["choices"]] == ["<seeds>", "b.log"]
    refused = client.ask("POST", "/jobs", fields={"kind": "crawl-match", "name": "x"})
    assert refused.status == 400
    assert "Choose at least one log" in refused.error["message"]


def test_without_the_extra_the_form_says_what_to_install(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "pip install" in client.get("/jobs/new/crawl-match").text
    assert client.get("/crawls").status == 200


def test_reports_need_no_engine(crawled: Silo) -> None:
    program = (
        "import sys; from crawlmatch.kept import latest_crawl; from crawlmatch.report import "
        "report_on; import webui.pages.crawls; report_on(latest_crawl(sys.argv[1], None)); "
        "print(*{'duckdb', 'ada_url'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, crawled.path], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [("light", 320), ("dark", 1280)])
def test_a_report_is_for_everybody(
    open_page: Callable[..., Page], crawled: Silo, scheme: str, width: int
) -> None:
    page = open_page("/crawls", color_scheme=scheme, viewport={"width": width, "height": 800})
    Path(f"{crawled.path}.crawls").mkdir()
    Path(f"{crawled.path}.crawls", "crawl.log." + "x" * 80).touch()
    for path in ("/crawls", "/crawls/spring", "/jobs/new/crawl-match"):
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag22aa"]}).response
        assert found["violations"] == []
        assert page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
