"""When a list is believed to be whole, and when its identifiers are counted (pure).

A list is whole where the repository promised a number and as many different identifiers
came. Everything else is settled by ListIdentifiers (`by_identifier`): it costs a request
for every page of headers, and the records that were not listed are then got one by one.

Source: OAI-PMH 2.0, section 3.5, completeListSize; DOAJ#1432 (760,000 of 2.28 million
records), pkp-lib#7214 and combine#240 show why neither the end of a list nor its number
is to be believed alone.
"""

from collections.abc import Collection
from dataclasses import dataclass

from oaipmhscraper.quirks import Quirks
from oaipmhscraper.recovery import DOUBTS

DOUBTFUL = frozenset(rung.value for rung in DOUBTS)
"""Steps of a walk that took a list to be at its end on weak grounds."""


@dataclass(frozen=True, slots=True)
class ListedSoFar:
    """What is known of a list that was followed to its end.

    Attributes:
        promised: The number the repository gave for all of it, or None.
        distinct: Different identifiers that came, unreadable records among them.
        steps: The steps of the ladder that were needed.
    """

    promised: int | None
    distinct: int
    steps: Collection[str] = ()


def reason_to_count(listed: ListedSoFar, quirks: Quirks) -> str:
    """Why the identifiers of a list should be counted, in words; empty: it is whole.

    Empty as well where ListIdentifiers is known to be of no use at this endpoint, and
    for a list that is empty: that was asked for twice already.
    """
    if not quirks.identifiers_work or (not listed.distinct and not listed.promised):
        return ""
    doubts = sorted(DOUBTFUL.intersection(listed.steps))
    if doubts:
        return doubts[0]
    if listed.promised is None:
        return "the repository promised no number"
    if not quirks.promises_kept:
        return "the repository's numbers are no counts of its lists"
    if listed.promised != listed.distinct:
        return f"{listed.promised:,} records were promised and {listed.distinct:,} listed"
    return ""
