"""Decide how many requests to one repository may be in flight at once (pure).

Begin with one, increase while pages arrive as fast as before, decrease as soon as the server
refuses or slows down. The median response takes 1.2 s and the 90th percentile 30 s (6,778
endpoints, 2023), so one slow page means nothing, but two in a row do.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Concurrency:
    """The limit of requests in flight, and the server's known speed.

    Attributes:
        ceiling: The maximum that the user allows.
        limit: How many requests may be in flight now.
        usual: Seconds that a page normally takes; None before the first.
        usual_single: Likewise, the response to GetRecord.
        good: Successive pages at the usual speed since the limit changed.
        slow: Successive pages that took much longer.
        rest: Good pages to wait for, after a refusal, before the limit grows again.
    """

    ceiling: int
    limit: int = 1
    usual: float | None = None
    usual_single: float | None = None
    good: int = 0
    slow: int = 0
    rest: int = 0

    def after_page(self, seconds: float) -> "Concurrency":
        """Return the state after a page that took this many seconds."""
        if self.usual is None:
            return replace(self, usual=seconds)._grown()
        told = replace(self, usual=_usual(self.usual, seconds, self.limit))
        return told._after(seconds, self.usual)

    def after_singles(self, seconds: float) -> "Concurrency":
        """Return the state after some records, each of which took this many seconds."""
        if self.usual_single is None:
            return replace(self, usual_single=seconds)._grown()
        told = replace(self, usual_single=_usual(self.usual_single, seconds, self.limit))
        return told._after(seconds, self.usual_single)

    def _after(self, seconds: float, usual: float) -> "Concurrency":
        if seconds <= 1.5 * usual + 0.1:
            return replace(self, slow=0, rest=max(0, self.rest - 1), good=self.good + 1)._grown()
        if seconds <= 3 * usual + 0.5:
            return replace(self, slow=0, good=0)
        if self.slow:
            return replace(self, limit=max(1, self.limit - 1), slow=0, good=0)
        return replace(self, slow=1, good=0)

    def after_refusal(self) -> "Concurrency":
        """Return the state after the server refused (429, 503) or did not answer in time."""
        return replace(self, limit=max(1, self.limit // 2), good=0, slow=0, rest=REST)

    def _grown(self) -> "Concurrency":
        if self.rest or self.good < self.limit - 1 or self.limit >= self.ceiling:
            return self
        return replace(self, limit=self.limit + 1, good=0)


REST = 20
"""Good pages after a refusal before the limit grows again."""


def _usual(usual: float, seconds: float, limit: int) -> float:
    """Follow faster pages at once, and slower ones gradually.

    With several requests in flight, the time measures their interference rather than the
    server's own speed.
    """
    if seconds < usual:
        return (usual + seconds) / 2
    return usual + (min(seconds, 2 * usual + 0.1) - usual) / (20 if limit == 1 else 400)
