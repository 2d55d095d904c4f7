"""Expressions with bounded steps: `re` finds in them what `regex` finds, and how fast is known."""

import re
import string
import time
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from usagestats import bounded
from usagestats.bounded import LONGEST, MAX_STEPS, as_re, is_readable, most_steps
from usagestats.expressions import Expression

PRINTABLE = "".join(map(chr, range(32, 127)))
PIECES = [
    "a", "b", "-", "/", "1", " ", "#", r"\.", r"\$", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", ".",
    "[ab]", "[^a/]", "[0-9a-f-]", r"[\w.]", "[-a]", "[a^]", r"[^\d]", "$", "a-b", "%3A", "~", "&&",
]  # fmt: skip
COUNTS = ["", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "+?", "??", "{1,3}?"]


def grouped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, max_size=4).map("".join)
    return st.one_of(
        st.tuples(several, st.sampled_from(["", "?", "??"])).map("(?:{0[0]}){0[1]}".format),
        st.tuples(several, several).map("({0[0]}|{0[1]})".format),
        st.tuples(several, several).map("(?:{0[0]}|{0[1]})?".format),
    )  # fmt: skip


SINGLE = st.tuples(st.sampled_from(PIECES), st.sampled_from(COUNTS)).map("".join)
BODY = st.lists(st.recursive(SINGLE, grouped, max_leaves=8), min_size=1, max_size=5).map("".join)
EXPRESSIONS = st.tuples(st.sampled_from(["", "^"]), BODY).map("".join)
TEXTS = st.text(st.sampled_from("aab-/1 #.$%3A~&"), max_size=30)


def seen(found: Any) -> Any:
    return found and (found.span(), found.groups(), found.groupdict())


@pytest.mark.long
@settings(max_examples=100)
@given(EXPRESSIONS, st.lists(TEXTS, min_size=1, max_size=5))
def test_re_finds_what_regex_finds(expression: str, texts: list[str]) -> None:
    for whole in (False, True):
        ours = as_re(expression, whole=whole)
        if ours is None:
            continue
        theirs = regex.compile(expression)
        for text in texts:
            if whole:
                assert seen(ours.fullmatch(text)) == seen(theirs.fullmatch(text))
            else:
                assert seen(ours.search(text)) == seen(theirs.search(text))


@pytest.mark.parametrize("one", [r"\d", r"\D", r"\s", r"\S", r"\w", r"\W", "."])
def test_classes_have_the_same_printable_characters_in_both_engines(one: str) -> None:
    assert re.findall(one, PRINTABLE) == regex.findall(one, PRINTABLE)
    assert as_re(one) is not None


@pytest.mark.parametrize(
    "expression",
    [
        r"^/objects/(?P<id>uuid(?:%3[Aa]|:)[0-9a-f-]{36})/datastreams/(?P<file>(?:THESIS|PDF)\d+)",
        r"^/(?P<id>[^/]+)(?:/(?P<file>.+))?$",
        r"(?P<id>[0-9]+)/?$",
        r"^/records/(?P<id>[0-9a-z-]+)/(?:preview|export|thumb[^/]*)(?:/|$)",
        r"^(?P<journal>.*)/article/view/(?P<name>[^/]+)/?$",
        r"(?P<address>\S+) \S+ \S+ \[(?P<time>[^\]]+)\] \"(?P<path>[^\"]*)\" (?P<status>\d+)",
    ],
)
def test_usual_expressions_are_bounded(expression: str) -> None:
    steps = most_steps(expression)
    assert steps is not None
    assert steps <= MAX_STEPS


@pytest.mark.parametrize(
    "expression",
    [
        "(a+)+$", "(a|aa)+$", "(a*)*", "(?:a?){30}", "(?:ab){2}",  # groups that repeat
        ".*.*x", "[ab]*[ab]*[ab]*c", "^" + "(?:a|a)" * 30 + "b", "a?" * 30 + "b",  # too many ways
        "(?i)a", r"\bx", r"(a)\1", "(?=a)", "(?<!a)b", "(?>a+)", "a++", "a{2}{2}", "a*+", r"\Z",
        "^a|b", "a^", "a{b}", "a{,2}", "a{e<=1}", "[[:alpha:]]", "[a--b]", "[]a]", "[z-a]", r"\q",
        r"\p{L}", "(?P<x>a)(?P<x>b)", "(?P>x)", "é", "[é]", "(a", "a)", "[a", "*a", "$*", "\n", "",
        "[a-\\d]", "{1}", "a\\", r"[\b]", "(" * 5000 + ")" * 5000,
    ],
)  # fmt: skip
def test_whatever_else_is_left_to_the_engine_with_a_time_limit(expression: str) -> None:
    assert (as_re(expression) is None) == (expression != "")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (r"(?P<id>[0-9]+)/?$", "1" * (LONGEST - 1) + "x"),
        ("[ab]*[ab]?c", "a" * LONGEST),
        ("(?:a|b)[ab]*(?:d|e|f|g)x", "a" * LONGEST),
        (".*ax", "a" * LONGEST),
        ("^.*a(?:aa?a?a?|a)x", "a" * LONGEST),
    ],
)
def test_the_worst_text_takes_no_longer_than_the_bound(expression: str, text: str) -> None:
    found = as_re(expression)
    assert found is not None
    begun = time.process_time()
    assert found.search(text) is None
    assert time.process_time() - begun < 0.25


@pytest.mark.long
@settings(max_examples=100)
@given(EXPRESSIONS, TEXTS, st.sampled_from(["", "é", "\n", "\x1c", "x" * LONGEST]))
def test_an_expression_finds_the_same_in_every_text(expression: str, text: str, end: str) -> None:
    try:
        ours = Expression(expression)
    except ValueError:
        return
    theirs = regex.compile(expression)
    assert seen(ours.search(text + end)) == seen(theirs.search(text + end))


def test_only_short_printable_ascii_is_read_by_re() -> None:
    assert is_readable(string.printable[:95].strip())
    assert not any(map(is_readable, ("a\n", "a\x1c", "é", "a\u0301", "a" * (LONGEST + 1))))
    assert all(is_readable(one) for one in bounded._PRINTABLE)
