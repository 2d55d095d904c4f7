"""Tables, lists and zips: one file for a whole selection, written as a stream.

Unlike the other targets, these write all records each time: a file is complete, or is not
there.
"""

import csv
import io
import itertools
import json
import os
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import IO, Any, BinaryIO

from infopackages.files import Add
from recordsilo import HarvestedRecord, Silo
from recordsilo.cells import LANGUAGES, guarded, is_language, joined, languages_joined
from recordsilo.disk.atomic_file import CHUNK, digest_of, digest_of_bytes
from recordsilo.disk.digest import Digest
from recordsilo.disk.regular_file import open_regular
from recordsilo.disk.whole_file import whole_file
from recordsilo.errors import FileDamaged, RecordNotFound, RecordSiloError, did_you_mean
from recordsilo.formats import Description, links_of
from recordsilo.formats.values import FIELD_OF_ELEMENT, Value, Values, doi_of
from recordsilo.index.facets import Facet, contributed_facets, facet_named, values_of
from recordsilo.records.description import (
    datestamp_of,
    description_of,
    metadata_paths,
    sets_of,
    years_of,
)
from recordsilo.records.manifest import Manifest, Version
from recordsilo.selection import Selection
from recordsilo.wording import counted, cut_middle
from siloexport.content import Packer, with_digests
from siloexport.errors import ExportError, FileChanged, FileOfOtherKind
from siloexport.ledger import CANNOT_WRITE, Ledger
from siloexport.plan import KnownRecord, Policy, Versions, chosen_versions, is_deleted, plan_record
from siloexport.report import KEPT
from siloexport.selection import is_in_state
from siloexport.targets.directory import directory_name
from siloexport.values import Capabilities, Deposit, OnConflict

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


def _languages(found: Description) -> str:
    """The languages of the values of all elements, in their order in the cells."""
    return languages_joined(
        {
            element: [_tag_of(one) for one in getattr(found, name) if one.text.strip()]
            for element, name in FIELD_OF_ELEMENT.items()
        }
    )


def _tag_of(value: Value) -> str:
    """The language of a value as an import takes it; ``""`` if it has not the form of a tag."""
    return value.lang if is_language(value.lang) else ""


_SUMMED: dict[str, Callable[[Description], str | tuple[str, ...]]] = {
    "creators": lambda found: tuple(one.text for one in found.creators),
    "year": lambda found: next(iter(years_of(found.dates)), ""),
    "doi": lambda found: doi_of(found.identifiers),
    LANGUAGES: _languages,
}
FIELDS = (*_OWN, *_SUMMED, *_ELEMENTS)
"""The built-in columns of tables: what the Silo knows, the usual questions, and Dublin Core.

`fields` also returns those of other packages."""
CSV_ENCODING = "utf-8-sig"
"""With the byte order mark, because Excel needs it to read CSV as UTF-8."""
USUAL = ("record", "datestamp", "version", *_ELEMENTS, LANGUAGES)
_CURRENT = Policy()
_TOGETHER = Capabilities(each_version=False)


@dataclass(slots=True)
class TableReport:
    """The result of writing a table.

    Attributes:
        records: Number of records written.
        rows: Number of rows, links or files written.
        deleted: Number of records left out because the source deleted them.
        failed: Identifier of an unreadable record → reason; the first `KEPT`.
        empty: Number of records that have no such file or version.
        notes: Sentences on what was left out of all records, such as a damaged identifier.
    """

    records: int = 0
    rows: int = 0
    deleted: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    empty: int = 0
    notes: list[str] = field(default_factory=list)


Progress = Callable[[int], None]


