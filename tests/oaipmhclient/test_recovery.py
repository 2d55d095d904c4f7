"""The next step when a list breaks off: each row of the table."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.walk.endpoint_memory import Companions, EndpointMemory, Spelling
from oaipmhclient.walk.recovery import (
    ENDS,
    FIRST_PAGE,
    LATER_PAGE,
    Failure,
    Rung,
    Situation,
    failure_of,
    form_of,
    next_rung,
    remedy_for,
    spell,
)
from oaipmhclient.walk.values import GiveUp, RestartFrom, SplitWindow, WindowPosition
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import BadArgument, BadResumptionToken, Granularity, NoRecordsMatch, OAIError
from oaipmhprotocol.queries import query_string
from politeweb.errors import EndpointUnreachable, HTTPStatusError

YEAR = Window("2010-01-01", "2010-12-31")
DAY = Window("2010-05-05", "2010-05-05")
LATER = WindowPosition("to+ken", 2, 20, 50, "2010-03-03")


def situation(failure, position=LATER, window=YEAR, quirks=None, **more):
    facts = {"is_cut": True, "is_late": False, **more}
    return Situation(failure, position, window, quirks=quirks or EndpointMemory(), **facts)


def climbed(now):
    """Every rung that is tried until one ends the list or hands the window back."""
    rungs = []
    while not rungs or (rungs[-1] not in ENDS and remedy_for(rungs[-1], now) is None):
        rungs.append(next_rung(now, rungs))
        assert len(rungs) < 20
    return rungs


def test_every_failure_has_a_ladder_of_both_kinds():
    assert set(FIRST_PAGE) == set(LATER_PAGE) == set(Failure)


def test_a_refused_token_is_tried_in_every_form_before_the_window_is_begun_anew():
    assert climbed(situation(Failure.BAD_TOKEN)) == [
        Rung.AGAIN,
        Rung.VERBATIM,
        Rung.DOUBLE,
        Rung.WITH_PREFIX,
        Rung.WITH_ALL,
        Rung.VERBATIM_WITH_PREFIX,
        Rung.RESTART,
    ]


def test_only_spellings_that_differ_in_the_url_are_tried():
    plain = replace(LATER, token="token-1")
    assert climbed(situation(Failure.BAD_TOKEN, plain)) == [
        Rung.AGAIN,
        Rung.WITH_PREFIX,
        Rung.WITH_ALL,
        Rung.RESTART,
    ]


def test_nothing_is_sent_with_tokens_where_one_was_accepted_alone():
    now = situation(
        Failure.BAD_TOKEN, replace(LATER, token="t"), quirks=EndpointMemory(token_proved=True)
    )
    assert climbed(now) == [Rung.AGAIN, Rung.RESTART]


@pytest.mark.parametrize("failure", [Failure.BAD_TOKEN, Failure.NO_RECORDS, Failure.CIRCLE])
def test_a_list_that_has_all_it_promised_is_at_its_end(failure):
    assert climbed(situation(failure, replace(LATER, listed=50))) == [Rung.ALL_THERE]


def test_numbers_that_are_no_counts_do_not_end_a_list():
    now = situation(
        Failure.BAD_TOKEN, replace(LATER, listed=50), quirks=EndpointMemory(promises_kept=False)
    )
    assert climbed(now)[-1] is Rung.RESTART


def test_no_records_for_a_token_ends_a_list_without_promise_only_when_said_twice():
    now = situation(Failure.NO_RECORDS, replace(LATER, promised=None))
    assert climbed(now) == [Rung.AGAIN, Rung.UNPROMISED]


def test_an_empty_window_is_asked_for_twice_until_the_repository_is_believed():
    first = WindowPosition()
    assert climbed(situation(Failure.NO_RECORDS, first)) == [Rung.AGAIN, Rung.EMPTY]
    honest = EndpointMemory(empty_confirmed=3)
    assert climbed(situation(Failure.NO_RECORDS, first, quirks=honest)) == [Rung.EMPTY]
    fickle = EndpointMemory(empty_confirmed=3, empty_denied=1)
    assert climbed(situation(Failure.NO_RECORDS, first, quirks=fickle)) == [Rung.AGAIN, Rung.EMPTY]
    whole = situation(Failure.NO_RECORDS, first, Window(), honest)
    assert climbed(whole) == [Rung.AGAIN, Rung.EMPTY]


def test_an_unsorted_list_is_split_where_a_sorted_one_is_restarted():
    now = situation(Failure.NO_ANSWER)
    assert remedy_for(climbed(now)[-1], now) == RestartFrom("2010-03-03")
    unsorted = situation(Failure.NO_ANSWER, replace(LATER, safe_from=None))
    assert remedy_for(climbed(unsorted)[-1], unsorted) == SplitWindow()


@pytest.mark.parametrize("safe", ["2010-01-01", "2009-06-06"])
def test_a_restart_that_gets_nowhere_is_none(safe):
    assert climbed(situation(Failure.NO_ANSWER, replace(LATER, safe_from=safe))) == [Rung.SPLIT]


def test_a_token_of_an_earlier_run_restarts_the_window():
    now = situation(Failure.BAD_TOKEN, replace(LATER, safe_from=None, token="t"), is_late=True)
    assert remedy_for(climbed(now)[-1], now) == RestartFrom(None)


def test_a_single_granule_is_fetched_by_identifier_and_then_given_up():
    now = situation(Failure.NO_ANSWER, window=DAY, position=WindowPosition())
    assert climbed(now) == [Rung.BY_IDENTIFIER]
    hopeless = replace(now, quirks=EndpointMemory(identifiers_work=False))
    assert climbed(hopeless) == [Rung.GIVE_UP]
    assert remedy_for(Rung.GIVE_UP, hopeless) == GiveUp()


def test_refused_dates_are_sent_in_the_other_granularity_then_together_then_not_at_all():
    now = situation(Failure.BAD_ARGUMENT, WindowPosition(), Window("2010-01-01T00:00:00Z", None))
    assert climbed(now) == [Rung.OTHER_GRANULARITY, Rung.BOTH_BOUNDS, Rung.SINGLE_LIST]


def test_windows_that_were_answered_once_are_not_given_up_for_a_refusal():
    quirks = EndpointMemory(granularity=Granularity.DAY, windows_answered=4)
    assert climbed(situation(Failure.BAD_ARGUMENT, WindowPosition(), quirks=quirks)) == [
        Rung.BY_IDENTIFIER
    ]


def test_windows_that_never_get_an_answer_are_not_split_for_ever():
    quirks = EndpointMemory(windows_failed=6)
    assert climbed(situation(Failure.NO_ANSWER, WindowPosition(), quirks=quirks)) == [
        Rung.SINGLE_LIST
    ]


def test_a_list_that_ends_early_is_taken_up_at_its_safe_date():
    ended = replace(LATER, token=None)
    now = situation(Failure.EARLY_END, ended, has_last_page=True)
    assert climbed(now) == [Rung.LAST_PAGE, Rung.RESTART]


def test_an_unsorted_list_that_ends_early_is_split_after_its_promise_was_tested():
    ended = replace(LATER, token=None, safe_from=None)
    now = situation(Failure.EARLY_END, ended, test_date="2010-03-03")
    assert climbed(now) == [Rung.PROMISE_TESTED, Rung.AS_IT_WAS]
    assert remedy_for(Rung.AS_IT_WAS, now) == RestartFrom(None)
    assert climbed(replace(now, is_again=True)) == [Rung.PROMISE_TESTED, Rung.SPLIT]


def test_a_list_that_ends_on_a_page_shorter_than_the_others_is_left_to_its_identifiers():
    ended = replace(LATER, token=None)
    now = situation(Failure.EARLY_END, ended, has_short_page=True, test_date="2010-03-03")
    assert climbed(now) == [Rung.PROMISE_TESTED, Rung.SHORT_PAGE]


def test_a_list_short_of_a_few_records_is_left_to_its_identifiers():
    ended = replace(LATER, token=None, safe_from=None, listed=48)
    assert climbed(situation(Failure.EARLY_END, ended)) == [Rung.SHORT]


def test_a_number_that_is_known_to_be_no_count_is_not_believed():
    ended = replace(LATER, token=None)
    assert climbed(
        situation(Failure.EARLY_END, ended, quirks=EndpointMemory(promises_kept=False))
    ) == [Rung.UNBELIEVED]


def test_records_outside_a_window_that_was_cut_end_the_windows():
    dates = [Rung.WITH_ALL, Rung.WITH_DATES]
    assert climbed(situation(Failure.OUTSIDE)) == [*dates, Rung.SINGLE_LIST]
    assert climbed(situation(Failure.OUTSIDE, WindowPosition())) == [Rung.SINGLE_LIST]


def test_dates_that_are_sent_with_each_token_are_not_tried_again():
    known = EndpointMemory(companions=Companions.DATES, token_proved=True)
    assert climbed(situation(Failure.OUTSIDE, quirks=known)) == [Rung.SINGLE_LIST]


@pytest.mark.parametrize(
    ("cause", "failure"),
    [
        (NoRecordsMatch(), Failure.NO_RECORDS),
        (BadResumptionToken(), Failure.BAD_TOKEN),
        (BadArgument(), Failure.BAD_ARGUMENT),
        (OAIError(code="internalError"), Failure.OTHER_ERROR),
        (PageUnreadable("is an HTML page"), Failure.UNREADABLE),
        (EndpointUnreachable("http://x", "silence"), Failure.NO_ANSWER),
        (HTTPStatusError("http://x", 502), Failure.NO_ANSWER),
        (HTTPStatusError("http://x", 403), Failure.REFUSED),
    ],
)
def test_an_exception_is_a_kind_of_failure(cause, failure):
    assert failure_of(cause) is failure


@pytest.mark.parametrize(
    ("spelling", "in_url"),
    [
        (Spelling.ENCODED, "t=a%2Bb%2F%26amp%3Bc"),
        (Spelling.VERBATIM, "t=a+b/&amp;c"),
        (Spelling.DOUBLE, "t=a%252Bb%252F%2526amp%253Bc"),
        (Spelling.UNESCAPED, "t=a%2Bb%2F%26c"),
    ],
)
def test_a_token_is_spelled_in_four_ways(spelling, in_url):
    assert query_string({"t": spell("a+b/&amp;c", spelling)}) == in_url


def test_what_helped_is_where_the_next_token_begins():
    quirks = EndpointMemory(Spelling.VERBATIM, Companions.PREFIX)
    assert form_of(None, quirks) == (Spelling.VERBATIM, Companions.PREFIX)
    assert form_of(Rung.ENCODED, quirks) == (Spelling.ENCODED, Companions.PREFIX)
    assert form_of(Rung.WITH_ALL, quirks) == (Spelling.VERBATIM, Companions.ALL)


positions = st.builds(
    WindowPosition,
    token=st.none() | st.sampled_from(["t", "a+b", "&amp;"]),
    pages=st.integers(0, 5),
    listed=st.integers(0, 60),
    promised=st.none() | st.integers(0, 60),
    safe_from=st.none() | st.sampled_from(["2010-01-01", "2010-05-05", "2010-12-31"]),
)
quirks_of_any_kind = st.builds(
    EndpointMemory,
    spelling=st.sampled_from(Spelling),
    companions=st.sampled_from(Companions),
    token_proved=st.booleans(),
    granularity=st.none() | st.sampled_from(Granularity),
    both_bounds=st.booleans(),
    windows_work=st.booleans(),
    windows_answered=st.integers(0, 2),
    windows_failed=st.integers(0, 9),
    identifiers_work=st.booleans(),
    promises_kept=st.booleans(),
    empty_confirmed=st.integers(0, 4),
    empty_denied=st.integers(0, 1),
)


@given(
    st.builds(
        Situation,
        st.sampled_from(Failure),
        positions,
        st.sampled_from([YEAR, DAY, Window(), Window("2010-01-01", None)]),
        st.booleans(),
        st.booleans(),
        quirks_of_any_kind,
        st.booleans(),
        st.none() | st.just("2010-05-05"),
        st.booleans(),
        st.booleans(),
    )
)
def test_every_ladder_ends_and_tries_nothing_twice(now):
    rungs = climbed(now)
    assert len(set(rungs)) == len(rungs)


@given(quirks_of_any_kind)
def test_quirks_survive_json(quirks):
    assert EndpointMemory.from_json(quirks.to_json()) == quirks
    assert EndpointMemory.from_json({**quirks.to_json(), "of a later version": 1}) == quirks


@given(positions, st.lists(st.text("0123456789abcdef", max_size=4)))
def test_positions_survive_json(position, digests):
    position = replace(position, seen=tuple(digests), sent=tuple(digests[:2]))
    assert WindowPosition.from_json(position.to_json()) == position
