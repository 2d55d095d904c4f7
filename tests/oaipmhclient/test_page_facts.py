"""Facts about a list from its pages: order, loops, bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhclient.walk.page_facts import (
    are_outside,
    begins_before,
    earliest_days,
    is_remembered,
    parting_date,
    remembering,
    safe_date,
    share_one_identifier,
    span_of,
)
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import Granularity, Header, Record
from oaipmhprotocol.datestamps import read_datestamp


def headers(*dates):
    return [Header(f"oai:x:{number}", date) for number, date in enumerate(dates)]


@given(st.integers(0, 300), st.integers(1, 300))
def test_a_circle_of_any_length_is_noticed_and_nothing_else(tail, length):
    pages = [f"page {number}" for number in range(tail + length)]
    seen = ()
    for page in pages:
        assert not is_remembered(seen, page)
        seen = remembering(seen, page)
    asked = 0
    while not is_remembered(seen, page := pages[tail + asked % length]):
        seen = remembering(seen, page)
        asked += 1
    assert asked <= 3 * (tail + length)
    assert len(seen) <= 33


def test_the_first_page_is_remembered_for_ever():
    seen = ()
    for number in range(10_000):
        seen = remembering(seen, str(number))
    assert is_remembered(seen, "0")


def test_a_sorted_list_is_safe_up_to_its_last_date():
    first = safe_date(None, True, headers("2010-01-01", "2010-01-01", "2010-02-02"), None)
    assert first == "2010-02-02"
    assert safe_date(first, False, headers("2010-02-02", "2010-03-03"), None) == "2010-03-03"


@pytest.mark.parametrize("dates", [["2010-01-01"], ["2010-03-03", "2010-02-03"], [""], ["soon"]])
def test_a_list_that_is_not_sorted_has_no_safe_date_ever_again(dates):
    assert safe_date("2010-02-02", False, headers(*dates), None) is None
    assert safe_date(None, False, headers("2011-01-01"), None) is None


def test_an_empty_page_leaves_the_safe_date_where_it_was():
    assert safe_date("2010-02-02", False, [], None) == "2010-02-02"


def test_a_safe_date_is_written_in_the_granularity_of_windows():
    page = headers("2010-01-01T10:00:00Z")
    assert safe_date(None, True, page, None) == "2010-01-01T10:00:00Z"
    assert safe_date(None, True, page, Granularity.DAY) == "2010-01-01"
    assert safe_date(None, True, headers("2010-01-01 10:00:00.5+02:00"), None) == "2010-01-01"


@pytest.mark.parametrize(
    ("dates", "outside"),
    [
        (["2010-01-01", "2010-12-31T23:59:59Z"], False),
        (["2011-01-01T22:00:00Z", "2009-12-31T01:00:00Z"], False),  # local time, wide bounds
        (["2015-01-01", "2010-06-06", "2010-06-07"], False),  # one stray record
        (["2015-01-01", "2016-01-01", "2010-06-07"], True),
        (["1999-01-01"], True),
        (["", "someday"], False),
    ],
)
def test_most_of_a_page_has_to_lie_outside_the_window(dates, outside):
    assert are_outside(headers(*dates), Window("2010-01-01", "2010-12-31")) is outside


@pytest.mark.parametrize(
    ("dates", "span"),
    [
        (["2010-03-01", "2010-01-01", "2010-02-01"], ("2010-01-01", "2010-03-01")),
        (["2010-02-01", "0000-00-00", "unreadable", "2010-01-01"], ("2010-01-01", "2010-02-01")),
        (["2010-02-01", "2010-01-01T10:00:00Z"], ("2010-01-01T10:00:00Z", "2010-02-01")),
        (["0000-00-00"], None),
        ([], None),
    ],
)
def test_the_earliest_and_the_latest_date_of_a_page(dates, span):
    assert span_of(headers(*dates)) == (span and tuple(map(read_datestamp, span)))


def test_nothing_lies_outside_an_open_window_even_at_the_end_of_time():
    assert not are_outside(headers("9999-12-31", "0001-01-01"), Window())
    assert are_outside(headers("0001-01-01"), Window("9999-12-31", None))


def test_different_records_with_one_identifier_are_told_from_one_record_sent_twice():
    one, other = Record(Header("oai:x:1", ""), b"<a/>"), Record(Header("oai:x:1", ""), b"<b/>")
    assert share_one_identifier(ListPage((one, other)))
    assert not share_one_identifier(ListPage((one, one)))
    assert not share_one_identifier(ListPage((one,)))
    assert not share_one_identifier(ListPage((one, Record(Header("oai:x:2", "")))))


@pytest.mark.parametrize(
    ("dates", "is_all", "where"),
    [
        (["2010-01-01", "2010-01-02", "2010-01-03", "2010-01-04"], True, "2010-01-03"),
        (["2010-01-01", "2010-01-02", "2010-01-03", "2010-01-04"], False, "2010-01-04"),
        (["2010-01-04", "2010-01-01", "2010-01-03", "2010-01-02"], False, "2010-01-03"),
        (["2010-01-01", "2010-01-01", "2010-01-02"], True, "2010-01-02"),
        (["2010-01-01", "2010-01-01"], True, None),
        (["", "never"], False, None),
        ([], True, None),
    ],
)
def test_a_window_is_parted_so_that_both_parts_have_records(dates, is_all, where):
    assert parting_date(headers(*dates), is_all=is_all) == where


def test_the_two_earliest_days_of_a_list_are_known_after_every_page():
    first = earliest_days((None, None), headers("2010-03-03", "2010-03-03T01:02:03Z", "never"))
    assert first == ("2010-03-03", None)
    second = earliest_days(first, headers("2010-05-05", "2010-04-04"))
    assert second == ("2010-03-03", "2010-04-04")
    assert earliest_days(second, headers("2010-01-01")) == ("2010-01-01", "2010-03-03")
    assert earliest_days(second, []) == second


def test_records_before_a_day_are_told():
    assert begins_before(headers("2010-05-05", "2010-04-04"), "2010-05-05")
    assert not begins_before(headers("2010-05-05", "2010-05-06", ""), "2010-05-05")
