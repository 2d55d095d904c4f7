"""Labels for the fields of a description."""

from collections.abc import Mapping

from webui.words.texts import text as _

FIELD_LABELS: Mapping[str, str] = {
    "title": "Title",
    "creator": "Creator",
    "subject": "Subject",
    "description": "Description",
    "publisher": "Publisher",
    "contributor": "Contributor",
    "date": "Date",
    "type": "Type",
    "format": "Format",
    "identifier": "Identifier",
    "source": "Source",
    "language": "Language",
    "relation": "Relation",
    "coverage": "Coverage",
    "rights": "Rights",
}
"""English texts of the catalogue."""


def field_label(name: str) -> str:
    """Return the label of a field."""
    return _(FIELD_LABELS[name]) if name in FIELD_LABELS else name
