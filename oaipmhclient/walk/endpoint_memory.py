"""What an endpoint needs beyond the specification, learned once and then remembered (pure).

Each field is one habit of real repositories. The ladder (`recovery`) writes here what
helped, so that the next page, window or run begins with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from oaipmhprotocol import Granularity

_MOST_OPENINGS = 1_000


class Spelling(StrEnum):
    """How a resumption token is written into the URL."""

    ENCODED = "encoded"  # percent-encoded, as section 3.1.1.3 wants it
    VERBATIM = "verbatim"  # as handed out: dash.harvard.edu, tokens that are encoded already
    DOUBLE = "double"  # percent-encoded twice: servers that decode twice
    UNESCAPED = "unescaped"  # with the entities undone that were escaped once too often


class Companions(StrEnum):
    """What is sent beside a resumption token, which is to stand alone (section 3.5)."""

    NONE = "none"
    PREFIX = "prefix"  # metadataPrefix as well: Zenodo, pycsw 2.6.2
    ALL = "all"  # metadataPrefix, from, until and set as well


@dataclass(slots=True)
class EndpointMemory:
    """What was learned of one endpoint. Mutable, shared by its windows, kept in the journal.

    Threads may share it: what is wrong is learned by one assignment, and of the counts
    only the first few matter.

    Attributes:
        spelling: The spelling of tokens that was accepted.
        companions: What has to stand beside a token.
        token_proved: Whether any token was accepted.
        granularity: The granularity that was accepted where the announced one was refused.
        both_bounds: ``from`` is refused without ``until``, or the other way round.
        windows_work: False where windows do not select by the datestamps shown.
        windows_answered: How many windows with bounds were answered.
        windows_failed: How many were not.
        identifiers_work: False where ListIdentifiers is of no use: refused, or
            its identifiers are all one.
        identifiers_failed: How many windows in a row ListIdentifiers failed for that
            ListRecords had failed for.
        sets_checked: The sets were asked for whether one that is empty is among them.
        promises_kept: False where completeListSize is no count of the list.
        ends_early: Where lists of the endpoint are known to lose their tokens, the largest
            page of ListIdentifiers seen; 0 where they are not.
        repeats_in_vain: How many lists that ended early ended so again.
        empty_confirmed: How many empty windows were empty when asked again.
        empty_denied: How many of them were not.
        openings: The first pages of windows, as digests, and of which window each came
            first; of this process only.
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
    openings: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def opens_two(self, page: str, window: str) -> bool:
        """Note the first page of a window; return whether another window begins with it."""
        if len(self.openings) >= _MOST_OPENINGS:
            self.openings.clear()
        return self.openings.setdefault(page, window) != window

    @property
    def windows_usable(self) -> bool:
        """Whether there is sense in windows: not where they never got an answer."""
        return self.windows_work and (self.windows_answered > 0 or self.windows_failed < 6)

    @property
    def may_repeat(self) -> bool:
        """Whether there is sense in asking for a list again that ended early."""
        return self.repeats_in_vain < 3

    @property
    def believes_empty(self) -> bool:
        """Whether noRecordsMatch for a window is taken at its word by now."""
        return self.empty_confirmed >= 3 and not self.empty_denied

    def to_json(self) -> dict[str, Any]:
        """The fields by name, as JSON values."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.compare}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "EndpointMemory":
        """Read what `to_json` gave; unknown keys of other versions are left out."""
        known = {one.name: found[one.name] for one in fields(cls) if one.name in found}
        readers: dict[str, Any] = {
            "spelling": Spelling,
            "companions": Companions,
            "granularity": lambda text: text and Granularity(text),
        }
        return cls(**{name: readers.get(name, _same)(value) for name, value in known.items()})


def _same(value: Any) -> Any:
    return value
