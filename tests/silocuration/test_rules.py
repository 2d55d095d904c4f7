"""What each rule does to the fields of a record."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silocuration.editing import rules
from silocuration.editing.fields import Field, Fields, said
from silocuration.editing.patterns import PATTERN_SECONDS
from silocuration.editing.rules import (
    Add,
    Case,
    ChangeCase,
    MapValues,
    Move,
    Remove,
    Replace,
    ReplacePattern,
    Rule,
    SetLanguage,
    SetValues,
    Split,
    Trim,
    apply,
    check,
)
from silocuration.errors import PatternTooSlow, RecordTooSlow, RuleRefused, TooMuch

BEFORE: Fields = (
    Field("title", "the  Tides", "en", 0),
    Field("subject", "Physics", "en", 1),
    Field("subject", "physics; tides", "", 2),
    Field("type", "Journal Article", "", 3),
    Field("type", "PeerReviewed", "", 4),
)


def after(*given: Rule, fields: Fields = BEFORE) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in apply(given, fields):
        found.setdefault(one.name, []).append(one.text + (f"@{one.lang}" if one.lang else ""))
    return found


@pytest.mark.parametrize(
    ("rule", "name", "values"),
    [
        (SetValues("subject", ("a", "b", "c")), "subject", ["a", "b", "c"]),
        (SetValues("subject", ("a",), "fr"), "subject", ["a@fr"]),
        (SetValues("subject", ()), "subject", []),
        (SetValues("rights", ("open",)), "rights", ["open"]),
        (Add("type", "Preprint"), "type", ["Journal Article", "PeerReviewed", "Preprint"]),
        (Add("type", "PeerReviewed"), "type", ["Journal Article", "PeerReviewed"]),
        (Replace("type", "Journal  Article", "article"), "type", ["article", "PeerReviewed"]),
        (Replace("title", "the Tides", "x"), "title", ["x@en"]),
        (ReplacePattern("type", r"^(\w+) Art.*", r"\1"), "type", ["Journal", "PeerReviewed"]),
        (
            ReplacePattern("subject", "PHYS", "Meta", True),
            "subject",
            ["Metaics@en", "Metaics; tides"],
        ),
        (Remove("type", value="PeerReviewed"), "type", ["Journal Article"]),
        (Remove("subject", pattern="tid"), "subject", ["Physics@en"]),
        (Remove("subject"), "subject", []),
        (Split("subject", ";"), "subject", ["Physics@en", "physics", "tides"]),
        (Trim("title"), "title", ["the Tides@en"]),
        (Trim("title", "ths"), "title", ["e Tide@en"]),
        (ChangeCase("title", Case.SENTENCE), "title", ["The  tides@en"]),
        (ChangeCase("type", Case.TITLE), "type", ["Journal Article", "Peerreviewed"]),
        (
            MapValues("type", {"PeerReviewed": "", "Journal Article": "article"}),
            "type",
            ["article"],
        ),
        (SetLanguage("subject", "de"), "subject", ["Physics@de", "physics; tides@de"]),
        (SetLanguage("subject", "de", only=""), "subject", ["Physics@en", "physics; tides@de"]),
        (Move("type", "format", value="PeerReviewed"), "format", ["PeerReviewed"]),
    ],
)
def test_a_rule_changes_its_field(rule: Rule, name: str, values: list[str]) -> None:
    found = after(check(rule))
    assert found.get(name, []) == values
    untouched = {one.name for one in BEFORE} - {rule.field, name}
    assert {field: found[field] for field in untouched} == {
        field: after()[field] for field in untouched
    }


def test_only_the_value_meant_is_replaced_among_several() -> None:
    fields = (Field("creator", "Ada", "", 0), Field("creator", "Bob", "", 1))
    assert said(apply([Replace("creator", "Bob", "Robert")], fields)) == (
        ("creator", "Ada", ""),
        ("creator", "Robert", ""),
    )


def test_a_value_made_equal_to_another_is_left_out() -> None:
    fields = (Field("type", "article", "", 0), Field("type", "Article", "", 1))
    assert after(Replace("type", "Article", "article"), fields=fields) == {"type": ["article"]}


def test_doubles_that_were_there_before_stay() -> None:
    fields = (Field("type", "a", "", 0), Field("type", "a", "", 1), Field("date", "1", "", 2))
    assert after(Replace("date", "1", "2"), fields=fields) == {"type": ["a", "a"], "date": ["2"]}


def test_rules_follow_one_another() -> None:
    found = after(
        Split("subject", ";"), ChangeCase("subject", Case.LOWER), SetLanguage("subject", "")
    )
    assert found["subject"] == ["physics", "tides"]


def test_a_pattern_without_end_is_stopped() -> None:
    fields = (Field("title", "a" * 5000 + "!", "", 0),)
    with pytest.raises(PatternTooSlow, match="takes too long"):
        apply([Remove("title", pattern=r"^(a|aa)+$")], fields)


def test_a_long_value_may_become_shorter_but_not_longer() -> None:
    fields = (Field("title", "ab" * 100_000, "", 0),)
    (shorter,) = apply([ReplacePattern("title", "^ab", "")], fields)
    assert len(shorter.text) == 199_998
    with pytest.raises(TooMuch, match="a value of more than 200,000 characters"):
        apply([ReplacePattern("title", "a", "aa")], fields)


def test_a_value_is_not_split_into_very_many() -> None:
    fields = (Field("title", "a;" * 10_000, "", 0),)
    with pytest.raises(TooMuch, match="more than 10,000 values"):
        apply([Split("title", ";")], fields)
    assert len(apply([Split("title", "a;a")], fields)) == 1


def test_very_many_slow_values_end_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "RECORD_SECONDS", 0.2)
    fields = tuple(Field("title", "a" * 2000 + str(n), "", n) for n in range(2000))
    begun = time.thread_time()
    with pytest.raises(RecordTooSlow, match=r"more than 0\.2 seconds on one record"):
        apply([Remove("title", pattern="a*(?:b|c)")], fields)
    assert time.thread_time() - begun < 0.2 + 2 * PATTERN_SECONDS


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (ReplacePattern("title", "(", "x"), "not a valid pattern"),
        (ReplacePattern("title", "a", r"\3"), "not a valid replacement"),
        (Remove("title", pattern="["), "not a valid pattern"),
        (Remove("title", value="a", pattern="a"), "not both"),
        (Split("title", ""), "separator"),
        (Add("", "x"), "name the field"),
        (Add("title", "x" * 100_001), "has 100,001 characters; shorten it to 100,000"),
        (MapValues("title", {"x": "y" * 100_001}), "100,001 characters"),
        (SetValues("title", ("y" * 100_001,)), "100,001 characters"),
    ],
)
def test_a_rule_that_means_nothing_is_refused(rule: Rule, sentence: str) -> None:
    with pytest.raises(RuleRefused, match=sentence):
        check(rule)


texts = st.text(st.characters(codec="utf-8", categories=("L", "N", "Zs", "P")), max_size=12)
records = st.lists(
    st.builds(
        Field, st.sampled_from(["title", "type"]), texts, st.sampled_from(["", "en"]), st.none()
    ),
    max_size=6,
).map(lambda found: tuple(Field(f.name, f.text, f.lang, n) for n, f in enumerate(found)))
stable = st.one_of(
    st.builds(SetValues, st.just("type"), st.lists(texts, max_size=3).map(tuple)),
    st.builds(Add, st.just("type"), texts),
    st.builds(Remove, st.just("type"), texts),
    st.builds(SetLanguage, st.just("type"), st.just("en")),
    st.builds(ChangeCase, st.just("type"), st.sampled_from([Case.LOWER, Case.TITLE])),
    st.builds(Trim, st.just("type")),
)


@given(records, stable)
def test_a_rule_applied_twice_changes_nothing_more(fields: Fields, rule: Rule) -> None:
    once = apply([rule], fields)
    assert apply([rule], once) == once
    assert [one for one in once if one.name != "type"] == [
        one for one in fields if one.name != "type"
    ]


def test_every_rule_can_be_applied() -> None:
    assert set(rules._APPLY) == set(Rule.__args__)
