"""The fields of a metadata file, to be read, changed and written back (pure).

A *field* is an element that stands directly within the record's element and holds
text only: every element of ``oai_dc`` and ``uketd_dc``, and of any format as flat.
What is not a field (an element with elements in it, a comment) stays where it is,
and an element that no change concerns is left as it was written.

Source: Dublin Core Metadata Element Set 1.1; OAI-PMH 2.0 guidelines, "oai_dc".
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from lxml import etree

from recordsilo.errors import did_you_mean
from recordsilo.formats import Format, format_of
from recordsilo.formats.collect import namespace_of
from recordsilo.formats.documents import NoDocument, parsed_whole, unwrapped
from recordsilo.formats.known.dublin_core import DC, ELEMENTS, NAMES, TERMS
from silocuration.errors import NoFields, UnknownField

_IN_DC = f"{{{DC}}}"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_KNOWN_PREFIXES = {
    TERMS: "dcterms",
    "http://naca.central.cranfield.ac.uk/ethos-oai/terms/": "uketdterms",
}
_NAME = re.compile(r"(?:(?P<prefix>[\w.-]+):)?(?P<local>[^\W\d][\w.-]*)")
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Field:
    """One value of a field.

    Attributes:
        name: ``title``, ``creator`` … for Dublin Core's fifteen elements; any other
            with the prefix it has in the document (``dcterms:issued``).
        text: As it stands in the element.
        lang: Its own ``xml:lang``, or ``""``.
        place: Which of the record's elements it is, from 0; None for a value added.
    """

    name: str
    text: str
    lang: str = ""
    place: int | None = None

    @property
    def folded(self) -> str:
        """The text as it is shown and searched: white space folded."""
        return " ".join(self.text.split())

    def said(self) -> tuple[str, str, str]:
        """Name, folded text and language: what two values agree in to say the same."""
        return self.name, self.folded, self.lang

    def with_text(self, text: str) -> "Field":
        """The value with another text; itself where only white space differs."""
        sound = _NOT_XML.sub("", text)
        return self if sound.split() == self.text.split() else replace(self, text=sound)


Fields = tuple[Field, ...]
"""The values of a record, in the order of its elements."""


def values_of(fields: Fields, name: str) -> Fields:
    """The values of one field."""
    return tuple(field for field in fields if field.name == name)


def said(fields: Iterable[Field]) -> tuple[tuple[str, str, str], ...]:
    """What fields say, wherever they stand."""
    return tuple(field.said() for field in fields)


def differing(
    before: Fields, after: Fields
) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    """What the fields before say and those after do not, and the other way round, in order.

    What a change did not touch is the very same value in both, and is not looked at.
    """
    untouched = {id(one): one for one in before}
    touched = [one for one in after if untouched.pop(id(one), None) is None]
    gone = [one.said() for one in untouched.values()]
    come = []
    for value in said(touched):
        if value in gone:
            gone.remove(value)
        else:
            come.append(value)
    return gone, come


def with_values(
    fields: Fields, is_meant: Callable[[Field], bool], wanted: Iterable[Field]
) -> Fields:
    """The fields with these values in place of those meant.

    A value that says the same keeps its element; others take the elements that are
    left over, in order, and only what is more is new. They stand where the first of
    those meant stood, or at the end.
    """
    spare = [one for one in fields if is_meant(one)]
    new: list[Field] = []
    for value in wanted:
        same = next((one for one in spare if one.said() == value.said()), None)
        if same is not None:
            spare.remove(same)
        new.append(same or value)
    placed = [
        replace(one, place=spare.pop(0).place) if one.place is None and spare else one
        for one in new
    ]
    first = next((n for n, one in enumerate(fields) if is_meant(one)), len(fields))
    before, after = fields[:first], fields[first:]
    return (*before, *placed, *(one for one in after if not is_meant(one)))


def sound_text(text: str) -> str:
    """A text without the characters that XML cannot hold, and without white space around it."""
    return _NOT_XML.sub("", text).strip()


def field_names(one: Format) -> tuple[str, ...]:
    """The fields that a format has, as `Field.name` has them; none where they are not known."""
    return tuple(
        f"{_KNOWN_PREFIXES[namespace]}:{name}" if namespace in _KNOWN_PREFIXES else name
        for namespace, names in (one.names or {}).items()
        for name in names
    )


def unknown_field(name: str, known: Iterable[str], what: str) -> UnknownField:
    """The refusal of a name, with the nearest that are known.

    Args:
        what: What has no field of that name.
    """
    return UnknownField(f"{what} has no field {name!r}{did_you_mean(name, known)}")


class Document:
    """A metadata file that was read: what fields it has, and what it is with others.

    Attributes:
        content: The file: a document, or an OAI-PMH ``<metadata>`` element around one.
        fields: As they are.

    Raises:
        NoFields: No well-formed XML, a document type in it, or nothing flat.
    """

    __slots__ = ("_parsed", "content", "fields")

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._parsed: _Parsed | None = _Parsed(content)
        self.fields = self._parsed.fields()

    def with_fields(self, fields: Fields) -> bytes:
        """The metadata file with other fields.

        Args:
            fields: As they shall be, in this order. Those with a place keep their
                element with all its attributes; places that are absent are removed.

        Returns:
            The bytes given where nothing changes; else the document in UTF-8, changed
            only in the elements concerned.

        Raises:
            NoFields: A name with a prefix that the document does not declare.
            UnknownField: A new value of a field that the document's format does not have.
        """
        if fields == self.fields:
            return self.content
        parsed, self._parsed = self._parsed or _Parsed(self.content), None
        _Writer(parsed.record, parsed.elements, self.fields).write(fields)
        declared = self.content.lstrip().startswith(b"<?xml")
        tree = parsed.root.getroottree() if declared else parsed.root
        written: bytes = etree.tostring(tree, encoding="UTF-8", xml_declaration=declared)
        return written


def read_fields(content: bytes) -> Fields:
    """Read the fields of a metadata file.

    Args:
        content: A document, or an OAI-PMH ``<metadata>`` element around one.

    Raises:
        NoFields: No well-formed XML, a document type in it, or nothing flat.
    """
    return Document(content).fields


def write_fields(content: bytes, fields: Fields) -> bytes:
    """The metadata file with other fields; see `Document.with_fields`.

    Raises:
        NoFields: See `Document`.
    """
    return Document(content).with_fields(fields)


class _Parsed:
    """The tree of a metadata file; writing changes it.

    Attributes:
        root: The outermost element.
        record: The element whose children are the fields: the first that is no wrapper.
        elements: Its children that are elements.
    """

    __slots__ = ("elements", "record", "root")

    def __init__(self, content: bytes) -> None:
        try:
            self.root = parsed_whole(content)
        except NoDocument as error:
            raise NoFields(error.reason) from None
        record = unwrapped(self.root)
        children = list(record.iterchildren(etree.Element))
        if children and all(map(len, children)):
            raise NoFields("has no flat fields")
        if not children and (record.text or "").strip():
            raise NoFields("has no flat fields")
        self.record, self.elements = record, children

    def fields(self) -> Fields:
        """What the flat elements say."""
        return tuple(
            [
                Field(_name_of(element), element.text or "", _lang(element), place)
                for place, element in enumerate(self.elements)
                if len(element) == 0
            ]
        )


def _lang(element: etree._Element) -> str:
    return element.get(_LANG, "").strip()


def _name_of(element: etree._Element) -> str:
    tag = str(element.tag)
    if tag.startswith(_IN_DC):
        return tag.removeprefix(_IN_DC)
    if not tag.startswith("{"):
        return tag
    name = etree.QName(element)
    prefix = element.prefix or _KNOWN_PREFIXES.get(name.namespace)
    return name.localname if prefix is None else f"{prefix}:{name.localname}"


class _Writer:
    """Puts fields into a record's element."""

    def __init__(
        self, record: etree._Element, elements: list[etree._Element], before: Fields
    ) -> None:
        self._record, self._elements = record, elements
        self._before = {field.place: field for field in before}
        self._names = {field.name: str(elements[field.place or 0].tag) for field in before}
        self._format = format_of(record)
        self._plain = self._plain_namespace()

    def write(self, fields: Fields) -> None:
        """Remove, change, add, and put into order."""
        wanted = [self._element(field) for field in fields]
        if [field.place for field in fields] == list(self._before):
            return  # the same elements in the same order
        kept = set(map(id, wanted))
        for place in self._before:
            element = self._elements[place or 0]
            if id(element) not in kept:
                self._remove(element)
        self._arrange(wanted)

    def _element(self, field: Field) -> etree._Element:
        if _NOT_XML.search(field.text + field.lang):
            raise NoFields(f"cannot hold a control character, as a value of {field.name} has")
        if field.place is None:
            element = etree.Element(self._tag(field.name))
            element.text = field.text
        else:
            element = self._elements[field.place]
            before = self._before[field.place]
            if field is before:
                return element
            if field.name != before.name:
                element.tag = self._tag(field.name)
            if field.text != before.text:
                element.text = field.text
        if field.lang != _lang(element):
            if field.lang:
                element.set(_LANG, field.lang)
            else:
                element.attrib.pop(_LANG, "")
        return element

    def _plain_namespace(self) -> str:
        """The namespace of a new element whose name has no prefix: that of those there are."""
        known = self._format.names
        names = ELEMENTS if known is None else next(iter(known.values()), ())
        there = [tag for name, tag in self._names.items() if name in names]
        if there:
            return there[0].rpartition("}")[0].removeprefix("{")
        if known is None:
            return DC if DC in self._record.nsmap.values() else namespace_of(self._record)
        return next(iter(known), "") or namespace_of(self._record)

    def _tag(self, name: str) -> str:
        """The tag of a new element.

        Raises:
            UnknownField: The format has none of that name.
        """
        tag = self._names.get(name) or self._new_tag(name)
        namespace, _, local = tag.removeprefix("{").rpartition("}")
        known = self._format.names
        if known is None:  # what is not Dublin Core may be anything
            has_it = local in NAMES.get(namespace, (local,))
        else:
            own = known.get("", ()) if namespace == namespace_of(self._record) else ()
            plain = next(iter(known.values()), ()) if namespace == self._plain else ()
            has_it = local in (*known.get(namespace, ()), *own, *plain)
        if not has_it:
            names = ELEMENTS if known is None else field_names(self._format)
            raise unknown_field(name, names, self._format.name)
        return tag

    def _new_tag(self, name: str) -> str:
        match = _NAME.fullmatch(name)
        if match is None:
            raise NoFields(f"cannot have a field named {name!r}")
        prefix = match["prefix"]
        if prefix is None:
            return f"{{{self._plain}}}{name}" if self._plain else name
        namespaces = {known: uri for uri, known in _KNOWN_PREFIXES.items()}
        namespaces |= {known: uri for known, uri in self._record.nsmap.items() if known}
        if prefix not in namespaces:
            raise NoFields(f"declares no prefix {prefix!r}, which the field {name} needs")
        return f"{{{namespaces[prefix]}}}{match['local']}"

    def _remove(self, element: etree._Element) -> None:
        """Take an element out with the white space before it; the text after it stays."""
        parent, before, tail = self._record, element.getprevious(), element.tail
        parent.remove(element)
        if element.getnext() is None and before is None and tail is None:
            return
        if before is not None:
            before.tail = tail
        elif not len(parent):
            parent.text = tail
        elif tail is not None and tail.strip():
            parent.text = (parent.text or "") + tail

    def _arrange(self, wanted: list[etree._Element]) -> None:
        """Put the wanted elements into order; those in order already are not moved."""
        in_order = _longest_rising([self._position(element) for element in wanted])
        anchor: etree._Element | None = None
        for place, element in enumerate(wanted):
            if place not in in_order:
                self._insert(element, anchor)
            anchor = element

    def _position(self, element: etree._Element) -> int:
        return -1 if element.getparent() is None else self._record.index(element)

    def _insert(self, element: etree._Element, anchor: etree._Element | None) -> None:
        if element.getparent() is not None:
            self._remove(element)
        if anchor is not None:
            element.tail = anchor.tail
            if anchor.getnext() is None:
                anchor.tail = self._indent()
            anchor.addnext(element)
            return
        element.tail = self._record.text if len(self._record) else None
        self._record.insert(0, element)

    def _indent(self) -> str | None:
        """The white space before an element of the record."""
        return self._record.text


def _longest_rising(positions: list[int]) -> set[int]:
    """Places of a longest rising run among the positions; -1 is in none."""
    ends: list[int] = []  # the place that ends the best run of each length
    before: dict[int, int | None] = {}
    for place, position in enumerate(positions):
        if position < 0:
            continue
        length = bisect_left(ends, position, key=positions.__getitem__)
        before[place] = ends[length - 1] if length else None
        ends[length : length + 1] = [place]
    found: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        found.add(last)
        last = before[last]
    return found
