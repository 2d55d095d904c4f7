"""Tables of `silo export csv` that were edited, imported as spreadsheets are. Pure but for reading.

A table has a column ``dc:…`` for each element, with its values in all languages. It has no mark,
but the name of the version that each row shows: what was harvested under a name never changes.
"""

from collections.abc import Iterable, Mapping, Sequence

from recordsilo.cells import LANGUAGES
from recordsilo.errors import did_you_mean
from recordsilo.formats import Description
from recordsilo.formats.known.dublin_core import ELEMENTS
from recordsilo.formats.values import FIELD_OF_ELEMENT
from recordsilo.records.description import description_of
from recordsilo.records.manifest import Manifest
from silocuration.editing.changes import CannotChange, ReadFile
from silocuration.editing.fields import Field, Fields, sound_text, values_of, with_values
from silocuration.errors import SpreadsheetRefused

RECORD, VERSION = "record", "version"
_MARK = "version "
_PREFIX = "dc:"
_TOLD = frozenset({
    RECORD, VERSION, "datestamp", "date", "state", "origin", "sets", "creators", "year", "doi",
    LANGUAGES,
})  # fmt: skip
"""Columns that tell something else of a record; they are not read."""


def is_table(heads: Sequence[str], own: Iterable[str]) -> bool:
    """Whether a first row is that of such a table, and not that of a spreadsheet.

    Args:
        heads: Its cells.
        own: The columns that a spreadsheet has.
    """
    return RECORD in heads and not any(one in heads for one in own)


def mark_of_row(version: str) -> str:
    """The mark of a row: of which version it is; ``""`` if the table does not say so."""
    return _MARK + version


def is_of_table(mark: str) -> bool:
    """Whether a mark is that of a row of a table."""
    return mark.startswith(_MARK)


def element_columns(heads: Sequence[str]) -> dict[int, str]:
    """The place of each column with the values of an element, and its name.

    Raises:
        SpreadsheetRefused: A column has another name than those of tables.
    """
    known = [_PREFIX + element for element in ELEMENTS]
    for head in heads:
        if head and head not in known and head not in _TOLD:
            raise SpreadsheetRefused(
                f"a table of silo export csv has no column {head!r}{did_you_mean(head, known)}"
            )
    return {place: head for place, head in enumerate(heads) if head in known}


def changed_cells(
    manifest: Manifest, read: ReadFile, mark: str, cells: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """The columns whose values differ from those that the table would have now.

    Args:
        manifest: The record's.
        read: Reads its files.
        mark: Of the row.
        cells: Column → the values of its cell.

    Returns:
        Column → its new values.

    Raises:
        CannotChange: The record may have been changed since the table was made.
    """
    described = description_of(manifest.current, read) if manifest.versions else Description()
    changed = {name: new for name, new in cells.items() if new != _texts(described, name)}
    then = mark.removeprefix(_MARK)
    is_only = not then and len(manifest.versions) == 1
    if changed and (manifest.current.is_curated or not (is_only or then == manifest.current.name)):
        raise CannotChange(
            "may have been changed since the table was made; edit a spreadsheet of it instead, as"
            " silo sheet export makes them"
        )
    return changed


def _texts(described: Description, name: str) -> list[str]:
    values = getattr(described, FIELD_OF_ELEMENT[name.removeprefix(_PREFIX)])
    return [text for one in values if (text := " ".join(sound_text(one.text).split()))]


def with_cells(
    manifest: Manifest, read: ReadFile, fields: Fields, changed: Mapping[str, list[str]]
) -> Fields:
    """Return the fields with the values of changed cells; equal values keep their languages.

    Raises:
        CannotChange: A column shows the values of other fields, too.
    """
    described = description_of(manifest.current, read)
    for name, wanted in changed.items():
        fields = _with_texts(fields, name, wanted, _texts(described, name))
    return fields


def _with_texts(fields: Fields, name: str, wanted: Iterable[str], shown: Iterable[str]) -> Fields:
    element = name.removeprefix(_PREFIX)
    spare = [one for one in values_of(fields, element) if one.folded]
    if {one.folded for one in spare} != set(shown):
        raise CannotChange(
            f"has values of other fields in {name}; edit a spreadsheet of silo sheet export"
        )
    new = []
    for text in wanted:
        same = next((one for one in spare if one.folded == text), None)
        if same is not None:
            spare.remove(same)
        new.append(same or Field(element, text))
    return with_values(fields, lambda one: one.name == element and bool(one.folded), new)
