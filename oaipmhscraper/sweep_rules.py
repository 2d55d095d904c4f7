"""Decide what it means if a record is no longer listed (pure).

Half of all repositories do not announce deletions (deletedRecord ``no`` or ``transient``:
DOAJ#1408, DSpace#3077, geonetwork#419). A sweep compares all records that a repository lists with
the Silo. The first absence may be an accident, and the record is only marked. After a second one,
in another sweep, it is deleted if GetRecord does not find it either.

Source: OAI-PMH 2.0, section 2.5.1.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from oaipmhprotocol import CannotDisseminateFormat, IdDoesNotExist, NoRecordsMatch, OAIError
from oaipmhscraper.errors import ScraperError
from recordsilo.wording import counted

MISSING_SINCE = "missing_since"
"""Key of a record's metadata: the responseDate of the sweep that missed it first."""
SHARE = 0.1
"""Default share of the Silo that may be missing; a sweep with more is refused."""


class SweepRefused(ScraperError):
    """A sweep was refused; nothing was marked or deleted.

    Attributes:
        missing: Number of records not listed, as far as counted.
    """

    def __init__(self, sentence: str, missing: int = 0) -> None:
        self.missing = missing
        super().__init__(sentence)


class Absence(StrEnum):
    """What to do about a record that is not listed."""

    MARK = "mark"
    WAIT = "wait"  # marked by this sweep, which was interrupted
    ASK = "ask"  # absent for the second time; request it by GetRecord


class Knowledge(StrEnum):
    """The result of GetRecord for a record that is not listed."""

    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SweepReceipt:
    """The result of a sweep.

    Attributes:
        date: The repository's time when it began, as a datestamp.
        listed: Number of identifiers that the repository lists.
        compared: Number of existing records of the Silo.
        marked: Records absent for the first time.
        deleted: Records absent for the second time and unknown to GetRecord; deleted now.
        unlisted: Absent records that GetRecord returns.
        undecided: Absent records for which GetRecord failed.
        returned: Number of marked records that are listed again.
    """

    date: str
    listed: int = 0
    compared: int = 0
    marked: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    returned: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the sweep as in a receipt's ``sweep``."""
        return {
            "date": self.date,
            "listed": self.listed,
            "compared": self.compared,
            "missing_since": list(self.marked),
            "deleted": list(self.deleted),
            "unlisted": list(self.unlisted),
            "undecided": list(self.undecided),
            "returned": self.returned,
        }

    def text(self) -> str:
        """Return the sweep as a sentence."""
        return (
            f"Sweep: {counted(self.listed, 'identifier')} listed, "
            f"{counted(self.compared, 'record')} compared; {len(self.marked):,} missing"
            f" for the first time, {len(self.deleted):,} deleted,"
            f" {self.returned:,} returned"
        )


def most_missing(compared: int, share: float) -> int:
    """Return how many of the compared records may be missing: the share, but at least one."""
    return max(1, int(compared * share))


def absence(missing_since: object, sweep_date: str) -> Absence:
    """Return the meaning of a record's absence from a sweep's list.

    Args:
        missing_since: The record's mark, or None.
    """
    if not missing_since:
        return Absence.MARK
    return Absence.WAIT if missing_since == sweep_date else Absence.ASK


def knowledge_from(error: OAIError) -> Knowledge:
    """Return what GetRecord's error condition means for the record."""
    gone = (IdDoesNotExist, CannotDisseminateFormat, NoRecordsMatch)
    return Knowledge.GONE if isinstance(error, gone) else Knowledge.UNKNOWN
