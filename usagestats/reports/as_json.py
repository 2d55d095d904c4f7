"""A report as JSON (pure).

Source: COUNTER API Specification 5.1.
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from usagestats.reports.definitions import RELEASE
from usagestats.reports.items import Item
from usagestats.reports.making import Line, Report, filters_of
from usagestats.reports.platform import Platform
from usagestats.store.periods import first_day, last_day

Json = dict[str, Any]


def as_json(report: Report) -> Json:
    """Return a report as the API writes it."""
    return {"Report_Header": _header(report), "Report_Items": _items(report)}


def _header(report: Report) -> Json:
    definition, request, platform = report.definition, report.request, report.platform
    metrics = definition.named_metrics or request.metrics
    months = request.months
    filters: Json = {"Metric_Type": list(metrics)} if metrics else {}
    filters |= {"Begin_Date": first_day(months[0]), "End_Date": last_day(months[-1])}
    for name, values in filters_of(report).items():
        filters[name] = values[0] if name in {"Item_ID", "Author"} else list(values)
    attributes: Json = {} if definition.is_view or not report.shown else {
        "Attributes_To_Show": list(report.shown)
    }  # fmt: skip
    if request.total_only:
        attributes["Granularity"] = "Total"
    header: Json = {
        "Release": RELEASE,
        "Report_ID": definition.report_id,
        "Report_Name": definition.name,
        "Created": f"{report.created:%Y-%m-%dT%H:%M:%SZ}",
        "Created_By": platform.created_by,
        "Institution_ID": {"Proprietary": [f"{platform.namespace}:{report.customer_id}"]},
        "Institution_Name": report.institution,
        "Registry_Record": platform.registry_record,
        "Report_Filters": filters,
    }
    if attributes and not definition.is_view:
        header["Report_Attributes"] = attributes
    if report.notices:
        header["Exceptions"] = [one.as_json() for one in report.notices]
    return header


def _items(report: Report) -> list[Json]:
    if not report.lines:
        return []
    if not report.definition.by_item:
        found = [_performance(report, line) for line in report.lines]
        return [{"Platform": report.platform.name, "Attribute_Performance": found}]
    lines = sorted(report.lines, key=_identifier)
    return [{"Items": [_item(report, list(some)) for _, some in groupby(lines, key=_identifier)]}]


def _identifier(line: Line) -> str:
    return line.item.identifier if line.item else ""


def _item(report: Report, lines: list[Line]) -> Json:
    item, shown = lines[0].item, report.shown or report.request.shown
    assert item is not None
    found: Json = {
        "Item": item.title,
        "Publisher": item.publisher or report.platform.publisher,
        "Platform": report.platform.name,
        "Item_ID": item_ids(item, report.platform),
    }
    if "Authors" in shown and item.authors:
        found["Authors"] = [{"Name": name} for name in dict.fromkeys(item.authors)]
    if "Publication_Date" in shown and item.publication_date:
        found["Publication_Date"] = item.publication_date
    found["Attribute_Performance"] = [_performance(report, line) for line in lines]
    return found


def item_ids(item: Item, platform: Platform) -> dict[str, str]:
    """Return the identifiers of an item by their names in JSON; unknown ones are left out."""
    found = {
        "DOI": item.doi,
        "Proprietary": f"{platform.namespace}:{item.identifier}",
        "ISBN": item.isbn,
        "Online_ISSN": item.issn,
        "URI": item.uri,
    }
    return {name: value for name, value in found.items() if value}


def _performance(report: Report, line: Line) -> Json:
    shown, item = report.request.shown, line.item
    found: Json = {} if report.definition.data_type else {"Data_Type": line.data_type}
    if item is not None and "YOP" in shown:
        found["YOP"] = item.year
    if item is not None and "Access_Type" in shown:
        found["Access_Type"] = report.platform.access_type
    if "Access_Method" in shown:
        found["Access_Method"] = line.access_method
    numbers = {metric: _counts(report, some) for metric, some in line.performance.items()}
    return {**found, "Performance": numbers}


def _counts(report: Report, numbers: Mapping[str, int]) -> dict[str, int]:
    if report.request.total_only:
        return {report.request.months[0]: sum(numbers.values())}
    return dict(numbers)
