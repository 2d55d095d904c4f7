"""The panels that packages contribute to the page of a record."""

import logging
import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from recordsilo.contributions import contributions
from recordsilo.extras import PackageMissing
from recordsilo.panels import GROUP, Cell, Chart, Panel, PanelView, Table
from webui import urls
from webui.charts.pictures import BarFigures, Picture, Series, Tone, columns, sparkline
from webui.record.links import href
from webui.site import Site
from webui.words.dates import for_people
from webui.words.sentences import sentence
from webui.words.texts import language
from webui.words.texts import text as _

logger = logging.getLogger("webui")
_TONES: tuple[Tone, ...] = ("main", "second", "soft")
_SMALL = 36
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")


@dataclass(frozen=True, slots=True)
class ShownPanel:
    """A panel of one record, or the content of a page.

    Attributes:
        pictures: Its charts, drawn; each with whether it is small.
    """

    name: str
    title: str
    view: PanelView
    pictures: tuple[tuple[Picture, bool], ...]

    @classmethod
    def of(
        cls, name: str, title: str, view: PanelView, words: Collection[str] = ()
    ) -> "ShownPanel":
        """Draw the charts of a view, and say its sentences, words and moments in the language.

        Args:
            words: English texts of its table that are translated. A cell or caption that is a day
                and a time, such as ``2026-03-01 02:30``, is written as elsewhere on the page.
        """
        pictures = tuple(
            replace(
                one, text=sentence(one.text), caption=tuple(_in_words(cell) for cell in one.caption)
            )
            for one in view.pictures
            if own_address(one.small) and own_address(one.whole)
        )
        table = _table(view.table, words) if view.table is not None else None
        view = replace(view, note=sentence(view.note), table=table, pictures=pictures)
        return cls(name, title, view, tuple(map(_drawn, view.charts)))


def panels_of(site: Site, identifier: str) -> list[ShownPanel]:
    """The panels of a record, in order; those that fail are logged and left out."""
    found: list[ShownPanel] = []
    for panel in sorted(contributions(GROUP, Panel), key=lambda one: (one.order, one.name)):
        try:
            view = panel.show(site.silo, identifier, language())
            if view:
                found.append(ShownPanel.of(panel.name, _(panel.title), view, panel.words))
        except PackageMissing as error:
            logger.warning("the panel %s of %s failed: %s", panel.name, identifier, error)
        except Exception:
            logger.warning("the panel %s of %s failed", panel.name, identifier, exc_info=True)
    return found


def _table(table: Table, words: Collection[str]) -> Table:
    columns = tuple(_(one) if one in words else one for one in table.columns)
    return Table(columns, tuple(tuple(_in_words(one, words) for one in row) for row in table.rows))


def _in_words(cell: Cell, words: Collection[str] = ()) -> Cell:
    if cell.text in words:
        return replace(cell, text=_(cell.text))
    return replace(cell, text=for_people(cell.text)) if _MOMENT.fullmatch(cell.text) else cell


def own_address(url: str) -> str:
    """Return an address of the page, where it is mounted; empty if it is another one."""
    is_own = url.startswith("/") and not url.startswith(("//", "/\\"))
    return urls.at(url) if is_own else ""


def safe_link(cell: Cell) -> str:
    """Return the link of a cell: a web address, one of the page, or an empty text."""
    return own_address(cell.url) or (href(cell.url) or "" if cell.url else "")


def _drawn(chart: Chart) -> tuple[Picture, bool]:
    data = [BarFigures(label, numbers) for label, numbers in chart.bars]
    if chart.is_small:
        return sparkline(chart.title, chart.of, data, height=_SMALL), True
    series = [Series(*both) for both in zip(chart.series, _TONES, strict=False)]
    return columns(chart.title, chart.of, series, data), False
