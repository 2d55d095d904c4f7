"""The texts of a flat Dublin Core document, in one pass over its tree. Pure.

`dublin_core.read` describes any document; this gives the same texts for nearly all of those
that repositories send, and None for the others.
"""

from functools import lru_cache

from lxml import etree

from recordsilo.formats.collect import LANG, fold, local_name
from recordsilo.formats.known.dublin_core import FIELDS, OAI_DC
from recordsilo.formats.table import format_of


def flat_texts(content: bytes) -> dict[str, list[str]] | None:
    """The texts of the description in a metadata file: those of ``describe``.

    Args:
        content: The file's bytes. Only bytes with their parsed element as an attribute ``root``
            can be flat; see `recordsilo.formats.documents.parsed` for what it guarantees.

    Returns:
        Field of `Description` → the texts of its values, white space folded, in the order of the
        file; a text is there once for each language that the file gives for it. Fields without
        values are left out. None if the document is not `oai_dc`, if an element in it has
        children, or if the root or what is around it has a language.
    """
    root = getattr(content, "root", None)
    return None if root is None else texts_of_flat(root, has_languages=b"xml:lang" in content)


def texts_of_flat(
    root: etree._Element, *, has_languages: bool = True
) -> dict[str, list[str]] | None:
    """The texts of the description in a parsed metadata file; see `flat_texts`.

    Args:
        root: The outermost element.
        has_languages: Whether an element may have a language; then a text may be there twice.
    """
    if len(root) == 1 and local_name(root) == "metadata":
        if has_languages and root.get(LANG) is not None:
            return None
        root = root[0]
    tag: object = root.tag  # of a comment it is a function
    if not isinstance(tag, str) or format_of(root) is not OAI_DC:
        return None
    if has_languages and root.get(LANG) is not None:
        return None
    found: dict[str, dict[object, str]] = {}
    for element in root:
        field = _field_of(element.tag)
        if len(element) or field is None:
            return None
        if field and (text := fold(element.text or "")):
            key = (text, element.get(LANG) or "") if has_languages else text
            if (texts := found.get(field)) is None:
                found[field] = {key: text}
            else:
                texts[key] = text
    return {field: list(texts.values()) for field, texts in found.items()}


@lru_cache(maxsize=1024)  # the documents of a repository have few names
def _field_of(tag: object) -> str | None:
    """The field of an element; ``""`` for one that is ignored, None if it is no element."""
    return FIELDS.get(tag.rpartition("}")[2], "") if isinstance(tag, str) else None
