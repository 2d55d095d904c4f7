"""Decode bytes in any encoding, and count each repaired character (pure).

Source: XML 1.0, section 4.3.3 and appendix F; The Unicode Standard, table 3-7
("Well-Formed UTF-8 Byte Sequences"); WHATWG Encoding, "windows-1252".
"""

import codecs
import re
import sys
from io import StringIO

from oaipmhclient.mending.repairs import Repair, Repairs

_ROOT_NAME = re.compile(rb"OAI-PMH[\s>]")
DECLARED_ENCODING = re.compile(rb"<\?xml\s[^<>]*?encoding\s*=\s*[\"']([^\"']*)[\"']")
_NOT_A_CHARSET = frozenset(
    {"utf-7", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"}
)
_STATEFUL = ("iso2022", "hz")
_SEQUENCE = (
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    rb"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}"
    rb"|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
_PIECE = re.compile(
    rb"(?P<sound>(?:[\x00-\x7f]++|" + _SEQUENCE + rb")++)"
    rb"|(?P<pair>\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf])"
    rb"|(?P<half>\xed[\xa0-\xbf][\x80-\xbf]|\xc0\x80)"
    rb"|(?P<cut>\xe2[\x80-\x84](?![\x80-\xbf]))"
    rb"|(?P<odd>[\x80-\xff])"
)
_LONGEST_WESTERN_RUN = 4
_NO_WINDOWS_1252 = frozenset(b"\x81\x8d\x8f\x90\x9d")


_MOST_MENDED = 40 << 20
_TOO_LARGE = "is not well-formed, and too large to be repaired"


class NotText(Exception):
    """Bytes that are not decoded: their encoding is unknown, or they are too many.

    A text and its repaired copies take up to ten times as much memory as the text.
    """


def utf8_page(body: bytes) -> tuple[bytes, Repairs]:
    """Convert a page in a declared or evident encoding to UTF-8, without its declaration.

    Bytes that are valid UTF-8 stay as they are, whatever is declared, because other encodings
    are practically never valid UTF-8. Bytes that do not match their declaration stay too;
    `text_of` reads them record by record.
    """
    wide = _wide_text(body)
    if wide is not None:
        return wide.encode("utf-8", "surrogatepass"), Repairs({Repair.ENCODING: 1})
    root = _ROOT_NAME.search(body, 0, 1 << 20)
    declared = DECLARED_ENCODING.search(body, 0, root.start() if root else 1024)
    codec = _codec(declared[1]) if declared else None
    if codec is None:
        return body, Repairs()
    if not codec.startswith(_STATEFUL) and _is_utf8(body):
        return body, +Repairs({Repair.DECLARATION: int(not body.isascii())})
    try:
        return body.decode(codec).encode(), Repairs({Repair.ENCODING: 1})
    except UnicodeError:
        return body, Repairs()


def without_wrong_declaration(body: bytes) -> bytes | None:
    """Return the page without its encoding declaration if that is wrong; else None.

    Bytes beyond ASCII that are valid UTF-8 are UTF-8, which responses must use (OAI-PMH 2.0,
    section 3.2). With a wrong declaration, such as ISO-8859-1, a parser reads "naÃ¯ve".
    """
    declared = DECLARED_ENCODING.match(body.removeprefix(b"\xef\xbb\xbf").lstrip()[:200])
    if declared is None or declared[1].lower() in {b"utf-8", b"utf8"} or body.isascii():
        return None
    codec = _codec(declared[1])
    if codec is None or codec.startswith(_STATEFUL) or not _is_utf8(body):
        return None
    _, end, page = body.partition(b"?>")
    return page if end else None


def _wide_text(body: bytes) -> str | None:
    """Decode UTF-16 or UTF-32, recognized by the byte order mark or zero bytes."""
    start = body[:4]
    if start in {b"\xff\xfe\0\0", b"\0\0\xfe\xff"}:
        codec = "utf-32"
    elif start[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        codec = "utf-16"
    elif start[:2] == b"<\0":
        codec = "utf-16-le"
    elif start[:2] == b"\0<":
        codec = "utf-16-be"
    else:
        return None
    return body.decode(codec, "replace").removeprefix("\ufeff")


def _codec(name: bytes) -> str | None:
    """Return Python's name of a declared encoding other than UTF-8; None if it is unknown."""
    try:
        found = codecs.lookup(name.decode("ascii"))
    except (LookupError, UnicodeError, ValueError):
        return None
    if found.name in _NOT_A_CHARSET or found.name.startswith("utf"):
        return None
    try:
        return found.name if b"<?xml".decode(found.name) == "<?xml" else None
    except (LookupError, UnicodeError, ValueError):
        return None


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def text_of(raw: bytes) -> tuple[str, Repairs]:
    """Decode UTF-8 in which some bytes have another encoding.

    A byte that is not part of a UTF-8 sequence is read as windows-1252 if possible:
    repositories mix the two within a record (vufindharvest 5.1, digi.ub.uni-heidelberg.de).
    Separately encoded surrogates (CESU-8) are joined.

    Raises:
        NotText: There are long runs of such bytes, so the encoding is unknown and not Western;
            or there are more than 40 MiB, as bytes or as text in memory.

    Cost: linear; one pass in C if the bytes are UTF-8.
    """
    if len(raw) > _MOST_MENDED:
        raise NotText(_TOO_LARGE)
    try:
        text, repairs = raw.decode(), Repairs()
    except UnicodeDecodeError:
        reading = _DecodedText()
        for match in _PIECE.finditer(raw):
            reading.take(match)
        text, repairs = reading.text.getvalue(), reading.repairs
    if sys.getsizeof(text) > _MOST_MENDED:  # four bytes per character if one is an emoji
        raise NotText(_TOO_LARGE)
    return text, repairs


class _DecodedText:
    """The text so far, and the kind of its last piece."""

    def __init__(self) -> None:
        self.text = StringIO()
        self._last = ""
        self.repairs = Repairs()
        self._odd_in_a_row = 0

    def take(self, match: re.Match[bytes]) -> None:
        kind, piece = match.lastgroup, match[0]
        self._odd_in_a_row = self._odd_in_a_row + 1 if kind == "odd" else 0
        if kind == "sound":
            self._add(piece.decode())
        elif kind == "odd":
            self._take_odd(piece)
        elif kind == "pair":
            halves = piece.decode("utf-8", "surrogatepass")
            joined = halves.encode("utf-16", "surrogatepass").decode("utf-16")
            self._mended(Repair.SURROGATE_PAIR, joined)
        elif kind == "half":
            self._mended(Repair.CONTROL_CHARACTER, "")
        else:
            self._mended(Repair.LOST_CHARACTER, "\ufffd")

    def _take_odd(self, byte: bytes) -> None:
        if self._odd_in_a_row > _LONGEST_WESTERN_RUN:
            raise NotText("is in an encoding that is neither UTF-8 nor declared")
        if byte[0] in _NO_WINDOWS_1252 or self._is_cut_off(byte):
            self._mended(Repair.LOST_CHARACTER, "\ufffd")
        else:
            self._mended(Repair.WINDOWS_1252, byte.decode("cp1252"))

    def _is_cut_off(self, byte: bytes) -> bool:
        """Whether an incomplete UTF-8 sequence follows a complete one.

        Database columns that are cut in the middle of a character cause these.
        """
        before = self._last if self._odd_in_a_row == 1 else ""
        return before > "\x7f" and b"\xc2" <= byte <= b"\xf4"

    def _mended(self, repair: Repair, text: str) -> None:
        self.repairs[repair] += 1
        self._add(text)

    def _add(self, text: str) -> None:
        self.text.write(text)
        self._last = text[-1:]
