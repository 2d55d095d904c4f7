"""What the home page shows of usage: the most read records, and where the readers are."""

from dataclasses import asdict, dataclass
from typing import Any

from recordsilo.index import PageRequest, Row
from usagestats.facets import USES, stamp
from usagestats.store import queries
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.periods import month_after
from webui.contributed import HomePart
from webui.overview import RecordLink
from webui.site import Site
from webui.timed_cache import TimedCache
from webui.usage import addresses
from webui.usage.asked import MONTHS
from webui.usage.world import world_map
from webui.words.texts import numeral

MOST = 5


@dataclass(frozen=True, slots=True)
class _Found:
    """What was counted, before it is told in a language."""

    first: str
    last: str
    places: tuple[queries.Country, ...]
    read: tuple[tuple[Row, int], ...]


_FOUND: TimedCache[_Found | None] = TimedCache()


def part(site: Site) -> HomePart | None:
    """Show the most read records and the map of the last twelve months with counts.

    Returns:
        None if no usage was imported.
    """
    counted = stamp(site.silo.path)
    if not counted:
        return None
    both = (counted, site.silo.index_stamp())
    found = _FOUND.get(site.silo, "home", lambda: _found(site), both)
    if found is None:
        return None
    read = [RecordLink.of(row, numeral(number)) for row, number in found.read]
    is_mapped = any(uses for _code, uses, _requests in found.places)
    data: dict[str, Any] = {
        "read": read,
        "map": world_map(found.places) if is_mapped else None,
        "first": found.first,
        "last": found.last,
        "usage_url": addresses.usage(),
    }
    told = {
        "most_read": [asdict(one) for one in read],
        "countries": {code: uses for code, uses, _requests in found.places},
    }
    return HomePart("usage_home.mako", data, told)


def _found(site: Site) -> _Found | None:
    with UsageCounts(site.silo.path) as counts:
        bounds = queries.bounds(counts)
        if bounds is None:
            return None
        last = bounds[1][:7]
        first = max(bounds[0][:7], month_after(last, 1 - MONTHS))
        places = queries.countries(counts, Period(first, last))
        page = PageRequest(limit=MOST, sort=f"-{USES.name}")
        rows = site.silo.search("", None, [], page).rows
        used = [
            (row, queries.figures_of(counts, [row.identifier], Period()).total_investigations)
            for row in rows
        ]
    return _Found(first, last, tuple(places), tuple(one for one in used if one[1]))
