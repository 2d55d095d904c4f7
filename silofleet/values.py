"""Endpoints of a fleet as values: what is wished, what is known, how a run ended. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias

from silowork.due.hours import Hours

Depth: TypeAlias = Literal["records", "pages"]
OAI_DC = ("oai_dc",)
"""The metadata formats of an endpoint that names none."""
KEPT_OUTCOMES = 30
SECONDS_UNTIL_LOST = 120
"""A run or a node that does not report for this long is lost."""

FILES_STAY = "WARC files stay here: "
"""Before the reason, in what is said of a run whose files did not get into their store."""


class RunOutcome(StrEnum):
    """How a run ended."""

    WHOLE = "whole"
    PARTIAL = "partial"  # some of what the repository promised is missing
    SUSPICIOUS = "suspicious"  # the repository lists much less than before, or nothing
    FAILED = "failed"  # it does not answer, or not with OAI-PMH
    BLOCKED = "blocked"  # it answers 401 or 403
    MOVED = "moved"  # it redirects to another address
    HELD = "held"  # it asks for a pause (Retry-After)
    CUT = "cut"  # the run was killed or interrupted; it is begun again

    letter: str
    """One letter, for a row of outcomes: ``w p s f b m h c``."""

    def __init__(self, text: str) -> None:
        self.letter = text[0]


class State(StrEnum):
    """The state of an endpoint, as shown; the first that applies in this order of `state_of`."""

    PAUSED = "paused"
    RUNNING = "running"
    LOST = "lost"  # its node is lost
    QUARANTINED = "quarantined"
    BLOCKED = "blocked"
    MOVED = "moved"
    FAILING = "failing"
    SUSPICIOUS = "suspicious"
    PARTIAL = "partial"
    NEW = "new"  # never run
    DUE = "due"
    WHOLE = "whole"  # the last harvest was whole


TROUBLED = (
    State.LOST, State.FAILING, State.SUSPICIOUS, State.BLOCKED, State.MOVED, State.QUARANTINED,
    State.PARTIAL, State.RUNNING, State.DUE, State.NEW, State.PAUSED, State.WHOLE,
)  # fmt: skip
"""The states in the order of lists, those with most trouble first."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What is wished for one repository.

    Attributes:
        name: Of its Silo; unique in the fleet.
        url: Base URL, without credentials.
        every: From the start of a run to the start of the next.
        prefixes: Metadata formats; empty for oai_dc.
        sets: Only these sets; empty for all.
        depth: ``records`` are stored; of ``pages`` only the responses are kept.
        hours: When it may be harvested; None for always.
        tags: Words of the user's own.
        adaptive: Whether the interval follows how often the repository changes.
        window: The length of the parts by which its list is requested; None for the whole list,
            split if it is long or fails.
        is_spread: Whether several of its requests may be in flight at once, also from other nodes
            than that of its Silo; its host keeps its interval.
        is_giant: Whether its runs have a lane of their own.
        is_paused: Whether no run is due.
        node: The node whose disk holds its Silo; empty to let the fleet place it.
        warc_store: Address of the object store for its WARC files; empty to keep them here.
    """

    name: str
    url: str
    every: timedelta = timedelta(days=1)
    prefixes: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    depth: Depth = "records"
    hours: Hours | None = None
    tags: tuple[str, ...] = ()
    adaptive: bool = False
    window: timedelta | None = None
    is_spread: bool = False
    is_giant: bool = False
    is_paused: bool = False
    node: str = ""
    warc_store: str = ""

    @property
    def formats(self) -> tuple[str, ...]:
        """The metadata formats."""
        return self.prefixes or OAI_DC


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of a fleet's schedule.

    Attributes:
        jitter: Share of an interval by which runs are moved, so that they spread.
        first_rest: Time to the next run after a failure; doubled with each further one.
        longest_rest: Most of that.
        most_failures: Failures in a row after which an endpoint is quarantined.
        probe_every: Between two questions (Identify) to a quarantined endpoint.
        count_every: Between two updates that also ask how many records are listed; 0 for none.
        fewer: Share of records that may be missing before a harvest is suspicious.
        shortest, longest: Bounds of adaptive intervals.
        giant_slots: Runs of giants at a time on each node.
        giant_from: Records from which on an endpoint is a giant.
        interval: Least seconds between two requests to a host, unless the host has its own.
        reserve: Records for which every disk keeps room; a node without it gets no new Silo.
        contact: A mail address or URL, sent with every request.
    """

    jitter: float = 0.05
    first_rest: timedelta = timedelta(hours=6)
    longest_rest: timedelta = timedelta(days=30)
    most_failures: int = 8
    probe_every: timedelta = timedelta(days=30)
    count_every: timedelta = timedelta(days=30)
    fewer: float = 0.15
    shortest: timedelta = timedelta(days=1)
    longest: timedelta = timedelta(days=7)
    giant_slots: int = 1
    giant_from: int = 1_000_000
    interval: float = 1.0
    reserve: int = 10_000
    contact: str = ""


