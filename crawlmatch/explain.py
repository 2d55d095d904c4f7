"""Explain the outcome of a link: its chain, hop by hop, with the lines of the log."""

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crawlmatch.errors import CrawlNotFound
from crawlmatch.inputs import escaped, file_digest
from crawlmatch.kept import Crawl, paths_of
from crawlmatch.outcomes import NEXT_STEPS, LinkOutcome, NextSteps
from crawlmatch.receipts import InputKind
from crawlmatch.seeds import forms
from crawlmatch.shards import opened_engine
from recordsilo.contributions import contributions
from silosteps.errors import InputUnreadable
from silosteps.inputs import open_input
from silosteps.lines import blocks

_RULES = {
    "exact": "as it is",
    "heritrix": "in the form that Heritrix gives it",
    "whatwg": "in the form that browsers give it",
    "surt": "ignoring http or https, www., a trailing slash and the spelling of ~",
    "ufffd": "with U+FFFD for each byte that is not ASCII, as the crawler logged it",
}


@dataclass(frozen=True, slots=True)
class Hop:
    """A page in a chain.

    Attributes:
        by: How the crawler got there from the page before: a letter of Heritrix's hop path;
            "" for the first page.
        status: As logged; 0 is a revisit that is only in an index.
        time: 14 digits.
        lines: Its lines in the logs, as ``file:number: line``; empty if the logs no longer
            exist.
    """

    url: str
    by: str
    status: int
    mimetype: str
    time: str
    source: int
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The reasons for the outcome of an address.

    Attributes:
        identifiers: The records that link to it.
        rule: The rule that found its page; None if it was not found.
        ways: For each final page, the pages that lead to it.
    """

    url: str
    identifiers: tuple[str, ...]
    outcome: LinkOutcome
    next_step: str
    rule: str | None
    state: str | None
    ways: tuple[tuple[Hop, ...], ...]

    def text(self) -> str:
        """Return the explanation as text."""
        found = f"found {_RULES[self.rule]}" if self.rule else "not found in any input"
        lines = [
            self.url,
            *(f"  of {identifier}" for identifier in self.identifiers),
            f"  {self.outcome}: {self.outcome.meaning}",
            f"  next: {self.next_step}",
            f"  {found}",
        ]
        for number, way in enumerate(self.ways, 1):
            if len(self.ways) > 1:
                lines.append(f"  terminal {number} of {len(self.ways)}")
            for hop in way:
                by = f" {hop.by}" if hop.by else "  "
                lines.append(
                    f"  {by:>3} {hop.status:>5} {hop.mimetype or '-'} {hop.time} {hop.url}"
                )
                lines += [f"        {line}" for line in hop.lines]
        if self.state in {"loop", "limit"}:
            lines.append(
                "  the redirects " + ("form a loop" if self.state == "loop" else "do not end")
            )
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as JSON values."""
        return {
            "url": self.url,
            "identifiers": list(self.identifiers),
            "outcome": str(self.outcome),
            "meaning": self.outcome.meaning,
            "next": self.next_step,
            "rule": self.rule,
            "ways": [
                [
                    {"url": hop.url, "by": hop.by, "status": hop.status, "mimetype": hop.mimetype,
                     "time": hop.time, "lines": list(hop.lines)}
                    for hop in way
                ]
                for way in self.ways
            ],
        }  # fmt: skip


def explain(crawl: Crawl, asked: str, *, scratch: str, lines: bool = True) -> list[Explanation]:
    """Explain the outcome of an address, or of each link of a record.

    Args:
        asked: A record's identifier, as in the list of seeds, or an address.
        scratch: A directory for the engine's temporary files.
        lines: Whether to look up the lines in the logs that still exist.

    Raises:
        CrawlNotFound: The crawl has no such identifier or address.

    Cost: with lines, reads the logs once.
    """
    known = crawl.rows(
        "SELECT DISTINCT initial_url AS url FROM crawl_result WHERE terminal IS NOT NULL"
        " AND (identifier = ?1 OR initial_url IN (?1, ?2)) ORDER BY initial_url",
        (asked, forms(asked)[0] or asked),
    )
    if not known:
        raise CrawlNotFound(
            f"the crawl {crawl.name} has no seed with the address or identifier {asked!r}"
        )
    with opened_engine(scratch) as engine:
        found = [_explained(engine, crawl, row["url"]) for row in known]
    if not lines:
        return found
    urls = {hop.url for one in found for way in one.ways for hop in way}
    logged = lines_about(paths_of(crawl), urls, crawl)
    return [_with_lines(one, logged) for one in found]


