r"""Store several values in one table cell, and guard cells against formulas. Pure.

Values are joined by ``||``. In a value, a ``|`` at either end or after another ``|``
is prefixed with a backslash; backslashes before any ``|``, or before the separator, are
doubled. So every cell is unambiguous, and a value without ``|`` is unchanged:

    ``a|`` and ``b``    ``a\|||b``
    ``a||b``            ``a|\|b``
    ``a|b``, ``a\b``    ``a|b||a\b``

Excel and LibreOffice evaluate a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a
formula, some also with full-width characters; such a cell is prefixed with an apostrophe.

Source: docs/curation.md, "Spreadsheets"; OWASP, "CSV Injection".
"""

import csv
import io
import re
from collections.abc import Iterable

SEPARATOR = "||"
_IN_VALUE = re.compile(r"(?<!\\)(?P<slashes>\\*+)(?P<edge>\A\||(?<=\|)\||\|\Z)?(?(edge)|\|)")
_IN_CELL = re.compile(r"(?<!\\)(?P<slashes>(?:\\\\)*+)(?:(?P<between>\|\|)|\\?\|)")
_LAST_SLASHES = re.compile(r"(?<!\\)\\++\Z")
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")


def joined(values: Iterable[str]) -> str:
    """Join several values into one text; empty values are omitted."""
    *others, last = [_escaped(value) for value in values if value] or [""]
    return SEPARATOR.join([*(_LAST_SLASHES.sub(r"\g<0>\g<0>", one) for one in others), last])


def _escaped(value: str) -> str:
    return _IN_VALUE.sub(lambda m: m["slashes"] * 2 + ("\\|" if m["edge"] else "|"), value)


def split(text: str) -> list[str]:
    """Split a text that `joined` made; empty values are omitted."""
    values: list[list[str]] = [[]]
    at = 0
    for token in _IN_CELL.finditer(text):
        values[-1] += text[at : token.start()], token["slashes"][::2]
        if token["between"]:
            values.append([])
        else:
            values[-1].append("|")
        at = token.end()
    values[-1].append(text[at:])
    return [value for value in map("".join, values) if value]


def guarded(text: str) -> str:
    """A text as a cell that spreadsheets do not evaluate; `bare` reverses this."""
    return "'" + text if text.startswith((*_FORMULA, "'")) else text


def bare(cell: str) -> str:
    """The text of a cell that `guarded` made; any other apostrophe is kept."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith((*_FORMULA, "'")) else cell


def csv_line(cells: Iterable[object], end: str = "\n") -> str:
    """Cells as a line of CSV, ended by `end`."""
    out = io.StringIO()
    csv.writer(out, lineterminator=end).writerow(cells)
    return out.getvalue()
