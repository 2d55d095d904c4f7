"""Count a crawl's links by outcome, domain, status, media type and breadcrumbs."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from crawlmatch.errors import CrawlError
from crawlmatch.kept import Crawl
from crawlmatch.outcomes import LinkOutcome
from recordsilo.cells import guarded
from recordsilo.disk.regular_file import regular_fd
from recordsilo.wording import counted, minute

FIGURES = "report.json"
TOP = 20
TABLES = (
    "initial_domains",
    "initial_domains_without_full_text",
    "final_domains_of_full_texts",
    "status",
    "media_types",
    "breadcrumbs_of_full_texts",
    "match_rules",
)
"""The tables, as the step ``count_values`` names them."""
_TITLES = {
    "initial_domains": "seeds by domain",
    "initial_domains_without_full_text": "seeds without a full text, by domain",
    "final_domains_of_full_texts": "full texts by domain",
    "status": "seeds by the status of their final address",
    "media_types": "seeds by the media type of their final address",
    "breadcrumbs_of_full_texts": "full texts by the way from their seed (R redirect, L link)",
    "match_rules": "seeds by the rule that found their address",
}
_STATUSES = {
    "-1": "no address for the host",
    "-2": "no connection",
    "-3": "connection lost",
    "-4": "no answer in time",
    "-7": "not an address",
    "-61": "robots.txt could not be read",
    "-5000": "excluded by the settings",
    "-9998": "forbidden by robots.txt",
}
"""What a crawler logs where there is no HTTP status, in words."""


@dataclass(frozen=True, slots=True)
class CrawlReport:
    """The figures of a crawl.

    Attributes:
        outcomes: All outcomes, in the order of `LinkOutcome`.
        tables: Name of `TABLES` → (value, count), the most frequent first; at most `TOP`
            of each.
        held_before: Number of full texts that earlier crawls had.
        unseeded: Number of full texts without a seed.
    """

    name: str
    matched: str
    seed_rows: int
    outcomes: Mapping[LinkOutcome, int]
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
            "dedupe_share": round(self.dedupe_share, 4),
            "unseeded_full_texts": self.unseeded,
            **{name: [{"value": v, "count": n} for v, n in rows]
               for name, rows in self.tables.items()},
        }  # fmt: skip

    def to_csv(self) -> str:
        """Return the report as CSV with three columns: what, value, count."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("table", "value", "count"))
        for outcome, count in self.outcomes.items():
            writer.writerow(("outcome", str(outcome), count))
        totals = (("full texts", self.full_texts), ("held before", self.held_before),
                  ("unseeded full texts", self.unseeded))  # fmt: skip
        writer.writerows(("totals", *total) for total in totals)
        for name, rows in self.tables.items():
            writer.writerows((name.replace("_", " "), _cell(value), count) for value, count in rows)
        return out.getvalue()

    def text(self, fitted: Callable[[str, int], str] = lambda value, _taken: value) -> str:
        """Return the report as text.

        Args:
            fitted: Cuts a value for a line of which so many columns are used.
        """
        lines = [
            f"{self.name}: {counted(self.seed_rows, 'seed row')}, matched {minute(self.matched)}",
            "",
        ]
        for outcome, count in self.outcomes.items():
            if count:
                share = 100 * count / self.seed_rows
                lines.append(f"{count:>11,} {share:5.1f} %  {outcome:<20} {outcome.meaning}")
        lines.append("")
        lines.append(
            f"{counted(self.full_texts, 'full text')} behind the seeds, of which"
            f" {self.held_before:,} ({100 * self.dedupe_share:.1f} %) were in earlier crawls;"
            f" {self.unseeded:,} more to which no seed leads"
        )
        for name, rows in self.tables.items():
            shown = (f"{count:>11,}  {fitted(_named(name, value), 13)}" for value, count in rows)
            lines += ["", _TITLES[name], *shown]
        return "\n".join(lines)


def _named(table: str, value: str) -> str:
    said = _STATUSES.get(value, "") if table == "status" else ""
    return f"{value} ({said})" if said else value or "-"


def _cell(value: str) -> str:
    """A value that spreadsheets do not evaluate: media types and domains are anybody's."""
    return value if re.fullmatch("-?[0-9]*", value) else guarded(value)


class CountingSteps(Protocol):
    """Runs the steps that count."""

    def run(self, step: str, **values: object) -> "CountingSteps":
        """Run a step with its parameters."""

    def all(self) -> list[tuple[Any, ...]]:
        """Return the rows of the last step."""


def write_figures(directory: str, steps: CountingSteps) -> None:
    """Count the table ``result``, and write the figures beside it.

    So a report costs the same for a crawl of any size, and needs no engine.
    """
    full_texts, held_before, unseeded = steps.run("count_texts").all()[0]
    tables: dict[str, list[Any]] = {name: [] for name in TABLES}
    for name, value, count in steps.run("count_values", most=TOP).all():
        tables[name].append([value, count])
    told = {"full_texts": full_texts, "held_before": held_before, "unseeded": unseeded}
    with open(f"{directory}/{FIGURES}", "w", encoding="utf-8") as file:
        json.dump(told | {"tables": tables}, file, ensure_ascii=False, indent=1)


def report_on(crawl: Crawl) -> CrawlReport:
    """Return the figures of a crawl.

    Raises:
        CrawlError: They cannot be read.
    """
    path = f"{crawl.path}/{FIGURES}"
    try:
        with open(path, encoding="utf-8", opener=regular_fd) as file:
            told = json.load(file)
        tables = {name: tuple((str(v), int(n)) for v, n in told["tables"][name]) for name in TABLES}
        full_texts, held_before, unseeded = (
            int(told[name]) for name in ("full_texts", "held_before", "unseeded")
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CrawlError(f"{path} cannot be read ({error}); match the crawl again") from error
    outcomes = {one: crawl.receipt.outcomes.get(one, 0) for one in LinkOutcome}
    return CrawlReport(
        crawl.name, crawl.matched, crawl.receipt.seed_rows, outcomes, full_texts, held_before,
        unseeded, tables,
    )  # fmt: skip
