"""Read the entities that a document type declares; none is ever resolved (pure).

Source: XML 1.0, sections 2.8 and 4.2.
"""

import re
from dataclasses import dataclass
from html.entities import html5

_END = re.compile(
    r"(?:[^\[\"'<>]|\"[^\"]*+\"|'[^']*+')*+"
    r"(?:\[(?P<subset>(?:[^\]\"'<]|<!--.{0,65536}?-->|<|\"[^\"]*+\"|'[^']*+')*+)\]\s*+)?>",
    re.DOTALL,
)
_ENTITY = re.compile(r"<!ENTITY\s+(?:%\s+)?([^\s\"']{1,256})")
_EXTERNAL = re.compile(r"\s(?:SYSTEM|PUBLIC)\s")


@dataclass(frozen=True, slots=True)
class Doctype:
    """The entities in document type declarations; they are never resolved.

    Attributes:
        entities: The names declared.
        external: Whether there is an external DTD, which may declare others.
    """

    entities: frozenset[str] = frozenset()
    external: bool = False

    def refuses(self, name: str) -> bool:
        """Whether only the DTD can say what a reference means."""
        return name in self.entities or (self.external and f"{name};" not in html5)

    def joined(self, other: "Doctype") -> "Doctype":
        """Return the union of two declarations."""
        return Doctype(self.entities | other.entities, self.external or other.external)


def read_doctype(text: str, start: int) -> tuple[Doctype, int] | None:
    """Read the declaration whose ``<!DOCTYPE`` ends at ``start``; None if it has no end.

    Returns:
        The declaration, and where it ends.
    """
    match = _END.match(text, start)
    if match is None:
        return None
    names = _ENTITY.findall(match["subset"] or "")
    outside = text[start : match.start("subset") if match["subset"] else match.end()]
    external = _EXTERNAL.search(outside) is not None or "%" in (match["subset"] or "")
    return Doctype(frozenset(names), external), match.end()
