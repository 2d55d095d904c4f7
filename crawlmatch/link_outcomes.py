"""Outcomes of each record's links: facets, findings, and a panel on the record's page.

They are read from the tables that `silo crawl match` stores, with SQLite alone. The newest crawl
that had a record among its seeds gives the outcomes of its links.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from crawlmatch.kept import KeptCrawl, kept_crawls
from crawlmatch.outcomes import LinkOutcome
from recordsilo import Silo
from recordsilo.disk.database_log import database_uri
from recordsilo.index.facets import Facet
from recordsilo.panels import Cell, Panel, PanelView, Table

DEAD = (LinkOutcome.CLIENT_ERROR, LinkOutcome.UNREACHABLE, LinkOutcome.LOOP, LinkOutcome.BAD_URL)
"""Outcomes of links that should be corrected."""
DEAD_LINK = "Q611"
SHOWN = 200
"""Most links on the page of a record."""
_HOPS = {"R": "redirect", "L": "link", "E": "embed", "X": "link in a script", "I": "inferred",
         "M": "manifest", "S": "site map", "P": "prerequisite"}  # fmt: skip
_COLUMNS = ("Link", "Outcome", "Path", "Fetched")
_ABOUT_MANY = (
    "SELECT DISTINCT identifier, {column} FROM crawl_result "
    "WHERE terminal = 1 AND identifier IN (SELECT value FROM json_each(?))"
)
_ABOUT_ONE = (
    "SELECT initial_url, outcome, breadcrumbs, final_url, final_timestamp FROM crawl_result "
    "WHERE terminal = 1 AND identifier = ? ORDER BY initial_url LIMIT ?"
)


def values_of(column: str, path: str, identifiers: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Return what is known of the links of some records, without records that no crawl had.

    Args:
        column: A column of `crawl_result`.
        identifiers: In full form.

    Raises:
        sqlite3.Error: The table of a crawl cannot be read.
    """
    found: dict[str, tuple[str, ...]] = {}
    left = list(identifiers)
    for crawl in kept_crawls(path):
        here: dict[str, list[str]] = {}
        sql = _ABOUT_MANY.format(column=column)
        for identifier, value in _rows(crawl, sql, (json.dumps(left),)):
            here.setdefault(identifier, []).extend([value] if value else [])
        found |= {identifier: tuple(sorted(some)) for identifier, some in here.items()}
        left = [one for one in left if one not in here]
    return found


def _dead(path: str, identifiers: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    found = values_of("outcome", path, identifiers)
    return {one: (DEAD_LINK,) for one, some in found.items() if not set(DEAD).isdisjoint(some)}


def stamp(path: str) -> str:
    """Return a text that changes when a crawl is stored, replaced or removed; or ``""``."""
    files = (f"{crawl.name} {os.stat(crawl.database)[:7]}" for crawl in kept_crawls(path))
    return "; ".join(files)


def _rows(crawl: KeptCrawl, sql: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    with closing(sqlite3.connect(database_uri(crawl.database), uri=True)) as connection:
        yield from connection.execute(sql, values)


def panel(silo: Silo, identifier: str, _language: str) -> PanelView | None:
    """Return a record's links with their outcomes; None if no crawl had the record."""
    for crawl in kept_crawls(silo.path):
        rows = list(_rows(crawl, _ABOUT_ONE, (identifier, SHOWN)))
        if rows:
            table = Table(_COLUMNS, tuple(map(_line, rows)))
            return PanelView(note=f"Crawl {crawl.name}, matched {crawl.matched[:10]}.", table=table)
    return None


def _line(row: tuple[Any, ...]) -> tuple[Cell, ...]:
    url, outcome, crumbs, final, moment = row
    hops = ", ".join(_HOPS.get(one, one) for one in crumbs or "" if one != "-")
    way = Cell(f"{hops}: {final}", final) if hops and final and final != url else Cell(hops)
    day = f"{moment[:4]}-{moment[4:6]}-{moment[6:8]}" if moment else ""
    return (Cell(url, url), Cell(LinkOutcome(outcome).meaning), way, Cell(day))


_LABELS = {str(one): one.meaning for one in LinkOutcome}
LINK_OUTCOME = Facet(
    "link_outcome", "Link outcomes", partial(values_of, "outcome"), stamp, _LABELS, is_column=True
)
LINK_DOMAIN = Facet(
    "link_domain", "Domains of links", partial(values_of, "initial_domain"), stamp, is_facet=False
)
LINK_STATUS = Facet(
    "link_status", "Statuses of links", partial(values_of, "final_status_code"), stamp,
    is_facet=False,
)  # fmt: skip
DEAD_LINKS = Facet(
    "finding.links", "Dead links", _dead, stamp, {DEAD_LINK: "dead link (found by a crawl)"}
)
LINKS = Panel(
    "links",
    "Link outcomes",
    10,
    panel,
    frozenset({*_COLUMNS, *_LABELS.values()}),
)