def write_csv(
    silo: Silo,
    selection: Selection,
    out: IO[str],
    columns: Sequence[str] = USUAL,
    *,
    progress: Progress = lambda _records: None,
) -> TableReport:
    """Write CSV: a row for each record, a column for each field, cells as in `recordsilo.cells`.

    Args:
        selection: Which records.
        out: Opened with ``newline=""`` and `CSV_ENCODING`.
        columns: Names from `fields`.
        progress: Called with the number of records processed.

    Raises:
        SearchError, IndexProblem: The selection cannot be looked up.
        OSError: The file cannot be written.
    """
    writer = csv.writer(out, lineterminator="\r\n")  # RFC 4180
    writer.writerow(columns)

    contributed = Contributed.of(silo, columns)
    odd: set[str] = set()

    def row(record: HarvestedRecord, manifest: Manifest) -> int:
        values = _Row(record, manifest, contributed.of_record(manifest.item_id))
        writer.writerow([guarded(values.cell(name)) for name in columns])
        odd.update(values.odd_languages(_ELEMENTS if LANGUAGES in columns else ()))
        return 1

    report = for_each(silo, selection, row, progress, contributed)
    return _without_odd_languages(report, odd)


def write_jsonl(
    silo: Silo,
    selection: Selection,
    out: IO[str],
    columns: Sequence[str] = USUAL,
    *,
    progress: Progress = lambda _records: None,
) -> TableReport:
    """Write JSON lines: an object for each record, values of Dublin Core with their languages.

    ``{"record": "oai:…", "dc:title": [{"text": "…", "lang": "en"}]}``; a field without values is
    left out.

    Args:
        selection: Which records.
        out: A text stream in UTF-8.
        columns: Names from `fields`.
        progress: Called with the number of records processed.

    Raises:
        SearchError, IndexProblem: The selection cannot be looked up.
        OSError: The file cannot be written.
    """

    contributed = Contributed.of(silo, columns)
    elements, odd = [name for name in columns if name in _ELEMENTS], set[str]()

    def row(record: HarvestedRecord, manifest: Manifest) -> int:
        values = _Row(record, manifest, contributed.of_record(manifest.item_id))
        found = {name: values.json(name) for name in columns}
        kept = {name: value for name, value in found.items() if value}
        out.write(json.dumps(kept, ensure_ascii=False) + "\n")
        odd.update(values.odd_languages(elements))
        return 1

    report = for_each(silo, selection, row, progress, contributed)
    return _without_odd_languages(report, odd)


def _without_odd_languages(report: TableReport, odd: Collection[str]) -> TableReport:
    """Say in a report which languages `_tag_of` left out."""
    if odd:
        report.notes.append(
            f"{counted(len(odd), 'language')} left out, because an import takes only language"
            f" tags such as en: {cut_middle(min(odd), 40)!r}{' …' if len(odd) > 1 else ''}"
        )
    return report


def write_links(
    silo: Silo,
    selection: Selection,
    out: IO[str],
    *,
    progress: Progress = lambda _records: None,
) -> TableReport:
    """Write the links of each current version: address, identifier, field, separated by tabs.

    The links of a record are sorted; an address is listed once for each field.

    Args:
        selection: Which records.
        out: A text stream.
        progress: Called with the number of records processed.

    Raises:
        SearchError, IndexProblem: The selection cannot be looked up.
        OSError: The file cannot be written.
    """

    def rows(record: HarvestedRecord, manifest: Manifest) -> int:
        version, seen = manifest.current, set()
        for path in metadata_paths(version):
            for link in links_of(path, record.read(version.name, path)):
                seen.add((link.url, link.field))
        ordered = sorted(seen)
        out.writelines(f"{url}\t{manifest.item_id}\t{where}\n" for url, where in ordered)
        return len(ordered)

    out.write("url\tidentifier\tfield\n")
    return for_each(silo, selection, rows, progress)


def write_zip(
    silo: Silo,
    selection: Selection,
    out: BinaryIO,
    names: Sequence[str] = (),
    versions: Versions = Versions.CURRENT,
    *,
    all_files: bool = False,
    failures: str = "",
    progress: Progress = lambda _records: None,
) -> TableReport:
    """Write the metadata files into a zip, as ``<record>/[<version>/]<file>``.

    The same records give the same bytes. Directories whose names would differ only in case are
    told apart by a digest.

    Args:
        selection: Which records.
        out: May be a pipe.
        names: Only files of these names; empty for all metadata files.
        versions: Which versions; if more than the current ones, each has its own directory.
        all_files: Write all files of the versions, not only their metadata.
        failures: Name of a list of the records that could not be read, which is added if
            there are any; empty for none.
        progress: Called with the number of records processed.

    Raises:
        SearchError, IndexProblem: The selection cannot be looked up.
        OSError: The file cannot be written.

    Cost: about 600 bytes of memory for each file, for the directory at the end of the zip, and
    150 for each record.
    """
    records = _NamesInZip()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:

        def files(record: HarvestedRecord, manifest: Manifest) -> int | None:
            count = 0
            directory = records.name(manifest.item_id)
            for version in chosen_versions(manifest, versions):
                below = directory
                if versions is not Versions.CURRENT:
                    below += f"/{version.name}"
                for path in version.paths if all_files else metadata_paths(version):
                    if not names or path in names:
                        with record.get_stream(path, version.name) as source:
                            _add(archive, f"{below}/{path}", version.origin.date, source)
                        count += 1
            return count or None

        report = for_each(silo, selection, files, progress)
        _add_failures(archive, failures, report)
    return report


