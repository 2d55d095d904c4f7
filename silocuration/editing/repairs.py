"""Repairs of findings: what a value with a finding is certainly meant to be (pure).

A repair changes only a value that has the finding, and only if the new value has no finding of
the same code. Values whose meaning is not certain stay, for a person (docs/curation.md).
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from recordsilo.formats.quality import codes_of_value
from recordsilo.formats.values import FIELD_OF_ELEMENT
from silocuration.editing.transforms import dated, mended, trimmed, unescaped, without_tags

_YEAR = r"[12]\d{3}"
_FRAME = re.compile(rf"[\[(<©\s]*(?:c|cop\.|©)?\s*({_YEAR}(?:[-/]\d{{1,2}}){{0,2}}\??)[\])>.,;\s]*")
_SWAPPED = re.compile(rf"({_YEAR})-(1[3-9]|2\d|3[01])-(0?\d|1[0-2])")
_ZEROS = re.compile(rf"({_YEAR}(?:-(?:0[1-9]|1[0-2]))?)(?:-00){{1,2}}")
_DAY_FIRST = re.compile(rf"(1[3-9]|2\d|3[01])-(0?[1-9]|1[0-2])-({_YEAR})")
_TO_YEAR = re.compile(r"([12]\d)(\d\d)/(\d\d)")
_LANGUAGES: Mapping[str, str] = {
    name: code
    for code, names in tomllib.loads(
        resources.files("silocuration.editing").joinpath("languages.toml").read_text("utf-8")
    ).items()
    for name in names
}
"""Name of a language, in lower case → its tag."""


def _date(text: str) -> str:
    if found := _FRAME.fullmatch(text):
        text = found[1]
    if found := _SWAPPED.fullmatch(text):
        return f"{found[1]}-{int(found[3]):02}-{found[2]}"
    if found := _DAY_FIRST.fullmatch(text):
        return f"{found[3]}-{int(found[2]):02}-{found[1]}"
    if found := _ZEROS.fullmatch(text):
        return found[1]
    if (found := _TO_YEAR.fullmatch(text)) and found[3] > found[2]:
        return f"{found[1]}{found[2]}/{found[1]}{found[3]}"
    return dated(text)


def _language(text: str) -> str:
    plain = text.strip(" .,;:[]()")
    return _LANGUAGES.get(plain.lower(), plain)


_DOI = re.compile(
    r"((?:doi:|https?://(?:dx\.)?doi\.org/)?)\s*(10\.\d{4,9})\s*/\s*(\S+)", re.IGNORECASE
)


def _identifier(text: str) -> str:
    if found := _DOI.fullmatch(text):
        return f"{found[1]}{found[2]}/{found[3]}"
    address = re.sub(r"^(\w+:)\s*//\s*", r"\1//", text)
    if address.count("://") != 1 or re.search(r"\s[\[(<]", address):
        return text  # two addresses, or an address with a remark
    return re.sub(r"\s", "%20", address)


def _plain(text: str) -> str:
    for _time in range(3):
        text = without_tags(unescaped(text))
    return trimmed(text)


@dataclass(frozen=True, slots=True)
class FindingRepair:
    """How a finding is repaired.

    Attributes:
        elements: The elements of Dublin Core that can have it.
        repaired: A value → what it is meant to be, or the same value.
    """

    elements: tuple[str, ...]
    repaired: Callable[[str], str]


_TEXTS = tuple(one for one in FIELD_OF_ELEMENT if one not in {"identifier", "relation"})
REPAIRS: Mapping[str, FindingRepair] = {
    "Q202": FindingRepair(("date",), _date),
    "Q401": FindingRepair(("language",), _language),
    "Q602": FindingRepair(("identifier", "relation"), _identifier),
    "Q701": FindingRepair(tuple(FIELD_OF_ELEMENT), mended),
    "Q702": FindingRepair(_TEXTS, _plain),
}
"""Code of a finding → its repair."""


@lru_cache(maxsize=4096)
def repaired(text: str, finding: str) -> str:
    """Return a value without a finding; the value itself if it has none or is not certain.

    Args:
        text: Its white space is folded.
        finding: A key of `REPAIRS`.
    """
    repair = REPAIRS[finding]
    field = FIELD_OF_ELEMENT[repair.elements[0]]
    if finding not in codes_of_value(field, text):
        return text
    new = repair.repaired(text)
    return new if new and finding not in codes_of_value(field, new) else text
