"""The patterns of rules, with limits on time and memory: see `recordsilo.patterns`."""

import regex

from recordsilo import patterns
from recordsilo.patterns import PATTERN_SECONDS, PatternRefused, is_too_long
from silocuration.errors import PatternTooSlow, RuleRefused, TooMuch

_MOST_AT_ONCE = 4_000_000
"""Most characters that a replacement may make before they are counted."""


def compiled(pattern: str, *, ignore_case: bool = False) -> "regex.Pattern[str]":
    """Compile a pattern.

    Raises:
        RuleRefused: It is malformed, or too large.
    """
    try:
        return patterns.compiled(pattern, ignore_case=ignore_case)
    except PatternRefused as error:
        raise RuleRefused(str(error), part="pattern") from None


def finds(pattern: str, text: str) -> bool:
    """Whether a pattern matches somewhere in a text.

    Raises:
        PatternTooSlow: It takes longer than `PATTERN_SECONDS`, or could for so long a text.
        RuleRefused: See `compiled`.
    """
    _check_length(pattern, text)
    try:
        return compiled(pattern).search(text, timeout=PATTERN_SECONDS) is not None
    except TimeoutError:
        raise PatternTooSlow(pattern) from None


def replaced(pattern: "regex.Pattern[str]", by: str, text: str, most: int) -> str:
    """Return a text with the matches of a pattern replaced.

    Args:
        pattern: Compiled.
        by: The replacement, checked by `check_replacement`.
        text: The text to search.
        most: Most characters of the result.

    Raises:
        PatternTooSlow: The pattern takes longer than `PATTERN_SECONDS`, or could for so
            long a text.
        TooMuch: The result would be longer than ``most``.
    """
    _check_length(pattern.pattern, text)
    references, written = by.count("\\"), 0

    def check(length: int) -> None:
        if length > most:
            raise TooMuch(f"would get a value of more than {most:,} characters")

    def replacement(match: "regex.Match[str]") -> str:
        nonlocal written
        longest = max(map(len, (match[0], *match.groups(""))))
        check(len(by) + references * longest)  # before it is expanded
        made = match.expand(by)
        written += len(made)
        check(written)
        return made

    # The same text for each match needs no call for each, which takes a hundred times as long.
    same = not references and (len(text) + 1) * (len(by) + 1) <= _MOST_AT_ONCE
    try:
        found = pattern.sub(by if same else replacement, text, timeout=PATTERN_SECONDS)
    except TimeoutError:
        raise PatternTooSlow(pattern.pattern) from None
    check(len(found))
    return found


def _check_length(pattern: str, text: str) -> None:
    if is_too_long(pattern, text):
        raise PatternTooSlow(pattern)


def check_replacement(pattern: "regex.Pattern[str]", by: str) -> None:
    """Check that a replacement refers only to groups of the pattern.

    Raises:
        RuleRefused: It does not, or has a malformed escape.
    """
    names = {number: f"?P<{name}>" for name, number in pattern.groupindex.items()}
    groups = "".join(f"({names.get(number, '')})" for number in range(1, pattern.groups + 1))
    match = regex.compile(groups, cache_pattern=False).match("")  # the same groups, all empty
    assert match is not None
    try:
        match.expand(by)
    except (regex.error, IndexError, ValueError) as error:
        raise RuleRefused(f"{by!r} is not a valid replacement: {error}", part="by") from None
