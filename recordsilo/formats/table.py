"""Find the format of a document or a file, and the main file of a version."""

import json
import zlib
from collections.abc import Iterable
from functools import lru_cache

from lxml import etree

from recordsilo.formats import generic
from recordsilo.formats.format import Format
from recordsilo.formats.known import FORMATS

ABOUT = ".about"
"""Endings of the names of files that are not metadata but about it."""
_NESTED = 4
"""How many nested wrappers are searched."""
_BY_PREFIX = {prefix: one for one in FORMATS for prefix in one.prefixes}


def format_of(root: etree._Element) -> Format:
    """The format of a document, by its root's name and namespace; `generic.OTHER` if unknown."""
    return _format_of(root.tag)


@lru_cache(maxsize=1024)  # the documents of a Silo have few roots
def _format_of(tag: str) -> Format:
    namespace, _, name = tag.rpartition("}")
    namespace = namespace.removeprefix("{")
    for one in FORMATS:
        if any(root.fits(name, namespace) for root in one.roots):
            return one
    return generic.OTHER


def format_of_file(path: str) -> Format:
    """The format of a metadata file by its name, a prefix; `generic.OTHER` if unknown."""
    return _BY_PREFIX.get(path.removesuffix(".xml"), generic.OTHER)


def described_part(root: etree._Element) -> tuple[etree._Element, Format]:
    """The document that describes a record, without wrappers, and its format.

    If a wrapper has several documents, the first one of the preferred format is used.
    """
    one = format_of(root)
    for _ in range(_NESTED):
        if one.within is None:
            break
        inner = [(part, format_of(part)) for part in one.within(root)]
        if not inner:
            return root, generic.OTHER
        root, one = min(inner, key=lambda pair: pair[1].preference)
    return root, one


def main_first(paths: Iterable[str]) -> list[str]:
    """Sort the metadata files of a version: the main one first, files about metadata last.

    Args:
        paths: In the order put, which decides between equally preferred formats. The
            file's name, a metadata prefix, gives its format.
    """
    return sorted(paths, key=_place)


def is_metadata(path: str) -> bool:
    """Whether a file that was put as metadata is metadata, not a file about it."""
    return not path.endswith(ABOUT)


def is_xml(path: str) -> bool:
    """Whether a file that is put as metadata has to be XML: not if its extension says otherwise."""
    extension = path.rpartition("/")[2].partition(".")[2]
    return extension in ("", "xml", "about", "about.xml") or path in _BY_PREFIX


@lru_cache(maxsize=1024)
def _place(path: str) -> int:
    if not is_metadata(path):
        return generic.OTHER.preference + 1
    return format_of_file(path).preference


def signature() -> int:
    """A 16-bit number that changes with the formats and the versions of their readers."""
    said = [
        [
            one.name,
            one.version,
            one.preference,
            one.prefixes,
            [[r.name, r.namespaces] for r in one.roots],
        ]
        for one in (*FORMATS, generic.OTHER)
    ]
    return zlib.crc32(json.dumps(said).encode()) & 0xFFFF
