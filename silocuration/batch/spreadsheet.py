"""Export records to a spreadsheet, and import the edited spreadsheet (docs/curation.md).

Each record has a row, each field and language a column (``title``, ``title[en]``);
`recordsilo.cells` joins several values of a cell. The column ``mark`` identifies the state of
the record that the row shows. A record that has changed since is skipped if its row differs
from it.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from recordsilo import Silo
from recordsilo.cells import bare, guarded, joined, split
from recordsilo.errors import RecordNotFound, RecordSiloError, did_you_mean
from recordsilo.formats import format_of_file
from recordsilo.records.manifest import Manifest
from silocuration.batch import exported_tables
from silocuration.editing.changes import (
    CannotChange,
    FileChange,
    ReadFile,
    RecordChange,
    editable_version,
    mark_of,
    metadata_fields,
)
from silocuration.editing.fields import (
    Field,
    Fields,
    field_names,
    sound_text,
    with_values,
    write_fields,
)
from silocuration.errors import NoFields, SpreadsheetRefused

IDENTIFIER, MARK = "identifier", "mark"
_DC_IDENTIFIER = "dc:identifier"
"""Heading of the Dublin Core field ``identifier``; ``identifier`` is the record's own."""
MAX_BYTES = 256 << 20
MAX_CELL = 1 << 20
_COLUMN = re.compile(r"(?P<name>[^\[\]]+)(?:\[(?P<lang>.*)\])?", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class Column:
    """A field in a language; ``""`` is no language."""

    name: str
    lang: str = ""

    def __str__(self) -> str:
        name = _DC_IDENTIFIER if self.name == IDENTIFIER else self.name
        return f"{name}[{self.lang}]" if self.lang else name

    @classmethod
    def parse(cls, text: str) -> "Column":
        """Read a column's heading.

        Raises:
            SpreadsheetRefused: It does not name a field.
        """
        match = _COLUMN.fullmatch(text.strip())
        if match is None:
            raise SpreadsheetRefused(
                f"the column {text!r} does not name a field; write title or title[en]"
            )
        name = match["name"].strip()
        return cls(IDENTIFIER if name == _DC_IDENTIFIER else name, match["lang"] or "")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A record's row in a spreadsheet."""

    identifier: str
    mark: str
    cells: dict[str, str]


# --------------------------------------------------------------------------- out


def columns_of(silo: Silo, identifiers: Iterable[str], file: str = "") -> list[Column]:
    """Return the columns that show all fields of some records, in order of first use.

    Cost: reads the manifest and the metadata file of each.
    """
    found: dict[str, dict[Column, None]] = {}
    for identifier in identifiers:
        for one in _shown(silo, identifier, file)[2]:
            found.setdefault(one.name, {})[Column(one.name, one.lang)] = None
    return [column for columns in found.values() for column in sorted(columns)]


def fields_of(silo: Silo, identifiers: Iterable[str], file: str = "") -> tuple[str, ...]:
    """Return the fields that some records have or their formats allow, in order of first use.

    Cost: reads the manifest and the metadata file of each.
    """
    found: dict[str, None] = {}
    for identifier in identifiers:
        _, path, fields = _shown(silo, identifier, file)
        if path:
            found |= dict.fromkeys(field_names(format_of_file(path)))
            found |= dict.fromkeys(one.name for one in fields)
    return tuple(found)


def write_csv(
    silo: Silo,
    identifiers: Sequence[str],
    out: IO[str],
    columns: Sequence[Column] | None = None,
    *,
    file: str = "",
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write records as CSV (RFC 4180), one at a time.

    Args:
        identifiers: The records, in this order.
        out: Opened with ``newline=""`` and ``utf-8-sig``, by which Excel recognizes UTF-8.
        columns: Only these; by default all columns.
        file: The metadata file; see `changes.metadata_fields`.
        progress: Called after every record.

    Returns:
        The number of records written, which are those with fields.

    Raises:
        SpreadsheetRefused: A column's field is in no record and no record's format; nothing is
            written.
    """
    if columns is not None:
        _check_columns(silo, identifiers, columns, file)
    wanted = list(columns) if columns is not None else columns_of(silo, identifiers, file)
    writer = csv.writer(out)
    writer.writerow([IDENTIFIER, MARK, *map(str, wanted)])
    written = 0
    for number, identifier in enumerate(identifiers, 1):
        mark, _, fields = _shown(silo, identifier, file)
        if mark:
            cells = [guarded(joined(_values(fields, column))) for column in wanted]
            writer.writerow([guarded(identifier), mark, *cells])
            written += 1
        if progress is not None:
            progress(number)
    return written


def _check_columns(
    silo: Silo, identifiers: Iterable[str], columns: Iterable[Column], file: str
) -> None:
    """Refuse fields that the records cannot have; reads records until all fields are found."""
    left = dict.fromkeys(column.name for column in columns)
    there: set[str] = set()
    for identifier in identifiers:
        mark, path, fields = _shown(silo, identifier, file)
        if mark:
            there.update(field_names(format_of_file(path)), (one.name for one in fields))
        left = {name: None for name in left if name not in there}
        if not left:
            return
    for name in left if there else ():
        raise SpreadsheetRefused(f"no record has a field {name!r}{did_you_mean(name, there)}")


def _shown(silo: Silo, identifier: str, file: str) -> tuple[str, str, Fields]:
    """Return a record's mark, metadata file and fields; empty if no field can be edited."""
    try:
        record = silo[identifier]
        source, _ = editable_version(record.state)
        version = record.state.version(source)
        path, _, fields = metadata_fields(version, record.read, file)
        return mark_of(version), path, fields
    except (CannotChange, RecordNotFound, RecordSiloError):
        return "", "", ()


def _values(fields: Fields, column: Column) -> list[str]:
    return [one.folded for one in fields if _is_in(one, column)]


def _is_in(field: Field, column: Column) -> bool:
    """Whether a column shows a field; no column shows empty elements, which stay as they are."""
    return (field.name, field.lang) == (column.name, column.lang) and bool(field.folded)


# --------------------------------------------------------------------------- in


def read_csv(content: bytes) -> list[SheetRow]:
    """Read an edited spreadsheet.

    The separator is a comma, semicolon or tab; the encoding UTF-8, with or without a BOM.

    Raises:
        SpreadsheetRefused: The message says which row or column is invalid, and what to do.
    """
    if len(content) > MAX_BYTES:
        raise SpreadsheetRefused(f"the spreadsheet is larger than {MAX_BYTES >> 20} MiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SpreadsheetRefused("the spreadsheet is not UTF-8; save it as “CSV UTF-8”") from None
    if "\0" in text:
        raise SpreadsheetRefused("the file is not CSV: it has null characters; save it as CSV")
    rows = _rows(text)
    head = next(rows, None)
    if head is None:
        raise SpreadsheetRefused("the spreadsheet is empty")
    heads = [one.strip() for one in head[1]]
    columns = _columns(heads)
    if doubles := sorted({one for one in columns.values() if [*columns.values()].count(one) > 1}):
        raise SpreadsheetRefused(f"the column {doubles[0]} appears twice")
    found = _sheet_rows(rows, heads, columns)
    if not found:
        raise SpreadsheetRefused("the spreadsheet has no records, only the names of its columns")
    return found


def _columns(heads: list[str]) -> dict[int, str]:
    """The place and the name of each column with values."""
    if exported_tables.is_table(heads, (IDENTIFIER, MARK)):
        return exported_tables.element_columns(heads)
    if IDENTIFIER not in heads or MARK not in heads:
        raise SpreadsheetRefused(
            f"the first row must name the columns, with {IDENTIFIER} and {MARK} among them, or"
            f" {exported_tables.RECORD}, as tables of silo export csv have it"
        )
    own = {heads.index(IDENTIFIER), heads.index(MARK)}
    return {
        place: str(Column.parse(one)) for place, one in enumerate(heads) if one and place not in own
    }


def _sheet_rows(
    rows: Iterator[tuple[int, list[str]]], heads: list[str], columns: dict[int, str]
) -> list[SheetRow]:
    found: dict[str, SheetRow] = {}
    is_table = MARK not in heads
    name = heads.index(exported_tables.RECORD if is_table else IDENTIFIER)
    for line, row in rows:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) > len(heads) and any(row[len(heads) :]):
            raise SpreadsheetRefused(f"row {line} has more cells than the first row")
        cells = [*row, *[""] * (len(heads) - len(row))]
        identifier = bare(cells[name].strip())
        if not identifier:
            raise SpreadsheetRefused(f"row {line} has no identifier")
        if identifier in found:
            raise SpreadsheetRefused(f"{identifier} is in two rows, the second is row {line}")
        values = {name: bare(cells[place]) for place, name in columns.items()}
        mark = _mark_of_table(heads, cells) if is_table else cells[heads.index(MARK)].strip()
        found[identifier] = SheetRow(identifier, mark, values)
    return list(found.values())


def _mark_of_table(heads: list[str], cells: list[str]) -> str:
    is_told = exported_tables.VERSION in heads
    version = bare(cells[heads.index(exported_tables.VERSION)].strip()) if is_told else ""
    return exported_tables.mark_of_row(version)


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    csv.field_size_limit(MAX_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise SpreadsheetRefused(f"row {reader.line_num} is not CSV: {error}") from None


def _split(cell: str) -> list[str]:
    parts = (" ".join(sound_text(part).split()) for part in split(cell))
    return [part for part in parts if part]


def check_rows(silo: Silo, rows: Sequence[SheetRow], file: str = "") -> None:
    """Check that each column of an edited spreadsheet is a field that its records can have.

    Raises:
        SpreadsheetRefused: A column's field is in no record of the rows and in none of their
            formats; the message has the nearest name.

    Cost: reads records until all fields are found, which is one record as a rule.
    """
    if rows and exported_tables.is_of_table(rows[0].mark):
        return  # it has a column for each element, whatever its records have
    columns = (Column.parse(name) for name in (rows[0].cells if rows else ()))
    _check_columns(silo, (row.identifier for row in rows), columns, file)


def plan_row(
    manifest: Manifest, read: ReadFile, row: SheetRow, file: str = ""
) -> RecordChange | None:
    """Decide what to change in a record so that it matches an edited row.

    Returns:
        None if the row does not differ from the record.

    Raises:
        CannotChange: The record has changed since the export and differs from the row, or it
            has no fields that can be edited.
    """
    is_table = exported_tables.is_of_table(row.mark)
    cells = {name: _split(cell) for name, cell in row.cells.items()}
    if is_table:
        cells = exported_tables.changed_cells(manifest, read, row.mark, cells)
        if not cells:
            return None
    source, target = editable_version(manifest)
    version = manifest.version(source)
    path, content, before = metadata_fields(version, read, file)
    if is_table:
        after = exported_tables.with_cells(manifest, read, before, cells)
    else:
        after = before
        for name, wanted in cells.items():
            after = _with_values(after, Column.parse(name), wanted)
    if after == before:
        return None
    if not is_table and row.mark != mark_of(version):
        raise CannotChange("was changed since the spreadsheet was made")
    try:
        changed = write_fields(content, after)
    except NoFields as error:
        raise CannotChange(str(error)) from None
    return RecordChange(source, target, before, after, (FileChange(path, content, changed),))


def _with_values(fields: Fields, column: Column, wanted: list[str]) -> Fields:
    """Return the fields with these values in a column."""
    if _values(fields, column) == wanted:
        return fields
    new = [Field(column.name, text, column.lang) for text in wanted]
    return with_values(fields, lambda one: _is_in(one, column), new)
