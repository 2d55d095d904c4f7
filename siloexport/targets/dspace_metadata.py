"""What is said of a record → metadata fields of DSpace, by a table (`crosswalks/dspace.toml`).

Pure, except that `read_mapping` reads the file. Source: DSpace 7, metadata registries; "Importing
and Exporting Items via Simple Archive Format".
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from lxml import etree

from infopackages.elements import legible
from recordsilo.disk.toml_files import TomlInvalid, load_toml
from siloexport.bibliography import Bibliography, Dated, Identifier, language_tag
from siloexport.errors import ExportError
from siloexport.values import Deposit

_FIELD = re.compile(r"([A-Za-z][\w-]*)\.([A-Za-z][\w-]*)(?:\.([A-Za-z][\w-]*))?", re.ASCII)
_MIME = re.compile(r"[a-z]+/[\w.+-]+")
_OPEN = ("contributors.", "dates.", "identifiers.", "relations.")
"""Beginnings of values that any word may follow: a role, a kind."""
_COLLECTION = re.compile(r"[^\s/]+/\S+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class MetadataField(NamedTuple):
    """One value of an item; the qualifier may be ``""``."""

    schema: str
    element: str
    qualifier: str
    text: str
    lang: str = ""


class Said(NamedTuple):
    """A text that is said of a record, under a name of the table."""

    name: str
    text: str
    lang: str = ""


@dataclass(frozen=True, slots=True)
class DspaceMapping:
    """What a file of one's own says; see `crosswalks/dspace.toml`."""

    fields: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    collections: Mapping[str, str] = field(default_factory=dict)

    def field_of(self, name: str) -> str:
        """Return the field for a name, such as ``contributors.edt``; ``""`` for none."""
        known = {**usual_fields(), **self.fields}
        return known.get(name, known.get(name.partition(".")[0], ""))


@cache
def usual_fields() -> Mapping[str, str]:
    """Return the fields of the table that comes with silo."""
    shipped = files("siloexport").joinpath("crosswalks/dspace.toml").read_text(encoding="utf-8")
    found: Mapping[str, str] = tomllib.loads(shipped)["fields"]
    return found


