"""What the COUNTER Code of Practice 5.1 demands of a report in JSON, written from its text.

Sections 3.2 (header, items, identifiers), 4.1 and 4.4 (columns, filters), appendix D (exceptions).
"""

import re
from collections.abc import Iterator
from typing import Any

HEADER = {
    "Release", "Report_ID", "Report_Name", "Created", "Created_By", "Institution_ID",
    "Institution_Name", "Registry_Record", "Report_Filters", "Report_Attributes", "Exceptions",
}  # fmt: skip
NEEDED = HEADER - {"Report_Attributes", "Exceptions"}
NAMES = {
    "IR": "Item Report", "IR_A1": "Journal Article Requests", "PR": "Platform Report",
    "PR_P1": "Platform Usage", "IR_M1": "Multimedia Item Requests",
}  # fmt: skip
IDS = {
    "DOI": r"10\.[1-9][0-9]{2}[0-9.]*/.+",
    "ISBN": r"97[89]-\d+-\d+-\d+-\d",
    "Online_ISSN": r"\d{4}-\d{3}[\dX]",
    "Print_ISSN": r"\d{4}-\d{3}[\dX]",
    "Proprietary": r"[a-zA-Z][a-zA-Z0-9_./]{1,17}:.+",
    "URI": r"https?://\S+",
}
PARENTS = {
    "Book", "Conference", "Database_Full", "Journal", "Newspaper_or_Newsletter", "Reference_Work",
}  # fmt: skip
METRICS = {
    "IR": {"Total_Item_Investigations", "Total_Item_Requests", "Unique_Item_Investigations",
           "Unique_Item_Requests"},
    "IR_A1": {"Total_Item_Requests", "Unique_Item_Requests"},
}  # fmt: skip
METRICS |= {"PR": METRICS["IR"], "PR_P1": METRICS["IR_A1"], "IR_M1": METRICS["IR_A1"]}
VIEWS = {
    "IR_A1": {"Data_Type": ["Article"], "Access_Method": ["Regular"],
              "Metric_Type": ["Total_Item_Requests", "Unique_Item_Requests"]},
    "IR_M1": {"Data_Type": ["Audiovisual", "Image", "Interactive_Resource", "Multimedia", "Sound"],
              "Access_Method": ["Regular"],
              "Metric_Type": ["Total_Item_Requests", "Unique_Item_Requests"]},
    "PR_P1": {"Access_Method": ["Regular"],
              "Metric_Type": ["Searches_Platform", "Total_Item_Requests", "Unique_Item_Requests",
                              "Unique_Title_Requests"]},
}  # fmt: skip


def faults(report: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each rule that a report breaks."""
    if set(report) != {"Report_Header", "Report_Items"}:
        yield f"a report has a header and items, not {sorted(report)}"
    header = report["Report_Header"]
    yield from _header_faults(header)
    begin, end = (header["Report_Filters"][name] for name in ("Begin_Date", "End_Date"))
    performances = list(_performances(report))
    parents = [str(one.get("Item_ID")) for one in report["Report_Items"]]
    if len(parents) != len(set(parents)):
        yield "the items of one parent are in one object (section 5.1)"
    for performance in performances:
        for metric, numbers in performance["Performance"].items():
            if metric not in METRICS[header["Report_ID"]]:
                yield f"{metric} is not a metric of {header['Report_ID']}"
            for month, number in numbers.items():
                if not begin <= f"{month}-31" or not f"{month}-01" <= end:
                    yield f"{month} is outside of the period"
                if not isinstance(number, int) or number < 1:
                    yield f"{number!r} is not a number of uses"
    told = {one["Code"] for one in header.get("Exceptions", ())}
    yield from _default_faults(header)
    if 3030 in told and performances:
        yield "exception 3030 is for a report without usage"
    if not performances and not told & {3030, 3031, 3032, 3040}:
        yield "a report without usage says why"


def _header_faults(header: dict[str, Any]) -> Iterator[str]:
    if missing := NEEDED - set(header):
        yield f"the header lacks {sorted(missing)}"
    if more := set(header) - HEADER:
        yield f"the header has {sorted(more)}"
    report_id = header["Report_ID"]
    if header["Release"] != "5.1" or header["Report_Name"] != NAMES[report_id]:
        yield "release or name is wrong"
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", header["Created"]):
        yield "Created is not a moment"
    if len(header["Created_By"]) < 2 or len(header["Institution_Name"]) < 2:
        yield "a name is too short"
    for name, values in header["Institution_ID"].items():
        if name == "Proprietary" and not all(re.fullmatch(IDS[name], one) for one in values):
            yield "the customer has no platform as namespace"
    yield from _fixed_faults(header, report_id)
    for one in header.get("Exceptions", ()):
        if not isinstance(one["Code"], int) or len(one["Message"]) < 2 or set(one) - {
            "Code", "Message", "Help_URL", "Data"
        }:  # fmt: skip
            yield "an exception is malformed"
    if not header.get("Exceptions", [0]):
        yield "an empty list of exceptions"


def _default_faults(header: dict[str, Any]) -> Iterator[str]:
    """Defaults are omitted (section 3.3.8)."""
    filters, attributes = header["Report_Filters"], header.get("Report_Attributes", {})
    if set(filters.get("Access_Method", ())) == {"Regular", "TDM"}:
        yield "both access methods are the default"
    if len(filters.get("Access_Type", ())) == 3 or "0001-9999" in filters.get("YOP", ()):
        yield "a filter of everything is the default"
    for name, value in attributes.items():
        if name != "Attributes_To_Show" and value not in {"True", "Totals"}:
            yield f"{name}={value} is a default"


def _fixed_faults(header: dict[str, Any], report_id: str) -> Iterator[str]:
    for name, values in VIEWS.get(report_id, {}).items():
        if header["Report_Filters"].get(name) != values:
            yield f"the filter {name} of {report_id} is fixed"
    if report_id in VIEWS and "Report_Attributes" in header:
        yield "a standard view has no attributes"


def _performances(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    report_id = report["Report_Header"]["Report_ID"]
    for top in report["Report_Items"]:
        if report_id.startswith("PR"):
            assert top["Platform"]
            yield from top["Attribute_Performance"]
            continue
        assert top["Items"]
        if len(top) > 1:  # a parent
            assert report_id == "IR_A1" or top["Data_Type"] in PARENTS
            assert top["Item_ID"]
            assert all(re.fullmatch(IDS[name], one) for name, one in top["Item_ID"].items())
        for item in top["Items"]:
            assert {"Item", "Publisher", "Platform", "Item_ID"} <= set(item), item
            assert item["Item"] or item["Item_ID"]
            for name, value in item["Item_ID"].items():
                assert re.fullmatch(IDS[name], value), (name, value)
            for author in item.get("Authors", ()):
                assert len(author["Name"]) > 1
            assert len(item.get("Authors", ())) <= 3
            yield from item["Attribute_Performance"]
