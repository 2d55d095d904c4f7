"""COUNTER reports: their figures are those of the counts, and their form is the standard's.

With the environment variable COUNTER_API_SCHEMA, the path of the published OpenAPI file
(COUNTER_API.json of Project-Counter/cop5), the reports are also validated against its schemas.
"""

import csv
import importlib
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from counter_rules import faults
from made_up import ONE, count, make_silo

from recordsilo import Silo
from recordsilo.cli import silo_command
from usagestats.commands import reporting
from usagestats.entities.usage import Usage
from usagestats.reports.as_json import as_json
from usagestats.reports.as_table import as_table, header_lines, rows
from usagestats.reports.asking import CountedPeriod
from usagestats.reports.definitions import MACHINE, REGULAR, REPORTS, ReportNotice
from usagestats.reports.items import ReportItem, data_type
from usagestats.reports.making import ReportBasis as Used
from usagestats.reports.making import ReportRequest, UsageReport, make_report
from usagestats.reports.of_silo import report_of
from usagestats.reports.platform import Platform
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.ledger import UsageLedger
from usagestats.store.periods import last_day
from usagestats.values import Figures

NOW = datetime(2026, 4, 1, tzinfo=UTC)
MONTHS = ("2026-01", "2026-02", "2026-03")
EVERYTHING = (
    "Authors",
    "Publication_Date",
    "Article_Version",
    "YOP",
    "Access_Type",
    "Access_Method",
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    found = str(tmp_path_factory.mktemp("usage") / "silo")
    make_silo(found).close()
    count(found)
    return found


@pytest.fixture
def usage(path: str) -> Iterator[Usage]:
    with Silo(path, create=False) as silo, Usage(silo) as found:
        yield found


def _schema_faults(name: str, report: dict[str, Any]) -> list[str]:
    """What the published schema says; nothing without it."""
    if not (place := os.environ.get("COUNTER_API_SCHEMA")):
        return []
    jsonschema_rs = importlib.import_module("jsonschema_rs")
    text = Path(place).read_text()
    # jsonschema_rs has no count {1,3,4}, which no other engine has either
    # and the Code of Practice, which takes precedence, says Totals
    schema = json.loads(text.replace("{1,3,4}", "{1,4}").replace('"Total"', '"Totals"'))
    wanted = {"$ref": f"#/components/schemas/{name}", "components": schema["components"]}
    validator = jsonschema_rs.Draft202012Validator(wanted)
    return [f"{one.instance_path}: {one.message}" for one in validator.iter_errors(report)]


def _valid(report: UsageReport) -> dict[str, Any]:
    found = json.loads(json.dumps(as_json(report)))
    assert list(faults(found)) == []
    assert _schema_faults(report.definition.report_id, found) == []
    return found


@pytest.mark.parametrize("name", sorted(REPORTS))
@pytest.mark.parametrize("months", [MONTHS, ("2026-02",), ("2030-01", "2030-02")])
def test_reports_have_the_form_of_the_standard(
    usage: Usage, name: str, months: tuple[str, ...]
) -> None:
    definition = REPORTS[name]
    for request in (
        ReportRequest(months),
        ReportRequest(months, shown=definition.attributes, access_methods=(MACHINE,), parents=True),
    ):
        if definition.is_view and request.shown:
            continue
        report = report_of(usage, definition, request, now=NOW)
        told = _valid(report)["Report_Header"]["Exceptions"]
        assert any("COUNTER list" in one.get("Data", "") for one in told)


def test_an_item_report_has_the_figures_of_the_counts(usage: Usage, path: str) -> None:
    report = report_of(usage, REPORTS["IR"], ReportRequest(MONTHS, shown=EVERYTHING), now=NOW)
    with UsageCounts(path) as counts:
        period = Period("2026-01", "2026-03")
        expected = counts.totals(period) + counts.totals(period, machine=True)
    summed: dict[str, int] = {}
    for line in report.lines:
        for metric, numbers in line.performance.items():
            summed[metric] = summed.get(metric, 0) + sum(numbers.values())
    assert summed == {
        "Total_Item_Investigations": expected.total_investigations,
        "Total_Item_Requests": expected.total_requests,
        "Unique_Item_Investigations": expected.unique_investigations,
        "Unique_Item_Requests": expected.unique_requests,
    }
    items = {
        one["Item_ID"]["Proprietary"]: one for one in _valid(report)["Report_Items"][0]["Items"]
    }
    assert items[f"silo:{ONE}"] | {"Attribute_Performance": []} == {
        "Item": "Solar cells", "Publisher": "University of Wexcombe", "Platform": "silo",
        "Authors": [{"Name": "Ben"}, {"Name": "Swan, Eve"}], "Publication_Date": "2016-05-04",
        "Item_ID": {"DOI": "10.5555/wex.1", "Proprietary": "silo:oai:x:1",
                    "URI": "https://doi.org/10.5555/wex.1"},
        "Attribute_Performance": [],
    }  # fmt: skip
    assert items["silo:oai:x:2"]["Item_ID"]["Online_ISSN"] == "1234-567X"
    assert items["silo:oai:x:gone"]["Item"] == ""


def test_the_table_has_the_same_figures_as_the_json(usage: Usage) -> None:
    report = report_of(usage, REPORTS["PR"], ReportRequest(MONTHS), now=NOW)
    lines = list(csv.reader(as_table(report).splitlines(), delimiter="\t"))
    assert [line[0] for line in lines[:13]] == [name for name, _ in header_lines(report)]
    assert lines[13] == []
    assert lines[14] == [
        "Platform", "Data_Type", "Metric_Type", "Reporting_Period_Total",
        "Jan-2026", "Feb-2026", "Mar-2026",
    ]  # fmt: skip
    assert lines[15:] == list(rows(report))
    types = _valid(report)["Report_Items"][0]["Attribute_Performance"]
    for _, kind, metric, total, *months in lines[15:]:
        numbers = next(one for one in types if one["Data_Type"] == kind)["Performance"][metric]
        assert sum(numbers.values()) == int(total) == sum(map(int, months))


def test_the_item_table_guards_formulas(usage: Usage) -> None:
    report = report_of(usage, REPORTS["IR_A1"], ReportRequest(MONTHS), now=NOW)
    (first, *_) = as_table(report, ",").splitlines()[15:]
    assert first.startswith('"\'=Wind, and rain"')


def test_machines_are_reported_apart(usage: Usage) -> None:
    requests = (ReportRequest(MONTHS, access_methods=(one,)) for one in (REGULAR, MACHINE))
    regular, machine = (report_of(usage, REPORTS["IR"], one, now=NOW) for one in requests)
    assert {line.item.identifier for line in machine.lines if line.item} == {ONE}
    assert len(regular.lines) == 3
    both = report_of(usage, REPORTS["IR"], ReportRequest(MONTHS), now=NOW)
    assert len(both.lines) == 3
    assert "Access_Method" not in _valid(both)["Report_Header"]["Report_Filters"]
    assert sum(_total(one) for one in both.lines) == sum(
        _total(one) for one in (*regular.lines, *machine.lines)
    )


def _total(line: Any) -> int:
    return sum(line.performance["Total_Item_Investigations"].values())


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (ReportRequest(MONTHS, data_types=("Article",)), {"oai:x:2"}),
        (ReportRequest(MONTHS, years=("2015-2017",)), {"oai:x:1"}),
        (ReportRequest(MONTHS, years=("0001",)), {"oai:x:gone"}),
        (ReportRequest(MONTHS, item="silo:oai:x:2"), {"oai:x:2"}),
        (ReportRequest(MONTHS, item="DOI:10.5555/wex.1"), {"oai:x:1"}),
        (ReportRequest(MONTHS, author="swan, eve"), {"oai:x:1"}),
        (ReportRequest(MONTHS, access_types=("Controlled",)), set()),
    ],
)
def test_filters(usage: Usage, request_: ReportRequest, expected: set[str]) -> None:
    report = report_of(usage, REPORTS["IR"], request_, now=NOW)
    assert {line.item.identifier for line in report.lines if line.item} == expected
    _valid(report)


