"""How a record was used in the last year, for its own page."""

import logging
from dataclasses import dataclass
from datetime import date, timedelta

from usagestats.errors import UsageError
from usagestats.store import queries
from usagestats.store.counts import Counts, Period
from usagestats.values import Figures
from webui import urls
from webui.charts.pictures import Picture
from webui.site import Site
from webui.usage.pictures import spark_of_days
from webui.usage.world import country_name

logger = logging.getLogger("webui")
DAYS, COUNTRIES = 365, 5


@dataclass(frozen=True, slots=True)
class RecordUsage:
    """The usage of a record.

    Attributes:
        total: Since counting began.
        year: Of the year up to the last day with counts.
        countries: Name and uses of those that it was used from most, in that year.
    """

    total: Figures
    year: Figures
    spark: Picture
    countries: tuple[tuple[str, int], ...]
    url: str


def usage_of_record(site: Site, identifier: str) -> RecordUsage | None:
    """Return the usage of a record; None if nothing was imported, or it cannot be read."""
    try:
        with Counts(site.silo.path) as counts:
            return _usage(counts, identifier)
    except (UsageError, OSError):
        logger.warning("the usage of %s cannot be shown", identifier, exc_info=True)
        return None


def _usage(counts: Counts, identifier: str) -> RecordUsage | None:
    bounds = queries.bounds(counts)
    if bounds is None:
        return None
    last = bounds[1]
    first = str(date.fromisoformat(last) - timedelta(DAYS - 1))
    days = counts.item_days(identifier, Period(first, last))
    places = queries.countries(counts, Period(first, last), [identifier])
    return RecordUsage(
        queries.figures_of(counts, [identifier], Period()),
        sum((figures for _, figures in days), Figures()),
        spark_of_days(days, first, last),
        tuple((country_name(code), uses) for code, uses, _ in places[:COUNTRIES]),
        urls.usage_of("record", identifier),
    )
