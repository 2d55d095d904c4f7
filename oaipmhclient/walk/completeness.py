"""Decide whether a list is complete, and when its identifiers are counted (pure).

A list is complete if the repository promised a number and as many different identifiers were
received, or if it is one page without a token. All other lists are checked with ListIdentifiers
(`counting.settle`), which costs a request for each page of headers, and gets the records that
were not listed.

The cause that ended a list early may end the list of its identifiers at the same place. So these
are listed in other windows, which end elsewhere. Once such a count finds records that a list
lacked, in this run or an earlier one, its parts may end early as well: each must be one short page,
or its halves, listed separately, must have the same identifiers. A count that lacks records that
both the Silo and the repository have decides nothing.

A promised number that is not reached counts as wrong only if such a count shows it, or if a wider
list promises the same number.

Source: OAI-PMH 2.0, section 3.5, completeListSize; DOAJ#1432 (760,000 of 2.28 million
records), pkp-lib#7214 and combine#240 show why neither the end of a list nor its number alone is
reliable.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.recovery import DOUBTS, Rung

DOUBTFUL = frozenset(rung.value for rung in DOUBTS)
"""Steps of a walk that ended a list by an unreliable sign."""


SET_NOT_LISTED = "set is not listed"
"""The step of a walk that found no records, for a set that is not in ListSets."""


class CountFinding(StrEnum):
    """A finding of a count of identifiers; the value is its name in the receipt."""

    ELSEWHERE = "identifiers counted in lists that ended elsewhere"
    WIDER = "completeListSize is that of a wider list"
    DOUBTED = "identifiers counted in lists that ended on weak grounds"
    LACKING = "identifiers counted without records that the repository still has"
    UNLISTED = "records that the repository still has are in no list"


_BY_NUMBER = {rung.value for rung in (Rung.UNBELIEVED, Rung.SHORT_PAGE, Rung.SHORT)}
"""Doubts that a wrong number explains, because the lists had ended properly."""
_VANISHED = 100
"""One record of this many may vanish while the list is sent and counted."""


@dataclass(frozen=True, slots=True)
class Length:
    """The length of a list when it ended."""

    records: int
    pages: int


def ended_alike(one: Length, other: Length) -> bool:
    """Whether the same cause may have ended both lists, because their lengths are equal.

    Lists of one page are compared by their records only.
    """
    return one.records == other.records > 0 or one.pages == other.pages > 1


@dataclass(frozen=True, slots=True)
class ListedSoFar:
    """A list that was followed to its end.

    Attributes:
        promised: The number that the repository promised for the whole list, or None.
        distinct: Number of different identifiers received, including unreadable records.
        steps: The steps of the ladder that were needed.
        pages: Number of pages of the longest list in which the records were received.
    """

    promised: int | None
    distinct: int
    steps: Collection[str] = ()
    pages: int = 1


def reason_to_count(listed: ListedSoFar, quirks: EndpointMemory) -> str:
    """Return why the identifiers of a list should be counted; empty if it is complete.

    Also empty if ListIdentifiers is known to be useless at this endpoint, and for an empty list,
    which was already requested twice.
    """
    if not quirks.identifiers_work:
        return ""
    if doubts := sorted(DOUBTFUL.intersection(listed.steps)):
        return doubts[0]
    if not listed.distinct and not listed.promised:
        return ""
    if unproved := lack_of_proof(listed, quirks):
        return unproved
    if listed.promised != listed.distinct:
        return f"{listed.promised:,} records were promised and {listed.distinct:,} listed"
    return ""


def lack_of_proof(listed: ListedSoFar, quirks: EndpointMemory) -> str:
    """Return why no number of the repository can prove completeness; empty if one can."""
    if listed.promised is None:
        return "the repository did not say how many records there are"
    if not quirks.promises_kept:
        return "the repository's numbers are no counts of its lists"
    return ""


def settled(counted: int, findings: Collection[str], listed: ListedSoFar) -> int | None:
    """Return how many identifiers a list has, if their count is reliable.

    Args:
        counted: The number that ListIdentifiers returned.
        findings: See `CountFinding`.
        listed: The list, with the records that the count added.
    """
    if CountFinding.UNLISTED in findings:
        return None
    are_most = counted >= listed.distinct - listed.distinct // _VANISHED
    if not are_most or CountFinding.LACKING in findings:
        return None
    if CountFinding.ELSEWHERE in findings:
        return counted
    doubts = DOUBTFUL.intersection(listed.steps)
    if CountFinding.WIDER in findings:
        doubts -= _BY_NUMBER
    elif listed.distinct < (listed.promised or 0):
        return None
    return None if doubts or CountFinding.DOUBTED in findings else counted


def doubt_left(listed: ListedSoFar, quirks: EndpointMemory) -> str:
    """Return the unreliable sign by which an unproved list ended.

    Empty if there was none, or if all the promised records were received.

    Args:
        listed: The list, with the number promised for the whole list.
        quirks: The endpoint's known habits.
    """
    is_met = listed.promised is not None and listed.distinct >= listed.promised
    if is_met and quirks.promises_kept:
        return ""
    return next(iter(sorted(DOUBTFUL.intersection(listed.steps))), "")


def unproved(listed: ListedSoFar, quirks: EndpointMemory) -> str:
    """Return why neither a number nor a count proves completeness; empty if one does.

    One page without a token is complete, unless a count found missing records.
    """
    is_met = listed.promised == listed.distinct and quirks.promises_kept
    if CountFinding.UNLISTED.value in listed.steps:
        return CountFinding.UNLISTED.value
    for doubt in (CountFinding.LACKING.value, CountFinding.DOUBTED.value):
        if doubt in listed.steps and not is_met:
            return doubt
    return lack_of_proof(listed, quirks) if listed.pages > 1 else ""
