"""The expressions of ``usage.toml``, with limits on time and memory."""

from collections.abc import Callable
from typing import Any

from recordsilo.patterns import PATTERN_SECONDS, compiled, is_too_long
from usagestats.bounded import as_re, is_readable

MOST_TIMEOUTS = 20
"""Searches that may end by the time limit; then the expression is left out."""


class Expression:
    """An expression of a user; after `MOST_TIMEOUTS` timeouts it finds nothing more.

    Otherwise each line would cost the whole time limit, as anybody may choose what is in it. One
    whose steps are bounded is run by `re` where that finds the same (`usagestats.bounded`).

    Attributes:
        plain_search: As `search`, for texts that are `is_readable`.

    Raises:
        PatternRefused: It is malformed, or too large.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled = compiled(text)
        self._timeouts = 0
        self.plain_search: Callable[[str], Any] = self._search
        self._plain_fullmatch: Callable[[str], Any] = self._fullmatch
        if found := as_re(text):
            self.plain_search = found.search
        if found := as_re(text, whole=True):
            self._plain_fullmatch = found.fullmatch

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    @property
    def groups(self) -> frozenset[str]:
        """Return the names of its groups."""
        return frozenset(self._compiled.groupindex)

    @property
    def is_left_out(self) -> bool:
        """Whether it took too long too often."""
        return self._timeouts >= MOST_TIMEOUTS

    def search(self, text: str) -> Any:
        """Return where it is found in a text; None if it is not, or that takes too long."""
        return (self.plain_search if is_readable(text) else self._search)(text)

    def fullmatch(self, text: str) -> Any:
        """Return the match of a whole text; None if there is none, or that takes too long."""
        return (self._plain_fullmatch if is_readable(text) else self._fullmatch)(text)

    def _search(self, text: str) -> Any:
        return self._found(self._compiled.search, text)

    def _fullmatch(self, text: str) -> Any:
        return self._found(self._compiled.fullmatch, text)

    def _found(self, find: Any, text: str) -> Any:
        if self._timeouts >= MOST_TIMEOUTS or is_too_long(self.text, text):
            return None
        try:
            return find(text, timeout=PATTERN_SECONDS)
        except TimeoutError:
            self._timeouts += 1
            if self.is_left_out:
                self.plain_search, self._plain_fullmatch = self._search, self._fullmatch
            return None
