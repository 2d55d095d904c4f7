"""What a report is asked for, what is refused of it, and what it then says."""

import csv
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from usagestats.errors import SettingsInvalid
from usagestats.reports.as_json import as_json
from usagestats.reports.as_table import as_table, columns, header_lines
from usagestats.reports.asking import (
    CountedPeriod,
    filtered,
    known_parameters,
    month_over,
    months_asked,
)
from usagestats.reports.definitions import (
    ALL_YEARS,
    DATA_TYPES,
    EXCEPTIONS,
    MACHINE,
    NO_YEAR,
    REGULAR,
    REPORTS,
    ReportNotice,
)
from usagestats.reports.items import ReportItem
from usagestats.reports.making import ReportBasis, ReportRequest, UsageReport, make_report
from usagestats.reports.parents import ParentItem
from usagestats.reports.platform import Platform, platform_of
from usagestats.values import Figures

NOW = datetime(2026, 4, 2, 8, 30, tzinfo=UTC)
COUNTED = CountedPeriod("2025-12-30", "2026-03-09", date(2026, 4, 2))
MONTHS = ("2026-01", "2026-02")
SITE = Platform("Site", namespace="wex", publisher="The Press")


# --------------------------------------------------------------------------- months


@pytest.mark.parametrize(
    ("first", "last", "months", "told"),
    [
        ("2026-01", "2026-02", ["2026-01", "2026-02"], []),
        ("2025-12", "2026-01", ["2025-12", "2026-01"], [3040]),
        ("2025-11", "2026-01", ["2025-12", "2026-01"], [3032, 3040]),
        ("2026-02", "2026-03", ["2026-02", "2026-03"], [3040]),
        ("2026-02", "2026-05", ["2026-02", "2026-03"], [3031, 3040]),
        ("2026-04", "2026-05", [], [3031]),
        ("2025-01", "2025-02", [], [3032]),
        ("2025-01", "2027-01", ["2025-12", "2026-01", "2026-02", "2026-03"], [3032, 3031, 3040]),
    ],
)
def test_the_months_of_a_period_that_can_be_reported(
    first: str, last: str, months: list[str], told: list[int]
) -> None:
    found, notices = months_asked(first, last, COUNTED)
    assert (found, [one.code for one in notices]) == (months, told)


def test_why_months_cannot_be_reported_is_said() -> None:
    _, notices = months_asked("2025-11", "2026-06", COUNTED)
    assert [one.data for one in notices] == [
        "usage is available from 2025-12", "2026-04 to 2026-06",
        "counted from 2025-12-30 to 2026-03-09",
    ]  # fmt: skip
    assert [one.data for one in months_asked("2026-05", "2026-05", COUNTED)[1]] == ["2026-05"]
    assert [str(one) for one in months_asked("2026-01", "2026-02", None)[1]] == [
        "3031: Usage Not Ready for Requested Dates (2026-01 to 2026-02)"
    ]


def test_a_month_that_is_not_over_today_is_not_reported() -> None:
    young = CountedPeriod("2026-03-01", "2026-03-31", date(2026, 3, 31))
    assert young.months == ("2026-03", "2026-02")
    assert months_asked("2026-03", "2026-03", young)[0] == []
    whole = CountedPeriod("2026-03-01", "2026-03-31", date(2026, 4, 1))
    assert months_asked("2026-03", "2026-03", whole) == (["2026-03"], [])
    assert month_over(date(2026, 1, 1)) == "2025-12"


# --------------------------------------------------------------------------- filters


def asked(report_id: str = "IR", **query: str) -> tuple[ReportRequest, list[tuple[int, str]]]:
    """The request that some parameters make, and the notices about them."""
    found, told = filtered(ReportRequest(MONTHS), REPORTS[report_id], query, "Site")
    return found, [(one.code, one.data) for one in told]


