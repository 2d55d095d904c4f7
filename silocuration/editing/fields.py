"""Read, change and write the fields of a metadata file (pure).

A *field* is a child of the record's element that contains only text: every element of
``oai_dc``, of ``uketd_dc``, and of any other flat format. Other nodes (an element with child
elements, a comment) stay where they are. Elements that are not changed keep their bytes.

Source: Dublin Core Metadata Element Set 1.1; OAI-PMH 2.0 guidelines, "oai_dc".
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import NamedTuple

from lxml import etree

from recordsilo.errors import did_you_mean
from recordsilo.formats import Format, format_of, title_of_root
from recordsilo.formats.collect import fold, has_markup, namespace_of, text_of
from recordsilo.formats.documents import DocumentBytes, NoDocument, parsed, parsed_whole, unwrapped
from recordsilo.formats.known.dublin_core import DC, ELEMENTS, FIELDS, NAMES, OAI_DC, TERMS
from silocuration.errors import NoFields, UnknownField

_IN_DC = f"{{{DC}}}"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_KNOWN_PREFIXES = {
    TERMS: "dcterms",
    "http://naca.central.cranfield.ac.uk/ethos-oai/terms/": "uketdterms",
}
_SMALL = 64 << 10
"""Bytes up to which a written document keeps its tree, so that it is not parsed again."""
_NOT_ELEMENTS = re.compile(rb"<[!?]")
_NAME = re.compile(r"(?:(?P<prefix>[\w.-]+):)?(?P<local>[^\W\d][\w.-]*)")
LANGUAGE_TAG = re.compile(r"(?:[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)?")
"""Valid ``xml:lang``: XML Schema Part 2, section 3.3.3, "language", or empty."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Field(NamedTuple):
    """One value of a field; a tuple, because making one takes a third of the time of a dataclass.

    Attributes:
        name: ``title``, ``creator`` … for the fifteen elements of Dublin Core; other names have
            the prefix of the document (``dcterms:issued``).
        text: The text of the element.
        lang: The element's own ``xml:lang``, or ``""``.
        place: The element's index in the record, from 0; None for an added value.
    """

    name: str
    text: str
    lang: str = ""
    place: int | None = None

    @property
    def folded(self) -> str:
        """Return the text as it is shown and searched, with white space folded."""
        return " ".join(self.text.split())

    def said(self) -> tuple[str, str, str]:
        """Return name, folded text and language, which equal values have in common."""
        return self.name, self.folded, self.lang

    def with_text(self, text: str) -> "Field":
        """Return the value with another text; the value itself if only white space differs."""
        sound = _NOT_XML.sub("", text)
        return self if sound.split() == self.text.split() else self._replace(text=sound)


Fields = tuple[Field, ...]
"""The values of a record, in the order of its elements."""


def values_of(fields: Fields, name: str) -> Fields:
    """Return the values of one field."""
    return tuple(field for field in fields if field.name == name)


def said(fields: Iterable[Field]) -> tuple[tuple[str, str, str], ...]:
    """Return what `Field.said` returns for each field, sorted."""
    return tuple(field.said() for field in fields)


Said = tuple[str, str, str]
"""What `Field.said` returns."""
Differing = tuple[list[Said], list[Said]]
"""Values that were removed, and values that were added."""


