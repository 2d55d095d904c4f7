"""Regular expressions from users, with limits on time and memory.

The engine of the package ``regex`` unrolls counted repeats when it compiles, so that a
pattern of 32 characters can take gigabytes. Therefore each pattern is first compiled in a
separate process whose memory and time the operating system limits.

Two steps of the engine ignore the timeout and keep the GIL. The tables for a literal text,
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
"""Most seconds of a search in one value; reasonable patterns take microseconds."""
MAX_PATTERN = 10_000
"""Most characters in a pattern."""
MAX_COMPILED = 2 << 20
"""Most bytes of a compiled pattern: 20,000 steps; an alternation of 1,000 words has 260 KB."""
MAX_LITERAL = 1000
"""Most characters of a literal text; several together may cost as much as one of this length."""
MAX_COMPARED = 30_000_000
"""Largest product of the characters of literal text and of a value."""
_COMPILE_MEMORY = 64 << 20
_COMPILE_SECONDS = 2
_COMPILE_DEADLINE = 30.0
"""Most seconds of wall-clock time, for systems that do not limit processes."""

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
    sys.exit(0)  # malformed: the caller's own compilation says why
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
            f"the pattern has {len(pattern):,} characters; shorten it to {MAX_PATTERN:,} at most",
            part="pattern",
        )
    if not _is_small(pattern, flags):
        raise RuleRefused(
            f"the pattern {pattern!r} is too large to compile; its counted repeats multiply, as"
            " (?:x{100}){100} does, so use smaller counts, and literal text of at most"
            f" {MAX_LITERAL:,} characters",
            part="pattern",
        )
    try:
        return regex.compile(pattern, flags, cache_pattern=False)
    except (regex.error, ValueError, RecursionError) as error:
        raise RuleRefused(f"{pattern!r} is not a valid pattern: {error}", part="pattern") from None


@lru_cache(maxsize=1024)
def _is_small(pattern: str, flags: int) -> bool:
    """Whether the pattern compiles within the limits, tested in another process."""
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
