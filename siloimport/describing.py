"""Descriptions in Dublin Core for what comes without one in XML (pure).

Source: OAI-PMH 2.0, section 6.1, *Dublin Core*; the schema oai_dc.xsd.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from lxml import etree

from recordsilo.disk.atomic_file import digest_of_bytes
from recordsilo.formats.known.dublin_core import DC
from siloimport.writing import ImportedFile

PATH = "oai_dc"
"""The file of a version with its description."""
_OAI_DC = "http://www.openarchives.org/OAI/2.0/oai_dc/"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
Value = tuple[str, str, str]
"""The name of an element, a text, and its language or ``""``."""


def described(values: Iterable[Value]) -> ImportedFile:
    """Return the file with a description.

    Args:
        values: Texts that XML can hold, in order.
    """
    root = etree.Element(f"{{{_OAI_DC}}}dc", nsmap={"oai_dc": _OAI_DC, "dc": DC})
    for name, text, language in values:
        element = etree.SubElement(root, f"{{{DC}}}{name}")
        element.text = text
        if language:
            element.set(_LANG, language)
    etree.indent(root)
    content = etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return ImportedFile(PATH, partial(_held, content), digest_of_bytes(content), is_metadata=True)


@contextmanager
def _held(content: bytes) -> Iterator[Iterable[bytes]]:
    yield (content,)