def differing(before: Fields, after: Fields) -> Differing:
    """Return what `Field.said` returns for the removed and for the added values, in order.

    Unchanged values are the same objects in both, and are not compared.
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
    """Return the fields, with the values for which ``is_meant`` is true replaced by ``wanted``.

    An equal value keeps its element. Other values take the remaining elements, in order; new
    elements are made only for further values. All stand where the first replaced value stood,
    or at the end.
    """
    spare = [one for one in fields if is_meant(one)]
    new: list[Field] = []
    for value in wanted:
        same = next((one for one in spare if one.said() == value.said()), None)
        if same is not None:
            spare.remove(same)
        new.append(same or value)
    placed = [
        one._replace(place=spare.pop(0).place) if one.place is None and spare else one
        for one in new
    ]
    first = next((n for n, one in enumerate(fields) if is_meant(one)), len(fields))
    before, after = fields[:first], fields[first:]
    return (*before, *placed, *(one for one in after if not is_meant(one)))


def sound_text(text: str) -> str:
    """Return a text without characters that XML does not allow, and without outer white space."""
    return _NOT_XML.sub("", text).strip()


def field_names(one: Format) -> tuple[str, ...]:
    """Return the field names of a format, as in `Field.name`; empty if they are unknown."""
    return tuple(
        f"{_KNOWN_PREFIXES[namespace]}:{name}" if namespace in _KNOWN_PREFIXES else name
        for namespace, names in (one.names or {}).items()
        for name in names
    )


def unknown_field(name: str, known: Iterable[str], what: str) -> UnknownField:
    """Return the error for an unknown field name, which names the nearest known ones.

    Args:
        what: The subject of the message: what has no such field.
    """
    return UnknownField(f"{what} has no field {name!r}{did_you_mean(name, known)}")


class ReadDocument:
    """A metadata file that was read.

    Attributes:
        content: The file: a document, or an OAI-PMH ``<metadata>`` element that contains one.
        fields: The fields.

    Raises:
        NoFields: It is not well-formed XML, has a document type, or has no flat element.
    """

    __slots__ = ("_parsed", "content", "fields")

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._parsed: _Parsed | None = _Parsed(content)
        self.fields = self._parsed.fields()

    def with_fields(self, fields: Fields) -> bytes:
        """Return the metadata file with other fields.

        Args:
            fields: The new fields, in this order. A field with a place keeps its element with
                all attributes; elements whose places are missing are removed.

        Returns:
            The original bytes if nothing changes; else the document in UTF-8, in which only
            the elements concerned are changed. The bytes of a small one have its tree.

        Raises:
            NoFields: The document does not declare a name's prefix.
            UnknownField: The document's format does not have the field of a new value.
        """
        if fields == self.fields:
            return self.content
        parsed, self._parsed = self._parsed or _Parsed(self.content), None
        self._note_title(parsed.root, parsed.record)
        _Writer(parsed.record, parsed.elements, self.fields).write(fields)
        declared = self.content.lstrip().startswith(b"<?xml")
        tree = parsed.root.getroottree() if declared else parsed.root
        written: bytes = etree.tostring(tree, encoding="UTF-8", xml_declaration=declared)
        if len(written) > _SMALL or _has_others_than_elements(written):
            return written
        return DocumentBytes.of(written, parsed.root)

    def _note_title(self, root: etree._Element, record: etree._Element) -> None:
        """Keep the title with the bytes, before their tree is changed: the index asks for it."""
        if isinstance(self.content, DocumentBytes) and not _has_others_than_elements(self.content):
            is_known = len(self.fields) == len(record) and format_of(record) is OAI_DC
            title = _title_in(self.fields) if is_known else title_of_root(root)
            self.content.known_title = title


def _title_in(fields: Fields) -> str:
    """The title of a Dublin Core document with these fields; see `dublin_core.title`."""
    titles = (one for one in fields if FIELDS.get(one.name.rpartition(":")[2]) == "titles")
    return next(filter(None, (fold(one.text) for one in titles)), "")


def _has_others_than_elements(content: bytes) -> bool:
    """Whether there may be comments or instructions, which descriptions are read without."""
    return bool(_NOT_ELEMENTS.search(content, 5 if content.startswith(b"<?xml") else 0))


def read_fields(content: bytes) -> Fields:
    """Read the fields of a metadata file.

    Args:
        content: A document, or an OAI-PMH ``<metadata>`` element that contains one.

    Raises:
        NoFields: It is not well-formed XML, has a document type, or has no flat element.
    """
    return ReadDocument(content).fields


def read_texts(content: bytes) -> Fields:
    """Read the fields of a metadata file, with the text of those that have markup, as the index.

    They are for reading only: they have no places.

    Raises:
        NoFields: See `ReadDocument`; elements with markup are flat here.
    """
    root = parsed(content)
    elements = () if root is None else unwrapped(root).iterchildren(etree.Element)
    found = tuple(
        Field(_name_of(one), fold(text_of(one)) if len(one) else one.text or "", _lang(one))
        for one in elements
        if not len(one) or has_markup(one, FIELDS)
    )
    return found or read_fields(content)  # which says what is wrong


def write_fields(content: bytes, fields: Fields) -> bytes:
    """Return a metadata file with other fields; see `ReadDocument.with_fields`.

    Raises:
        NoFields: See `ReadDocument`.
    """
    return ReadDocument(content).with_fields(fields)


class _Parsed:
    """The tree of a metadata file; writing changes it.

    Attributes:
        root: The outermost element.
        record: The element whose children are the fields: the first that is not a wrapper.
        elements: The child elements of ``record``.
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
        """Return the fields of the flat elements."""
        flat = [one for one in enumerate(self.elements) if not len(one[1])]
        return tuple(
            [Field(_name_of(one), one.text or "", _lang(one), place) for place, one in flat]
        )


