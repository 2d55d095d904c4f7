"""What a report is asked for: its months, filters and attributes, and what is refused (pure).

The API and the command ask by the same names and rules.

Source: COUNTER Code of Practice 5.1, section 3.3.8 and appendix D.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from usagestats.reports.definitions import (
    ACCESS_METHODS,
    ACCESS_TYPES,
    ALL_YEARS,
    DATA_TYPES,
    PARTIAL,
    PLATFORM_DATA_TYPES,
    Definition,
    ReportNotice,
)
from usagestats.reports.making import ReportRequest
from usagestats.store.periods import last_day, month_after, months_between

_YEARS = re.compile(r"\d{4}(-\d{4})?", re.ASCII)
EXTENSIONS = frozenset({"attributed", "country_code", "subdivision_code"})
"""Filters of common extensions, none of which is supported (section 8.1 wants 3060 for them)."""
_FILTERS = frozenset({"metric_type", "data_type", "access_method"}) | EXTENSIONS
_ITEM_FILTERS = frozenset({"access_type", "yop", "item_id", "author"})
_ATTRIBUTES = frozenset({"attributes_to_show", "granularity"})
_ITEM_ATTRIBUTES = frozenset({"include_parent_details", "include_component_details"})
_TRUTHS = {"true": True, "false": False}
_TOTALS = frozenset({"Totals", "Total"})
"""The Code of Practice says Totals, the OpenAPI file of the API says Total."""


@dataclass(frozen=True, slots=True)
class CountedPeriod:
    """Of which time usage was counted.

    Attributes:
        first: First day.
        last: Last day.
        today: No month that is not over today is reported.
    """

    first: str
    last: str
    today: date

    @property
    def months(self) -> tuple[str, str]:
        """The first and the last month that can be reported; the last may be before the first."""
        return self.first[:7], min(self.last[:7], month_over(self.today))

    def partial(self, months: Collection[str]) -> list[ReportNotice]:
        """Say of which days the first and the last month are, if only a part was counted."""
        is_cut = (self.first[:7] in months and not self.first.endswith("-01")) or (
            self.last[:7] in months and self.last != last_day(self.last[:7])
        )
        data = f"counted from {self.first} to {self.last}"
        return [ReportNotice.of(PARTIAL, data)] if is_cut else []


def month_over(today: date) -> str:
    """Return the last month that is over."""
    return month_after(f"{today:%Y-%m}", -1)


def months_asked(
    first: str, last: str, counted: CountedPeriod | None
) -> tuple[list[str], list[ReportNotice]]:
    """Return the months of a period that can be reported, and why others cannot.

    Args:
        counted: None if nothing was counted yet.
    """
    begin, end = counted.months if counted else ("", "")
    if counted is None or end < begin:
        return [], [_not_ready(first, last)]
    told = []
    if first < begin:
        told.append(ReportNotice.of(3032, f"usage is available from {begin}"))
    late = max(first, month_after(end))
    if late <= last:
        told.append(_not_ready(late, last))
    months = months_between(max(first, begin), min(last, end))
    return months, told + counted.partial(months)


def _not_ready(first: str, last: str) -> ReportNotice:
    return ReportNotice.of(3031, first if first == last else f"{first} to {last}")


def known_parameters(definition: Definition) -> frozenset[str]:
    """Return the filters and attributes that a report has, in lower case as in requests."""
    if definition.is_view:
        return frozenset()
    known = _FILTERS | _ATTRIBUTES
    return known | _ITEM_FILTERS | _ITEM_ATTRIBUTES if definition.by_item else known


def filtered(
    request: ReportRequest, definition: Definition, query: Mapping[str, str], platform: str
) -> tuple[ReportRequest, list[ReportNotice]]:
    """Return a request with the filters and attributes that were asked for, and what is ignored.

    A filter of all possible values is none (section 3.3.8).

    Args:
        request: Of the months.
        definition: Of the report.
        query: Parameter → values, separated by ``|``; others than `known_parameters` and
            ``platform`` do not matter.
        platform: How the site names itself.
    """
    asking = _Asking(query, known_parameters(definition))
    if (named := query.get("platform", "")) == platform:
        request = replace(request, platform=platform)
    elif named:
        asking.told.append(ReportNotice.of(3060, f"platform: {named}; this is {platform}"))
    if definition.is_view:
        return request, asking.told
    types = DATA_TYPES if definition.by_item else PLATFORM_DATA_TYPES
    metrics = asking.several("metric_type", (*definition.metrics, *definition.uncounted_metrics))
    asking.refuse_extensions()
    found = replace(
        request,
        metrics=metrics,
        data_types=asking.several("data_type", types),
        years=asking.years(),
        access_types=asking.several("access_type", ACCESS_TYPES),
        access_methods=asking.several("access_method", ACCESS_METHODS),
        item=asking.text("item_id"),
        author=asking.text("author"),
        shown=asking.several("attributes_to_show", definition.attributes, code=3062, some=True),
        total_only=asking.is_total(),
        parents=asking.truth("include_parent_details"),
        components=asking.truth("include_component_details"),
    )
    if found.components:
        asking.told.append(ReportNotice.of(3063))
    if uncounted := [one for one in metrics if one in _UNCOUNTED]:
        asking.told.append(ReportNotice.of(PARTIAL, f"not counted here: {', '.join(uncounted)}"))
    return found, asking.told


_UNCOUNTED = frozenset({"Searches_Platform", "Limit_Exceeded", "No_License"})
"""Titles, which are the others that are never counted, are of books and reference works only."""


class _Asking:
    """Reads parameters, and notes which values are ignored."""

    def __init__(self, query: Mapping[str, str], known: Collection[str]) -> None:
        self._query = {name: text for name, text in query.items() if name in known}
        self.told: list[ReportNotice] = []

    def text(self, name: str) -> str:
        return self._query.get(name, "")

    def several(
        self, name: str, allowed: Sequence[str], *, code: int = 3060, some: bool = False
    ) -> tuple[str, ...]:
        """Read values; all that are allowed are none, unless `some` says that each counts."""
        given = list(dict.fromkeys(one for one in self.text(name).split("|") if one))
        if bad := [one for one in given if one not in allowed]:
            self.told.append(ReportNotice.of(code, f"{name}: {', '.join(bad)}"))
        found = tuple(one for one in given if one in allowed)
        return () if len(found) == len(allowed) and not some else found

    def years(self) -> tuple[str, ...]:
        given = list(dict.fromkeys(one for one in self.text("yop").split("|") if one))
        found = tuple(filter(_is_years, given))
        if bad := [one for one in given if one not in found]:
            self.told.append(ReportNotice.of(3060, f"yop: {', '.join(bad)}"))
        return () if ALL_YEARS in found else found

    def truth(self, name: str) -> bool:
        text = self.text(name)
        if text and text.lower() not in _TRUTHS:
            self.told.append(ReportNotice.of(3062, f"{name}: {text}"))
        return _TRUTHS.get(text.lower(), False)

    def is_total(self) -> bool:
        text = self.text("granularity")
        if text and text not in _TOTALS | {"Month"}:
            self.told.append(ReportNotice.of(3062, f"granularity: {text}"))
        return text in _TOTALS

    def refuse_extensions(self) -> None:
        for name in sorted(EXTENSIONS & set(self._query)):
            self.told.append(ReportNotice.of(3060, f"{name}: {self.text(name)}"))


def _is_years(text: str) -> bool:
    first, _, last = text.partition("-")
    return bool(_YEARS.fullmatch(text)) and first != "0000" and (not last or first <= last)
