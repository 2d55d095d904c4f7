"""How many requests are in flight: more while all is well, fewer as soon as it is not."""

from hypothesis import given
from hypothesis import strategies as st

from oaipmhscraper.tempo import REST, Tempo


def after(tempo, *seconds):
    for one in seconds:
        tempo = tempo.after_page(one)
    return tempo


def test_it_begins_with_one():
    assert Tempo(6).limit == 1


def test_it_grows_to_the_ceiling_while_pages_come_as_fast_as_ever():
    limits = [after(Tempo(4), *[0.5] * pages).limit for pages in range(12)]
    assert limits == sorted(limits)
    assert limits[1] == 2
    assert limits[-1] == 4


def test_a_ceiling_of_one_stays_one():
    assert after(Tempo(1), *[0.1] * 50).limit == 1


def test_a_refusal_halves_it_and_it_rests_before_it_grows_again():
    tempo = after(Tempo(8), *[0.5] * 60)
    assert tempo.limit == 8
    refused = tempo.after_refusal()
    assert refused.limit == 4
    assert after(refused, *[0.5] * (REST - 1)).limit == 4
    assert after(refused, *[0.5] * (REST + 8)).limit > 4


def test_one_slow_page_says_nothing_and_two_in_a_row_do():
    tempo = after(Tempo(4), *[0.5] * 20)
    assert after(tempo, 30.0, 0.5, 30.0, 0.5).limit == 4
    assert after(tempo, 30.0, 30.0).limit == 3


def test_a_server_that_slows_down_with_more_requests_gets_no_more_of_them():
    tempo = Tempo(16)
    for _ in range(200):
        tempo = tempo.after_page(1.0 * tempo.limit)
    assert tempo.limit <= 4


@given(st.integers(1, 20), st.lists(st.one_of(st.none(), st.floats(0, 1000))))
def test_whatever_comes_it_is_between_one_and_the_ceiling(ceiling, events):
    tempo = Tempo(ceiling)
    for seconds in events:
        tempo = tempo.after_refusal() if seconds is None else tempo.after_page(seconds)
        assert 1 <= tempo.limit <= ceiling
