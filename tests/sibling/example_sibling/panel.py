"""Stars on the page of a record, and a chart of how many records have how many."""

from collections import Counter

from example_sibling.stars import read_stars
from recordsilo import Silo
from recordsilo.panels import Cell, Chart, Panel, PanelView


def _show(silo: Silo, identifier: str, _language: str) -> PanelView | None:
    stars = read_stars(silo.path)
    if identifier not in stars:
        return None
    numbers = Counter(stars.values())
    bars = tuple((str(one), (float(numbers[one]),)) for one in range(6))
    chart = Chart("Records by stars", "Stars", ("Records",), bars)
    return PanelView(charts=(chart,), rows=(("Stars", Cell("★" * stars[identifier])),))


STARS = Panel("stars", "Stars", 20, _show)
