"""Named transforms of a value: what is done again and again to values, by name (pure).

They are a fixed list, not a language (docs/adr/0073-named-transforms.md). Each gives the same
text when it is applied to its own result, except `swap`.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Mapping

_SPACES = re.compile(r"\s+")
_END = " .,;:/-–—"
_INITIAL = re.compile(r"(?:^|[\s.,-])\w\.$")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_INLINE = re.compile(
    r"</?(?:a|b|em|font|i|sc|small|span|strong|sub|sup|tt|u)(?:\s[^<>]{0,200})?/?>", re.IGNORECASE
)
"""Elements within a line, which do not part words."""
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‟": '"', "‘": "'", "’": "'", "‚": "'"})
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_YEAR = r"(?P<y>[12]\d{3})"
_DATES = tuple(
    re.compile(one, re.IGNORECASE)
    for one in (
        rf"{_YEAR}[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})",
        rf"{_YEAR}(?P<m>\d{{2}})(?P<d>\d{{2}})",
        rf"(?P<d>\d{{1,2}})\.\s?(?P<m>\d{{1,2}})\.\s?{_YEAR}",
        rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?P<n>[a-z]+)\.?,?\s+{_YEAR}",
        rf"(?P<n>[a-z]+)\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}",
        rf"(?P<n>[a-z]+)\.?,?\s+{_YEAR}",
        rf"{_YEAR}[-/.](?P<m>\d{{1,2}})",
    )
)


def trimmed(text: str) -> str:
    """Remove outer white space, and make each run of white space within one space."""
    return _SPACES.sub(" ", text).strip()


def without_end(text: str) -> str:
    """Remove punctuation at the end, but not the full stop of an initial or of ``et al.``."""
    kept = trimmed(text)
    if _INITIAL.search(kept) or kept.endswith(("et al.", "...", "…")):
        return kept
    return kept.rstrip(_END) or kept


def unescaped(text: str) -> str:
    """Replace HTML's character references, also those escaped twice: ``&amp;eacute;`` → ``é``."""
    once = html.unescape(text)
    return html.unescape(once) if once != text else text


def without_tags(text: str) -> str:
    """Remove HTML elements, and keep their text: ``H<sub>2</sub>O<br>`` → ``H2O``."""
    return trimmed(_TAG.sub(" ", _INLINE.sub("", text))) if _TAG.search(text) else text


def mended(text: str) -> str:
    """Repair UTF-8 that was read as Windows-1252 or Latin-1: ``NÃºria`` → ``Núria``.

    A run of letters is changed only if its bytes are well-formed UTF-8, so a text that is
    right stays: no language has ``Ã`` followed by ``º``.
    """
    return _MANGLED.sub(_decoded, text)


def _byte(letter: str) -> bytes:
    return letter.encode("cp1252") if letter in _CP1252 else letter.encode("latin-1")


def _decoded(match: "re.Match[str]") -> str:
    try:
        return b"".join(map(_byte, match[0])).decode()
    except UnicodeDecodeError:
        return match[0]


_CP1252 = bytes(
    one for one in range(0x80, 0xA0) if one not in {0x81, 0x8D, 0x8F, 0x90, 0x9D}
).decode("cp1252")
_LATER = f"[\x80-\xbf{_CP1252}]"
_MANGLED = re.compile(f"(?:[\xc2-\xdf]{_LATER}|[\xe0-\xef]{_LATER}{{2}}|[\xf0-\xf4]{_LATER}{{3}})+")


def family_first(text: str) -> str:
    """``Núria Ortega`` → ``Ortega, Núria``; a name with a comma, or of one word, stays."""
    words = text.split()
    if "," in text or len(words) < 2:
        return text
    place = len(words) - 1
    while place > 1 and words[place - 1].islower():  # von, de la
        place -= 1
    return f"{' '.join(words[place:])}, {' '.join(words[:place])}"


def given_first(text: str) -> str:
    """``Ortega, Núria`` → ``Núria Ortega``; a name without exactly one comma stays."""
    family, comma, given = map(str.strip, text.partition(","))
    return f"{given} {family}" if comma and family and given and "," not in given else text


def dated(text: str) -> str:
    """Write a date as ISO 8601: ``3 March 2016`` → ``2016-03-03``.

    ``03/04/2016`` stays, since it has two meanings, as does anything that is no date.
    """
    for pattern in _DATES:
        if found := pattern.fullmatch(text.strip()):
            return _iso(found.groupdict()) or text
    return text


def _iso(parts: Mapping[str, str | None]) -> str:
    named = (parts.get("n") or "").lower()
    months = [n for n, name in enumerate(_MONTHS, 1) if len(named) > 2 and name.startswith(named)]
    month = months[0] if months else int(parts.get("m") or 0)
    day = int(parts.get("d") or 0)
    if not 1 <= month <= 12 or day > 31 or (parts.get("d") and not day):
        return ""
    return f"{parts['y']}-{month:02}" + (f"-{day:02}" if day else "")


def composed(text: str) -> str:
    """Compose letters and their accents (Unicode NFC)."""
    return unicodedata.normalize("NFC", text)


def straight(text: str) -> str:
    """Replace typographic quotation marks by straight ones."""
    return text.translate(_QUOTES)


TRANSFORMS: Mapping[str, Callable[[str], str]] = {
    "end": without_end,
    "entities": unescaped,
    "tags": without_tags,
    "mojibake": mended,
    "family first": family_first,
    "given first": given_first,
    "date": dated,
    "nfc": composed,
    "quotes": straight,
}
"""Name in a rule → what it does to a value."""
