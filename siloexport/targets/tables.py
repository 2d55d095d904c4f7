"""Tables, lists and zips: one file for a whole selection, written as a stream.

Unlike the targets that keep each record by itself, these are made anew each time: a
file is complete, or is not there.
"""

import csv
import errno
import itertools
import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import IO, Any, BinaryIO

from recordsilo import HarvestedRecord, Silo
from recordsilo.cells import guarded, joined
from recordsilo.disk.atomic_file import CHUNK, digest_of
from recordsilo.disk.digest import Digest
from recordsilo.disk.whole_file import whole_file
from recordsilo.errors import RecordNotFound, RecordSiloError
from recordsilo.formats import Description, links_of
from recordsilo.formats.values import FIELD_OF_ELEMENT, Values
from recordsilo.index.facets import Facet, contributed_facets, facet_named, values_of
from recordsilo.index.projection import datestamp_of, description_of, metadata_paths, sets_of
from recordsilo.records.manifest import Manifest, Version
from recordsilo.selection import Selection
from siloexport.errors import ExportError, FileChanged
from siloexport.ledger import Ledger
from siloexport.plan import Versions, chosen_versions, is_deleted
from siloexport.report import KEPT
from siloexport.selection import is_in_state
from siloexport.targets.directory import directory_name
from siloexport.values import OnConflict

_OWN: dict[str, Callable[[Manifest], str | tuple[str, ...]]] = {
    "record": lambda manifest: manifest.item_id,
    "datestamp": datestamp_of,
    "version": lambda manifest: manifest.current_version,
    "date": lambda manifest: manifest.current.origin.date,
    "state": lambda manifest: manifest.current.state or "",
    "origin": lambda manifest: manifest.current.origin.kind,
    "sets": sets_of,
}
_ELEMENTS = {f"dc:{element}": name for element, name in FIELD_OF_ELEMENT.items()}
FIELDS = (*_OWN, *_ELEMENTS)
"""What a table may have as columns: what the Silo knows, and the elements of Dublin Core.

`fields` has those of packages, too."""
CSV_ENCODING = "utf-8-sig"
"""Excel takes CSV for UTF-8 where it begins with the mark."""
USUAL = ("record", "datestamp", "version", *_ELEMENTS)


@dataclass(slots=True)
class TableReport:
    """What came of a table.

    Attributes:
        records: How many records are in it.
        rows: How many rows, links or files.
        deleted: Records left out, as the source deleted them.
        failed: Identifier → why, of those that could not be read; the first `KEPT`.
    """

    records: int = 0
    rows: int = 0
    deleted: int = 0
    failed: dict[str, str] = field(default_factory=dict)


Progress = Callable[[int], None]


def write_csv(
    silo: Silo,
    selection: Selection,
    out: IO[str],
    columns: Sequence[str] = USUAL,
    *,
    progress: Progress = lambda _records: None,
) -> TableReport:
    """A row for each record, a column for each field; cells as `recordsilo.cells` has them.

    Args:
        out: Opened with ``newline=""``, as `CSV_ENCODING`.
        columns: Of `FIELDS`.

    Raises:
        SearchError, IndexProblem: The selection cannot be looked up.
        OSError: The file cannot be written.
    """
    writer = csv.writer(out, lineterminator="\r\n")  # RFC 4180
    writer.writerow(columns)

    beside = _Beside.of(silo, columns)

    def row(record: HarvestedRecord, manifest: Manifest) -> int:
        values = _Row(record, manifest, beside.of_record(manifest.item_id))
        writer.writerow([guarded(values.cell(name)) for name in columns])
        return 1

    return _for_each(silo, selection, row, progress, beside)


def write_jsonl(
    silo: Silo,
    selection: Selection,
    out: IO[str],
    columns: Sequence[str] = USUAL,
    *,
    progress: Progress = lambda _records: None,
) -> TableReport:
    """An object for each record, a line each; values of Dublin Core with their languages.

    ``{"record": "oai:…", "dc:title": [{"text": "…", "lang": "en"}]}``; a field
    without values is left out. Arguments and errors as for `write_csv`.
    """

    beside = _Beside.of(silo, columns)

    def row(record: HarvestedRecord, manifest: Manifest) -> int:
        values = _Row(record, manifest, beside.of_record(manifest.item_id))
        found = {name: values.json(name) for name in columns}
        kept = {name: value for name, value in found.items() if value}
        out.write(json.dumps(kept, ensure_ascii=False) + "\n")
        return 1

    return _for_each(silo, selection, row, progress, beside)


