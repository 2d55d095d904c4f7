"""A report as JSON (pure).

Source: COUNTER API Specification 5.1.
"""

from collections.abc import Callable, Collection, Mapping
from itertools import groupby
from typing import Any

from usagestats.entities.mapping import key_of
from usagestats.reports.definitions import RELEASE
from usagestats.reports.items import ReportItem
from usagestats.reports.making import ReportLine, UsageReport, attributes_of, filters_of
from usagestats.reports.parents import ParentItem
from usagestats.store.periods import first_day, last_day

Json = dict[str, Any]


def as_json(report: UsageReport) -> Json:
    """Return a report as the API writes it."""
    return {"Report_Header": _header(report), "Report_Items": _items(report)}


def _header(report: UsageReport) -> Json:
    definition, request, platform = report.definition, report.request, report.platform
    metrics = definition.named_metrics or request.metrics
    first, last = request.bounds
    filters: Json = {"Metric_Type": list(metrics)} if metrics else {}
    filters |= {"Begin_Date": first_day(first), "End_Date": last_day(last)}
    filters |= _plain(filters_of(report), {"Item_ID", "Author", "Platform"})
    attributes = attributes_of(report, ("Granularity", "Totals"))
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
    if attributes:
        header["Report_Attributes"] = _plain(attributes, set(attributes) - {"Attributes_To_Show"})
    if report.notices:
        header["Exceptions"] = [one.as_json() for one in report.notices]
    return header


def _plain(values: Mapping[str, tuple[str, ...]], texts: Collection[str]) -> Json:
    """Filters or attributes; those in `texts` have one value, the others a list."""
    return {name: some[0] if name in texts else list(some) for name, some in values.items()}


def _items(report: UsageReport) -> list[Json]:
    if not report.lines:
        return []
    if not report.definition.by_item:
        found = [_performance(report, line) for line in report.lines]
        return [{"Platform": report.platform.name, "Attribute_Performance": found}]
    lines = sorted(report.lines, key=_place(report))
    found = []
    for _, some in groupby(lines, key=lambda line: _place(report)(line)[0]):
        of_parent = list(some)
        items = [_item(report, list(one)) for _, one in groupby(of_parent, key=_identifier)]
        found.append({**_parent(report, of_parent[0]), "Items": items})
    return found


def _place(report: UsageReport) -> Callable[[ReportLine], tuple[tuple[str, ...], str]]:
    """Where a line stands: items of one parent are together, those without one come first."""

    def place(line: ReportLine) -> tuple[tuple[str, ...], str]:
        parent = _parent_of(report, line)
        of_parent = (parent.title, *parent.identity) if parent else ()
        return of_parent, _identifier(line)

    return place


def _parent_of(report: UsageReport, line: ReportLine) -> ParentItem | None:
    return line.item.parent if line.item and report.request.parents else None


def _parent(report: UsageReport, line: ReportLine) -> Json:
    parent = _parent_of(report, line)
    if parent is None or "Parent_Title" not in report.columns:
        return {}
    found: Json = {"Title": parent.title} if parent.title else {}
    if "Parent_Data_Type" in report.columns:
        found["Data_Type"] = parent.data_type
    return {**found, "Item_ID": parent_ids(parent, report)}


def _identifier(line: ReportLine) -> str:
    return line.item.identifier if line.item else ""


def _item(report: UsageReport, lines: list[ReportLine]) -> Json:
    item, columns = lines[0].item, report.columns
    assert item is not None
    found: Json = {
        "Item": item.title,
        "Publisher": item.publisher or report.platform.publisher,
        "Platform": report.platform.name,
        "Item_ID": item_ids(item, report),
    }
    if item.authors:
        found["Authors"] = [{"Name": name} for name in item.authors]
    if item.publication_date:
        found["Publication_Date"] = item.publication_date
    if item.version:
        found["Article_Version"] = item.version
    for name in ("Authors", "Publication_Date", "Article_Version"):
        if name not in columns:
            found.pop(name, None)
    found["Attribute_Performance"] = [_performance(report, line) for line in lines]
    return found


def item_ids(item: ReportItem, report: UsageReport) -> dict[str, str]:
    """Return the identifiers of an item by their names in JSON; unknown ones are left out."""
    found = {
        "DOI": item.doi,
        "Proprietary": f"{report.platform.namespace}:{item.identifier}",
        "ISBN": item.isbn,
        "Online_ISSN": item.issn,
        "URI": item.uri,
    }
    columns = {*report.columns, "Proprietary"}
    return {name: value for name, value in found.items() if value and name in columns}


def parent_ids(parent: ParentItem, report: UsageReport) -> dict[str, str]:
    """Return the identifiers of a parent; one of its own is made of the title if it has none."""
    if parent.issn:
        return {"Online_ISSN": parent.issn}
    if parent.isbn and "Parent_ISBN" in report.columns:
        return {"ISBN": parent.isbn}
    key = key_of(parent.data_type.lower(), parent.title)
    return {"Proprietary": f"{report.platform.namespace}:{key}"}


def _performance(report: UsageReport, line: ReportLine) -> Json:
    item = line.item
    known = {
        "Data_Type": line.data_type,
        "YOP": item.year if item else "",
        "Access_Type": report.platform.access_type,
        "Access_Method": line.access_method,
    }
    columns = report.columns
    found: Json = {name: value for name, value in known.items() if name in columns}
    numbers = {metric: _counts(report, some) for metric, some in line.performance.items()}
    return {**found, "Performance": numbers}


def _counts(report: UsageReport, numbers: Mapping[str, int]) -> dict[str, int]:
    if report.request.total_only:
        return {report.request.bounds[0]: sum(numbers.values())}
    return dict(numbers)
