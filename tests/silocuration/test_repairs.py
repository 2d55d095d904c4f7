"""Repairs of findings: what is certain is repaired, everything else stays."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo import Silo
from silocuration.batch.job import preview
from silocuration.batch.specs import rules_job, summary
from silocuration.editing.fields import Field
from silocuration.editing.repairs import REPAIRS, repaired
from silocuration.editing.rule_files import from_table, rule_from, rule_to_table
from silocuration.editing.rules import Repair, apply
from silocuration.errors import RuleRefused

EXAMPLES = [
    ("Q202", "[2016]", "2016"),
    ("Q202", "©2016.", "2016"),
    ("Q202", "20160331", "2016-03-31"),
    ("Q202", "2016-31-03", "2016-03-31"),
    ("Q202", "31-03-2016", "2016-03-31"),
    ("Q202", "2016-03-00", "2016-03"),
    ("Q202", "2016-00-00", "2016"),
    ("Q202", "2016/17", "2016/2017"),
    ("Q202", "forthcoming", "forthcoming"),
    ("Q202", "03-04-2016", "03-04-2016"),
    ("Q202", "2016-99-99", "2016-99-99"),
    ("Q202", "3 March 2016", "3 March 2016"),
    ("Q401", "English", "en"),
    ("Q401", "Français.", "fr"),
    ("Q401", "[eng]", "eng"),
    ("Q401", "Englisch, glaube ich", "Englisch, glaube ich"),
    ("Q602", "http:// example.org/a", "http://example.org/a"),
    ("Q602", "https://example.org/a b.pdf", "https://example.org/a%20b.pdf"),
    ("Q602", "doi:10.1234 / abc", "doi:10.1234/abc"),
    ("Q602", "http://a.org http://b.org", "http://a.org http://b.org"),
    ("Q602", "http://a.org/x (PDF)", "http://a.org/x (PDF)"),
    ("Q602", "doi:10.12", "doi:10.12"),
    ("Q701", "NÃºria", "Núria"),
    ("Q701", "M\ufffdller", "M\ufffdller"),
    ("Q702", "H<sub>2</sub>O &amp; more", "H2O & more"),
    ("Q702", "&lt;p&gt;Bees&lt;/p&gt;<p>Wasps</p>", "Bees Wasps"),
    ("Q702", "a < b", "a < b"),
]


@pytest.mark.parametrize(("finding", "before", "after"), EXAMPLES)
def test_only_what_is_certain_is_repaired(finding: str, before: str, after: str) -> None:
    assert repaired(before, finding) == after


@given(st.sampled_from(sorted(REPAIRS)), st.text(min_size=1, max_size=40))
def test_a_second_time_changes_nothing(finding: str, text: str) -> None:
    once = repaired(" ".join(text.split()) or "x", finding)
    assert repaired(once, finding) == once


def test_the_rule_is_stored_and_told() -> None:
    rule = Repair("date", "Q202")
    assert rule_from(rule_to_table(rule)) == rule
    fields = (Field("date", "[2016]", place=0), Field("title", "[2016]", place=1))
    assert [one.text for one in apply([rule], fields)] == ["2016", "[2016]"]
    assert summary({"rules": {"change": [rule_to_table(rule)]}}) == "Date: repair Q202"


def test_a_finding_without_a_repair_is_refused() -> None:
    with pytest.raises(RuleRefused, match="'Q101' is not a finding that a rule repairs; those are"):
        rule_from({"do": "repair", "field": "title", "finding": "Q101"})


def test_the_records_with_a_finding_are_repaired(
    silo: Silo, fill: Callable[..., list[str]]
) -> None:
    fill(3, date=["[2016]", "2015"])
    rules = from_table({
        "select": {"finding": ["Q202"]},
        "change": [{"do": "repair", "field": "date", "finding": "Q202"}],
    })  # fmt: skip
    found = preview(silo, rules_job(rules))
    assert (found.records, found.changed, found.values) == (3, 3, 3)
