"""CSV files that people write: a line of column names, cells between commas or semicolons (pure).

Read strictly: a quotation mark that is not closed would otherwise make the rest of the file one
cell, without a word.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def has_control_character(text: str) -> bool:
    """Whether a text has a character that no identifier has, such as a tab or a null."""
    return _CONTROL.search(text) is not None


class CsvDamaged(ValueError):
    """A file that cannot be read for certain; the text says why, without the file's name."""


class CsvRows:
    """The rows of a file.

    Args:
        text: The whole file.
        needed: Columns that it must have.
        spelled: Makes the name of a column of what the first line has.
        left_out: Gets the line and the cells of a row whose ``id`` has a control character, and
            the row is left out; without this, such a row is an error.

    Attributes:
        columns: Their names as `spelled`, in order; empty where the first line has none.

    Raises:
        CsvDamaged: A needed column is missing, or one is named twice.
    """

    def __init__(
        self,
        text: str,
        needed: Sequence[str],
        spelled: Callable[[str], str] = str,
        left_out: Callable[[int, dict[str, str]], None] | None = None,
    ) -> None:
        self._left_out = left_out
        first = text.partition("\n")[0]
        separator = ";" if first.count(";") > first.count(",") else ","
        self._lines = _lines(text, separator)
        self.columns = tuple(map(spelled, next(self._lines, (1, []))[1]))
        if not {*needed} <= {*self.columns}:
            raise CsvDamaged(f"its first line must name the columns {' and '.join(needed)}")
        named = [one for one in self.columns if one]
        if twice := next((one for one in named if named.count(one) > 1), ""):
            raise CsvDamaged(f"its first line names the column {twice} twice")

    def __iter__(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield the number of each row's first line, and its cells by column; once.

        Raises:
            CsvDamaged: A quotation mark is not closed, or an ``id`` has a control character.
        """
        for number, cells in self._lines:
            row = {name: cell for name, cell in zip(self.columns, cells, strict=False) if name}
            if not has_control_character(row.get("id", "").strip()):
                yield number, row
            elif self._left_out is None:
                raise CsvDamaged(f"line {number}: the id has a control character")
            else:
                self._left_out(number, row)


def _lines(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    rows = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    while True:
        number = rows.line_num + 1
        try:
            cells = next(rows, None)
        except csv.Error as error:
            if "end of data" in str(error) or "expected after" in str(error):
                why = f"line {number}: a quotation mark is not closed or not doubled"
                raise CsvDamaged(why) from None
            raise CsvDamaged(f"it is not CSV: {error}") from None
        if cells is None:
            return
        if cells:
            yield number, cells
