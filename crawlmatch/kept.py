"""The crawls in a Silo, read without loading the engine that matches them.

Source: docs/format-crawls.md, "Matches".
"""

import json
import os
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from crawlmatch.errors import CrawlError, CrawlNotFound
from crawlmatch.receipts import MatchReceipt
from recordsilo.disk.database_log import database_uri
from recordsilo.disk.names import visible_in
from recordsilo.disk.regular_file import regular_fd

FORMAT = 1
DIRECTORY = "crawls"
DATABASE = "crawl_result.sqlite"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class KeptCrawl:
    """A crawl that is stored in a Silo.

    Attributes:
        name: Its directory in ``crawls/``.
        path: The path of that directory.
        matched: When it was matched, ISO 8601 in UTC.
    """

    name: str
    path: str
    matched: str

    @property
    def database(self) -> str:
        """Return the path of the SQLite file with the table ``crawl_result``."""
        return f"{self.path}/{DATABASE}"

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Query ``crawl_result``, read-only."""
        with closing(sqlite3.connect(database_uri(self.database), uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(sql, values)]


def crawl_names(silo_path: str) -> list[str]:
    """Return the names of the crawls, sorted."""
    try:
        names = os.listdir(f"{silo_path}/{DIRECTORY}")
    except FileNotFoundError:
        return []
    moved = {name[1:].removesuffix(".replaced") for name in names if name.endswith(".replaced")}
    kept = {name for name in names if os.path.isdir(f"{silo_path}/{DIRECTORY}/{name}")}
    return [name for name in sorted(kept | moved) if NAME.fullmatch(name)]


def crawl_path(silo_path: str, name: str) -> str:
    """Return the directory of a crawl, also between the two renames of its writer."""
    path = f"{silo_path}/{DIRECTORY}/{name}"
    return path if os.path.isdir(path) else f"{silo_path}/{DIRECTORY}/.{name}.replaced"


def kept_crawls(silo_path: str) -> list[KeptCrawl]:
    """Return the crawls whose tables can be read, the newest first.

    `crawlmatch.crawls` reports what is wrong with the others.
    """
    found = []
    for name in crawl_names(silo_path):
        path = crawl_path(silo_path, name)
        try:
            with open(f"{path}/crawl.json", encoding="utf-8", opener=regular_fd) as file:
                told = json.load(file)
            crawl = KeptCrawl(name, path, str(told["matched"]))
            if told["format"] == FORMAT and os.path.isfile(crawl.database):
                found.append(crawl)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    return sorted(found, key=lambda crawl: crawl.matched, reverse=True)


@dataclass(frozen=True, slots=True)
class Crawl(KeptCrawl):
    """The same with its receipt.

    Attributes:
        fingerprint: A digest of everything that the result depends on.
    """

    fingerprint: str
    receipt: MatchReceipt


def check_name(name: str) -> str:
    """Check that a name is valid for a crawl.

    Raises:
        CrawlError: It is not.
    """
    if not NAME.fullmatch(name):
        raise CrawlError(
            f"{name!r} is not a valid name; use at most 100 letters, digits, '.', '-' and '_'"
        )
    return name


def crawls(silo_path: str) -> list[Crawl]:
    """Return the crawls in a Silo, by name."""
    return [crawl_named(silo_path, name) for name in crawl_names(silo_path)]


def crawl_named(silo_path: str, name: str) -> Crawl:
    """Return a crawl by its name.

    Raises:
        CrawlNotFound: There is no such crawl.
        CrawlError: Its receipt cannot be read.
    """
    path = crawl_path(silo_path, check_name(name))
    try:
        with open(f"{path}/crawl.json", encoding="utf-8", opener=regular_fd) as file:
            told = json.load(file)
        if told["format"] != FORMAT:
            raise CrawlError(f"{path} is in format {told['format']}; use a newer release")
        return Crawl(
            name,
            path,
            told["matched"],
            told["fingerprint"],
            MatchReceipt.from_json(told["receipt"]),
        )
    except FileNotFoundError:
        raise CrawlNotFound(f"the Silo {silo_path} has no crawl {name!r}") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CrawlError(f"{path}/crawl.json cannot be read ({reason})") from error


def latest_crawl(silo_path: str, name: str | None) -> Crawl:
    """Return a crawl by its name; without a name, the one matched last.

    Raises:
        CrawlNotFound: There is no such crawl, or none at all.
    """
    if name is not None:
        return crawl_named(silo_path, name)
    found = crawls(silo_path)
    if not found:
        raise CrawlNotFound(
            f"the Silo {silo_path} has no crawl yet; silo crawl match takes one from a crawler's"
            " log, and silo crawl target add and silo crawl run fetch the links of its records"
        )
    return max(found, key=lambda crawl: crawl.matched)


def paths_of(crawl: Crawl) -> list[str]:
    """Return the paths that the inputs of a crawl had when it was matched."""
    with open(f"{crawl.path}/crawl.json", encoding="utf-8", opener=regular_fd) as file:
        told = json.load(file)
    return [str(path) for path in told.get("paths", [])]


def crawls_beside(silo_path: str) -> str:
    """Return the directory for the inputs of crawls: ``myrepo.crawls`` next to the Silo ``myrepo``.

    A form names files in it, and no others.
    """
    return os.path.abspath(silo_path) + ".crawls"


def inputs_beside(silo_path: str) -> list[str]:
    """Return the names of the files and shards in `crawls_beside`; see `visible_in`."""
    return visible_in(crawls_beside(silo_path))
