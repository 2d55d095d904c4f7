"""The files of an item in DSpace's Simple Archive Format, apart from its metadata (pure).

Source: DSpace 7, "Importing and Exporting Items via Simple Archive Format"; how DSpace reads
``contents`` is in ItemImportServiceImpl (DSpace/DSpace, 00740cc).
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from siloexport.values import Deposit, ExportedFile

_RESERVED = re.compile(
    r"dublin_core\.xml|metadata_.*\.xml|contents|collections|handle|relationships"
)
_UNSAFE = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029]|^-(?=r )|^\\s|\\s$")
_LICENCES = frozenset({"license.txt", "licence.txt"})


@dataclass(frozen=True, slots=True)
class Bitstream:
    """A file of an item.

    Attributes:
        name: In the item's directory, and in DSpace.
        bundle: ``ORIGINAL``, ``LICENSE`` or ``METADATA``.
        primary: Whether it is shown first.
    """

    name: str
    bundle: str
    file: ExportedFile
    primary: bool = False


def bitstreams_of(files: Iterable[ExportedFile]) -> list[Bitstream]:
    """Return the bitstreams of a version: its files, then the metadata as it was harvested.

    A file has its name without directories, if no other has that name.
    """
    ordered = sorted(files, key=lambda one: _bundle(one) == "METADATA")
    taken: set[str] = set()
    found: list[Bitstream] = []
    for file in ordered:
        bundle = _bundle(file)
        primary = bundle == "ORIGINAL" and not any(one.bundle == "ORIGINAL" for one in found)
        name = next(one for one in _names(file.path) if one not in taken)
        taken.add(name)
        found.append(Bitstream(name, bundle, file, primary))
    return found


def _bundle(file: ExportedFile) -> str:
    if file.is_metadata or file.document_of:
        return "METADATA"
    return "LICENSE" if file.path.lower() in _LICENCES else "ORIGINAL"


def _names(path: str) -> Iterator[str]:
    """Yield names for a file, the best first; the last is that of no other file."""
    for name in (path.rpartition("/")[2], path.replace("/", "_")):
        safe = _UNSAFE.sub("_", name)
        if not _RESERVED.fullmatch(safe):
            yield safe
        else:
            yield f"_{safe}"
    digest = hashlib.sha256(path.encode()).hexdigest()[:16]
    yield f"{digest}_{_UNSAFE.sub('_', path.rpartition('/')[2])}"


def contents_of(bitstreams: Iterable[Bitstream], group: str) -> str:
    """Return the file ``contents``.

    Args:
        bitstreams: In their order.
        group: The group that may read them; ``""`` for the collection's default.
    """
    lines = []
    for one in bitstreams:
        parts = [one.name, f"bundle:{one.bundle}"]
        if group:
            parts.append(f"permissions:-r '{group}'")
        if one.file.path != one.name:
            parts.append(f"description:{_UNSAFE.sub('_', one.file.path)}")
        if one.primary:
            parts.append("primary:true")
        lines.append("\t".join(parts) + "\n")
    return "".join(lines)


def collections_of(
    deposit: Deposit, first: Iterable[str], by_set: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the collections of an item, the owning one first.

    Args:
        first: Those of every item.
        by_set: setSpec → collection, for the record's sets and the sets above them.
    """
    found = dict.fromkeys(first)
    for spec in deposit.sets:
        names = spec.split(":")
        for above in range(len(names), 0, -1):
            if collection := by_set.get(":".join(names[:above])):
                found[collection] = None
                break
    return tuple(found)