def test_every_filter_and_attribute_of_an_item_report_is_read() -> None:
    found, told = asked(
        metric_type="Total_Item_Requests|Unique_Item_Requests", data_type="Article|Image",
        access_method="TDM", access_type="Open", yop="2015|2018-2020", item_id="10.5555/x",
        author="Doe, J.", platform="Site", attributes_to_show="Authors|YOP",
        include_parent_details="True", granularity="Totals",
    )  # fmt: skip
    assert told == []
    assert found == ReportRequest(
        MONTHS, ("Total_Item_Requests", "Unique_Item_Requests"), ("Article", "Image"),
        ("2015", "2018-2020"), ("Open",), ("TDM",), ("Authors", "YOP"), "10.5555/x", "Doe, J.",
        "Site", total_only=True, parents=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"data_type": "Article|Colour|Red"}, (3060, "data_type: Colour, Red")),
        ({"metric_type": "Clicks"}, (3060, "metric_type: Clicks")),
        ({"access_method": "regular"}, (3060, "access_method: regular")),
        ({"yop": "15|2015"}, (3060, "yop: 15")),
        ({"yop": "2020-2015"}, (3060, "yop: 2020-2015")),
        ({"yop": "0000-2015"}, (3060, "yop: 0000-2015")),
        ({"platform": "Other"}, (3060, "platform: Other; this is Site")),
        ({"country_code": "GB"}, (3060, "country_code: GB")),
        ({"attributed": "yes"}, (3060, "attributed: yes")),
        ({"attributes_to_show": "Authors|Colour"}, (3062, "attributes_to_show: Colour")),
        ({"granularity": "Week"}, (3062, "granularity: Week")),
        ({"include_parent_details": "yes"}, (3062, "include_parent_details: yes")),
        ({"include_component_details": "true"}, (3063, "")),
        ({"metric_type": "No_License"}, (3040, "not counted here: No_License")),
    ],
)
def test_what_is_ignored_is_said(query: dict[str, str], told: tuple[int, str]) -> None:
    found, notices = asked(**query)
    assert notices == [told]
    assert found.access_methods == ()


def test_a_filter_of_everything_is_none() -> None:
    found, told = asked(
        data_type="|".join(reversed(DATA_TYPES)), access_method=f"{MACHINE}|{REGULAR}",
        yop=f"2015|{ALL_YEARS}", metric_type="|Total_Item_Requests||Total_Item_Requests",
        granularity="Month", include_parent_details="FALSE", attributes_to_show="YOP",
    )  # fmt: skip
    assert told == []
    assert found == ReportRequest(MONTHS, ("Total_Item_Requests",), shown=("YOP",))
    assert asked(granularity="Total")[0].total_only  # as COUNTER's OpenAPI file has it
    assert asked("PR", attributes_to_show="Access_Method")[0].shown == ("Access_Method",)


def test_a_standard_view_has_no_filter_but_the_platform() -> None:
    found, told = asked("IR_A1", data_type="Image", yop="soon", platform="Site")
    assert (found, told) == (ReportRequest(MONTHS, platform="Site"), [])
    assert known_parameters(REPORTS["IR_A1"]) == frozenset()
    items = known_parameters(REPORTS["IR"])
    assert {"yop", "author", "include_parent_details"} == {
        one for one in items - known_parameters(REPORTS["PR"])
        if one in {"yop", "author", "include_parent_details", "data_type"}
    }  # fmt: skip
    assert asked("PR", yop="soon", data_type="Journal")[0].data_types == ("Journal",)


# --------------------------------------------------------------------------- making


def made(request: ReportRequest, report_id: str = "IR", **figures: Figures) -> UsageReport:
    """A report of people's figures of two items in January, and of one by machines."""
    items = {
        "a": ReportItem("a", "alpha", "", ("Doe, J.",), "2019-02-03", "10.5555/a", "", "1234-5678",
                  data_type="Article", year="2019", version="AM",
                  parent=ParentItem("Journal", "Journal", "1234-5678")),
        "b": ReportItem("b", "Beta", data_type="Sound"),
    }  # fmt: skip
    people = {"a": {"2026-01": figures.get("a", Figures(5, 2, 4, 1))},
              "b": {"2026-01": figures.get("b", Figures(3, 1, 2, 1))}}  # fmt: skip
    machines = {"a": {"2026-02": Figures(7, 7, 7, 7)}}
    basis = ReportBasis({REGULAR: people, MACHINE: machines}, items, "list 1")
    return make_report(REPORTS[report_id], request, SITE, basis, now=NOW)


def totals(report: UsageReport) -> dict[str, int]:
    """Total requests of each item or type of data."""
    return {
        line.item.identifier if line.item else line.data_type: sum(
            line.performance.get("Total_Item_Requests", {}).values()
        )
        for line in report.lines
    }


def test_lines_are_in_the_order_of_titles_without_case() -> None:
    report = made(ReportRequest(MONTHS))
    assert [line.item.title for line in report.lines if line.item] == ["alpha", "Beta"]
    assert totals(report) == {"a": 9, "b": 1}


def test_a_standard_view_has_people_and_its_own_types_of_data_alone() -> None:
    asked_for = ReportRequest(MONTHS, shown=("YOP",), total_only=True, access_methods=(MACHINE,))
    assert totals(made(asked_for, "IR_A1")) == {"a": 2}
    assert totals(made(asked_for, "IR_M1")) == {"b": 1}
    assert totals(made(asked_for, "PR_P1")) == {"Article": 2, "Sound": 1}
    assert made(asked_for, "IR_A1").columns == REPORTS["IR_A1"].all_columns


