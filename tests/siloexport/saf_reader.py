"""Reads items of DSpace's Simple Archive Format as DSpace does, and refuses what DSpace refuses.

Written from ItemImportServiceImpl (DSpace/DSpace, 00740cc): ``contents`` is split at tabs, a line
beginning with ``-r `` registers a file, only the first text node of a value counts, and the first
group in single quotes is the one with the permission.
"""

import re
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree

_NAMES = """
dc.contributor dc.contributor.advisor dc.contributor.author dc.contributor.editor
dc.contributor.illustrator dc.contributor.other dc.coverage.spatial dc.coverage.temporal
dc.creator dc.date dc.date.available dc.date.copyright dc.date.created dc.date.issued
dc.date.submitted dc.description dc.description.abstract dc.description.provenance
dc.description.sponsorship dc.description.tableofcontents dc.format dc.format.extent
dc.format.mimetype dc.identifier dc.identifier.citation dc.identifier.isbn dc.identifier.issn
dc.identifier.other dc.identifier.uri dc.language dc.language.iso dc.publisher dc.relation
dc.relation.haspart dc.relation.hasversion dc.relation.isbasedon dc.relation.isbn
dc.relation.isformatof dc.relation.ispartof dc.relation.isreferencedby dc.relation.isreplacedby
dc.relation.isversionof dc.relation.references dc.relation.replaces dc.relation.requires
dc.rights dc.rights.uri dc.source dc.subject dc.title dc.title.alternative dc.type
oaire.citation.edition oaire.citation.endPage oaire.citation.issue oaire.citation.startPage
oaire.citation.title oaire.citation.volume
"""
REGISTRY = frozenset(_NAMES.split())
"""Fields of the registries that come with DSpace, as far as ours are concerned."""


@dataclass
class Bitstream:
    bundle: str
    content: bytes
    description: str = ""
    primary: bool = False
    readers: str = ""


@dataclass
class Item:
    metadata: list[tuple[str, str, str]] = field(default_factory=list)
    """(field, text, language)."""
    bitstreams: dict[str, Bitstream] = field(default_factory=dict)
    collections: list[str] = field(default_factory=list)
    handle: str = ""

    def texts(self, name: str) -> list[str]:
        return [text for place, text, _ in self.metadata if place == name]


def read_item(directory: Path, registry: frozenset[str] = REGISTRY) -> Item:
    """Read an item; raises AssertionError for what DSpace would refuse."""
    item = Item()
    names = {one.name for one in directory.iterdir()}
    assert all(one.is_file() for one in directory.iterdir())
    assert "dublin_core.xml" in names
    assert not re.search(r"\s", directory.name)  # a line of the map file is split there
    read = {"dublin_core.xml"}
    for name in sorted(names):
        if name == "dublin_core.xml" or re.fullmatch(r"metadata_.*\.xml", name):
            read.add(name)
            item.metadata += _metadata(directory / name, registry)
    if "contents" in names:
        for line in re.split("\r\n|\r|\n", _text(directory / "contents"))[:-1]:
            name, bitstream = _bitstream(directory, line)
            assert name not in item.bitstreams
            item.bitstreams[name] = bitstream
            read.add(name)
    if "collections" in names:
        item.collections = _text(directory / "collections").splitlines()
        for one in item.collections:
            assert "/" in one or uuid.UUID(one)
    if "handle" in names:
        item.handle = _text(directory / "handle").splitlines()[0]
    assert names - read <= {"contents", "collections", "handle"}
    primaries = [one.bundle for one in item.bitstreams.values() if one.primary]
    assert len(primaries) == len(set(primaries))
    return item


def _text(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


def _metadata(path: Path, registry: frozenset[str]) -> list[tuple[str, str, str]]:
    root = etree.parse(path).getroot()
    assert root.tag == "dublin_core"
    schema = root.get("schema", "dc")
    assert path.name == ("dublin_core.xml" if schema == "dc" else f"metadata_{schema}.xml")
    found = []
    for value in root:
        assert value.tag == "dcvalue"
        assert not len(value)
        qualifier = value.get("qualifier")
        place = f"{schema}.{value.get('element')}"
        if qualifier not in {None, "", "none"}:
            place += f".{qualifier}"
        assert place in registry, place
        assert value.text
        found.append((place, value.text, value.get("language") or ""))
    return found


def _bitstream(directory: Path, line: str) -> tuple[str, Bitstream]:
    assert line.strip()
    assert not line.strip().startswith("-r ")
    name, *options = line.split("\t")
    said = dict(one.split(":", 1) for one in options)
    usual = "LICENSE" if name == "license.txt" else "ORIGINAL"
    permission = said.get("permissions", "")
    quoted = re.search("'(.*?)'", permission)
    assert not permission or (permission.startswith("-r ") and quoted)
    return name, Bitstream(
        said.get("bundle", usual).strip(),
        (directory / name).read_bytes(),
        said.get("description", "").strip(),
        said.get("primary") == "true",
        quoted[1] if quoted else "",
    )
