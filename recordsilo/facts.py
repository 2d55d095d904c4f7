"""Facts: what `silo info` tells of a Silo beside its records, contributed by packages.

An entry point of the group ``recordsilo.facts`` names a `Facts`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recordsilo.contributions import contributions
from recordsilo.silo import Silo

GROUP = "recordsilo.facts"


@dataclass(frozen=True, slots=True)
class Fact:
    """What a package knows of one Silo.

    Attributes:
        lines: Each a line after the name.
        brief: A few words, for the line of a Silo among others; empty to say nothing there.
        data: The same for programs, as JSON values.
    """

    lines: tuple[str, ...]
    brief: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facts:
    """Something that can be told of every Silo within some milliseconds.

    Attributes:
        name: The entry point's name; the word before the lines, and the key in JSON.
        order: Sorted by this number, then by name.
        of: Returns what is known, or None to say nothing. Must not depend on the number of
            records.

            Raises:
                Exception: It cannot be read: the message is a sentence. The others are told.
    """

    name: str
    order: int
    of: Callable[[Silo], Fact | None]


def facts_of(silo: Silo) -> dict[str, Fact]:
    """What packages know of a Silo, by name, in order; what fails is told as its sentence."""
    found: dict[str, Fact] = {}
    for one in sorted(contributions(GROUP, Facts), key=lambda one: (one.order, one.name)):
        try:
            fact = one.of(silo)
        except Exception as error:  # noqa: BLE001 - the code of any package
            fact = Fact((f"cannot be read: {error}",), data={"error": str(error)})
        if fact is not None:
            found[one.name] = fact
    return found