def write_deposits_zip(
    silo: Silo,
    selection: Selection,
    out: BinaryIO,
    write: Callable[[Add, Deposit], object],
    policy: Policy = _CURRENT,
    *,
    failures: str = "",
    progress: Progress = lambda _records: None,
) -> TableReport:
    """Write records into a zip in the form of a target, such as bags, a directory each.

    Args:
        out: May be a pipe.
        write: Writes the files of one record, under paths in the zip.
        policy: Which versions of each.
        failures: See `write_zip`. The directory of a record that fails is not complete.
        progress: Called with the number of records processed.

    Raises:
        SearchError, IndexProblem: The selection cannot be looked up.
        OSError: The file cannot be written.

    Cost: as of `write_zip`.
    """
    packer, records = Packer.of(silo, policy, _Forgetful()), _NamesInZip()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:

        def packed(record: HarvestedRecord, _manifest: Manifest) -> int | None:
            manifest = with_digests(record)
            actions = plan_record(manifest, KnownRecord(), policy, _TOGETHER)

            usual, own = directory_name(manifest.item_id), records.name(manifest.item_id)

            def add(name: str, _size: int, source: IO[bytes]) -> None:
                place = own + name.removeprefix(usual)
                _add(archive, place, manifest.current.origin.date, source)

            for action in actions:
                write(add, packer.deposit(record, manifest, action, None))
            return len(actions) or None

        report = for_each(silo, selection, packed, progress)
        _add_failures(archive, failures, report)
    return report


