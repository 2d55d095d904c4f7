"""Memory of an endpoint's deviations from the specification (pure).

Each field is a habit of real repositories. The ladder (`recovery`) records here what helped, so
that the next page, window or run begins with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from enum import StrEnum
from typing import Any

from oaipmhprotocol import Granularity

_MOST_OPENINGS = 1_000
_IN_VAIN = 3
"""Windows in a row that ListRecords did not begin, after which it is no longer tried."""


class Spelling(StrEnum):
    """How a resumption token is written into the URL."""

    ENCODED = "encoded"  # percent-encoded, as section 3.1.1.3 requires
    VERBATIM = "verbatim"  # as issued: dash.harvard.edu, tokens that are already encoded
    DOUBLE = "double"  # percent-encoded twice, for servers that decode twice
    UNESCAPED = "unescaped"  # with doubly escaped entities decoded


class Companions(StrEnum):
    """Arguments sent with a resumption token, which should be alone (section 3.5)."""

    NONE = "none"
    PREFIX = "prefix"  # metadataPrefix as well: Zenodo, pycsw 2.6.2
    ALL = "all"  # metadataPrefix, from, until and set as well
    DATES = "dates"  # the same, with both bounds even if one is open: PubMed Central, once


@dataclass(slots=True)
class EndpointMemory:
    """The known habits of an endpoint. Mutable, shared by its windows, stored in the journal.

    Threads may share it: each habit is one assignment, and of the counts only the first few
    matter.

    Attributes:
        spelling: The spelling of tokens that was accepted.
        companions: The arguments that must be sent with a token.
        token_proved: Whether any token was accepted.
        granularity: The granularity that was accepted when the announced one was refused.
        both_bounds: ``from`` is refused without ``until``, or vice versa.
        windows_work: False if windows do not select by the datestamps shown.
        windows_answered: Number of windows with bounds that were answered.
        windows_failed: Number of windows with bounds that were not.
        identifiers_work: False if ListIdentifiers is useless: it is refused, or all its
            identifiers are equal.
        identifiers_failed: Number of successive windows for which both ListRecords and
            ListIdentifiers failed.
        sets_checked: Whether ListSets was searched for an empty set.
        promises_kept: False if completeListSize is not the size of the list.
        ends_early: If lists of the endpoint are known to lose their tokens, the largest
            page of ListIdentifiers seen; else 0.
        repeats_in_vain: Number of lists that ended early again when repeated.
        empty_confirmed: Number of empty windows that were empty again when repeated.
        empty_denied: Number of empty windows that were not.
        answered_days: The length of the longest window that was answered with records, in days.
        window_days: The length of windows, in days, because the records of longer ones are
            denied; 0 if they are not.
        lists_in_vain: Number of successive parts of lists that ListRecords did not begin, so
            that their records were fetched by identifier; of this process only, because the
            next run tries again.
        openings: Digests of the first pages of windows, each with its first window; of
            this process only.
    """

    spelling: Spelling = Spelling.ENCODED
    companions: Companions = Companions.NONE
    token_proved: bool = False
    granularity: Granularity | None = None
    both_bounds: bool = False
    windows_work: bool = True
    windows_answered: int = 0
    windows_failed: int = 0
    identifiers_work: bool = True
    identifiers_failed: int = 0
    sets_checked: bool = False
    promises_kept: bool = True
    ends_early: int = 0
    repeats_in_vain: int = 0
    empty_confirmed: int = 0
    empty_denied: int = 0
    answered_days: int = 0
    window_days: int = 0
    lists_in_vain: int = field(default=0, compare=False)
    openings: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def opens_two(self, page: str, window: str) -> bool:
        """Note the first page of a window; return whether another window begins with it."""
        if len(self.openings) >= _MOST_OPENINGS:
            self.openings.clear()
        return self.openings.setdefault(page, window) != window

    @property
    def windows_usable(self) -> bool:
        """Whether windows are useful: not if they were never answered."""
        return self.windows_work and (self.windows_answered > 0 or self.windows_failed < 6)

    @property
    def window_length(self) -> timedelta:
        """Return `window_days` as a length of time."""
        return timedelta(days=self.window_days)

    @property
    def lists_are_dead(self) -> bool:
        """Whether ListRecords is of no use, so that records are fetched by identifier at once."""
        return self.lists_in_vain >= _IN_VAIN and self.identifiers_work

    @property
    def may_repeat(self) -> bool:
        """Whether it is useful to repeat a list that ended early."""
        return self.repeats_in_vain < 3

    @property
    def believes_empty(self) -> bool:
        """Whether noRecordsMatch for a window is now accepted without a repetition."""
        return self.empty_confirmed >= 3 and not self.empty_denied

    def to_json(self) -> dict[str, Any]:
        """Return the fields by name, as JSON values."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.compare}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "EndpointMemory":
        """Read the values of `to_json`; unknown keys of other versions are ignored."""
        known = {one.name: found[one.name] for one in fields(cls) if one.name in found}
        readers: dict[str, Any] = {
            "spelling": Spelling,
            "companions": Companions,
            "granularity": lambda text: text and Granularity(text),
        }
        return cls(**{name: readers.get(name, _same)(value) for name, value in known.items()})


def _same(value: Any) -> Any:
    return value
