"""Windows: however they are split, planned or joined, together they cover the request."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oaipmhclient.walk.windows import (
    COMFORTABLE,
    DAWN,
    LARGE,
    MOST_PLANNED,
    Sight,
    Window,
    around,
    cut,
    cut_at,
    is_granule,
    merged,
    number_of,
    of_at_most,
    parts_wanted,
    plan,
    read_length,
    span,
    text_of_number,
)
from oaipmhprotocol import Granularity
from politeweb.errors import RequestRefused

DAY, SECOND = Granularity.DAY, Granularity.SECOND
NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)

moments = st.datetimes(datetime(1, 1, 2), datetime(9998, 1, 1)).map(  # noqa: DTZ001 - made aware
    lambda moment: moment.replace(tzinfo=UTC, microsecond=0)
)
granularities = st.sampled_from(Granularity)


@st.composite
def windows(draw, granularity):
    """Any window, open or not."""
    first, last = sorted(draw(st.lists(moments, min_size=2, max_size=2)))
    bounds = [
        text_of_number(number_of(one.isoformat(), granularity), granularity)
        for one in (first, last)
    ]
    return Window(*(bound if draw(st.booleans()) else None for bound in bounds))


def assert_is(parts, window, granularity):
    """Adjacent, in order, and together the window."""
    assert (parts[0].from_, parts[-1].until) == (window.from_, window.until)
    for one, other in pairwise(parts):
        assert number_of(one.until, granularity) + 1 == number_of(other.from_, granularity)
    for one in parts:
        if one.from_ and one.until:
            assert one.from_ <= one.until
    assert merged(parts) == window


@given(st.data(), granularities, st.integers(2, 40), moments, moments, st.none() | moments)
def test_parts_are_the_window_and_nothing_is_between_them(
    data, granularity, parts, one, other, likely_end
):
    window = data.draw(windows(granularity))
    first, last = sorted([one, other])
    found = cut(window, parts, first, last, granularity, likely_end=likely_end)
    assert bool(found) != is_granule(window) or not found
    assert len(found) != 1
    if found:
        assert len(found) <= max(parts, 3)
        assert_is(found, window, granularity)


def test_most_parts_lie_where_the_records_probably_do():
    whole = Window("2015-01-01", None)
    found = cut(whole, 8, DAWN, NOW, DAY, likely_end=datetime(2015, 3, 1, tzinfo=UTC))
    assert_is(found, whole, DAY)
    assert sum(one.until is not None and one.until <= "2015-03-01" for one in found) == 6
    assert found[-1].from_ > "2019"
    assert cut(whole, 8, DAWN, NOW, DAY, likely_end=NOW) == cut(whole, 8, DAWN, NOW, DAY)


def test_where_a_sorted_list_ends_is_told_by_how_it_began():
    first, last = datetime(2015, 1, 1, tzinfo=UTC), datetime(2015, 1, 3, tzinfo=UTC)
    sight = Sight(1, 100, 1_000, 0.5, first, last, safe_from="2015-01-03")
    assert sight.likely_end == datetime(2015, 1, 21, tzinfo=UTC)
    assert replace(sight, safe_from=None).likely_end is None
    assert replace(sight, promised=None).likely_end is None
    assert replace(sight, latest=None).likely_end is None
    assert replace(sight, earliest=datetime.min.replace(tzinfo=UTC)).likely_end is None


@settings(deadline=None)
@given(st.data(), granularities, moments, st.integers(1, 5000))
def test_planned_windows_are_the_window_and_not_too_many(data, granularity, moment, hours):
    window = data.draw(windows(granularity))
    found = plan(window, timedelta(hours=hours), DAWN, max(moment, DAWN), granularity)
    assert 1 <= len(found) <= MOST_PLANNED + 1
    assert_is(found, window, granularity)


@given(st.data(), granularities, st.integers(0, 9))
def test_windows_of_so_many_records_have_what_is_wanted_and_no_more_records(
    data, granularity, most
):
    window = data.draw(windows(granularity))
    first = number_of(window.from_ or window.until or "2010-01-01T00:00:00Z", granularity)
    records = data.draw(st.lists(st.integers(max(1, first - 9), first + 30)).map(sorted))
    wanted = [one for one in records if one % 3 == 0]
    found = of_at_most(most, window, records, wanted, granularity)
    inside = {
        one: [at for at in records if of_at_most(1, one, [at], [at], granularity)]
        for one in (window, *found)
    }
    assert all(len(at) <= max(1, most) or len(set(at)) == 1 for at in map(inside.get, found))
    covered = sorted(at for one in found for at in inside[one])
    assert [at for at in covered if at in wanted] == [at for at in inside[window] if at in wanted]
    assert all(set(inside[one]) & set(wanted) for one in found)


@given(st.data(), granularities, moments, moments)
def test_what_lies_around_is_cut_off_and_kept(data, granularity, one, other):
    window = data.draw(windows(granularity))
    found = around(window, *sorted([one, other]), granularity)
    if found:
        assert_is(found, window, granularity)


@given(st.data(), granularities)
def test_any_window_can_be_cut_down_to_one_granule_in_few_steps(data, granularity):
    window = data.draw(windows(granularity))
    for _ in range(64):
        parts = cut(window, 2, DAWN, NOW, granularity)
        if not parts:
            break
        window = data.draw(st.sampled_from(parts))
    low = number_of(window.from_, granularity) if window.from_ else None
    high = number_of(window.until, granularity) if window.until else None
    assert window.from_ is None or window.until is None or low == high


@given(granularities, moments)
def test_a_granule_and_its_number_are_one(granularity, moment):
    text = text_of_number(number_of(moment.isoformat(), granularity), granularity)
    assert Granularity.of(text) is granularity
    assert text_of_number(number_of(text, granularity), granularity) == text


def test_a_window_is_cut_in_equal_parts_with_open_ends():
    first, last = datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 4, tzinfo=UTC)
    assert cut(Window(), 2, first, last, DAY) == (
        Window(None, "2020-01-02"),
        Window("2020-01-03", None),
    )


def test_a_granule_is_not_cut():
    assert cut(Window("2020-01-01", "2020-01-01"), 2, DAWN, NOW, DAY) == ()


def test_a_window_open_at_its_end_is_cut_though_all_its_records_are_of_one_day():
    found = cut(Window(), 8, NOW, NOW, DAY)
    assert_is(found, Window(), DAY)
    assert Window("2024-06-01", "2024-06-01") not in found or len(found) <= 3


def test_a_beginning_in_the_year_1_costs_one_window_only():
    found = plan(Window(), timedelta(days=14), datetime(1, 1, 1, tzinfo=UTC), NOW, DAY)
    assert len(found) == MOST_PLANNED + 1
    assert found[0].from_ is None
    assert found[0].until > "1985"
    assert found[-1] == Window("2024-05-19", None)


def test_a_window_is_cut_at_a_datestamp_within_it_only():
    assert cut_at(Window("2020-01-01", "2020-12-31"), "2020-06-01", DAY) == (
        Window("2020-01-01", "2020-05-31"),
        Window("2020-06-01", "2020-12-31"),
    )
    assert cut_at(Window("2020-01-01", "2020-12-31"), "2021-06-01", DAY) == ()


@pytest.mark.parametrize("said", ["0001-01-01", "1970-01-01", "", "never", "2031-01-01"])
def test_an_earliest_datestamp_that_cannot_be_is_no_guess(said):
    assert span(said, NOW) == (DAWN, NOW)


def test_an_earliest_datestamp_is_believed_unless_records_are_older():
    said = datetime(2012, 5, 1, tzinfo=UTC)
    older = datetime(2010, 5, 1, tzinfo=UTC)
    assert span("2012-05-01", NOW) == (said, NOW)
    assert span("2012-05-01", NOW, [older]) == (older, NOW)


# --- when cutting pays


def test_a_large_list_is_cut_to_a_comfortable_size():
    parts = parts_wanted(Sight(1, 100, 60_000), free_lanes=0)
    assert 60_000 / parts <= COMFORTABLE


def test_a_small_list_that_comes_fast_stays_one():
    assert parts_wanted(Sight(1, 100, LARGE, seconds=0.01), free_lanes=5) == 0


def test_a_list_is_cut_where_pages_are_slow_and_requests_are_free():
    sight = Sight(1, 100, 2_000, seconds=0.5)
    assert parts_wanted(sight, free_lanes=5) == 9
    assert parts_wanted(sight, free_lanes=0) == 0


def test_a_part_of_a_list_is_cut_sooner_than_a_list_whose_windows_nobody_tried():
    sight = Sight(1, 100, 700, seconds=0.5)
    assert parts_wanted(sight, free_lanes=5) == 0
    assert parts_wanted(replace(sight, is_part=True), free_lanes=5) == 3


def test_the_rest_of_an_unsorted_list_is_not_thrown_away_late():
    sight = Sight(7, 700, 2_000, seconds=2.0)
    assert parts_wanted(sight, free_lanes=5) == 0
    sorted_one = Sight(7, 700, 2_000, seconds=2.0, safe_from="2020-01-01")
    assert parts_wanted(sorted_one, free_lanes=5) > 1


def test_a_list_without_a_number_is_cut_once_it_proves_long():
    assert parts_wanted(Sight(2, 200, None, seconds=2.0), free_lanes=5) == 0
    assert parts_wanted(Sight(4, 400, None, seconds=2.0), free_lanes=5) == 4
    assert parts_wanted(Sight(4, 400, None, seconds=0.1), free_lanes=5) == 0


# --- lengths


@pytest.mark.parametrize(
    ("text", "days"),
    [("14d", 14), ("2w", 14), ("6m", 180), ("1y", 365), ("12h", 0.5), (" 3 D ", 3)],
)
def test_a_length_is_a_number_and_a_unit(text, days):
    assert read_length(text) == timedelta(days=days)


@pytest.mark.parametrize("text", ["", "14", "d", "0d", "-1d", "1.5d", "1 month", "9999999d"])
def test_what_is_no_length_is_refused(text):
    with pytest.raises(RequestRefused, match="14d"):
        read_length(text)
