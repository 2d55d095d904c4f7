"""Usage as a table with the columns of 2010 (pure).

Source: the command line of 2010: Label, Views, File Downloads, Other interactions, [Internal ID].
"""

from collections.abc import Iterable, Iterator
from typing import Any

from recordsilo.cells import csv_line, guarded
from usagestats.entities.usage import Used
from usagestats.values import FIGURES, Figures

COLUMNS = ("Label", "Views", "File Downloads", "Other interactions", "[Internal ID]")


def as_csv(used: Iterable[Used]) -> Iterator[str]:
    """Yield a line for each record or entity, and for the totals, by the rule of 2010."""
    yield csv_line(COLUMNS)
    total = Figures()
    for one in used:
        total += one.figures
        yield csv_line((guarded(one.label), *_figures_2010(one.figures), guarded(one.key)))
    yield csv_line(("Totals", *_figures_2010(total), ""))


def _figures_2010(figures: Figures) -> tuple[int, int, int]:
    return figures.views_2010, figures.downloads_2010, figures.others_2010


def figures_json(figures: Figures) -> dict[str, int]:
    """Return figures by their names, and the views."""
    return {"views": figures.views, **{name: getattr(figures, name) for name in FIGURES}}


def used_json(used: Used) -> dict[str, Any]:
    """Return a record or an entity with its figures."""
    return {
        "key": used.key,
        "kind": used.kind,
        "label": used.label,
        "records": used.records,
        **figures_json(used.figures),
    }
