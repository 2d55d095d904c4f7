"""When a list is believed to be whole, and when its identifiers are counted (pure).

A list is whole where the repository promised a number and as many different identifiers
came, and where it is one page without a token. Everything else is settled by
ListIdentifiers (`by_identifier.settle`): it costs a request for every page of headers, and
the records that were not listed are then got as well.

What ended a list early may end the list of its identifiers at the same place. So these
are listed in other windows: what comes in lists that ended elsewhere was not cut off
there. Once such a count finds what a list lacked, in this run or an earlier one, its parts
are taken to end early as well: each has to be one short page, or its halves, listed
separately, have to hold the same identifiers. A count that lacks records which the Silo holds
and the repository still has settles nothing.
A number that was promised and not reached is wrong only where that shows it, or
where a wider list promises the same one.

Source: OAI-PMH 2.0, section 3.5, completeListSize; DOAJ#1432 (760,000 of 2.28 million
records), pkp-lib#7214 and combine#240 show why neither the end of a list nor its number
is to be believed alone.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.recovery import DOUBTS, Rung

DOUBTFUL = frozenset(rung.value for rung in DOUBTS)
"""Steps of a walk that took a list to be at its end on weak grounds."""


SET_NOT_LISTED = "set is not listed"
"""The step of a walk that found nothing, of a set that ListSets does not have."""


class Counted(StrEnum):
    """What a count of identifiers found; the value is its name in the receipt."""

    ELSEWHERE = "identifiers counted in lists that ended elsewhere"
    WIDER = "completeListSize is that of a wider list"
    DOUBTED = "identifiers counted in lists that ended on weak grounds"
    LACKING = "identifiers counted without records that the repository still has"
    UNLISTED = "records that the repository still has are in no list"


_BY_NUMBER = {rung.value for rung in (Rung.UNBELIEVED, Rung.SHORT_PAGE, Rung.SHORT)}
"""Doubts that a wrong number explains: the lists had ended by themselves."""
_VANISHED = 100
"""One record among so many may vanish while the list is sent and counted."""


@dataclass(frozen=True, slots=True)
class Length:
    """How long a list was when it ended."""

    records: int
    pages: int


def ended_alike(one: Length, other: Length) -> bool:
    """Whether what ended one list may have ended the other as well: at the same length.

    Lists of one page are told apart by their records only.
    """
    return one.records == other.records > 0 or one.pages == other.pages > 1


@dataclass(frozen=True, slots=True)
class ListedSoFar:
    """What is known of a list that was followed to its end.

    Attributes:
        promised: The number the repository gave for all of it, or None.
        distinct: Different identifiers that came, unreadable records among them.
        steps: The steps of the ladder that were needed.
        pages: Of the longest list that the records came in.
    """

    promised: int | None
    distinct: int
    steps: Collection[str] = ()
    pages: int = 1


def reason_to_count(listed: ListedSoFar, quirks: EndpointMemory) -> str:
    """Why the identifiers of a list should be counted, in words; empty: it is whole.

    Empty as well where ListIdentifiers is known to be of no use at this endpoint, and
    for a list that is empty: that was asked for twice already.
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
    """Why no number of the repository shows that the list is whole; empty where one may."""
    if listed.promised is None:
        return "the repository promised no number"
    if not quirks.promises_kept:
        return "the repository's numbers are no counts of its lists"
    return ""


def settled(counted: int, findings: Collection[str], listed: ListedSoFar) -> int | None:
    """How many identifiers a list has, where the count of them is to be believed.

    Args:
        counted: How many came of ListIdentifiers.
        findings: See `Counted`.
        listed: The list, with what the count added to it.
    """
    if Counted.UNLISTED in findings:
        return None
    are_most = counted >= listed.distinct - listed.distinct // _VANISHED
    if not are_most or Counted.LACKING in findings:
        return None
    if Counted.ELSEWHERE in findings:
        return counted
    doubts = DOUBTFUL.intersection(listed.steps)
    if Counted.WIDER in findings:
        doubts -= _BY_NUMBER
    elif listed.distinct < (listed.promised or 0):
        return None
    return None if doubts or Counted.DOUBTED in findings else counted


def doubt_left(listed: ListedSoFar, quirks: EndpointMemory) -> str:
    """On what weak grounds a list that nothing settled was taken to be at its end.

    Empty where there were none, or where all that was promised for the whole list came.

    Args:
        listed: The list; promised is what was promised for all of it.
        quirks: What is known of the endpoint.
    """
    is_met = listed.promised is not None and listed.distinct >= listed.promised
    if is_met and quirks.promises_kept:
        return ""
    return next(iter(sorted(DOUBTFUL.intersection(listed.steps))), "")


def unproved(listed: ListedSoFar, quirks: EndpointMemory) -> str:
    """Why neither a number nor a count shows that a list is whole; empty where one does.

    One page without a token is whole, unless a count found what it lacks.
    """
    is_met = listed.promised == listed.distinct and quirks.promises_kept
    if Counted.UNLISTED.value in listed.steps:
        return Counted.UNLISTED.value
    for doubt in (Counted.LACKING.value, Counted.DOUBTED.value):
        if doubt in listed.steps and not is_met:
            return doubt
    return lack_of_proof(listed, quirks) if listed.pages > 1 else ""
