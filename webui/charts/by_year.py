"""Records by year as sparklines: several with the same years, to be compared in a list."""

from collections import Counter
from collections.abc import Iterable, Mapping

from webui.charts.pictures import BarFigures, Picture, sparkline
from webui.charts.scale import Bin, binned
from webui.words.texts import text as _

_MOST = 30
"""Maximum number of bars, so that each can be seen."""


def years_of_all(counts: Iterable[Mapping[str, int]]) -> tuple[Bin, ...]:
    """The bars that all sparklines of a list share, from the records by year of each."""
    total: Counter[int] = Counter()
    for one in counts:
        total.update({int(year): count for year, count in one.items()})
    return binned(total, _MOST).bins


def by_year(counts: Mapping[str, int], bins: Iterable[Bin]) -> Picture:
    """Draw records by year in bars that come from `years_of_all`."""
    numbers = {int(year): count for year, count in counts.items()}
    data = [
        BarFigures(
            one.label, (sum(numbers.get(year, 0) for year in range(one.first, one.last + 1)),)
        )
        for one in bins
    ]
    return sparkline(_("Records by year"), _("Year"), data)
