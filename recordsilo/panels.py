"""Panels: what packages show on a record's page, as values that the page escapes and renders.

An entry point of the group ``webui.panels`` names a `Panel`. The page links only web
addresses and its own; text is never interpreted as markup.
"""

from collections.abc import Callable
from dataclasses import dataclass

from recordsilo.silo import Silo

GROUP = "webui.panels"


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, with the address it links to; ``""`` for none.

    An address that begins with ``/`` is one of the page, below where it is mounted.
    """

    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; each row has a cell for each column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of bars, with the same numbers as a table.

    Attributes:
        title: What is counted: ``Views and downloads by day``.
        of: What a bar stands for: ``Day``.
        series: What is counted in each bar; several are stacked.
        bars: A label, and a number for each series.
        is_small: Whether it is a line of small bars without axes, of the first series.
    """

    title: str
    of: str
    series: tuple[str, ...]
    bars: tuple[tuple[str, tuple[float, ...]], ...]
    is_small: bool = False


@dataclass(frozen=True, slots=True)
class PanelPicture:
    """A picture that is shown small, and leads to the whole one.

    Attributes:
        small: Its address, about 480 by 360 pixels; one of the page, as for `Cell`.
        whole: Of the whole picture, likewise.
        text: What it shows, for people who do not see it: a sentence.
        caption: What is below it.
    """

    small: str
    whole: str
    text: str
    caption: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class PanelView:
    """The content of a panel, or of a page, in this order; empty parts are omitted.

    Attributes:
        note: A sentence.
        figures: Label and number, shown large.
        charts: Drawn as SVG, with their tables.
        rows: Label and value.
        links: Related pages.
        pictures: Shown side by side, above the table.
    """

    note: str = ""
    figures: tuple[tuple[str, float], ...] = ()
    charts: tuple[Chart, ...] = ()
    rows: tuple[tuple[str, Cell], ...] = ()
    links: tuple[Cell, ...] = ()
    table: Table | None = None
    pictures: tuple[PanelPicture, ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of a record's page.

    Attributes:
        name: The entry point's name.
        title: Its heading, in English; a translation of the page may translate it.
        order: Panels are sorted by this number, then by name.
        show: Takes the Silo, the record's identifier and the page's language (``en``);
            returns the content, or None for no panel. If it raises, the panel is omitted
            and the error logged.
        words: English heads of columns and cells of its table that a translation of the page
            may translate; all other texts are data.
    """

    name: str
    title: str
    order: int
    show: Callable[[Silo, str, str], PanelView | None]
    words: frozenset[str] = frozenset()
