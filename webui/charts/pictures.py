"""Figures → pictures: bars, histograms, stacked columns, sparklines (pure).

A picture is a value that ``charts.mako`` draws as SVG: x in percent of the width, y in CSS
pixels, so that text keeps its size at every width. Colours are classes (``charts.css``).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from webui.charts.scale import Binned, binned, round_step, short, ticks
from webui.words.texts import numeral, percent
from webui.words.texts import text as _

__all__ = [
    "BarFigures", "Binned", "Picture", "Series",
    "bars", "binned", "columns", "histogram", "sparkline",
]  # fmt: skip

Tone = Literal["main", "second", "ok", "warn", "bad", "soft"]
Anchor = Literal["start", "middle", "end"]

PLOT = 150.0
"""Height of a plot, without the labels below it."""
_TOP = 14.0
_LEFT, _RIGHT = 12.0, 100.0
_WIDEST = 12.0
_LABELS = 5
_LABELS_LENGTH = 40
"""Maximum number of characters of all labels below an axis, so that they fit 320 px."""
_LABEL_LENGTH = 36
_WHOLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Series:
    """What a series counts, and its colour."""

    name: str
    tone: Tone = "main"


@dataclass(frozen=True, slots=True)
class BarFigures:
    """The figures of one bar, one for each series.

    Attributes:
        url: The link of the bar; empty: none.
    """

    label: str
    values: tuple[float, ...]
    url: str = ""
    is_chosen: bool = True


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle; ``label`` is its tooltip and the name of its link."""

    x: float
    y: float
    width: float
    height: float
    css: str
    label: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class GridLine:
    """A horizontal line of the grid."""

    x1: float
    x2: float
    y: float


@dataclass(frozen=True, slots=True)
class Label:
    """A text in the picture.

    Attributes:
        y: Of its base line.
        url: Its link.
        longer: The text in a window that is wide enough for it.
    """

    x: float
    y: float
    text: str
    anchor: Anchor = "start"
    url: str = ""
    longer: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of the table; ``url`` is the link of its first cell."""

    cells: tuple[str, ...]
    url: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart with its text alternative and its table.

    Attributes:
        title: The accessible name, and the caption.
        summary: The figures in a sentence.
        height: In CSS pixels.
        head, rows: The table; it has every figure that is drawn.
        legend: Colour and name of each series, if there are several.
        caption: What one sees at first, in a sentence.
    """

    title: str
    summary: str
    height: float
    head: tuple[str, ...]
    rows: tuple[TableRow, ...]
    boxes: tuple[Box, ...] = ()
    lines: tuple[GridLine, ...] = ()
    labels: tuple[Label, ...] = ()
    legend: tuple[tuple[str, str], ...] = ()
    caption: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.rows

    @property
    def has_links(self) -> bool:
        """Whether any part of the picture is a link."""
        return any(one.url for one in self.boxes) or any(one.url for one in self.labels)


def figure_of(number: float, unit: str = "") -> str:
    """A figure as text for the table: 1,234 or 97.5%."""
    number = round(number, 1)
    text = numeral(int(number) if number == int(number) else number)
    return percent(number) if unit == "%" else f"{text} {unit}".rstrip()


def columns(
    title: str,
    of: str,
    series: Sequence[Series],
    data: Sequence[BarFigures],
    *,
    labels: Iterable[int] | None = None,
) -> Picture:
    """Vertical bars, stacked if there are several series.

    Args:
        title: Says what is counted.
        of: What a bar represents ("Year"): the head of the table's first column.
        series: From bottom to top.
        data: In the order of the axis; values of 0 or more.
        labels: Positions of the bars with a label below; None: some, evenly.
    """
    top = ticks(max((sum(bar.values) for bar in data), default=0))[-1]
    slot = min((_RIGHT - _LEFT) / max(len(data), 1), _WIDEST)
    boxes: list[Box] = []
    for i, bar in enumerate(data):
        below = _TOP + PLOT
        for one, value in zip(series, bar.values, strict=True):
            height = PLOT * value / top
            below -= height
            if value:
                css = one.tone if bar.is_chosen else "soft"
                named = f"{one.name}, " if len(series) > 1 else ""
                said = f"{named}{bar.label}: {figure_of(value)}"
                boxes.append(
                    Box(_LEFT + (i + 0.1) * slot, below, slot * 0.8, height, css, said, bar.url)
                )
    shown = _evenly([bar.label for bar in data], slot) if labels is None else labels
    texts = [_below(_LEFT + (i + 0.5) * slot, data[i].label) for i in shown]
    lines, heights = _grid(top)
    return Picture(
        title,
        _summary([(bar.label, sum(bar.values)) for bar in data]),
        _TOP + PLOT + 20,
        (of, *(one.name for one in series)),
        tuple(TableRow((bar.label, *map(figure_of, bar.values)), bar.url) for bar in data),
        boxes=tuple(boxes),
        lines=lines if data else (),
        labels=(*heights, *texts) if data else (),
        legend=_legend(series),
        caption=_caption([(bar.label, sum(bar.values)) for bar in data]),
    )


