"""A target: where its inputs come from, and what must hold for each."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from random import Random
from typing import ClassVar

from fuzzing.mutators import changed


class Target(ABC):
    """A part of the product that takes bytes from outside, and the promise it keeps.

    Made once for each run; what `check` needs on disk goes below ``scratch``, which is
    removed afterwards. Checks must not depend on each other, and neither on the clock nor
    on the order of sets: the same seed has to give the same inputs.

    Attributes:
        promise: What is checked, as a sentence.
        words: What the format is made of; mutators put them in.
        largest: Bytes of an input at most.
        seconds: CPU time that one input may take.
        memory: Bytes of address space that a run may need beyond what it began with.
        iterations: How many inputs `make test` tries.
    """

    promise: ClassVar[str]
    words: ClassVar[Sequence[bytes]] = ()
    largest: ClassVar[int] = 16_384
    seconds: ClassVar[float] = 2.0
    memory: ClassVar[int] = 1 << 30
    iterations: ClassVar[int] = 300

    def __init__(self, scratch: str) -> None:
        self.scratch = scratch

    @abstractmethod
    def seeds(self) -> Iterable[bytes]:
        """Sound inputs, and some odd ones: what mutation begins with; at least one."""

    @abstractmethod
    def check(self, data: bytes) -> Hashable:
        """Hold the promise against an input.

        Returns:
            What was met, such as the kind of refusal: an input that meets something new
            is mutated further.

        Raises:
            Exception: The promise is broken. Refusals that are promised are caught here.
        """

    def mutated(self, random: Random, pool: Sequence[bytes]) -> bytes:
        """Another input, made of what is in the pool."""
        return changed(random, pool, self.words, largest=self.largest)

    def close(self) -> None:  # noqa: B027 - most targets hold nothing open
        """Let go of what is open."""
