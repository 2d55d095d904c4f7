"""The columns of a table as elements of Dublin Core, and rows as values (pure)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from infopackages.elements import legible
from recordsilo.cells import LANGUAGES, SEPARATOR, bare, is_language, languages_split, split
from recordsilo.errors import did_you_mean
from recordsilo.formats.known.dublin_core import ELEMENTS
from recordsilo.records.manifest import date_text
from recordsilo.wording import counted
from siloimport.errors import ImportProblem

RECORD, FILES, DATESTAMP, SETS, NOTHING = "record", "files", "datestamp", "sets", "-"
_OWN = {RECORD: RECORD, FILES: FILES, DATESTAMP: DATESTAMP, "set": SETS, SETS: SETS,
        LANGUAGES: LANGUAGES}  # fmt: skip
_NAME = re.compile(r"(?:dc[:.])?(?P<name>[^\[\]]+?)\s*(?:\[(?P<lang>[\w-]*)\])?", re.IGNORECASE)
_BESIDE = {RECORD: "version", "identifier": "mark"}
"""Column with the identifiers → one beside it that tells which version a row was made of: in
tables of `silo export csv`, and in spreadsheets of `silo sheet export`."""
_SINGLE = (RECORD, DATESTAMP, LANGUAGES)
_MOST = 1000


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a column means: an element in a language, or one of the other names; `NOTHING`."""

    name: str
    lang: str = ""


@dataclass(frozen=True, slots=True)
class ImportRow:
    """A row of a table.

    Attributes:
        line: Of the file, from 1, in which it begins.
        values: (element, text, language), in the order of the columns.
        datestamp: In the form of manifests; ``""`` if there is none.
    """

    line: int
    identifier: str
    values: tuple[tuple[str, str, str], ...]
    files: tuple[str, ...] = ()
    datestamp: str = ""
    sets: tuple[str, ...] = ()


def meanings(
    heads: Sequence[str], mapping: Mapping[str, str], identifier: str = ""
) -> tuple[Meaning, ...]:
    """Return what each column means.

    Args:
        heads: The cells of the first row.
        mapping: Column → element such as ``title`` or ``title[en]``, ``files``, ``datestamp``,
            ``sets``, ``value_languages``, or `NOTHING`.
        identifier: The column with the identifiers of the records; by default ``record``, or else
            ``identifier``. ``version`` beside ``record``, and ``mark`` beside ``identifier``, are
            left out, as exported tables and spreadsheets have them.

    Raises:
        ImportProblem: A column is unknown, missing or there twice.
    """
    names = [bare(one).strip() for one in heads]
    while names and not names[-1]:
        names.pop()
    if len(names) > _MOST:
        raise ImportProblem(f"the table has more than {_MOST:,} columns")
    if doubles := sorted({one for one in names if one and names.count(one) > 1}):
        raise ImportProblem(f"the column {doubles[0]!r} is there twice")
    key = _key(names, identifier)
    for one in mapping:
        if one not in names:
            raise ImportProblem(f"there is no column {one!r}{did_you_mean(one, names)}")
    found = []
    for number, name in enumerate(names, 1):
        if not name:
            raise ImportProblem(f"column {number} has no name in the first row")
        if name == key:
            found.append(Meaning(RECORD))
        elif name == _BESIDE.get(key) and name not in mapping:
            found.append(Meaning(NOTHING))
        else:
            found.append(_meaning(name, mapping.get(name)))
    return tuple(found)


def _key(names: Sequence[str], identifier: str) -> str:
    if identifier and identifier not in names:
        raise ImportProblem(f"there is no column {identifier!r}{did_you_mean(identifier, names)}")
    found = identifier or next(
        (one for wanted in (RECORD, "identifier") for one in names if one.lower() == wanted), ""
    )
    if not found:
        raise ImportProblem(
            "no column is named identifier; name the one with the identifiers of the records by "
            "--identifier COLUMN"
        )
    return found


def _meaning(column: str, mapped: str | None) -> Meaning:
    match = _NAME.fullmatch((column if mapped is None else mapped).strip())
    name = match["name"].lower() if match else ""
    if name == NOTHING and mapped is not None:
        return Meaning(NOTHING)
    if match and name in ELEMENTS:
        return Meaning(name, match["lang"] or "")
    if name in _OWN and name != RECORD:
        return Meaning(_OWN[name])
    if mapped is not None:
        raise ImportProblem(
            f"{mapped!r} is not an element of Dublin Core, and not files, datestamp, sets or -"
            f"{did_you_mean(name, ELEMENTS)}"
        )
    raise ImportProblem(
        f"the column {column!r} is not an element of Dublin Core; say which by --map "
        f"'{column}=subject', or leave it out by --map '{column}=-'{did_you_mean(name, ELEMENTS)}"
    )


