"""Metadata formats: recognise, describe and link metadata files, and choose the main one.

`describe` turns the bytes of a metadata file into a `Description`, `links_of` returns the
addresses in it, `main_first` sorts the main file first. Only `documents` parses. `known`
has a module for each format, which defines one `Format`; to add a format, add a module
there. Used by the index, the page, curation, the crosswalk and the exports.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from lxml import etree

from recordsilo.formats.documents import (
    MAX_BYTES,
    NoDocument,
    parsed,
    parsed_whole,
    unwrap,
    unwrapped,
)
from recordsilo.formats.flat import texts_of_flat
from recordsilo.formats.format import Format
from recordsilo.formats.known import FORMATS
from recordsilo.formats.links import Link, links
from recordsilo.formats.table import (
    described_part,
    format_of,
    format_of_file,
    is_metadata,
    main_first,
    signature,
)
from recordsilo.formats.values import (
    Description,
    Value,
    canonical_identifier,
    persistent_identifier,
)

__all__ = [
    "FORMATS", "MAX_BYTES", "Description", "Format", "Link", "NoDocument", "Value",
    "canonical_identifier", "describe", "describe_main", "format_of", "format_of_file",
    "is_metadata", "links_of", "main_first", "persistent_identifier", "read_document",
    "signature", "texts_of_main", "title_of_main", "title_of_root", "unwrap",
]  # fmt: skip


def describe(name: str, content: bytes) -> Description | None:
    """Describe a metadata file.

    Args:
        name: The file's name (the metadata prefix, if harvested), by which files that are
            not metadata, such as ``oai_dc.about``, are recognised.
        content: The file's bytes: a metadata document, or an OAI-PMH ``<metadata>``
            element around one.

    Returns:
        The description, which is empty if nothing was recognised. None for bytes that
        are not well-formed XML, have a document type, or are larger than 64 MiB.
    """
    root = parsed(content) if is_metadata(name) else None
    if root is None:
        return None
    part, found = described_part(unwrapped(root))
    return found.read(part)


def read_document(content: bytes) -> tuple[Format, Description]:
    """The format and the description of a metadata file; of a wrapper, that of its main document.

    Args:
        content: The file's bytes, as for `describe`.

    Raises:
        NoDocument: They are not well-formed XML, have a document type, or are too large.
    """
    part, found = described_part(unwrapped(parsed_whole(content)))
    return found, found.read(part)


def describe_main(paths: Iterable[str], read: Callable[[str], bytes | None]) -> Description:
    """Describe a version by its main metadata file, or by the next one that has a title.

    Args:
        paths: The paths of the files that were put as metadata, in the order put.
        read: Path → content; None for a file that cannot be read, which is skipped.

    Returns:
        The first description with a title; if none has one, the last description.
    """
    found = Description()
    for path in main_first(paths):
        content = read(path)
        found = (None if content is None else describe(path, content)) or found
        if found.title:
            break
    return found


def texts_of_main(
    paths: Iterable[str], read: Callable[[str], bytes | None]
) -> Mapping[str, Sequence[str]]:
    """The texts of what `describe_main` returns, in less time.

    Args:
        paths, read: See there.

    Returns:
        Field of `Description` → the texts of its values, in their order; without empty fields.
    """
    found: Mapping[str, Sequence[str]] = {}
    for path in main_first(paths):
        content = read(path)
        root = None if content is None or not is_metadata(path) else parsed(content)
        if root is not None:
            flat = texts_of_flat(root)
            found = _described_texts(root) if flat is None else flat
            if "titles" in found:
                break
    return found


def _described_texts(root: etree._Element) -> Mapping[str, Sequence[str]]:
    part, found = described_part(unwrapped(root))
    return {name: [text for text, _ in values] for name, values in found.read(part).items()}


def title_of_main(paths: Iterable[str], read: Callable[[str], bytes | None]) -> str:
    """The title of what `describe_main` returns, in less time.

    Args:
        paths, read: See there.
    """
    for path in main_first(paths):
        content = read(path)
        if content is None or not is_metadata(path):
            continue
        known: str | None = getattr(content, "known_title", None)
        if known is None:
            root = parsed(content)
            known = "" if root is None else title_of_root(root)
        if known:
            return known
    return ""


def title_of_root(root: etree._Element) -> str:
    """The title of a metadata document; ``""`` if it has none.

    Args:
        root: Its root element, or that of a wrapper, without comments and instructions.
    """
    part, found = described_part(unwrapped(root))
    return found.read(part).title if found.title is None else found.title(part)


def links_of(name: str, content: bytes) -> tuple[Link, ...]:
    """The http and https addresses in a metadata file, in order, with their fields.

    Args:
        name: The file's name; a file that is not metadata (``oai_dc.about``) has no links.
        content: The file's bytes, as for `describe`; malformed XML has no links.
    """
    root = parsed(content) if is_metadata(name) else None
    return () if root is None else tuple(links(unwrapped(root)))
