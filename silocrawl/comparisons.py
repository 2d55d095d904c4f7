"""How pages out of the archive differed from what a browser saw: the last comparison of each."""

import json
import os
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256

from recordsilo.disk.atomic_file import make_within, replace_file
from recordsilo.disk.regular_file import open_regular
from silocrawl.errors import CrawlingError
from silocrawl.paths import comparison_directory

PICTURES = ("crawled.png", "archived.png")
"""What the browser showed when the page was crawled, and out of the archive."""
_NAME, _TABLE = re.compile(r"[0-9a-f]{32}"), "comparison.json"


class ComparisonUnreadable(CrawlingError):
    """Its file is damaged."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a page out of the archive differs from the page as it was; 0 is the same, 1 nothing is.

    Attributes:
        url: The page.
        captured: When it was crawled; 14 digits.
        compared: When it was compared; ISO 8601 in UTC.
        tiles: Share of the tiles with anything on them that differ.
        text: Share of the words that differ.
        failed: Requests that failed only in the archive.
    """

    url: str
    captured: str
    compared: str
    tiles: float
    text: float
    failed: tuple[str, ...]

    @property
    def name(self) -> str:
        """That of its directory."""
        return name_of(self.url)


def name_of(url: str) -> str:
    """The name of the comparison of a page."""
    return sha256(url.encode()).hexdigest()[:32]


def keep(silo_path: str, one: Comparison, crawled: bytes, archived: bytes) -> None:
    """Keep a comparison and its pictures (PNG; empty for none) in place of the page's last one.

    Raises:
        OSError: The disk refused.
    """
    directory = comparison_directory(silo_path, one.name)
    make_within(silo_path, directory)
    table = {"format": 1, **asdict(one), "tiles": round(one.tiles, 4), "text": round(one.text, 4)}
    contents = crawled, archived, json.dumps(table, indent=1).encode()
    for name, content in zip((*PICTURES, _TABLE), contents, strict=True):
        replace_file(os.path.join(directory, name), content)


def comparisons(silo_path: str) -> tuple[list[Comparison], list[str]]:
    """Return all comparisons, and the names of those that are damaged.

    First comes what misses most requests, then what differs most.

    Cost: reads a file of about 300 bytes for each.
    """
    names: list[str] = []
    with suppress(FileNotFoundError):
        names = os.listdir(comparison_directory(silo_path, ""))
    found: list[Comparison] = []
    damaged: list[str] = []
    for name in sorted(names):
        try:
            one = comparison_named(silo_path, name)
        except ComparisonUnreadable:
            damaged.append(name)
        else:
            found += [one] if one is not None else []
    found.sort(key=lambda one: (-len(one.failed), -one.tiles, -one.text, one.url))
    return found, damaged


def comparison_named(silo_path: str, name: str) -> Comparison | None:
    """Return a comparison by the name of its directory; None if there is none.

    Raises:
        ComparisonUnreadable: It is damaged.
    """
    if not _NAME.fullmatch(name):
        return None
    path = os.path.join(comparison_directory(silo_path, name), _TABLE)
    try:
        with open_regular(path) as file:
            told = json.load(file)
        moments = str(told["captured"]), str(told["compared"])
        shares = float(told["tiles"]), float(told["text"])
        return Comparison(str(told["url"]), *moments, *shares, tuple(map(str, told["failed"])))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        said = "delete its directory, and compare the page again"
        raise ComparisonUnreadable(f"{path} is damaged ({error!r}): {said}") from None


def picture_of(silo_path: str, name: str, which: str) -> bytes:
    """Return a picture of a comparison as PNG; empty if there is none.

    Args:
        name: As for `comparison_named`.
        which: One of `PICTURES`.
    """
    if not (_NAME.fullmatch(name) and which in PICTURES):
        return b""
    try:
        with open_regular(os.path.join(comparison_directory(silo_path, name), which)) as file:
            return file.read()
    except FileNotFoundError:
        return b""