class _NamesInZip:
    """The directories of records; no two differ only in case, which many disks do not tell apart.

    Of two such records, the later one has a digest at the end of its name.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def name(self, identifier: str) -> str:
        """Return the directory of a record; called once for each."""
        found = directory_name(identifier, is_taken=lambda one: one.casefold() in self._taken)
        self._taken.add(found.casefold())
        return found


class _Forgetful:
    """See `Sha512Cache`: bags have their own digests."""

    def known_sha512(self, digest: Digest) -> str | None:
        """See `Sha512Cache`."""

    def note_sha512(self, digest: Digest, sha512: str) -> None:
        """See `Sha512Cache`."""


def _add(archive: zipfile.ZipFile, name: str, date: str, source: IO[bytes]) -> None:
    info = zipfile.ZipInfo(name, _moment(date))
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    with archive.open(info, "w", force_zip64=True) as file:
        while chunk := source.read(CHUNK):
            file.write(chunk)


def _add_failures(archive: zipfile.ZipFile, name: str, report: TableReport) -> None:
    if name and report.failed:
        lines = "".join(f"{one}\t{why}\n" for one, why in report.failed.items())
        _add(archive, name, "", io.BytesIO(lines.encode("utf-8", "replace")))


def _moment(date: str) -> tuple[int, int, int, int, int, int]:
    """Return when a version was made, as a zip stores it: from 1980 on."""
    try:
        found = datetime.fromisoformat(date)
    except ValueError:  # the release of 2010 did not note it
        return (1980, 1, 1, 0, 0, 0)
    if not 1980 <= found.year <= 2107:
        return (1980, 1, 1, 0, 0, 0)
    return (found.year, found.month, found.day, found.hour, found.minute, found.second)


@contextmanager
def exported_file(
    silo_path: str,
    path: str,
    on_conflict: OnConflict = OnConflict.FAIL,
    *,
    follow: bool = True,
    form: str = "",
) -> Iterator[BinaryIO]:
    """Open a file to write it whole; it replaces what was exported there last.

    The path has a ledger with the size and SHA-256 of each file written. They are noted before
    the new file is renamed, so that after a kill both files are known. Nothing is noted if the
    Silo is not writable. A device or a pipe is written directly.

    Args:
        on_conflict: Whether to overwrite a file that was not exported there.
        follow: Whether the path may be a symbolic link, whose target is replaced then.
        form: The kind of file, which the ledger notes, too; ``""`` if it does not matter.

    Raises:
        FileChanged: Such a file exists and is not to be overwritten; it is kept.
        FileOfOtherKind: The file was exported there as another kind; it is kept.
        LedgerInUse: Another process is exporting to the file.
        LedgerUnreadable, OSError: The ledger or the file cannot be read or written.
    """
    target = os.path.realpath(path) if follow else os.path.abspath(path)
    if follow and os.path.exists(target) and not os.path.isfile(target):
        with whole_file(path) as file:
            yield file
        return
    key = f"file {target}"
    with _ledger(silo_path, key, path) as ledger:
        was_exported = bool(ledger.runs())

        def check() -> None:
            if on_conflict is OnConflict.OVERWRITE or not os.path.lexists(target):
                return
            held = _form_left(ledger, target)
            if held is None:
                raise FileChanged(path, was_exported=was_exported)
            if form and held and held != form:
                raise FileOfOtherKind(path, held, form)

        def note(staged: str) -> None:
            check()
            if ledger.is_writable:
                ledger.begin_run(asdict(_digest(staged)) | ({_FORM: form} if form else {}))

        check()
        with whole_file(path, note, follow=follow) as file:
            yield file
        if ledger.is_writable:
            ledger.end_run(ledger.runs()[0].run_id, "done", {})


def _ledger(silo_path: str, key: str, shown: str) -> Ledger:
    try:
        return Ledger.open(silo_path, key, shown)
    except OSError as error:
        if error.errno not in CANNOT_WRITE:
            raise
        return Ledger.look(silo_path, key)


_FORM = "form"
"""The argument of a run with the kind of the file; earlier releases noted none."""


def _form_left(ledger: Ledger, path: str) -> str | None:
    """The kind of a file that the last run or a killed one after it wrote; None for any other.

    It is ``""`` if the run noted no kind, or if the file has just been deleted.
    """
    try:
        found = asdict(_digest(path))
    except FileNotFoundError:
        return ""
    for run in ledger.runs():
        if {name: value for name, value in run.arguments.items() if name != _FORM} == found:
            return str(run.arguments.get(_FORM, ""))
        if run.ended:
            break
    return None


def _digest(path: str) -> Digest:
    with open_regular(path) as file:
        return digest_of(file)


def columns_named(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are meant: an element of Dublin Core may be named without ``dc:``.

    ``date`` is the date of the version, and no element. Unknown names stay as they are.
    """
    if all(name in FIELDS for name in names):
        return tuple(names)  # without looking at what packages contribute
    elements = _ELEMENTS.keys() - {f"dc:{name}" for name in fields()}
    return tuple(f"dc:{name}" if f"dc:{name}" in elements else name for name in names)


def check_columns(columns: Sequence[str]) -> None:
    """Check that columns exist.

    Raises:
        ExportError: One does not; the message lists those that do.
    """
    if any(name not in FIELDS for name in columns):
        known = fields()
        if unknown := [name for name in columns if name not in known]:
            raise ExportError(
                f"there is no field {unknown[0]!r}; there are {', '.join(known)}"
                f"{did_you_mean(unknown[0], known)}"
            )


def fields() -> tuple[str, ...]:
    """Return the names of all columns: `FIELDS`, and those that packages contribute."""
    return (*FIELDS, *(one.name for one in contributed_facets() if one.is_column))


# -- the records -------------------------------------------------------------------------

_Write = Callable[[HarvestedRecord, Manifest], int | None]
"""Writes a record, and returns the number of rows; None if it has nothing that is asked for."""


