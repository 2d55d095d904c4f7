"""Read the objects of a storage root of OCFL as records.

Objects that `silo export ocfl` wrote say in ``silo.json`` what they were made from, and come back
as they were. Each version of any other object becomes an imported version, named as there.

Source: OCFL 1.1; docs/format-manifest.md, "Objects in a storage root".
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from infopackages.files import chunks_of
from infopackages.ocfl.inventory import OcflError
from infopackages.ocfl.reading import StoredObject, object_paths, read_object
from recordsilo.disk.digest import Digest
from recordsilo.disk.identifier import check_identifier
from recordsilo.errors import RecordSiloError
from recordsilo.records.manifest import STATES, Origin, date_text, now_text
from siloimport.errors import ImportProblem
from siloimport.told import ABOUT, LARGEST, dated, origin_of, told_by, typed
from siloimport.writing import Imported, ImportedFile, ImportedVersion, ImportReport, in_order

_DATA = "data/"
_BY = "silo import"


def records_of(root: str, report: ImportReport) -> Iterator[Imported]:
    """Yield the record of each object of a storage root, in the order of their directories.

    Args:
        root: Checked already (`infopackages.ocfl.reading.check_root`).
        report: Gets the objects that cannot be read.

    Raises:
        ImportProblem: A directory cannot be read.
    """
    try:
        for path in object_paths(root):
            try:
                record = record_of(read_object(path))
                check_identifier(record.identifier)
                yield record
            except (OcflError, ImportProblem, RecordSiloError) as error:
                report.failed[os.path.relpath(path, root)] = str(error)
    except OcflError as error:
        raise ImportProblem(str(error)) from None


def record_of(stored: StoredObject) -> Imported:
    """Return the record of an object.

    Raises:
        ImportProblem, OcflError: It is not as its ``silo.json`` says.
    """
    identifier = stored.inventory.id
    known: dict[str, ImportedVersion] = {}
    about: dict[str, Any] = {}
    order: list[str] = []
    current = ""
    for number, version in enumerate(stored.inventory.versions, 1):
        if ABOUT in version.state:
            about = _about(stored, version.state[ABOUT], identifier)
            made = _restored(stored, about, version.state)
            order = [str(name) for name in typed(about["record"], "versions", list)]
            current = str(about["record"].get("current"))
        else:
            made = _foreign(stored, number)
            order, current = [*order, made.name], made.name
        known[made.name] = made
    names = in_order(order, known)
    if current not in names:
        raise ImportProblem("its silo.json does not name a current version that is there")
    metadata = typed(about.get("record", {}), "metadata", dict, {})
    found = Imported(identifier, tuple(known[name] for name in names), current, metadata)
    return _deleted(found, about["withdrawn"]) if "withdrawn" in about else found


def _deleted(record: Imported, withdrawn: Any) -> Imported:
    """Return the record with the deletion at the source as its last version."""
    date = typed({"of": withdrawn}, "of", dict).get("date") or ""
    numbers = [
        int(one.name) for one in record.versions if one.name.isascii() and one.name.isdigit()
    ]
    name = str(max(numbers, default=0) + 1)
    date = dated(date) if date else record.versions[-1].date
    origin = Origin("harvest", agent=_BY, date=now_text())
    version = ImportedVersion(name, date, origin)
    marks = {"deleted_at_version": name, "deleted_at_date": date}
    return replace(
        record,
        versions=(*record.versions, version),
        current=name,
        metadata={**record.metadata, **marks},
    )


def _about(stored: StoredObject, digest: str, identifier: str) -> dict[str, Any]:
    """Return the content of ``silo.json``."""
    value = told_by(stored.read(digest, LARGEST), identifier)
    if value.get("format") != 1:
        raise ImportProblem("its silo.json has another format than 1")
    typed(value, "record", dict)
    return value


def _restored(
    stored: StoredObject, about: dict[str, Any], state: Mapping[str, str]
) -> ImportedVersion:
    """Return a version as ``silo.json`` describes it."""
    origin = origin_of(typed(about, "origin", dict))
    log = tuple(str(line) for line in typed(about, "log", list, []))
    version_state = about.get("state")
    if version_state is not None and version_state not in STATES:
        raise ImportProblem(f"its silo.json has an unknown state: {version_state!r}")
    listed = {_DATA + typed(one, "path", str): one for one in typed(about, "files", list)}
    if listed.keys() != state.keys() - {ABOUT}:
        raise ImportProblem("its silo.json lists other files than its inventory")
    files = tuple(
        _file(stored, one, state[path]) for path, one in listed.items() if "document_of" not in one
    )
    return ImportedVersion(
        typed(about, "version", str),
        dated(typed(about, "date", str)),
        origin,
        files,
        log,
        version_state,
    )


def _file(stored: StoredObject, listed: dict[str, Any], digest: str) -> ImportedFile:
    known = Digest(typed(listed, "sha256", str), typed(listed, "size", int))
    is_metadata = listed.get("metadata") is True
    return ImportedFile(listed["path"], partial(_content, stored, digest), known, is_metadata)


def _foreign(stored: StoredObject, number: int) -> ImportedVersion:
    """Return a version of an object that no export of a Silo made."""
    version = stored.inventory.versions[number - 1]
    try:
        moment = datetime.fromisoformat(version.created).astimezone(UTC)
    except OverflowError:
        raise ImportProblem(f"its inventory has an invalid date: {version.created}") from None
    files = tuple(
        ImportedFile(path, partial(_content, stored, digest))
        for path, digest in version.state.items()
    )
    origin = Origin("import", agent=version.user, message=version.message, date=now_text())
    return ImportedVersion(stored.inventory.name(number), date_text(moment), origin, files)


@contextmanager
def _content(stored: StoredObject, digest: str) -> Iterator[Iterable[bytes]]:
    try:
        with stored.open(digest) as file:
            yield _checked(chunks_of(file), stored, digest)
    except OcflError as error:
        raise ImportProblem(str(error)) from None


def _checked(chunks: Iterable[bytes], stored: StoredObject, digest: str) -> Iterator[bytes]:
    found = hashlib.new(stored.inventory.algorithm)
    for chunk in chunks:
        found.update(chunk)
        yield chunk
    if found.hexdigest() != digest:
        path = stored.inventory.manifest[digest][0]
        raise ImportProblem(f"{path} is damaged: it has another digest than its inventory says")
