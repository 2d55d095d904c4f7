"""Regular expressions that people write, within bounds of time and memory.

The engine of the package ``regex`` unrolls counted repeats when it compiles, so that a
pattern of 32 characters takes gigabytes. Each pattern is therefore compiled first in a
process of its own whose memory and time the operating system limits.

Two steps of the engine look at no timeout and keep the GIL. The tables for a literal text,
made at its first search, take n³ steps for n times the same letter (0.25 s for 1,000, 15 s
for 4,000; regex 2026.11.15), so that process also measures the literals. The search for
one that ignores case takes up to its length times that of the value (0.25 s for 30
million), so that product is bounded.
"""

import json
import subprocess
import sys
from functools import lru_cache

import regex

from silocuration.errors import PatternTooSlow, RuleRefused, TooMuch

PATTERN_SECONDS = 0.25
"""How long a pattern may search one value: a sound one takes microseconds."""
MAX_PATTERN = 10_000
"""Characters in a pattern."""
MAX_COMPILED = 2 << 20
"""Bytes of a compiled pattern: some 20,000 steps. An alternation of 1,000 words has 260 kB."""
MAX_LITERAL = 1000
"""Characters of a literal text; several together may cost what one of these does."""
MAX_COMPARED = 30_000_000
"""Characters of literal text times characters of a value."""
_COMPILE_MEMORY = 64 << 20
_COMPILE_SECONDS = 2
_COMPILE_DEADLINE = 30.0
"""Seconds by the clock, for systems that do not limit a process."""

_TRIAL = """
import json, resource, sys
import regex
from regex import _regex_core
pattern, flags, memory, seconds, largest, literal = json.load(sys.stdin)
costs = []
make = _regex_core.String.__init__
def counted(self, characters, *rest, **named):
    costs.append(len(characters) ** 3)
    make(self, characters, *rest, **named)
_regex_core.String.__init__ = counted
resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
try:
    size = regex.compile(pattern, flags).__sizeof__()
except MemoryError:
    sys.exit(1)
except Exception:
    sys.exit(0)  # malformed: whoever asked finds out why
sys.exit(size > largest or sum(costs) > literal ** 3)
"""


@lru_cache(maxsize=128)
def compiled(pattern: str, *, ignore_case: bool = False) -> "regex.Pattern[str]":
    """Compile a pattern.

    Raises:
        RuleRefused: It is malformed, or too large.

    Cost: 0.1 s the first time, for the process that tries it.
    """
    flags = int(regex.IGNORECASE) if ignore_case else 0
    if len(pattern) > MAX_PATTERN:
        raise RuleRefused(
            f"the pattern has {len(pattern):,} characters; shorten it to {MAX_PATTERN:,} at most"
        )
    if not _is_small(pattern, flags):
        raise RuleRefused(
            f"the pattern {pattern!r} is too large to compile; its counted repeats multiply, as"
            " (?:x{100}){100} does, so use smaller counts, and literal text of at most"
            f" {MAX_LITERAL:,} characters"
        )
    try:
        return regex.compile(pattern, flags, cache_pattern=False)
    except (regex.error, ValueError, RecursionError) as error:
        raise RuleRefused(f"{pattern!r} is not a valid pattern: {error}") from None


@lru_cache(maxsize=1024)
def _is_small(pattern: str, flags: int) -> bool:
    """Whether the pattern compiles within the limits, tried in another process."""
    limits = (_COMPILE_MEMORY, _COMPILE_SECONDS, MAX_COMPILED, MAX_LITERAL)
    given = json.dumps([pattern, flags, *limits])
    try:
        trial = subprocess.run(  # noqa: S603 - this interpreter and the text above
            [sys.executable, "-P", "-c", _TRIAL],
            input=given.encode(),
            stderr=subprocess.DEVNULL,
            timeout=_COMPILE_DEADLINE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return trial.returncode == 0


def finds(pattern: str, text: str) -> bool:
    """Whether a pattern finds something in a text.

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
    """A text with what a pattern finds replaced.

    Args:
        pattern: Compiled.
        by: The replacement, checked by `check_replacement`.
        text: What is searched.
        most: Characters that the result may have.

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

    try:
        found = pattern.sub(replacement, text, timeout=PATTERN_SECONDS)
    except TimeoutError:
        raise PatternTooSlow(pattern.pattern) from None
    check(len(found))
    return found


def _check_length(pattern: str, text: str) -> None:
    if min(len(pattern), MAX_LITERAL) * len(text) > MAX_COMPARED:
        raise PatternTooSlow(pattern)


def check_replacement(pattern: "regex.Pattern[str]", by: str) -> None:
    """Make sure that a replacement refers to groups that the pattern has.

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
        raise RuleRefused(f"{by!r} is not a valid replacement: {error}") from None