def test_methods_are_apart_only_where_they_are_shown() -> None:
    shown = made(ReportRequest(MONTHS, shown=("Access_Method",)), "PR")
    assert [(one.data_type, one.access_method) for one in shown.lines] == [
        ("Article", REGULAR), ("Sound", REGULAR), ("Article", MACHINE),
    ]  # fmt: skip
    assert [one.access_method for one in made(ReportRequest(MONTHS), "PR").lines] == ["", ""]


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        (ReportRequest(MONTHS, item="a"), {"a": 9}),
        (ReportRequest(MONTHS, item="wex:a"), {"a": 9}),
        (ReportRequest(MONTHS, item="silo:a"), {}),
        (ReportRequest(MONTHS, item="1234-5678"), {"a": 9}),
        (ReportRequest(MONTHS, years=("2018-2019", "1999")), {"a": 9}),
        (ReportRequest(MONTHS, years=(NO_YEAR,)), {"b": 1}),
        (ReportRequest(MONTHS, author="doe, j."), {"a": 9}),
        (ReportRequest(MONTHS, access_types=("Open",)), {"a": 9, "b": 1}),
        (ReportRequest(MONTHS, access_types=("Controlled",)), {}),
        (ReportRequest(("2026-02",)), {"a": 7}),
        (ReportRequest(("2026-03",)), {}),
    ],
)
def test_a_report_has_what_was_asked_for(request_: ReportRequest, found: dict[str, int]) -> None:
    report = made(request_)
    assert totals(report) == found
    assert (3030 in {one.code for one in report.notices}) == (not found)


def test_no_usage_is_not_said_where_a_part_was_counted() -> None:
    basis = ReportBasis({})
    partial = [ReportNotice.of(3040)]
    asked_for = ReportRequest(MONTHS)
    report = make_report(REPORTS["PR"], asked_for, SITE, basis, now=NOW, notices=partial)
    assert [one.code for one in report.notices] == [3040]
    empty = make_report(REPORTS["PR"], ReportRequest(()), SITE, basis, now=NOW)
    assert empty.notices == ()


def test_a_spike_needs_a_month_before_it() -> None:
    high = made(ReportRequest(("2026-01",)), a=Figures(9000, 9000, 9000, 9000))
    assert {one.code for one in high.notices} == {0}
    machines = {"a": {"2025-12": Figures(1), "2026-01": Figures(104)}}
    basis = ReportBasis({MACHINE: machines}, {})
    for methods, codes in (((MACHINE,), [1]), ((REGULAR,), [3030])):
        asked_for = ReportRequest(("2026-01",), access_methods=methods)
        report = make_report(REPORTS["PR"], asked_for, SITE, basis, now=NOW)
        assert [one.code for one in report.notices] == codes


def test_a_moment_of_any_zone_is_told_in_utc() -> None:
    east = datetime(2026, 4, 2, 10, 30, tzinfo=timezone(timedelta(hours=2)))
    report = make_report(REPORTS["PR"], ReportRequest(MONTHS), SITE, ReportBasis({}), now=east)
    assert as_json(report)["Report_Header"]["Created"] == "2026-04-02T08:30:00Z"
    assert ("Created", "2026-04-02T08:30:00Z") in header_lines(report)


# --------------------------------------------------------------------------- writing


def rows(report: UsageReport) -> list[dict[str, str]]:
    lines = list(csv.reader(as_table(report).splitlines(), delimiter="\t"))
    assert lines[14] == columns(report)
    return [dict(zip(lines[14], line, strict=True)) for line in lines[15:]]


def test_the_header_of_a_table_has_the_filters_and_attributes() -> None:
    request = ReportRequest(MONTHS, ("Total_Item_Requests",), ("Article",), shown=("YOP",),
                            author="Doe, J.", total_only=True, parents=True)  # fmt: skip
    header = dict(header_lines(made(request)))
    assert header["Metric_Types"] == "Total_Item_Requests"
    assert header["Report_Filters"] == "Data_Type=Article; Author=Doe, J."
    assert header["Report_Attributes"] == (
        "Attributes_To_Show=YOP; Exclude_Monthly_Details=True; Include_Parent_Details=True"
    )
    assert header["Reporting_Period"] == "Begin_Date=2026-01-01; End_Date=2026-02-28"
    assert header["Institution_ID"] == "wex:0000000000000000"
    assert header["Exceptions"] == "0: Robots list (list 1)"
    view = dict(header_lines(made(ReportRequest(MONTHS), "IR_A1")))
    assert (view["Report_Filters"], view["Report_Attributes"]) == (
        "Data_Type=Article; Access_Method=Regular", "",
    )  # fmt: skip


