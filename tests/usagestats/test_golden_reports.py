"""Reports of every kind: each is the golden file of its name, byte for byte.

`python test_golden_reports.py` writes the files anew, to be read before they are committed.
COUNTER's own validator found nothing in them that is not the metadata's: items without a title or
type, and a first month of which only a part was counted.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from counter_rules import faults
from day_items import DayItem, replace_day

from recordsilo import Silo
from recordsilo.disk.atomic_file import make_directory
from usagestats.entities.usage import Usage
from usagestats.reports.as_json import as_json
from usagestats.reports.as_table import BYTE_ORDER_MARK, as_table
from usagestats.reports.asking import filtered, months_asked
from usagestats.reports.definitions import REPORTS
from usagestats.reports.making import ReportRequest, UsageReport
from usagestats.reports.of_silo import counted_of, report_of
from usagestats.reports.platform import platform_of
from usagestats.store.counts import UsageCounts
from usagestats.store.ledger import UsageLedger
from usagestats.store.paths import place, settings_path
from usagestats.values import Figures

GOLDEN = Path(__file__).parent / "golden_reports"
NOW = datetime(2026, 4, 2, 8, 30, tzinfo=UTC)
SETTINGS = """[report]
platform = "Wexcombe Research"
namespace = "wex"
publisher = "University of Wexcombe"
created_by = "University Library"
registry_record = "https://registry.countermetrics.org/platform/b2b2736c-2cb9-48ec-91f4-870336acfb1c"
"""
EVERYTHING = "|".join(REPORTS["IR"].attributes)
RECORDS = {
    "oai:x:1": {
        "title": ["Solar cells"], "type": ["Article", "info:eu-repo/semantics/publishedVersion"],
        "creator": ["Smith, A.; Jones, B.; M&uuml;ller, C.; Fourth, D."], "date": ["2019-02-03"],
        "source": ["Journal of Weather; Vol 3 No 1 (2019); 1-20", "ISSN 1234-567X"],
        "identifier": ["https://doi.org/10.5555/wex.1"], "publisher": ["Some; Publisher"],
    },
    "oai:x:2": {
        "title": ["=Wind, and rain"], "type": ["article"], "creator": ["Ben", "Swan, Eve"],
        "date": ["2018-02-30", "2018"], "source": ["JOURNAL OF WEATHER, ISSN 1234-567X"],
        "rights": ["http://purl.org/coar/version/c_ab4af688f83e57aa"],
    },
    "oai:x:3": {
        "title": ["A chapter"], "type": ["Book chapter"], "creator": ["Chap, T."],
        "source": ["In: The Big Book, pp. 3-9"], "identifier": ["http://example.org/with|bar"],
    },
    "oai:x:4": {
        "title": ["A whole book"], "type": ["Book"], "identifier": ["978-3-16-148410-0"],
    },
    "oai:x:5": {"title": ["A\tfilm"], "type": ["Video"], "identifier": ["http://example.org/5"]},
    "oai:x:6": {"type": ["Thesis"], "source": ["University of Wexcombe"], "date": ["1999"]},
    "oai:x:7": {"title": ["مقالة"], "type": ["Article"], "creator": ["كاتب"]},
}  # fmt: skip
FILTERS = (
    "author=Jones, B.&yop=2015|2018-2020&data_type=Article|Image&access_type=Open"
    "&metric_type=Total_Item_Requests&platform=Wexcombe Research&item_id=10.5555/wex.1"
)
ASKED = {
    "ir": ("IR", ""),
    "ir_everything": ("IR", f"attributes_to_show={EVERYTHING}&include_parent_details=True"),
    "ir_total": ("IR", "include_parent_details=True&granularity=Totals&access_method=TDM"),
    "ir_filters": ("IR", FILTERS),
    "ir_components": ("IR", "include_component_details=True&data_type=Thesis_or_Dissertation"),
    "ir_none": ("IR", "data_type=Patent"),
    "ir_a1": ("IR_A1", ""),
    "ir_m1": ("IR_M1", ""),
    "pr": ("PR", ""),
    "pr_methods": ("PR", "attributes_to_show=Access_Method"),
    "pr_searches": ("PR", "metric_type=Searches_Platform|Total_Item_Requests"),
    "pr_p1": ("PR_P1", ""),
}
PERIODS = {"ir_none": ("2026-02", "2026-02"), "pr_p1": ("2025-11", "2026-05")}


def make(path: str) -> None:
    """Make a Silo with usage of January to March 2026, of people and of machines."""
    with Silo(path, identifier_uri_prefix="oai:x:") as silo:
        for identifier, fields in RECORDS.items():
            record = silo.get_item(identifier)
            record.put_stream("oai_dc", _dublin_core(fields), metadata=True)
            record.sync()
    make_directory(place(path))
    Path(settings_path(path)).write_text(SETTINGS)
    with UsageLedger(path) as ledger:
        ledger.end("1", {"robots": "list 2; of two parts"})
    with UsageCounts(path, "create") as counts, counts.changing() as change:
        for number in range((date(2026, 3, 31) - date(2026, 1, 1)).days + 1):
            day = date(2026, 1, 1) + timedelta(number)
            replace_day(change, str(day), _uses(number))


def _dublin_core(fields: dict[str, list[str]]) -> bytes:
    inner = "".join(
        f"<dc:{name}>{text.replace('&', '&amp;')}</dc:{name}>"
        for name, texts in fields.items()
        for text in texts
    )
    return (
        '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{inner}</oai_dc:dc>'
    ).encode()


def _uses(number: int) -> Iterator[DayItem]:
    for place_of, item in enumerate((*RECORDS, "oai:x:gone")):
        views, downloads = 1 + (number * 7 + place_of) % 3, (number + place_of) % 2
        figures = Figures(
            views + downloads, downloads, max(1, views - 1) + downloads, downloads,
            0, views, downloads, 0, views,
        )  # fmt: skip
        if (number + place_of) % 3:
            yield DayItem(item, False, figures, 0, 0)
        if (number + place_of) % 5 == 0:
            yield DayItem(item, True, Figures(2, 1, 1, 1, 0, 1, 1, 0, 1), 0, 0)


def report(usage: Usage, name: str) -> UsageReport:
    """Make a report of `ASKED`."""
    report_id, query = ASKED[name]
    definition = REPORTS[report_id]
    first, last = PERIODS.get(name, ("2026-01", "2026-03"))
    months, told = months_asked(first, last, counted_of(usage, NOW.date()))
    asked = dict(one.split("=", 1) for one in query.split("&") if one)
    platform = platform_of(usage.silo.path).name
    wanted, ignored = filtered(ReportRequest(tuple(months)), definition, asked, platform)
    return report_of(usage, definition, wanted, now=NOW, notices=[*told, *ignored])


def forms(found: UsageReport) -> dict[str, bytes]:
    """The report in its forms, by the end of their names."""
    text = json.dumps(as_json(found), ensure_ascii=False, indent=1) + "\n"
    return {
        "json": text.encode(),
        "tsv": (BYTE_ORDER_MARK + as_table(found)).encode(),
        "csv": (BYTE_ORDER_MARK + as_table(found, ",")).encode(),
    }


@pytest.fixture(scope="module")
def usage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Usage]:
    path = str(tmp_path_factory.mktemp("golden") / "silo")
    make(path)
    with Silo(path, create=False) as silo, Usage(silo) as found:
        yield found


@pytest.mark.parametrize("name", ASKED)
def test_a_report_is_its_golden_file(usage: Usage, name: str) -> None:
    found = report(usage, name)
    assert list(faults(as_json(found))) == []
    for end, content in forms(found).items():
        assert content.decode() == (GOLDEN / f"{name}.{end}").read_text(encoding="utf-8")


def test_every_report_has_golden_files() -> None:
    assert {report_id for report_id, _ in ASKED.values()} == set(REPORTS)
    expected = {f"{name}.{end}" for name in ASKED for end in ("json", "tsv", "csv")}
    assert {one.name for one in GOLDEN.iterdir()} == expected


def _write() -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "silo")
        make(path)
        with Silo(path, create=False) as silo, Usage(silo) as usage:
            for name in ASKED:
                for end, content in forms(report(usage, name)).items():
                    (GOLDEN / f"{name}.{end}").write_bytes(content)


if __name__ == "__main__":
    sys.exit(_write())
