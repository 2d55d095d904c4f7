"""How one thing of the crawls is, in a word and in words (pure)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


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
    """

    name: str
    word: Word
    said: str
    advice: str = ""
    of: str = ""

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
