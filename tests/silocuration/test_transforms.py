"""Named transforms: each does what its name says, leaves alone what it is not sure of."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo import Silo
from silocuration.editing.fields import Field
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Add, Case, ChangeCase, Transform, apply, check
from silocuration.editing.transforms import TRANSFORMS
from silocuration.errors import RuleRefused
from silocuration.review.trials import Tried, trial

EXAMPLES = [
    ("end", "Bees; ", "Bees"),
    ("end", "Bees.", "Bees"),
    ("end", "Smith, J.", "Smith, J."),
    ("end", "Smith et al.", "Smith et al."),
    ("end", "...", "..."),
    ("end", "." * 50_000 + "x", "." * 50_000 + "x"),
    ("entities", "Caf&amp;eacute; &amp; bar", "Café & bar"),
    ("entities", "AT&T", "AT&T"),
    ("tags", "The <i>Apis</i> bee", "The Apis bee"),
    ("tags", "a < b > c", "a < b > c"),
    ("mojibake", "NÃºria", "Núria"),
    ("mojibake", "beesâ€™ wings", "bees’ wings"),
    ("mojibake", "Núria Ã la carte", "Núria Ã la carte"),
    ("mojibake", "Ünsal Á", "Ünsal Á"),
    ("family first", "Núria Ortega", "Ortega, Núria"),
    ("family first", "Ludwig van Beethoven", "van Beethoven, Ludwig"),
    ("family first", "Ortega, Núria", "Ortega, Núria"),
    ("family first", "Plato", "Plato"),
    ("given first", "Ortega, Núria", "Núria Ortega"),
    ("given first", "Ortega, Núria, 1970-", "Ortega, Núria, 1970-"),
    ("date", "3 March 2016", "2016-03-03"),
    ("date", "March 3rd, 2016", "2016-03-03"),
    ("date", "Sept. 2016", "2016-09"),
    ("date", "2016/3/5", "2016-03-05"),
    ("date", "20160305", "2016-03-05"),
    ("date", "5.3.2016", "2016-03-05"),
    ("date", "2016-3", "2016-03"),
    ("date", "03/04/2016", "03/04/2016"),
    ("date", "2016-13-01", "2016-13-01"),
    ("date", "2016", "2016"),
    ("date", "in 2016", "in 2016"),
    ("nfc", "Nu\u0301ria", "Núria"),
    ("quotes", "“Bees’ wings”", '"Bees\' wings"'),
]


@pytest.mark.parametrize(("how", "before", "after"), EXAMPLES)
def test_a_transform_does_what_its_name_says(how: str, before: str, after: str) -> None:
    assert TRANSFORMS[how](before) == after
    assert apply([Transform("title", how)], (Field("title", before),))[0].text == after.strip()


def test_every_transform_has_an_example() -> None:
    assert {how for how, _before, _after in EXAMPLES} == set(TRANSFORMS)


@given(st.sampled_from(sorted(set(TRANSFORMS) - {"family first", "given first", "entities"})),
       st.text(max_size=40))  # fmt: skip
def test_a_second_time_changes_nothing(how: str, text: str) -> None:
    once = TRANSFORMS[how](text)
    if how != "mojibake" and how != "tags":
        assert TRANSFORMS[how](once) == once


def test_an_unknown_transform_is_refused() -> None:
    with pytest.raises(RuleRefused, match="there is no transform 'grel'; there are end"):
        check(Transform("title", "grel"))


def test_a_trial_says_which_values_change_and_of_how_many_records(
    silo: Silo, fill: Callable[..., list[str]]
) -> None:
    fill(3, type=["Thesis.", "Book"])
    found = trial(silo, RuleSet(rules=(Transform("type", "end"),)))
    assert found.shown == (Tried("Thesis.", ("Thesis",), 3),)
    assert (found.changed, found.tried, found.of_values, found.whole) == (1, 2, True, True)


def test_a_trial_of_what_the_index_does_not_have_reads_some_records(
    silo: Silo, fill: Callable[..., list[str]]
) -> None:
    fill(3, rights="mine")
    found = trial(silo, RuleSet(rules=(ChangeCase("rights", Case.UPPER),)))
    assert found.shown[0] == Tried("mine", ("MINE",), 0)
    assert (found.changed, found.tried, found.of_values, found.whole) == (3, 3, False, True)
    added = trial(silo, RuleSet(rules=(Add("type", "Text"),)))
    assert added.shown[0] == Tried("", ("Text",), 0)
