"""The captures of a record's links, as a panel of its page; and where they can be replayed."""

import os
import tomllib
from collections import deque
from collections.abc import Iterator
from itertools import islice
from urllib.parse import urlencode, urlsplit

from crawlmatch.errors import BadAddress
from crawlmatch.record_links import links_of_records
from recordsilo import Silo
from recordsilo.contributions import warn_once
from recordsilo.disk.regular_file import regular_fd
from recordsilo.panels import Cell, Panel, PanelPicture, PanelView, Table
from recordsilo.selection import Selection
from silocrawl.addresses import PICTURE, fetched_form
from silocrawl.captures import Captures, ReplayedCapture
from silocrawl.cdxj import Segments, key_of, minute_of
from silocrawl.comparisons import ComparisonUnreadable, comparison_named, name_of
from silocrawl.paths import index_directory, replay_file

MOST_LINKS, MOST_OF_A_LINK = 50, 10
"""Links on the page of a record, and captures of each, the newest."""
MOST_PICTURES = 4
"""Screenshots that are shown, the newest."""

_COLUMNS = ("Captured", "Link", "Status", "Media type")
_SCREENSHOT, _UNCHANGED = "screenshot", "unchanged"


def replay_address(silo_path: str) -> str:
    """Return where pywb replays the captures of a Silo, with a slash at its end.

    It is what ``crawling/replay.toml`` says (``address = "https://…/own/"``); empty if there is
    no such file, or it is invalid, which is logged.
    """
    path = replay_file(silo_path)
    try:
        with open(path, "rb", opener=regular_fd) as file:
            address = str(tomllib.load(file)["address"])
        if urlsplit(address).scheme not in {"http", "https"} or not urlsplit(address).hostname:
            raise ValueError(f"{address!r} is not an address of http or https")
    except FileNotFoundError:
        return ""
    except (OSError, KeyError, ValueError) as error:
        warn_once(f'{path} is ignored: {error}; it has one line: address = "https://…/own/"')
        return ""
    return address.rstrip("/") + "/"


def _show(silo: Silo, identifier: str, _language: str) -> PanelView | None:
    """The captures of the links; None if none was captured."""
    if not os.path.isdir(index_directory(silo.path)):
        return None
    replay = replay_address(silo.path)
    found = [
        (link, one)
        for link in islice(_links(silo, identifier), MOST_LINKS)
        for one in _newest(silo, link)
    ]
    if not found:
        return None
    rows = tuple(_row(silo.path, link, one, replay) for link, one in found)
    note = f"The newest {MOST_OF_A_LINK} of each link."
    note += "" if replay else " With pywb, “silo crawl replay” shows them on the server."
    return PanelView(note, table=Table(_COLUMNS, rows), pictures=_pictures(found, replay))


def _pictures(found: list[tuple[str, ReplayedCapture]], replay: str) -> tuple[PanelPicture, ...]:
    """The newest screenshots, each once, whatever links lead to its page."""
    once = {(one.url, one.timestamp): one for _, one in found if one.url.startswith(PICTURE)}
    newest = sorted(once.values(), key=lambda one: one.timestamp, reverse=True)
    return tuple(_picture(one, replay) for one in newest[:MOST_PICTURES])


def _picture(one: ReplayedCapture, replay: str) -> PanelPicture:
    minute, page = minute_of(one.timestamp), one.url.removeprefix(PICTURE)
    caption = Cell(minute, _replayed(one, replay)), Cell(page, page)
    text = f"{page} on {minute}, as a browser showed it."
    return PanelPicture(picture_address(one, small="yes"), picture_address(one), text, caption)


def picture_address(one: ReplayedCapture, **more: str) -> str:
    """Where the page shows a screenshot; ``small="yes"``: its top, small."""
    asked = {"url": one.url.removeprefix(PICTURE), "at": one.timestamp} | more
    return f"/crawling/screenshot.png?{urlencode(asked)}"


def _replayed(one: ReplayedCapture, replay: str) -> str:
    """Where pywb replays a capture; empty if it does not."""
    frame = "mp_" if one.url.startswith(PICTURE) else ""  # a picture as it is, without a banner
    return f"{replay}{one.timestamp}{frame}/{one.url}" if replay else ""


def _links(silo: Silo, identifier: str) -> Iterator[str]:
    seen = set()
    for link in links_of_records(silo, Selection(identifiers=(identifier,))):
        try:
            url = fetched_form(link.url)
        except BadAddress:
            continue
        if url not in seen:
            seen.add(url)
            yield url


def _newest(silo: Silo, url: str) -> list[ReplayedCapture]:
    """The captures of an address, and of the pictures of the page it leads to, the newest first."""
    segments = Segments(index_directory(silo.path))
    page = Captures(silo.path).where_it_leads(url)
    shown = page.url if page is not None else url
    found = [
        ReplayedCapture.of(line)
        for name in dict.fromkeys((url, PICTURE + url, PICTURE + shown))
        for line in deque(segments.find(key_of(name)), MOST_OF_A_LINK)
    ]
    return sorted(found, key=lambda one: one.timestamp, reverse=True)


def _row(silo_path: str, link: str, one: ReplayedCapture, replay: str) -> tuple[Cell, ...]:
    seen = Cell(minute_of(one.timestamp), _replayed(one, replay))
    if one.url.startswith(PICTURE):
        shown = Cell(_SCREENSHOT, _compared(silo_path, one) or picture_address(one))
        return seen, Cell(link, link), shown, Cell(one.mimetype)
    status = f"{one.status} to {one.redirect}" if one.redirect else one.status
    return (
        seen,
        Cell(link, link),
        Cell(status),
        Cell(_UNCHANGED if one.is_revisit else one.mimetype),
    )


def _compared(silo_path: str, picture: ReplayedCapture) -> str:
    """Where a picture is beside that out of the archive; empty if they were not compared."""
    name = name_of(picture.url.removeprefix(PICTURE))
    try:
        found = comparison_named(silo_path, name)
    except ComparisonUnreadable:  # its own page says so
        return ""
    is_this = found is not None and found.captured == picture.timestamp
    return f"/crawling/comparisons/{name}" if is_this else ""


CAPTURES = Panel("captures", "Captures", 11, _show, frozenset({*_COLUMNS, _SCREENSHOT, _UNCHANGED}))
