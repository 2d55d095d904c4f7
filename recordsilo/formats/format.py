"""The definition of a metadata format, a value that the format's module creates."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from lxml import etree

from recordsilo.formats.values import Description

Read = Callable[[etree._Element], Description]
"""The root of a document → its description."""
Within = Callable[[etree._Element], Iterable[etree._Element]]
"""The root of a wrapper → the roots of the documents in it, that of the whole object first."""


@dataclass(frozen=True, slots=True)
class Root:
    """The name and namespaces by which the root element of a format is recognised.

    Attributes:
        name: Local name.
        namespaces: The accepted namespaces; one that ends in ``/`` accepts all that begin
            with it, and ``""`` means no namespace.
    """

    name: str
    namespaces: tuple[str, ...]

    def fits(self, name: str, namespace: str) -> bool:
        """Whether an element of this name and namespace is such a root."""
        return name == self.name and any(
            namespace == one or (one.endswith("/") and namespace.startswith(one))
            for one in self.namespaces
        )


@dataclass(frozen=True, slots=True)
class Format:
    """A metadata format: how it is recognised, read, linked and edited.

    Attributes:
        name: For people.
        version: To be increased when ``read`` or ``within`` changes its results; every
            index is then rebuilt.
        roots: See `Root`.
        prefixes: The metadata prefixes that repositories use for it; files have such a
            name, with or without ``.xml``.
        preference: The metadata file with the lowest number is the main one; of equal
            ones, the first put.
        read: Describes a document.
        within: For a wrapper such as METS: finds the documents in it, one of which is
            described instead.
        title: The title of ``read``, found in less time.
        link_prefixes: Namespace → the prefix that the fields of links use for it.
        fields: The fields that a form offers, in order; empty for a format with nested
            elements, which is edited as XML.
        names: Namespace → the names of the text-only elements that its schema allows
            directly in the root and that need no attributes; ``""`` stands for the
            root's own namespace. The first namespace is that of names without a prefix.
            None if the schema is unknown.
    """

    name: str
    version: int
    roots: tuple[Root, ...]
    prefixes: tuple[str, ...]
    preference: int
    read: Read
    within: Within | None = None
    title: Callable[[etree._Element], str] | None = None
    link_prefixes: Mapping[str, str] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    names: Mapping[str, tuple[str, ...]] | None = None
