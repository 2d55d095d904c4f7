"""How a record was used in the last year, as a panel of its page."""

import logging
from datetime import date, timedelta

from recordsilo import Silo
from recordsilo.disk.identifier import url_segment
from recordsilo.panels import Cell, Chart, Panel, PanelView
from usagestats.errors import UsageError
from usagestats.store import queries
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.periods import days_between
from usagestats.values import Figures
from webui.usage.world import country_name
from webui.words.texts import numeral
from webui.words.texts import text as _

logger = logging.getLogger("webui")
DAYS, COUNTRIES = 365, 5


def _show(silo: Silo, identifier: str, _language: str) -> PanelView | None:
    """The usage of a record; None if nothing was imported, or it cannot be read."""
    try:
        with UsageCounts(silo.path) as counts:
            return _usage(counts, identifier)
    except (UsageError, OSError):
        logger.warning("the usage of %s cannot be shown", identifier, exc_info=True)
        return None


def _usage(counts: UsageCounts, identifier: str) -> PanelView | None:
    bounds = queries.bounds(counts)
    if bounds is None:
        return None
    total = queries.figures_of(counts, [identifier], Period())
    if not (total.total_investigations or total.others):
        return PanelView(_("Not used yet."))
    last = bounds[1]
    first = str(date.fromisoformat(last) - timedelta(DAYS - 1))
    days = dict(queries.days_of(counts, [identifier], Period(first, last)))
    year = sum(days.values(), Figures())
    uses = {day: one.total_investigations for day, one in days.items()}
    bars = tuple((day, (uses.get(day, 0),)) for day in days_between(first, last))
    title = _("Views and downloads by day")
    places = queries.countries(counts, Period(first, last), [identifier])[:COUNTRIES]
    said = ", ".join(
        f"{country_name(code)} ({numeral(number)})" for code, number, _requests in places
    )
    return PanelView(
        figures=(
            (_("Views in a year"), year.views),
            (_("Downloads in a year"), year.total_requests),
            (_("Views in all"), total.views),
            (_("Downloads in all"), total.total_requests),
        ),
        charts=(Chart(title, _("Day"), (title,), bars, is_small=True),),
        rows=((_("Most uses from"), Cell(said)),) if said else (),
        links=(
            Cell(_("Usage by month, day and country"), f"/usage/records/{url_segment(identifier)}"),
        ),
    )


USAGE = Panel("usage", "Usage", 5, _show)
