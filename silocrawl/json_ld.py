"""What the JSON-LD of a page says of a work: its documents, and who published it when (pure).

Source: schema.org, *CreativeWork* and *MediaObject*.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MOST_CHARACTERS = 1_000_000
_WORKS = frozenset(
    {"article", "scholarlyarticle", "thesis", "report", "book", "chapter", "creativework",
     "techarticle", "publicationissue", "dataset", "webpage", "itempage"}
)  # fmt: skip
_FILES = ("encoding", "associatedMedia", "distribution")
_MOST_WORKS = 50


@dataclass(frozen=True, slots=True)
class DescribedWork:
    """A work that a page is about; texts are as the page has them.

    Attributes:
        documents: Addresses of its files.
        identifiers: DOIs among them.
    """

    documents: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    creators: tuple[str, ...] = ()
    publishers: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()


def works_of(text: str) -> list[DescribedWork]:
    """Read a script of the type ``application/ld+json``; what cannot be read has no works."""
    if len(text) > MOST_CHARACTERS:
        return []
    try:
        found = json.loads(text)
        return [_work(one) for one, _ in zip(_nodes(found), range(_MOST_WORKS), strict=False)]
    except (ValueError, RecursionError):
        return []


def _nodes(found: Any) -> Iterator[dict[str, Any]]:
    for one in _list(found):
        if isinstance(one, dict):
            if any(kind.lower() in _WORKS for kind in _texts(one.get("@type"), "")):
                yield one
            yield from _nodes(one.get("@graph"))
            yield from _nodes(one.get("mainEntity"))


def _work(node: dict[str, Any]) -> DescribedWork:
    files = [file for name in _FILES for file in _list(node.get(name)) if _may_be_document(file)]
    return DescribedWork(
        tuple(one for file in files for one in _texts(file, "contentUrl")),
        tuple(_texts(node.get("identifier"), "value")) + tuple(_texts(node.get("@id"), "")),
        tuple(_texts(node.get("headline"), "")) or tuple(_texts(node.get("name"), "")),
        tuple(_texts(node.get("author"), "name")) or tuple(_texts(node.get("creator"), "name")),
        tuple(_texts(node.get("publisher"), "name")),
        tuple(_texts(node.get("datePublished"), "")),
    )


def _may_be_document(file: Any) -> bool:
    kind = file.get("encodingFormat") if isinstance(file, dict) else None
    return not isinstance(kind, str) or "/" not in kind or kind.lower().startswith("application/")


def _texts(value: Any, name: str) -> list[str]:
    """The texts of a value, which may be a list, or objects with a name."""
    found = [one.get(name) if isinstance(one, dict) else one for one in _list(value)]
    return [one.strip() for one in found if isinstance(one, str) and one.strip()]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
