"""Count a crawl's links by outcome, domain, status, media type and breadcrumbs."""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from crawlmatch.crawls import Crawl
from crawlmatch.outcomes import Outcome

TOP = 20
_TABLES = {
    "initial domains": ("initial_domain", "terminal = 1"),
    "initial domains without full text": ("initial_domain", "terminal = 1 AND hit = 0"),
    "final domains of full texts": ("final_domain", "terminal > 0 AND hit = 1"),
    "status": ("final_status_code", "terminal = 1"),
    "media types": ("final_mimetype", "terminal = 1"),
    "breadcrumbs of full texts": ("breadcrumbs", "terminal > 0 AND hit = 1"),
    "match rules": ("match_rule", "terminal = 1"),
}
"""Heading → the column to count, and a condition on rows; ``terminal`` 1 is a seed row's first."""


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of a crawl.

    Attributes:
        outcomes: All outcomes, in the order of `Outcome`.
        tables: Name → (value, count), the most frequent first; at most `TOP` of each.
        held_before: Number of full texts that earlier crawls had.
        unseeded: Number of full texts without a seed.
    """

    name: str
    matched: str
    seed_rows: int
    outcomes: Mapping[Outcome, int]
    full_texts: int
    held_before: int
    unseeded: int
    tables: Mapping[str, tuple[tuple[str, int], ...]]

    @property
    def dedupe_share(self) -> float:
        """Return the share of full texts that earlier crawls had, from 0 to 1."""
        return self.held_before / self.full_texts if self.full_texts else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "name": self.name, "matched": self.matched, "seed_rows": self.seed_rows,
            "outcomes": {str(name): count for name, count in self.outcomes.items()},
            "full_texts": self.full_texts, "held_before": self.held_before,
            "dedupe_share": round(self.dedupe_share, 4), "unseeded_full_texts": self.unseeded,
            **{name.replace(" ", "_"): [{"value": v, "count": n} for v, n in rows]
               for name, rows in self.tables.items()},
        }  # fmt: skip

    def to_csv(self) -> str:
        """Return the report as CSV with three columns: what, value, count."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("table", "value", "count"))
        for outcome, count in self.outcomes.items():
            writer.writerow(("outcome", str(outcome), count))
        for name, count in (("full texts", self.full_texts), ("held before", self.held_before),
                            ("unseeded full texts", self.unseeded)):  # fmt: skip
            writer.writerow(("totals", name, count))
        for name, rows in self.tables.items():
            writer.writerows((name, value, count) for value, count in rows)
        return out.getvalue()

    def text(self) -> str:
        """Return the report as text."""
        lines = [f"{self.name}: {self.seed_rows:,} seed rows, matched {self.matched[:19]} UTC", ""]
        for outcome, count in self.outcomes.items():
            if count:
                share = 100 * count / self.seed_rows
                lines.append(f"{count:>11,} {share:5.1f} %  {outcome:<20} {outcome.meaning}")
        lines.append("")
        lines.append(
            f"{self.full_texts:,} full texts, {self.held_before:,} of them"
            f" ({100 * self.dedupe_share:.1f} %) held before; {self.unseeded:,} more without a seed"
        )
        for name, rows in self.tables.items():
            lines += ["", name, *(f"{count:>11,}  {value or '-'}" for value, count in rows)]
        return "\n".join(lines)


def report_on(crawl: Crawl) -> Report:
    """Count the rows of a crawl."""
    held = crawl.rows(
        "SELECT count(*) AS texts, coalesce(sum(final_was_dedupe), 0) AS held"
        " FROM crawl_result WHERE terminal IS NOT NULL AND hit = 1"
    )[0]
    unseeded = crawl.rows("SELECT count(*) AS n FROM crawl_result WHERE terminal IS NULL")[0]["n"]
    tables = {
        name: _pairs(
            crawl.rows(
                f"SELECT {column} AS value, count(*) AS count FROM crawl_result WHERE {rows}"  # noqa: S608  # our own texts
                f" GROUP BY 1 ORDER BY count DESC, value LIMIT {TOP}"
            )
        )
        for name, (column, rows) in _TABLES.items()
    }
    outcomes = {one: crawl.receipt.outcomes.get(one, 0) for one in Outcome}
    return Report(
        crawl.name, crawl.matched, crawl.receipt.seed_rows, outcomes, held["texts"], held["held"],
        unseeded, tables,
    )  # fmt: skip


def _pairs(rows: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, int], ...]:
    return tuple((str(row["value"] or ""), int(row["count"])) for row in rows)
