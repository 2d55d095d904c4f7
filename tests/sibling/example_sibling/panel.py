"""Stars on the page of a record."""

from example_sibling.stars import read_stars
from recordsilo import Silo
from recordsilo.panels import Cell, Panel, PanelView


def _show(silo: Silo, identifier: str, _language: str) -> PanelView | None:
    stars = read_stars(silo.path).get(identifier)
    return None if stars is None else PanelView(rows=(("Stars", Cell("★" * stars)),))


STARS = Panel("stars", "Stars", 20, _show)
