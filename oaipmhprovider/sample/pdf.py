"""Write PDF files with text in any language, from which programs can read it again.

All text is shown in Helvetica, so no font is embedded: a word that Helvetica cannot show is
transliterated, roughly, and has its own letters as replacement text.
Source: ISO 32000-1, sections 7.5, 9.7 and 14.9.4.
"""

import re
import textwrap
import unicodedata
from collections.abc import Sequence

_WIDTH, _LINES, _SIZE = 84, 48, 11
_LATIN = "/Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding"
_HAN = "[Chinese characters]"


def pdf_of(*pages: str, title: str = "") -> bytes:
    """Return a PDF file.

    Args:
        pages: The text of each; lines are filled, and what does not fit goes to further pages.
            An empty one has no text, as a scan has none.
        title: For its metadata.
    """
    sheets = [sheet for text in pages for sheet in _sheets(text)]
    first = 5  # the numbers before it are of what all pages share
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(sheets)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(sheets)} >>".encode(),
        f"<< {_LATIN} >>".encode(),
        f"<< /Title <feff{title.encode('utf-16-be').hex()}> >>".encode(),
    ]
    for number, sheet in enumerate(sheets):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % (first + 2 * number + 1)
        )
        objects.append(_stream(_content(sheet)))
    return _file(objects)


def _sheets(text: str) -> list[list[str]]:
    lines = [line for part in text.split("\n") for line in textwrap.wrap(part, _WIDTH) or [""]]
    return [lines[at : at + _LINES] for at in range(0, len(lines), _LINES)]


def _content(lines: Sequence[str]) -> bytes:
    shown = [f"BT /F1 {_SIZE} Tf 60 780 Td {_SIZE + 4} TL".encode()]
    for line in lines:
        words = [line] if _latin(line) is not None else line.split(" ")
        if any(unicodedata.bidirectional(one) in {"R", "AL"} for one in line):
            words.reverse()  # as they stand, from the left
        shown += [_word(one if number == 0 else f" {one}") for number, one in enumerate(words)]
        shown.append(b"T*")
    return b"\n".join([*shown, b"ET"])


def _word(word: str) -> bytes:
    """What shows a word, or a line in Latin letters."""
    if (latin := _latin(word)) is not None:
        return _string(latin)
    letters = word.encode("utf-16-be").hex().encode()
    latin = _transliterated(word).encode("cp1252", "replace")
    return b"/Span << /ActualText <feff%s> >> BDC %s EMC" % (letters, _string(latin))


def _latin(text: str) -> bytes | None:
    """A text in the encoding of the font; None if that does not have it."""
    try:
        return text.encode("cp1252")
    except UnicodeEncodeError:
        return None


def _string(latin: bytes) -> bytes:
    escaped = latin.replace(b"\\", rb"\\").replace(b"(", rb"\(").replace(b")", rb"\)")
    return b"(%s) Tj" % escaped


def _transliterated(word: str) -> str:
    """A word in Latin letters, by the names of its characters: readable, and by no standard."""
    latin = ""
    for one in unicodedata.normalize("NFKD", word):
        script, _, name = unicodedata.name(one, "").partition(" ")
        if one.isascii() or script == "LATIN":
            latin += one
        elif script == "CJK":
            latin = latin.removesuffix(_HAN) + _HAN
        elif "VOWEL SIGN " in name:
            latin = latin.removesuffix("a") + name.split()[-1].lower()
        elif name == "SIGN VIRAMA":
            latin = latin.removesuffix("a")
        elif "LETTER " in name:
            letter = _letter(script, name.partition("LETTER ")[2].partition(" WITH ")[0].split())
            latin += letter if "CAPITAL" in name else letter.lower()
        elif unicodedata.category(one)[0] != "M":
            latin += one
    return latin


def _letter(script: str, name: Sequence[str]) -> str:
    """The sound of a letter, by its name: ``SHIN`` is Sh, ``ES`` is S, ``KA`` of a syllable Ka."""
    sound = name[0 if script == "ARABIC" else -1].capitalize()
    if sound == "Sign":  # hard and soft
        return ""
    if script in {"DEVANAGARI", "HIRAGANA", "KATAKANA"}:
        return sound
    if sound[0] in "AEIOU":
        return sound[-1].upper() if script == "CYRILLIC" else sound[0]
    return re.sub("[aeiou].*", "", sound)


def _stream(content: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)


def _file(objects: Sequence[bytes]) -> bytes:
    found = bytearray(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, one in enumerate(objects, 1):
        places.append(len(found))
        found += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = len(found)
    found += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for place in places:
        found += b"%010d 00000 n \n" % place
    found += b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\n" % (len(objects) + 1)
    return bytes(found) + b"startxref\n%d\n%%%%EOF\n" % table
