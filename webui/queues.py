"""Queues: lists of which one decides about one after another (pure).

Findings, source changes, proposed documents, clusters and duplicates are gone through in the
same way: *decide, and the next one is there*; or *Skip*. How many are left is counted anew each
time, for others may be in the same queue. How far one is in it, and since when, is in the
addresses and forms of the pages (`Round`), so nothing is stored, and each window has its own.
"""

import re
from dataclasses import dataclass, replace

from webui.words.durations import by_clock, in_words
from webui.words.texts import counted
from webui.words.texts import text as _

ROUND = "round"
"""The field of addresses and forms that has a `Round`."""
_WRITTEN = re.compile(r"(\d{1,12})-(\d{1,7})-(\d{1,7})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Round:
    """One person's way through a queue.

    Attributes:
        began: When; seconds since 1970.
        done: How many were decided.
        passed: How many were skipped.
    """

    began: int
    done: int = 0
    passed: int = 0

    @classmethod
    def of(cls, text: str, now: float) -> "Round":
        """Read the field of an address or a form; what is none begins now."""
        match = _WRITTEN.fullmatch(text)
        if match is None or int(match[1]) > now + 1:
            return cls(int(now))
        return cls(*map(int, match.groups()))

    @property
    def field(self) -> str:
        """Itself, for addresses and forms."""
        return f"{self.began}-{self.done}-{self.passed}"

    def decided(self) -> "Round":
        """The round after a decision."""
        return replace(self, done=self.done + 1)

    def skipped(self) -> "Round":
        """The round after one was left as it is."""
        return replace(self, passed=self.passed + 1)

    def taken_back(self) -> "Round":
        """The round after a decision was undone."""
        return replace(self, done=max(0, self.done - 1))

    def told(self, now: float) -> str:
        """The round in words, when it is over: ``31 done in 4 minutes, 2 skipped``."""
        time = in_words(max(1, now - self.began))
        said = counted("{n} done in {time}", "{n} done in {time}", self.done, time=time)
        if not self.passed:
            return said
        return f"{said}, {counted('{n} skipped', '{n} skipped', self.passed)}"


@dataclass(frozen=True, slots=True)
class Before:
    """What one has just decided about.

    Attributes:
        said: What was done, a sentence or the beginning of one.
        title: What it was done to.
        url: Leads back to it; empty if that is not possible.
        remains: Whether it is still in the list.
    """

    said: str
    title: str = ""
    url: str = ""
    remains: bool = False


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Where one is in a queue, as its pages show it.

    Attributes:
        back: The address of the list; empty if the queue is the only list.
        skip: That of the next one, without a decision; empty if a button leads there.
        left: How many are left with this one; None if that is not known.
        is_more: Whether there are more than `left`, which is as far as they were counted.
        clock: The time since the round began, for people.
    """

    round: Round
    clock: str
    back: str = ""
    skip: str = ""
    left: int | None = None
    is_more: bool = False
    before: Before | None = None

    @classmethod
    def at(
        cls,
        round_: Round,
        now: float,
        *,
        back: str = "",
        skip: str = "",
        left: int | None = None,
        is_more: bool = False,
        before: Before | None = None,
    ) -> "QueuePlace":
        """Make the place of a round now; see the attributes."""
        return cls(round_, by_clock(now - round_.began), back, skip, left, is_more, before)

    @property
    def left_said(self) -> str:
        """How many are left, in words."""
        if self.left is None:
            return ""
        said = counted("{n} left", "{n} left", self.left)
        return _("{said} or more", said=said) if self.is_more else said
