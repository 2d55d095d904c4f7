"""Outcomes of records' links, in searches, on the page and in tables."""

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from crawl_silo import put

from crawlmatch.kept import DATABASE, kept_crawls
from crawlmatch.link_outcomes import panel
from crawlmatch.results import COLUMNS, write_sqlite
from recordsilo import Silo
from recordsilo.errors import SearchError
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.selection import Selection
from siloexport.targets.tables import write_csv
from webui.app import create_app
from webui.site import SiteSettings

STATUS = {"landing-only": "200", "fulltext": "200", "http-4xx": "404"}
ONE, TWO, THREE = (f"oai:example.org:{number}" for number in (1, 2, 3))


def keep(silo: Silo, name: str, matched: str, *rows: tuple[str, str, str, str, str]) -> None:
    """Keep a crawl as `silo crawl match` does: (identifier, link, outcome, way, final)."""
    path = Path(silo.path, "crawls", name)
    path.mkdir(parents=True, exist_ok=True)
    (path / DATABASE).unlink(missing_ok=True)
    tables = []
    for identifier, url, outcome, crumbs, final in rows:
        known = {"initial_url": url, "identifier": identifier, "outcome": outcome, "hit": 0,
                 "breadcrumbs": crumbs, "final_url": final, "final_timestamp": "20240502030405",
                 "initial_domain": url.split("/")[2], "terminal": 1,
                 "final_status_code": STATUS.get(outcome)}  # fmt: skip
        tables.append(tuple(known.get(column) for column in COLUMNS))
    write_sqlite([tables], str(path / DATABASE))
    (path / "crawl.json").write_text(json.dumps({"format": 1, "matched": matched}))


@pytest.fixture
def crawled(silo: Silo) -> Silo:
    put(silo, ONE, "http://a.example.org/1", "http://a.example.org/2")
    put(silo, TWO, "http://a.example.org/3")
    put(silo, THREE, "http://a.example.org/4")
    keep(
        silo, "spring", "2024-05-02T00:00:00",
        (ONE, "http://a.example.org/1", "landing-only", "R", "http://b.example.org/<1>"),
        (ONE, "http://a.example.org/2", "http-4xx", "-", "http://a.example.org/2"),
        (TWO, "http://a.example.org/3", "fulltext", "LR", "http://a.example.org/3.pdf"),
    )  # fmt: skip
    return silo


def found(silo: Silo, **values: Sequence[str]) -> list[str]:
    return [row.identifier for row in silo.search("", SearchFilters(values=values)).rows]


def counts(silo: Silo, name: str) -> dict[str, int]:
    facet = silo.search(facets=[name], page=PageRequest(limit=1)).facets[name]
    return {one.value: one.count for one in facet}


def page(silo: Silo, path: str, query: str = "") -> str:
    app = create_app(silo, SiteSettings())
    environ: dict[str, Any] = {"PATH_INFO": path, "QUERY_STRING": query}
    setup_testing_defaults(environ)
    body = app(environ, lambda _status, _headers, *_: None)
    return b"".join(body).decode()


def test_records_are_found_by_the_outcomes_of_their_links(crawled: Silo) -> None:
    assert counts(crawled, "link_outcome") == {"landing-only": 1, "http-4xx": 1, "fulltext": 1}
    assert found(crawled, link_outcome=["landing-only"]) == [ONE]
    assert found(crawled, link_outcome=["fulltext", "http-4xx"]) == [ONE, TWO]
    with pytest.raises(SearchError, match="there is no link_outcome 'landing'; there are fulltext"):
        found(crawled, link_outcome=["landing"])


def test_a_silo_may_have_any_character_in_its_path(tmp_path: Path) -> None:
    with Silo(str(tmp_path / "a#b?mode=rwc%41"), "info:") as silo:
        put(silo, ONE, "http://a.example.org/1")
        link = "http://a.example.org/1"
        keep(silo, "spring", "2024-05-02T00:00:00", (ONE, link, "fulltext", "-", link))
        assert found(silo, link_outcome=["fulltext"]) == [ONE]
        assert panel(silo, ONE, "en") is not None
        (kept,) = kept_crawls(silo.path)
        assert kept.rows("SELECT count(*) AS rows FROM crawl_result") == [{"rows": 1}]
    assert os.listdir(tmp_path) == ["a#b?mode=rwc%41"]


