"""A real Heritrix crawls a site on loopback, twice; every outcome is right."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import real_heritrix
from crawl_silo import put
from crawled_site import PDF_BODY, Site, serving
from ports import free_port

from crawlmatch.attach import attach
from crawlmatch.crawls import match_into_silo
from crawlmatch.matching import MatchRequest, match_into
from crawlmatch.uris import BadAddress, heritrix_form
from recordsilo import Silo

pytestmark = pytest.mark.long


@dataclass(frozen=True, slots=True)
class Crawled:
    """A site, and two crawls of it; the second one knows what the first one fetched."""

    site: Site
    first: Path
    second: Path


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    work = tmp_path_factory.mktemp("heritrix") / "work"
    with (
        serving(free_port()) as site,
        real_heritrix.running(real_heritrix.OLD, work) as heritrix,
    ):
        heritrix.make_job("site", site.crawler_seeds)
        yield Crawled(site, heritrix.crawl("site"), heritrix.crawl("site"))


def request(site: Site, run: Path, **more: Any) -> MatchRequest:
    inputs = [str(run / "logs" / "crawl.log"), *map(str, sorted((run / "warcs").glob("*.warc.gz")))]
    rows = [(address, path) for path, address in zip(site.outcomes, site.seeds, strict=True)]
    return MatchRequest(inputs, seed_rows=rows, unseeded=False, **more)


def found(directory: Path) -> dict[str, tuple[str, str]]:
    with sqlite3.connect(directory / "crawl_result.sqlite") as connection:
        rows = connection.execute("SELECT identifier, outcome, final_url FROM crawl_result")
        told = {path: (outcome, final) for path, outcome, final in rows}
    connection.close()
    return told


def expected(site: Site, *, again: bool = False) -> dict[str, tuple[str, str]]:
    """What is true of the first crawl, or of the one after it: the same content as before."""
    return {
        path: (
            "fulltext-duplicate" if again and outcome == "fulltext" else outcome,
            heritrix_form(site.address(site.finals[path])),
        )
        for path, outcome in site.outcomes.items()
    }


def matched(run: MatchRequest, directory: Path) -> dict[str, tuple[str, str]]:
    directory.mkdir()
    receipt = match_into(str(directory), run)
    assert receipt.set_aside == 0
    assert sum(receipt.outcomes.values()) == receipt.seed_rows
    return found(directory)


def test_every_outcome_of_a_first_crawl_is_right(crawled: Crawled, tmp_path: Path) -> None:
    site = crawled.site
    assert matched(request(site, crawled.first), tmp_path / "out") == expected(site)


def test_every_outcome_of_a_second_crawl_is_right(crawled: Crawled, tmp_path: Path) -> None:
    site = crawled.site
    second = request(site, crawled.second)
    assert matched(second, tmp_path / "out") == expected(site, again=True)


def test_both_crawls_together_hold_the_first_ones_bytes(crawled: Crawled, tmp_path: Path) -> None:
    first, second = (request(crawled.site, run) for run in (crawled.first, crawled.second))
    both = MatchRequest([*second.inputs, *first.inputs], seed_rows=first.seed_rows, unseeded=False)
    assert matched(both, tmp_path / "out") == expected(crawled.site)


def test_full_texts_are_attached_to_their_records_once(crawled: Crawled, tmp_path: Path) -> None:
    site = crawled.site
    with Silo(str(tmp_path / "silo"), "info:") as silo:
        put(silo, "/item/1", site.address("/item/1"))
        put(silo, "/direct.pdf", site.address("/direct.pdf"), site.address("/to-seen"))
        kept, _ = match_into_silo(silo.path, "site", request(site, crawled.first))
        first = attach(silo, kept, [str(crawled.first / "warcs")])
        assert first.attached == 2
        assert first.refused == []
        assert first.unknown == set(site.outcomes) - {"/item/1", "/direct.pdf"} - {
            path for path, outcome in site.outcomes.items() if outcome != "fulltext"
        }
        record = silo["/item/1"]
        assert record.versions == ["1", "workingcopy"]
        with record.get_stream("files/paper.pdf") as file:
            assert file.read() == PDF_BODY + b"/item/1/paper.pdf"
        (note,) = record.metadata["crawled_files"]
        assert note["final_url"] == site.address("/item/1/paper.pdf")
        assert note["crawl"] == "site"
        revision = record.revision
        again = attach(silo, kept, [str(crawled.first / "warcs")])
        assert (again.attached, again.present) == (0, 2)
        assert silo["/item/1"].revision == revision


def test_no_address_is_refused_that_heritrix_fetched(crawled: Crawled) -> None:
    with (crawled.first / "logs" / "crawl.log").open() as log:
        addresses = [line.split()[3] for line in log]
    for address in addresses:
        try:
            assert heritrix_form(address) == address
        except BadAddress:
            assert address.startswith("dns:")
