"""The panels that packages contribute to the page of a record."""

import logging
from dataclasses import dataclass

from recordsilo.contributions import contributions
from recordsilo.panels import GROUP, Bar, Cell, Panel, PanelView
from webui.record.links import href
from webui.site import Site
from webui.words.texts import language
from webui.words.texts import text as _

logger = logging.getLogger("webui")
_HEIGHT, _STEP = 60, 20


@dataclass(frozen=True, slots=True)
class ShownPanel:
    """A panel of one record."""

    name: str
    title: str
    view: PanelView


@dataclass(frozen=True, slots=True)
class DrawnBar:
    """A bar in SVG coordinates, in pixels."""

    label: str
    number: float
    x: int
    y: float
    height: float


def panels_of(site: Site, identifier: str) -> list[ShownPanel]:
    """The panels of a record, in order; those that fail are logged and left out."""
    found = []
    for panel in sorted(contributions(GROUP, Panel), key=lambda one: (one.order, one.name)):
        try:
            view = panel.show(site.silo, identifier, language())
        except Exception:
            logger.warning("the panel %s of %s failed", panel.name, identifier, exc_info=True)
            continue
        if view is not None:
            found.append(ShownPanel(panel.name, _(panel.title), view))
    return found


def safe_link(cell: Cell) -> str:
    """Return the link of a cell: a web address, or an empty text."""
    return (href(cell.url) or "") if cell.url else ""


def drawn(bars: tuple[Bar, ...]) -> list[DrawnBar]:
    """Return bars from left to right; the highest has the height of the picture."""
    most = max((bar.number for bar in bars), default=0) or 1
    return [
        DrawnBar(bar.label, bar.number, place * _STEP, _HEIGHT - height, height)
        for place, bar in enumerate(bars)
        for height in (_HEIGHT * max(bar.number, 0) / most,)
    ]
