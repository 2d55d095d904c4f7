"""What it means that a record is not listed any more (pure).

Half of all repositories do not say what they delete (deletedRecord ``no`` or
``transient``: DOAJ#1408, DSpace#3077, geonetwork#419). A sweep compares all that a
repository lists with what the Silo has. One absence may be an accident: it makes a mark.
A second one, in another sweep, makes a deletion, once GetRecord does not know the record
either.

Source: OAI-PMH 2.0, section 2.5.1.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from oaipmhprotocol import CannotDisseminateFormat, IdDoesNotExist, NoRecordsMatch, OAIError
from oaipmhscraper.errors import ScraperError

MISSING_SINCE = "missing_since"
"""Key of a record's metadata: the responseDate of the sweep that missed it first."""
SHARE = 0.1
"""How much of the Silo may be missing before a sweep is not believed."""


class SweepRefused(ScraperError):
    """A sweep that is not believed; nothing was marked or deleted.

    Attributes:
        missing: How many records were not listed, as far as counted.
    """

    def __init__(self, sentence: str, missing: int = 0) -> None:
        self.missing = missing
        super().__init__(sentence)


class Absence(StrEnum):
    """What to do about a record that is not listed."""

    MARK = "mark"
    WAIT = "wait"  # marked by this very sweep, which was interrupted
    ASK = "ask"  # absent for the second time: does GetRecord know it?


class Knowledge(StrEnum):
    """What GetRecord says of a record that is not listed."""

    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SweepReceipt:
    """What a sweep found.

    Attributes:
        date: The repository's clock when it began, as a datestamp.
        listed: Identifiers the repository lists.
        compared: Living records of the Silo they were compared with.
        marked: Absent for the first time.
        deleted: Absent for the second time, and unknown to GetRecord: deleted now.
        unlisted: Absent, though GetRecord has them.
        undecided: Absent, and GetRecord brought no answer.
        returned: Marked before, and listed again.
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
        """The sweep, as in a receipt's ``sweep``."""
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
        """The sweep in a sentence."""
        return (
            f"Sweep: {self.listed:,} identifiers listed, {self.compared:,} records compared;"
            f" {len(self.marked):,} missing for the first time, {len(self.deleted):,} deleted,"
            f" {self.returned:,} returned"
        )


def most_missing(compared: int, share: float) -> int:
    """How many of the records compared may be missing: their share, and at least one."""
    return max(1, int(compared * share))


def absence(missing_since: object, sweep_date: str) -> Absence:
    """What a record's absence from a sweep's list means.

    Args:
        missing_since: The record's mark, or None.
        sweep_date: That of the sweep.
    """
    if not missing_since:
        return Absence.MARK
    return Absence.WAIT if missing_since == sweep_date else Absence.ASK


def knowledge_from(error: OAIError) -> Knowledge:
    """What an error condition in answer to GetRecord says of the record."""
    gone = (IdDoesNotExist, CannotDisseminateFormat, NoRecordsMatch)
    return Knowledge.GONE if isinstance(error, gone) else Knowledge.UNKNOWN
