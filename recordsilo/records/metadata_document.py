"""A metadata file as a parsed description, which `HarvestedRecord.open` gives. Pure."""

from collections.abc import Iterator, Mapping

from recordsilo.errors import FieldUnknown, MetadataUnreadable
from recordsilo.formats import (
    Link,
    NoDocument,
    is_metadata,
    links_of,
    read_document,
    unwrap,
)
from recordsilo.formats.values import FIELD_OF_ELEMENT
from recordsilo.records.description import texts
from recordsilo.wording import cut_middle

_WIDTH = 76


class MetadataDocument(Mapping[str, tuple[str, ...]]):
    """A metadata file of a record: the values of each field, in the order of the file.

        >>> document = record.open("oai_dc")
        >>> document["title"], document["creator"]
        (('Solar cells',), ())

    The fields are the fifteen elements of Dublin Core (``title``, ``creator``, ``subject`` and
    so on), whatever the format is: a name in MODS or a tag in MARC 21 is read as the element
    that it means. A field without values is an empty tuple, and is left out of an iteration.

    Attributes:
        path: The file's path in its version, such as ``oai_dc``.
        format: The name of its format, such as ``Dublin Core``.
        description: The same values with the languages that the file gives for them.
        xml: The document itself, UTF-8 if it was in a wrapper of OAI-PMH.

    Raises:
        MetadataUnreadable: The file is not well-formed XML, has a document type, or is too
            large; or it is about the metadata (``oai_dc.about``).
    """

    def __init__(self, identifier: str, version: str, path: str, content: bytes) -> None:
        if not is_metadata(path):
            raise MetadataUnreadable(identifier, version, path, "only says where metadata is from")
        try:
            found, self.description = read_document(content)
        except NoDocument as error:
            raise MetadataUnreadable(identifier, version, path, error.reason) from None
        self.path, self.format, self._content = path, found.name, content

    @property
    def xml(self) -> bytes:
        """The document itself, without a wrapper of OAI-PMH."""
        return unwrap(self._content) or self._content

    @property
    def links(self) -> tuple[Link, ...]:
        """The http and https addresses in it, each with its field, in the order of the file."""
        return links_of(self.path, self._content)

    def __getitem__(self, field: str) -> tuple[str, ...]:
        """The values of a field, each once; empty if there are none.

        Raises:
            FieldUnknown: There is no such field; the message names the nearest.
        """
        if field not in FIELD_OF_ELEMENT:
            raise FieldUnknown(field, FIELD_OF_ELEMENT)
        return texts(getattr(self.description, FIELD_OF_ELEMENT[field]))

    def __iter__(self) -> Iterator[str]:
        return (field for field in FIELD_OF_ELEMENT if self[field])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, field: object) -> bool:
        return field in FIELD_OF_ELEMENT and bool(self[str(field)])

    def __repr__(self) -> str:
        lines = [f"{self.path} ({self.format})"]
        for field, values in self.items():
            more = f" and {len(values) - 1:,} more" if len(values) > 1 else ""
            lines.append(f"  {field:<11}  {cut_middle(values[0], _WIDTH)}{more}")
        return "\n".join(lines)
