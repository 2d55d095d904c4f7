"""Write the identifiers of values into metadata, where its format has a place for them (pure).

DataCite has ``nameIdentifier``, and attributes of ``affiliation`` (4.3), ``publisher`` (4.5) and
``subject``; MODS has ``valueURI`` and ``authorityURI`` (3.4; of ``publisher``: 3.7). An
identifier that is there stays, whatever the authority file says.

Source: DataCite Metadata Schema 3.1 and 4.6; MODS 3.7, "authorityAttributeGroup".
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from lxml import etree

from recordsilo.formats.collect import children_of, first_text, local_name, namespace_of, text_of
from recordsilo.formats.documents import NoDocument, parsed_whole, unwrapped
from recordsilo.formats.known.mods import name_text
from silocuration.authorities import SCHEME_ADDRESSES, scheme_of
from silocuration.editing.fields import Field, Fields

Tables = Mapping[str, Mapping[str, str]]
"""Field (``creator``, ``contributor``, ``publisher``, ``subject``) → value → identifier."""
_DATACITE = re.compile(r"https?://(?:schema\.)?datacite\.org/(?:schema/|meta/)?kernel-([34])")
_MODS = "http://www.loc.gov/mods/"
_LOCATION = "{http://www.w3.org/2001/XMLSchema-instance}schemaLocation"
_NEWEST = (4, 9)


@dataclass(frozen=True, slots=True)
class IdentifierPlace:
    """Where the identifier of one value can be written.

    Attributes:
        field: As the page names it.
        there: The identifiers that it has: (scheme, text).
        write: Writes (scheme, scheme's address, identifier's address).
        is_only: Whether there is room for one identifier only.
        needs_scheme: Whether an identifier of an unknown kind has no room.
    """

    field: str
    value: str
    key: str
    there: tuple[tuple[str, str], ...]
    write: Callable[[str, str, str], None]
    is_only: bool = True
    needs_scheme: bool = True


@dataclass(slots=True)
class Identified:
    """A metadata file with identifiers.

    Attributes:
        content: Its new bytes; the old ones if nothing was written.
        before, after: The values that got an identifier, without and with it.
        conflicts: Sentences on values that have another identifier.
    """

    content: bytes
    before: list[Field] = field(default_factory=list)
    after: list[Field] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)


def identified(content: bytes, tables: Tables, wanted: Fields | None = None) -> Identified:
    """Return a metadata file with the identifiers of its values.

    Args:
        content: Of any format; of one without a place for identifiers nothing changes.
        wanted: Write only these, as `Identified.after` has them.
    """
    found = Identified(content)
    try:
        root = parsed_whole(content)
    except NoDocument:
        return found
    said = None if wanted is None else {one.said() for one in wanted}
    for place in _places(unwrapped(root), tables):
        _fill(place, found, said)
    if found.after:
        declared = content.lstrip().startswith(b"<?xml")
        tree = root.getroottree() if declared else root
        found.content = etree.tostring(tree, encoding="UTF-8", xml_declaration=declared)
    return found


def _fill(
    place: IdentifierPlace, found: Identified, said: Collection[tuple[str, str, str]] | None
) -> None:
    scheme, address = scheme_of(place.key)
    if not address or (place.needs_scheme and not scheme):
        return
    for known, text in place.there:
        if address in {text, _address(known, text)}:
            return
        if place.is_only or known.casefold() == scheme.casefold():
            found.conflicts.append(
                f"{place.field} {place.value!r} has {' '.join(filter(None, (known, text)))},"
                f" not {address}"
            )
            return
    before = Field(place.field, place.value)
    after = Field(place.field, f"{place.value} <{address}>")
    if said is not None and after.said() not in said:
        return
    place.write(scheme, SCHEME_ADDRESSES.get(scheme, ""), address)
    found.before.append(before)
    found.after.append(after)


def _address(scheme: str, text: str) -> str:
    """The address of an identifier of a scheme, in whatever form it is written."""
    return scheme_of(text)[1] or scheme_of(f"{scheme.lower()}:{text}")[1]


def _places(record: etree._Element, tables: Tables) -> Iterator[IdentifierPlace]:
    if local_name(record) == "oai_datacite":
        payload = next(children_of(record, "payload"), None)
        inner = None if payload is None else next(payload.iterchildren(etree.Element), None)
        record = record if inner is None else inner
    if local_name(record) == "modsCollection":
        record = next(children_of(record, "mods"), record)
    if kernel := _DATACITE.match(namespace_of(record)):
        yield from _in_datacite(record, tables, _version(record, int(kernel[1])))
    elif namespace_of(record).startswith(_MODS) and local_name(record) == "mods":
        yield from _in_mods(record, tables)


def _key(tables: Tables, name: str, value: str) -> str:
    return tables.get(name, {}).get(value, "")


def _folded(element: etree._Element) -> str:
    return " ".join(text_of(element).split())


# --------------------------------------------------------------------------- DataCite


def _version(record: etree._Element, kernel: int) -> tuple[int, int]:
    """The version of the schema; the newest of a kernel if the document does not say."""
    told = re.search(rf"/kernel-{kernel}\.(\d)/", record.get(_LOCATION, ""))
    return (kernel, int(told[1])) if told else (kernel, _NEWEST[1])


def _in_datacite(
    record: etree._Element, tables: Tables, version: tuple[int, int]
) -> Iterator[IdentifierPlace]:
    for around, name in (("creators", "creator"), ("contributors", "contributor")):
        for parent in children_of(record, around):
            for person in children_of(parent, name):
                yield from _person(person, name, tables, version)
    if version >= (4, 5):
        for publisher in children_of(record, "publisher"):
            value = _folded(publisher)
            yield from _attributed(publisher, "publisher", value, _key(tables, "publisher", value))
    if version >= (4, 0):
        for parent in children_of(record, "subjects"):
            for subject in children_of(parent, "subject"):
                yield from _subject(subject, tables)


def _person(
    person: etree._Element, name: str, tables: Tables, version: tuple[int, int]
) -> Iterator[IdentifierPlace]:
    parts = [first_text(person, "familyName"), first_text(person, "givenName")]
    joined = ", ".join(filter(None, parts)) if parts[0] else ""
    value = " ".join((first_text(person, f"{name}Name") or joined).split())
    there = tuple(
        (one.get("nameIdentifierScheme", ""), _folded(one))
        for one in children_of(person, "nameIdentifier")
    )

    def write(scheme: str, scheme_address: str, address: str) -> None:
        made = etree.Element(f"{{{namespace_of(person)}}}nameIdentifier")
        made.set("nameIdentifierScheme", scheme)
        made.set("schemeURI", scheme_address)
        made.text = address
        earlier = {f"{name}Name", "givenName", "familyName", "nameIdentifier"}
        before = [one for one in person.iterchildren(etree.Element) if local_name(one) in earlier]
        _insert(person, made, before[-1])

    if key := _key(tables, name, value) or _key(tables, "creator", value):
        yield IdentifierPlace(name, value, key, there, write, is_only=version < (4, 0))
    if version >= (4, 3):
        for affiliation in children_of(person, "affiliation"):
            value = _folded(affiliation)
            key = _key(tables, "publisher", value)
            yield from _attributed(affiliation, "affiliation", value, key)


def _insert(parent: etree._Element, made: etree._Element, before: etree._Element) -> None:
    """Insert an element behind another, as far to the right as that."""
    made.tail = before.tail
    before.tail = parent.text
    before.addnext(made)


def _attributed(
    element: etree._Element, name: str, value: str, key: str
) -> Iterator[IdentifierPlace]:
    """An element with attributes such as ``publisherIdentifier``."""
    own, scheme_name = f"{name}Identifier", f"{name}IdentifierScheme"
    known = element.get(own, "").strip()

    def write(scheme: str, scheme_address: str, address: str) -> None:
        element.set(own, address)
        element.set(scheme_name, scheme)
        element.set("schemeURI", scheme_address)

    if key:
        there = ((element.get(scheme_name, ""), known),) if known else ()
        yield IdentifierPlace(name, value, key, there, write)


def _subject(subject: etree._Element, tables: Tables) -> Iterator[IdentifierPlace]:
    value = _folded(subject)
    key = _key(tables, "subject", value)
    if not key:
        return
    known, scheme_name = subject.get("valueURI", "").strip(), subject.get("subjectScheme", "")
    scheme = scheme_of(key)[0]
    there = ((scheme_name, known),) if known else ()
    if scheme_name and not known and scheme.casefold() not in scheme_name.casefold():
        there = ((scheme_name, "as its scheme"),)  # the identifier is one of another

    def write(scheme: str, scheme_address: str, address: str) -> None:
        subject.set("valueURI", address)
        if scheme and not scheme_name:
            subject.set("subjectScheme", scheme)
        if scheme_address and subject.get("schemeURI") is None:
            subject.set("schemeURI", scheme_address)

    yield IdentifierPlace("subject", value, key, there, write, needs_scheme=False)


# --------------------------------------------------------------------------- MODS


def _in_mods(record: etree._Element, tables: Tables) -> Iterator[IdentifierPlace]:
    told = re.search(r"mods-3-(\d+)\.xsd", record.get(_LOCATION, ""))
    number = record.get("version", "").removeprefix("3.") or (told[1] if told else "")
    version = int(number) if number.isdecimal() else 4
    if version < 4:
        return
    for element in record.iterchildren(etree.Element):
        kind = local_name(element)
        if kind == "name":
            value = name_text(element)
            is_creator = _key(tables, "creator", " ".join(value.split()))
            yield from _with_uri(element, "creator" if is_creator else "contributor", value, tables)
        elif kind == "originInfo" and version >= 7:
            for publisher in children_of(element, "publisher"):
                yield from _with_uri(publisher, "publisher", _folded(publisher), tables)
        elif kind == "subject":
            for part in children_of(element, "topic", "genre", "occupation", "name"):
                is_name = local_name(part) == "name"
                value = name_text(part) if is_name else _folded(part)
                yield from _with_uri(part, "subject", value, tables)


def _with_uri(
    element: etree._Element, name: str, value: str, tables: Tables
) -> Iterator[IdentifierPlace]:
    key = _key(tables, name, " ".join(value.split()))
    if not key:
        return
    around = element.getparent()
    known = element.get("valueURI", "").strip()
    if not known and around is not None and len(around) == 1:
        known = around.get("valueURI", "").strip()

    def write(_scheme: str, scheme_address: str, address: str) -> None:
        element.set("valueURI", address)
        if scheme_address and element.get("authorityURI") is None:
            element.set("authorityURI", scheme_address)

    there = (("", known),) if known else ()
    yield IdentifierPlace(name, " ".join(value.split()), key, there, write, needs_scheme=False)
