"""The kinds of repair of a response, with their names in receipts and manifests (pure).

Source: XML 1.0, sections 2.2 (characters), 2.4 (markup), 4.1 (references), 4.3.3 (encodings).
"""

from collections import Counter
from enum import StrEnum


class Repair(StrEnum):
    """A kind of repair. Each restores the intended text, or marks what is lost."""

    JUNK_BEFORE = "junk before the answer cut"
    JUNK_AFTER = "junk after the answer cut"
    JUNK_BETWEEN = "junk between records cut"
    ENCODING = "encoding other than UTF-8 converted"
    DECLARATION = "wrong encoding declaration overruled"
    WINDOWS_1252 = "windows-1252 byte read"
    LOST_CHARACTER = "unreadable byte replaced by U+FFFD"
    CONTROL_CHARACTER = "control character dropped"
    ILLEGAL_REFERENCE = "reference to an illegal character dropped"
    SURROGATE_PAIR = "surrogate pair joined"
    HTML_ENTITY = "HTML entity resolved"
    AMPERSAND = "bare ampersand escaped"
    LESS_THAN = "bare less-than sign escaped"
    CDATA_END = "]]> in text escaped"
    HTML_TAG = "unclosed HTML tag closed"
    ATTRIBUTE = "repeated attribute dropped"
    COMMENT = "comment mended"
    XML_DECLARATION = "XML declaration inside a record removed"
    DOCTYPE = "DOCTYPE removed"
    END_TAG = "missing end tag added"
    PREFIX = "undeclared namespace prefix declared"
    RECORD_BY_RECORD = "page read record by record"
    ENVELOPE = "envelope read in part"
    TOKEN_BY_PATTERN = "token by pattern"  # noqa: S105 - not a secret
    CUT_SHORT = "page cut short"
    DATESTAMP = "datestamp of the answer taken"


Repairs = Counter[Repair]
"""Kind of repair → number."""


def plain(repairs: Repairs) -> dict[str, int]:
    """Return the number of repairs of each kind, by name."""
    return {kind.value: number for kind, number in sorted(repairs.items()) if number}