def test_a_spike_is_flagged() -> None:
    months = tuple(f"2025-{one:02}" for one in range(1, 13))
    figures = {month: Figures(40, 4, 40, 4) for month in months}
    limit = {**figures, "2026-01": Figures(220, 4, 220, 4)}  # 3 times 40, and 100: not above it
    spike = {**figures, "2026-01": Figures(221, 4, 220, 4)}
    for found, expected in ((limit, []), (spike, ["Total_Item_Investigations 2026-01: 221"])):
        report = make_report(
            REPORTS["IR"], ReportRequest(("2026-01",)), Platform("Site"),
            Used({REGULAR: {"a": found}}, {"a": ReportItem("a", "A")}), now=NOW,
        )  # fmt: skip
        told = [one.data.partition(";")[0] for one in report.notices if one.code == 1]
        assert told == expected


def test_a_report_names_the_lists_of_the_imports(
    usage: Usage, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipts = [
        ("b", {"robots": "list 2"}),
        ("a", {"robots": "list 1"}),
        ("c", {"robots": "list 2"}),
    ]
    monkeypatch.setattr(UsageLedger, "receipts", lambda _self: receipts)
    monkeypatch.setattr(UsageLedger, "stale", lambda _self: ["2026-02-03", "2025-01-01"])
    report = report_of(usage, REPORTS["PR"], ReportRequest(MONTHS), now=NOW)
    told = {one.code: one.data for one in report.notices}
    assert told[0] == "list 2; list 1"
    assert told[3040] == "not counted yet: 2026-02-03"
    _valid(report)


def test_types_of_data() -> None:
    assert data_type(["info:eu-repo/semantics/doctoralThesis"]) == "Thesis_or_Dissertation"
    assert data_type(["something", "Conference Paper"]) == "Conference_Item"
    assert (data_type(["something"]), data_type([])) == ("Other", "Unspecified")


def test_the_rules_find_faults(usage: Usage) -> None:
    report = report_of(usage, REPORTS["PR"], ReportRequest(MONTHS), now=NOW)
    broken = as_json(replace(report, notices=(ReportNotice.of(3030),)))
    broken["Report_Header"]["More"] = 1
    broken["Report_Items"][0]["Attribute_Performance"][0]["Performance"]["Clicks"] = {"2031-01": 0}
    assert len(list(faults(broken))) == 5


def test_the_command_prints_each_form(path: str) -> None:
    def run(*more: str) -> str:
        words = ["usage", "report", path, "ir", "--from", "2026-01", "--until", "2026-02", *more]
        result = CliRunner().invoke(silo_command, words)
        assert result.exit_code == 0, result.output
        return result.stdout

    assert run().startswith("\ufeffReport_Name\tItem Report\n")
    assert run("--csv", "--show", "YOP").startswith("\ufeffReport_Name,Item Report\n")
    assert "\nReport_Attributes\tExclude_Monthly_Details=True\n" in run("--total")
    header = json.loads(run("--json", "--machine", "--parents", "--total"))["Report_Header"]
    assert header["Report_Filters"]["Access_Method"] == ["TDM"]
    assert header["Report_Attributes"] == {
        "Granularity": "Totals",
        "Include_Parent_Details": "True",
    }
    header = json.loads(run("--json", "--filter", "yop=2016", "--filter", "yop=2018"))
    assert header["Report_Header"]["Report_Filters"]["YOP"] == ["2016", "2018"]


@pytest.mark.parametrize(
    ("today", "words", "period", "told"),
    [
        # the last month that is over, by default
        ("2026-03-05", [], "2026-02", []),
        ("2026-02-28", [], "2026-01", []),
        # months that are not over are cut off, as are those before counting began
        ("2026-02-28", ["--from", "2026-01", "--until", "2026-12"], "2026-01",
         ["3031: Usage Not Ready for Requested Dates (2026-02 to 2026-12)"]),
        ("2026-03-05", ["--from", "2025-11", "--until", "2026-01"], "2025-12 2026-01",
         ["3032: Usage No Longer Available for Requested Dates (usage is available from 2025-12)",
          "3040: Partial Data Returned (counted from 2025-12-30 to 2026-03-09)"]),
        ("2026-03-05", ["--until", "2026-01"], "2025-12 2026-01",
         ["3040: Partial Data Returned (counted from 2025-12-30 to 2026-03-09)"]),
        ("2026-03-05", ["--from", "2026-01"], "2026-01 2026-02", []),
        # an import ended in the middle of a month
        ("2026-05-05", [], "2026-03",
         ["3040: Partial Data Returned (counted from 2025-12-30 to 2026-03-09)"]),
    ],
)  # fmt: skip
def test_the_command_reports_months_that_are_over(
    path: str, monkeypatch: pytest.MonkeyPatch, today: str, words: list[str], period: str,
    told: list[str],
) -> None:  # fmt: skip
    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Clock":
            return cls.fromisoformat(f"{today}T12:00:00").replace(tzinfo=tz)

    monkeypatch.setattr(reporting, "datetime", Clock)
    result = CliRunner().invoke(silo_command, ["usage", "report", path, "PR", *words])
    assert result.exit_code == 0, result.output
    lines = dict(line.split("\t")[:2] for line in result.stdout.splitlines()[:13])
    first, last = period.split(maxsplit=1)[0], period.rsplit(maxsplit=1)[-1]
    assert lines["Reporting_Period"] == f"Begin_Date={first}-01; End_Date={last_day(last)}"
    columns = result.stdout.splitlines()[14].split("\t")
    assert len(columns) == 4 + len(period.split())
    assert [line for line in result.stderr.splitlines() if line.startswith("Note: ")] == [
        f"Note: {one}" for one in told
    ]
    assert all(one in lines["Exceptions"] for one in told)


def test_before_a_month_is_over_there_is_no_report(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        reporting,
        "counted_of",
        lambda *_: CountedPeriod("2026-11-20", "2026-11-24", date(2026, 11, 24)),
    )
    result = CliRunner().invoke(silo_command, ["usage", "report", path, "PR"])
    assert result.exit_code == 2
    assert "no usage of a month that is over; it is from 2026-11-20 to 2026-11-24" in result.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["IR", "--from", "2026-02-05"], "write 2026-02 instead of 2026-02-05"),
        (["IR", "--from", "2099-01"], "2099-01 is not over; the last month that is over is 20"),
        (["IR", "--from", "2026-06"], "no usage in this period; it is from 2025-12 to 2026-03"),
        (["IR", "--filter", "colour=red"], "IR has no colour; its filters are access_method, "),
        (["IR_A1", "--filter", "yop=2001"], "IR_A1 has no yop; its filters are platform"),
        (["IR", "--filter", "yop=soon"], "Invalid ReportFilter Value: yop: soon"),
        (["IR", "--filter", "yop"], "yop has no value; write yop=VALUE"),
        (["IR_A1", "--machine"], "IR_A1 has no --machine"),
        (["PR", "--parents"], "PR has no --parents"),
        (["IR", "--until", "1999-12"], "no usage in this period; it is from 20"),
        (["IR", "--from", "2026-02", "--until", "2026-01"], "before it begins"),
        (["PR", "--show", "YOP"], "PR has no column YOP"),
        (["IR", "--json", "--csv"], "choose one"),
    ],
)
def test_the_command_refuses(path: str, words: list[str], sentence: str) -> None:
    result = CliRunner().invoke(silo_command, ["usage", "report", path, *words])
    assert result.exit_code == 2
    assert sentence in result.output


def test_without_counts_the_command_says_so(tmp_path: Path) -> None:
    make_silo(str(tmp_path / "silo")).close()
    for name, *more in (("report", "IR"), ("top",), ("show", "1"), ("totals",), ("same", "a", "b")):
        result = CliRunner().invoke(silo_command, ["usage", name, str(tmp_path / "silo"), *more])
        assert result.exit_code == 2
        assert "has no usage yet" in result.output
