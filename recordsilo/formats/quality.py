"""Find faults in a description, as coded findings (docs/quality.md). Pure.

A finding is something that a person should look at: a value, or a missing value. Nothing
is rewritten.
"""

import re
from calendar import isleap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from recordsilo.formats.values import Description, Value, Values

UNREADABLE = "Q001"
"""The finding of a record whose manifest cannot be read."""
CODES: Mapping[str, str] = {
    UNREADABLE: "record cannot be read",
    "Q101": "no title",
    "Q102": "title without letters",
    "Q103": "title in capitals only",
    "Q201": "no date",
    "Q202": "invalid date",
    "Q301": "no creator",
    "Q401": "unrecognised language",
    "Q501": "no type",
    "Q502": "unrecognised type",
    "Q601": "address not public",
    "Q602": "malformed identifier",
    "Q701": "damaged characters",
    "Q702": "markup or entities in text",
    "Q801": "repaired bytes",
    "Q901": "marked as a duplicate",
}
"""Code → its meaning."""


@dataclass(frozen=True, slots=True)
class QualityFinding:
    """A value, or a missing value, that a person should look at.

    Attributes:
        code: One of `CODES`.
        field: The field of `Description` concerned; ``""`` for the record itself.
        value: The value concerned; ``""`` if it is missing.
    """

    code: str
    field: str
    value: str = ""


def findings(description: Description) -> tuple[QualityFinding, ...]:
    """The findings in a description, in the order of the codes."""
    found = [finding for check in _CHECKS for finding in check(description)]
    return tuple(sorted(found, key=lambda one: one.code)) if found else ()


def codes_of_value(field: str, text: str) -> frozenset[str]:
    """The codes of the findings about a value of a field of `Description`.

    Args:
        text: The value, its white space folded; not empty.
    """
    found = findings(Description(**{field: (Value(text),)}))
    return frozenset(one.code for one in found if one.field == field and one.value == text)


