"""Pages out of the archive beside the pages as they were: three numbers."""

import os
from io import BytesIO

import pytest
from PIL import Image, ImageDraw
from site_of_traps import Reply, Site, page

from recordsilo import Silo
from silocrawl.addresses import PICTURE
from silocrawl.captures import Captures
from silocrawl.comparing import (
    NotComparable,
    SeenPage,
    archived_pages,
    compare,
    compared,
    pages_shown,
    queue_missing,
    seen_of,
    tiles_that_differ,
    words_that_differ,
)
from silocrawl.comparisons import PICTURES, comparison_named, comparisons, picture_of
from silocrawl.launching import inject
from silocrawl.messages import CRAWL, RENDER, address_of
from silocrawl.rendering import browser_settings
from silocrawl.running import CrawlSettings, CrawlWorker
from silowork.queues.sqlite import SqliteQueues
from silowork.stop import Stop

HAS_SANDBOX = os.geteuid() != 0


def picture(*, down: int = 0, lines: int = 40, image: bool = True) -> bytes:
    """A page with lines of text and an image."""
    found = Image.new("RGB", (1280, 1200), "white")
    draw = ImageDraw.Draw(found)
    for number in range(lines):
        draw.text((20, down + 20 + 25 * number), f"line {number} of a page " * 8, fill="black")
    if image:
        draw.rectangle((900, down + 100, 1200, down + 400), fill="navy")
    file = BytesIO()
    found.save(file, "PNG")
    return file.getvalue()


def test_tiles_order_pictures_as_people_do() -> None:
    page = picture()
    same, moved, imageless, short, blank = (
        tiles_that_differ(page, other)
        for other in (page, picture(down=20), picture(image=False), picture(lines=20),
                      picture(lines=0, image=False))
    )  # fmt: skip
    assert (same, blank) == (0.0, 1.0)
    assert moved < 0.05
    assert moved < imageless < short < blank
    assert tiles_that_differ(page, b"") == 1.0
    assert tiles_that_differ(b"", b"") == 0.0


def test_words_that_only_one_text_has() -> None:
    assert words_that_differ("a b  c", "c b a") == 0.0
    assert words_that_differ("a b", "c d") == 1.0
    assert words_that_differ("a b c d", "a b") == pytest.approx(1 / 3)
    assert words_that_differ("", "") == 0.0


def test_requests_that_failed_only_in_the_archive() -> None:
    then = SeenPage(b"", "", {"http://a/": True, "http://b/": False, "http://c/": True})
    now = SeenPage(b"", "", dict.fromkeys(("http://a/", "http://b/", "http://new/"), False))
    moments = "20261201020000", "2026-12-02T02:00:00+00:00"
    assert compared("http://x/", moments, then, now).failed == ("http://a/", "http://new/")


def test_a_page_that_no_browser_has_shown_is_not_compared(silo: Silo) -> None:
    with pytest.raises(NotComparable, match="inject --render"):
        seen_of(silo.path, "http://example.org/")
    assert pages_shown(silo.path) == []
    assert comparisons(silo.path) == ([], [])


@pytest.mark.long
def test_a_page_is_compared_with_itself_out_of_the_archive(
    silo: Silo, queues: SqliteQueues, site: Site, program: str, browser: str
) -> None:
    site.pages |= {
        "/page": page(
            "<h1>A page</h1><p id=p></p><img src=/long.png><script>async function load() {"
            "p.textContent = await (await fetch('/text')).text() }</script><script>load()</script>"
        ),
        "/text": Reply(200, b"what arrived late"),
        "/long.png": Reply(200, b"x" * 10_000_001, {"Content-Type": "image/png"}),
    }
    inject(queues, [f"{site.url}/page"], force=False, queue=RENDER)
    crawl = CrawlSettings(2, 0.0, is_private=True, has_sandbox=HAS_SANDBOX)
    CrawlWorker(silo, queues, crawl).run(Stop(), until_idle=True)
    assert pages_shown(silo.path) == [f"{site.url}/page"]
    settings = browser_settings(has_sandbox=HAS_SANDBOX, is_private=True)
    asked = site.asked.total()
    with archived_pages(silo.path, program, settings) as pages:
        one = compare(silo.path, f"{site.url}/page", pages)
        with pytest.raises(NotComparable):
            compare(silo.path, f"{site.url}/never", pages)
    assert site.asked.total() == asked, "nothing is fetched again"
    assert (one.tiles, one.text) == (0.0, 0.0)
    assert one.failed == (f"{site.url}/long.png",), "it was too long for the browser"
    assert [queue_missing(queues, one) for _ in range(2)] == [1, 0]
    assert [address_of(each.body).url for each in queues.peek(CRAWL)] == list(one.failed)
    (kept,), _ = comparisons(silo.path)
    assert kept == one == comparison_named(silo.path, one.name)
    assert kept.captured == Captures(silo.path).of(f"{PICTURE}{one.url}")[0].timestamp
    crawled, archived = (picture_of(silo.path, one.name, which) for which in PICTURES)
    assert crawled.startswith(b"\x89PNG")
    assert crawled == archived