def histogram(
    title: str,
    found: Binned,
    *,
    series: Series,
    chosen: tuple[int, int] | None = None,
    url: Callable[[int, int], str] | None = None,
) -> Picture:
    """Counts by year; the table also gives the counts outside the bins.

    Args:
        title: Says what is counted.
        found: See `binned`.
        series: What is counted.
        chosen: First and last year of the bars in full colour; None: all.
        url: The link of a bar, from its first and last year.
    """
    first, last = chosen or (-(10**6), 10**6)
    data = [
        BarFigures(
            one.label,
            (one.count,),
            url(one.first, one.last) if url else "",
            one.first <= last and one.last >= first,
        )
        for one in found.bins
    ]
    years = [one.first for one in found.bins]
    shown = _round_years(years)
    picture = columns(title, _("Year"), [series], data, labels=shown)
    texts = [
        Label(one.x, one.y, str(years[i]), one.anchor)
        for i, one in zip(shown, picture.labels[-len(shown) :], strict=True)
    ]
    outside = [
        TableRow((_("Before {year}", year=years[0]), figure_of(found.before)))
        if found.before
        else None,
        *picture.rows,
        TableRow((_("After {year}", year=found.bins[-1].last), figure_of(found.after)))
        if found.after
        else None,
    ]
    return Picture(
        title,
        picture.summary,
        picture.height,
        picture.head,
        tuple(row for row in outside if row),
        boxes=picture.boxes,
        lines=picture.lines,
        labels=(*picture.labels[: len(picture.labels) - len(shown)], *texts),
        caption=picture.caption,
    )


def bars(
    title: str,
    of: str,
    series: Series,
    data: Sequence[BarFigures],
    *,
    top: float | None = None,
    unit: str = "",
    letters: int = _LABEL_LENGTH,
    whole: bool = False,
) -> Picture:
    """Horizontal bars, each below its label, with its figure at the right.

    Args:
        title, of, series: As in `columns`.
        data: From top to bottom; the first value of each is drawn.
        top: The value that fills the width; None: the largest value.
        unit: Follows each figure, such as ``%``.
        letters: The most that a label has; of longer ones the middle is left out.
        whole: Also write longer ones, for a chart across the page; a small window shows the short.
    """
    full = top or max((bar.values[0] for bar in data), default=0) or 1
    boxes: list[Box] = []
    labels: list[Label] = []
    for i, bar in enumerate(data):
        value, y = bar.values[0], i * 34.0
        said = f"{bar.label}: {figure_of(value, unit)}"
        boxes.append(Box(0, y + 18, 100, 9, "rail"))
        if value:
            css = series.tone if bar.is_chosen else "soft"
            boxes.append(Box(0, y + 18, 100 * min(value / full, 1), 9, css, said, bar.url))
        brief = _shortened(bar.label, letters)
        longer = _shortened(bar.label, _WHOLE_LENGTH) if whole else brief
        labels.append(Label(0, y + 12, brief, "start", bar.url, "" if longer == brief else longer))
        labels.append(Label(100, y + 12, figure_of(value, unit), "end"))
    return Picture(
        title,
        _summary([(bar.label, bar.values[0]) for bar in data], unit),
        34.0 * len(data),
        (of, series.name),
        tuple(TableRow((bar.label, figure_of(bar.values[0], unit)), bar.url) for bar in data),
        boxes=tuple(boxes),
        labels=tuple(labels),
        caption=_caption([(bar.label, bar.values[0]) for bar in data], unit, is_list=True),
    )


