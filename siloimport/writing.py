"""Write imported records into a Silo: each whole or not at all, and none over another."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from infopackages.files import PackageUnreadable, chunks_of
from recordsilo import Silo
from recordsilo.disk.atomic_file import Staged, write_new
from recordsilo.disk.digest import Digest
from recordsilo.disk.identifier import check_identifier
from recordsilo.disk.names import check_path, check_version_name
from recordsilo.errors import RecordSiloError
from recordsilo.html_tables import ShownAsTable
from recordsilo.records.edit import RecordEdit
from recordsilo.records.manifest import Manifest, Origin
from siloimport.errors import ImportProblem

GROUP = 50
"""The number of records that are flushed together."""
_LARGE_GROUP = 256 << 20
"""Records whose known sizes come to more bytes are flushed apart."""

FAULTS = (ImportProblem, RecordSiloError, ValueError)
"""What may be wrong with a single record; the others are imported."""
Open = Callable[[], AbstractContextManager[Iterable[bytes]]]
"""Opens content, which is read once in chunks; raises `ImportProblem` if it is damaged."""


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file of a version.

    Attributes:
        path: Within the version.
        open: Opens its content.
        digest: What the source says of it; None if it says nothing.
        is_metadata: Whether it is metadata.
    """

    path: str
    open: Open
    digest: Digest | None = None
    is_metadata: bool = False


