"""MARC 21 in XML ("MARC21 slim"), the format of library catalogues.

Source: MARC 21 Format for Bibliographic Data; the "MARC to Dublin Core Crosswalk" of the
Library of Congress, as far as it is unambiguous.
"""

import re
from collections.abc import Iterator, Mapping

from lxml import etree

from recordsilo.formats.collect import Collector, children_of, local_name, text_of
from recordsilo.formats.format import Format, Root
from recordsilo.formats.values import Description, doi_address

_NAMES = "abcq"
_SUBJECTS = ("600", "610", "611", "630", "647", "648", "650", "653", "656")
_RELATED = tuple(str(tag) for tag in range(760, 788) if tag != 786)
_FIELDS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("titles", ("245",), "abnp", " "),
    ("titles", ("246", "242", "240", "210"), "abnp", " "),
    ("creators", ("100", "110", "111"), _NAMES, " "),
    ("contributors", ("700", "710", "711", "720"), _NAMES, " "),
    ("subjects", _SUBJECTS, "abcdvxyz", "--"),
    ("subjects", ("050", "060", "080", "082", "084"), "a", " "),
    ("descriptions", ("520",), "ab", " "),
    ("descriptions", ("505", "500", "502", "504", "511", "518", "545"), "abcdgt", " "),
    ("publishers", ("260", "264"), "b", " "),
    ("dates", ("260", "264"), "c", " "),
    ("types", ("655", "336"), "a", " "),
    ("formats", ("856",), "q", " "),
    ("formats", ("300",), "abc", " "),
    ("sources", ("786",), "ot", " "),
    ("relations", ("440", "490", "800", "810", "811", "830"), "av", " "),
    ("relations", (*_RELATED, "530"), "tou", " "),
    ("coverages", ("651", "662", "751", "752"), "abcdxyz", "--"),
    ("rights", ("506", "540"), "au", " "),
)
"""(field, tags of data fields, their subfields, the separator between subfields)."""
_TYPES: Mapping[str, str] = {
    **dict.fromkeys("at", "Text"),
    **dict.fromkeys("cd", "Notated music"),
    **dict.fromkeys("ef", "Cartographic"),
    **dict.fromkeys("g", "MovingImage"),
    **dict.fromkeys("ij", "Sound"),
    **dict.fromkeys("k", "StillImage"),
    **dict.fromkeys("m", "Software"),
    **dict.fromkeys("op", "Collection"),
    **dict.fromkeys("r", "PhysicalObject"),
}
"""Position 06 of the leader → type."""
_END = re.compile(r"\s*[/:;,=]+$|(?<=\w{2})\s*\.$")
"""ISBD's punctuation before the next subfield or field."""
_SENTENCES = frozenset({"descriptions", "rights"})
"""Fields whose values keep their final punctuation."""
_PUNCTUATED = frozenset({"10", "11", "24", "30", "44", "49", "70", "71", "80", "81", "83"})
"""Beginnings of the tags whose subfields form one phrase."""
_BRACKETS = str.maketrans("", "", "[]")
_NO_LANGUAGE = frozenset({"", "|||", "   ", "und", "zxx", "mul"})


def read(root: etree._Element) -> Description:
    """Describe a ``<record>``, or the first in a ``<collection>``."""
    if local_name(root) == "collection":
        root = next(children_of(root, "record"), root)
    found = Collector()
    fields = _by_tag(root)
    for name, tags, codes, between in _FIELDS:
        for tag in tags:
            for element in fields.get(tag, ()):
                texts = _texts(element, codes)
                if name not in _SENTENCES:
                    texts = _without_ends(texts, tag)
                value = between.join(texts)
                found.add(name, value.translate(_BRACKETS) if name == "dates" else value)
    _coded(found, root, fields)
    _identifiers(found, fields)
    return found.description()


def _by_tag(root: etree._Element) -> dict[str, list[etree._Element]]:
    fields: dict[str, list[etree._Element]] = {}
    for element in children_of(root, "datafield"):
        fields.setdefault(element.get("tag", ""), []).append(element)
    return fields


def _texts(element: etree._Element, codes: str) -> list[str]:
    """The texts of a field's subfields, in the field's order."""
    found = (
        " ".join(text_of(one).split())
        for one in children_of(element, "subfield")
        if one.get("code", " ") in codes
    )
    return [text for text in found if text]


def _without_ends(texts: list[str], tag: str) -> list[str]:
    """Texts without ISBD's punctuation at the end; inside titles and names it is kept."""
    if tag[:2] in _PUNCTUATED and texts:
        return [*texts[:-1], _END.sub("", texts[-1])]
    return [_END.sub("", text) for text in texts]


def _coded(
    found: Collector, root: etree._Element, fields: Mapping[str, list[etree._Element]]
) -> None:
    """Add type and language from the leader and fixed fields, and a year if no field has one."""
    for leader in children_of(root, "leader"):
        found.add("types", _TYPES.get((leader.text or "")[6:7], ""))
    languages = [code for one in fields.get("041", ()) for code in _codes(one)]
    fixed = {one.get("tag"): one.text or "" for one in children_of(root, "controlfield")}
    general = fixed.get("008", "")
    for language in languages or [general[35:38]]:
        if language.strip() not in _NO_LANGUAGE:
            found.add("languages", language)
    if not any(one.get("tag") in {"260", "264"} for one in children_of(root, "datafield")):
        year = general[7:11]
        found.add("dates", year if year.isascii() and year.isdigit() else "")


def _codes(element: etree._Element) -> Iterator[str]:
    """The language codes; older records have several in one subfield."""
    for text in _texts(element, "a"):
        yield from (text[n : n + 3] for n in range(0, len(text), 3))


def _identifiers(found: Collector, fields: Mapping[str, list[etree._Element]]) -> None:
    for element in fields.get("856", ()):
        for address in _texts(element, "u"):
            found.add("identifiers", address)
    for tag in ("024", "020", "022", "027", "028", "037"):
        for element in fields.get(tag, ()):
            is_doi = "doi" in map(str.lower, _texts(element, "2"))
            for text in _without_ends(_texts(element, "a"), tag):
                found.add("identifiers", doi_address(text) if is_doi else text)


_NAMESPACE = "http://www.loc.gov/MARC21/slim"
MARC21 = Format(
    name="MARC 21",
    version=1,
    roots=(Root("record", (_NAMESPACE,)), Root("collection", (_NAMESPACE,))),
    prefixes=("marc21", "marcxml", "oai_marc21", "marc", "MARC21-xml"),
    preference=3,
    read=read,
    link_prefixes={_NAMESPACE: "marc"},
    names={"": ("leader",)},
)
FORMATS = (MARC21,)
