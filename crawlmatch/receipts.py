"""What was read from each input, and the result of a match, as values (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from crawlmatch.errors import NothingUsed
from crawlmatch.outcomes import LinkOutcome
from recordsilo.html_tables import ShownAsTable

PASSED_OVER = frozenset({"blank", "header", "prerequisite", "other record"})
"""Reasons for valid lines that say nothing about a page; all other reasons are faults."""


class InputKind(StrEnum):
    """The type of an input."""

    LOG = "crawl log"
    JSON = "JSON crawl log"
    CDX = "index"
    WARC = "WARC"
    SHARD = "shard"
    EARLIER = "earlier crawl"
    SEEDS = "seeds"


@dataclass(frozen=True, slots=True)
class InputReceipt:
    """What was read from an input.

    Attributes:
        name: As given.
        kind: See `InputKind`.
        sha256: Of the file's bytes, or of the bytes read from standard input.
        size: In bytes.
        lines: Number of lines; of records, for a WARC.
        reasons: Reason → number of lines that say nothing about a page; see
            `PASSED_OVER`.
        scopes: Of a log, its lines about pages by what arabesque counts them as, and full
            texts (``full-text``); None if it is no log.
    """

    name: str
    kind: str
    sha256: str
    size: int
    lines: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    scopes: Mapping[str, int] | None = None

    @property
    def used(self) -> int:
        """Return the number of lines about a page."""
        return self.lines - sum(self.reasons.values())

    @property
    def set_aside(self) -> int:
        """Return the number of malformed lines."""
        return sum(n for reason, n in self.reasons.items() if reason not in PASSED_OVER)

    def to_json(self) -> dict[str, Any]:
        """Return the receipt as JSON values, with the numbers of used and malformed lines."""
        return {
            "name": self.name, "kind": self.kind, "sha256": self.sha256, "size": self.size,
            "lines": self.lines, "used": self.used, "set_aside": self.set_aside,
            "reasons": dict(sorted(self.reasons.items())),
            **({} if self.scopes is None else {"scopes": dict(sorted(self.scopes.items()))}),
        }  # fmt: skip

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "InputReceipt":
        """Return the receipt of the values that `to_json` returned."""
        names = ("name", "kind", "sha256", "size", "lines", "reasons")
        return cls(**{name: values[name] for name in names}, scopes=values.get("scopes"))


def merged(receipts: list[InputReceipt]) -> list[InputReceipt]:
    """Return each input once, also if it is in several parts; sorted by digest."""
    once = {(one.sha256, one.kind): one for one in reversed(receipts)}
    return sorted(
        (replace(one, reasons=dict(one.reasons)) for one in once.values()),
        key=lambda one: (one.kind, one.name, one.sha256),
    )


@dataclass(frozen=True, slots=True)
class MatchReceipt(ShownAsTable):
    """The result of a match.

    Attributes:
        inputs: The inputs read, each once.
        seed_rows: Number of distinct seed rows.
        outcomes: Outcome → number of seed rows; the sum is ``seed_rows``.
        rules: Rule → number of seed rows that it found; "" for those not found.
        counters: Names → numbers for each direction; docs/crawl-rules.md says which of them have
            the name and meaning of arabesque's.
    """

    inputs: tuple[InputReceipt, ...]
    seed_rows: int
    outcomes: Mapping[LinkOutcome, int]
    rules: Mapping[str, int]
    counters: Mapping[str, Mapping[str, int]]

    @property
    def set_aside(self) -> int:
        """Return the number of malformed lines."""
        return sum(one.set_aside for one in self.inputs)

    def check_used(self) -> None:
        """Refuse a result of inputs that tell of no page, before it replaces another.

        Raises:
            NothingUsed: None of their lines does; those of earlier crawls do not count.
        """
        own = [one for one in self.inputs if one.kind not in {InputKind.SEEDS, InputKind.EARLIER}]
        if not any(one.used for one in own):
            raise NothingUsed(sum(one.lines for one in own))

    def to_json(self) -> dict[str, Any]:
        """Return the receipt as JSON values."""
        return {
            "inputs": [one.to_json() for one in self.inputs],
            "seed_rows": self.seed_rows,
            "outcomes": {str(one): self.outcomes.get(one, 0) for one in LinkOutcome},
            "match_rules": dict(sorted(self.rules.items())),
            "counters": {name: dict(counts) for name, counts in self.counters.items()},
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "MatchReceipt":
        """Return the receipt of the values that `to_json` returned."""
        return cls(
            tuple(InputReceipt.from_json(one) for one in values["inputs"]),
            values["seed_rows"],
            {LinkOutcome(name): count for name, count in values["outcomes"].items()},
            values["match_rules"],
            values["counters"],
        )