@dataclass(frozen=True, slots=True)
class ImportedVersion:
    """A version; see `recordsilo.records.manifest.Version`."""

    name: str
    date: str
    origin: Origin
    files: tuple[ImportedFile, ...] = ()
    log: tuple[str, ...] = ()
    state: str | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """A record with all its versions, in order.

    Attributes:
        current: Name of the current version.
        metadata: Of the record in the manifest (JSON values).
    """

    identifier: str
    versions: tuple[ImportedVersion, ...]
    current: str
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Return the bytes of its files, as far as they are known."""
        files = (file for version in self.versions for file in version.files)
        return sum(file.digest.size for file in files if file.digest)


@dataclass(slots=True)
class ImportReport(ShownAsTable):
    """What an import did.

    Attributes:
        records: Number of new records.
        versions: Number of their versions.
        unchanged: Number of records that were there with the same versions.
        failed: What was not imported, with the reason.
    """

    records: int = 0
    versions: int = 0
    unchanged: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    def count(self, record: Imported, *, is_new: bool) -> None:
        """Count a record that was written, or was there."""
        self.records += is_new
        self.versions += len(record.versions) if is_new else 0
        self.unchanged += not is_new

    @property
    def seen(self) -> int:
        """Return the number of records that were looked at."""
        return self.records + self.unchanged + len(self.failed)


@contextmanager
def content_of(open_file: Callable[[], BinaryIO]) -> Iterator[Iterator[bytes]]:
    """Give the content of a file of a package in chunks; see `Open`."""
    try:
        file = open_file()
    except PackageUnreadable as error:
        raise ImportProblem(str(error)) from None
    with file:
        yield _read(file)


def _read(file: BinaryIO) -> Iterator[bytes]:
    """Yield chunks; only what is wrong with reading is a fault of the record, not a full disk."""
    try:
        yield from chunks_of(file)
    except (PackageUnreadable, OSError) as error:
        raise ImportProblem(str(error)) from None


def write_records(
    silo: Silo, records: Iterable[Imported], report: ImportReport, progress: Callable[[], None]
) -> None:
    """Write records; after a kill, the same call continues.

    Args:
        silo: Open for writing.
        records: Each is read when it is written; the files of one group are staged together.
        report: Is added to.
        progress: Called after each record.
    """
    removed = frozenset(silo.removed())
    for group in _groups(records):
        with silo.batch([one.identifier for one in group]) as batch:
            for record in group:
                try:
                    _refuse_removed(record, removed)
                    edit = batch.edit(record.identifier)
                    is_new = not edit.exists and not edit.changed
                    if is_new:
                        _write(edit, record, silo.agent)
                    else:
                        _compare(edit.manifest, record)
                except FAULTS as error:
                    batch.drop(record.identifier)
                    report.failed[record.identifier] = str(error)
                else:
                    report.count(record, is_new=is_new)
                progress()


def check_records(
    silo: Silo | None,
    records: Iterable[Imported],
    report: ImportReport,
    progress: Callable[[], None],
) -> None:
    """Read records as `write_records` does, and write nothing.

    Args:
        silo: None for one that would be new.
        records, report, progress: See `write_records`.
    """
    removed = frozenset(silo.removed()) if silo else frozenset()
    for record in records:
        try:
            _refuse_removed(record, removed)
            is_new = silo is None or record.identifier not in silo
            if is_new or silo is None:
                check_record(record)
            else:
                _compare(silo[record.identifier].state, record)
        except FAULTS as error:
            report.failed[record.identifier] = str(error)
        else:
            report.count(record, is_new=is_new)
        progress()


def check_record(record: Imported) -> None:
    """Check that a record can be written; reads all its content.

    Raises:
        ImportProblem, RecordSiloError, ValueError: It cannot, with the reason.
    """
    check_identifier(record.identifier)
    names: set[str] = set()
    for version in record.versions:
        check_version_name(version.name)
        if version.name in names:
            raise ImportProblem(f"it has two versions {version.name}")
        names.add(version.name)
        _check_paths([file.path for file in version.files])
        for file in version.files:
            found = _content_digest(file)
            if file.digest not in (None, found):
                raise ImportProblem(f"{file.path} is not as the source says")


def _check_paths(paths: Sequence[str]) -> None:
    above: set[str] = set()
    for path in paths:
        parts = check_path(path).split("/")
        above.update("/".join(parts[:number]) for number in range(1, len(parts)))
    for path in paths:
        if path in above:
            raise ImportProblem(f"{path} is a file and a directory")


def _refuse_removed(record: Imported, removed: Collection[str]) -> None:
    if record.identifier in removed:
        raise ImportProblem("it was removed from this Silo for good")


def _groups(records: Iterable[Imported]) -> Iterator[list[Imported]]:
    group: list[Imported] = []
    size = 0
    for record in records:
        group.append(record)
        size += record.size
        if len(group) >= GROUP or size > _LARGE_GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def _write(edit: RecordEdit, record: Imported, agent: str) -> None:
    for version in record.versions:
        origin = version.origin
        if origin.kind == "import" and not origin.agent:
            origin = replace(origin, agent=agent)
        log = version.log[0] if version.log else None
        edit.add_version(version.name, date=version.date, origin=origin, log=log, move_cursor=False)
        for file in version.files:
            path = edit.staging.new_path()
            with file.open() as chunks:
                staged = Staged(path, write_new(path, chunks, edit.barrier))
            if file.digest not in (None, staged.digest):
                raise ImportProblem(f"{file.path} is not as the source says")
            edit.put(version.name, file.path, staged, metadata=file.is_metadata or None)
        for line in version.log[1:]:
            edit.log(version.name, line)
        if version.state is not None:
            edit.set_state(version.name, version.state)
    for key, value in record.metadata.items():
        edit.set_metadata(key, value)
    edit.move_cursor(record.current)


def _compare(there: Manifest, record: Imported) -> None:
    """Check that the record that is there has the same versions, with the same files.

    Raises:
        ImportProblem: It differs.
    """
    for version in record.versions:
        files = {file.path: _digest(file) for file in version.files}
        if not there.has(version.name) or dict(there.version(version.name).digests or {}) != files:
            raise ImportProblem("the Silo has a record of this identifier with other content")


def _digest(file: ImportedFile) -> Digest:
    return file.digest or _content_digest(file)


def _content_digest(file: ImportedFile) -> Digest:
    sha256, size = hashlib.sha256(), 0
    with file.open() as chunks:
        for chunk in chunks:
            sha256.update(chunk)
            size += len(chunk)
    return Digest(sha256.hexdigest(), size)


def distinct(records: Iterator[Imported], report: ImportReport) -> Iterator[Imported]:
    """Yield records whose identifier did not come before."""
    known: set[str] = set()
    for record in records:
        if record.identifier in known:
            report.failed[f"{record.identifier} (again)"] = "the source has this identifier twice"
        else:
            known.add(record.identifier)
            yield record


def in_order(names: Sequence[str], known: Mapping[str, Any]) -> list[str]:
    """Return the names that are known, in their order and once each."""
    return [name for name in dict.fromkeys(names) if name in known]
