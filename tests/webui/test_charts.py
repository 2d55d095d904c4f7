"""Charts: their geometry matches their table, and text is always escaped."""

import itertools
import re
from html import escape
from typing import Any
from xml.etree import ElementTree

import pytest

from oaipmhscraper.harvests.past_harvests import PastHarvest
from recordsilo import Silo
from webui.charts.by_year import by_year, years_of_all
from webui.charts.pictures import (
    BarFigures,
    Picture,
    Series,
    bars,
    columns,
    histogram,
    sparkline,
)
from webui.charts.scale import binned, short, ticks
from webui.harvest_lines import HarvestLine, harvest_history, line_of
from webui.job_view import JobOutcome
from webui.rendering import _FOR_ALL, _lookup

RECORDS = Series("Records")
RUNS = (Series("New", "ok"), Series("Updated"), Series("Deleted", "bad"))
ATTACK = "<script>alert(1)</script>\"'&"


def drawn(picture: Picture) -> ElementTree.Element:
    figure = _lookup().get_template("charts.mako").get_def("figure")
    return ElementTree.fromstring(figure.render_unicode(picture=picture, key="k", **_FOR_ALL))


def numbers(picture: Picture) -> list[list[float]]:
    """The table's figures, without its first column."""
    return [[float(re.sub(r"[^\d.]", "", cell)) for cell in row.cells[1:]] for row in picture.rows]


def test_ticks_are_round_and_reach_the_largest_value() -> None:
    assert ticks(0) == (0, 1)
    assert ticks(1) == (0, 1)
    assert ticks(7) == (0, 2, 4, 6, 8)
    assert ticks(100) == (0, 50, 100)
    assert ticks(1_234)[-1] >= 1_234
    assert [short(n) for n in (0, 950, 1_200, 25_000, 3_000_000)] == [
        "0",
        "950",
        "1.2k",
        "25k",
        "3M",
    ]


@pytest.mark.parametrize("counts", [{2001: 3, 2002: 0, 2005: 12}, {1999: 1}, {-5: 2, 5: 4}])
def test_the_bars_of_a_histogram_are_as_high_as_its_table_says(counts: dict[int, int]) -> None:
    picture = histogram("Records by year", binned(counts), series=RECORDS)
    found = {row.cells[0]: int(row.cells[1]) for row in picture.rows}
    assert {year: count for year, count in counts.items() if count} == {
        int(year): count for year, count in found.items() if count
    }
    years = [int(year) for year in found]
    assert years == list(range(years[0], years[-1] + 1))
    heights = [one.height for one in picture.boxes]
    top = ticks(max(counts.values()))[-1]
    assert heights == pytest.approx([150 * count / top for count in found.values() if count])


def test_many_years_are_put_together_and_no_record_is_lost() -> None:
    counts = dict.fromkeys(range(1700, 2020), 10) | {1: 2, 9999: 3}
    found = binned(counts)
    assert len(found.bins) <= 101
    assert (found.before, found.after) == (2, 3)
    assert found.before + found.after + sum(one.count for one in found.bins) == sum(counts.values())
    picture = histogram("Records by year", found, series=RECORDS)
    assert sum(row[0] for row in numbers(picture)) == sum(counts.values())
    assert picture.rows[0].cells == ("Before 1700", "2")


def test_two_years_far_apart_are_both_shown() -> None:
    found = binned({1: 1, 2020: 1})
    assert (found.before, found.after) == (0, 0)
    assert sum(one.count for one in found.bins) == 2


def test_chosen_years_stand_out_and_every_year_has_its_link_in_picture_and_table() -> None:
    picture = histogram(
        "Records by year",
        binned({2001: 3, 2002: 4}),
        series=RECORDS,
        chosen=(2002, 2002),
        url=lambda first, last: f"/search?year={first}..{last}",
    )
    assert [one.css for one in picture.boxes] == ["soft", "main"]
    assert [one.url for one in picture.boxes] == [row.url for row in picture.rows]
    svg = drawn(picture).find("svg")
    assert svg is not None
    assert svg.get("role") == "group"
    assert [one.get("tabindex") for one in svg.iter("a")] == ["-1", "-1"]


def test_stacked_columns_stand_on_each_other() -> None:
    picture = columns(
        "Harvests", "Run", RUNS, [BarFigures("1", (5, 3, 2)), BarFigures("2", (0, 10, 0))]
    )
    first = picture.boxes[:3]
    assert [one.height / first[0].height * 5 for one in first] == pytest.approx([5, 3, 2])
    assert first[1].y + first[1].height == pytest.approx(first[0].y)
    assert numbers(picture) == [[5, 3, 2], [0, 10, 0]]
    assert [name for _tone, name in picture.legend] == ["New", "Updated", "Deleted"]


