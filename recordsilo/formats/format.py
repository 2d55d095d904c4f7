"""What a metadata format is to a Silo: one value, made by the format's module."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from lxml import etree

from recordsilo.formats.values import Description

Read = Callable[[etree._Element], Description]
"""The root of a document → what it says."""
Within = Callable[[etree._Element], Iterable[etree._Element]]
"""The root of a wrapper → the roots of the documents in it, the one for the whole first."""


@dataclass(frozen=True, slots=True)
class Root:
    """How a format's documents are known: by the name and the namespace of their root.

    Attributes:
        name: Local name.
        namespaces: What the namespace is, or begins with where it ends in ``/``; ``""``
            for none.
    """

    name: str
    namespaces: tuple[str, ...]

    def fits(self, name: str, namespace: str) -> bool:
        """Whether it is that of an element."""
        return name == self.name and any(
            namespace == one or (one.endswith("/") and namespace.startswith(one))
            for one in self.namespaces
        )


@dataclass(frozen=True, slots=True)
class Format:
    """A metadata format: how it is recognised, read, linked and edited.

    Attributes:
        name: As people call it.
        version: Counts up when ``read`` or ``within`` says something else of a document
            than before: then every index is made anew.
        roots: See `Root`.
        prefixes: The metadata prefixes under which repositories give it; files are named
            so, with ``.xml`` or without.
        preference: Among several metadata files of a version, the one of the lowest is
            the main one; equal ones in the order put.
        read: Describes a document.
        within: For a wrapper such as METS: the documents in it, one of which is
            described in its place.
        link_prefixes: Namespace → the prefix by which links name its elements.
        fields: The fields that a form offers, in their order; none for a format whose
            elements nest, which is edited as XML.
        names: Namespace → the names of the text-only elements that its schema allows
            directly in the root and that need no attributes; ``""`` stands for the
            root's own namespace. The namespace that comes first is that of names
            without a prefix. None where the schema is not known.
    """

    name: str
    version: int
    roots: tuple[Root, ...]
    prefixes: tuple[str, ...]
    preference: int
    read: Read
    within: Within | None = None
    link_prefixes: Mapping[str, str] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    names: Mapping[str, tuple[str, ...]] | None = None