class Facts(NamedTuple):
    """What is known of an endpoint.

    Attributes:
        name: See `Endpoint`.
        host: Its host, of which at most one run is at work; see `politeweb.shared_pace`.
        node: Where its Silo is; empty before the first run.
        epoch: Increases when the Silo moves to another node; runs of an earlier one are refused.
        run: Number of the run at work; 0 for none.
        started, ended: Of the last run.
        outcome: How it ended; None before the first end.
        said: A sentence on it.
        failures: Runs in a row that failed.
        whole: When the last whole harvest ended.
        records: Records in the Silo after the last run.
        promised: Records that the repository promised in its last full list; None if unknown.
        due: When the next run is due, before hours and pauses of the host.
        interval: The current interval, if it is adaptive; None for the wished one.
        is_quarantined: After too many failures, or by a person.
        moved_to: The address that it redirects to.
        is_asked: A person asked for a run now.
        outcomes: Letters of the last outcomes, the oldest first.
    """

    name: str
    host: str
    added: datetime
    node: str = ""
    epoch: int = 0
    run: int = 0
    started: datetime | None = None
    ended: datetime | None = None
    outcome: RunOutcome | None = None
    said: str = ""
    failures: int = 0
    whole: datetime | None = None
    records: int = 0
    promised: int | None = None
    due: datetime | None = None
    interval: timedelta | None = None
    is_quarantined: bool = False
    moved_to: str = ""
    is_asked: bool = False
    outcomes: str = ""


@dataclass(frozen=True, slots=True)
class BeforeRun:
    """What was known before a run.

    Attributes:
        records: Records in the Silo; 0 if there is none.
        promised: Records of the last full list; None if there was none.
        fewer: Share of records that may be missing before a harvest is suspicious.
    """

    records: int = 0
    promised: int | None = None
    fewer: float = 0.15


class Ended(NamedTuple):
    """The end of a run.

    Attributes:
        said: A sentence for people.
        records: Records in the Silo; None if unknown, and after a probe.
        promised: Records promised by a full list; None if unknown.
        changed: Records that were new, changed or deleted in this run.
        hold: Until when the host asks for a pause; None for no pause.
        moved_to: The address that it redirects to.
        began: When the run began; None if the facts say it.
        is_disk_full: Whether the disk of the node was full; that is no failure.
        epoch: Of the Silo, which the fleet may not have known.
        listed: Records that the repository listed in this run; None if unknown.
    """

    outcome: RunOutcome
    said: str
    at: datetime
    records: int | None = None
    promised: int | None = None
    changed: int = 0
    hold: datetime | None = None
    moved_to: str = ""
    began: datetime | None = None
    is_disk_full: bool = False
    epoch: int = 1
    listed: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A machine, or a part of one, with a Granary on its own disk.

    Attributes:
        name: Unique in the fleet.
        slots: Runs at a time.
        free_bytes, free_inodes: Of its disk.
        seen: When it last reported.
        is_open: Whether new Silos may be placed there.
    """

    name: str
    slots: int
    free_bytes: int
    free_inodes: int
    seen: datetime
    is_open: bool = True