def test_records_are_found_by_the_status_and_the_domain_of_their_links(crawled: Silo) -> None:
    assert found(crawled, link_status=["404"]) == [ONE]
    assert found(crawled, link_status=["200"]) == [ONE, TWO]
    assert found(crawled, link_domain=["a.example.org"]) == [ONE, TWO]
    never = (TWO, "http://c.example.org/", "not-attempted", "", "")
    keep(crawled, "autumn", "2024-10-02T00:00:00", never)
    assert found(crawled, link_status=["200"]) == [ONE]
    assert found(crawled, link_domain=["c.example.org"]) == [TWO]
    assert "Domains of links: " not in page(crawled, "/search")


def test_a_dead_link_is_a_finding(crawled: Silo) -> None:
    assert counts(crawled, "finding")["Q611"] == 1
    assert ONE in found(crawled, finding=["Q611"])
    text = page(crawled, "/quality")
    assert "Q611" in text
    assert "Dead link (found by a crawl)" in text


def test_the_newest_crawl_that_had_a_record_counts(crawled: Silo) -> None:
    assert found(crawled, link_outcome=["fulltext"]) == [TWO]
    keep(
        crawled, "autumn", "2024-10-02T00:00:00",
        (ONE, "http://a.example.org/1", "fulltext", "R", "http://b.example.org/1.pdf"),
    )  # fmt: skip
    assert found(crawled, link_outcome=["fulltext"]) == [ONE, TWO]
    assert found(crawled, link_outcome=["http-4xx"]) == []
    view = panel(crawled, ONE, "en")
    assert view is not None
    assert view.note == "Crawl autumn, matched 2024-10-02."


def test_outcomes_are_a_column_of_tables(crawled: Silo) -> None:
    out = io.StringIO()
    write_csv(crawled, Selection(), out, ["record", "link_outcome"])
    assert out.getvalue().splitlines()[1:] == [
        f"{ONE},http-4xx||landing-only", f"{TWO},fulltext", f"{THREE},",
    ]  # fmt: skip


def test_outcomes_are_shown_in_lists_of_records(crawled: Silo) -> None:
    for path in ("/search",):
        text = page(crawled, path)
        assert text.count('dir="auto">Link outcomes: ') == 2
        assert "Link outcomes: Page not found, Web page without a full text</p>" in text


def test_the_page_of_a_record_shows_its_links(crawled: Silo) -> None:
    text = page(crawled, "/records/oai+example,org+1")
    assert '<h2 id="panel-links">Link outcomes</h2>' in text
    assert "Crawl spring, matched 2 May 2024." in text
    assert "web page without a full text" in text
    assert "redirect: http://b.example.org/&lt;1&gt;" in text
    assert "2024-05-02</span>" in text
    assert "panel-links" not in page(crawled, "/records/oai+example,org+3")


def test_the_page_offers_the_outcomes_as_a_facet(crawled: Silo) -> None:
    text = page(crawled, "/search", "link_outcome=fulltext")
    assert "Link outcomes" in text
    assert "Full text fetched" in text
    assert TWO in text
    assert ONE not in text


def test_a_damaged_table_leaves_the_pages_that_do_not_need_it(
    crawled: Silo, caplog: pytest.LogCaptureFixture
) -> None:
    Path(crawled.path, "crawls", "spring", DATABASE).write_bytes(b"no database" * 1000)
    with caplog.at_level(logging.WARNING):
        assert ONE in page(crawled, "/search")
        assert "panel-links" not in page(crawled, "/records/oai+example,org+1")
    assert "the panel links of oai:example.org:1 failed" in caplog.text
    with pytest.raises(SearchError, match=r"'link_outcome' of the package .* failed: "):
        found(crawled, link_outcome=["fulltext"])


def test_neither_search_nor_page_loads_the_engine(crawled: Silo) -> None:
    program = (
        "import sys; from recordsilo.cli import silo_command; "
        "silo_command(['search', sys.argv[1], '--filter', 'link_outcome=landing-only'], "
        "standalone_mode=False); "
        "print(*sorted({'duckdb', 'warcio', 'ada_url'} & set(sys.modules)), 'loaded')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, crawled.path],
        capture_output=True, text=True, check=True, env=os.environ,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1].strip() == "loaded"
    assert done.stdout.startswith(f"{ONE}\t")
