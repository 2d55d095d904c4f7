"""Recognize records that are exactly as this release writes them: nearly all.

Their manifests have the very bytes that the store's writer makes of what its reader read, so the
reader has overlooked nothing, and no key is twice, misplaced or of another shape. What is left to
check is what the writer would write of any values: names, dates, origins, and the files. A record
that is not recognized need not have a fault; `record_check` says which, and is the definition.
"""

import hashlib
import os
from functools import lru_cache

from recordsilo.audit.agreement import is_moment, is_of_alteration, is_state
from recordsilo.audit.manifest_check import (
    KNOWN_FORMAT,
    has_file_name,
    has_version_name,
    is_history,
    sealed_body,
)
from recordsilo.audit.reading import CHUNK, UnreadableError, sha256_of
from recordsilo.audit.record_check import Checked, RecordCheck
from recordsilo.disk.digest import Digest
from recordsilo.disk.names import MANIFEST_NAME, PREVIOUS_MANIFEST, is_own, version_dirname
from recordsilo.disk.regular_file import regular_fd
from recordsilo.errors import ManifestUnreadable
from recordsilo.index import ManifestStamp
from recordsilo.records.manifest import SOURCES, Manifest, Origin, Version
from recordsilo.records.manifest_json import from_json, text_of


def plain_record(check: RecordCheck) -> tuple[Checked, ManifestStamp] | None:
    """What `RecordCheck.run` finds of a record without faults, every byte read; else None.

    Returns:
        Also the time, size and inode of the manifest that was read.
    """
    if not check.identifier:
        return None
    try:
        content, stamp = _content_of(f"{check.directory}/{MANIFEST_NAME}")
        manifest = plain_manifest(content, check.identifier)
        if manifest is None or not _has_only(check, manifest):
            return None
        read = [_bytes_read(f"{check.directory}/__{one.name}", one) for one in manifest.versions]
    except (OSError, ValueError, UnreadableError):  # also a name that no file can have
        return None
    if None in read:
        return None
    return Checked((), check.identifier, True, manifest, sum(one or 0 for one in read)), stamp


def plain_manifest(content: bytes, identifier: str) -> Manifest | None:
    """The manifest of a record, if no rule of `manifest_check` and `agreement` finds a fault."""
    try:
        manifest = from_json(content, MANIFEST_NAME)
    except ManifestUnreadable:
        return None
    is_sound = (
        manifest.item_id == identifier
        and manifest.format == KNOWN_FORMAT
        and manifest.revision > 0
        and not manifest.pending
        and is_history(manifest.history, manifest.revision)
        and is_moment(manifest.date)
        and all(_is_sound(one, manifest) for one in manifest.versions)
        and text_of(manifest).encode("utf-8", "backslashreplace") == sealed_body(content)
    )
    return manifest if is_sound and manifest.versions else None


def _is_sound(version: Version, manifest: Manifest) -> bool:
    paths = version.digests or {}
    return (
        has_version_name(version.name)
        and not version.subdir
        and paths.keys() == set(version.files)
        and all(map(_is_plain_path, paths))
        and None not in paths.values()
        and paths.keys() >= set(version.metadata_files)
        and (version.date == manifest.date or version.name != manifest.current_version)
        and is_moment(version.date)
        and (version.state is None or is_state(version.state))
        and _is_origin_sound(version.origin, version.name, manifest)
        and not (version.origin.kind in SOURCES and any(map(is_of_alteration, version.log)))
    )


@lru_cache(maxsize=4096)  # most records have files of the same names
def _is_plain_path(path: str) -> bool:
    return "/" not in path and has_file_name(path)


def _is_origin_sound(origin: Origin, name: str, manifest: Manifest) -> bool:
    is_of_other = origin.of != name and origin.of in manifest.version_names
    if origin.kind == "clone" and origin.date and not is_of_other:
        return False
    return (not origin.date or is_moment(origin.date)) and all(
        map(is_moment, origin.prefixes.values())
    )


# -- the files --------------------------------------------------------------------------


def _has_only(check: RecordCheck, manifest: Manifest) -> bool:
    """Whether a record's directory has the manifest, the one before, and the versions alone."""
    with os.scandir(check.directory) as found:
        own = {one.name: one.is_dir(follow_symlinks=False) for one in found if is_own(one.name)}
    if own.pop(MANIFEST_NAME, True):
        return False
    if PREVIOUS_MANIFEST in own:
        before, _ = _content_of(f"{check.directory}/{PREVIOUS_MANIFEST}")
        is_usable = plain_manifest(before, check.identifier) or check.previous()
        if own.pop(PREVIOUS_MANIFEST) or not is_usable:
            return False
    names = {version_dirname(one.name) for one in manifest.versions}
    return own.keys() == names and all(own.values())


def _content_of(path: str) -> tuple[bytes, ManifestStamp]:
    """A manifest's bytes, and its stamp.

    Raises:
        OSError: It cannot be read, or is no plain file.
    """
    fd = regular_fd(path, os.O_NOFOLLOW)
    try:
        found = os.fstat(fd)
        content = os.read(fd, found.st_size + 1)
    finally:
        os.close(fd)
    return content, ManifestStamp(found.st_mtime_ns, found.st_size, found.st_ino)


def _bytes_read(directory: str, version: Version) -> int | None:
    """How many bytes the files of a version have; None if they are not those of its digests."""
    paths = version.digests or {}
    with os.scandir(directory) as found:
        entries = list(found)
    if len(entries) != len(paths):
        return None
    if not all(one.name in paths and one.is_file(follow_symlinks=False) for one in entries):
        return None
    for path, digest in paths.items():
        if _digest_of(f"{directory}/{path}", digest) != digest:
            return None
    return sum(digest.size for digest in paths.values() if digest)


def _digest_of(path: str, stated: Digest | None) -> Digest:
    """The digest of a plain file; for one that is longer than stated, that of its beginning.

    Raises:
        OSError, UnreadableError: It cannot be read, or is no plain file.
    """
    size = stated.size if stated else 0
    if size > CHUNK:
        return Digest(*sha256_of(path))
    fd = regular_fd(path, os.O_NOFOLLOW)
    try:
        content = os.read(fd, size + 1)
    finally:
        os.close(fd)
    return Digest(hashlib.sha256(content).hexdigest(), len(content))
