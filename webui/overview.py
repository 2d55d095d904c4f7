"""What the home page shows of the collection: charts that lead into the search, and the newest.

One search counts everything, from the columns of the index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recordsilo.index import FacetValue, Row
from recordsilo.index.search_values import LARGE_FIELDS
from webui import urls
from webui.charts.pictures import BarFigures, Picture, Series, bars, binned, histogram
from webui.http.messages import whole_number
from webui.search.facets import value_label
from webui.search.request import YEAR, SearchRequest, facet_label
from webui.site import Site
from webui.words.texts import text as _

CHARTED = ("subject", "creator", "type", "language")
"""The facets that are drawn as bars, in order."""
MOST, NEWEST = 6, 5
"""Bars of a chart, and newest records."""
_LAST_YEAR = 99_999


@dataclass(frozen=True, slots=True)
class FacetChart:
    """The most frequent values of a facet.

    Attributes:
        more_url: All its values; empty if all are drawn.
    """

    name: str
    picture: Picture
    more_url: str


@dataclass(frozen=True, slots=True)
class RecordLink:
    """A record in a short list.

    Attributes:
        number: What it is listed for, such as its uses; empty if for nothing.
    """

    identifier: str
    title: str
    url: str
    date: str = ""
    number: str = ""

    @classmethod
    def of(cls, row: Row, number: str = "") -> "RecordLink":
        """Make the link of a row of the index."""
        url = urls.record(row.identifier)
        return cls(
            row.identifier, row.title or row.identifier, url, (row.datestamp or "")[:10], number
        )


def years_chart(values: Sequence[FacetValue]) -> Picture | None:
    """Draw the records by year; None if no record has a year."""
    counts = {
        year: one.count
        for one in values
        if (year := whole_number(one.value, 0, _LAST_YEAR)) is not None
    }
    found = binned(counts)
    if not found.bins:
        return None
    every = SearchRequest()
    return histogram(
        _("Records by year"),
        found,
        series=Series(_("Records")),
        url=lambda first, last: every.in_years(first, last).url(),
    )


def facet_charts(site: Site, facets: Mapping[str, Sequence[FacetValue]]) -> list[FacetChart]:
    """Draw the facets of `CHARTED` that have at least two values in these counts."""
    return [
        _chart(site, name, values) for name in CHARTED if len(values := facets.get(name, ())) > 1
    ]


def _chart(site: Site, name: str, values: Sequence[FacetValue]) -> FacetChart:
    label = _(facet_label(name))
    data = [
        BarFigures(
            value_label(site, name, one.value), (one.count,), urls.search([(name, one.value)])
        )
        for one in values[:MOST]
    ]
    has_more = len(values) > MOST or name in LARGE_FIELDS
    more_url = urls.search([("field", name)], "values") if has_more else ""
    return FacetChart(name, bars(label, label, Series(_("Records")), data, letters=28), more_url)


def counts_json(facets: Mapping[str, Sequence[FacetValue]]) -> dict[str, Any]:
    """The counts that are drawn, as JSON values: facet → value → records."""
    return {
        name: {one.value: one.count for one in (values if name == YEAR else values[:MOST])}
        for name, values in facets.items()
        if name in (YEAR, *CHARTED)
    }
