"""A report as a table: thirteen lines of header, an empty one, and the rows (pure).

Source: COUNTER Code of Practice 5.1, sections 3.2, 4.1 and 4.4, figure 3.c.
"""

import csv
import io
from calendar import month_abbr
from collections.abc import Iterator

from recordsilo.cells import guarded
from usagestats.reports.as_json import item_ids, parent_ids
from usagestats.reports.definitions import RELEASE
from usagestats.reports.making import ReportLine, UsageReport, attributes_of, filters_of
from usagestats.reports.parents import ParentItem
from usagestats.store.periods import first_day, last_day

BYTE_ORDER_MARK = "\ufeff"
"""Begins a file, so that spreadsheet programs recognise UTF-8 (section 5.2)."""


def header_lines(report: UsageReport) -> list[tuple[str, str]]:
    """Return the names and values of the header."""
    definition, request, platform = report.definition, report.request, report.platform
    metrics = definition.named_metrics or request.metrics
    attributes = attributes_of(report, ("Exclude_Monthly_Details", "True"))
    first, last = request.bounds
    return [
        ("Report_Name", definition.name),
        ("Report_ID", definition.report_id),
        ("Release", RELEASE),
        ("Institution_Name", report.institution),
        ("Institution_ID", f"{platform.namespace}:{report.customer_id}"),
        ("Metric_Types", "; ".join(metrics)),
        ("Report_Filters", _joined(filters_of(report))),
        ("Report_Attributes", _joined(attributes)),
        ("Exceptions", "; ".join(map(str, report.notices))),
        (
            "Reporting_Period",
            f"Begin_Date={first_day(first)}; End_Date={last_day(last)}",
        ),
        ("Created", f"{report.created:%Y-%m-%dT%H:%M:%SZ}"),
        ("Created_By", platform.created_by),
        ("Registry_Record", platform.registry_record),
    ]


def columns(report: UsageReport) -> list[str]:
    """Return the headings of the rows, in the report's order."""
    return [
        *report.columns,
        "Metric_Type",
        "Reporting_Period_Total",
        *map(_month_name, _months(report)),
    ]


def rows(report: UsageReport) -> Iterator[list[str]]:
    """Yield a row for each item or type of data, way of access and metric."""
    names = columns(report)
    for line in report.lines:
        known = _known(report, line)
        for metric, numbers in line.performance.items():
            counts = [numbers.get(month, 0) for month in _months(report)]
            total = str(sum(numbers.values()))
            more = {"Metric_Type": metric, "Reporting_Period_Total": total}
            texts = [(known | more).get(name, "") for name in names[: len(names) - len(counts)]]
            yield [*texts, *map(str, counts)]


def as_table(report: UsageReport, delimiter: str = "\t") -> str:
    """Return a report as text with tabs (TSV) or commas (CSV); without a byte order mark."""
    out = io.StringIO()
    write = csv.writer(out, delimiter=delimiter, lineterminator="\n").writerow
    for line in header_lines(report):
        write(map(_plain, line))
    write([])
    write(columns(report))
    for row in rows(report):
        write(map(_plain, row))
    return out.getvalue()


def _months(report: UsageReport) -> tuple[str, ...]:
    return () if report.request.total_only else report.request.months


def _known(report: UsageReport, line: ReportLine) -> dict[str, str]:
    item, platform = line.item, report.platform
    found = {
        "Platform": platform.name,
        "Data_Type": line.data_type,
        "Access_Method": line.access_method,
    }
    if item is None:
        return found
    ids = item_ids(item, report)
    return found | {
        "Item": item.title,
        "Publisher": item.publisher or platform.publisher,
        "Authors": "; ".join(item.authors),
        "Publication_Date": item.publication_date,
        "Article_Version": item.version,
        **ids,
        "Proprietary_ID": ids["Proprietary"],
        "YOP": item.year,
        "Access_Type": platform.access_type,
        **_known_of_parent(report, item.parent),
    }


def _known_of_parent(report: UsageReport, parent: ParentItem | None) -> dict[str, str]:
    if parent is None:
        return {}
    ids = parent_ids(parent, report)
    return {
        "Parent_Title": parent.title,
        "Parent_Data_Type": parent.data_type,
        "Parent_Proprietary_ID": ids.get("Proprietary", ""),
        "Parent_ISBN": ids.get("ISBN", ""),
        "Parent_Online_ISSN": ids.get("Online_ISSN", ""),
    }


def _joined(values: dict[str, tuple[str, ...]]) -> str:
    return "; ".join(f"{name}={'|'.join(some)}" for name, some in values.items())


def _month_name(month: str) -> str:
    return f"{month_abbr[int(month[5:])]}-{month[:4]}"


def _plain(text: str) -> str:
    """A cell without tabs and line ends, and that no spreadsheet takes for a formula."""
    return guarded(" ".join(text.split()) if any(one in text for one in "\t\r\n") else text)
