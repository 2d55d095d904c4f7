"""WARC files that are in an object store, and no more on this disk.

``harvests/elsewhere.jsonl`` has a line for each file that was sent there and compared; the last
line of a file counts (docs/format.md). A file that is on this disk, too, is read here.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from filestores.errors import StoreFailed
from filestores.object_store import ObjectStore
from filestores.schemes import check_address
from oaipmhscraper.errors import ElsewhereUnreadable
from politeweb.warc.files import WarcName
from recordsilo.disk.atomic_file import append_lines
from recordsilo.disk.digest import Digest
from recordsilo.disk.json_lines import read_lines

LIST = "elsewhere.jsonl"
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A WARC file in an object store.

    Attributes:
        file: Its name.
        url: Where it is.
        digest: What it contains.
    """

    file: str
    url: str
    digest: Digest

    @property
    def harvest_id(self) -> str:
        """The harvest it belongs to."""
        known = WarcName.parse(self.file)
        return "" if known is None else known.harvest_id


def read_elsewhere(directory: str) -> dict[str, Elsewhere]:
    """The files that were sent to an object store, by name.

    Args:
        directory: The ``harvests/`` of a Silo, or any other.

    Raises:
        ElsewhereUnreadable: A line is malformed.
    """
    lines = read_lines(os.path.join(directory, LIST), _entry, ElsewhereUnreadable)
    return {one.file: one for one in lines}


def _entry(line: Any) -> Elsewhere:
    file, size, sha256 = line["file"], line["bytes"], line["sha256"]
    if not isinstance(file, str) or WarcName.parse(file) is None:
        raise ValueError(f"{file!r} is not the name of a WARC file")
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ValueError("its bytes are no number")
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        raise ValueError("its sha256 is not a digest")
    return Elsewhere(file, check_address(str(line["url"])), Digest(sha256, size))


def note_elsewhere(directory: str, entry: Elsewhere) -> None:
    """Add a line, durably."""
    digest = entry.digest
    line = {"file": entry.file, "url": entry.url, "bytes": digest.size, "sha256": digest.sha256}
    append_lines(os.path.join(directory, LIST), [json.dumps(line).encode()], directory)


@contextmanager
def readable(path: str) -> Iterator[str]:
    """A path under which a WARC file can be read, for the time of the block.

    A file that is only in an object store is fetched into a temporary directory, and compared.

    Args:
        path: Of the file, or where it was before it was sent there.

    Raises:
        ElsewhereUnreadable: The list of such files is damaged.
        StoreFailed: It cannot be fetched; says how to bring it back.
    """
    directory, name = os.path.split(path)
    entry = None if os.path.lexists(path) else read_elsewhere(directory).get(name)
    if entry is None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="silo-warc-") as place:
        fetched = os.path.join(place, name)
        try:
            with open(fetched, "xb") as file:
                file.writelines(ObjectStore(entry.url).compared(entry.url, entry.digest))
        except StoreFailed as error:
            silo = os.path.dirname(directory) or "."
            raise type(error)(
                f"{name} is in an object store, and could not be read there: {error};"
                f" to bring it back: silo fleet archive --back {silo}"
            ) from error
        yield fetched
