"""Single texts of metadata → values of a bibliography (pure)."""

import re

from recordsilo.formats import Value, persistent_identifier
from recordsilo.formats.collect import fold
from recordsilo.value_identifiers import has_right_check_digit
from siloexport.bibliography.values import Identifier, Name, Relation, Rights

_ORCID = re.compile(r"(?<!\d)(\d{4}-\d{4}-\d{4}-\d{3}[\dXx])(?!\w)")
_ROLES = {
    "author": "aut", "creator": "cre", "editor": "edt", "ed": "edt", "eds": "edt",
    "advisor": "ths", "adviser": "ths", "thesis advisor": "ths", "supervisor": "ths",
    "degree supervisor": "dgs", "committee member": "dgc", "degree committee member": "dgc",
    "committeemember": "dgc", "translator": "trl", "tr": "trl", "illustrator": "ill",
    "contributor": "ctb", "sponsor": "spn", "funder": "fnd", "degree grantor": "dgg",
    "photographer": "pht", "publisher": "pbl", "compiler": "com", "composer": "cmp",
    "producer": "pro", "distributor": "dst", "researcher": "res", "other": "oth",
    "data curator": "cur", "datacurator": "cur", "curator": "cur", "data manager": "dtm",
    "datamanager": "dtm", "data collector": "dtc", "datacollector": "dtc",
    "hosting institution": "his", "hostinginstitution": "his", "project leader": "pdr",
    "projectleader": "pdr", "projectmember": "rtm", "project member": "rtm",
    "rights holder": "cph", "rightsholder": "cph", "reviewer": "rev", "interviewer": "ivr",
    "interviewee": "ive", "narrator": "nrt", "performer": "prf", "director": "drt",
    "issuing body": "isb", "printer": "prt", "author of introduction": "aui",
}  # fmt: skip
"""Role in words → code of the MARC relators."""
_CODES = frozenset(_ROLES.values())
_SCHEMES = {
    "hdl": "handle", "uri": "url", "urls": "url", "eissn": "issn", "pissn": "issn",
    "issn-l": "issn", "ean13": "isbn", "pmc": "pmcid", "arxivid": "arxiv",
}  # fmt: skip
_KINDS = frozenset({"doi", "handle", "issn", "isbn", "url", "urn", "pmid", "pmcid", "arxiv"})
_ISSN = re.compile(
    r"(?:(?:urn:)?[ep]?-?issn(?:[:\s]|-l[:\s])\s*)?(\d{4}-?\d{3}[\dXx])", re.IGNORECASE
)
_ISBN = re.compile(
    r"(?:(?:urn:)?isbn(?:-1[03])?[:\s]\s*)?((?:97[89][- ]?)?\d[\d -]{7,11}[\dXx])", re.IGNORECASE
)
_ARXIV = re.compile(r"(?:arxiv:|https?://arxiv\.org/abs/)(\S+)", re.IGNORECASE)
_PMID = re.compile(r"(?:pmid:\s*|(?:urn:|info:)pmid[:/])(\d+)", re.IGNORECASE)
_LICENCE = re.compile(
    r"cc[ _-](by(?:[ _-](?:nc|nd|sa))*)[ _-]v?(\d)(?:[._](\d))?(?: international)?", re.IGNORECASE
)
_CC0 = re.compile(r"cc[ _-]?(?:0|zero)(?:[ _-]v?1(?:[._]0)?)?", re.IGNORECASE)
_URI = re.compile(r"(?:https?://|info:)\S+")
_CITATION = 25
"""A text of so many characters, with spaces, is no identifier but a reference."""
ABSTRACT = 100
"""An unqualified description of so many characters is an abstract."""


def name_of(
    text: str, *, role: str = "", orcid: str = "", kind: str = "", family: str = "", given: str = ""
) -> Name | None:
    """Return a name; without its parts, a text with a comma is ``Family, Given``.

    Args:
        text: As written; may have an ORCID at its end.
        role: As written, or a code.
        orcid: Any text or address that holds it.
        kind: ``person``, ``organization`` or ``""``.
        family, given: Its parts, if the format has them.

    Returns:
        None for a text that is empty or only an ORCID.
    """
    found = orcid_in(orcid) or orcid_in(text)
    whole = fold(_without_orcid(text)) if orcid_in(text) else fold(text)
    family, given = fold(family), fold(given)
    whole = whole or ", ".join(filter(None, [family, given]))
    if not whole:
        return None
    if not family and not given and kind != "organization":
        family, given = split_name(whole)
    return Name(whole, family, given, found, role_code(role), fold(role), kind)


def split_name(text: str) -> tuple[str, str]:
    """Return family and given name of ``Family, Given``; ``("", "")`` for any other text."""
    family, comma, given = text.partition(",")
    if comma and family.strip() and given.strip():
        return family.strip(), given.strip()
    return "", ""


def role_code(role: str) -> str:
    """Return the code of the MARC relators for a role in words or a code; ``""`` if unknown."""
    bare = fold(role).rstrip(".:,").rpartition("/")[2].casefold()
    return bare if bare in _CODES else _ROLES.get(bare, "")


