"""A description: the fifteen elements of Dublin Core, whatever format it was read from."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple


class Value(NamedTuple):
    """One value of a field: its text, white space folded, and its ``xml:lang`` or ``""``.

    A tuple, since an index is made of some ten million: it is made, and told from
    others, in a third of the time.
    """

    text: str
    lang: str = ""


Values = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Description:
    """What a metadata file says, each field's values in the file's order.

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
    """A DOI as an address; another text as it is."""
    return f"https://doi.org/{text}" if text.startswith("10.") else text
