"""Count the records that have a value or a finding, with the index."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recordsilo import SearchResult, Silo
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.index.facets import labels_of
from recordsilo.index.search_values import NOT
from recordsilo.selection import Selection

CLUSTERED = {"subject": "subject", "creator": "creator", "type": "type", "publisher": "publisher",
             "language": "language"}  # fmt: skip
"""Facet → the Dublin Core element that a rule changes."""
_ALL_VALUES = 10_000_000
MOST_SETS = 12
"""The largest sets, whose quality is shown."""


def value_counts(silo: Silo, field: str) -> dict[str, int]:
    """Return the number of records that have each value of a field."""
    page = PageRequest(limit=1, facet_limit=_ALL_VALUES)
    return {one.value: one.count for one in silo.search("", None, [field], page).facets[field]}


@dataclass(frozen=True, slots=True)
class RenameCounts:
    """What renaming values of a field would meet, in numbers of records.

    Attributes:
        having: Records that have one of the values.
        already: Records that have the new value.
        both: Records that have one of the values and the new one, which then have it once.
        elsewhere: Records that have one of the values and are not among those counted.
    """

    having: int
    already: int
    both: int
    elsewhere: int = 0


def rename_counts(
    silo: Silo, among: Selection, facet: str, values: Sequence[str], to: str
) -> RenameCounts:
    """Count the records that renaming values would meet.

    Args:
        silo: Its index is asked; no record is read.
        among: The records to count: a search; its own filters of the facet do not apply.
        facet: A key of `CLUSTERED`.
        values: As the index has them.
        to: The new value; if it is empty, none has it.

    Cost: one search, two for several values, one more within a search: 20 ms of 30,000 creators in
    60,000 records.
    """
    others = {
        name: some
        for name, some in among.filters.values.items()
        if name not in {facet, facet + NOT}
    }

    old = tuple(one for one in dict.fromkeys(values) if one != to)

    def having(*wanted: str) -> SearchResult:
        filters = replace(among.filters, values={**others, facet: wanted})
        return silo.search(among.query, filters, [facet], PageRequest(limit=1, facet_limit=1))

    found = having(*old, *((to,) if to else ()))
    each = {one.value: one.count for one in found.facets[facet]}  # the facet's own filters, too
    already = each.get(to, 0) if to else 0
    of_old = each.get(old[0], 0) if len(old) == 1 else having(*old).total if old else 0
    elsewhere = 0
    if old and (among.query or among.filters != SearchFilters()):
        everywhere = SearchFilters(values={facet: old})
        all_of_old = silo.search("", everywhere, [], PageRequest(limit=1)).total
        elsewhere = max(0, all_of_old - of_old)
    return RenameCounts(of_old, already, of_old + already - found.total, elsewhere)


def records_by_set(silo: Silo, *, with_findings: bool = False) -> dict[str, int]:
    """The largest sets and their records that the source has not deleted.

    Args:
        with_findings: Count only records that have a finding; of all sets.
    """
    found = {"finding": list(labels_of("finding"))} if with_findings else {}
    filters = SearchFilters({"deleted": False}, found)
    page = PageRequest(
        limit=1, facet_limit=MOST_SETS, whole_facets=["set"] if with_findings else ()
    )
    sets = silo.search("", filters, ["set"], page).facets["set"]
    return {one.value: one.count for one in sets}


def finding_counts(silo: Silo, set_spec: str | None = None) -> dict[str, int]:
    """Return the number of records with each finding code, in the whole Silo or in a set."""
    filters = SearchFilters(values={"set": [set_spec]} if set_spec else {})
    page = PageRequest(limit=1, facet_limit=len(labels_of("finding")))
    found = silo.search("", filters, ["finding"], page).facets["finding"]
    return {one.value: one.count for one in sorted(found, key=lambda one: one.value)}
