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
import re
import subprocess
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

from recordsilo.errors import RecordSiloError

if TYPE_CHECKING:
    import regex

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
_COUNTS = re.compile(r"\{(\d*)(?:,(\d*))?\}")
_PART = re.compile(
    rf"(?:(\[\^?\]?(?:[^][\\]|\\.)*\]|\\.|[\w.])|[^[\\{{])(?:{_COUNTS.pattern})?", re.DOTALL
)
"""A single character or class, or something else, and its count."""
_CALLS = re.compile(r"\{|\(\?(?:R|&|P>|[-+0-9])")
"""What may multiply in other ways, in a pattern without its counts."""

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


class PatternRefused(RecordSiloError, ValueError):
    """A pattern that is malformed, or too large."""


@lru_cache(maxsize=128)
def compiled(pattern: str, *, ignore_case: bool = False) -> "regex.Pattern[str]":
    """Compile a pattern.

    Raises:
        PatternRefused: It is malformed, or too large.

    Cost: 0.1 s the first time if it has large counts, for the process that tries it.
    """
    import regex  # noqa: PLC0415 - few processes need it, and it takes 7 ms to load

    flags = int(regex.IGNORECASE) if ignore_case else 0
    if len(pattern) > MAX_PATTERN:
        raise PatternRefused(
            f"the pattern has {len(pattern):,} characters; shorten it to {MAX_PATTERN:,} at most"
        )
    if not _is_small(pattern, flags):
        raise PatternRefused(
            f"the pattern {pattern!r} is too large to compile; its counted repeats multiply, as"
            " (?:x{100}){100} does, so use smaller counts, and literal text of at most"
            f" {MAX_LITERAL:,} characters"
        )
    try:
        return regex.compile(pattern, flags, cache_pattern=False)
    except (regex.error, ValueError, RecursionError) as error:
        raise PatternRefused(f"{pattern!r} is not a valid pattern: {error}") from None


@lru_cache(maxsize=1024)
def _is_small(pattern: str, flags: int) -> bool:
    """Whether the pattern compiles within the limits, tested in another process if need be."""
    if _is_surely_small(pattern):
        return True
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


def _is_surely_small(pattern: str) -> bool:
    """Whether the characters, as often as their counts say, are few: then so is all else.

    Counts of single characters and classes add up; those of groups multiply.
    """
    if _CALLS.search(_COUNTS.sub("", pattern)):
        return False
    counts = [("", *count) for count in _COUNTS.findall(pattern)]
    if "#" not in pattern and not _PART.sub("", pattern):  # in a comment, brackets are no class
        counts = _PART.findall(pattern)
    length, times = len(pattern), 1
    for single, least, most in counts:
        count = max([1, *(int(one[:6]) for one in (least, most) if one)])
        if single:
            length += len(single) * (count - 1)
        else:
            times *= count
    return length * times <= MAX_LITERAL


def is_too_long(pattern: str, text: str) -> bool:
    """Whether a search could take long for the length of the text, which no timeout ends."""
    return min(len(pattern), MAX_LITERAL) * len(text) > MAX_COMPARED
