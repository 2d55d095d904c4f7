"""Directories and files as records: those of `silo export files`, and any others.

Source: docs/export.md, "Plain files".
"""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any, BinaryIO

from infopackages.containers import Container, open_container
from infopackages.elements import legible
from infopackages.files import PackageUnreadable, open_plain
from recordsilo.disk.identifier import check_identifier, unclean
from recordsilo.errors import IdentifierError, RecordSiloError
from recordsilo.formats.documents import MAX_BYTES, unwrap
from recordsilo.records.manifest import Origin, date_text, now_text
from siloimport.bags import VERSION, is_metadata
from siloimport.describing import described
from siloimport.errors import ImportProblem
from siloimport.importing import ImportSource
from siloimport.writing import Imported, ImportedFile, ImportedVersion, ImportReport, content_of

MARKER, NOTES = ".silo-export", ".silo-notes"
_DOCUMENT = ".xml"


class Per(StrEnum):
    """What becomes a record."""

    DIRECTORY = "directory"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How files become records.

    Attributes:
        per: Whether each directory of the first level is a record, or each file.
        prefix: Begins every identifier, before the name.
        metadata: Names of further files that are metadata.
        titles: Whether the name becomes the title of a record without metadata.
        message: Why.
    """

    per: Per = Per.DIRECTORY
    prefix: str = ""
    metadata: Collection[str] = ()
    titles: bool = False
    message: str = ""


def files_at(directory: str, options: FileOptions) -> ImportSource:
    """Return the records of a directory.

    Raises:
        ImportProblem: It is no directory, or an export in another form.
    """
    place = os.path.realpath(directory)
    if not os.path.isdir(place):
        raise ImportProblem(f"{directory} is not a directory")
    form = _form(place, directory)
    walk = _files if options.per is Per.FILE and not form else _directories

    def records(report: ImportReport) -> Iterator[Imported]:
        for name in walk(place):
            try:
                yield _record(place, name, form, options)
            except (PackageUnreadable, ImportProblem, RecordSiloError, OSError) as error:
                report.failed[name] = str(error)

    if walk is _files:
        what, is_one = "files", next(walk(place), None) is not None
    else:
        what = "directories; --per file makes each file a record"
        is_one = any(one.is_dir(follow_symlinks=False) for one in _entries(place))
    if not is_one:
        raise ImportProblem(f"{directory} has no {what}")
    return ImportSource(directory, records, None, place)


def _form(place: str, shown: str) -> str:
    """Return the form of an export; ``""`` for a directory that is none."""
    try:
        with open_plain(place, MARKER) as file:
            lines = file.read(1 << 20).decode("utf-8", "replace").splitlines()
    except PackageUnreadable:
        return ""
    said = dict(line.split(": ", 1) for line in lines if ": " in line)
    form = said.get("form", "")
    if not form.startswith("files"):
        kind = said.get("export", "").partition(" ")[0]
        raise ImportProblem(f"{shown} holds an export as {kind or 'something else'}, not as files")
    return form


def _directories(place: str) -> Iterator[str]:
    """Yield the names of directories, and of whatever is beside them."""
    yield from (one.name for one in _entries(place))


def _files(place: str, below: str = "") -> Iterator[str]:
    for one in _entries(os.path.join(place, below)):
        name = f"{below}/{one.name}" if below else one.name
        if one.is_dir(follow_symlinks=False):
            yield from _files(place, name)
        else:
            yield name


def _entries(directory: str) -> "Sequence[os.DirEntry[str]]":
    try:
        with os.scandir(directory) as entries:
            found = [one for one in entries if not one.name.startswith(".")]
    except OSError as error:
        raise ImportProblem(f"{error.filename} cannot be read: {error.strerror}") from None
    return sorted(found, key=lambda one: one.name)


def _record(place: str, name: str, form: str, options: FileOptions) -> Imported:
    note = _note(place, name) if form else {}
    identifier = check_identifier(_identifier(name, note) if form else options.prefix + name)
    path = os.path.join(place, name)
    if options.per is Per.DIRECTORY or form:
        if os.path.islink(path) or not os.path.isdir(path):
            raise ImportProblem("it is not a directory; --per file makes each file a record")
    else:
        files = {os.path.basename(name): _FoundFile(os.path.dirname(path), os.path.basename(path))}
        version = _version(VERSION, files, options, name)
        return Imported(identifier, (version,), VERSION)
    files = _below(path)
    if not files:
        raise ImportProblem("it has no files")
    if form != "files by version":
        version = _version(VERSION, files, options, name)
        return Imported(identifier, (version,), VERSION)
    names = _in_order({path.partition("/")[0] for path in files}, str(note.get("version", "")))
    versions = tuple(
        _version(f"v{number}", _within(files, one), options, name, f"version {one}")
        for number, one in enumerate(names, 1)
    )
    return Imported(identifier, versions, versions[-1].name)


@dataclass(frozen=True, slots=True)
class _FoundFile:
    """A file: its path below a directory, above which no link is followed."""

    directory: str
    path: str

    def read(self, most: int) -> bytes:
        with self.open() as file:
            return file.read(most + 1)

    def changed(self) -> float:
        return os.stat(os.path.join(self.directory, self.path), follow_symlinks=False).st_mtime

    def open(self) -> BinaryIO:
        return open_plain(self.directory, self.path)


def _below(directory: str) -> dict[str, _FoundFile]:
    container: Container = open_container(directory)
    return {
        path: _FoundFile(directory, path)
        for path in container.sizes
        if not any(part.startswith(".") for part in path.split("/"))
    }


def _within(files: Mapping[str, _FoundFile], version: str) -> dict[str, _FoundFile]:
    below = f"{version}/"
    return {path.removeprefix(below): one for path, one in files.items() if path.startswith(below)}


def _in_order(names: set[str], current: str) -> list[str]:
    """Return the names of versions: numbers first, and the current one last."""

    def place(name: str) -> tuple[bool, bool, int, str]:
        is_number = name.isascii() and name.isdigit() and len(name) < 10
        return name == current, not is_number, int(name) if is_number else 0, name

    return sorted(names, key=place)


def _version(
    name: str, files: Mapping[str, _FoundFile], options: FileOptions, record: str, said: str = ""
) -> ImportedVersion:
    documents = {path for path in files if _is_document(path, files)}
    sources = {path.removesuffix(_DOCUMENT) for path in documents}
    made = [
        ImportedFile(
            path, partial(content_of, place.open),
            is_metadata=path in sources or path in options.metadata or is_metadata(path),
        )
        for path, place in files.items()
        if path not in documents
    ]  # fmt: skip
    if options.titles and not any(one.is_metadata for one in made):
        made.insert(0, described([("title", legible(os.path.basename(record)), "")]))
    changed = max((place.changed() for place in files.values()), default=0.0)
    message = options.message or said or f"file {record}"
    origin = Origin("import", message=message, date=now_text())
    date = date_text(datetime.fromtimestamp(int(changed), UTC))
    return ImportedVersion(name, date, origin, tuple(made))


def _is_document(path: str, files: Mapping[str, _FoundFile]) -> bool:
    """Whether an export took the document out of the OAI-PMH element in another file."""
    source = files.get(path.removesuffix(_DOCUMENT)) if path.endswith(_DOCUMENT) else None
    if source is None or "/" in path:
        return False
    content = source.read(MAX_BYTES)
    return len(content) <= MAX_BYTES and unwrap(content) == files[path].read(MAX_BYTES)


def _note(place: str, name: str) -> dict[str, Any]:
    """Return what an export noted of a record; empty if that is lost."""
    try:
        with open_plain(place, f"{NOTES}/{name}.json") as file:
            value = json.loads(file.read(1 << 20))
    except (PackageUnreadable, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _identifier(name: str, note: Mapping[str, Any]) -> str:
    if isinstance(found := note.get("identifier"), str) and found:
        return found
    try:
        return unclean(name)
    except IdentifierError:
        raise ImportProblem(
            f"its identifier is not known: {NOTES}/{name}.json is missing"
        ) from None
