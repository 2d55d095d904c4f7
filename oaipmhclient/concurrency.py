"""How many requests may be in flight at once against one repository (pure).

Begin with one, grow while pages come as fast as they did, shrink as soon as the
server refuses or labours. In the wild the median answer takes 1.2 s and the 90th
percentile 30 s (6,778 endpoints, 2023): one slow page says nothing, two in a row do.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Concurrency:
    """What may be in flight, and what is known of the server's pace.

    Attributes:
        ceiling: The most that the user allows.
        limit: How many may be in flight now.
        usual: Seconds that a page takes when all is well; None before the first.
        good: Pages in a row that came as fast as usual since the limit was changed.
        slow: Pages in a row that took far longer.
        rest: Good pages to wait for, after a refusal, before growing again.
    """

    ceiling: int
    limit: int = 1
    usual: float | None = None
    good: int = 0
    slow: int = 0
    rest: int = 0

    def after_page(self, seconds: float) -> "Concurrency":
        """What holds once a page came that took so long."""
        if self.usual is None:
            return replace(self, usual=seconds)._grown()
        told = replace(self, usual=_usual(self.usual, seconds, self.limit))
        if seconds <= 1.5 * self.usual + 0.1:
            return replace(told, slow=0, rest=max(0, self.rest - 1), good=self.good + 1)._grown()
        if seconds <= 3 * self.usual + 0.5:
            return replace(told, slow=0, good=0)
        if self.slow:
            return replace(told, limit=max(1, self.limit - 1), slow=0, good=0)
        return replace(told, slow=1, good=0)

    def after_refusal(self) -> "Concurrency":
        """What holds once the server refused (429, 503) or did not answer in time."""
        return replace(self, limit=max(1, self.limit // 2), good=0, slow=0, rest=REST)

    def _grown(self) -> "Concurrency":
        if self.rest or self.good < self.limit - 1 or self.limit >= self.ceiling:
            return self
        return replace(self, limit=self.limit + 1, good=0)


REST = 20
"""Good pages after a refusal before the limit grows again."""


def _usual(usual: float, seconds: float, limit: int) -> float:
    """Follows faster pages at once, slower ones hesitantly and never by leaps.

    What several requests at once take says more of them than of the server's own pace.
    """
    if seconds < usual:
        return (usual + seconds) / 2
    return usual + (min(seconds, 2 * usual + 0.1) - usual) / (20 if limit == 1 else 400)
