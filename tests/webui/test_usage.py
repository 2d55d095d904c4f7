"""The pages of usage: every figure of a page is that of its JSON, its CSV and the counts."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from counter_rules import faults
from made_up import GONE, count

from recordsilo import Silo
from recordsilo.extras import later
from recordsilo.index import PageRequest
from usagestats.entities.bundles import read_bundles
from usagestats.entities.mapping import key_of
from usagestats.store import queries
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.ledger import ImportedBlock, UsageLedger
from usagestats.store.paths import counts_path, settings_path
from webui.usage.world import country_name, world_map
from webui.words.locales import LOCALES
from webui.words.texts import spoken

PLAIN = "oai:example.org:1"
RIGHT_TO_LEFT = "oai:example.org:3"
WORLD = "customer_id=0000000000000000"
PERIOD = "begin_date=2026-01&end_date=2026-03"
PARTIAL = "counted from 2025-12-30 to 2026-03-09"


@pytest.fixture
def used(silo: Silo) -> Silo:
    count(silo.path, items=(PLAIN, RIGHT_TO_LEFT, GONE))
    return silo


def _rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))


def _table(page: str, key: str) -> list[list[str]]:
    """The table of a chart."""
    found = re.search(rf'<figure class="chart" id="{key}">.*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    assert found
    rows = re.findall(r"<tr>(.*?)</tr>", found[1], re.DOTALL)
    return [re.findall(r">([^<>]+)</t[hd]>", row) for row in rows]


def test_without_logs_the_page_says_so(client: Any) -> None:
    assert "No access logs were imported yet" in client.get("/usage").text
    assert client.json("/usage.json") == {"usage": None}
    assert "Usage by month" not in client.get("/records/oai+example,org+1").text
    assert client.get("/usage/top").status == 200
    assert client.get("/usage/records/oai+example,org+1").status == 404


def test_the_charts_have_the_figures_of_the_counts(used: Silo, client: Any) -> None:
    page, told = client.get("/usage").text, client.json("/usage.json")
    with UsageCounts(used.path) as counts:
        total = counts.totals(Period("2025-12", "2026-03"))
        days = counts.days(Period("2025-12", "2026-03"))
    assert told["views"] == total.views == sum(one["views"] for one in told["days"])
    assert f"<dd>{total.views:,}</dd>" in page
    drawn = {row[0]: [int(n.replace(",", "")) for n in row[1:]] for row in _table(page, "days")}
    assert {day: [one.views, one.total_requests] for day, one in days} == {
        day: drawn[day] for day, _ in days
    }
    months = [[int(n.replace(",", "")) for n in row[1:]] for row in _table(page, "months")]
    assert [sum(column) for column in zip(*months, strict=True)] == [
        total.views, total.total_requests,
    ]  # fmt: skip
    rows = _rows(client.get("/usage/days.csv").text)
    place = rows[0].index("total_requests")
    assert sum(int(row[place]) for row in rows[1:]) == total.total_requests
    assert told["top"][0]["key"] == PLAIN


def test_countries_agree_with_their_csv(used: Silo, client: Any) -> None:
    told = client.json("/usage.json?from=2026-01&until=2026-02-10")
    rows = _rows(client.get("/usage/countries.csv?from=2026-01&until=2026-02-10").text)
    assert [[one["code"], one["name"]] for one in told["countries"]] == [
        row[:2] for row in rows[1:]
    ]
    assert [str(one["investigations"]) for one in told["countries"]] == [row[2] for row in rows[1:]]
    with UsageCounts(used.path) as counts:
        places = queries.countries(counts, Period("2026-01", "2026-02-10"))
    assert [one["investigations"] for one in told["countries"]] == [uses for _, uses, _ in places]


def test_the_most_used_of_a_kind(used: Silo, client: Any) -> None:
    page = client.get("/usage/top?kind=creator&from=2026-01&until=2026-02").text
    told = client.json("/usage/top.json?kind=creator&from=2026-01&until=2026-02")
    for one in told["top"]:
        assert one["key"] in page
    rows = _rows(client.get("/usage/top.csv?kind=creator&from=2026-01&until=2026-02").text)
    assert rows[0][0] == "Label"
    assert [row[4] for row in rows[1:-1]] == [one["key"] for one in told["top"]]
    label = told["top"][0]["label"]
    match = client.json(f"/usage/top.json?kind=creator&match={label[:3]}")
    assert label in {one["label"] for one in match["top"]}


def test_a_record_and_an_entity_have_pages(used: Silo, client: Any) -> None:
    assert "Usage by month, day and country" in client.get("/records/oai+example,org+1").text
    record = client.json("/usage/records/oai+example,org+1.json")
    assert record["views"] == sum(one["views"] for one in record["days"])
    rows = _rows(client.get("/usage/records/oai+example,org+1/days.csv").text)
    assert [row[0] for row in rows[1:]] == [one["day"] for one in record["days"]]
    entity = record["entities"][0]
    found = client.json(f"/usage/entities/{entity['key']}.json")
    assert PLAIN in {one["key"] for one in found["items"]}
    rows = _rows(client.get(f"/usage/entities/{entity['key']}/days.csv").text)
    uses = rows[0].index("total_investigations")
    assert sum(int(row[uses]) for row in rows[1:]) == found["total_investigations"]
    page = client.get(f"/usage/entities/{entity['key']}").text
    assert f"<dd>{found['views']:,}</dd>" in page
    rows = _rows(client.get(f"/usage/entities/{entity['key']}/records.csv").text)
    assert rows[-1][0] == "Totals"
    assert client.get(f"/usage/records/{GONE.replace(':', '+')}").status == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/usage?from=yesterday", 400),
        ("/usage?from=2026-02&until=2026-01", 400),
        ("/usage?by=colour", 400),
        ("/usage/top?kind=colour", 400),
        ("/usage/top?limit=0", 400),
        ("/usage/entities/x", 404),
        (f"/usage/entities/{key_of('n', 'nobody')}", 404),
        ("/usage/fragments/x", 404),
        ("/usage/fragments/top?kind=colour", 400),
        ("/usage/widgets/top?kind=colour", 400),
        ("/r51/reports/xx", 404),
        ("/r51/reports/IR", 404),
    ],
)
def test_what_is_refused(used: Silo, client: Any, path: str, status: int) -> None:
    assert client.get(path).status == status


def test_damaged_counts_are_told(silo: Silo, client: Any) -> None:
    Path(counts_path(silo.path)).parent.mkdir()
    Path(counts_path(silo.path)).write_bytes(b"no database " * 100)
    answer = client.get("/usage")
    assert answer.status == 500
    assert "cannot be read" in answer.text
    assert client.get("/records/oai+example,org+1").status == 200
    assert client.get(f"/r51/reports?{WORLD}").status == 503


def test_a_cluster_is_counted_as_one_and_apart_again(used: Silo, client: Any) -> None:
    creators = client.json("/usage/top.json?kind=creator")["top"]
    first, second = (one["label"] for one in creators[:2])
    fields = {"do": "same", "field-0": "creator", "to-0": first,
              "value-0-0": first, "value-0-1": second}  # fmt: skip
    answer = client.post("/clusters", fields)
    assert answer.status == 303
    assert "done=counted" in answer.headers["Location"]
    (bundle,) = read_bundles(used.path).members
    page = client.get(f"/usage/entities/{bundle}").text
    assert "Count them apart" in page
    assert page.count("<bdi>") == 2
    assert client.post(f"/usage/entities/{bundle}/separate", {}).status in {200, 303}
    assert not read_bundles(used.path).members
    assert client.post("/clusters", {"do": "same"}).status == 400


def test_fragments_and_widgets_are_for_other_pages(used: Silo, client: Any) -> None:
    fragment = client.get("/usage/fragments/top?limit=2")
    assert fragment.text.count("<li>") == 2
    assert "<html" not in fragment.text
    assert 'href="http://' in fragment.text
    widget = client.get("/usage/widgets/days")
    assert "frame-ancestors *" in widget.headers["Content-Security-Policy"]
    assert "<svg" in widget.text


def test_uses_are_an_order_and_a_column(used: Silo, client: Any) -> None:
    found = [row.identifier for row in used.search(page=_sorted("-uses")).rows]
    assert found[:2] == [PLAIN, RIGHT_TO_LEFT]
    rows = _rows(client.get("/search/results.csv?sort=-downloads").text)
    assert {"uses", "downloads"} <= set(rows[0])


def _sorted(name: str) -> Any:
    return PageRequest(sort=name)


def test_the_map_and_its_table() -> None:
    found = world_map([("DE", 100, 40), ("SG", 7, 1), ("XX", 2, 0)])
    assert [(one.name, one.on_map) for one in found.places] == [
        ("Germany", True),
        ("Singapore", False),
        ("Unknown country", False),
    ]
    assert [one.label for one in found.shapes if one.label] == ["Germany: 100"]
    assert found.summary.startswith("Uses by country. Most: Germany 100, Singapore 7")
    assert len(found.shapes) > 170
    assert world_map([]).summary == "No uses."


def test_the_form_of_an_import_has_the_logs_of_the_settings(
    silo: Silo, client: Any, tmp_path: Path
) -> None:
    form = "/jobs/new/usage-import"
    assert f'href="{form}"' in client.get("/usage").text
    assert "Name the access logs in usage/usage.toml" in client.get(form).text
    refused = client.ask("POST", "/jobs", fields={"kind": "usage-import", "logs": "/etc/passwd"})
    assert refused.status == 400
    (tmp_path / "access.log").touch()
    settings = Path(settings_path(silo.path))
    settings.parent.mkdir()
    settings.write_text(f"logs = ['{tmp_path}/access.log*']")
    assert client.json(form)["listed"] == [f"{tmp_path}/access.log*"]
    assert 'name="kind" value="usage-import"' in client.get(form).text
    settings.write_text("logs = ['/nowhere/access.log']\n[report]\nx = 'y'")
    page = client.get(form).text
    assert "[report]: there is no setting" in page
    assert silo.path not in page


@pytest.mark.parametrize(
    ("said", "name"), [("en", "Germany"), ("de", "Deutschland"), ("fr", "Allemagne")]
)
def test_countries_are_named_in_the_language_of_the_page(
    used: Silo, client: Any, said: str, name: str
) -> None:
    with spoken(said):
        assert world_map([("de", 100, 40)]).summary.count(name) == 1
    page = client.ask("GET", "/usage", headers={"Accept-Language": said}).text
    assert f">{name}</th>" in page


@pytest.mark.parametrize("language", LOCALES)
def test_every_country_of_the_map_has_a_name(language: str) -> None:
    shapes = json.loads((files("webui") / "usage" / "world.json").read_text("utf-8"))["paths"]
    with spoken(language):
        assert [code for code in shapes if country_name(code) == code] == []
        assert country_name("QQ") == "QQ"


def test_many_countries_are_folded() -> None:
    found = world_map([(f"Q{number}", 99 - number, 1) for number in range(13)])
    assert (len(found.first), len(found.others)) == (10, 3)
    assert found.first + found.others == found.places
    few = world_map([(f"Q{number}", 99 - number, 1) for number in range(12)])
    assert (len(few.first), few.others) == (12, ())


def test_the_colours_of_the_map_tell_countries_apart() -> None:
    found = world_map([("GB", 4000, 9), ("DE", 700, 9), ("IT", 300, 9)])
    assert [one.css for one in found.shapes if one.label] != ["shade5"] * 3
    assert found.legend[0] == ("shade1", 300)
    assert len({one.css for one in found.shapes if one.label}) == 3


# -- the COUNTER API ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ir", "ir_a1", "ir_m1", "pr", "pr_p1"])
def test_reports_by_the_api_keep_the_rules(used: Silo, client: Any, name: str) -> None:
    report = client.json(f"/r51/reports/{name}?{WORLD}&{PERIOD}")
    assert list(faults(report)) == []
    if name == "ir":
        ids = {one["Item_ID"]["Proprietary"] for one in report["Report_Items"][0]["Items"]}
        assert f"silo:{PLAIN}" in ids


def test_the_api_lists_reports_and_members(used: Silo, client: Any) -> None:
    assert client.json("/r51/status") == [
        {"Description": "COUNTER usage reports of Example Archive", "Service_Active": True}
    ]
    found = client.json(f"/r51/reports?{WORLD}")
    assert [one["Path"] for one in found] == [
        f"/r51/reports/{name}" for name in ("pr", "pr_p1", "ir", "ir_a1", "ir_m1")
    ]
    assert {one["First_Month_Available"] for one in found} == {"2025-12"}
    assert {one["Last_Month_Available"] for one in found} == {"2026-03"}
    (member,) = client.json(f"/r51/members?{WORLD}")
    assert member["Institution_Name"] == "The World"


@pytest.mark.long
@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        (PERIOD, 400, 1030),
        (f"customer_id=1&{PERIOD}", 403, 2010),
        (WORLD, 400, 1030),
        (f"{WORLD}&begin_date=2026-03&end_date=2026-01", 400, 3020),
        (f"{WORLD}&begin_date=2026-01-05&end_date=2026-01-31", 400, 3020),
        (f"{WORLD}&begin_date=2026-01&end_date=2026-03-30", 400, 3020),
        (f"{WORLD}&begin_date=2026-02-30&end_date=2026-03", 400, 3020),
        (f"{WORLD}&begin_date=2026-1&end_date=2026-03", 400, 3020),
        (f"{WORLD}&begin_date=2026-01&end_date=2026-13", 400, 3020),
        (f"{WORLD}&begin_date=0000-01&end_date=2026-01", 400, 3020),
        (f"{WORLD}&begin_date=today&end_date=2026-01", 400, 3020),
        (f"{WORLD}&begin_date=2026-01", 400, 1030),
        (f"{WORLD}&begin_date=2999-01&end_date=2999-02", 400, 3020),
    ],
)
def test_refusals_are_exceptions(
    used: Silo, client: Any, query: str, status: int, code: int
) -> None:
    answer = client.get(f"/r51/reports/ir?{query}")
    assert (answer.status, answer.json["Code"]) == (status, code)


def test_what_is_ignored_is_named_in_the_report(used: Silo, client: Any) -> None:
    more = "metric_type=Total_Item_Requests|Clicks&foo=1&include_component_details=True"
    report = client.json(
        f"/r51/reports/ir?{WORLD}&begin_date=2025-01&end_date=2026-02&{more}&attributes_to_show=X"
    )
    codes = [one["Code"] for one in report["Report_Header"]["Exceptions"]]
    assert {3032, 3050, 3060, 3062, 3063, 0} <= set(codes)
    assert report["Report_Header"]["Report_Filters"]["Metric_Type"] == ["Total_Item_Requests"]
    assert list(faults(report)) == []


def _told(report: Any) -> tuple[list[str], dict[int, str]]:
    """The bounds of a report, and its exceptions above 999 with their data."""
    header = report["Report_Header"]
    filters = header["Report_Filters"]
    codes = {one["Code"]: one.get("Data", "") for one in header.get("Exceptions", [])}
    codes = {code: data for code, data in codes.items() if code > 999}
    return [filters["Begin_Date"], filters["End_Date"]], codes


@pytest.mark.parametrize(
    ("begin", "end", "bounds", "codes"),
    [
        ("2026-01", "2026-02", "2026-01-01 2026-02-28", {}),
        ("2026-01-01", "2026-02-28", "2026-01-01 2026-02-28", {}),
        ("2025-11", "2025-12", "2025-11-01 2025-12-31",
         {3032: "usage is available from 2025-12", 3040: PARTIAL}),
        ("2020-01", "2020-02", "2020-01-01 2020-02-29", {3032: "usage is available from 2025-12"}),
        ("2026-03", "2026-05", "2026-03-01 2026-05-31",
         {3031: "2026-04 to 2026-05", 3040: PARTIAL}),
        ("2026-05", "2026-05", "2026-05-01 2026-05-31", {3031: "2026-05"}),
    ],
)  # fmt: skip
def test_months_without_usage_are_told(
    used: Silo, client: Any, begin: str, end: str, bounds: str, codes: dict[int, str]
) -> None:
    report = client.json(f"/r51/reports/ir?{WORLD}&begin_date={begin}&end_date={end}")
    assert _told(report) == (bounds.split(), codes)
    assert list(faults(report)) == []


def test_months_that_are_not_over_are_cut_off(used: Silo, client: Any) -> None:
    report = client.json(f"/r51/reports/ir?{WORLD}&begin_date=2026-03&end_date=9999-12")
    first = datetime.now(UTC).date().replace(day=1)
    bounds = ["2026-03-01", str(first - timedelta(days=1))]
    assert _told(report) == (bounds, {3031: "2026-04 to 9999-12", 3040: PARTIAL})


def test_usage_that_was_not_counted_is_not_reported_as_none(silo: Silo, client: Any) -> None:
    _, codes = _told(client.json(f"/r51/reports/ir?{WORLD}&{PERIOD}"))
    assert codes == {3031: "2026-01 to 2026-03"}
    count(silo.path, items=(PLAIN,))
    with UsageLedger(silo.path) as ledger:
        ledger.add("x", "2026-02-04", ImportedBlock(b"", None, {"2026-02-03": ("f", 1)}), {})
    _, codes = _told(client.json(f"/r51/reports/pr?{WORLD}&{PERIOD}&data_type=Patent"))
    assert codes == {3040: "not counted yet: 2026-02-03"}
    two = f"{WORLD}&begin_date=2026-01&end_date=2026-01&data_type=Patent"
    assert _told(client.json(f"/r51/reports/pr?{two}"))[1] == {3030: ""}


def test_years_of_publication_are_named_once(used: Silo, client: Any) -> None:
    more = "yop=2001|2001|1999-2000|2010-2009|new"
    report = client.json(f"/r51/reports/ir?{WORLD}&{PERIOD}&{more}")
    assert report["Report_Header"]["Report_Filters"]["YOP"] == ["2001", "1999-2000"]
    assert _told(report)[1][3060] == "yop: 2010-2009, new"


FEBRUARY = "begin_date=2026-02&end_date=2026-02"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "query", "filters", "attributes", "codes"),
    [
        ("ir", "", {}, {}, {}),
        ("ir", "access_method=Regular|TDM", {}, {}, {}),
        ("ir", "access_method=TDM", {"Access_Method": ["TDM"]}, {}, {}),
        ("ir", "access_type=Open|Controlled|Free_To_Read&yop=0001-9999", {}, {}, {}),
        ("pr", "granularity=Totals", {}, {"Granularity": "Totals"}, {}),
        ("pr", "granularity=Total", {}, {"Granularity": "Totals"}, {}),
        ("pr", "granularity=Month", {}, {}, {}),
        ("pr", "granularity=Day", {}, {}, {3062: "granularity: Day"}),
        ("pr", "data_type=Book", {"Data_Type": ["Book"]}, {}, {3030: ""}),
        ("ir", "data_type=Book", {}, {}, {3060: "data_type: Book"}),
        ("ir", "yop=0000", {}, {}, {3060: "yop: 0000"}),
        ("ir", "platform=Example%20Archive", {"Platform": "Example Archive"}, {}, {}),
        ("ir_a1", "platform=Example%20Archive", {"Platform": "Example Archive"}, {}, {}),
        ("ir_a1", "platform=x", {}, {}, {3060: "platform: x; this is Example Archive"}),
        ("ir_a1", "yop=2001&data_type=Image", {}, {}, {3050: "data_type, yop"}),
        ("pr", "include_parent_details=True&yop=2001", {}, {},
         {3050: "include_parent_details, yop"}),
        ("pr", "country_code=GB", {}, {}, {3060: "country_code: GB"}),
        ("ir", "attributes_to_show=Country_Code|YOP", {}, {"Attributes_To_Show": ["YOP"]},
         {3062: "attributes_to_show: Country_Code"}),
        ("ir", "include_parent_details=True", {}, {"Include_Parent_Details": "True"}, {}),
        ("ir", "include_parent_details=false", {}, {}, {}),
        ("ir", "include_parent_details=perhaps", {}, {},
         {3062: "include_parent_details: perhaps"}),
        ("ir", "include_component_details=True", {}, {"Include_Component_Details": "True"},
         {3063: ""}),
        ("pr", "metric_type=Searches_Platform", {"Metric_Type": ["Searches_Platform"]}, {},
         {3040: "not counted here: Searches_Platform"}),
    ],
)  # fmt: skip
def test_filters_and_attributes_are_in_the_header_or_an_exception_says_why_not(
    used: Silo, client: Any, name: str, query: str, filters: dict[str, Any],
    attributes: dict[str, Any], codes: dict[int, str],
) -> None:  # fmt: skip
    report = client.json(f"/r51/reports/{name}?{WORLD}&{FEBRUARY}&{query}")
    header = report["Report_Header"]
    fixed = {"Begin_Date", "End_Date"}
    if name == "ir_a1":
        fixed |= {"Access_Method", "Data_Type", "Metric_Type"}
    told = {key: value for key, value in header["Report_Filters"].items() if key not in fixed}
    assert told == filters
    assert header.get("Report_Attributes", {}) == attributes
    assert _told(report)[1] == ({3030: ""} if name == "ir_a1" else {}) | codes
    assert list(faults(report)) == []


def test_people_and_machines_are_together_unless_one_is_asked_for(used: Silo, client: Any) -> None:
    def uses(more: str) -> int:
        report = client.json(f"/r51/reports/pr?{WORLD}&{FEBRUARY}&{more}")
        (platform,) = report["Report_Items"]
        return sum(
            one["Performance"]["Total_Item_Investigations"]["2026-02"]
            for one in platform["Attribute_Performance"]
        )

    people, machines = uses("access_method=Regular"), uses("access_method=TDM")
    assert machines > 0
    assert uses("") == people + machines


def test_a_page_whose_package_is_not_installed_says_so(
    client: Any, used: Silo, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(queries, "np", later("numpy_that_is_not_there", "silo usage", "usage"))
    answer = client.get("/usage", headers={"Accept": "text/html"})
    assert answer.status == 503
    assert "needs the package numpy-that-is-not-there, which is not installed" in answer.text
    assert client.get("/usage.json").error["code"] == "package_missing"
    assert "install it: " in caplog.text
    assert "Traceback" not in caplog.text