def codes_of_texts(texts: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The codes of the findings in a description, each once and sorted.

    The same as those of `findings`, in a third of the time, without the values concerned.

    Args:
        texts: Field of `Description` → its texts, white space folded; only fields with texts.
    """
    found = {code for field, code in _NEEDED if field not in texts}
    if "creators" not in texts and "contributors" not in texts:
        found.add("Q301")
    if "types" in texts and not any(map(_is_known_type, texts["types"])):
        found.add("Q502")
    for field, values in texts.items():
        wrong = _WRONG.get(field)
        for text in values:
            if wrong is not None:
                found.add(wrong(text))
            if "&" in text or "<" in text or not text.isascii():
                found.update(_wrong_text(field, text))
    found.discard("")
    return tuple(sorted(found))


# --------------------------------------------------------------------------- checks


def _titles(description: Description) -> Iterator[QualityFinding]:
    if not description.titles:
        yield QualityFinding("Q101", "titles")
    for title in description.titles:
        if code := _wrong_title(title.text):
            yield QualityFinding(code, "titles", title.text)


def _wrong_title(text: str) -> str:
    if _SMALL.search(text):
        return ""
    letters = [one for one in text if one.isalpha()]
    if not letters:
        return "Q102"
    in_capitals = len(letters) > 12 and " " in text and all(map(_is_capital, letters))
    return "Q103" if in_capitals else ""


_SMALL = re.compile("[a-z]")
"""Matches nearly every title; such a title has letters, and not only capitals."""


def _is_capital(letter: str) -> bool:
    return letter.isupper()


def _dates(description: Description) -> Iterator[QualityFinding]:
    if not description.dates:
        yield QualityFinding("Q201", "dates")
    for date in description.dates:
        if code := _wrong_date(date.text):
            yield QualityFinding(code, "dates", date.text)


def _wrong_date(text: str) -> str:
    return "" if _is_date(text) else "Q202"


_DATE = re.compile(
    r"[~?]?-?(?P<year>\d{4})(?:[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2})(?:[T ].*)?)?)?[~?]?",
    re.ASCII,
)
_RANGE = re.compile(r"(\d{4}[^/]*)\s*[/–—]\s*(\d{4}.*)", re.ASCII)
_WORDS = re.compile(
    r"(?:c(?:irca|a)?\.?\s*)?(?:\d{1,2}\.?\s+)?(?:[^\W\d]+\.?,?\s+)?(?:\d{1,2}[,.]?\s+)?\d{4}"
)
_EMBARGO = re.compile(r"info:eu-repo/date/\w+/(\d{4}-\d{2}-\d{2})")
_NUMBERS = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})", re.ASCII)
_NAMED_DAY = re.compile(
    r"(?:(?P<day>\d{1,2})\.?\s+(?P<month>[^\W\d]+)\.?,?|(?P<named>[^\W\d]+)\.?,?\s+(?P<after>\d{1,2})[,.]?)"
    r"\s+(?P<year>\d{4})"
)
_SHORT_MONTHS = re.compile(r"(?P<february>f[eé][bv])|apr|avr|jui?n|sep|nov", re.IGNORECASE)
"""How the months of fewer than 31 days begin in English, German and French."""


@lru_cache(maxsize=4096)
def _is_date(text: str) -> bool:
    """Whether a text is a date with at least a year: ISO 8601, a range, or ``12 May 1999``.

    A month and a day that it names must exist.
    """
    if match := _EMBARGO.fullmatch(text):
        text = match[1]
    if match := _RANGE.fullmatch(text):
        return _is_date(match[1].strip()) and _is_date(match[2].strip())
    if match := _DATE.fullmatch(text):
        return _is_day(match["year"], match["month"] or 1, match["day"] or 1)
    if match := _NUMBERS.fullmatch(text):
        one, other, year = match.groups()
        return _is_day(year, other, one) or ("/" in text and _is_day(year, one, other))
    if not _WORDS.fullmatch(text):
        return False
    match = _NAMED_DAY.search(text)
    return match is None or _is_named_day(match)


def _is_day(year: str, month: str | int, day: str | int) -> bool:
    """Whether a day is in the calendar."""
    return 1 <= int(month) <= 12 and 1 <= int(day) <= _days(int(year), int(month))


def _is_named_day(match: re.Match[str]) -> bool:
    """Whether a day of a named month is in the calendar; an unknown name has 31 days."""
    short = _SHORT_MONTHS.match(match["month"] or match["named"])
    month = 1 if short is None else 2 if short["february"] else 4
    return _is_day(match["year"], month, match["day"] or match["after"])


def _days(year: int, month: int) -> int:
    if month == 2:
        return 29 if isleap(year) else 28
    return 30 if month in {4, 6, 9, 11} else 31


def _creators(description: Description) -> Iterator[QualityFinding]:
    if not description.creators and not description.contributors:
        yield QualityFinding("Q301", "creators")


def _languages(description: Description) -> Iterator[QualityFinding]:
    for language in description.languages:
        if code := _wrong_language(language.text):
            yield QualityFinding(code, "languages", language.text)


def _wrong_language(text: str) -> str:
    return "" if _is_language(text) else "Q401"


@lru_cache(maxsize=4096)
def _is_language(text: str) -> bool:
    import langcodes

    return langcodes.tag_is_valid(text.strip().replace("_", "-"))


def _types(description: Description) -> Iterator[QualityFinding]:
    if not description.types:
        yield QualityFinding("Q501", "types")
    elif not any(_is_known_type(one.text) for one in description.types):
        yield QualityFinding("Q502", "types", description.types[0].text)


_TYPE_NAMES = """
collection dataset event image interactiveresource movingimage physicalobject service software
sound stillimage text
annotation article artefact audio bachelorthesis book bookchapter bookpart bookreview booksection
chapter composition conferenceobject conferenceorworkshopitem conferencepaper conferenceposter
conferenceproceedings contributiontoperiodical datapaper dissertation doctoralthesis editorial
exhibition experiment journal journalarticle journalissue learningobject lecture letter
lettertoeditor magazine manuscript map masterthesis monograph musicalcomposition musicalnotation
newspaper newspaperarticle other patent performance periodical poster preprint presentation
proposal recording recordingmusical recordingoral report reportpart researcharticle
researchproposal researchreport review reviewarticle showexhibition teachingresource
technicalreport thesis video website workflow workingpaper
"""
_TYPES = frozenset(_TYPE_NAMES.split())
"""Known types, in lower case without spaces: the DCMI Type Vocabulary, and those of COAR,
DRIVER, EPrints and DSpace as repositories write them in ``dc:type``."""


@lru_cache(maxsize=4096)
def _is_known_type(text: str) -> bool:
    if text.startswith(("info:eu-repo/semantics/", "http://purl.org/coar/resource_type/")):
        return True
    name = text.rpartition("/")[2] if text.startswith("http") else text
    return re.sub(r"[\W_]+", "", name).casefold() in _TYPES


def _identifiers(description: Description) -> Iterator[QualityFinding]:
    for field in ("identifiers", "relations"):
        values: Values = getattr(description, field)
        for value in values:
            code = _wrong_identifier(value.text)
            if code:
                yield QualityFinding(code, field, value.text)


_DOI = re.compile(r"(?:doi:|https?://(?:dx\.)?doi\.org/)?(10\..*)", re.IGNORECASE)
_SOUND_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/\S+")
_SCHEME = re.compile(r"(?:https?|ftp):", re.IGNORECASE)
_SOUND_ADDRESS = re.compile(
    r"https?://(?!127\.|10\.|192\.168\.)(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]+(?:[/?#][!-~]*)?"
)
"""Matches nearly all addresses: those that need not be parsed to be judged."""
_HOST = re.compile(r"(?:[\w-]+\.)+[^\W\d_][\w-]+|[0-9a-fA-F]*:[0-9a-fA-F:.]+|\d+(?:\.\d+){3}")


def _wrong_identifier(text: str) -> str:
    if match := _DOI.fullmatch(text):
        return "" if _SOUND_DOI.fullmatch(match[1]) else "Q602"
    if not _SCHEME.match(text) or _SOUND_ADDRESS.fullmatch(text):
        return ""
    return _wrong_address(text)


def _wrong_address(text: str) -> str:
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
    except ValueError:
        return "Q602"
    if not host or any(one.isspace() for one in text):
        return "Q602"
    if host == "localhost" or host.startswith(("127.", "10.", "192.168.")):
        return "Q601"
    return "" if _HOST.fullmatch(host) else "Q601"


_MOJIBAKE = re.compile("\ufffd|Ã[\u0080-\u00bf]|Â[\u0080-\u00bf]|â€|ï»¿|[\u0080-\u009f]")
_MOJIBAKE_BEGINS = ("\ufffd", "Ã", "Â", "â€", "ï»¿")
"""With what `_MOJIBAKE` begins that is printable."""
_MARKUP = re.compile(
    r"</?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?/?>|&(?:[A-Za-z]{2,8}|#\d{1,6}|#x[0-9a-fA-F]{1,6});"
)


def _texts(description: Description) -> Iterator[QualityFinding]:
    for field, values in description.items():
        for text, _ in values:
            for code in _wrong_text(field, text):
                yield QualityFinding(code, field, text)


def _wrong_text(field: str, text: str) -> Iterator[str]:
    if _may_be_mojibake(text) and _MOJIBAKE.search(text):
        yield "Q701"
    if ("&" not in text and "<" not in text) or field in {"identifiers", "relations"}:
        return
    if _MARKUP.search(text):
        yield "Q702"


def _may_be_mojibake(text: str) -> bool:
    """Whether `_MOJIBAKE` can match; the text is not searched for each kind, which takes longer."""
    return not text.isascii() and (
        not text.isprintable() or any(one in text for one in _MOJIBAKE_BEGINS)
    )


_CHECKS: tuple[Callable[[Description], Iterator[QualityFinding]], ...] = (
    _titles, _dates, _creators, _languages, _types, _identifiers, _texts,
)  # fmt: skip
_NEEDED = (("titles", "Q101"), ("dates", "Q201"), ("types", "Q501"))
_WRONG: Mapping[str, Callable[[str], str]] = {
    "titles": _wrong_title,
    "dates": _wrong_date,
    "languages": _wrong_language,
    "identifiers": _wrong_identifier,
    "relations": _wrong_identifier,
}
