"""Copy a record whole into a Silo that is being made, while others may change the original.

Readers of a Silo take no locks: the manifest is read before and after, and if a writer replaced it
meanwhile, the record is copied again. So a Silo that cannot be written can be copied, too.
"""

import os
from dataclasses import dataclass

from recordsilo.copies.errors import RecordNotCopied
from recordsilo.disk.atomic_file import (
    Barrier,
    copy_new,
    make_directories,
    move,
    protect,
    prune_upwards,
    remove_tree,
    write_over,
)
from recordsilo.disk.names import (
    MANIFEST_NAME,
    STAGED_MANIFEST,
    check_path,
    is_own,
    version_dirname,
)
from recordsilo.disk.regular_file import open_regular
from recordsilo.errors import RecordSiloError
from recordsilo.records.manifest import Manifest
from recordsilo.records.place import RecordPlace

_ATTEMPTS = 20
_WRITABLE = 0o222


@dataclass(frozen=True, slots=True)
class CopiedRecord:
    """A record that is on its way into a new Silo.

    Attributes:
        directory: Where its manifest is staged; empty if the record was there already.
        size: The bytes of its files.
    """

    identifier: str
    directory: str
    size: int


def copy_record(source: RecordPlace, target: RecordPlace, barrier: Barrier) -> CopiedRecord:
    """Copy a record's files and stage its manifest; it exists when `publish` has renamed that.

    Args:
        source: Where it is.
        target: Where it will be, in a Silo that nobody else writes to.
        barrier: Flushed by the caller before `publish`.

    Raises:
        RecordNotCopied: It is damaged, or removed meanwhile; nothing of it is left.
        OSError: The target cannot be written.

    The manifest is the same byte for byte. What it lists as pending is done in the copy: files
    are in their final places.

    Cost: reads and writes every byte, or a reflink.
    """
    for _ in range(_ATTEMPTS):
        before = _bytes_of(source)
        try:
            manifest = source.read_manifest(to_change=True)
            if manifest is None or before is None:
                raise RecordNotCopied(source.identifier, "it was removed meanwhile")
            if _bytes_of(target) == before:
                return CopiedRecord(source.identifier, "", 0)
            size = _copy_files(source, manifest, target, barrier)
        except RecordSiloError as error:
            remove_record(target)
            if _bytes_of(source) == before:
                if isinstance(error, RecordNotCopied):
                    raise
                raise RecordNotCopied(source.identifier, str(error)) from error
            continue
        if _bytes_of(source) == before:
            write_over(f"{target.dirpath}/{STAGED_MANIFEST}", before, barrier)
            barrier.directory_changed(target.dirpath)
            return CopiedRecord(source.identifier, target.dirpath, size)
    raise RecordNotCopied(source.identifier, "it is changed again and again; stop its writer")


def remove_record(target: RecordPlace) -> None:
    """Remove what a killed copy left of a record; records nested below it stay."""
    try:
        names = os.listdir(target.dirpath)
    except FileNotFoundError:
        return
    for name in sorted(names, key=lambda one: one != MANIFEST_NAME):  # without it, it is no record
        if is_own(name):
            remove_tree(f"{target.dirpath}/{name}")
    prune_upwards(target.dirpath, target.root)


def _bytes_of(place: RecordPlace) -> bytes | None:
    try:
        with open_regular(f"{place.dirpath}/{MANIFEST_NAME}") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno is None or place.exists():
            raise RecordNotCopied(place.identifier, error.strerror or str(error)) from error
        raise


def _copy_files(
    source: RecordPlace, manifest: Manifest, target: RecordPlace, barrier: Barrier
) -> int:
    remove_record(target)
    make_directories(target.dirpath, target.root, barrier)
    size = 0
    for version in manifest.versions:
        directory = f"{target.dirpath}/{version_dirname(version.name)}"
        make_directories(directory, target.dirpath, barrier)
        for path, digest in (version.digests or {}).items():
            place = f"{directory}/{check_path(path)}"
            if "/" in path:
                make_directories(os.path.dirname(place), directory, barrier)
            with source.open(manifest, version.name, path) as file:
                copied = copy_new(file, place, barrier)
                mode = os.fstat(file.fileno()).st_mode
            if digest not in (None, copied):
                raise RecordNotCopied(
                    source.identifier,
                    f"{path} of version {version.name} is not the file that its manifest lists",
                )
            if not mode & _WRITABLE:
                protect(place)
            size += copied.size
    return size


def publish(record: CopiedRecord, barrier: Barrier) -> None:
    """Give a staged manifest its name, once everything else of the record is flushed."""
    if record.directory:
        directory = record.directory
        move(f"{directory}/{STAGED_MANIFEST}", f"{directory}/{MANIFEST_NAME}", barrier)
