"""How many requests are in flight: more while all is well, fewer as soon as it is not."""

from hypothesis import given
from hypothesis import strategies as st

from oaipmhclient.concurrency import REST, Concurrency


def test_the_speed_of_single_records_and_that_of_pages_are_kept_apart():
    state = Concurrency(6).after_page(5.0).after_singles(0.02).after_singles(0.02)
    before = state.limit
    for _ in range(3):
        state = state.after_page(5.0).after_singles(0.02)
    assert before < state.limit
    assert (state.usual, state.usual_single) == (5.0, 0.02)


def after(now, *seconds):
    for one in seconds:
        now = now.after_page(one)
    return now


def test_it_begins_with_one():
    assert Concurrency(6).limit == 1


def test_it_grows_to_the_ceiling_while_pages_come_as_fast_as_ever():
    limits = [after(Concurrency(4), *[0.5] * pages).limit for pages in range(12)]
    assert limits == sorted(limits)
    assert limits[1] == 2
    assert limits[-1] == 4


def test_a_ceiling_of_one_stays_one():
    assert after(Concurrency(1), *[0.1] * 50).limit == 1


def test_a_refusal_halves_it_and_it_rests_before_it_grows_again():
    now = after(Concurrency(8), *[0.5] * 60)
    assert now.limit == 8
    refused = now.after_refusal()
    assert refused.limit == 4
    assert after(refused, *[0.5] * (REST - 1)).limit == 4
    assert after(refused, *[0.5] * (REST + 8)).limit > 4


def test_one_slow_page_says_nothing_and_two_in_a_row_do():
    now = after(Concurrency(4), *[0.5] * 20)
    assert after(now, 30.0, 0.5, 30.0, 0.5).limit == 4
    assert after(now, 30.0, 30.0).limit == 3


def test_a_server_that_slows_down_with_more_requests_gets_no_more_of_them():
    now = Concurrency(16)
    for _ in range(200):
        now = now.after_page(1.0 * now.limit)
    assert now.limit <= 4


@given(st.integers(1, 20), st.lists(st.one_of(st.none(), st.floats(0, 1000))))
def test_whatever_comes_it_is_between_one_and_the_ceiling(ceiling, events):
    now = Concurrency(ceiling)
    for seconds in events:
        now = now.after_refusal() if seconds is None else now.after_page(seconds)
        assert 1 <= now.limit <= ceiling
