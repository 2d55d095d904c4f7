"""Read many records for the index, in this process and in a second one.

Reading and describing records takes longer than writing rows. On two cores, a second
process does most of the reading; this process writes the rows, and reads whenever it
would have to wait (`recordsilo.second_process`). The second process receives identifiers
and returns prepared rows.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from recordsilo.disk.names import MANIFEST_NAME
from recordsilo.errors import RecordSiloError
from recordsilo.formats import Description
from recordsilo.index import Entry, ManifestStamp, project
from recordsilo.index.facets import ValuesOf
from recordsilo.index.projection import Unread
from recordsilo.index.rows import Prepared, prepare
from recordsilo.records.description import description_of
from recordsilo.records.manifest import Manifest
from recordsilo.records.place import RecordPlace
from recordsilo.second_process import SecondProcess, cores, serve, shared

PlaceOf = Callable[[str], RecordPlace]
BESIDE_FROM = 1000
"""The number of records after which a second process is started (0.4 s on another core)."""


@dataclass(frozen=True, slots=True)
class ReadRecords:
    """The result of reading records; an identifier without a record is in neither list.

    Attributes:
        unread: Those that could not be read.
    """

    found: list[Prepared]
    unread: list[Unread]


def entry_of(place: RecordPlace, manifest: Manifest) -> Entry:
    """The index entry of a record as it is on disk."""
    return project(manifest, lambda version, path: place.content(manifest, version, path))


def read_entry(place: RecordPlace) -> tuple[Entry, ManifestStamp] | None:
    """A record's entry, and the stamp that its manifest had before it was read.

    Returns:
        None if there is no such record.

    Raises:
        RecordSiloError: Its manifest cannot be read.
    """
    try:
        stamp = ManifestStamp.of(f"{place.dirpath}/{MANIFEST_NAME}")
    except OSError:
        stamp = ManifestStamp(0, 0, 0)
    manifest = place.read_manifest()
    return None if manifest is None else (entry_of(place, manifest), stamp)


def read_or_not(place: RecordPlace) -> tuple[Entry, ManifestStamp] | Unread | None:
    """The same as `read_entry`, with an unreadable record as a value."""
    state = state_of(place)
    try:
        return read_entry(place)
    except RecordSiloError as error:
        return Unread(place.identifier, place.dirpath, str(error), state)


def state_of(place: RecordPlace) -> str:
    """A text that changes when a manifest that cannot be read may have become whole.

    Permissions and the way to the file count, too.
    """
    why = 0
    for path in (f"{place.dirpath}/{MANIFEST_NAME}", place.dirpath):
        try:
            found = os.stat(path)
            return f"{found.st_ctime_ns} {found.st_size} {found.st_ino}"
        except OSError as error:
            why = error.errno or 0
    return os.strerror(why)


def read_records(place_of: PlaceOf, identifiers: Iterable[str]) -> ReadRecords:
    """Read records in this process."""
    read = ReadRecords([], [])
    for identifier in identifiers:
        one = read_or_not(place_of(identifier))
        if isinstance(one, Unread):
            read.unread.append(one)
        elif one is not None:
            read.found.append(prepare(*one))
    return read


def described(values_of: Callable[[Manifest, Description], Iterable[str]]) -> ValuesOf:
    """Make a `Facet.values` that reads each record's manifest and current description.

    Records that cannot be read have no values; `silo check` reports them.

    Cost: reads each record's files, as indexing does.
    """

    def values(path: str, identifiers: Sequence[str]) -> Mapping[str, Sequence[str]]:
        found = {}
        for identifier in identifiers:
            place = RecordPlace.in_silo(path, identifier)
            try:
                manifest = place.read_manifest()
            except RecordSiloError:
                continue
            if manifest is not None and manifest.versions:
                found[identifier] = tuple(values_of(manifest, _description(place, manifest)))
        return found

    return values


def _description(place: RecordPlace, manifest: Manifest) -> Description:
    return description_of(
        manifest.current, lambda version, path: place.content(manifest, version, path)
    )


def read_chunks(
    place_of: PlaceOf, root: str, chunks: Iterable[Sequence[str]]
) -> Iterator[ReadRecords]:
    """Read chunks of records, each when it is requested or shortly before.

    Args:
        place_of: Identifier → the record's place.
        root: The Silo's ``pairtree_root``.
        chunks: Taken as they are read; a few more than were returned.
    """
    remaining = iter(chunks)
    read = 0
    for chunk in remaining:
        yield read_records(place_of, chunk)
        read += len(chunk)
        if read >= BESIDE_FROM and _is_plain(place_of) and cores() > 1:
            break
    with contextlib.closing(SecondProcess(__name__, root)) as second:
        yield from shared(map(list, remaining), second, partial(read_records, place_of), _received)


def _received(answer: tuple[list[Iterable[object]], list[Iterable[object]]]) -> ReadRecords:
    found, unread = answer
    return ReadRecords(list(map(Prepared._make, found)), list(map(Unread._make, unread)))


def _is_plain(place_of: PlaceOf) -> bool:
    """Whether the second process would find the same records as this one."""
    return type(place_of("x")) is RecordPlace


def main() -> None:
    """Run the reader process."""
    root = sys.argv[2]

    def place_of(identifier: str) -> RecordPlace:
        return RecordPlace.below(root, identifier)

    def work(
        identifiers: list[str],
    ) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
        read = read_records(place_of, identifiers)
        return list(map(tuple, read.found)), list(map(tuple, read.unread))

    serve(work)
