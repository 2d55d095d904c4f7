r"""Store several values in one table cell, and guard cells against formulas. Pure.

Values are joined by ``||``. In a value, a ``|`` at either end or after another ``|``
is prefixed with a backslash; backslashes before any ``|``, or before the separator, are
doubled. So every cell is unambiguous, and a value without ``|`` is unchanged:

    ``a|`` and ``b``    ``a\|||b``
    ``a||b``            ``a|\|b``
    ``a|b``, ``a\b``    ``a|b||a\b``

Excel and LibreOffice evaluate a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a
formula, some also with full-width characters; such a cell is prefixed with an apostrophe.

The languages of all values of a row are in a cell of their own, in the order of the values; ``-``
is none, and what no language has is percent-encoded: ``title=de,- subject=en,en``.

Source: docs/curation.md, "Spreadsheets"; OWASP, "CSV Injection".
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote, unquote

SEPARATOR = "||"
LANGUAGES = "value_languages"
"""The column with the languages of values."""
_NO_LANGUAGE = "-"
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:[-_][A-Za-z0-9]{1,8}){0,9}")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
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


def languages_joined(languages: Mapping[str, Sequence[str]]) -> str:
    """Join the languages of the values of elements into one cell.

    Args:
        languages: Element → the language of each of its values, ``""`` for none. Elements of
            which no value has one are left out.
    """
    return " ".join(
        f"{element}={','.join(_language_cell(one) for one in some)}"
        for element, some in languages.items()
        if any(some)
    )


def _language_cell(language: str) -> str:
    if language == _NO_LANGUAGE:
        return "%2D"
    return quote(language, safe="", errors="replace") or _NO_LANGUAGE


def languages_split(cell: str) -> dict[str, list[str]]:
    """Split what `languages_joined` made; the names of elements are in lower case.

    Raises:
        ValueError: It is something else.
    """
    found: dict[str, list[str]] = {}
    for part in cell.split():
        name, equals, said = part.partition("=")
        element = name.lower()
        if not element or not equals or element in found:
            raise ValueError(f"{part!r} does not name an element and languages, as title=en,- does")
        found[element] = ["" if one == _NO_LANGUAGE else _unquoted(one) for one in said.split(",")]
    return found


def _unquoted(text: str) -> str:
    try:
        if not _STRAY_PERCENT.search(text):
            return unquote(text, errors="strict")
    except UnicodeDecodeError:
        pass
    raise ValueError(f"{text!r} is not percent-encoded UTF-8")


def is_language(text: str) -> bool:
    """Whether a text has the form of a language tag, such as ``en``, ``zh-Hant`` or ``en_US``.

    Source: BCP 47 (RFC 5646, section 2.1); many repositories write the underscore of POSIX.
    """
    return bool(_LANGUAGE.fullmatch(text))


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
