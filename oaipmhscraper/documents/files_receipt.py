"""The receipt of a run that fetches files (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from oaipmhprotocol import Granularity
from oaipmhprotocol.datestamps import format_datestamp
from recordsilo.wording import counted

NAMED = 1000
"""Most failures in a receipt; all are noted in their records."""


@dataclass(frozen=True, slots=True)
class FileFailure:
    """A link whose file could not be fetched."""

    identifier: str
    url: str
    reason: str

    def __str__(self) -> str:
        return f"{self.identifier}: {self.url} {self.reason}"


@dataclass(frozen=True, slots=True, repr=False)
class FilesReceipt:
    """The receipt of a run; a Python prompt shows it as `text`.

    Attributes:
        started: Aware UTC.
        ended: Aware UTC.
        records: Number of records examined.
        fetched: Number of files fetched.
        received: Their bytes.
        unchanged: Number of files copied from an earlier version, because they were unchanged.
        failed: Number of links whose files could not be fetched.
        postponed: Number of links postponed, because their host did not answer or requested a
            pause.
        failures: The first `NAMED` failures.
        hosts: Host given up for this run → reason.
        limited: Whether the run ended because the limit was reached.
        interrupted: Whether the user stopped it.
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
        """Return the receipt with one more failure."""
        named = self.failures if len(self.failures) >= NAMED else (*self.failures, failure)
        return replace(self, failed=self.failed + 1, failures=named)

    def to_json(self) -> dict[str, Any]:
        """Return the receipt as JSON values."""
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
        """Return the receipt as text."""
        first = (
            f"{counted(self.records, 'record')} examined: {counted(self.fetched, 'file')} fetched"
            f" ({self.received:,} bytes), {self.unchanged:,} unchanged,"
            f" {self.failed:,} failed, {self.postponed:,} postponed"
        )
        lines = [first, *(f"  {one}" for one in self.failures[:20])]
        if self.failed > 20:
            lines.append(f"  and {self.failed - 20:,} more; each record notes its own")
        lines += [f"  {host} {reason}" for host, reason in self.hosts.items()]
        return "\n".join(lines)

    __repr__ = text
