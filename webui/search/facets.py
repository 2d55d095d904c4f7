"""The facets of a search as links: values to choose and to exclude, orders, and filters in use."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from recordsilo.index import FacetValue
from recordsilo.index.facets import contributed_names, labels_of
from recordsilo.index.search_values import FLAGS, LARGE_FIELDS, NOT, facet_of, range_of
from silocuration.review.counts import CLUSTERED
from webui import urls
from webui.charts.pictures import Picture, Series, binned, histogram
from webui.http.messages import whole_number
from webui.search.renaming import rename_url
from webui.search.request import SHOWN_VALUES, YEAR, SearchRequest, facet_label
from webui.site import Site
from webui.words.texts import capital
from webui.words.texts import text as _

_LAST_YEAR = 99_999
Said = Callable[[str, str], str]
"""(Facet, value) → the value's label."""
OPEN_AT_FIRST = frozenset({"type", YEAR, "creator", "subject", "set"})
"""Facets that are open by default; those in use are always open."""


@dataclass(frozen=True, slots=True)
class FacetChoice:
    """A value of a facet.

    Attributes:
        url: The search with the value added to the chosen ones, or removed.
        not_url: The search with the value excluded, or no longer excluded; empty for flags.
        rename_url: The form that renames the value; empty if it is not the value of a field.
    """

    value: str
    label: str
    count: int
    url: str
    is_chosen: bool
    not_url: str = ""
    is_excluded: bool = False
    rename_url: str = ""


@dataclass(frozen=True, slots=True)
class Chips:
    """The values in use of one filter, each with a link to the search without it."""

    label: str
    is_exclusion: bool
    choices: tuple[FacetChoice, ...]


@dataclass(frozen=True, slots=True)
class YearRange:
    """A chart of the years, and the chosen range.

    Attributes:
        first, last: The range in use, as in its two fields; empty if there is none.
        start, width, bins: First year, years per bar, and number of bars, for the pointer.
        kept: The other fields of the search.
    """

    picture: Picture
    first: str
    last: str
    start: int
    width: int
    bins: int
    kept: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class FacetView:
    """A facet beside the results.

    Attributes:
        chosen: How many of its values are chosen or excluded.
        more_url: The address of all its values; empty if all are shown.
        is_searched: Whether it has so many values that it gets a search field.
        order_url, is_by_name: The address of the other order; whether values are by name.
        years: For the facet of years.
        merge_url: The form that makes the chosen values one; empty if there are not several.
    """

    name: str
    label: str
    choices: tuple[FacetChoice, ...]
    chosen: int
    more_url: str
    is_searched: bool
    order_url: str
    is_by_name: bool
    is_open: bool
    years: YearRange | None = None
    merge_url: str = ""


def facet_views(
    site: Site, request: SearchRequest, counted: Mapping[str, Sequence[FacetValue]]
) -> Iterator[FacetView]:
    """Return the facets beside the results.

    Args:
        counted: The values of each facet; all of them if the page sorts them.
    """
    for name, values in counted.items():
        in_use = [value for field, value in request.chosen if facet_of(field) == name]
        if not values and not in_use:
            continue
        shown = _shown(request, name, values)
        all_url = request.url(("field", name), action="values")
        other = request.ordered(name, by_name=not request.is_by_name(name))
        yield FacetView(
            name=name,
            label=_(facet_label(name)),
            choices=tuple(
                choices(request, name, shown, partial(value_label, site), can_rename=True)
            ),
            chosen=len(in_use),
            more_url=all_url if len(values) > len(shown) or name in LARGE_FIELDS else "",
            is_searched=name in LARGE_FIELDS,
            order_url="" if name in FLAGS or len(values) < 2 else
            (request.url(("field", name), ("by", f"{name}.name"), action="values")
             if name in LARGE_FIELDS else other.url()),
            is_by_name=request.is_by_name(name),
            is_open=bool(in_use) or name in OPEN_AT_FIRST,
            years=_years(request, values) if name == YEAR else None,
            merge_url=_merge_url(request, name, values),
        )  # fmt: skip


def _merge_url(request: SearchRequest, name: str, counted: Sequence[FacetValue]) -> str:
    """The form that makes the chosen values one; the most frequent is first, and is offered."""
    counts = {one.value: one.count for one in counted}
    chosen = [value for field, value in request.chosen if field == name]
    chosen.sort(key=lambda value: -counts.get(value, 0))
    if name not in CLUSTERED or len(chosen) < 2:
        return ""
    return rename_url(urls.query(request.without_field(name).asked), name, chosen)


