"""Find the crawls in a Silo, without loading the engine that matches them."""

import json
import os
import re
from dataclasses import dataclass

FORMAT = 1
DIRECTORY = "crawls"
DATABASE = "crawl_result.sqlite"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class KeptCrawl:
    """A crawl that is stored in a Silo.

    Attributes:
        matched: When it was matched, ISO 8601 in UTC.
    """

    name: str
    path: str
    matched: str

    @property
    def database(self) -> str:
        """Return the path of the SQLite file with the table ``crawl_result``."""
        return f"{self.path}/{DATABASE}"


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
            with open(f"{path}/crawl.json", encoding="utf-8") as file:
                told = json.load(file)
            crawl = KeptCrawl(name, path, str(told["matched"]))
            if told["format"] == FORMAT and os.path.isfile(crawl.database):
                found.append(crawl)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    return sorted(found, key=lambda crawl: crawl.matched, reverse=True)
