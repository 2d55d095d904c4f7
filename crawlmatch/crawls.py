"""The crawls in a Silo: one directory each in ``crawls/``, written completely or not at all.

Source: docs/format.md, "Crawls".
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from crawlmatch.errors import CrawlError, CrawlNotFound
from crawlmatch.inputs import file_digest
from crawlmatch.kept import DATABASE, DIRECTORY, FORMAT, NAME, crawl_names, crawl_path
from crawlmatch.matching import RESULT, MatchReceipt, Request, match_into
from crawlmatch.shards import MEMORY, RECEIPT, sweep, whole_directory
from recordsilo.disk.locks import Locks
from silosteps.errors import InputUnreadable


@dataclass(frozen=True, slots=True)
class Crawl:
    """A crawl that is stored in a Silo.

    Attributes:
        name: Its directory in ``crawls/``.
        path: The path of that directory.
        matched: When it was matched, ISO 8601 in UTC.
        fingerprint: A digest of everything that the result depends on.
        receipt: See `MatchReceipt`.
    """

    name: str
    path: str
    matched: str
    fingerprint: str
    receipt: MatchReceipt

    @property
    def database(self) -> str:
        """Return the path of the SQLite file with the table `crawl_result`."""
        return f"{self.path}/{DATABASE}"

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Query `crawl_result`, read-only."""
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        try:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(sql, values)]
        finally:
            connection.close()


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
        with open(f"{path}/crawl.json", encoding="utf-8") as file:
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
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CrawlError(f"{path}/crawl.json cannot be read ({error})") from error


def latest_crawl(silo_path: str, name: str | None) -> Crawl:
    """Return a crawl by its name; without a name, the one matched last.

    Raises:
        CrawlNotFound: There is no such crawl, or none at all.
    """
    if name is not None:
        return crawl_named(silo_path, name)
    found = crawls(silo_path)
    if not found:
        raise CrawlNotFound(f"the Silo {silo_path} has no crawl; silo crawl match makes one")
    return max(found, key=lambda crawl: crawl.matched)


def match_into_silo(
    silo_path: str, name: str, request: Request, *, processes: int = 1, memory: str = MEMORY
) -> tuple[Crawl, bool]:
    """Match a crawl and store it; it replaces one of that name when it is complete.

    Does nothing if the stored crawl has the same inputs and was made by the same steps.

    Args:
        silo_path: Directory of the Silo.
        name: Name of the crawl.
        request: What to match.
        processes: Number of inputs to read in parallel.
        memory: Most memory of the engine, such as ``"512MB"``.

    Returns:
        The crawl, and whether it is new.

    Raises:
        InputUnreadable, CrawlError, StepsError, OSError: The stored crawl is unchanged.
    """
    check_name(name)
    locks = Locks(f"{silo_path}/.silo/locks")
    with locks.hold_name(f"crawl {name}"):
        fingerprint = fingerprint_of(request)
        if os.path.isdir(f"{silo_path}/{DIRECTORY}"):
            sweep(f"{silo_path}/{DIRECTORY}", name)
        try:
            before = crawl_named(silo_path, name)
        except CrawlNotFound:
            before = None
        if before is not None and fingerprint and before.fingerprint == fingerprint:
            return before, False
        with whole_directory(f"{silo_path}/{DIRECTORY}/{name}") as staged:
            receipt = match_into(staged, request, processes=processes, memory=memory)
            receipt.check_used()
            told = {
                "format": FORMAT,
                "matched": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}",
                "fingerprint": fingerprint,
                "rules": {
                    "full_texts": list(request.rules.full_texts),
                    "walls": list(request.rules.walls),
                },
                "paths": [os.path.abspath(one) if one != "-" else one for one in request.inputs],
                "receipt": receipt.to_json(),
            }
            with open(f"{staged}/crawl.json", "w", encoding="utf-8") as file:
                json.dump(told, file, ensure_ascii=False, indent=1)
    return crawl_named(silo_path, name), True


def fingerprint_of(request: Request) -> str:
    """Return a digest of everything that a result depends on; "" if standard input is read."""
    named = [*request.inputs, *request.earlier, *request.seeds]
    if "-" in named:
        return ""
    told = [
        hashlib.sha256(files("crawlmatch").joinpath("steps.sql").read_bytes()).hexdigest(),
        *(
            sorted({_digest(one) for one in group})
            for group in (request.inputs, request.earlier, request.seeds)
        ),
        sorted(set(request.seed_rows)),
        list(request.rules.full_texts),
        list(request.rules.walls),
        request.unseeded,
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _digest(name: str) -> str:
    try:
        return file_digest(f"{name}/{RECEIPT}" if os.path.isdir(name) else name)[0]
    except OSError as error:
        raise InputUnreadable(name, error.strerror or str(error)) from error


def named_earlier(silo_path: str, given: str) -> str:
    """Return the path of an earlier crawl, given as a path or as the name of one in the Silo."""
    kept = f"{silo_path}/{DIRECTORY}/{given}"
    if not os.path.exists(given) and NAME.fullmatch(given) and os.path.isdir(kept):
        return f"{kept}/{RESULT}.parquet"
    return given


def paths_of(crawl: Crawl) -> list[str]:
    """Return the paths that the inputs of a crawl had when it was matched."""
    with open(f"{crawl.path}/crawl.json", encoding="utf-8") as file:
        told = json.load(file)
    return [str(path) for path in told.get("paths", [])]
