"""A metadata file for display: indented XML, or plain text (pure)."""

import re
from collections.abc import Iterator

from lxml import etree

from recordsilo.formats.documents import new_parser

SHOWN = 256 * 1024
"""Maximum length of a text that is coloured."""
Piece = tuple[str, str]
"""(kind, text): ``tag``, ``name`` and ``value`` of an attribute, ``note``, ``text``."""

_MARKUP = re.compile(r"(<!--.*?-->|<!\[CDATA\[.*?\]\]>|<[!?][^>]*>|<[^>]*>)", re.DOTALL)
_ATTRIBUTE = re.compile(r"""(\s+[^\s=/>]+)(=)("[^"]*"|'[^']*')""")


def pretty(content: bytes) -> str:
    """Return a file as text for display; the template escapes it.

    Only white space between elements is changed. Malformed XML, and a file larger than
    `SHOWN`, is shown unchanged, with U+FFFD for bytes that are not UTF-8.
    Entities are not expanded and nothing is fetched.
    """
    try:
        root = etree.fromstring(content, new_parser(remove_blank_text=True))
    except (etree.XMLSyntaxError, ValueError):
        return content.decode("utf-8", "replace")
    return str(etree.tostring(root, encoding="unicode", pretty_print=True))


def pieces(text: str) -> tuple[Piece, ...]:
    """Split a text into pieces for colouring; joined, they are the text."""
    if len(text) > SHOWN:
        return (("text", text),)
    return tuple(piece for part in _MARKUP.split(text) if part for piece in _pieces(part))


def _pieces(part: str) -> Iterator[Piece]:
    if not part.startswith("<") or not part.endswith(">"):
        yield "text", part
    elif part.startswith(("<!", "<?")):
        yield "note", part
    else:
        yield from _tag(part)


def _tag(part: str) -> Iterator[Piece]:
    at = 0
    for found in _ATTRIBUTE.finditer(part):
        if found.start() > at:
            yield "tag", part[at : found.start()]
        yield "name", found[1] + found[2]
        yield "value", found[3]
        at = found.end()
    if part[at:]:
        yield "tag", part[at:]
