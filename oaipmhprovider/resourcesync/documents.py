"""The XML of ResourceSync's documents (pure): Sitemaps with more said of them.

Source: ANSI/NISO Z39.99-2017, sections 7 to 13.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from oaipmhprovider.answers import escape, escape_attribute

SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
TERMS = "http://www.openarchives.org/rs/terms/"


@dataclass(frozen=True, slots=True)
class ResourceEntry:
    """A resource, or a list, as a document names it.

    Attributes:
        address: Its URI.
        modified: When it was changed last; empty if not told.
        said: Attributes of ``rs:md``.
        links: Relation → address.
    """

    address: str
    modified: str = ""
    said: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Head:
    """What a document says of itself.

    Attributes:
        said: Attributes of ``rs:md``; the first is its capability.
        links: Relation → address.
        is_index: Whether it is an index of others.
    """

    said: Mapping[str, str]
    links: Mapping[str, str] = field(default_factory=dict)
    is_index: bool = False


def written(head: Head, entries: Iterable[ResourceEntry]) -> Iterator[bytes]:
    """A document, entry by entry."""
    root = "sitemapindex" if head.is_index else "urlset"
    yield (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{SITEMAP}" xmlns:rs="{TERMS}">\n'
        f"{_links(head.links)}{_said(head.said)}\n"
    ).encode()
    name = "sitemap" if head.is_index else "url"
    for one in entries:
        modified = f"<lastmod>{escape(one.modified)}</lastmod>" if one.modified else ""
        yield (
            f"<{name}><loc>{escape(one.address)}</loc>{modified}"
            f"{_said(one.said)}{_links(one.links)}</{name}>\n"
        ).encode()
    yield f"</{root}>\n".encode()


def _said(said: Mapping[str, str]) -> str:
    if not said:
        return ""
    told = "".join(f' {name}="{escape_attribute(value)}"' for name, value in said.items() if value)
    return f"<rs:md{told}/>"


def _links(links: Mapping[str, str]) -> str:
    return "".join(
        f'<rs:ln rel="{escape_attribute(rel)}" href="{escape_attribute(address)}"/>'
        for rel, address in links.items()
    )
