"""The options of a harvest, for Python, commands, jobs and fleets (pure)."""

from dataclasses import dataclass
from datetime import timedelta

from oaipmhscraper.progress_marks import HARVESTED, KEPT_AS_PAGES
from oaipmhscraper.sweep_rules import SHARE

MOST_AGAIN = 100
"""Default for the most records of a list to request again by GetRecord."""
MOST_IN_FLIGHT = 6
APART_FROM = 2_000
"""The commands' and jobs' `HarvestOptions.apart_from`: a second process starts in 0.4 s."""


@dataclass(frozen=True, slots=True)
class HarvestOptions:
    """Options of a harvest.

    Attributes:
        window: The length of windows; by default it depends on the list's size.
        max_in_flight: Maximum number of parallel requests; starts with one.
        restore_removed: Restore records that were removed from the Silo.
        warc: Store responses as received, in WARC files below ``harvests/``.
        pages_only: Store the responses, but no records.
        anew: Start again, even if an earlier run of the same harvest was stopped.
        overlap: How far before the last harvest an update begins, at least one granule.
        count: List all identifiers if a list may be incomplete.
        again: Most records of a list to request again by GetRecord, if they were set aside
            or not available.
        identifiers_first: Begin with ListIdentifiers and GetRecord, for repositories whose
            ListRecords is of no use.
        sweep: Then compare a full list of identifiers with the Silo, to find deletions that
            are not announced.
        sweep_share: The share of the Silo that may be missing; a sweep with more is ignored.
        apart_from: Number of listed records from which on a second process stores the pages of a
            list, if responses are stored, there are two processors, and the repository takes long
            enough for its pages; 0 for at once, None for never.
    """

    window: timedelta | None = None
    max_in_flight: int = MOST_IN_FLIGHT
    restore_removed: bool = False
    warc: bool = True
    pages_only: bool = False
    anew: bool = False
    overlap: timedelta = timedelta(0)
    count: bool = True
    again: int = MOST_AGAIN
    identifiers_first: bool = False
    sweep: bool = False
    sweep_share: float = SHARE
    apart_from: int | None = None

    @property
    def key(self) -> str:
        """The key of the state with the marks that the harvest moves."""
        return KEPT_AS_PAGES if self.pages_only else HARVESTED