def row_of(
    line: int, cells: Sequence[str], columns: Sequence[Meaning], separator: str, prefix: str = ""
) -> ImportRow:
    """Return a row of a table as values.

    Args:
        line: In which it begins.
        columns: See `meanings`.
        separator: Between several values of a cell; ``""`` if there is one only.
        prefix: Begins every identifier.

    Raises:
        ImportProblem: It has no identifier or nothing else, too many cells, or a text that
            cannot be stored.
    """
    if any(cells[len(columns) :]):
        raise ImportProblem("it has more cells than the first row")
    given = []
    for meaning, cell in zip(columns, cells, strict=False):
        text = bare(cell).strip()
        texts = [text] if meaning.name in _SINGLE else _several(text, separator)
        given.append((meaning, [(one, meaning.lang) for one in texts]))
    return _row(line, given, prefix)


def row_of_object(
    line: int,
    members: Mapping[str, object],
    mapping: Mapping[str, str],
    identifier: str = "",
    prefix: str = "",
) -> ImportRow:
    """Return an object of JSON lines as values, as `silo export jsonl` writes them.

    Args:
        members: Each is a text, or a list of texts or of objects with ``text`` and ``lang``.
        mapping, identifier: See `meanings`.
        prefix: Begins every identifier.

    Raises:
        ImportProblem: A member has an unknown name or another form, or see `row_of`.
    """
    there = {name: one for name, one in mapping.items() if name in members}
    columns = meanings([*members], there, identifier)
    given = [
        (meaning, [*_texts_of(name, one, meaning.lang)])
        for meaning, (name, one) in zip(columns, members.items(), strict=True)
        if meaning.name != NOTHING
    ]
    return _row(line, given, prefix)


def _texts_of(name: str, member: object, lang: str) -> Iterator[tuple[str, str]]:
    for one in member if isinstance(member, list) else (member,):
        match one:
            case str():
                yield one.strip(), lang
            case {"text": str(text), **rest}:
                yield text.strip(), _language(rest.get("lang") or lang)
            case _:
                raise ImportProblem(f"its {name!r} is no text, and no list of texts")


def _language(given: object) -> str:
    if isinstance(given, str) and (not given or is_language(given)):
        return given
    raise ImportProblem(f"{given!r} is not a language tag; write one such as en or zh-Hant")


def _row(
    line: int, given: Iterable[tuple[Meaning, Sequence[tuple[str, str]]]], prefix: str
) -> ImportRow:
    """Return a row of the texts of each column, with their languages."""
    identifier, values, files, sets, datestamp, languages = "", [], [], [], "", ""
    for meaning, found in given:
        texts = [(text, lang) for text, lang in found if text]
        if not texts or meaning.name == NOTHING:
            continue
        if any(legible(text) != text for text, _ in texts):
            raise ImportProblem("it has a control character, which XML cannot hold")
        if meaning.name in _SINGLE and len(texts) > 1:
            raise ImportProblem(f"it has several values of {meaning.name}")
        if meaning.name == RECORD:
            identifier = prefix + texts[0][0]
        elif meaning.name == DATESTAMP:
            datestamp = _date(texts[0][0])
        elif meaning.name == LANGUAGES:
            languages = texts[0][0]
        elif meaning.name == FILES:
            files += [text for text, _ in texts]
        elif meaning.name == SETS:
            sets += [text for text, _ in texts]
        else:
            values += [(meaning.name, text, lang) for text, lang in texts]
    if not identifier:
        raise ImportProblem("it has no identifier")
    if not values and not files:
        raise ImportProblem("it has nothing but an identifier")
    told = tuple(_with_languages(values, languages))
    return ImportRow(line, identifier, told, tuple(_once(files)), datestamp, tuple(_once(sets)))


def _with_languages(
    values: Sequence[tuple[str, str, str]], languages: str
) -> Sequence[tuple[str, str, str]]:
    """Give the values that have no language those in the cell of `LANGUAGES`."""
    try:
        told = languages_split(languages)
    except ValueError as error:
        raise ImportProblem(f"its {LANGUAGES} cannot be read: {error}") from None
    found = list(values)
    for element, some in told.items():
        if element not in ELEMENTS:
            raise ImportProblem(
                f"its {LANGUAGES} names {element!r}, which is not an element of Dublin Core"
                f"{did_you_mean(element, ELEMENTS)}"
            )
        bare_ones = [n for n, (name, _, lang) in enumerate(found) if name == element and not lang]
        if bare_ones and len(bare_ones) != len(some):
            raise ImportProblem(
                f"its {LANGUAGES} names {counted(len(some), 'language')} of {element}, which has "
                f"{counted(len(bare_ones), 'value')} there; correct that cell, or empty it"
            )
        for place, lang in zip(bare_ones, some, strict=False):
            found[place] = (element, found[place][1], _language(lang))
    return found


def _several(text: str, separator: str) -> list[str]:
    if separator == SEPARATOR:
        parts: Iterable[str] = split(text)
    else:
        parts = text.split(separator) if separator else [text]
    return [part.strip() for part in parts if part.strip()]


def _once(texts: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(texts)


def _date(text: str) -> str:
    try:
        return date_text(text)
    except ValueError:
        raise ImportProblem(f"its datestamp {text!r} is not a date; write YYYY-MM-DD") from None
