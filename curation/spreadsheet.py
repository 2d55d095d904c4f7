"""Records as a spreadsheet, and the edited spreadsheet as a job (docs/curation.md).

One row a record, one column for each field and language (``title``, ``title[en]``),
several values of a cell set apart by ``||``, as DSpace and OpenRefine's users do. The
column ``mark`` says which state of the record the row shows: a record that changed
since is a conflict where the row says something else, and stays as it is.

Excel and LibreOffice run a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a
formula; such a cell gets an apostrophe in front, which is taken off again.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from curation.changes import (
    CannotChange,
    FileChange,
    ReadFile,
    RecordChange,
    editable_version,
    mark_of,
    metadata_fields,
)
from curation.errors import NoFields, SpreadsheetRefused
from curation.fields import Field, Fields, sound_text, with_values, write_fields
from recordsilo import Silo
from recordsilo.errors import RecordNotFound, RecordSiloError
from recordsilo.manifest import Manifest

SEPARATOR = "||"
IDENTIFIER, MARK = "identifier", "mark"
MAX_BYTES = 256 << 20
MAX_CELL = 1 << 20
_COLUMN = re.compile(r"(?P<name>[^\[\]]+)(?:\[(?P<lang>[A-Za-z0-9-]*)\])?")
_FORMULA = tuple("=+-@\t\r")


@dataclass(frozen=True, slots=True, order=True)
class Column:
    """A field in a language; ``""``: in none."""

    name: str
    lang: str = ""

    def __str__(self) -> str:
        return f"{self.name}[{self.lang}]" if self.lang else self.name

    @classmethod
    def parse(cls, text: str) -> "Column":
        """Read a column's head.

        Raises:
            SpreadsheetRefused: It names no field.
        """
        match = _COLUMN.fullmatch(text.strip())
        if match is None:
            raise SpreadsheetRefused(
                f"the column {text!r} names no field; write title or title[en]"
            )
        return cls(match["name"].strip(), match["lang"] or "")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """What a spreadsheet says of a record."""

    identifier: str
    mark: str
    cells: dict[str, str]


# --------------------------------------------------------------------------- out


def columns_of(silo: Silo, identifiers: Iterable[str], file: str = "") -> list[Column]:
    """The columns that show all fields of some records, in the order they are met.

    Cost: reads the manifest and the metadata file of each.
    """
    found: dict[str, dict[Column, None]] = {}
    for identifier in identifiers:
        for one in _shown(silo, identifier, file)[1]:
            found.setdefault(one.name, {})[Column(one.name, one.lang)] = None
    return [column for columns in found.values() for column in sorted(columns)]


def write_csv(
    silo: Silo,
    identifiers: Sequence[str],
    out: IO[str],
    columns: Sequence[Column] | None = None,
    *,
    file: str = "",
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write records as CSV (RFC 4180), a record at a time.

    Args:
        identifiers: Which, in this order.
        out: Opened with ``newline=""``; as ``utf-8-sig``, which Excel needs to know UTF-8.
        columns: Only these; by default all there are.
        file: The metadata file; see `changes.metadata_fields`.
        progress: Told after every record.

    Returns:
        How many records have fields and are in it.
    """
    wanted = list(columns) if columns is not None else columns_of(silo, identifiers, file)
    writer = csv.writer(out)
    writer.writerow([IDENTIFIER, MARK, *map(str, wanted)])
    written = 0
    for number, identifier in enumerate(identifiers, 1):
        mark, fields = _shown(silo, identifier, file)
        if mark:
            cells = [_cell(_values(fields, column)) for column in wanted]
            writer.writerow([_guarded(identifier), mark, *cells])
            written += 1
        if progress is not None:
            progress(number)
    return written


def _shown(silo: Silo, identifier: str, file: str) -> tuple[str, Fields]:
    """The mark and the fields of a record; ``""`` and none where it has none to edit."""
    try:
        record = silo[identifier]

        def read(version: str, path: str) -> bytes:
            with record.get_stream(path, version) as stream:
                return bytes(stream.read())

        source, _ = editable_version(record.state)
        version = record.state.version(source)
        return mark_of(version), metadata_fields(version, read, file)[2]
    except (CannotChange, RecordNotFound, RecordSiloError):
        return "", ()


