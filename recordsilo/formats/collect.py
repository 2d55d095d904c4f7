"""Gathering values from elements, shared by the readers of the formats."""

from collections.abc import Container, Iterator
from functools import lru_cache

from lxml import etree

from recordsilo.formats.values import Description, Value

LANG = "{http://www.w3.org/XML/1998/namespace}lang"


class Collector:
    """Collects distinct values by field, in the order they are added."""

    def __init__(self) -> None:
        self._values: dict[str, dict[Value, None]] = {}

    def add(self, field: str, text: str, lang: str = "") -> None:
        """Add a value with white space folded; an empty value is ignored.

        Args:
            field: The field of the description.
            lang: Its language; ``""`` if unknown.
        """
        if folded := fold(text):
            value = Value(folded, lang)
            if (values := self._values.get(field)) is None:
                self._values[field] = {value: None}
            else:
                values[value] = None

    def add_element(self, field: str, element: etree._Element) -> None:
        """Add the text of an element and its descendants, with its language."""
        self.add(field, text_of(element), language_of(element))

    def description(self) -> Description:
        """The description with the collected values."""
        return Description(**{field: tuple(values) for field, values in self._values.items()})


def fold(text: str) -> str:
    """The text with each run of white space replaced by one space, and none at the ends."""
    bare = text.strip()
    return " ".join(bare.split()) if "  " in bare or _may_have_other_space(bare) else bare


def _may_have_other_space(text: str) -> bool:
    """Whether a text may have white space other than a space; usually not.

    A text of ASCII is searched for each character, which is faster than to look at each of its own.
    White space beyond ASCII is not printable (Unicode's Z and C).
    """
    if not text.isascii():
        return not text.isprintable()
    return (
        "\n" in text or "\t" in text or "\r" in text or "\v" in text or "\f" in text
        or "\x1c" in text or "\x1d" in text or "\x1e" in text or "\x1f" in text
    )  # fmt: skip


_BLOCKS = frozenset({
    "p", "title", "sec", "list", "list-item", "label", "break", "div", "br", "ul", "ol", "li",
    "dl", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "table", "tr",
    "td", "th",
})  # fmt: skip
_MARKUP = (_BLOCKS - {"title", "label"}) | {
    "a", "abbr", "b", "big", "bold", "cite", "code", "em", "font", "i", "inf", "italic", "mark",
    "math", "mi", "mn", "mo", "mrow", "msub", "msup", "q", "s", "sc", "small", "span", "strike",
    "strong", "sub", "sup", "tbody", "tt", "u", "underline", "var",
}  # fmt: skip
"""Local names of elements that mark up text, in HTML, JATS and MathML."""


def local_name(element: etree._Element) -> str:
    """An element's name without its namespace."""
    return _local(element.tag)


def namespace_of(element: etree._Element) -> str:
    """The namespace of an element's name; ``""`` if it has none."""
    return str(element.tag).rpartition("}")[0].removeprefix("{")


@lru_cache(maxsize=1024)  # a document's elements have few names
def _local(tag: object) -> str:
    return str(tag).rpartition("}")[2]


def leaves(
    root: etree._Element, fields: Container[str] = ()
) -> Iterator[tuple[etree._Element, str]]:
    """The descendants of an element that have no children, in order, each with its language.

    Args:
        fields: Local names of elements that have text. One that has text with markup is given
            as a whole: with text beside its children, nothing but one such child, or nothing
            but elements of HTML, JATS or MathML that mark up text.
    """
    stack = [(root.iterchildren(etree.Element), language_of(root))]
    while stack:
        siblings, language = stack[-1]
        for element in siblings:
            own = element.get(LANG)
            if len(element) and not has_markup(element, fields):
                stack.append(
                    (element.iterchildren(etree.Element), language if own is None else own)
                )
                break
            yield element, language if own is None else own
        else:
            stack.pop()


def has_markup(element: etree._Element, fields: Container[str]) -> bool:
    """Whether an element with children is a field whose text has markup, as for italics.

    Args:
        fields: Local names of elements that have text.
    """
    if local_name(element) not in fields:
        return False
    if all(local_name(one) in _MARKUP for one in element.iterdescendants(etree.Element)):
        return True
    while len(element) and not _has_own_text(element):
        if len(element) > 1 or local_name(element[0]) in fields:
            return False
        element = element[0]
    return True


def _has_own_text(element: etree._Element) -> bool:
    return any((text or "").strip() for text in (element.text, *(one.tail for one in element)))


def text_of(element: etree._Element) -> str:
    """All text in an element; blocks are separated by spaces."""
    if not len(element):
        return element.text or ""
    parts, open_ones = [element.text or ""], [(element, element.iterchildren(etree.Element))]
    while open_ones:  # not recursive: documents may be nested deeply
        last, children = open_ones[-1]
        child = next(children, None)
        if child is not None:
            parts += [_around(child), child.text or ""]
            open_ones.append((child, child.iterchildren(etree.Element)))
            continue
        open_ones.pop()
        if open_ones:
            parts += [_around(last), last.tail or ""]
    return "".join(parts)


def _around(element: etree._Element) -> str:
    return " " if local_name(element) in _BLOCKS else ""


def language_of(element: etree._Element) -> str:
    """The ``xml:lang`` that applies to an element, or ``""``."""
    node: etree._Element | None = element
    while node is not None:
        if (found := node.get(LANG)) is not None:
            return str(found)
        node = node.getparent()
    return ""


def children_of(element: etree._Element, *names: str) -> Iterator[etree._Element]:
    """The children of an element that have one of the local names, in order."""
    for child in element.iterchildren(etree.Element):
        if local_name(child) in names:
            yield child


def first_text(element: etree._Element, name: str) -> str:
    """The folded text of the first child with a local name; ``""`` if there is none."""
    return next((fold(text_of(child)) for child in children_of(element, name)), "")


def within(element: etree._Element, name: str) -> Iterator[etree._Element]:
    """Yield the elements of a name at any depth."""
    for child in element.iterdescendants(etree.Element):
        if local_name(child) == name:
            yield child
