"""Expressions of ``usage.toml`` that take too long are left out, and named."""

from collections.abc import Callable
from pathlib import Path

import pytest

from usagestats import expressions
from usagestats.entities.mapping import mapping_from
from usagestats.expressions import MOST_TIMEOUTS, Expression
from usagestats.importing.importing import ImportRequest, import_logs
from usagestats.values import Fate

SLOW = "(a|aa)+$"
LOG = r"""
[log]
format = 'regex'
line = '(?P<address>\S+).+\[(?P<time>.+)\] "(?P<path>.*?)" (?P<status>\d+).+"(?P<agent>..(a|aa)+)"'
"""


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expressions, "PATTERN_SECONDS", 0.01)


def hard(number: int) -> str:
    """A text on which `SLOW` takes longer than anybody waits."""
    return f"{number:02}{'a' * 3000}!"


def test_an_expression_that_takes_too_long_too_often_finds_nothing_more() -> None:
    expression = Expression(SLOW)
    for number in range(MOST_TIMEOUTS):
        assert expression.search("aa")
        assert not expression.is_left_out
        assert expression.search(hard(number)) is None
    assert expression.is_left_out
    assert expression.search("aa") is None


def test_a_text_that_is_too_long_for_an_expression_is_no_timeout() -> None:
    expression = Expression("b" * 1000)
    assert expression.search("b" * 30_001) is None
    assert expression.search("b" * 1000)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (f"robots = ['{SLOW}']\n", '"GET /7/ HTTP/1.1" 200 9 "-" "Browser {}"'),
        (
            f"[[pattern]]\npath = '{SLOW}'\nrecord = '1'\nkind = 'view'\n",
            '"GET /{} HTTP/1.1" 200 9 "-" "Firefox/140.0"',
        ),
        (
            LOG,
            '"GET /7/ HTTP/1.1" 200 9 "-" "{}"',
        ),
    ],
)
def test_the_receipt_of_an_import_names_what_was_left_out(
    new_silo: Callable[[str], str], tmp_path: Path, settings: str, line: str
) -> None:
    log = tmp_path / "access.log"
    head = "203.0.113.7 - - [12/Oct/2026:10:00:01 +0000] "
    log.write_text("".join(f"{head}{line}\n".replace("{}", hard(one)) for one in range(40)))
    receipt = import_logs(new_silo(settings), ImportRequest([str(log)]))
    assert receipt.lines == 40
    [left_out] = receipt.left_out
    assert "(a|aa)+" in left_out
    assert not receipt.whole
    assert f"took too long {MOST_TIMEOUTS} times" in receipt.text()
    if "robots" in settings:
        assert receipt.number(Fate.COUNTED) == 40


def test_an_expression_of_entities_has_the_same_limits() -> None:
    table = {"kind": "x", "prefix": "x", "field": "sources", "match": SLOW}
    mapping = mapping_from({"entity": [table]})
    kind = mapping.kind("x")
    assert kind is not None
    for number in range(MOST_TIMEOUTS):
        assert kind.match is not None
        assert kind.match.search(hard(number)) is None
    assert [one.text for one in mapping.own if one.is_left_out] == [SLOW]
    with pytest.raises(ValueError, match=r"match: .*too large to compile"):
        mapping_from({"entity": [table | {"match": "(?:x{1000}){1000}"}]})


def test_a_whole_text_is_matched_to_its_end() -> None:
    expression = Expression(r"/(?P<id>\d+)/?")
    assert expression.groups == {"id"}
    assert expression.fullmatch("/12/")["id"] == "12"
    assert expression.fullmatch("/12/x") is None
    assert expression.search("see /12/x")["id"] == "12"
    odd = "/12/\u00e9"  # not for `re`, which knows other letters
    assert expression.fullmatch(odd) is None
    assert expression.search(odd)["id"] == "12"
    assert repr(expression) == r"Expression('/(?P<id>\\d+)/?')"


def test_a_whole_match_that_takes_too_long_counts_as_a_search_does() -> None:
    expression = Expression("(a|aa)+")
    for number in range(MOST_TIMEOUTS):
        assert not expression.is_left_out
        assert expression.fullmatch(f"{'a' * 3000}{number}!") is None
    assert expression.is_left_out
    assert expression.fullmatch("aa") is None
