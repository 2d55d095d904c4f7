"""A metadata file as a person reads it: indented XML, or the text it is instead."""

from lxml import etree

SHOWN = 256 * 1024
"""Larger files are linked, not shown."""


def pretty(content: bytes) -> str:
    """The file as text to be shown; escaping is the template's work.

    Only white space between elements is changed. What is no well-formed XML, and what
    is larger than `SHOWN`, is shown as it is, with U+FFFD for what is not UTF-8.
    Entities are not expanded and nothing is fetched.
    """
    parser = etree.XMLParser(
        remove_blank_text=True, resolve_entities=False, no_network=True, load_dtd=False
    )
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError):
        return content.decode("utf-8", "replace")
    return str(etree.tostring(root, encoding="unicode", pretty_print=True))