def test_horizontal_bars_are_as_long_as_their_figures() -> None:
    data = [BarFigures("Title", (97.5,)), BarFigures("Licence", (0,)), BarFigures("x" * 80, (12,))]
    picture = bars("Completeness", "Field", Series("Records with it"), data, top=100, unit="%")
    widths = [one.width for one in picture.boxes if one.css == "main"]
    assert widths == [97.5, 12]
    assert picture.rows[0].cells == ("Title", "97.5%")
    assert max(len(one.text) for one in picture.labels) <= 36
    assert picture.rows[2].cells[0] == "x" * 80


def test_a_chart_says_what_one_sees_at_first() -> None:
    two = [BarFigures("Thesis", (20,)), BarFigures("Article", (120,))]
    picture = bars("Types", "Type", RECORDS, two)
    assert picture.caption == "Article has the most: 120."
    assert "Article has the most: 120." in "".join(drawn(picture).itertext())
    assert columns("Types", "Type", (RECORDS,), two).caption == picture.caption
    assert histogram("Years", binned({2001: 3, 2002: 4}), series=RECORDS).caption == (
        "2002 has the most: 4."
    )
    assert bars("Types", "Type", RECORDS, two, unit="%").caption == "Thesis is the lowest: 20%."
    assert bars("Types", "Type", RECORDS, [two[0]] * 2).caption == "All are alike: 20."
    assert bars("Types", "Type", RECORDS, two[:1]).caption == ""
    assert not bars("Types", "Type", RECORDS, two[::-1]).caption  # the first bar says it


def test_a_long_label_is_whole_where_there_is_room() -> None:
    name = "Theses for the national e-theses service of all universities"
    narrow, figure = bars("Sets", "Set", RECORDS, [BarFigures(name, (1,))], whole=True).labels
    assert (len(narrow.text) <= 36, narrow.longer, figure.longer) == (True, name, "")
    svg = drawn(bars("Sets", "Set", RECORDS, [BarFigures(name, (1,))], whole=True)).find("svg")
    assert svg is not None
    assert [one.get("class") for one in svg.iter("text")] == ["brief", "longer", ""]


def test_a_sparkline_has_the_figures_of_its_table() -> None:
    picture = sparkline(
        "Records by year", "Year", [BarFigures("2001", (2,)), BarFigures("2002", (4,))]
    )
    assert [one.height for one in picture.boxes] == pytest.approx([11, 22])
    assert numbers(picture) == [[2], [4]]


def test_sparklines_of_a_list_share_their_years_and_tell_their_own() -> None:
    counts = [{"2001": 2, "2003": 4}, {"1990": 1, "1991": 1}]
    bins = years_of_all(counts)
    pictures = [by_year(one, bins) for one in counts]
    assert [numbers(one) for one in pictures] == [[[2], [0], [4]], [[1], [1]]]
    assert "From 2001 to 2003; the largest is 2003: 4." in pictures[0].summary
    assert min(one.x for one in pictures[0].boxes) > max(one.x for one in pictures[1].boxes)
    assert len(years_of_all([{"1500": 10, "2024": 10}])) <= 31
    assert years_of_all([{}]) == ()


@pytest.mark.parametrize(
    "picture",
    [
        histogram("Records by year", binned({}), series=RECORDS),
        columns("Harvests", "Run", RUNS, []),
        bars("Completeness", "Field", RECORDS, []),
    ],
)
def test_a_picture_of_nothing_says_so(picture: Picture) -> None:
    assert picture.is_empty
    figure = drawn(picture)
    assert figure.find("svg") is None
    assert "Nothing to show yet." in "".join(figure.itertext())


def test_no_bar_is_wider_than_an_eighth() -> None:
    assert columns("Harvests", "Run", RUNS[:1], [BarFigures("1", (5,))]).boxes[0].width < 12.5


def test_nothing_leaves_the_picture() -> None:
    data = [BarFigures(str(n), (n % 7, 1, 0)) for n in range(300)]
    picture = columns("Harvests", "Run", RUNS, data)
    for box in picture.boxes:
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= 100.001
        assert box.y + box.height <= picture.height
    assert len([one for one in picture.labels if one.anchor != "end" or one.y > 160]) <= 6


def test_labels_below_the_axis_fit_a_phone() -> None:
    data = [BarFigures(f"2026-01-{day:02}", (day,)) for day in range(1, 29)]
    below = [one.text for one in columns("Harvests", "Run", RUNS[:1], data).labels if one.y > 170]
    assert len(below) > 1
    assert sum(len(text) + 2 for text in below) <= 40


