"""A report as a table: thirteen lines of header, an empty one, and the rows (pure).

Source: COUNTER Code of Practice 5.1, sections 3.2, 4.1 and 4.4, figure 3.c.
"""

import csv
import io
from calendar import month_abbr
from collections.abc import Iterator

from recordsilo.cells import guarded
from usagestats.reports.as_json import item_ids
from usagestats.reports.definitions import RELEASE
from usagestats.reports.making import Line, Report, filters_of
from usagestats.store.periods import first_day, last_day

_BEFORE_IDS = ("Item", "Publisher", "Publisher_ID", "Platform")
_PARENTS_OF_ARTICLES = (
    "Parent_Title", "Parent_Authors", "Parent_Article_Version", "Parent_DOI",
    "Parent_Proprietary_ID", "Parent_Print_ISSN", "Parent_Online_ISSN", "Parent_URI",
)  # fmt: skip


def header_lines(report: Report) -> list[tuple[str, str]]:
    """Return the names and values of the header."""
    definition, request, platform = report.definition, report.request, report.platform
    metrics = definition.named_metrics or request.metrics
    filters = filters_of(report)
    attributes = {} if definition.is_view or not report.shown else {
        "Attributes_To_Show": report.shown
    }  # fmt: skip
    months = request.months
    return [
        ("Report_Name", definition.name),
        ("Report_ID", definition.report_id),
        ("Release", RELEASE),
        ("Institution_Name", report.institution),
        ("Institution_ID", f"{platform.namespace}:{report.customer_id}"),
        ("Metric_Types", "; ".join(metrics)),
        ("Report_Filters", _joined(filters)),
        ("Report_Attributes", _joined(attributes)),
        ("Exceptions", "; ".join(map(str, report.notices))),
        (
            "Reporting_Period",
            f"Begin_Date={first_day(months[0])}; End_Date={last_day(months[-1])}",
        ),
        ("Created", f"{report.created:%Y-%m-%dT%H:%M:%SZ}"),
        ("Created_By", platform.created_by),
        ("Registry_Record", platform.registry_record),
    ]


def columns(report: Report) -> list[str]:
    """Return the headings of the rows, in the report's order."""
    definition, shown = report.definition, report.request.shown
    if definition.by_item:
        is_view = definition.is_view
        found = [*_BEFORE_IDS]
        found += [one for one in ("Authors", "Publication_Date") if one in shown]
        found += ["Article_Version"] if is_view else []
        found += ["DOI", "Proprietary_ID", *([] if is_view else ["ISBN"])]
        found += ["Print_ISSN", "Online_ISSN", "URI"]
        found += _PARENTS_OF_ARTICLES if is_view else ["Data_Type"]
        found += [one for one in ("YOP", "Access_Type", "Access_Method") if one in shown]
    else:
        found = ["Platform", "Data_Type"]
        found += [one for one in ("Access_Method",) if one in shown]
    found += ["Metric_Type", "Reporting_Period_Total"]
    return [*found, *(_month_name(month) for month in report.request.months)]


def rows(report: Report) -> Iterator[list[str]]:
    """Yield a row for each item or type of data, way of access and metric."""
    names = columns(report)
    for line in report.lines:
        known = _known(report, line)
        for metric, numbers in line.performance.items():
            counts = [numbers.get(month, 0) for month in report.request.months]
            more = {"Metric_Type": metric, "Reporting_Period_Total": str(sum(counts))}
            texts = [(known | more).get(name, "") for name in names[: -len(counts)]]
            yield [*texts, *map(str, counts)]


def as_table(report: Report, delimiter: str = "\t") -> str:
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


def _known(report: Report, line: Line) -> dict[str, str]:
    item, platform = line.item, report.platform
    found = {
        "Platform": platform.name,
        "Data_Type": line.data_type,
        "Access_Method": line.access_method,
    }
    if item is None:
        return found
    ids = item_ids(item, platform)
    return found | {
        "Item": item.title,
        "Publisher": item.publisher or platform.publisher,
        "Authors": "; ".join(item.authors),
        "Publication_Date": item.publication_date,
        "DOI": ids.get("DOI", ""),
        "Proprietary_ID": ids["Proprietary"],
        "ISBN": ids.get("ISBN", ""),
        "Online_ISSN": ids.get("Online_ISSN", ""),
        "URI": ids.get("URI", ""),
        "YOP": item.year,
        "Access_Type": platform.access_type,
    }


def _joined(values: dict[str, tuple[str, ...]]) -> str:
    return "; ".join(f"{name}={'|'.join(some)}" for name, some in values.items())


def _month_name(month: str) -> str:
    return f"{month_abbr[int(month[5:])]}-{month[:4]}"


def _plain(text: str) -> str:
    """A cell without tabs and line ends, and that no spreadsheet takes for a formula."""
    return guarded(" ".join(text.split()) if any(one in text for one in "\t\r\n") else text)