def write_links(
    silo: Silo,
    selection: Selection,
    out: IO[str],
    *,
    progress: Progress = lambda _records: None,
) -> TableReport:
    """Every address a record's current version holds: address, identifier, field; tabs between.

    In the order of the metadata files, plainest first; the same address in the same
    field comes once for a record. Errors as for `write_csv`.
    """

    def rows(record: HarvestedRecord, manifest: Manifest) -> int:
        version, seen = manifest.current, set()
        for path in metadata_paths(version):
            for link in links_of(path, _read(record, version.name, path)):
                seen.add((link.url, link.field))
        ordered = sorted(seen)
        out.writelines(f"{url}\t{manifest.item_id}\t{where}\n" for url, where in ordered)
        return len(ordered)

    out.write("url\tidentifier\tfield\n")
    return _for_each(silo, selection, rows, progress)


def write_zip(
    silo: Silo,
    selection: Selection,
    out: BinaryIO,
    names: Sequence[str] = (),
    versions: Versions = Versions.CURRENT,
    *,
    progress: Progress = lambda _records: None,
) -> TableReport:
    """Metadata files as harvested or curated: ``<record>/[<version>/]<file>`` in a zip.

    The same records make the same bytes. Errors as for `write_csv`.

    Args:
        out: May be a pipe.
        names: Only files of these names; none: all metadata files.
        versions: With more than the current ones, each has a directory of its own.

    Cost: about 600 bytes of memory a file, for the directory at the zip's end.
    """
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:

        def files(record: HarvestedRecord, manifest: Manifest) -> int:
            count = 0
            for version in chosen_versions(manifest, versions):
                below = directory_name(manifest.item_id)
                if versions is not Versions.CURRENT:
                    below += f"/{version.name}"
                for path in metadata_paths(version):
                    if not names or path in names:
                        _add(archive, f"{below}/{path}", record, version, path)
                        count += 1
            return count

        return _for_each(silo, selection, files, progress)


def _add(
    archive: zipfile.ZipFile, name: str, record: HarvestedRecord, version: Version, path: str
) -> None:
    with record.get_stream(path, version.name) as source:
        info = zipfile.ZipInfo(name, _moment(version.origin.date))
        info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
        with archive.open(info, "w", force_zip64=True) as file:
            while chunk := source.read(CHUNK):
                file.write(chunk)


def _moment(date: str) -> tuple[int, int, int, int, int, int]:
    """When a version was made as a zip can have it: from 1980 on."""
    try:
        found = datetime.fromisoformat(date)
    except ValueError:  # what 2010 did not note
        return (1980, 1, 1, 0, 0, 0)
    if not 1980 <= found.year <= 2107:
        return (1980, 1, 1, 0, 0, 0)
    return (found.year, found.month, found.day, found.hour, found.minute, found.second)


