"""Write imported records into a Silo: each whole or not at all, and none over another."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from recordsilo import Silo
from recordsilo.disk.atomic_file import Staged, write_new
from recordsilo.disk.digest import Digest
from recordsilo.errors import RecordSiloError
from recordsilo.records.edit import RecordEdit
from recordsilo.records.manifest import Origin
from siloimport.errors import ImportProblem

GROUP = 50
"""The number of records that are flushed together."""

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


@dataclass(slots=True)
class ImportReport:
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
    waiting = iter(records)
    while group := list(islice(waiting, GROUP)):
        with silo.batch([one.identifier for one in group]) as batch:
            for record in group:
                try:
                    if record.identifier in removed:
                        raise ImportProblem("it was removed from this Silo for good")
                    edit = batch.edit(record.identifier)
                    is_new = not edit.exists and not edit.changed
                    if is_new:
                        _write(edit, record)
                    else:
                        _compare(edit, record)
                except (ImportProblem, RecordSiloError, ValueError) as error:
                    batch.drop(record.identifier)
                    report.failed[record.identifier] = str(error)
                else:
                    report.records += is_new
                    report.versions += len(record.versions) if is_new else 0
                    report.unchanged += not is_new
                progress()


def _write(edit: RecordEdit, record: Imported) -> None:
    for version in record.versions:
        log = version.log[0] if version.log else None
        edit.add_version(
            version.name, date=version.date, origin=version.origin, log=log, move_cursor=False
        )
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


def _compare(edit: RecordEdit, record: Imported) -> None:
    """Check that the record that is there has the same versions, with the same files.

    Raises:
        ImportProblem: It differs.
    """
    there = edit.manifest
    for version in record.versions:
        files = {file.path: _digest(file) for file in version.files}
        if not there.has(version.name) or dict(there.version(version.name).digests or {}) != files:
            raise ImportProblem("the Silo has a record of this identifier with other content")


def _digest(file: ImportedFile) -> Digest:
    if file.digest is not None:
        return file.digest
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
