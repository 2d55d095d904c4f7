"""A description: the fifteen elements of Dublin Core, whatever format it was read from."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple
from urllib.parse import unquote


class Value(NamedTuple):
    """One value of a field: its text, white space folded, and its ``xml:lang`` or ``""``.

    It is a tuple because creating and comparing one takes a third of the time of a
    dataclass, and an index needs about ten million.
    """

    text: str
    lang: str = ""


Values = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Description:
    """The description in a metadata file: the values of each field, in the file's order.

    Source: DCMI Metadata Terms, the fifteen elements of ``/elements/1.1/``.
    """

    titles: Values = ()
    creators: Values = ()
    contributors: Values = ()
    subjects: Values = ()
    descriptions: Values = ()
    publishers: Values = ()
    dates: Values = ()
    types: Values = ()
    formats: Values = ()
    identifiers: Values = ()
    sources: Values = ()
    languages: Values = ()
    relations: Values = ()
    coverages: Values = ()
    rights: Values = ()

    @property
    def title(self) -> str:
        """The first title's text, or ``""``."""
        return self.titles[0].text if self.titles else ""

    def items(self) -> Iterator[tuple[str, Values]]:
        """(field name, values) of the fields that have any, in the order of Dublin Core."""
        for name in _NAMES:
            if values := getattr(self, name):
                yield name, values


_NAMES = tuple(field.name for field in fields(Description))


FIELD_OF_ELEMENT = {
    "title": "titles",
    "creator": "creators",
    "contributor": "contributors",
    "subject": "subjects",
    "description": "descriptions",
    "publisher": "publishers",
    "date": "dates",
    "type": "types",
    "format": "formats",
    "identifier": "identifiers",
    "source": "sources",
    "language": "languages",
    "relation": "relations",
    "coverage": "coverages",
    "rights": "rights",
}
"""Dublin Core element → field of `Description`."""


def doi_address(text: str) -> str:
    """A DOI as an address; any other text unchanged."""
    return f"https://doi.org/{text}" if text.startswith("10.") else text


_ADDRESS = re.compile(
    r"(?:info:(?:doi|hdl)/|(?:https?://)?(?:(?:(?:dx|www)\.)?doi\.org|hdl\.handle\.net)/)"
    r"(?P<name>[^\s?#]+)\S*",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"^(?:(?:urn:)?doi:(?://)?\s*|hdl:(?://)?\s*)", re.IGNORECASE)
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/\S+")
_HANDLE = re.compile(r"[^\s/]+/\S+")


def persistent_identifier(text: str) -> tuple[str, str] | None:
    """Parse a DOI or handle: ``("doi", "10.5555/12")`` or ``("hdl", "1721.1/12")``.

    The text may be an address of a resolver, begin with ``info:`` (both percent-encoded),
    ``doi:``, ``urn:doi:`` or ``hdl:``, or be a bare DOI. A handle that is a DOI is returned
    as a DOI. Case is kept, although DOIs are case-insensitive.

    Returns:
        Scheme and name; None for any other text.

    Source: DOI Handbook, section 3; RFC 3651, section 3; RFC 4452 for ``info:``.
    """
    address = _ADDRESS.fullmatch(text)
    name = unquote(address["name"]) if address else _SCHEME.sub("", text, count=1)
    if _DOI.fullmatch(name):
        return "doi", name
    is_handle = address is not None or text[:4].lower() == "hdl:"
    return ("hdl", name) if is_handle and _HANDLE.fullmatch(name) else None


def canonical_identifier(text: str) -> str:
    """``doi:10.5555/12`` for any spelling of that DOI, likewise ``hdl:…``; else the text."""
    found = persistent_identifier(text)
    return ":".join(found) if found else text


def doi_of(identifiers: Values) -> str:
    """The first DOI among identifiers, without ``doi:``; may be empty."""
    for one in identifiers:
        if (found := persistent_identifier(one.text)) and found[0] == "doi":
            return found[1]
    return ""