def _shown(
    request: SearchRequest, name: str, values: Sequence[FacetValue]
) -> tuple[FacetValue, ...]:
    """The first values, followed by the other values in use."""
    listed = sorted_values(values, name) if request.is_by_name(name) else list(values)
    first, rest = listed[:SHOWN_VALUES], listed[SHOWN_VALUES:]
    in_use = [v for field, v in request.chosen if facet_of(field) == name and not is_range(name, v)]
    known = {one.value for one in listed}
    return (
        *first,
        *(one for one in rest if one.value in in_use),
        *(FacetValue(value, 0) for value in dict.fromkeys(in_use) if value not in known),
    )


def sorted_values(values: Iterable[FacetValue], name: str) -> list[FacetValue]:
    """Sort values by name, ignoring case; years latest first."""
    return sorted(values, key=lambda one: one.value.casefold(), reverse=name == YEAR)


def is_range(name: str, value: str) -> bool:
    """Whether the value of a filter is a range."""
    return range_of(name, value) is not None


def _years(request: SearchRequest, values: Sequence[FacetValue]) -> YearRange | None:
    counts = {
        year: one.count
        for one in values
        if (year := whole_number(one.value, 0, _LAST_YEAR)) is not None
    }
    found = binned(counts)
    if not found.bins:
        return None
    bounds = [range_of(YEAR, value) for field, value in request.chosen if field == YEAR]
    one = bounds[0] if len(bounds) == 1 else None
    texts = [value for field, value in request.chosen if field == YEAR]
    first, _dots, last = texts[0].partition("..") if one else ("", "", "")
    chosen = None
    if one:
        low, high = (int(max(-_LAST_YEAR, min(bound, _LAST_YEAR))) for bound in one)
        chosen = (low, high)
    elif len(texts) == 1 and (year := whole_number(texts[0], 0, _LAST_YEAR)) is not None:
        chosen, first, last = (year, year), texts[0], texts[0]
    picture = histogram(
        _("Records by year"),
        found,
        series=Series(_("Records")),
        chosen=chosen,
        url=lambda low, high: request.in_years(low, high).url(),
    )
    bars = found.bins
    return YearRange(
        picture, first, last, bars[0].first, bars[0].last - bars[0].first + 1, len(bars),
        request.without_field(YEAR).pairs,
    )  # fmt: skip


def choices(
    request: SearchRequest,
    name: str,
    values: Iterable[FacetValue],
    said: Said,
    *,
    can_rename: bool = False,
) -> Iterator[FacetChoice]:
    """Return the values of a facet as links.

    Args:
        request: The search that the links change.
        name: Of the facet.
        values: With their counts.
        said: The labels of values.
        can_rename: Whether the values may be renamed, if they are those of a field.
    """
    toggled = request.toggling()
    is_field = can_rename and name in CLUSTERED
    others = urls.query(request.without_field(name).asked) if is_field else ""
    for found in values:
        yield FacetChoice(
            found.value,
            said(name, found.value),
            found.count,
            toggled(name, found.value),
            (name, found.value) in request.chosen,
            "" if name in FLAGS else toggled(name + NOT, found.value),
            (name + NOT, found.value) in request.chosen,
            rename_url(others, name, [found.value]) if is_field else "",
        )


def chips(
    request: SearchRequest, said: Said, label: Callable[[str], str] = facet_label
) -> Iterator[Chips]:
    """Return the filters and bounds in use, grouped by field.

    Args:
        said: The labels of values.
        label: The English name of a field.
    """
    for field in dict.fromkeys(field for field, _value in request.chosen):
        name = facet_of(field)
        yield Chips(
            _(label(name)),
            field != name,
            tuple(
                FacetChoice(value, said(name, value), 0, request.without((one, value)).url(), True)
                for one, value in request.chosen
                if one == field
            ),
        )
    for name, value, text in (
        ("since", request.since, _("Changed since")),
        ("until", request.until, _("Changed until")),
        ("changed_since", request.changed_since, _("Changed here since")),
    ):
        if value:
            url = request.without((name, value)).url()
            yield Chips(text, False, (FacetChoice(value, value, 0, url, is_chosen=True),))


def value_label(site: Site, name: str, value: str) -> str:
    """Return the label of a value: a set's name, a finding in words, a flag as yes or no."""
    return site.set_name(value) if name == "set" else label_of(name, value)


def label_of(name: str, value: str) -> str:
    """Return the label of a value without a Silo, in which sets would have names.

    A status stays as it is where the page speaks English.
    """
    if name == "finding":
        return capital(_(labels_of(name).get(value, value)))
    if name == "state":
        return _(value)
    if name in FLAGS:
        return _("Yes") if value == "true" else _("No")
    if ".." in value and is_range(name, value):
        first, _dots, last = value.partition("..")
        if first and last:
            return f"{first}–{last}"
        return _("from {first}", first=first) if first else _("up to {last}", last=last)
    said = labels_of(name).get(value) if name in contributed_names() else None
    return value if said is None else capital(_(said))
