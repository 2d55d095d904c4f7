"""Check an edited metadata file: well-formedness, then its schema; errors by line (pure).

Entities are never expanded and nothing is fetched. A document type declaration is refused,
because metadata does not need one; this stops documents that grow when read ("billion laughs").

Source: XML 1.0, section 2.1; the schema of ``oai_dc``, OAI-PMH 2.0 guidelines.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files

from lxml import etree

from recordsilo.formats.documents import has_document_type, new_parser

_OAI_DC = "{http://www.openarchives.org/OAI/2.0/oai_dc/}dc"
MOST = 50
"""Maximum number of messages; one broken tag may cause hundreds."""


@dataclass(frozen=True, slots=True)
class XmlMessage:
    """An error in the file.

    Attributes:
        line: From 1.
        column: From 1; 0 if the checker gives none.
        text: The checker's message.
        is_fatal: The file cannot be stored; otherwise it only violates its schema.
    """

    line: int
    column: int
    text: str
    is_fatal: bool


def check_xml(content: bytes) -> tuple[XmlMessage, ...]:
    """Return the errors of a metadata file; empty if it is valid.

    Returns:
        At most `MOST`, by line: either fatal errors only, or schema errors. A format
        without a known schema is only checked for well-formedness.
    """
    parser = new_parser()
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        return tuple(_messages(parser.error_log, is_fatal=True)) or (_fatal(str(error)),)
    except ValueError as error:
        return (_fatal(str(error)),)
    if has_document_type(root):
        return (_fatal("A document type (<!DOCTYPE …>) is not taken here; take it out."),)
    schema = _schema()
    record = root if root.tag == _OAI_DC else root.find(f".//{_OAI_DC}")
    if record is None or schema.validate(etree.ElementTree(record)):
        return ()
    return tuple(_messages(schema.error_log, is_fatal=False))


def _fatal(text: str) -> XmlMessage:
    return XmlMessage(1, 0, text, is_fatal=True)


def _messages(log: "etree._ListErrorLog", *, is_fatal: bool) -> Iterator[XmlMessage]:
    entries = sorted(log, key=lambda entry: (entry.line, entry.column))
    for entry in entries[:MOST]:
        text = entry.message.replace("{http://purl.org/dc/elements/1.1/}", "dc:")
        yield XmlMessage(max(entry.line, 1), entry.column, text, is_fatal)


def _schema() -> etree.XMLSchema:
    """One schema per thread: it holds its error log, which threads would mix up."""
    with as_file(files("oaipmhprotocol") / "schemas") as directory:
        return etree.XMLSchema(etree.parse(str(directory / "oai_dc.xsd")))