@pytest.mark.parametrize("runs", [2, 3, 7, 20])
def test_labels_below_the_axis_do_not_touch(runs: int) -> None:
    data = [BarFigures("2026-01-01", (1,))] * runs
    places = [one.x for one in columns("Harvests", "Run", RUNS[:1], data).labels if one.y > 170]
    assert places
    width = len("2026-01-01") * (100 - 12) / 40  # percent of 320 px
    assert all(later - one > width for one, later in itertools.pairwise(places))


def test_every_picture_has_a_name_a_description_and_its_table() -> None:
    figure = drawn(
        bars(
            "Completeness", "Field", RECORDS, [BarFigures("Title", (3,)), BarFigures("Year", (1,))]
        )
    )
    svg = figure.find("svg")
    assert svg is not None
    assert svg.get("role") == "img"
    assert svg.get("aria-label") == "Completeness. From Title to Year; the largest is Title: 3."
    assert [one.text for one in figure.iter("td")] == ["3", "1"]
    assert [one.get("scope") for one in figure.iter("th")] == ["col", "col", "row", "row"]


def test_values_are_text_and_nothing_has_a_style_of_its_own() -> None:
    picture = columns(ATTACK, ATTACK, [Series(ATTACK)], [BarFigures(ATTACK, (1,), "/?a=1&b=2")])
    figure = drawn(picture)  # well-formed: nothing broke out
    assert not list(figure.iter("script"))
    assert all("style" not in one.attrib for one in figure.iter())
    assert ATTACK in "".join(figure.itertext())


def test_the_page_of_quality_draws_its_figures(client: Any, silo: Silo) -> None:
    quality = client.json("/quality.json")
    missing = {one["code"]: one["count"] for one in quality["findings"]}
    total = len(silo) - silo.count(deleted=True)
    share = (total - missing["Q501"]) * 1000 // total / 10
    assert quality["complete"]["Type"] == share
    page = client.get("/quality").text
    assert re.search(rf'>Type</a></th><td data-label="[^"]+">{share:g}%</td>', page)
    for field in ("title", "creator", "date", "type"):
        url = f"/search/fields?deleted=false&field={field}&kind=blank"
        assert f'href="{escape(url)}"' in page
    url = "/search/fields.json?deleted=false&field=title&kind=blank"
    having = {one["group"]: one["records"] for one in client.json(url)["groups"]}
    assert having["a value"] == total - missing.get("Q101", 0) > 0
    assert 'href="/search/fields?kind=blank"' in page
    (of_set,) = quality["without_findings"].values()
    assert 0 <= of_set <= 100 - max(missing.values()) * 100 // total
    assert 'id="by-set"' not in client.get("/quality?set=7374617475733D707562").text


def test_the_history_of_harvests_has_the_oldest_first() -> None:
    lines = [
        HarvestLine("b", "2026-02-01T00:00:00", "oai_dc", "whole", JobOutcome("done", "Whole"), (),
                    {}, {"new": 1, "updated": 5, "deleted": 2}),
        HarvestLine("a", "2026-01-01T00:00:00", "oai_dc", "open", JobOutcome("failed", "Open"), (),
                    {}, {"new": 90}),
    ]  # fmt: skip
    picture = harvest_history(lines)
    assert [row.cells for row in picture.rows] == [
        ("2026-01-01", "90", "0", "0"), ("2026-02-01", "1", "5", "2"),
    ]  # fmt: skip


def test_a_record_in_several_formats_counts_once_and_days_with_two_harvests_have_their_times() -> (
    None
):
    def harvest(moment: str, **new: int) -> PastHarvest:
        lists = [
            {"metadata_prefix": name, "counts": {"new": n, "deleted": 1}} for name, n in new.items()
        ]
        receipt = {"started": moment, "counts": {"new": sum(new.values())}, "lists": lists}
        return PastHarvest("a", receipt, "whole", "", ())

    lines = [
        line_of(harvest("2026-02-02T00:00:00Z", oai_dc=7)),
        line_of(harvest("2026-02-01T11:30:00Z", oai_dc=3, mets=2)),
        line_of(harvest("2026-02-01T09:15:00Z", mets=20, oai_dc=30)),
    ]
    assert [row.cells for row in harvest_history(lines).rows] == [
        ("2026-02-01 09:15", "30", "0", "1"),
        ("2026-02-01 11:30", "3", "0", "1"),
        ("2026-02-02", "7", "0", "1"),
    ]
