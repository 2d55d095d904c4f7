"""What a run that fetches files did: its receipt (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from oaipmhprotocol import Granularity
from oaipmhprotocol.datestamps import format_datestamp

NAMED = 1000
"""Failures that a receipt names; all are noted in their records."""


@dataclass(frozen=True, slots=True)
class FileFailure:
    """A link that gave no file."""

    identifier: str
    url: str
    reason: str

    def __str__(self) -> str:
        return f"{self.identifier}: {self.url} {self.reason}"


@dataclass(frozen=True, slots=True, repr=False)
class FilesReceipt:
    """A run over some records; at a Python prompt it shows itself as `text`.

    Attributes:
        started: Aware UTC.
        ended: Aware UTC.
        records: How many records were looked at.
        fetched: Files that came.
        received: Their bytes.
        unchanged: Files that were the same as for an earlier version, and were copied.
        failed: Links that gave no file.
        postponed: Links left for another time, because their host did not answer, or asked
            to be left alone.
        failures: The first `NAMED` of those that failed.
        hosts: Hosts given up for this run, and why.
        limited: Whether the run ended because as many files came as were wanted.
        interrupted: Whether somebody stopped it.
    """

    started: datetime
    ended: datetime
    records: int = 0
    fetched: int = 0
    received: int = 0
    unchanged: int = 0
    failed: int = 0
    postponed: int = 0
    failures: tuple[FileFailure, ...] = ()
    hosts: Mapping[str, str] = field(default_factory=dict)
    limited: bool = False
    interrupted: bool = False

    @property
    def whole(self) -> bool:
        """Whether every link looked at has its file now."""
        return not (self.failed or self.postponed or self.interrupted)

    def with_failure(self, failure: FileFailure) -> "FilesReceipt":
        """The receipt after a link gave no file."""
        named = self.failures if len(self.failures) >= NAMED else (*self.failures, failure)
        return replace(self, failed=self.failed + 1, failures=named)

    def to_json(self) -> dict[str, Any]:
        """The receipt as JSON values."""
        return {
            "started": format_datestamp(self.started, Granularity.SECOND),
            "ended": format_datestamp(self.ended, Granularity.SECOND),
            "whole": self.whole,
            "counts": {
                "records": self.records,
                "fetched": self.fetched,
                "bytes": self.received,
                "unchanged": self.unchanged,
                "failed": self.failed,
                "postponed": self.postponed,
            },
            "failures": [
                {"identifier": one.identifier, "url": one.url, "reason": one.reason}
                for one in self.failures
            ],
            "hosts": dict(self.hosts),
        }

    def text(self) -> str:
        """The receipt for a person."""
        first = (
            f"{self.records:,} records looked at: {self.fetched:,} files fetched"
            f" ({self.received:,} bytes), {self.unchanged:,} the same as before,"
            f" {self.failed:,} failed, {self.postponed:,} left for another time"
        )
        lines = [first, *(f"  {one}" for one in self.failures[:20])]
        if self.failed > 20:
            lines.append(f"  and {self.failed - 20:,} more; each record notes its own")
        lines += [f"  {host} {reason}" for host, reason in self.hosts.items()]
        return "\n".join(lines)

    __repr__ = text
