"""An XML document as lines that are equal where the document is."""

from lxml import etree

from recordsilo.formats.documents import has_document_type, new_parser


def canonical_lines(content: bytes) -> list[str] | None:
    """The lines of a document in canonical form, an element a line, children indented.

    Attributes are in order, white space between elements does not count, and neither
    does the way characters, quotes and empty elements were written.

    Returns:
        None for bytes that have no such form here: they are no well-formed XML, nest
        deeper than 256 elements, hold a document type, or name a namespace by a
        relative URI.

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
