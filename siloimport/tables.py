"""A table as records: each row of a CSV file, or each of JSON lines, described in Dublin Core.

All rows are checked before the first is stored.

Source: RFC 4180; docs/import.md.
"""

import csv
import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import BinaryIO

from infopackages.files import PackageUnreadable, open_plain
from recordsilo.cells import SEPARATOR
from recordsilo.disk.identifier import check_identifier
from recordsilo.disk.names import check_path
from recordsilo.disk.regular_file import open_regular
from recordsilo.errors import RecordSiloError
from recordsilo.records.manifest import Origin, date_text, now_text
from siloimport.bags import VERSION, is_metadata
from siloimport.columns import ImportRow, Meaning, meanings, row_of, row_of_object
from siloimport.describing import PATH, described
from siloimport.errors import ImportProblem
from siloimport.importing import ImportSource
from siloimport.writing import Imported, ImportedFile, ImportedVersion, ImportReport, content_of

MAX_CELL = 1 << 20
_LONGEST_LINE = 16 << 20
_BOM = b"\xef\xbb\xbf"
_DELIMITERS = ",;\t"
_NO_JSON = "it is not JSON"


class BadRows(ImportProblem):
    """Rows of a table are bad, and nothing was stored.

    Attributes:
        faults: (line, what is wrong with the row that begins there).
    """

    def __init__(self, faults: list[tuple[int, str]]) -> None:
        self.faults = faults
        rows = "row is" if len(faults) == 1 else "rows are"
        super().__init__(
            f"{len(faults):,} {rows} bad, so nothing was stored; correct the table, or give "
            "--skip-bad to import the other rows"
        )


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How a table is read.

    Attributes:
        identifier, mapping: See `siloimport.columns.meanings`.
        delimiter: Between cells; ``""`` for the most frequent of ``,``, ``;`` and tab in the
            first row.
        separator: Between several values in a cell.
        prefix: Begins every identifier.
        skip_bad: Import the other rows if some are bad.
        message: Why.
        is_json: Whether it is JSON lines, and no CSV.
    """

    identifier: str = ""
    mapping: Mapping[str, str] = field(default_factory=dict)
    delimiter: str = ""
    separator: str = SEPARATOR
    prefix: str = ""
    skip_bad: bool = False
    message: str = ""
    is_json: bool = False


def table_at(path: str, options: TableOptions) -> ImportSource:
    """Return the records of a table, all of whose rows were checked.

    Raises:
        BadRows: Some rows are bad, and `skip_bad` is not set.
        ImportProblem: The table cannot be read, or has several lines, none of which is JSON.

    Cost: reads the file once, and again when the records are asked for; looks at each file that
    it names. Memory for the identifiers alone.
    """
    table = (_JsonLines if options.is_json else _Table)(path, options)
    total, faults = 0, []
    for one in table.rows():
        if isinstance(one, ImportRow):
            total += 1
        else:
            faults.append(one)
    if options.is_json and not total and all(why == _NO_JSON for _line, why in faults):
        _refuse_table(path, len(faults))
    if faults and not options.skip_bad:
        raise BadRows(faults)
    if not total:
        bad = f": {len(faults):,} are bad" if faults else ", only the names of its columns"
        raise ImportProblem(f"{path} has no rows to import{bad}")

    def records(report: ImportReport) -> Iterator[Imported]:
        for one in table.rows():
            if isinstance(one, ImportRow):
                yield table.record(one)
            else:
                line, why = one
                report.failed[f"line {line}"] = why

    return ImportSource(path, records, total + len(faults), table.path)


def _refuse_table(path: str, lines: int) -> None:
    """Refuse a file of several lines that are all no JSON."""
    if lines > 1:
        raise ImportProblem(
            f"{path} has no JSON lines: none of its {lines:,} lines is JSON. If it is a table: "
            f"silo import csv {shlex.quote(path)}"
        )


class _Table:
    """A CSV file, which is read several times."""

    saved_as = "“CSV UTF-8”"

    def __init__(self, path: str, options: TableOptions) -> None:
        self.shown, self.options = path, options
        self.path = os.path.realpath(path)
        self.directory = os.path.dirname(self.path)
        try:
            with open_regular(self.path) as file:
                changed = os.fstat(file.fileno()).st_mtime
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise ImportProblem(f"{path} cannot be read: {why}") from None
        self.date = date_text(datetime.fromtimestamp(int(changed), UTC))

    def rows(self) -> Iterator[ImportRow | tuple[int, str]]:
        """Yield each row, or the line and the fault of a bad one.

        Raises:
            ImportProblem: The file is no CSV in UTF-8, or has no columns as they are asked for.
        """
        known: dict[str, int] = {}
        with open_regular(self.path) as file:
            for line, make in self._rows(file):
                try:
                    one = self._checked(make())
                    if (before := known.setdefault(one.identifier, line)) != line:
                        raise ImportProblem(f"{one.identifier} is also in line {before}")
                except (ImportProblem, RecordSiloError, PackageUnreadable) as error:
                    yield line, str(error)
                else:
                    yield one

    def record(self, row: ImportRow) -> Imported:
        """Return the record of a row."""
        files = [described(row.values)] if row.values else []
        for path in row.files:
            opened = partial(content_of, partial(open_plain, self.directory, path))
            files.append(ImportedFile(path, opened, is_metadata=is_metadata(path)))
        options = self.options
        message = options.message or f"line {row.line} of {os.path.basename(self.shown)}"
        origin = Origin("import", message=message, date=now_text())
        version = ImportedVersion(VERSION, row.datestamp or self.date, origin, tuple(files))
        metadata = {"setSpec": list(row.sets)} if row.sets else {}
        return Imported(row.identifier, (version,), VERSION, metadata)

    def _columns(self, heads: list[str]) -> tuple[Meaning, ...]:
        if not any(one.strip() for one in heads):
            raise ImportProblem(f"{self.shown} has no first row with the names of its columns")
        try:
            return meanings(heads, self.options.mapping, self.options.identifier)
        except ImportProblem as error:
            raise ImportProblem(f"{self.shown}: {error}") from None

    def _rows(self, file: BinaryIO) -> Iterator[tuple[int, Callable[[], ImportRow]]]:
        """Yield the line of each row, and what makes the row or raises an `ImportProblem`."""
        cells = self._cells(file)
        columns = self._columns(next(cells, (1, []))[1])
        separator, prefix = self.options.separator, self.options.prefix
        for line, row in cells:
            if any(cell.strip() for cell in row):
                yield line, partial(row_of, line, row, columns, separator, prefix)

    def _checked(self, row: ImportRow) -> ImportRow:
        check_identifier(row.identifier)
        for path in row.files:
            check_path(path)
            if path == PATH and row.values:
                raise ImportProblem(f"its file {path} has the name of its description")
            open_plain(self.directory, path).close()
        return row

    def _cells(self, file: BinaryIO) -> Iterator[tuple[int, list[str]]]:
        """Yield each row with the line in which it begins."""
        lines = self._lines(file)
        first = next(lines, "")
        delimiter = self.options.delimiter or max(_DELIMITERS, key=first.count)
        csv.field_size_limit(MAX_CELL)
        reader = csv.reader(_with(first, lines), delimiter=delimiter, strict=True)
        begin = 1
        try:
            for row in reader:
                yield begin, row
                begin = reader.line_num + 1
        except csv.Error as error:
            ends = "new-line character" in str(error)
            why = "a line ends in CR alone; save the table as “CSV UTF-8”" if ends else error
            raise ImportProblem(
                f"the row that begins in line {begin} of {self.shown} is not CSV: {why}"
            ) from None

    def _lines(self, file: BinaryIO) -> Iterator[str]:
        number = 0
        while line := file.readline(_LONGEST_LINE + 1):
            number += 1
            where = f"line {number} of {self.shown}"
            if len(line) > _LONGEST_LINE:
                raise ImportProblem(f"{where} is longer than {_LONGEST_LINE >> 20} MiB")
            if number == 1:
                line = line.removeprefix(_BOM)
            try:
                text = line.decode()
            except UnicodeDecodeError:
                raise ImportProblem(
                    f"{where} is not UTF-8; save the table as {self.saved_as}"
                ) from None
            if "\0" in text:
                raise ImportProblem(f"{where} has null characters; save it as {self.saved_as}")
            yield text


class _JsonLines(_Table):
    """A file of JSON lines, an object in each."""

    saved_as = "UTF-8 text"

    def _rows(self, file: BinaryIO) -> Iterator[tuple[int, Callable[[], ImportRow]]]:
        unseen = dict.fromkeys(self.options.mapping)
        for line, text in enumerate(self._lines(file), 1):
            if text.strip():
                yield line, partial(self._row, line, text, unseen)
        for name in unseen:
            raise ImportProblem(f"{self.shown}: no line has a field {name!r}")

    def _row(self, line: int, text: str, unseen: dict[str, None]) -> ImportRow:
        try:
            members = json.loads(text)
        except (ValueError, RecursionError):
            raise ImportProblem(_NO_JSON) from None
        if not isinstance(members, dict):
            raise ImportProblem("it is not a JSON object")
        for name in members:
            unseen.pop(name, None)
        options = self.options
        return row_of_object(line, members, options.mapping, options.identifier, options.prefix)


def _with(first: str, lines: Iterator[str]) -> Iterator[str]:
    if first:
        yield first
    yield from lines
