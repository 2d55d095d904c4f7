"""Canonical lines of an XML document, for comparing documents."""

from lxml import etree

from recordsilo.formats.documents import has_document_type, new_parser


def canonical_lines(content: bytes) -> list[str] | None:
    """The lines of a document in canonical form: one line per element, children indented.

    Attributes are sorted. White space between elements does not count, nor does the way
    in which characters, quotes and empty elements were written.

    Returns:
        None for bytes that are not well-formed XML, are nested deeper than 256 elements,
        have a document type, or name a namespace by a relative URI.

    Source: Canonical XML 1.0, with comments.
    """
    try:
        root = etree.fromstring(content, new_parser(remove_blank_text=True))
        if has_document_type(root):
            return None
        etree.indent(root)
        canonical = etree.tostring(root.getroottree(), method="c14n", with_comments=True)
    except (etree.LxmlError, ValueError):
        return None
    return canonical.decode().split("\n")