def test_a_row_has_the_item_its_parent_and_each_month() -> None:
    shown = REPORTS["IR"].attributes
    first = rows(made(ReportRequest(MONTHS, shown=shown, parents=True)))[0]
    assert {name: value for name, value in first.items() if value} == {
        "Item": "alpha", "Publisher": "The Press", "Platform": "Site", "Authors": "Doe, J.",
        "Publication_Date": "2019-02-03", "Article_Version": "AM", "DOI": "10.5555/a",
        "Proprietary_ID": "wex:a", "Online_ISSN": "1234-5678", "Parent_Title": "Journal",
        "Parent_Data_Type": "Journal", "Parent_Online_ISSN": "1234-5678", "Data_Type": "Article",
        "YOP": "2019", "Access_Type": "Open", "Access_Method": "Regular",
        "Metric_Type": "Total_Item_Investigations", "Reporting_Period_Total": "5",
        "Jan-2026": "5", "Feb-2026": "0",
    }  # fmt: skip
    plain = rows(made(ReportRequest(MONTHS)))[0]
    assert not {"Authors", "YOP", "Parent_Title", "Access_Method"} & set(plain)
    total = rows(made(ReportRequest(MONTHS, total_only=True)))[0]
    assert (total["Reporting_Period_Total"], "Jan-2026" in total) == ("12", False)


def test_a_cell_has_no_tab_no_line_end_and_no_formula() -> None:
    platform = Platform("=Site", publisher="One\r\n two\tthree")
    basis = ReportBasis({REGULAR: {"a": {"2026-01": Figures(1)}}}, {"a": ReportItem("a", "+1  x")})
    report = make_report(REPORTS["IR"], ReportRequest(("2026-01",)), platform, basis, now=NOW)
    (row,) = [one for one in rows(report) if one["Metric_Type"] == "Total_Item_Investigations"]
    assert (row["Item"], row["Publisher"], row["Platform"]) == ("'+1  x", "One two three", "'=Site")


def test_json_has_one_number_or_one_for_each_month() -> None:
    def performance(request: ReportRequest) -> object:
        found = as_json(made(request))["Report_Items"][0]["Items"][0]
        return found["Attribute_Performance"][0]["Performance"]["Total_Item_Requests"]

    assert performance(ReportRequest(MONTHS)) == {"2026-01": 2, "2026-02": 7}
    assert performance(ReportRequest(MONTHS, total_only=True)) == {"2026-01": 9}
    period = ReportRequest(MONTHS, total_only=True, period=("2025-12", "2026-03"))
    assert performance(period) == {"2025-12": 9}


def test_every_exception_has_its_status_and_its_text() -> None:
    for code, (status, message) in EXCEPTIONS.items():
        notice = ReportNotice.of(code, "why")
        assert (notice.status, notice.as_json()) == (
            status, {"Code": code, "Message": message, "Data": "why"},
        )  # fmt: skip
    assert str(ReportNotice(1, "High")) == "1: High"
    assert (ReportNotice(1, "High").status, "Data" in ReportNotice(1, "High").as_json()) == (
        200, False,
    )  # fmt: skip


# --------------------------------------------------------------------------- the platform


def test_a_site_is_named_by_its_settings_or_its_repository_or_its_directory(
    new_silo: Callable[[str], str],
) -> None:
    path = new_silo("")
    assert platform_of(path).name == Path(path).name
    Path(path, "oaipmh_harvester.json").write_text('{"identify": {"repositoryName": "Wexcombe"}}')
    assert platform_of(path).name == "Wexcombe"
    settings = '[report]\nplatform = "Ours"\nnamespace = "wex"\npublisher = ""\n'
    given = platform_of(new_silo(settings))
    assert (given.name, given.namespace, given.publisher) == ("Ours", "wex", "")
    assert given.created_by.startswith("recordsilo ")
    assert platform_of(new_silo('[report]\nplatform = "X"\n')).name == "Silo"


@pytest.mark.parametrize("namespace", ["a", "1a", "a" * 19, "a b", "ä1"])
def test_a_namespace_is_that_of_the_code_of_practice(
    new_silo: Callable[[str], str], namespace: str
) -> None:
    with pytest.raises(SettingsInvalid, match="namespace has 2 to 18 letters"):
        platform_of(new_silo(f'[report]\nnamespace = "{namespace}"\n'))