def _values(fields: Fields, column: Column) -> list[str]:
    return [one.folded for one in fields if (one.name, one.lang) == (column.name, column.lang)]


def _cell(values: Iterable[str]) -> str:
    return _guarded(SEPARATOR.join(value.replace("||", "|\\|") for value in values))


def _guarded(text: str) -> str:
    return "'" + text if text.startswith((*_FORMULA, "'")) else text


# --------------------------------------------------------------------------- in


def read_csv(content: bytes) -> list[SheetRow]:
    """Read an edited spreadsheet.

    Comma, semicolon or tab between the columns, UTF-8 with or without a mark.

    Raises:
        SpreadsheetRefused: Says which row or column means nothing, and what to do.
    """
    if len(content) > MAX_BYTES:
        raise SpreadsheetRefused(f"the spreadsheet is larger than {MAX_BYTES >> 20} MiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SpreadsheetRefused("the spreadsheet is not UTF-8; save it as “CSV UTF-8”") from None
    if "\0" in text:
        raise SpreadsheetRefused("the file is no CSV: it has null characters; save it as CSV")
    rows = _rows(text)
    head = next(rows, None)
    if head is None:
        raise SpreadsheetRefused("the spreadsheet is empty")
    heads = [one.strip() for one in head[1]]
    if IDENTIFIER not in heads or MARK not in heads:
        raise SpreadsheetRefused(
            f"the first row has to name the columns, {IDENTIFIER} and {MARK} among them"
        )
    columns = {
        place: str(Column.parse(one))
        for place, one in enumerate(heads)
        if one and one not in {IDENTIFIER, MARK}
    }
    if doubles := sorted({one for one in columns.values() if [*columns.values()].count(one) > 1}):
        raise SpreadsheetRefused(f"the column {doubles[0]} is there twice")
    return _sheet_rows(rows, heads, columns)


def _sheet_rows(
    rows: Iterator[tuple[int, list[str]]], heads: list[str], columns: dict[int, str]
) -> list[SheetRow]:
    found: dict[str, SheetRow] = {}
    for line, row in rows:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) > len(heads) and any(row[len(heads) :]):
            raise SpreadsheetRefused(f"row {line} has more cells than the first row names columns")
        cells = [*row, *[""] * (len(heads) - len(row))]
        identifier = _bare(cells[heads.index(IDENTIFIER)].strip())
        if not identifier:
            raise SpreadsheetRefused(f"row {line} has no identifier")
        if identifier in found:
            raise SpreadsheetRefused(f"{identifier} is in two rows, the second is row {line}")
        values = {name: _bare(cells[place]) for place, name in columns.items()}
        found[identifier] = SheetRow(identifier, cells[heads.index(MARK)].strip(), values)
    return list(found.values())


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    csv.field_size_limit(MAX_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise SpreadsheetRefused(f"row {reader.line_num} is no CSV: {error}") from None


def _bare(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith((*_FORMULA, "'")) else cell


def _split(cell: str) -> list[str]:
    parts = (sound_text(part.replace("|\\|", "||")) for part in cell.split(SEPARATOR))
    return [" ".join(part.split()) for part in parts if part]


def plan_row(
    manifest: Manifest, read: ReadFile, row: SheetRow, file: str = ""
) -> RecordChange | None:
    """Decide what an edited row does to its record.

    Returns:
        None where the row says what the record says.

    Raises:
        CannotChange: The record changed since and the row says something else, or it
            has no fields to edit.
    """
    source, target = editable_version(manifest)
    version = manifest.version(source)
    path, content, before = metadata_fields(version, read, file)
    after = before
    for name, cell in row.cells.items():
        after = _with_values(after, Column.parse(name), _split(cell))
    if after == before:
        return None
    if row.mark != mark_of(version):
        raise CannotChange("was changed since the spreadsheet was made")
    try:
        changed = write_fields(content, after)
    except NoFields as error:
        raise CannotChange(str(error)) from None
    return RecordChange(source, target, before, after, (FileChange(path, content, changed),))


def _with_values(fields: Fields, column: Column, wanted: list[str]) -> Fields:
    """The fields with these values in a column."""
    if _values(fields, column) == wanted:
        return fields
    new = [Field(column.name, text, column.lang) for text in wanted]
    return with_values(fields, lambda one: (one.name, one.lang) == (column.name, column.lang), new)
