"""Records in columns are the records that they stand for."""

import pytest

from oaipmhclient.pages.bare_records import (
    BareHeaders,
    BareRecords,
    datestamps_of,
    identifiers_of,
    span_of_texts,
)
from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhclient.walk.page_facts import earliest_days, headers_of, names_on, safe_date, span_of
from oaipmhprotocol import Header, Record

NAMES = ("oai:x:1", "oai:x:2", "oai:x:3")
DATES = ("2010-01-01", "2010-01-03", "2010-01-02")


def bare(dates: tuple[str, ...] = DATES) -> BareRecords:
    return BareRecords(BareHeaders(NAMES, dates, frozenset({1})))


def whole(dates: tuple[str, ...] = DATES) -> list[Record]:
    made = zip(NAMES, dates, (False, True, False), strict=True)
    return [Record(Header(name, date, (), deleted)) for name, date, deleted in made]


def test_columns_are_a_sequence_of_records() -> None:
    records, same = bare(), whole()
    assert [*records] == same
    assert (len(records), records[0], records[-1]) == (3, same[0], same[-1])
    assert records[1:] == same[1:]
    assert [one.deleted for one in records.headers] == [False, True, False]
    assert same[1] in records
    with pytest.raises(IndexError):
        records[3]


@pytest.mark.parametrize(
    "dates",
    [
        DATES,
        tuple(sorted(DATES)),
        ("2010-01-01T00:00:00Z", "2009-12-31T23:59:59Z", "2011-01-01T00:00:00Z"),
        ("2010-01-01", "2010-01-01T12:00:00Z", "2009-01-01"),
        ("0000-00-00", "2010-01-01", "2010-02-30"),
        ("", "", ""),
    ],
)
@pytest.mark.parametrize(
    "known", [(None, None), ("2010-01-01", None), ("2009-01-01", "2010-01-01")]
)
def test_what_a_page_shows_is_the_same_from_columns(
    dates: tuple[str, ...], known: tuple[str | None, str | None]
) -> None:
    columns, page = ListPage(bare(dates)), ListPage(tuple(whole(dates)))
    bare_headers, headers = headers_of(columns), headers_of(page)
    assert names_on(columns) == names_on(page) == [*NAMES]
    assert [*identifiers_of(bare_headers)] == [*identifiers_of(headers)]
    assert [*datestamps_of(bare_headers)] == [*datestamps_of(headers)] == [*dates]
    assert span_of(bare_headers) == span_of(headers)
    assert earliest_days(known, bare_headers) == earliest_days(known, headers)
    assert safe_date(None, True, bare_headers, None) == safe_date(None, True, headers, None)


def test_the_span_is_told_only_where_the_order_of_texts_is_that_of_dates() -> None:
    assert span_of_texts(bare().headers) == ("2010-01-01", "2010-01-03")
    assert span_of_texts(bare(("2010-01-01", "2010-01-01T00:00:00Z", "2010")).headers) is None
    assert span_of_texts(bare(("2010-01-01", "2010-13-01", "2010-01-02")).headers) is None
    assert span_of_texts(headers_of(ListPage(tuple(whole())))) is None
