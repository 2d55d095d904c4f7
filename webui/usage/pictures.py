"""Charts of usage."""

from collections.abc import Mapping, Sequence

from usagestats.store.periods import days_between, first_day, last_day, months_between
from usagestats.store.queries import by_month
from usagestats.values import Figures
from webui.charts.pictures import BarFigures, Picture, Series, columns, sparkline
from webui.usage.asked import UsageQuestion
from webui.words.texts import text as _

MOST_DAYS = 92
"""A chart by day shows at most so many, the last ones."""
MOST_MONTHS = 60
Days = Sequence[tuple[str, Figures]]


def charts(days: Days, asked: UsageQuestion) -> dict[str, Picture]:
    """Draw the views and downloads by month, and by day."""
    return {"months": months_chart(by_month(days), asked), "days": days_chart(days, asked)}


def months_chart(figures: Mapping[str, Figures], asked: UsageQuestion) -> Picture:
    """Draw views and downloads by month."""
    months = months_between(asked.first[:7], asked.last[:7], MOST_MONTHS)
    data = [_bar(month, figures.get(month)) for month in months]
    return columns(_("Views and downloads by month"), _("Month"), _series(), data)


def days_chart(days: Days, asked: UsageQuestion) -> Picture:
    """Draw views and downloads by day, of the last days of the period up to the last use."""
    known = dict(days)
    first, last = first_day(asked.first), last_day(asked.last)
    shown = days_between(first, min(last, max(known, default=last)), MOST_DAYS)
    data = [_bar(day, known.get(day)) for day in shown]
    return columns(_("Views and downloads by day"), _("Day"), _series(), data)


def spark_of_months(figures: Mapping[str, Figures], asked: UsageQuestion) -> Picture:
    """Draw views and downloads of each month as a sparkline."""
    months = months_between(asked.first[:7], asked.last[:7], MOST_MONTHS)
    data = [BarFigures(month, (_uses(figures.get(month)),)) for month in months]
    return sparkline(_("Views and downloads by month"), _("Month"), data)


def _series() -> tuple[Series, Series]:
    return Series(_("Views"), "second"), Series(_("Downloads"))


def _bar(label: str, figures: Figures | None) -> BarFigures:
    found = figures or Figures()
    return BarFigures(label, (found.views, found.total_requests))


def _uses(figures: Figures | None) -> int:
    return figures.total_investigations if figures else 0
