"""How one thing of the crawls is, in a word and in words (pure)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

LITTLE, VERY_LITTLE = 10**10, 10**9
"""Free bytes of the disk below which there is a warning, and an alert."""


class Word(StrEnum):
    """How something is."""

    GOOD = "good"
    WARNING = "warning"
    """It waits for somebody, but nothing is lost."""
    ALERT = "alert"


@dataclass(frozen=True, slots=True)
class Condition:
    """How one thing is.

    Attributes:
        name: What kind of thing it is, such as ``disk`` or ``job``; one of a few.
        word: How it is.
        said: The same in a sentence.
        advice: What to do; empty if it is good.
        of: Which one, where there may be several, such as the name of the job.
        figures: What was counted or measured of it, by name, for programs.
    """

    name: str
    word: Word
    said: str
    advice: str = ""
    of: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What it is called: unique in a status."""
        return f"{self.name} {self.of}".rstrip()

    @property
    def told(self) -> str:
        """What is said of it, and what to do."""
        return "; ".join(filter(None, (self.said, self.advice)))


def good(name: str, said: str, of: str = "") -> Condition:
    """Of something that is as it should be."""
    return Condition(name, Word.GOOD, said, of=of)


def worst(words: Iterable[Word]) -> Word:
    """The worst of some words; good if there are none."""
    order = list(Word)
    return max(words, key=order.index, default=Word.GOOD)


def of_space(name: str, free: int, of: str = "") -> Condition:
    """The condition of a disk, by its free bytes."""
    word = Word.ALERT if free < VERY_LITTLE else Word.WARNING if free < LITTLE else Word.GOOD
    advice = "" if word is Word.GOOD else "make room; a crawl ends when the disk is full"
    figures = {"free_bytes": free}
    return Condition(name, word, f"{free / 1e9:,.1f} GB free", advice, of, figures)


def ago(age: timedelta) -> str:
    """A time that has passed, such as ``3 hours ago``."""
    seconds = max(0, int(age.total_seconds()))
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size:,} {unit}s ago"
    return f"{seconds} seconds ago"