def read_mapping(path: str) -> DspaceMapping:
    """Read a table of one's own.

    Raises:
        ExportError: It cannot be read, or has a name, a field or a collection that cannot be.
    """
    try:
        table = load_toml(path, follow=True)
        return mapping_of(table)
    except (OSError, TomlInvalid, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise ExportError(f"the mapping {path} cannot be used: {said}") from None


def mapping_of(table: Mapping[str, Any]) -> DspaceMapping:
    """Return the mapping that a table says.

    Raises:
        ValueError: See `read_mapping`; the message is a predicate.
    """
    if unknown := set(table) - set(DspaceMapping.__slots__):
        raise ValueError(f"[{min(unknown)}] is none of [{'], ['.join(DspaceMapping.__slots__)}]")
    parts = {name: table.get(name, {}) for name in DspaceMapping.__slots__}
    for name, part in parts.items():
        if not isinstance(part, dict):
            raise ValueError(f"{name} is not a table")  # noqa: TRY004 - a fault of the file
        for key, value in part.items():
            texts = value.values() if name == "values" and isinstance(value, dict) else [value]
            if not all(isinstance(text, str) for text in texts):
                raise ValueError(f"{key} in [{name}] is not a text")
    for name, place in parts["fields"].items():
        if name not in usual_fields() and not name.startswith(_OPEN):
            raise ValueError(
                f"{name} in [fields] is unknown; it can be {', '.join(usual_fields())}"
            )
        if place and not _FIELD.fullmatch(place):
            raise ValueError(f"{place!r} is not a field of DSpace, such as dc.title.alternative")
    for place in (*parts["constants"], *parts["values"]):
        if not _FIELD.fullmatch(place):
            raise ValueError(f"{place!r} is not a field of DSpace, such as dc.title.alternative")
    for one in parts["collections"].values():
        check_collection(one)
    return DspaceMapping(**parts)


def check_collection(text: str) -> str:
    """Return a collection's handle or UUID.

    Raises:
        ValueError: It is neither.
    """
    if not _COLLECTION.fullmatch(text):
        raise ValueError(
            f"{text!r} is not a handle of a collection, such as 123456789/2, and no UUID"
        )
    return text


# -- what is said ----------------------------------------------------------------------------


def said_of(deposit: Deposit, found: Bibliography) -> Iterator[Said]:
    """Yield what is said of a record, under the names of the table, in its order."""
    yield Said("title", *found.title)
    yield from (Said("alternatives", *one) for one in found.alternatives)
    yield from (Said("creators", one.text) for one in found.creators)
    yield from (Said("creators.orcid", one.orcid) for one in found.creators)
    for person in found.contributors:
        yield Said(f"contributors.{person.role}" if person.role else "contributors", person.text)
    yield from (Said("publishers", *one) for one in found.publishers)
    yield from _dates(found)
    yield from (Said("types", *one) for one in found.types)
    yield from (Said("subjects", *one) for one in found.subjects)
    for language in found.languages:
        tag = language_tag(language)
        yield Said("languages.iso", tag) if tag else Said("languages", language)
    yield from (Said(f"identifiers.{one.kind}", _identifier(one)) for one in found.identifiers)
    for right in found.rights:
        yield Said("rights", right.text, right.lang)
        yield Said("rights.uri", right.uri)
    yield from (Said("abstracts", *one) for one in found.abstracts)
    yield from (Said("notes", *one) for one in found.notes)
    for relation in found.relations:
        name = f"relations.{relation.kind}" if relation.kind else "relations"
        yield Said(name, _identifier(relation.identifier) if relation.identifier else relation.text)
    yield from (Said("sources", *one) for one in found.sources)
    for one in found.formats:
        yield Said("formats.mimetype" if _MIME.fullmatch(one.text) else "formats", *one)
    yield from (Said("coverages", *one) for one in found.coverages)
    for name in found.container.__slots__:
        yield Said(f"container.{name}", getattr(found.container, name))
    for name in found.degree.__slots__:
        yield Said(f"degree.{name}", getattr(found.degree, name))
    yield Said("edition", found.edition)
    yield Said("record", deposit.identifier)
    yield Said("provenance", _provenance(deposit))


def _dates(found: Bibliography) -> Iterator[Said]:
    issued = found.issued
    yield Said("dates.issued", issued)
    for one in found.dates:
        if one.kind in {"issued", ""} and one.w3c == issued:
            continue
        yield Said(f"dates.{one.kind}" if one.kind else "dates", _date(one))


def _date(one: Dated) -> str:
    """Return a date; one in words, or a range, as it is written."""
    return one.w3c if one.text.startswith(one.w3c) and "/" not in one.text else one.text


def _identifier(one: Identifier) -> str:
    if one.address:
        return one.address
    return f"{one.kind}:{one.text}" if one.kind in {"pmid", "pmcid", "arxiv"} else one.text


def _provenance(deposit: Deposit) -> str:
    if not deposit.source:
        return ""
    date = deposit.version.datestamp
    of = f" (datestamp {date}Z)" if date else ""
    return f"Harvested from {deposit.source} as {deposit.identifier}{of}."


# -- fields ----------------------------------------------------------------------------------


def metadata_of(said: Iterable[Said], mapping: DspaceMapping) -> list[MetadataField]:
    """Return an item's metadata: constants, then what is said, each field's value once."""
    found = dict.fromkeys(
        MetadataField(*_parts(place), text) for place, text in mapping.constants.items()
    )
    known = {(*one[:3], one.text) for one in found}
    for one in said:
        place = mapping.field_of(one.name) if one.text else ""
        if not place:
            continue
        text = mapping.values.get(place, {}).get(one.text, one.text)
        value = MetadataField(*_parts(place), text, language_tag(one.lang) or one.lang)
        if text and (*value[:3], text) not in known:
            known.add((*value[:3], text))
            found[value] = None
    return list(found)


def _parts(place: str) -> tuple[str, str, str]:
    schema, element, *qualifier = place.split(".")
    return schema, element, "".join(qualifier)


def metadata_files(metadata: Iterable[MetadataField]) -> dict[str, bytes]:
    """Return the files of metadata: ``dublin_core.xml``, and one for each other schema.

    The first is there even if it is empty, because DSpace requires it.
    """
    schemas: dict[str, list[MetadataField]] = {"dc": []}
    for one in metadata:
        schemas.setdefault(one.schema, []).append(one)
    return {
        "dublin_core.xml" if schema == "dc" else f"metadata_{schema}.xml": _document(schema, some)
        for schema, some in schemas.items()
    }


def _document(schema: str, metadata: Iterable[MetadataField]) -> bytes:
    root = etree.Element("dublin_core", schema=schema)
    for one in metadata:
        named = {"element": one.element, "qualifier": one.qualifier or "none"}
        if one.lang:
            named["language"] = legible(one.lang)
        etree.SubElement(root, "dcvalue", named).text = legible(one.text)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