@contextmanager
def exported_file(
    silo_path: str, path: str, on_conflict: OnConflict = OnConflict.FAIL
) -> Iterator[BinaryIO]:
    """A file to be written whole, in the place of what was exported there last.

    The path has a ledger, whose runs keep the size and SHA-256 of what they wrote; noted
    before the new file gets its name, so that after a kill both files are known. A Silo
    that cannot be written to keeps nothing. A device or a pipe is written to.

    Raises:
        FileChanged: Another file is there, unless it is to be overwritten; it stays.
        LedgerInUse: The file is being exported by another process.
        LedgerUnreadable, OSError: As they say.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with whole_file(path) as file:
            yield file
        return
    key = f"file {target}"
    with _ledger(silo_path, key, path) as ledger:

        def check() -> None:
            if on_conflict is not OnConflict.OVERWRITE and not _is_as_left(ledger, target):
                raise FileChanged(path)

        def note(staged: str) -> None:
            check()
            if ledger.is_writable:
                ledger.begin_run(asdict(_digest(staged)))

        check()
        with whole_file(path, note) as file:
            yield file
        if ledger.is_writable:
            ledger.end_run(ledger.runs()[0].run_id, "done", {})


def _ledger(silo_path: str, key: str, shown: str) -> Ledger:
    try:
        return Ledger.open(silo_path, key, shown)
    except OSError as error:
        if error.errno not in {errno.EROFS, errno.EACCES, errno.EPERM}:
            raise
        return Ledger.look(silo_path, key)


def _is_as_left(ledger: Ledger, path: str) -> bool:
    """Whether nothing is at a path, or what the last run left, or one killed after it."""
    try:
        found = asdict(_digest(path))
    except FileNotFoundError:
        return True
    for run in ledger.runs():
        if run.arguments == found:
            return True
        if run.ended:
            break
    return False


def _digest(path: str) -> Digest:
    with open(path, "rb") as file:
        return digest_of(file)


def check_columns(columns: Sequence[str]) -> None:
    """Refuse columns that there are not.

    Raises:
        ExportError: Names them, and those there are.
    """
    if any(name not in FIELDS for name in columns):
        known = fields()
        if unknown := [name for name in columns if name not in known]:
            raise ExportError(f"there is no field {unknown[0]!r}; there are {', '.join(known)}")


def fields() -> tuple[str, ...]:
    """All that a table may have as columns: `FIELDS`, and columns that packages contribute."""
    return (*FIELDS, *(one.name for one in contributed_facets() if one.is_column))


# -- the records -------------------------------------------------------------------------

_Write = Callable[[HarvestedRecord, Manifest], int]


def _for_each(
    silo: Silo,
    selection: Selection,
    write: _Write,
    progress: Progress,
    beside: "_Beside | None" = None,
) -> TableReport:
    report = TableReport()
    identifiers = selection.iterate(silo)
    if beside is not None and beside.facets:
        identifiers = beside.read_ahead(identifiers)
    for number, identifier in enumerate(identifiers, 1):
        try:
            _one(silo[identifier], selection, write, report)
        except RecordNotFound:  # removed since it was listed
            continue
        except RecordSiloError as error:
            if len(report.failed) < KEPT:
                report.failed[identifier] = str(error)
        progress(number)
    if selection == Selection():
        _name_unlisted(silo, report)
    return report


def _name_unlisted(silo: Silo, report: TableReport) -> None:
    """Damaged records are in no list: where all are asked for, they are named."""
    known = set(report.failed.values())
    for path, sentence in silo.index_problems():
        if sentence not in known and len(report.failed) < KEPT:
            report.failed[path] = sentence


def _one(record: HarvestedRecord, selection: Selection, write: _Write, report: TableReport) -> None:
    manifest = record.state
    if not is_in_state(selection, manifest):
        return
    if is_deleted(manifest):
        report.deleted += 1
        return
    report.rows += write(record, manifest)
    report.records += 1


@dataclass(slots=True)
class _Beside:
    """The columns that packages contribute, read for many records at once."""

    path: str
    facets: tuple[Facet, ...]
    _read: dict[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, silo: Silo, columns: Sequence[str]) -> "_Beside":
        names = [name for name in columns if name not in FIELDS]
        return cls(silo.path, tuple(map(facet_named, names)))

    def read_ahead(self, identifiers: Iterator[str]) -> Iterator[str]:
        """The same identifiers, the values of the next ones read.

        Raises:
            SearchError: A package fails.
        """
        while some := list(itertools.islice(identifiers, _AHEAD)):
            self._read = {one.name: values_of(one, self.path, some) for one in self.facets}
            yield from some

    def of_record(self, identifier: str) -> Mapping[str, Sequence[str]]:
        return {name: read[identifier] for name, read in self._read.items() if identifier in read}


_AHEAD = 1000
"""Records whose contributed columns are read at once."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A record's values."""

    record: HarvestedRecord
    manifest: Manifest
    beside: Mapping[str, Sequence[str]]
    _described: list[Description] = field(default_factory=list)

    def cell(self, name: str) -> str:
        if name in _ELEMENTS:
            return joined(value.text for value in self._values(name))
        found = _OWN[name](self.manifest) if name in _OWN else self.beside.get(name, ())
        return found if isinstance(found, str) else joined(found)

    def json(self, name: str) -> Any:
        if name not in _ELEMENTS:
            found = _OWN[name](self.manifest) if name in _OWN else self.beside.get(name, ())
            return found if isinstance(found, str) else list(found)
        return [
            {"text": value.text, **({"lang": value.lang} if value.lang else {})}
            for value in self._values(name)
        ]

    def _values(self, name: str) -> Values:
        if not self._described:
            self._described.append(_described(self.record, self.manifest.current))
        found: Values = getattr(self._described[0], _ELEMENTS[name])
        return found


def _described(record: HarvestedRecord, version: Version) -> Description:
    """What a version describes.

    Raises:
        RecordSiloError, OSError: A metadata file that may say it cannot be read.
    """
    broken: list[OSError | RecordSiloError] = []

    def read(name: str, path: str) -> bytes:
        try:
            return _read(record, name, path)
        except (OSError, RecordSiloError) as error:
            broken.append(error)
            raise

    found = description_of(version, read)
    if broken:
        raise broken[0]
    return found


def _read(record: HarvestedRecord, version: str, path: str) -> bytes:
    with record.get_stream(path, version) as stream:
        return bytes(stream.read())
