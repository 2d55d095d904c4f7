"""Make a report from figures (pure).

Source: COUNTER Code of Practice 5.1, sections 4.1, 4.4 and 7.12.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from usagestats.reports.definitions import (
    ACCESS_METHODS,
    FIGURE_OF_METRIC,
    PARTIAL,
    REGULAR,
    ROBOTS_NOTE,
    SPIKE_WARNING,
    WORLD,
    WORLD_ID,
    Definition,
    ReportNotice,
)
from usagestats.reports.items import ReportItem, with_titles_of_parents
from usagestats.reports.platform import Platform
from usagestats.store.periods import month_after, months_between
from usagestats.values import Figures

Month = str
MonthFigures = Mapping[str, Mapping[Month, Figures]]
"""Identifier → month → figures."""
_SPIKE_TIMES, _SPIKE_PLUS, _SPIKE_MONTHS = 3, 100, 12


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """What is asked for.

    Attributes:
        months: In order; without any, nothing can be reported of `period`.
        metrics: Only these; empty: all of the report.
        data_types, years, access_types: Likewise.
        access_methods: Only this access: of people, or of machines; empty: of both, added up.
        shown: Columns in addition, by the names in `Definition.attributes`.
        item: Only this item: ``silo:…``, a DOI, an ISSN or an identifier; ``""``: all.
        author: Only items with this author.
        platform: Only usage of the platform of this name.
        total_only: Whether there is one number for the whole period instead of one a month.
        parents: Whether the parents of the items are named.
        components: Whether components were asked for, which are never reported.
        period: First and last month of the header, if it begins before the first of `months`
            or ends after the last; there is nothing to report of the months outside.
    """

    months: tuple[Month, ...]
    metrics: tuple[str, ...] = ()
    data_types: tuple[str, ...] = ()
    years: tuple[str, ...] = ()
    access_types: tuple[str, ...] = ()
    access_methods: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    item: str = ""
    author: str = ""
    platform: str = ""
    total_only: bool = False
    parents: bool = False
    components: bool = False
    period: tuple[Month, Month] | None = None

    @property
    def bounds(self) -> tuple[Month, Month]:
        """The first and the last month of the header."""
        return self.period or (self.months[0], self.months[-1])

    @property
    def methods(self) -> tuple[str, ...]:
        """Whose access is in it."""
        return self.access_methods or ACCESS_METHODS


@dataclass(frozen=True, slots=True)
class ReportLine:
    """The numbers of an item, or of a type of data, for one way of access.

    Attributes:
        item: None in a report on the platform.
        performance: Metric → month → number; only months with a number above 0.
    """

    item: ReportItem | None
    data_type: str
    access_method: str
    performance: Mapping[str, Mapping[Month, int]]


@dataclass(frozen=True, slots=True)
class UsageReport:
    """A report, to be written as JSON or as a table."""

    definition: Definition
    request: ReportRequest
    platform: Platform
    created: datetime
    lines: tuple[ReportLine, ...]
    notices: tuple[ReportNotice, ...] = ()
    customer_id: str = WORLD_ID
    institution: str = WORLD

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns in addition, in the report's order."""
        return tuple(one for one in self.definition.attributes if one in self.request.shown)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns before the metric, in order."""
        return self.definition.columns(self.request.shown, parents=self.request.parents)


@dataclass(frozen=True, slots=True)
class ReportBasis:
    """What a report is made of.

    Attributes:
        figures: Access method → identifier → month → figures, of the months asked for and of
            the twelve before them, by which spikes are found.
        items: Identifier → item.
        robots: Name and version of the list of robots by which the uses were counted.
    """

    figures: Mapping[str, MonthFigures]
    items: Mapping[str, ReportItem] = field(default_factory=dict)
    robots: str = ""


def make_report(
    definition: Definition,
    request: ReportRequest,
    platform: Platform,
    usage: ReportBasis,
    *,
    now: datetime,
    notices: Sequence[ReportNotice] = (),
) -> UsageReport:
    """Make a report.

    Args:
        definition: Which one.
        request: What was asked for.
        platform: Who reports.
        usage: The figures, and what is known of the items.
        now: When it is made.
        notices: What is to be said besides.
    """
    request = _as_defined(definition, request)
    items = with_titles_of_parents(usage.items)
    lines = tuple(_lines(definition, request, platform, replace(usage, items=items)))
    told = [*notices]
    if request.months and not lines and all(one.code != PARTIAL for one in told):
        told.append(ReportNotice.of(3030))
    if usage.robots:
        told.append(ReportNotice(ROBOTS_NOTE, "Robots list", usage.robots))
    told += _spikes(definition, request, usage)
    return UsageReport(definition, request, platform, now.astimezone(UTC), lines, tuple(told))


def _as_defined(definition: Definition, request: ReportRequest) -> ReportRequest:
    """Put the fixed filters of a standard view in a request."""
    if not definition.is_view:
        return request
    return ReportRequest(
        request.months, data_types=definition.data_types, access_methods=(REGULAR,),
        platform=request.platform, parents=definition.by_item, period=request.period,
    )  # fmt: skip


def _lines(
    definition: Definition, request: ReportRequest, platform: Platform, usage: ReportBasis
) -> Iterator[ReportLine]:
    methods = request.methods
    if "Access_Method" not in request.shown and len(methods) > 1:
        figures = {"": _joined([usage.figures.get(one, {}) for one in methods])}
    else:
        figures = {one: usage.figures.get(one, {}) for one in methods}
    metrics = _counted(definition, request)
    for method, of_items in figures.items():
        chosen = (
            (item, months)
            for name, months in of_items.items()
            for item in (usage.items.get(name) or ReportItem(name, ""),)
            if _wanted(item, request, platform)
        )
        if definition.by_item:
            lines = [
                ReportLine(
                    item, item.data_type, method, _performance(months, request.months, metrics)
                )
                for item, months in chosen
            ]
            lines.sort(key=_by_title)
        else:
            lines = _by_data_type(chosen, request.months, metrics, method)
        yield from (line for line in lines if line.performance)


def _counted(definition: Definition, request: ReportRequest) -> tuple[str, ...]:
    """The metrics that were asked for, without those that nobody counts here."""
    return tuple(one for one in definition.metrics if not request.metrics or one in request.metrics)


def _by_title(line: ReportLine) -> tuple[str, str]:
    return (line.item.title.casefold(), line.item.identifier) if line.item else ("", "")


def _wanted(item: ReportItem, request: ReportRequest, platform: Platform) -> bool:
    known = (item.identifier, f"{platform.namespace}:{item.identifier}", item.doi, item.issn)
    return (
        (not request.data_types or item.data_type in request.data_types)
        and (not request.years or any(_in_years(item.year, one) for one in request.years))
        and (not request.access_types or platform.access_type in request.access_types)
        and (not request.item or request.item.removeprefix("DOI:") in known)
        and (not request.author or request.author.casefold() in map(str.casefold, item.authors))
    )


def _in_years(year: str, wanted: str) -> bool:
    first, _, last = wanted.partition("-")
    return first <= year <= (last or first)


def _by_data_type(
    chosen: Iterable[tuple[ReportItem, Mapping[Month, Figures]]],
    months: Sequence[Month],
    metrics: Sequence[str],
    method: str,
) -> list[ReportLine]:
    types: dict[str, dict[Month, Figures]] = {}
    for item, figures in chosen:
        found = types.setdefault(item.data_type, {})
        for month, some in figures.items():
            found[month] = found.get(month, Figures()) + some
    return [
        ReportLine(None, name, method, _performance(types[name], months, metrics))
        for name in sorted(types)
    ]


def _performance(
    figures: Mapping[Month, Figures], months: Sequence[Month], metrics: Sequence[str]
) -> dict[str, dict[Month, int]]:
    found = {
        metric: {
            month: number
            for month in months
            if month in figures
            and (number := getattr(figures[month], FIGURE_OF_METRIC[metric])) > 0
        }
        for metric in metrics
    }
    return {metric: numbers for metric, numbers in found.items() if numbers}


def _joined(parts: Iterable[MonthFigures]) -> MonthFigures:
    found: dict[str, dict[Month, Figures]] = {}
    for part in parts:
        for name, months in part.items():
            known = found.setdefault(name, {})
            for month, some in months.items():
                known[month] = known.get(month, Figures()) + some
    return found


def _spikes(
    definition: Definition, request: ReportRequest, usage: ReportBasis
) -> list[ReportNotice]:
    """Warn of months with more than three times the mean of the twelve before, and 100 (7.12)."""
    totals: dict[Month, Figures] = {}
    for method in request.methods:
        for months in usage.figures.get(method, {}).values():
            for month, some in months.items():
                totals[month] = totals.get(month, Figures()) + some
    found: list[ReportNotice] = []
    earliest = min(totals, default="")
    for metric in _counted(definition, request):
        numbers = {m: getattr(some, FIGURE_OF_METRIC[metric]) for m, some in totals.items()}
        for month in request.months:
            first = max(earliest, month_after(month, -_SPIKE_MONTHS))
            before = [numbers.get(one, 0) for one in months_between(first, month_after(month, -1))]
            mean = sum(before) / len(before) if before else 0
            number = numbers.get(month, 0)
            if before and number > _SPIKE_TIMES * mean + _SPIKE_PLUS:
                data = f"{metric} {month}: {number}; mean of the months before: {mean:.0f}"
                found.append(ReportNotice(SPIKE_WARNING, "Unusually high usage", data))
    return found


def filters_of(report: UsageReport) -> dict[str, tuple[str, ...]]:
    """Return the filters of a report that its header names, besides the metrics and the period."""
    request = report.request
    found: dict[str, tuple[str, ...]] = {
        "Platform": (request.platform,) if request.platform else (),
        "Data_Type": request.data_types,
        "YOP": request.years,
        "Access_Type": request.access_types,
        "Access_Method": request.access_methods,
        "Item_ID": (request.item,) if request.item else (),
        "Author": (request.author,) if request.author else (),
    }
    return {name: values for name, values in found.items() if values}


def attributes_of(report: UsageReport, total: tuple[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the attributes of a report that its header names.

    Args:
        total: How this form of it says that there is one number for the whole period.
    """
    request, (name, value) = report.request, total
    if report.definition.is_view:
        return {}
    found: dict[str, tuple[str, ...]] = {
        "Attributes_To_Show": report.shown,
        name: (value,) if request.total_only else (),
        "Include_Parent_Details": ("True",) if request.parents else (),
        "Include_Component_Details": ("True",) if request.components else (),
    }
    return {key: values for key, values in found.items() if values}
