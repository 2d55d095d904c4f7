"""The expressions of ``usage.toml``, with limits on time and memory."""

from typing import Any

from recordsilo.patterns import PATTERN_SECONDS, compiled, is_too_long

MOST_TIMEOUTS = 20
"""Searches that may end by the time limit; then the expression is left out."""


class Expression:
    """An expression of a user; after `MOST_TIMEOUTS` timeouts it finds nothing more.

    Otherwise each line would cost the whole time limit, as anybody may choose what is in it.

    Raises:
        PatternRefused: It is malformed, or too large.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled = compiled(text)
        self._timeouts = 0

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
        return self._found(self._compiled.search, text)

    def fullmatch(self, text: str) -> Any:
        """Return the match of a whole text; None if there is none, or that takes too long."""
        return self._found(self._compiled.fullmatch, text)

    def _found(self, find: Any, text: str) -> Any:
        if self.is_left_out or is_too_long(self.text, text):
            return None
        try:
            return find(text, timeout=PATTERN_SECONDS)
        except TimeoutError:
            self._timeouts += 1
            return None
