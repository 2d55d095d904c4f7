"""Translations of the page's texts, read from the PO files beside it.

``locale/<language>/LC_MESSAGES/webui.po`` is what translators write and what the page reads:
nothing is compiled, so a checkout, an editable installation and a wheel say the same. Read once
for each language, at its first page: 2,000 texts take 20 ms.

Source: GNU gettext, "The Format of PO Files" and "The Format of GNU MO Files".
"""

import ast
import gettext
import io
import re
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

DOMAIN = "webui"
_LINE = re.compile(r'(?:(?P<key>msgid_plural|msgid|msgstr)(?:\[\d+\])?\s+)?(?P<text>".*")')
_MAGIC = 0x950412DE


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the translation into a language; into English, and others, an empty one."""
    place = files("webui") / "locale" / language / "LC_MESSAGES" / f"{DOMAIN}.po"
    if language == "en" or not place.is_file():
        return gettext.NullTranslations()
    entries = dict(read_po(place.read_text(encoding="utf-8")))
    return gettext.GNUTranslations(io.BytesIO(as_mo(entries)))


def read_po(text: str) -> Iterator[tuple[str, str]]:
    """Yield the translated texts of a PO file, the header first, as an MO file has them.

    Plurals are joined by NUL on both sides. Texts without translation, and those that are
    marked as fuzzy, are left out: the page says them in English.
    """
    for block in re.split(r"\n\s*\n", text):
        lines = [line for line in block.splitlines() if line.strip()]
        if any(line.startswith("#,") and "fuzzy" in line for line in lines):
            continue
        found: list[tuple[str, str]] = []
        for match in filter(None, map(_LINE.fullmatch, lines)):
            piece = ast.literal_eval(match["text"])
            if match["key"]:
                found.append((match["key"], piece))
            elif found:
                found[-1] = (found[-1][0], found[-1][1] + piece)
        said = [piece for key, piece in found if key == "msgstr"]
        if said and all(said):
            yield "\0".join(piece for key, piece in found if key != "msgstr"), "\0".join(said)


def as_mo(entries: Mapping[str, str]) -> bytes:
    """Return a compiled catalogue, for `gettext.GNUTranslations`."""
    pairs = sorted((key.encode(), text.encode()) for key, text in entries.items())
    heads, body, at = [], b"", 28 + 16 * len(pairs)
    for side in (0, 1):
        for pair in pairs:
            heads += [len(pair[side]), at + len(body)]
            body += pair[side] + b"\0"
    start = struct.pack("<7I", _MAGIC, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return start + struct.pack(f"<{len(heads)}I", *heads) + body
