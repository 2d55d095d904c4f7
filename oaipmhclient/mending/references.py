"""Replace references by ones that XML defines, with the meaning they have in HTML (pure).

Source: XML 1.0, sections 2.2 and 4.1; HTML, section 13.5, "Named character references".
"""

import re
from html import escape
from html.entities import html5

from oaipmhclient.mending.doctypes import Doctype
from oaipmhclient.mending.repairs import Repair, Repairs

REFERENCE = re.compile(
    r"&(?:#(?:(?P<sign>x)(?P<hex>[0-9a-f]++)|(?P<decimal>[0-9]++));"
    r"(?:&#(?:x(?P<low_hex>d[c-f][0-9a-f]{2})|(?P<low>5[67][0-9]{3}));)?"
    r"|(?P<name>[a-z_][\w.\-]{0,255}+);)?",
    re.IGNORECASE,
)
_XML_NAMES = frozenset({"lt", "gt", "amp", "apos", "quot"})


class EntityRefused(Exception):
    """A reference to an entity that only a document type declaration can define."""

    def __init__(self, name: str) -> None:
        super().__init__(f"refers to the entity {name[:80]!r} of a DTD, which is never resolved")


def mend_reference(match: re.Match[str], doctype: Doctype, repairs: Repairs) -> str:
    """Return the replacement of a match of `REFERENCE`, and count the repair.

    Raises:
        EntityRefused: Only a DTD can define it.
    """
    if match["name"] is not None:
        return _named(match, doctype, repairs)
    number = _number(match["decimal"], match["hex"])
    if number is None:
        repairs[Repair.AMPERSAND] += 1
        return "&amp;" + match[0][1:]
    low = _number(match["low"], match["low_hex"])
    if low is None:
        return _numeric(number, match[0], repairs)
    if 0xD800 <= number < 0xDC00 <= low < 0xE000:
        repairs[Repair.SURROGATE_PAIR] += 1
        return chr(0x10000 + ((number - 0xD800) << 10) + (low - 0xDC00))
    first, _, second = match[0].partition(";")
    return _numeric(number, first + ";", repairs) + _numeric(low, second, repairs)


def _named(match: re.Match[str], doctype: Doctype, repairs: Repairs) -> str:
    name = match["name"]
    if name in _XML_NAMES:
        return match[0]
    if doctype.refuses(name):
        raise EntityRefused(name)
    characters = html5.get(f"{name};")
    if characters is None:
        repairs[Repair.AMPERSAND] += 1
        return "&amp;" + match[0][1:]
    repairs[Repair.HTML_ENTITY] += 1
    return escape(characters)


def _number(decimal: str | None, hexadecimal: str | None) -> int | None:
    """Return the code point; the first invalid one if it is too large; None without a number."""
    digits, base = (decimal, 10) if decimal is not None else (hexadecimal, 16)
    if digits is None:
        return None
    digits = digits.lstrip("0") or "0"
    return min(int(digits, base), 0x110000) if len(digits) < 8 else 0x110000


def _numeric(number: int, written: str, repairs: Repairs) -> str:
    if not is_xml_character(number):
        repairs[Repair.ILLEGAL_REFERENCE] += 1
        return ""
    if written[2] == "X":
        repairs[Repair.HTML_ENTITY] += 1
        return "&#x" + written[3:]
    return written


def is_xml_character(number: int) -> bool:
    """Whether a code point may stand in XML 1.0 (section 2.2, production 2)."""
    if number < 0x20:
        return number in {0x9, 0xA, 0xD}
    return number < 0xD800 or 0xE000 <= number < 0xFFFE or 0x10000 <= number < 0x110000