def for_each(
    silo: Silo,
    selection: Selection,
    write: _Write,
    progress: Progress,
    contributed: "Contributed | None" = None,
) -> TableReport:
    report = TableReport()
    identifiers = selection.iterate(silo)
    if contributed is not None and contributed.facets:
        identifiers = contributed.read_ahead(identifiers)
    for number, identifier in enumerate(identifiers, 1):
        try:
            _one(silo[identifier], selection, write, report)
        except RecordNotFound:  # removed since it was listed
            continue
        except (RecordSiloError, ExportError) as error:
            if len(report.failed) < KEPT:
                report.failed[identifier] = str(error)
        progress(number)
    for name, sentence in selection.unsure(silo):
        if name not in report.failed and len(report.failed) < KEPT:
            report.failed[name] = sentence
    return report


def _one(record: HarvestedRecord, selection: Selection, write: _Write, report: TableReport) -> None:
    manifest = record.state
    if not is_in_state(selection, manifest):
        return
    if is_deleted(manifest):
        report.deleted += 1
        return
    rows = write(record, manifest)
    if rows is None:
        report.empty += 1
        return
    report.rows += rows
    report.records += 1


@dataclass(slots=True)
class Contributed:
    """Columns that packages contribute, read for many records at once."""

    path: str
    facets: tuple[Facet, ...]
    _read: dict[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, silo: Silo, columns: Sequence[str]) -> "Contributed":
        names = [name for name in columns if name not in FIELDS]
        return cls(silo.path, tuple(map(facet_named, names)))

    def read_ahead(self, identifiers: Iterator[str]) -> Iterator[str]:
        """Yield the same identifiers, after their values were read.

        Raises:
            SearchError: A package failed.
        """
        while some := list(itertools.islice(identifiers, _AHEAD)):
            self._read = {one.name: values_of(one, self.path, some) for one in self.facets}
            yield from some

    def of_record(self, identifier: str) -> Mapping[str, Sequence[str]]:
        return {name: read[identifier] for name, read in self._read.items() if identifier in read}


_AHEAD = 1000
"""How many records' contributed columns are read at once."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A record's values."""

    record: HarvestedRecord
    manifest: Manifest
    contributed: Mapping[str, Sequence[str]]
    _described: list[Description] = field(default_factory=list)

    def cell(self, name: str) -> str:
        if name in _ELEMENTS:
            return joined(value.text for value in self._values(name))
        found = self._own(name)
        return found if isinstance(found, str) else joined(found)

    def json(self, name: str) -> Any:
        if name == LANGUAGES:
            return ""  # each value has its own beside it
        if name not in _ELEMENTS:
            found = self._own(name)
            return found if isinstance(found, str) else list(found)
        return [
            {"text": value.text, **({"lang": lang} if (lang := _tag_of(value)) else {})}
            for value in self._values(name)
        ]

    def odd_languages(self, names: Iterable[str]) -> Iterator[str]:
        """The languages of the values of elements that `_tag_of` leaves out."""
        for name in names:
            yield from (one.lang for one in self._values(name) if one.lang and not _tag_of(one))

    def _own(self, name: str) -> str | Sequence[str]:
        if name in _OWN:
            return _OWN[name](self.manifest)
        if name in _SUMMED:
            return _SUMMED[name](self._description())
        return self.contributed.get(name, ())

    def _values(self, name: str) -> Values:
        found: Values = getattr(self._description(), _ELEMENTS[name])
        return found

    def _description(self) -> Description:
        if not self._described:
            self._described.append(described(self.record, self.manifest.current))
        return self._described[0]


def described(record: HarvestedRecord, version: Version) -> Description:
    """Return the description of a version.

    Raises:
        RecordSiloError, OSError: A metadata file cannot be read, or a harvested one is damaged.
    """
    broken: list[OSError | RecordSiloError] = []

    def read(name: str, path: str) -> bytes:
        try:
            content = record.read(name, path)
            known = (version.digests or {}).get(path)
            if known and digest_of_bytes(content) != known and record.is_frozen(name):
                raise FileDamaged(record.item_id, name, path)
            return content
        except (OSError, RecordSiloError) as error:
            broken.append(error)
            raise

    found = description_of(version, read)
    if broken:
        raise broken[0]
    return found