def _explained(engine: Any, crawl: Crawl, url: str) -> Explanation:
    identifiers = crawl.rows(
        "SELECT DISTINCT identifier FROM crawl_result WHERE initial_url = ? AND terminal = 1"
        " AND identifier IS NOT NULL ORDER BY identifier",
        (url,),
    )
    rows = engine.run("explain_outcome", file=f"{crawl.path}/outcomes.parquet", url=url).all()
    rule, page, state, path = rows[0]
    ends = crawl.rows(
        "SELECT DISTINCT outcome, final_url, terminal FROM crawl_result"
        " WHERE initial_url = ? AND terminal IS NOT NULL ORDER BY terminal",
        (url,),
    )
    outcome = LinkOutcome(ends[0]["outcome"])
    named = tuple(row["identifier"] for row in identifiers)
    ways = []
    for final in (end["final_url"] for end in ends if end["final_url"] is not None):
        steps = _way(engine, crawl, page, final, path or [])
        ways.append(tuple(_hops(engine, crawl, steps)))
    return Explanation(
        url,
        named,
        outcome,
        _next_step(crawl, named, url, outcome),
        rule,
        state,
        tuple(ways),
    )


def _next_step(crawl: Crawl, identifiers: Sequence[str], url: str, outcome: LinkOutcome) -> str:
    known = []
    if outcome in (LinkOutcome.FULLTEXT, LinkOutcome.DUPLICATE):
        known = [one for one in contributions(NEXT_STEPS, NextSteps) if one.name == crawl.name]
    silo_path = os.path.dirname(os.path.dirname(crawl.path))
    said = (one.of(silo_path, identifiers, url) for one in known)
    return next(filter(None, said), outcome.next_step_in(crawl.name))


def _way(
    engine: Any, crawl: Crawl, page: str, final: str, path: list[str]
) -> list[tuple[str, str]]:
    """Return the pages from one to another, each with the letter of its hop."""
    chain = [(url, "R" if number else "") for number, url in enumerate(path)]
    if final in path[1:]:
        return chain[: path.index(final) + 1]
    if final == page:
        return chain if len(path) > 1 else chain[:1]
    before: dict[str, tuple[str, str]] = {}
    waiting, seen = deque([final]), {final}
    while waiting and page not in before:
        here = waiting.popleft()
        for parent, crumb in engine.run(
            "explain_ways", file=f"{crawl.path}/ways.parquet", child=here
        ).all():
            if parent not in seen:
                seen.add(parent)
                before[parent] = (here, crumb)
                waiting.append(parent)
    way, here = [(page, "")], page
    while here != final:
        if here not in before:
            return [(page, ""), (final, "?")]  # known only from its source tag
        here, crumb = before[here]
        way.append((here, crumb))
    return way


def _hops(engine: Any, crawl: Crawl, steps: Iterable[tuple[str, str]]) -> Iterator[Hop]:
    for url, by in steps:
        rows = engine.run("explain_page", file=f"{crawl.path}/pages.parquet", url=url).all()
        for status, mime, age, source in rows:
            yield Hop(url, by, status, mime, str(-age), source)


def lines_about(names: Iterable[str], urls: set[str], crawl: Crawl) -> Mapping[str, list[str]]:
    """Return the lines of the logs about some addresses; logs that have changed are not read."""
    wanted = re.compile(b"|".join(re.escape(url.encode()) for url in sorted(urls)) or b"(?!)")
    found: dict[str, list[str]] = {}
    for name in names:
        if not _is_same(name, crawl):
            continue
        number = 0
        try:
            with open_input(name) as stream:
                for block in blocks(stream):
                    if not block.cut and wanted.search(escaped(block.data)):
                        _collect(name, number, block.split(), urls, found)
                    number += block.lines
        except InputUnreadable:
            continue
    return found


def _is_same(name: str, crawl: Crawl) -> bool:
    known = {
        one.sha256
        for one in crawl.receipt.inputs
        if one.kind in {InputKind.LOG, InputKind.JSON, InputKind.CDX}
    }
    return os.path.isfile(name) and file_digest(name)[0] in known


def _collect(
    name: str, before: int, lines: list[bytes], urls: set[str], found: dict[str, list[str]]
) -> None:
    for number, line in enumerate(lines, before + 1):
        parts = escaped(line).decode("ascii", "replace").replace('"', " ").split(None, 8)
        for part in parts[2:4] if not line.startswith(b"{") else parts:
            if part in urls:
                shown = line.decode("utf-8", "backslashreplace").rstrip()
                found.setdefault(part, []).append(f"{os.path.basename(name)}:{number}: {shown}")
                break


def _with_lines(one: Explanation, logged: Mapping[str, list[str]]) -> Explanation:
    ways = tuple(
        tuple(
            Hop(
                hop.url,
                hop.by,
                hop.status,
                hop.mimetype,
                hop.time,
                hop.source,
                tuple(logged.get(hop.url, ())),
            )
            for hop in way
        )
        for way in one.ways
    )
    return replace(one, ways=ways)
