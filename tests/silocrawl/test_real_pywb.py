"""A real pywb: it replays our archives, and answers CDX queries as we do."""

import json
from itertools import product
from urllib.parse import parse_qsl, quote

import pytest
import requests
from ports import free_port
from site_of_traps import Site, page
from test_cdx_query import CAPTURES, outcome

from recordsilo import Silo
from silocrawl.cdx_query import answer, query_of
from silocrawl.cdxj import Segments, line_of
from silocrawl.launching import inject
from silocrawl.paths import index_directory
from silocrawl.replay import replaying
from silocrawl.running import CrawlSettings, CrawlWorker
from silowork.queues.sqlite import SqliteQueues
from silowork.stop import Stop

pytestmark = pytest.mark.long
URLS = ("example.org", "http://example.org/a*", "example.org/a/", "*.example.org",
        "example.org/a.pdf?", "https://example.org/a.pdf?x=1", "docs.example.org/")  # fmt: skip
MATCHES = ("", "&matchType=exact", "&matchType=prefix", "&matchType=host", "&matchType=domain")
REST = ("", "&from=2025", "&to=2025&limit=1", "&sort=reverse&limit=2", "&filter=!~mime:.*html",
        "&closest=20250602120000&limit=2", "&filter==status:404&filter=mime:html",
        "&fl=url,timestamp")  # fmt: skip


def test_pywb_replays_what_was_crawled_and_answers_queries_as_we_do(
    silo: Silo, queues: SqliteQueues, site: Site, program: str
) -> None:
    site.pages["/seen"] = page("as it was seen")
    inject(queues, [f"{site.url}/seen"], force=False)
    CrawlWorker(silo, queues, CrawlSettings(2, 0.0, is_private=True)).run(Stop(), until_idle=True)
    index, port = Segments(index_directory(silo.path)), free_port()
    with replaying(silo.path, program, port):
        url = f"http://127.0.0.1:{port}/own"
        seen = requests.get(f"{url}/2026id_/{site.url}/seen", timeout=30)
        assert (seen.status_code, "as it was seen" in seen.text) == (200, True)
        index.add([line_of(outcome(*one), 9) for one in CAPTURES])
        for parts in product(map(quote, URLS), MATCHES, REST):
            query = "output=json&url={}{}{}".format(*parts)
            theirs = requests.get(f"{url}/cdx?allowFuzzy=false&{query}", timeout=30).text
            ours = answer(query_of(parse_qsl(query)), index)
            assert [_ours(json.loads(line)) for line in theirs.splitlines()] == [
                json.loads(line) for line in ours
            ], query


def _ours(row: dict[str, str]) -> dict[str, str]:
    """A row without what pywb says about where it found it."""
    return {key: value for key, value in row.items() if key not in {"source", "source-coll"}}
