"""The COUNTER API: usage reports for programs, by COUNTER's own addresses and errors.

Source: COUNTER Code of Practice, Release 5.1, section 8 and appendix D; COUNTER API
Specification 5.1.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from usagestats.entities.usage import Usage
from usagestats.errors import UsageError
from usagestats.reports.as_json import as_json
from usagestats.reports.asking import filtered, known_parameters, month_over, months_asked
from usagestats.reports.definitions import (
    RELEASE,
    REPORTS,
    WORLD,
    WORLD_ID,
    Definition,
    ReportNotice,
)
from usagestats.reports.making import ReportRequest as Wanted
from usagestats.reports.of_silo import counted_of, report_of
from usagestats.reports.platform import platform_of
from usagestats.store.periods import first_day, is_date, last_day
from webui.http.errors import NotFound
from webui.http.messages import JSON, Response
from webui.site import Call

_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?", re.ASCII)
_COMMON = frozenset(
    {"customer_id", "requestor_id", "api_key", "platform", "begin_date", "end_date"}
)


class ReportRefused(Exception):
    """A request that is answered by one exception."""

    def __init__(self, notice: ReportNotice) -> None:
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
    return _json([told])


def members(call: Call) -> Response:
    """List the customers: the world, whose reports are about all readers."""
    try:
        _check_customer(call)
    except ReportRefused as error:
        return _refusal(error.notice)
    platform = platform_of(call.site.silo.path)
    ids = {"Proprietary": [f"{platform.namespace}:{WORLD_ID}"]}
    return _json([{"Customer_ID": WORLD_ID, "Institution_Name": WORLD, "Institution_ID": ids}])


def reports(call: Call) -> Response:
    """List the reports with the first and the last month that they are available for."""
    try:
        _check_customer(call)
        with Usage(call.site.silo) as usage:
            counted = counted_of(usage, _today())
    except ReportRefused as error:
        return _refusal(error.notice)
    except UsageError as error:
        return _refusal(ReportNotice.of(1000, _told(call, error)))
    first, last = counted.months if counted else ("", "")
    found = [
        {
            "Report_Name": one.name,
            "Report_ID": one.report_id,
            "Release": RELEASE,
            "Report_Description": one.about,
            "Path": f"/r51/reports/{one.report_id.lower()}",
            "First_Month_Available": first,
            "Last_Month_Available": last,
        }
        for one in REPORTS.values()
        if counted and first <= last
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
            wanted, told = _asked(call, definition, usage)
            found = report_of(usage, definition, wanted, now=datetime.now(UTC), notices=told)
    except ReportRefused as error:
        return _refusal(error.notice)
    except UsageError as error:
        return _refusal(ReportNotice.of(1000, _told(call, error)))
    return _json(as_json(found))


def _check_customer(call: Call) -> None:
    customer = call.request.query.get("customer_id", "")
    if not customer:
        raise ReportRefused(ReportNotice.of(1030, "customer_id is missing; it is 0000000000000000"))
    if customer != WORLD_ID:
        raise ReportRefused(
            ReportNotice.of(2010, "reports are about all readers: 0000000000000000")
        )


def _today() -> date:
    return datetime.now(UTC).date()


def _asked(call: Call, definition: Definition, usage: Usage) -> tuple[Wanted, list[ReportNotice]]:
    """Return what was asked for, and what is to be said about it.

    Months that are not over are cut off, as appendix D says; the others stay in the period of the
    header even if they are not counted, with the exception that says so.
    """
    query = call.request.query
    first, last = _bounds(query)
    months, told = months_asked(first, last, counted_of(usage, _today()))
    if unknown := sorted(set(query) - _COMMON - known_parameters(definition)):
        told.append(ReportNotice.of(3050, ", ".join(unknown)))
    wanted = Wanted(tuple(months), period=(first, min(last, month_over(_today()))))
    platform = platform_of(call.site.silo.path).name
    wanted, ignored = filtered(wanted, definition, query, platform)
    return wanted, told + ignored


def _bounds(query: Mapping[str, str]) -> tuple[str, str]:
    given = [query.get(name, "") for name in ("begin_date", "end_date")]
    if not all(given):
        raise ReportRefused(ReportNotice.of(1030, "begin_date and end_date are needed"))
    for text in given:
        if not _DATE.fullmatch(text) or not is_date(text):
            raise ReportRefused(
                ReportNotice.of(3020, f"{text!r} is not a date; write yyyy-mm or yyyy-mm-dd")
            )
    begin, end = (text[:7] for text in given)
    if first_day(given[0]) != first_day(begin) or last_day(given[1]) != last_day(end):
        raise ReportRefused(ReportNotice.of(3020, "a report has whole months"))
    if begin > end:
        raise ReportRefused(ReportNotice.of(3020, "end_date is before begin_date"))
    if begin > month_over(_today()):
        raise ReportRefused(ReportNotice.of(3020, "begin_date is in a month that is not over"))
    return begin, end


def _told(call: Call, error: UsageError) -> str:
    return str(error).replace(call.site.silo.path, call.site.name)


def _refusal(notice: ReportNotice) -> Response:
    return _json(notice.as_json(), notice.status)


def _json(value: object, status: int = 200) -> Response:
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return Response(status, body, JSON)
