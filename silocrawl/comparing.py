"""A page as a browser showed it when it was crawled, beside the same page out of the archive.

pywb answers in proxy mode, in which nothing is rewritten: what differs then is missing in the
archive. Three numbers are found: of the pictures, of the texts, and of the requests.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING

from politeweb.exchange import Exchanges
from politeweb.loopback import LOOPBACK
from politeweb.settings import HttpSettings
from recordsilo.extras import later, needed
from silocrawl.addresses import PICTURE, REQUESTS, TEXT
from silocrawl.answers import Answers
from silocrawl.browser import BrowserSettings
from silocrawl.captures import Captures
from silocrawl.cdxj import Segments
from silocrawl.comparisons import Comparison, keep
from silocrawl.errors import CrawlingError
from silocrawl.messages import CRAWL, CrawlAddress, message_of
from silocrawl.paths import answers_file, index_directory
from silocrawl.rendering import Renderer
from silocrawl.replay import free_port, replaying
from silowork.queues.values import Queues

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Grey = NDArray[np.float32]
else:
    np = later("numpy", "silo crawl", "crawl")

TILE, MOST_MOVED = 16, 128
"""Pixels of the side of a tile, and by which a picture may be moved up or down."""
_MOST_BYTES = 50_000_000
_OTHER, _EMPTY = 6.0, 2.0
"""Levels of grey: from which on tiles differ, and up to which there is nothing on one."""
_COLUMNS = 32
"""Into which a row is divided to find the offset; the width of a picture is a multiple of it."""


class NotComparable(CrawlingError):
    """A page that a browser has not shown, or that the archive does not have."""


@dataclass(frozen=True, slots=True)
class SeenPage:
    """What a browser showed.

    Attributes:
        picture: PNG; empty if there is none.
        text: Of the page.
        requests: Address → whether it was answered with a status below 400.
    """

    picture: bytes
    text: str
    requests: dict[str, bool]


# --------------------------------------------------------------------------- the three numbers


def compared(url: str, moments: tuple[str, str], then: SeenPage, now: SeenPage) -> Comparison:
    """Compare what a browser showed (pure).

    Args:
        url: The page.
        moments: When it was crawled, and when it is compared; see `Comparison`.
        then: What was seen when it was crawled.
        now: What is seen out of the archive.
    """
    failed = tuple(sorted(one for one, is_good in now.requests.items()
                          if not is_good and then.requests.get(one, True)))  # fmt: skip
    tiles = tiles_that_differ(then.picture, now.picture)
    return Comparison(url, *moments, tiles, words_that_differ(then.text, now.text), failed)


def words_that_differ(one: str, other: str) -> float:
    """The share of the words of two texts that only one of them has."""
    first, second = Counter(one.split()), Counter(other.split())
    total = first.total() + second.total()
    return 1.0 - 2.0 * (first & second).total() / total if total else 0.0


def tiles_that_differ(one: bytes, other: bytes) -> float:
    """The share of the tiles with anything on them that differ, at the best vertical offset.

    Args:
        one: PNG; empty for no picture.
        other: Likewise.
    """
    if not (one and other):
        return float(bool(one or other))
    first, second = _grey(one), _grey(other)
    height, width = (max(sizes) for sizes in zip(first.shape, second.shape, strict=True))
    moved = _best_offset(_padded(first, height, width), _padded(second, height, width))
    height += MOST_MOVED
    first = _padded(np.pad(first, ((max(0, moved), 0), (0, 0)), constant_values=255), height, width)
    second = _padded(
        np.pad(second, ((max(0, -moved), 0), (0, 0)), constant_values=255), height, width
    )
    (mean, spread), (other_mean, other_spread) = _tiles(first), _tiles(second)
    has_any = (spread > _EMPTY) | (other_spread > _EMPTY)
    differs = (abs(mean - other_mean) > _OTHER) | (abs(spread - other_spread) > _OTHER)
    return float((differs & has_any).sum() / has_any.sum()) if has_any.any() else 0.0


def _grey(picture: bytes) -> Grey:
    image = needed("PIL.Image", "comparing pictures", "render", package="pillow")
    with image.open(BytesIO(picture), formats=["PNG"]) as found:
        return np.asarray(found.convert("L"), dtype=np.float32)


def _padded(grey: Grey, height: int, width: int) -> Grey:
    """A picture with white below and beside it, up to whole tiles and columns."""
    below, beside = (-(-size // _COLUMNS) * _COLUMNS - had
                     for size, had in zip((height, width), grey.shape, strict=True))  # fmt: skip
    return np.pad(grey, ((0, max(0, below)), (0, max(0, beside))), constant_values=255)


def _best_offset(first: Grey, second: Grey) -> int:
    """By how many pixels the first picture is to be moved down; the least of the best ones."""
    rows, others = (one.reshape(len(one), _COLUMNS, -1).mean(2) for one in (first, second))

    def distance(moved: int) -> float:
        down, up = max(0, moved), max(0, -moved)
        length = len(rows) - abs(moved)
        return float(abs(rows[up : up + length] - others[down : down + length]).mean())

    reach = min(MOST_MOVED, len(rows) - TILE)
    return min(range(-reach, reach + 1), key=lambda moved: (round(distance(moved), 3), abs(moved)))


def _tiles(grey: Grey) -> tuple[Grey, Grey]:
    """The mean and the spread of each tile."""
    height, width = grey.shape
    tiles = grey.reshape(height // TILE, TILE, width // TILE, TILE)
    return tiles.mean((1, 3)), tiles.std((1, 3))


# --------------------------------------------------------------------------- what was seen


def pages_shown(silo_path: str) -> list[str]:
    """The addresses of all pages of which there is a picture, sorted."""
    lines = Segments(index_directory(silo_path)).find(PICTURE.lower(), is_prefix=True)
    return sorted(
        {json.loads(line.split(" ", 2)[2])["url"].removeprefix(PICTURE) for line in lines}
    )


def seen_of(silo_path: str, url: str) -> tuple[str, SeenPage]:
    """What a browser showed when a page was crawled last, and when that was.

    Raises:
        NotComparable: None has shown it.
        CaptureUnreadable: The archive is damaged.
    """
    captures = Captures(silo_path)
    kept = captures.of(f"{REQUESTS}{url}")
    if not kept:
        raise NotComparable(f"no browser has shown {url}; see silo crawl inject --render")
    moment = kept[-1].timestamp

    def content(name: str) -> bytes:
        found = [one for one in captures.of(f"{name}{url}") if one.timestamp == moment]
        return captures.begin(found[-1], _MOST_BYTES).content if found else b""

    asked = json.loads(content(REQUESTS))["requests"]
    requests = {one["url"]: 0 < one["status"] < 400 and not one["failure"] for one in asked
                if one["method"] == "GET"}  # fmt: skip
    return moment, SeenPage(content(PICTURE), content(TEXT).decode("utf-8", "replace"), requests)


class ArchivedPages:
    """Has the pages of an archive shown, as pywb has them.

    Args:
        proxy: Where pywb answers, in proxy mode.
        browser: How pages are shown.
        directory: For what the browser leaves; it is removed by the caller.
    """

    def __init__(self, proxy: str, browser: BrowserSettings, directory: str) -> None:
        self._proxy, self._directory = HttpSettings(proxy=proxy, insecure=True), directory
        os.makedirs(os.path.dirname(answers_file(directory)), exist_ok=True)
        Answers(answers_file(directory)).close()
        self._renderer = Renderer(directory, browser, lambda: False)

    def seen(self, url: str) -> SeenPage:
        """Show a page.

        Raises:
            NotComparable: It is not in the archive, or cannot be shown.
            BrowserMissing: The browser does not start.
        """
        with Exchanges(self._proxy) as exchanges, exchanges.take(url) as taken:
            if taken.head is None or taken.head.status != 200:
                raise NotComparable(f"{url} is not in the archive")
            shown = self._renderer(CrawlAddress(url, url, via=url), taken, None)
        if shown.reason:
            raise NotComparable(f"{url} cannot be shown from the archive")
        Segments(index_directory(self._directory)).add(
            one.index for one in shown.parts if one.index
        )
        return seen_of(self._directory, url)[1]

    def close(self) -> None:
        """End the browser."""
        self._renderer.close()


@contextmanager
def archived_pages(silo_path: str, pywb: str, browser: BrowserSettings) -> Iterator[ArchivedPages]:
    """Run pywb and a browser during the block.

    Args:
        pywb: Path of its program.
        browser: How pages are shown; its proxy is set here.

    Raises:
        ReplayFailed: pywb does not start.
    """
    port = free_port()
    proxy = f"http://{LOOPBACK}:{port}"
    settings = BrowserSettings(browser.program, browser.has_sandbox, is_private=True, proxy=proxy)
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="silo-compare-"))
        stack.enter_context(replaying(silo_path, pywb, port, is_proxy=True))
        pages = ArchivedPages(proxy, settings, directory)
        stack.callback(pages.close)
        yield pages


def compare(silo_path: str, url: str, pages: ArchivedPages) -> Comparison:
    """Compare a page, and keep the numbers and both pictures.

    Raises:
        NotComparable: No browser has shown it, or the archive does not have it.
        BrowserMissing: The browser does not start.
        OSError: The disk refused.
    """
    captured, then = seen_of(silo_path, url)
    now = pages.seen(url)
    moments = captured, datetime.now(UTC).isoformat(timespec="seconds")
    found = compared(url, moments, then, now)
    keep(silo_path, found, then.picture, now.picture)
    return found


def queue_missing(queues: Queues, one: Comparison) -> int:
    """Have the requests that failed only in the archive fetched, each once; return how many."""
    missing = (CrawlAddress(url, one.url, path="E", via=one.url) for url in one.failed)
    return queues.put(message_of(each, CRAWL, key=f"compared {each.url}") for each in missing)
