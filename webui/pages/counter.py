"""The COUNTER API: usage reports for programs, by COUNTER's own addresses and errors.

Source: COUNTER Code of Practice, Release 5.1, section 8 and appendix D; COUNTER API
Specification 5.1.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

from usagestats.entities.usage import Usage
from usagestats.errors import UsageError
from usagestats.reports.as_json import as_json
from usagestats.reports.definitions import (
    ACCESS_METHODS,
    ACCESS_TYPES,
    DATA_TYPES,
    RELEASE,
    REPORTS,
    WORLD,
    WORLD_ID,
    Definition,
    Notice,
)
from usagestats.reports.making import Request as Wanted
from usagestats.reports.of_silo import report_of
from usagestats.reports.platform import platform_of
from usagestats.store import queries
from usagestats.store.periods import first_day, last_day, month_after, months_between
from webui.http.errors import NotFound
from webui.http.messages import JSON, Response
from webui.site import Call

_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?", re.ASCII)
_YEARS = re.compile(r"\d{4}(-\d{4})?", re.ASCII)
_NO_USAGE = 3030
_KNOWN = {"customer_id", "requestor_id", "api_key", "platform", "begin_date", "end_date"}
_FILTERS = {"metric_type", "data_type", "access_method"}
_OF_ITEMS = {"access_type", "yop", "item_id", "author"}
_ATTRIBUTES = {"attributes_to_show", "granularity"}
_OF_ITEM_ATTRIBUTES = {"include_parent_details", "include_component_details"}


class Refused(Exception):
    """A request that is answered by one exception."""

    def __init__(self, notice: Notice) -> None:
        self.notice = notice
        super().__init__(str(notice))


def status(call: Call) -> Response:
    """Tell whether reports can be had; public, as COUNTER demands."""
    platform = platform_of(call.site.silo.path)
    told: dict[str, Any] = {
        "Description": f"COUNTER usage reports of {platform.name}",
        "Service_Active": True,
    }
    if platform.registry_record:
        told["Registry_Record"] = platform.registry_record
    return _json(told)


def members(call: Call) -> Response:
    """List the customers: the world, whose reports are about all readers."""
    try:
        _check_customer(call)
    except Refused as error:
        return _refusal(error.notice)
    platform = platform_of(call.site.silo.path)
    ids = {"Proprietary": [f"{platform.namespace}:{WORLD_ID}"]}
    return _json([{"Customer_ID": WORLD_ID, "Institution_Name": WORLD, "Institution_ID": ids}])


def reports(call: Call) -> Response:
    """List the reports with the first and the last month that they are available for."""
    try:
        _check_customer(call)
        with Usage(call.site.silo) as usage:
            available = _available(usage)
    except Refused as error:
        return _refusal(error.notice)
    except UsageError as error:
        return _refusal(Notice.of(1000, _told(call, error)))
    found = [
        {
            "Report_Name": one.name,
            "Report_ID": one.report_id,
            "Release": RELEASE,
            "Report_Description": one.about,
            "Path": f"/r51/reports/{one.report_id.lower()}",
            "First_Month_Available": available[0],
            "Last_Month_Available": available[-1],
        }
        for one in REPORTS.values()
        if available
    ]
    return _json(found)


def report(call: Call) -> Response:
    """Send a report; its identifier in the address is in lower case.

    Raises:
        NotFound: There is no such report.
    """
    name = call.params["report"]
    definition = REPORTS.get(name.upper())
    if definition is None or name != name.lower():
        raise NotFound("There is no such report; see /r51/reports.")
    try:
        _check_customer(call)
        with Usage(call.site.silo) as usage:
            asked = _asked(call.request.query, definition, _available(usage))
            found = report_of(
                usage, definition, asked.wanted, now=datetime.now(UTC), notices=asked.notices
            )
        if not asked.is_available:  # a client takes 3030 for final, and does not ask again
            kept = (notice for notice in found.notices if notice.code != _NO_USAGE)
            found = replace(found, notices=tuple(kept))
    except Refused as error:
        return _refusal(error.notice)
    except UsageError as error:
        return _refusal(Notice.of(1000, _told(call, error)))
    return _json(as_json(found))


@dataclass(slots=True)
class _Asked:
    """What was asked for, and what is to be said about it.

    Attributes:
        is_available: Whether any month of it was counted.
    """

    wanted: Wanted
    notices: list[Notice] = field(default_factory=list)
    is_available: bool = True


def _check_customer(call: Call) -> None:
    customer = call.request.query.get("customer_id", "")
    if not customer:
        raise Refused(Notice.of(1030, "customer_id is missing; it is 0000000000000000"))
    if customer != WORLD_ID:
        raise Refused(Notice.of(2010, "reports are about all readers: 0000000000000000"))


def _available(usage: Usage) -> list[str]:
    """The months that are over, up to the last one with counts."""
    bounds = queries.bounds(usage.counts)
    if bounds is None:
        return []
    last = min(bounds[1][:7], _month_before(datetime.now(UTC)))
    return months_between(bounds[0][:7], last)


def _month_before(now: datetime) -> str:
    return f"{now.year - (now.month == 1):04}-{(now.month - 2) % 12 + 1:02}"


def _asked(query: Mapping[str, str], definition: Definition, available: Sequence[str]) -> _Asked:
    first, last = _bounds(query)
    over = min(last, _month_before(datetime.now(UTC)))
    months = [month for month in months_between(first, over) if month in available]
    notices = []
    if available and first < available[0]:
        notices.append(Notice.of(3032, f"usage is available from {available[0]}"))
    late = max(first, month_after(available[-1])) if available else first
    if late <= last:
        notices.append(Notice.of(3031, late if late == last else f"{late} to {last}"))
    known = _KNOWN if definition.is_view else _KNOWN | _FILTERS | _ATTRIBUTES
    if definition.by_item and not definition.is_view:
        known = known | _OF_ITEMS | _OF_ITEM_ATTRIBUTES
    if unknown := sorted(set(query) - known):
        notices.append(Notice.of(3050, ", ".join(unknown)))
    wanted = Wanted(tuple(months or months_between(first, over)))
    found = _Asked(wanted, notices, is_available=bool(months))
    if not definition.is_view:
        found.wanted = _filtered(query, definition, found)
    return found


def _bounds(query: Mapping[str, str]) -> tuple[str, str]:
    given = [query.get(name, "") for name in ("begin_date", "end_date")]
    if not all(given):
        raise Refused(Notice.of(1030, "begin_date and end_date are needed"))
    for text in given:
        if not _DATE.fullmatch(text) or not _is_date(text):
            raise Refused(Notice.of(3020, f"{text!r} is not a date; write yyyy-mm or yyyy-mm-dd"))
    begin, end = (text[:7] for text in given)
    if first_day(given[0]) != first_day(begin) or last_day(given[1]) != last_day(end):
        raise Refused(Notice.of(3020, "a report has whole months"))
    if begin > end:
        raise Refused(Notice.of(3020, "end_date is before begin_date"))
    if begin > _month_before(datetime.now(UTC)):
        raise Refused(Notice.of(3020, "begin_date is in a month that is not over"))
    return begin, end


def _is_date(text: str) -> bool:
    try:
        return bool(date.fromisoformat(first_day(text)))
    except ValueError:
        return False


def _filtered(query: Mapping[str, str], definition: Definition, asked: _Asked) -> Wanted:
    def several(name: str, allowed: Sequence[str]) -> tuple[str, ...]:
        values = [one for one in query.get(name, "").split("|") if one]
        if bad := [one for one in values if one not in allowed]:
            code = 3062 if name in _ATTRIBUTES else 3060
            asked.notices.append(Notice.of(code, f"{name}: {', '.join(bad)}"))
        return tuple(one for one in dict.fromkeys(values) if one in allowed)

    by_item = definition.by_item
    given = dict.fromkeys(one for one in query.get("yop", "").split("|") if one)
    years = tuple(filter(_is_years, given))
    if by_item and (bad := [one for one in given if one not in years]):
        asked.notices.append(Notice.of(3060, f"yop: {', '.join(bad)}"))
    if query.get("include_component_details", "").lower() == "true":
        asked.notices.append(Notice.of(3063))
    granularity = several("granularity", ("Month", "Total"))
    return Wanted(
        asked.wanted.months,
        metrics=several("metric_type", definition.metrics),
        data_types=several("data_type", DATA_TYPES),
        years=years if by_item else (),
        access_types=several("access_type", ACCESS_TYPES) if by_item else (),
        access_methods=several("access_method", ACCESS_METHODS) or Wanted(()).access_methods,
        shown=several("attributes_to_show", definition.attributes),
        item=query.get("item_id", "") if by_item else "",
        author=query.get("author", "") if by_item else "",
        total_only=granularity == ("Total",),
    )


def _is_years(text: str) -> bool:
    first, _, last = text.partition("-")
    return bool(_YEARS.fullmatch(text)) and (not last or first <= last)


def _told(call: Call, error: UsageError) -> str:
    return str(error).replace(call.site.silo.path, call.site.name)


def _refusal(notice: Notice) -> Response:
    return _json(notice.as_json(), notice.status)


def _json(value: object, status: int = 200) -> Response:
    body = json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
    return Response(status, body, JSON)