def orcid_in(text: str) -> str:
    """Return the first ORCID in a text whose check digit is right (ISO 7064, MOD 11-2)."""
    for match in _ORCID.finditer(text):
        found = match[1].upper()
        if has_right_check_digit(found):
            return found
    return ""


_AROUND_ORCID = re.compile(
    r"[\s,;]*[\[(<]?\s*(?:orcid:?\s*)?(?:https?://orcid\.org/)?$", re.IGNORECASE
)


def _without_orcid(text: str) -> str:
    match = _ORCID.search(text)
    if match is None:
        return text
    return _AROUND_ORCID.sub("", text[: match.start()]) + text[match.end() :].lstrip("])> ")


def identifier_of(text: str, said: str = "") -> Identifier | None:
    """Return an identifier.

    Args:
        text: As written.
        said: The kind that the format names; a wrong ISSN or ISBN of that kind is ``other``.

    Returns:
        None for an empty text.
    """
    text = fold(text)
    if not text:
        return None
    if found := persistent_identifier(text):
        return Identifier("doi" if found[0] == "doi" else "handle", found[1], said)
    kind = said.strip().casefold()
    kind = _SCHEMES.get(kind, kind)
    if kind in {"handle", "pmid", "pmcid", "arxiv"} and " " not in text and "://" not in text:
        return Identifier(kind, text.removeprefix(f"{kind}:"), said)
    for pattern, told, form in _PATTERNS:
        match = pattern.fullmatch(text)
        if match and _is_told(match, told, kind) and (usual := form(match[1])):
            return Identifier(told, usual, said)
    if re.fullmatch(r"(?:https?|ftp)://\S+", text, re.IGNORECASE):
        return Identifier("url", text, said)
    if text.casefold().startswith("urn:"):
        return Identifier("urn", text, said)
    is_citation = kind == "citation" or (not said and " " in text and len(text) >= _CITATION)
    return Identifier("citation" if is_citation else "other", text, said)


def _is_told(match: re.Match[str], told: str, kind: str) -> bool:
    """Whether digits are an ISSN or the like: they are called so, or look so and not otherwise."""
    bare = match[1]
    looks = "-" in bare or (told == "isbn" and bare.startswith(("978", "979")))
    return kind == told or bare != match[0] or (not kind and looks)


def _issn(text: str) -> str:
    digits = text.replace("-", "").upper()
    total = sum(int(digit) * (8 - place) for place, digit in enumerate(digits[:7]))
    check = -total % 11
    is_right = digits[-1] == ("X" if check == 10 else str(check))
    return f"{digits[:4]}-{digits[4:]}" if is_right else ""


def _isbn(text: str) -> str:
    digits = re.sub("[ -]", "", text).upper()
    if len(digits) == 13 and digits.isdecimal():
        is_right = sum(int(d) * (3 if n % 2 else 1) for n, d in enumerate(digits)) % 10 == 0
    elif len(digits) == 10 and digits[:9].isdecimal():
        last = 10 if digits[9] == "X" else int(digits[9])
        is_right = (sum(int(d) * (10 - n) for n, d in enumerate(digits[:9])) + last) % 11 == 0
    else:
        return ""
    return digits if is_right else ""


_PATTERNS = (
    (_ISSN, "issn", _issn),
    (_ISBN, "isbn", _isbn),
    (_ARXIV, "arxiv", str),
    (_PMID, "pmid", str),
)
"""(pattern, kind, text → its usual form, or ``""`` if it is none)."""


def relation_of(text: str, kind: str = "", said: str = "") -> Relation | None:
    """Return a relation; ``said`` is the kind of identifier that the format names."""
    found = identifier_of(text, said)
    if found is None:
        return None
    return Relation(kind, fold(text), None if found.kind in {"other", "citation"} else found)


def rights_of(text: str, uri: str = "", lang: str = "") -> Rights | None:
    """Return a statement of rights; a Creative Commons licence gets its address.

    Args:
        text: As written: a statement, an address, or a code such as ``cc_by_nc_nd_4``.
        uri: The address that the format has beside it.
        lang: Of the text.
    """
    text, uri = fold(text), fold(uri)
    if not uri and _URI.fullmatch(text):
        text, uri = "", text
    uri = uri or licence_of(text)
    return Rights(text, uri, lang) if text or uri else None


def licence_of(text: str) -> str:
    """Return the address of a Creative Commons licence with its version; else ``""``."""
    if _CC0.fullmatch(text):
        return "https://creativecommons.org/publicdomain/zero/1.0/"
    match = _LICENCE.fullmatch(text)
    if match is None:
        return ""
    parts = re.sub("[ _]", "-", match[1].lower())
    return f"https://creativecommons.org/licenses/{parts}/{match[2]}.{match[3] or 0}/"


def abstracts_and_notes(values: tuple[Value, ...]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Divide unqualified descriptions into abstracts and notes; see `Bibliography.abstracts`."""
    abstracts = tuple(one for one in values if len(one.text) >= ABSTRACT) or values[:1]
    return abstracts, tuple(one for one in values if one not in abstracts)
