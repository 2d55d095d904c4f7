"""Datestamps of both granularities, strictly and as real repositories write them."""

import contextlib
import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oaipmhprotocol import DatestampError, Granularity, datestamps
from oaipmhprotocol.datestamps import (
    datestamp_or_none,
    format_datestamp,
    parse_datestamp,
    read_datestamp,
    unreadable,
)

granularities = st.sampled_from(Granularity)
zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(
    datetime(1, 1, 3),  # noqa: DTZ001 - hypothesis adds the zone
    datetime(9999, 12, 29),  # noqa: DTZ001 - hypothesis adds the zone
    timezones=zones,
)
NOON = datetime(2004, 6, 24, 12, 0, 0, tzinfo=UTC)


@settings(deadline=None, derandomize=True)
@given(moments, granularities)
def test_what_is_written_reads_as_the_beginning_of_its_granule(
    moment: datetime, granularity: Granularity
) -> None:
    text = format_datestamp(moment, granularity)
    assert parse_datestamp(text) == granularity.floor(moment)
    assert read_datestamp(text) == granularity.floor(moment)
    assert Granularity.of(text) is granularity


@settings(deadline=None, derandomize=True)
@given(moments, moments, granularities)
def test_datestamps_sort_as_text_as_they_do_in_time(
    one: datetime, other: datetime, granularity: Granularity
) -> None:
    texts = format_datestamp(one, granularity), format_datestamp(other, granularity)
    floors = granularity.floor(one), granularity.floor(other)
    assert (texts[0] < texts[1]) == (floors[0] < floors[1])


@settings(deadline=None, derandomize=True)
@given(moments, granularities)
def test_a_granule_begins_at_or_before_its_moments_and_is_one_step_long(
    moment: datetime, granularity: Granularity
) -> None:
    begin = granularity.floor(moment)
    assert begin <= moment < begin + granularity.step
    assert begin.tzinfo is UTC
    assert granularity.floor(begin) == begin


@settings(deadline=None, derandomize=True)
@given(moments)
def test_the_iso_form_of_any_zone_is_read_as_the_same_moment(moment: datetime) -> None:
    assert read_datestamp(moment.isoformat()) == Granularity.SECOND.floor(moment)


def test_years_have_four_digits() -> None:
    assert format_datestamp(datetime(1, 1, 1, tzinfo=UTC), Granularity.DAY) == "0001-01-01"


def test_the_granularities_are_spelled_as_on_the_wire() -> None:
    assert Granularity("YYYY-MM-DD") is Granularity.DAY
    assert Granularity("YYYY-MM-DDThh:mm:ssZ") is Granularity.SECOND


@pytest.mark.parametrize(
    "text",
    [
        "2004-06-24T12:00:00Z",
        " 2004-06-24T12:00:00Z\n",
        "2004-06-24 12:00:00",
        "2004-06-24T12:00:00",
        "2004-06-24T12:00:00z",
        "2004-06-24T12:00:00.123Z",
        "2004-06-24T12:00:00,999999999Z",
        "2004-06-24T12:00Z",
        "2004-06-24T14:00:00+02:00",
        "2004-06-24T06:30:00-0530",
        "2004-06-25T02:00:00+14:00",
        "2004-06-24T12:00:00 +00:00",
    ],
)
def test_loose_forms_are_read_as_the_moment_meant(text: str) -> None:
    assert read_datestamp(text) == NOON


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "never",
        "2004",
        "2004-06",
        "2004-6-24",
        "24.06.2004",
        "0000-00-00",
        "2004-02-30",
        "2004-13-01",
        "2004-06-24T",
        "2004-06-24T25:00:00Z",
        "2004-06-24T12",
        "2004-06-24T12:00:00+24:00",
        "2004-06-24T12:00:00+99:99",
        "2004-06-24T12:00:00Q",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "２００４-06-24",
        "2004-06-24T12:00:00Zx",
    ],
)
def test_what_is_no_datestamp_is_refused_by_either_reader(text: str) -> None:
    for reader in (parse_datestamp, read_datestamp):
        with pytest.raises(DatestampError) as refusal:
            reader(text)
        assert refusal.value.text == text


@pytest.mark.parametrize(
    "text",
    [
        "2004-06-24T12:00:00",
        "2004-06-24T12:00:00.0Z",
        " 2004-06-24",
        "2004-06-24 12:00:00Z",
        "2004-06-24T12:00:00+00:00",
        "2004-06-24T12:00Z",
        "2004-06-24\n",
    ],
)
def test_the_strict_reader_knows_two_forms_only(text: str) -> None:
    with pytest.raises(DatestampError):
        parse_datestamp(text)
    with pytest.raises(DatestampError):
        Granularity.of(text)


@settings(deadline=None, derandomize=True)
@given(st.text(max_size=30))
def test_any_other_text_is_a_datestamp_error_and_nothing_else(text: str) -> None:
    for reader in (parse_datestamp, read_datestamp):
        with contextlib.suppress(DatestampError):
            assert reader(text).tzinfo is UTC


def test_the_error_says_what_was_read_and_what_to_write() -> None:
    refusal = DatestampError("soon")
    assert (
        str(refusal) == "'soon' is not a datestamp; write YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ (UTC)"
    )


def test_the_error_survives_copying_and_pickling() -> None:
    refusal = DatestampError("soon")
    for again in (copy.copy(refusal), pickle.loads(pickle.dumps(refusal))):
        assert (again.text, str(again)) == (refusal.text, str(refusal))


@given(
    st.from_regex(
        r"[0-9]{4}-[0-9W]{2}-[0-9]{2}[T ][0-9]{2}[:.][0-9]{2}[:.][0-9]{2}[Zz]", fullmatch=True
    )
)
def test_the_usual_form_is_read_by_the_tolerant_reader_as_by_the_strict_one(text: str) -> None:
    try:
        strict = parse_datestamp(text)
    except DatestampError:
        return
    assert read_datestamp(text) == strict


@pytest.mark.parametrize(
    "text", ["2010-W01-1T00:00:00Z", "2010-01-01T120000.5Z", "2010-01-01T24:00:00Z"]
)
def test_other_iso_forms_of_the_same_length_are_no_datestamps(text: str) -> None:
    with pytest.raises(DatestampError):
        read_datestamp(text)


@settings(deadline=None, derandomize=True)
@given(
    st.lists(
        st.datetimes().map(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ"))
        | st.dates().map(str)
        | st.from_regex(r"\A[0-2]\d{3}-[0-3]\d-[0-4]\d(T[0-3]\d:[0-7]\d:[0-7]\dZ)?\Z")
        | st.sampled_from([
            "", "0000-00-00", "2010-01-01 00:00", "2012-02-29", "2013-02-29", "2010-04-31",
            "2010-01-01\n2010-01-02", "2010-01-01\n", "2010-01-01T24:00:00Z", "２０１０-01-01",
        ])
    )
)  # fmt: skip
def test_texts_that_cannot_be_read_are_found_among_many(texts):
    assert unreadable(texts) == [n for n, one in enumerate(texts) if not datestamp_or_none(one)]


def test_texts_of_the_usual_form_are_not_read_one_by_one(monkeypatch):
    monkeypatch.setattr(datestamps, "datestamp_or_none", None)
    assert unreadable(["2010-01-31", "2010-12-30T23:59:59Z", "1999-06-09T00:00:00Z"]) == []