def _lang(element: etree._Element) -> str:
    return element.get(_LANG, "").strip()


def _name_of(element: etree._Element) -> str:
    tag = element.tag
    return _plain_name(tag) or _name(tag, element.prefix)


@lru_cache(maxsize=1024)  # the documents of a Silo have few names
def _plain_name(tag: str) -> str:
    """The name of an element of Dublin Core, or without a namespace; ``""`` for others."""
    return "" if tag.startswith("{") and not tag.startswith(_IN_DC) else tag.removeprefix(_IN_DC)


@lru_cache(maxsize=1024)
def _name(tag: str, prefix: str | None) -> str:
    namespace, _, local = tag.removeprefix("{").rpartition("}")
    prefix = prefix or _KNOWN_PREFIXES.get(namespace)
    return local if prefix is None else f"{prefix}:{local}"


class _Writer:
    """Writes fields into a record's element."""

    def __init__(
        self, record: etree._Element, elements: list[etree._Element], before: Fields
    ) -> None:
        self._record, self._elements = record, elements
        self._before = {field.place: field for field in before}
        self._format = format_of(record)

    @cached_property
    def _names(self) -> dict[str, str]:
        """The name of each field that the document has → its tag."""
        elements = self._elements
        return {one.name: str(elements[one.place or 0].tag) for one in self._before.values()}

    def write(self, fields: Fields) -> None:
        """Remove, change, add and sort elements."""
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
        if field.place is not None and field is self._before.get(field.place):
            return self._elements[field.place]
        if _NOT_XML.search(field.text + field.lang):
            raise NoFields(f"cannot hold a control character, as a value of {field.name} has")
        if field.place is None:
            element = etree.Element(self._tag(field.name))
            element.text = field.text
        else:
            element, before = self._elements[field.place], self._before[field.place]
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

    @cached_property
    def _plain(self) -> str:
        """Return the namespace for a new name without a prefix, from the existing elements."""
        known = self._format.names
        names = ELEMENTS if known is None else next(iter(known.values()), ())
        there = [tag for name, tag in self._names.items() if name in names]
        if there:
            return there[0].rpartition("}")[0].removeprefix("{")
        if known is None:
            return DC if DC in self._record.nsmap.values() else namespace_of(self._record)
        return next(iter(known), "") or namespace_of(self._record)

    def _tag(self, name: str) -> str:
        """Return the tag of a new element.

        Raises:
            UnknownField: The format has no field of that name.
        """
        tag = self._names.get(name) or self._new_tag(name)
        namespace, _, local = tag.removeprefix("{").rpartition("}")
        known = self._format.names
        if known is None:  # formats other than Dublin Core may have any field
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
            raise NoFields(f"does not declare the prefix {prefix!r}, which the field {name} needs")
        return f"{{{namespaces[prefix]}}}{match['local']}"

    def _remove(self, element: etree._Element) -> None:
        """Remove an element and the white space before it; the text after it stays."""
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
        """Sort the wanted elements; those that are already in order are not moved."""
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
        """Return the white space before an element of the record."""
        return self._record.text


def _longest_rising(positions: list[int]) -> set[int]:
    """Return the indices of a longest increasing subsequence; -1 is never part of it."""
    ends: list[int] = []  # the index that ends the best subsequence of each length
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
