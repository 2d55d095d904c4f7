"""Search all Silos of a directory by asking each, in threads."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

from recordsilo import Granary, Silo
from recordsilo.errors import RecordSiloError, SearchError
from recordsilo.index import Described, FacetValue, PageRequest, Row
from recordsilo.index.facets import facet_named, values_of
from recordsilo.index.projection import seconds_of_text
from silofleet.search.folding import folded
from silofleet.search.values import (
    NO_NUMBER,
    REPOSITORY,
    SORTS,
    AllSearch,
    Facets,
    HitPlace,
    Missing,
    SearchAnswer,
    SearchHit,
    numbers_in,
    summed,
)

ASKED_AT_MOST = 60
"""With more Silos than this, there must be an index of all."""
THREADS = 8
PATIENCE = 20.0
"""Seconds that a search waits for all Silos."""
_LEAST = 100
"""Rows that are asked of each Silo at least, so that more of one work are folded."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What one Silo answered."""

    hits: tuple[SearchHit, ...]
    total: int
    facets: Facets


def search_silos(
    granary: Granary,
    search: AllSearch,
    *,
    patience: float = PATIENCE,
    only: Sequence[str] | None = None,
) -> SearchAnswer:
    """Ask every Silo; one that cannot be read, or takes too long, is named in the answer.

    Args:
        patience: Seconds to wait.
        only: The names of the Silos to ask, if not all.

    Raises:
        SearchError: The search is wrong for every Silo, such as an unknown value of a field.

    Cost: opens every Silo; some 10 to 50 ms each.
    """
    names = granary.silos if only is None else list(only)
    wanted = {name for name in names if search.has_silo(name)}
    if REPOSITORY not in search.facets or len(names) > ASKED_AT_MOST:
        names = sorted(wanted)  # the others would only be counted
    parts: dict[str, _Part] = {}
    missing: list[Missing] = []
    stop = threading.Event()
    pool = ThreadPoolExecutor(min(THREADS, max(1, len(names))), "search")
    try:
        asked = {
            pool.submit(_ask, granary, name, search, stop, counts=name not in wanted): name
            for name in names
        }
        done, late = wait(asked, patience)
        for one in done:
            try:
                parts[asked[one]] = one.result()
            except SearchError:
                raise
            except (RecordSiloError, OSError) as error:
                missing.append(Missing(asked[one], str(error)))
        missing += [Missing(asked[one], f"no answer in {patience:g} s") for one in late]
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
    return _together(search, parts, sorted(missing, key=lambda one: one.name), len(wanted))


def _ask(
    granary: Granary, name: str, search: AllSearch, stop: threading.Event, *, counts: bool
) -> _Part:
    """Search one Silo, or only count what it would find."""
    own = [facet for facet in search.facets if facet != REPOSITORY]
    if stop.is_set():
        return _Part((), 0, {})
    with granary.get_silo(name, create=False) as silo:
        if counts:
            found = silo.search(search.words, search.in_silo, page=PageRequest(limit=1))
            return _Part((), 0, _counted(name, found.total))
        sort = search.order
        page = PageRequest(
            limit=min(max(search.end + 1, _LEAST), 1000), sort=sort, facet_limit=search.facet_limit
        )
        found = silo.search(search.words, search.in_silo, own, page)
        hits = tuple(_hits(name, silo, found.rows, sort))
    return _Part(hits, found.total, {**found.facets, **_counted(name, found.total)})


def _counted(name: str, total: int) -> Facets:
    return {REPOSITORY: (FacetValue(name, total),) if total else ()}


def _hits(name: str, silo: Silo, rows: Sequence[Row], sort: str) -> Iterator[SearchHit]:
    described = silo.described([row.identifier for row in rows])
    for row, score in zip(rows, _scores(sort, silo, rows), strict=True):
        one = described.get(row.identifier, Described())
        yield SearchHit(
            HitPlace(name, row.identifier),
            row.title,
            one.creators,
            one.year,
            one.values.get("type", ()),
            one.doi,
            row.datestamp,
            row.deleted,
            score,
        )


def _scores(sort: str, silo: Silo, rows: Sequence[Row]) -> list[float]:
    """The scores of a Silo's hits; a Silo does not say how relevant one is, only which is first."""
    if sort == "relevance":
        return [1 / number for number, _row in enumerate(rows, 1)]
    if sort in SORTS:
        sign = 1 if sort == "newest" else -1
        return [float(sign * seconds_of_text(row.datestamp)) for row in rows]
    facet = facet_named(sort.removeprefix("-"))
    values = values_of(facet, silo.path, [row.identifier for row in rows])
    return [_by_number(sort, values.get(row.identifier, ())) for row in rows]


def _by_number(sort: str, values: Sequence[str]) -> float:
    numbers = numbers_in(values)
    if not numbers:
        return NO_NUMBER
    return max(numbers) if sort.startswith("-") else -min(numbers)


def _together(
    search: AllSearch, parts: dict[str, _Part], missing: Sequence[Missing], asked: int
) -> SearchAnswer:
    hits = sorted((hit for part in parts.values() for hit in part.hits), key=lambda one: one.order)
    works = folded(hits)
    total = sum(part.total for part in parts.values())
    return SearchAnswer(
        hits=tuple(works[search.offset : search.end]),
        total=total,
        has_more=len(works) > search.end or (len(hits) < total and len(works) >= search.end),
        sort=search.order,
        facets=summed([part.facets for part in parts.values()], search.facets, search.facet_limit),
        asked=asked,
        missing=tuple(missing),
    )
