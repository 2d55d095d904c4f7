"""A version of a record as it is sent: its files, and documents unwrapped from its metadata."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from typing import BinaryIO, Protocol

from recordsilo import HarvestedRecord, Silo
from recordsilo.disk.atomic_file import chunks_of, digest_of, digest_of_bytes
from recordsilo.disk.digest import Digest
from recordsilo.formats.documents import unwrap
from recordsilo.records.description import sets_of
from recordsilo.records.manifest import Manifest, Version, source_datestamp
from siloexport.errors import SourceChanged
from siloexport.plan import Action, Policy, files_digest, version_key
from siloexport.values import Deposit, ExportedFile, ExportedVersion, Held


class Sha512Cache(Protocol):
    """The SHA-512 of files, by their SHA-256; the ledger stores it."""

    def known_sha512(self, digest: Digest) -> str | None:
        """Return the SHA-512 of content with this digest; None if it is unknown."""

    def note_sha512(self, digest: Digest, sha512: str) -> None:
        """Store it."""


_SMALL = 64 << 10
"""Files up to this size are read once and stay in memory, up to"""
_KEPT = 1 << 20
"""so many bytes of a version."""


class VersionContent:
    """See `siloexport.values.Content`: files from the Silo, documents and small files from memory.

    Args:
        documents: Path → content of each unwrapped document.
        read: Path → content of small files that were read but not compared.
    """

    def __init__(
        self,
        record: HarvestedRecord,
        version: Version,
        documents: Mapping[str, bytes],
        read: Mapping[str, bytes],
        cache: Sha512Cache,
    ) -> None:
        self._record, self._version = record, version
        self._read, self._cache = read, cache
        self._held = dict(documents)
        self._documents = documents.keys()
        self._room = _KEPT - sum(map(len, read.values()))

    def held(self, path: str) -> bytes | None:
        return self._held.get(path)

    @contextmanager
    def open(self, path: str) -> Iterator[BinaryIO]:
        held = self._held.get(path)
        source: BinaryIO
        if held is not None:
            source = BytesIO(held)
        else:
            source = self._record.get_stream(path, self._version.name)
        with source:
            yield source

    def sha512(self, path: str) -> str:
        if path in self._documents:
            return hashlib.sha512(self._held[path]).hexdigest()
        listed = (self._version.digests or {})[path]
        read = self._read.get(path)
        if read is None and listed is not None and (known := self._cache.known_sha512(listed)):
            return known
        if read is None and listed is not None and listed.size <= min(_SMALL, self._room):
            read = self._record.read(self._version.name, path)
            self._room -= len(read)
        if read is None:
            with self.open(path) as source:
                found, sha512 = _both_digests(chunks_of(source))
        else:
            found, sha512 = digest_of_bytes(read), hashlib.sha512(read).hexdigest()
        if listed is not None and found != listed:
            raise SourceChanged(self._record.item_id, self._version.name, path)
        if read is not None:
            self._held[path] = read
        self._cache.note_sha512(found, sha512)
        return sha512


def _both_digests(chunks: Iterable[bytes]) -> tuple[Digest, str]:
    sha256, sha512, size = hashlib.sha256(), hashlib.sha512(), 0
    for chunk in chunks:
        sha256.update(chunk)
        sha512.update(chunk)
        size += len(chunk)
    return Digest(sha256.hexdigest(), size), sha512.hexdigest()


def with_digests(record: HarvestedRecord) -> Manifest:
    """Return the record's manifest with the digests of all files.

    Raises:
        FileNotInVersion: A file without a digest (the release of 2010 wrote none) is missing.

    Cost: reads only files without a digest.
    """
    manifest = record.state
    if all(all((version.digests or {}).values()) for version in manifest.versions):
        return manifest
    versions = tuple(_with_digests(record, version) for version in manifest.versions)
    return replace(manifest, versions=versions)


def _with_digests(record: HarvestedRecord, version: Version) -> Version:
    found = {
        path: digest or _read_digest(record, version.name, path)
        for path, digest in (version.digests or {}).items()
    }
    return replace(version, digests=found)


def _read_digest(record: HarvestedRecord, version: str, path: str) -> Digest:
    with record.get_stream(path, version) as stream:
        return digest_of(stream)


def exported_version(
    record: HarvestedRecord, manifest: Manifest, name: str, policy: Policy, cache: Sha512Cache
) -> ExportedVersion:
    """Return a version as it is sent.

    Args:
        manifest: Its manifest with all digests (`with_digests`).
        name: Of the version.
        policy: Whether documents are unwrapped, and the crosswalk.
        cache: Where the SHA-512 of files are stored.

    Raises:
        FileNotInVersion: A metadata file is missing on the disk, or is a dangling link.
    """
    version = manifest.version(name)
    read: dict[str, bytes] = {}
    sources = dict(_documents(record, version, read)) if policy.unwrap else {}
    documents = {f"{path}.xml": content for path, content in sources.items()}
    return ExportedVersion(
        version.name,
        version_key(manifest, version, policy),
        files_digest(version),
        source_datestamp(manifest, name),
        version.origin,
        version.state,
        (*_files(version), *_document_files(sources)),
        VersionContent(record, version, documents, read, cache),
        version.date,
        version.log,
        policy.identifiers_of(manifest, version),
    )


@dataclass(frozen=True, slots=True)
class Packer:
    """Makes deposits of records.

    Attributes:
        source: Base URL that the Silo's records were harvested from; or ``""``.
    """

    policy: Policy
    cache: Sha512Cache
    source: str = ""

    @classmethod
    def of(cls, silo: Silo, policy: Policy, cache: Sha512Cache) -> "Packer":
        """Make one for the records of a Silo.

        Args:
            policy: What to export.
            cache: Where the SHA-512 of files are stored.
        """
        return cls(policy, cache, str(silo.state.get("base_oai_url") or ""))

    def deposit(
        self,
        record: HarvestedRecord,
        manifest: Manifest,
        action: Action,
        held: Held | None,
        *,
        overwrite: bool = False,
        noted: Mapping[str, str] | None = None,
    ) -> Deposit:
        """Return what is sent for an action.

        Args:
            manifest: Its manifest with all digests (`with_digests`).
            action: From `siloexport.plan.plan_record`.
            held: What the target holds of the record; None for nothing.
            overwrite: See `siloexport.values.Deposit`, also for ``noted``.

        Raises:
            FileNotInVersion: A metadata file is missing on the disk, or is a dangling link.
        """
        versions = tuple(
            exported_version(record, manifest, name, self.policy, self.cache)
            for name in action.versions
        )
        return Deposit(
            action.identifier,
            action.kind,
            action.key,
            versions,
            self.source,
            sets_of(manifest),
            manifest.metadata,
            manifest.version_names,
            manifest.current_version,
            held,
            overwrite,
            noted or {},
        )


def _files(version: Version) -> Iterator[ExportedFile]:
    for path, digest in (version.digests or {}).items():
        assert digest is not None
        yield ExportedFile(path, digest.size, digest.sha256, path in version.metadata_files)


def _document_files(sources: Mapping[str, bytes]) -> Iterator[ExportedFile]:
    for path, content in sources.items():
        digest = digest_of_bytes(content)
        yield ExportedFile(f"{path}.xml", digest.size, digest.sha256, document_of=path)


def _documents(
    record: HarvestedRecord, version: Version, read: dict[str, bytes]
) -> Iterator[tuple[str, bytes]]:
    """Yield (metadata file, its document), unless the version has a file of the document's name.

    Args:
        read: Gets the content of small metadata files.
    """
    room = _KEPT
    taken = set(version.paths)
    for path in version.metadata_files:
        if path.endswith((".xml", ".about")) or f"{path}.xml" in taken or path not in taken:
            continue
        content = record.read(version.name, path)
        if len(content) <= min(_SMALL, room):
            room -= len(content)
            read[path] = content
        document = unwrap(content)
        if document is not None:
            yield path, document


@contextmanager
def checked_chunks(
    identifier: str, version: ExportedVersion, file: ExportedFile
) -> Iterator[Iterator[bytes]]:
    """Give a file's bytes in chunks, and compare their digest with the listed one after the last.

    Args:
        identifier: Of the record, for the error.
        version: The version that has the file.
        file: The file to read.

    Raises:
        SourceChanged: After the last chunk: the digest differs.
        FileNotInVersion: The file is missing on the disk, or is a dangling link.
    """
    with version.content.open(file.path) as source:
        yield _checked(chunks_of(source), identifier, version.name, file)


def _checked(
    chunks: Iterable[bytes], identifier: str, version: str, file: ExportedFile
) -> Iterator[bytes]:
    sha256, size = hashlib.sha256(), 0
    for chunk in chunks:
        sha256.update(chunk)
        size += len(chunk)
        yield chunk
    if (size, sha256.hexdigest()) != (file.size, file.sha256):
        raise SourceChanged(identifier, version, file.path)
