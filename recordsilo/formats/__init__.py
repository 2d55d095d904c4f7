"""Metadata formats: what a file is in, what it says, where it leads, which one counts.

`describe` turns the bytes of a metadata file into a `Description`, `links_of` gives the
addresses in it, `main_first` says which of several files is the main one. `documents` is
the one place that parses; `known` holds a module for each format, which makes one `Format`
value: to add a format, add a module there. Used by the index, the page, curation, the
crosswalk and the exports.
"""

from collections.abc import Callable, Iterable

from recordsilo.formats.documents import MAX_BYTES, parsed, unwrapped
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
    "FORMATS", "MAX_BYTES", "Description", "Format", "Link", "Value", "canonical_identifier",
    "describe", "describe_main", "format_of", "format_of_file", "is_metadata", "links_of",
    "main_first", "persistent_identifier", "signature",
]  # fmt: skip


def describe(name: str, content: bytes) -> Description | None:
    """Say what a metadata file says.

    Args:
        name: The file's name (the metadata prefix of a harvested one); tells apart
            what is not metadata, such as ``oai_dc.about``.
        content: The file's bytes: a metadata document, or an OAI-PMH ``<metadata>``
            element around one.

    Returns:
        The description; an empty one for a format in which nothing was recognised;
        None for bytes that are no well-formed XML, hold a document type, or are
        beyond 64 MiB.
    """
    root = parsed(content) if is_metadata(name) else None
    if root is None:
        return None
    part, found = described_part(unwrapped(root))
    return found.read(part)


def describe_main(paths: Iterable[str], read: Callable[[str], bytes | None]) -> Description:
    """What a version's metadata files say of it: the first that has a title, the main one first.

    Args:
        paths: Of the files that were put as metadata, in the order put.
        read: Path → content; None for what cannot be read and is passed over.

    Returns:
        Where none has a title, what the last says that can be described.
    """
    found = Description()
    for path in main_first(paths):
        content = read(path)
        found = (None if content is None else describe(path, content)) or found
        if found.title:
            break
    return found


def links_of(name: str, content: bytes) -> tuple[Link, ...]:
    """The http and https addresses in a metadata file, in its order, with their fields.

    Args:
        name: The file's name; what is not metadata (``oai_dc.about``) has none.
        content: As for `describe`; none are found in what that cannot read.
    """
    root = parsed(content) if is_metadata(name) else None
    return () if root is None else tuple(links(unwrapped(root)))
