"""Packages of documents: ZIP files with a manifest (Z39.99, section 11)."""

import hashlib
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from typing import BinaryIO

from oaipmhprotocol import Record
from oaipmhprovider.answers import embeddable
from oaipmhprovider.resourcesync.addresses import ListPart
from oaipmhprovider.resourcesync.documents import Head, ResourceEntry, written
from oaipmhprovider.source import Position, RecordSource, Selection

SIZE = 1000
"""Records of a package."""
_IN_MEMORY = 8 << 20
_TOGETHER = 100
_DATE = (1980, 1, 1, 0, 0, 0)


def package(
    source: RecordSource, prefix: str, part: ListPart, address: Callable[[str], str], at: str
) -> BinaryIO:
    """A package of the records of a part that are not deleted, at its beginning.

    Args:
        address: Identifier → that of the document.
        at: When it was made.

    Returns:
        A file in memory, or a temporary one if it is large; close it.

    Raises:
        PartChanged: It has more records than any package that was listed.
    """
    file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - who asked for it closes it
    try:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
            entries: list[ResourceEntry] = []
            for record in _records(source, prefix, part):
                content, path = document_of(record), f"resources/{len(entries) + 1:05}.xml"
                made.writestr(_member(path), content)
                said = {
                    "hash": f"sha-256:{hashlib.sha256(content).hexdigest()}",
                    "length": str(len(content)),
                    "type": "application/xml",
                    "path": f"/{path}",
                }
                name, stamp = record.header.identifier, record.header.datestamp
                entries.append(ResourceEntry(address(name), stamp, said))
            head = Head({"capability": "resourcedump-manifest", "at": at})
            made.writestr(_member("manifest.xml"), b"".join(written(head, entries)))
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file  # type: ignore[return-value] # it has all that a binary file has


class PartChanged(Exception):
    """A part that nobody listed, or that has grown since."""


def document_of(record: Record) -> bytes:
    """The document of a record, as it is when it is asked for alone."""
    assert record.metadata is not None
    return b'<?xml version="1.0" encoding="UTF-8"?>\n%b\n' % embeddable(record.metadata)


def _member(path: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(path, _DATE)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _records(source: RecordSource, prefix: str, part: ListPart) -> Iterator[Record]:
    selection, after, seen = Selection(prefix), part.after, 0
    while found := source.records(selection, after, _TOGETHER):
        for record in found:
            if part.is_before(record.header):
                return
            if record.metadata is not None:
                yield record
            if Position.of(record.header) == part.last:
                return
        if (seen := seen + len(found)) > 2 * SIZE:
            raise PartChanged
        after = Position.of(found[-1].header)
