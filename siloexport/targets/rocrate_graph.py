"""The entities of an RO-Crate, and what all of them share (pure).

Source: RO-Crate Metadata Specification 1.2.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import quote

_PLAIN = "!$&'()*+,/:;=@~-._"
"""What a path may have beside letters and digits to be a relative IRI."""

Entity: TypeAlias = dict[str, Any]


@dataclass(slots=True)
class Graph:
    """The entities, each once."""

    _entities: dict[str, Entity] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Entity]:
        return iter(self._entities.values())

    def add(self, entity: Entity) -> Entity:
        """Add an entity if there is none with its identifier; return the one that is there."""
        return self._entities.setdefault(entity["@id"], entity)

    def refer(self, entity: Entity) -> Entity:
        """Add an entity, and return a reference to it."""
        return {"@id": self.add(entity)["@id"]}

    def count(self, kind: str) -> int:
        """Return how many entities of a type there are."""
        return sum(one["@type"] == kind for one in self)


def compact(entity: Entity) -> Entity:
    """Leave out what is empty; a list of one value is written as the value."""
    found = {name: value for name, value in entity.items() if value}
    return {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value
        for name, value in found.items()
    }


def iri(path: str, safe: str = "") -> str:
    """Return a path as a relative IRI: letters of all languages stay as they are."""
    return "".join(
        char if char.isalnum() or char in _PLAIN or char in safe else quote(char, safe="")
        for char in path
    )
