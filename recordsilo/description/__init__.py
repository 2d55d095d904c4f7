"""What a metadata file says, for the index, the page and the crosswalk.

`describe` turns the bytes of a metadata file into a `Description`, `links_of` gives the
addresses in it. One module for
each format; to add one, write a module with a function ``read(root) ->
Description`` and name its root element in `_READERS`.
"""

import threading
from collections.abc import Callable

from lxml import etree

from recordsilo.description import dublin_core, generic, jats
from recordsilo.description.collect import local_name
from recordsilo.description.links import Link, links
from recordsilo.description.values import Description, Value

__all__ = ["Description", "Link", "Value", "describe", "links_of"]

MAX_BYTES = 64 << 20
_Reader = Callable[[etree._Element], Description]
_READERS: dict[str, _Reader] = {
    "dc": dublin_core.read,
    "uketddc": dublin_core.read,
    "article": jats.read,
}
"""Local name of the format's root element → its reader."""


def describe(name: str, content: bytes) -> Description | None:
    """Say what a metadata file says.

    Args:
        name: The file's name (the metadata prefix of a harvested one); tells apart
            what is not metadata, such as ``oai_dc.about``.
        content: The file's bytes: a metadata document, or an OAI-PMH ``<metadata>``
            element around one.

    Returns:
        The description; an empty one for a format in which nothing was recognised;
        None for bytes that are no well-formed XML, hold a document type, or are
        beyond 64 MiB.
    """
    root = _document(name, content)
    return None if root is None else _READERS.get(local_name(root), generic.read)(root)


def links_of(name: str, content: bytes) -> tuple[Link, ...]:
    """The http and https addresses in a metadata file, in its order, with their fields.

    Args:
        name: The file's name; what is not metadata (``oai_dc.about``) has none.
        content: As for `describe`; none are found in what that cannot read.
    """
    root = _document(name, content)
    return () if root is None else tuple(links(root))


def _document(name: str, content: bytes) -> etree._Element | None:
    """The metadata document's root, out of the element that OAI-PMH puts around it."""
    if name.endswith(".about") or len(content) > MAX_BYTES:
        return None
    root = _parse(content)
    if root is not None and local_name(root) == "metadata" and len(root):
        return root[0]
    return root


class _Parsers(threading.local):
    """One parser for each thread: making one costs as much as reading a record."""

    made: etree.XMLParser | None = None

    def parser(self) -> etree.XMLParser:
        if self.made is None:
            self.made = etree.XMLParser(
                resolve_entities=False,
                no_network=True,
                load_dtd=False,
                huge_tree=True,
                remove_comments=True,
                remove_pis=True,
            )
        return self.made


_parsers = _Parsers()


def _parse(content: bytes) -> etree._Element | None:
    try:
        root = etree.fromstring(content, _parsers.parser())
    except (etree.XMLSyntaxError, ValueError):
        return None
    return None if root.getroottree().docinfo.internalDTD is not None else root
