"""The activity log: every line is found again, newest first, and nothing stops it."""

import os
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silocuration import activity as log
from silocuration.activity import (
    Activity,
    ActivityFilter,
    Effort,
    activity,
    changes_of,
    is_place,
    log_activity,
    of_fields,
    of_file,
)
from silocuration.editing.fields import Field


def line(number: int, **more: str) -> Activity:
    known = {"agent": "ada", "action": "edit", "identifier": f"oai:x:{number}"}
    return Activity(f"2026-{1 + number // 100:02}-01T00:00:{number % 60:02}Z", **(known | more))


def test_lines_are_read_newest_first_and_on_from_any_place(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(log, "_BLOCK", 97)
    lines = [line(n, new="x" * (1 + n % 300)) for n in range(250)]
    for start in range(0, 250, 7):
        log_activity(str(tmp_path), lines[start : start + 7])
    found = list(activity(str(tmp_path), ActivityFilter()))
    assert [one for _, one in found] == [*reversed(lines)]
    for number in (0, 3, 49, 50, 51, 149, 249):
        place = found[number][0]
        assert is_place(place)
        assert list(activity(str(tmp_path), ActivityFilter(), place)) == found[number + 1 :]


def test_lines_are_found_by_who_what_when_and_any_text(tmp_path: Any) -> None:
    lines = [line(1, old="Ölçek"), line(2, agent="bob"), line(150, action="undo", job="j1")]
    log_activity(str(tmp_path), lines)

    def found(**wanted: str) -> list[Activity]:
        return [one for _, one in activity(str(tmp_path), ActivityFilter(**wanted))]

    assert found(text="öLÇEK") == [lines[0]]
    assert found(agent="bob") == [lines[1]]
    assert found(action="undo", text="J1") == [lines[2]]
    assert found(identifier="oai:x:1") == [lines[0]]
    assert found(since="2026-02") == [lines[2]]
    assert found(until="2026-01") == [lines[1], lines[0]]
    assert found(text="%' OR 1=1 --") == []
    assert found(text=".*") == []


WANTED = (
    ActivityFilter(),
    ActivityFilter(identifier="oai:x:7"),
    ActivityFilter(agent="bob"),
    ActivityFilter(agent="bob", action="undo", identifier="oai:x:8"),
    ActivityFilter(text="Strasse"),
    ActivityFilter(text="seven", since="2026-01", until="2026-02"),
    ActivityFilter(text="nowhere"),
)


@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("most", [1, 2000, 20_000])
def test_a_search_that_stops_goes_on_where_it_stopped(
    tmp_path: Any, monkeypatch: Any, wanted: ActivityFilter, most: int
) -> None:
    monkeypatch.setattr(log, "_BLOCK", 700)
    lines = [
        line(
            n % 40 if n % 3 else n,
            agent="bob" if n % 9 == 8 else "ada",
            action="undo" if n % 4 else "edit",
            new="Straße" if n % 11 == 0 else "seven" if n % 7 == 0 else "x" * (1 + n % 90),
        )
        for n in range(220)
    ]
    log_activity(str(tmp_path), lines)
    fitting = [one for one in lines if wanted.fits(one)]
    by_month = [one for month in ("2026-03", "2026-02", "2026-01") for one in reversed(fitting)
                if one.date.startswith(month)]  # fmt: skip
    found, before, steps = list[tuple[str, Activity]](), "", 0
    while True:
        effort = Effort(most)
        found += activity(str(tmp_path), wanted, before, effort)
        if not effort.stopped_at:
            break
        assert is_place(effort.stopped_at)
        assert effort.back_to in {one.date for one in lines}
        before, steps = effort.stopped_at, steps + 1
    assert [one for _, one in found] == by_month
    assert found == list(activity(str(tmp_path), wanted))
    assert steps > (2 if most < 20_000 else 0)


def test_each_search_goes_further_back_than_the_one_before(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(log, "_BLOCK", 100)
    lines = [line(0, new="x" * (1 if n % 2 else 900)) for n in range(6)]
    log_activity(str(tmp_path), lines)
    found, before = list[Activity](), ""
    for _ in lines:
        effort = Effort(1)
        found += [one for _, one in activity(str(tmp_path), ActivityFilter(), before, effort)]
        assert effort.stopped_at != before or not before
        before = effort.stopped_at
        if not before:
            break
    assert found == lines[::-1]


def test_lines_that_are_too_new_are_passed_over_without_effort(
    tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(log, "_BLOCK", 700)
    lines = [
        Activity(f"2026-01-{1 + n // 20:02}T{n % 20:02}:00:00Z", "ada", "edit", f"oai:x:{n}")
        for n in range(560)
    ]
    lines[55], lines[60] = lines[60], lines[55]  # two processes, around midnight
    log_activity(str(tmp_path), lines)
    for until in ("2026-01-03", "2026-01-03T10", "2026-01", "2026"):
        wanted = ActivityFilter(until=until)
        found = [one for _, one in activity(str(tmp_path), wanted)]
        assert found == [one for one in reversed(lines) if wanted.fits(one)]
    effort = Effort(40 * 5000)
    found = [
        one for _, one in activity(str(tmp_path), ActivityFilter(until="2026-01-03"), "", effort)
    ]
    assert len(found) > 5
    assert effort.stopped_at


def test_a_line_that_a_crash_left_unfinished_costs_nothing_else(tmp_path: Any) -> None:
    log_activity(str(tmp_path), [line(1)])
    path = os.path.join(tmp_path, "curation", "activity", "2026-01.jsonl")
    for torn in (b'{"date": "2026-01', b"[1]\n7\nnull\n\xff\n", b'{"odd": 1}\n', b"\n\n"):
        with open(path, "ab") as file:
            file.write(torn)
        log_activity(str(tmp_path), [line(2)])
    assert [one for _, one in activity(str(tmp_path), ActivityFilter())] == [line(2)] * 4 + [
        line(1)
    ]


def test_a_value_with_line_breaks_and_markup_stays_one_line(tmp_path: Any) -> None:
    odd = line(1, old='a\nb\r\u2028{"date": "x"}', new="<script>\ud800")
    log_activity(str(tmp_path), [odd, line(2)])
    shown = replace(odd, new="<script>?")
    assert [one for _, one in activity(str(tmp_path), ActivityFilter())] == [line(2), shown]


def test_what_went_stands_beside_what_came() -> None:
    before = (Field("title", "A"), Field("creator", "x"), Field("subject", "s", "en"))
    after = (Field("title", "B"), Field("title", "C"), Field("creator", "x"))
    assert of_fields(before, after) == [
        ("title", "A", "B"),
        ("title", None, "C"),
        ("subject", "s [en]", None),
    ]
    swapped = of_fields(before[:2], (before[1], before[0]))
    assert swapped == [("order", "A · x", "x · A")]
    assert of_fields(before, before) == []


def test_a_file_without_fields_is_told_by_its_size() -> None:
    assert of_file("a.pdf", None, b"12345") == [("a.pdf", None, "5 bytes")]
    assert of_file("a.pdf", b"12345", None) == [("a.pdf", "5 bytes", None)]
    assert of_file("a.pdf", b"x", b"x") == []


def test_a_change_without_a_value_is_a_line_too_and_a_long_value_is_cut() -> None:
    about = {"agent": "ada", "action": "copy", "identifier": "x", "version": "w"}
    assert len(changes_of([], **about)) == 1
    long = changes_of([("title", None, "x" * 100_000)], **about)[0].new
    assert long is not None
    assert len(long) == log.LONGEST_VALUE + 1


def test_a_decision_of_one_person_is_a_line(tmp_path: Any) -> None:
    log.log_one(str(tmp_path), "keep", "oai:x:1", "workingcopy", agent="ada")
    log.log_one(str(tmp_path), "mark", "oai:x:1", "1", ("duplicate of", None, "x"), agent="bob")
    found = [one for _, one in activity(str(tmp_path), ActivityFilter())]
    assert [(one.agent, one.action, one.what, one.new) for one in found] == [
        ("bob", "mark", "duplicate of", "x"),
        ("ada", "keep", "", None),
    ]


_TOLD = ("ada", "Ölçek", "ABC", "a", "\u212a", "k", 'a"b', "?", "\ud800", "")


@given(
    st.lists(st.tuples(*[st.sampled_from(_TOLD)] * 3, st.integers(0, 250)), max_size=12),
    st.builds(
        ActivityFilter,
        *[st.sampled_from(_TOLD[:-2])] * 2,
        identifier=st.sampled_from(("", "a", "oai:x:3")),
        since=st.sampled_from(("", "2026-02", "2026-01-01T00:00:30Z")),
        until=st.sampled_from(("", "2026-01", "2026-01-01T00:00:30")),
    ),
)
def test_lines_that_are_not_parsed_do_not_match(
    told: list[tuple[str, str, str, int]], wanted: ActivityFilter
) -> None:
    lines = [
        Activity(line(number).date, agent, "edit", f"oai:x:{number}", old=old, message=said)
        for agent, old, said, number in sorted(told, key=lambda one: one[3])
    ]
    with TemporaryDirectory() as place:
        log_activity(place, lines)
        whole = [one for _, one in activity(place, ActivityFilter())]
        assert [one for _, one in activity(place, wanted)] == [*filter(wanted.fits, whole)]
