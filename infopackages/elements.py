"""XML elements written and read one after another: only the one at hand is in memory."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

from lxml import etree

XLINK = "http://www.w3.org/1999/xlink"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Element(NamedTuple):
    """An element: its name, its attributes (``{namespace}name``), and a text or elements."""

    name: str
    attributes: Mapping[str, str] = {}
    content: "str | Iterable[Element]" = ()


def element(name: str, *content: "Element | str", **attributes: str) -> Element:
    """Return an element with a text or with elements; attributes without a value are left out."""
    given = {key: value for key, value in attributes.items() if value}
    if len(content) == 1 and isinstance(content[0], str):
        return Element(name, given, content[0])
    return Element(name, given, [one for one in content if isinstance(one, Element)])


@contextmanager
def document(
    out: IO[bytes], name: str, namespaces: Mapping[str | None, str], attributes: Mapping[str, str]
) -> Iterator["Elements"]:
    """Write a document to a file: the root element, and below it what is written in the block.

    Args:
        out: Where to.
        name: Of the root element; with ``{namespace}`` if it is not that of all elements.
        namespaces: Prefix → namespace; that of None is the namespace of all elements.
        attributes: Of the root element.
    """
    with etree.xmlfile(out, encoding="UTF-8") as file:
        file.write_declaration()
        prefixes: Any = namespaces  # the stubs do not allow None here
        whole = {key: legible(value) for key, value in attributes.items()}
        tag = name if name.startswith("{") else f"{{{namespaces[None]}}}{name}"
        with file.element(tag, whole, nsmap=prefixes):
            yield Elements(file, namespaces[None])
            file.write("\n")
    out.write(b"\n")


class Elements:
    """Writes elements into an open one."""

    def __init__(self, file: Any, namespace: str, depth: int = 1) -> None:
        self._file, self._namespace, self._depth = file, namespace, depth

    def write(self, one: Element) -> None:
        """Write an element and what is in it; content that is an iterator is not kept."""
        self._file.write(self._indent(self._depth))
        self._write(one, self._depth)

    @contextmanager
    def within(self, name: str, **attributes: str) -> Iterator["Elements"]:
        """Write an element, and below it what is written in the block."""
        self._file.write(self._indent(self._depth))
        given = {key: legible(value) for key, value in attributes.items() if value}
        with self._file.element(f"{{{self._namespace}}}{name}", given):
            yield Elements(self._file, self._namespace, self._depth + 1)
            self._file.write(self._indent(self._depth))

    def _write(self, one: Element, depth: int) -> None:
        attributes = {key: legible(value) for key, value in one.attributes.items()}
        with self._file.element(f"{{{self._namespace}}}{one.name}", attributes):
            if isinstance(one.content, str):
                self._file.write(legible(one.content))
                return
            is_empty = True
            for below in one.content:
                self._file.write(self._indent(depth + 1))
                self._write(below, depth + 1)
                is_empty = False
            if not is_empty:
                self._file.write(self._indent(depth))

    @staticmethod
    def _indent(depth: int) -> str:
        return "\n" + "  " * depth


def read_elements(
    document: IO[bytes], namespace: str, root: str, *names: str
) -> Iterator[etree._Element]:
    """Yield the elements of some names, one after another; each is emptied after it was used.

    Args:
        document: From anywhere: entities are not expanded, and nothing is fetched.
        root: Name of the document's root element.

    Raises:
        ValueError: It is not well-formed, or has another root.
    """
    tags = [f"{{{namespace}}}{name}" for name in names]
    try:
        parsing = etree.iterparse(document, tag=tags, resolve_entities=False, no_network=True)
        for _, one in parsing:
            yield one
            one.clear()
            while (before := one.getprevious()) is not None:
                one.getparent().remove(before)
        if parsing.root.tag != f"{{{namespace}}}{root}":
            raise ValueError(f"it is not a document {root}")
    except etree.XMLSyntaxError as error:
        raise ValueError(f"it is not a document {root}: {error}") from None


def legible(text: str) -> str:
    """Return a text with U+FFFD for each character that XML 1.0 cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)