def sparkline(title: str, of: str, data: Sequence[BarFigures], *, height: float = 22) -> Picture:
    """Small bars without axes, for a cell of a table; see `columns`.

    The text and the table begin and end with the first and the last bar that is not 0.
    """
    most = max((bar.values[0] for bar in data), default=0) or 1
    slot = min(100 / max(len(data), 1), _WIDEST)
    boxes = (
        Box(i * slot, height * (1 - bar.values[0] / most), slot * 0.85,
            height * bar.values[0] / most, "main")
        for i, bar in enumerate(data) if bar.values[0]
    )  # fmt: skip
    filled = [i for i, bar in enumerate(data) if bar.values[0]]
    shown = data[filled[0] : filled[-1] + 1] if filled else ()
    return Picture(
        title,
        _summary([(bar.label, bar.values[0]) for bar in shown]),
        height,
        (of, title),
        tuple(TableRow((bar.label, figure_of(bar.values[0]))) for bar in shown),
        boxes=tuple(boxes),
    )


# -- pieces -------------------------------------------------------------------------------


def _grid(top: float) -> tuple[tuple[GridLine, ...], tuple[Label, ...]]:
    heights = [(tick, _TOP + PLOT * (1 - tick / top)) for tick in ticks(top)]
    return (
        tuple(GridLine(_LEFT, _RIGHT, y) for _tick, y in heights),
        tuple(Label(_LEFT - 1.5, y + 4, short(tick), "end") for tick, y in heights),
    )


def _below(x: float, text: str) -> Label:
    anchor: Anchor = "end" if x > 93 else "middle"
    return Label(min(x, 100), _TOP + PLOT + 16, text, anchor)


def _evenly(texts: Sequence[str], slot: float) -> list[int]:
    """Positions of the texts that fit below slots of this width, in percent."""
    longest = max(map(len, texts), default=1)
    room = (longest + 2) * (_RIGHT - _LEFT) / _LABELS_LENGTH
    fitting = max(1, min(_LABELS, _LABELS_LENGTH // (longest + 2)))
    step = max(1, math.ceil(len(texts) / fitting), math.ceil(room / slot))
    return list(range(0, len(texts), step))


def _round_years(years: Sequence[int]) -> list[int]:
    """Positions of the years to be labelled: round ones, or else the first."""
    if not years:
        return []
    step = int(round_step(years[-1] - years[0] + 1, _LABELS))
    return [i for i, year in enumerate(years) if year % step == 0] or [0]


def _legend(series: Sequence[Series]) -> tuple[tuple[str, str], ...]:
    return tuple((one.tone, one.name) for one in series) if len(series) > 1 else ()


def _summary(figures: Sequence[tuple[str, float]], unit: str = "") -> str:
    if not figures:
        return _("Nothing to show yet.")
    label, most = max(figures, key=lambda one: one[1])
    if len(figures) == 1:
        return f"{label}: {figure_of(most, unit)}."
    return _(
        "From {first} to {last}; the largest is {label}: {value}.",
        first=figures[0][0],
        last=figures[-1][0],
        label=label,
        value=figure_of(most, unit),
    )


def _caption(figures: Sequence[tuple[str, float]], unit: str = "", *, is_list: bool = False) -> str:
    """Shares are read for what lacks most, counts for what there is most of.

    What is at the head of a list needs no words.
    """
    if len(figures) < 2:
        return ""
    find = min if unit == "%" else max
    label, value = find(figures, key=lambda one: one[1])
    said = figure_of(value, unit)
    if min(number for _label, number in figures) == max(number for _label, number in figures):
        return _("All are alike: {value}.", value=said)
    if unit == "%":
        return _("{label} is the lowest: {value}.", label=label, value=said)
    if is_list and (label, value) == figures[0]:
        return ""
    return _("{label} has the most: {value}.", label=label, value=said)


def _shortened(text: str, letters: int) -> str:
    """Leave out the middle: names of sets often begin alike and end differently."""
    if len(text) <= letters:
        return text
    half = letters // 2
    return f"{text[: half - 1].rstrip()}…{text[-half:].lstrip()}"
