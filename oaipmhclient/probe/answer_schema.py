"""Validate responses with bundled schemas written from the specification; uses no network.

The content of a container is validated only if its schema is known (Dublin Core,
oai-identifier).

Source: OAI-PMH 2.0, section 3.2, "XML Response Format".
"""

from functools import cache
from importlib.resources import as_file, files

from lxml import etree

_CONTAINERS = ("metadata", "about", "description", "setDescription")


@cache
def _schema() -> etree.XMLSchema:
    with as_file(files("oaipmhprotocol") / "schemas") as directory:
        parser = etree.XMLParser(no_network=True, resolve_entities=False)
        return etree.XMLSchema(etree.parse(str(directory / "answers.xsd"), parser))


def invalidities(root: etree._Element) -> tuple[list[str], list[str]]:
    """Return the validation errors of a response, as sentences without a full stop.

    Returns:
        The errors of the response itself, and those in its containers.
    """
    schema = _schema()
    if schema.validate(root):
        return [], []
    own: list[str] = []
    contained: list[str] = []
    prefixes = _prefixes(root)
    for error in schema.error_log:  # type: ignore[attr-defined]  # lxml-stubs leave __iter__ out
        names = _names_to(error.path or "", root, prefixes)
        inside = any(name in _CONTAINERS for name in names[:-1])
        (contained if inside else own).append(f"{_brief(error.message)} (line {error.line})")
    return own, contained


def _prefixes(root: etree._Element) -> dict[str, str]:
    """Return all declared prefixes, which libxml2 uses in its paths."""
    return {
        prefix: uri
        for element in root.iter(etree.Element)
        for prefix, uri in element.nsmap.items()
        if prefix
    }


def _names_to(path: str, root: etree._Element, prefixes: dict[str, str]) -> list[str]:
    """Return the local names from the root to an element; empty if it cannot be found."""
    try:
        found = root.getroottree().xpath(path, namespaces=prefixes) if path else []
    except etree.XPathError:
        return []
    element = found[0] if isinstance(found, list) and found else None
    names: list[str] = []
    while isinstance(element, etree._Element):
        names.append(str(element.tag).rpartition("}")[2])
        element = element.getparent()
    return names[::-1]


def _brief(message: str) -> str:
    """Return the message without namespaces, which double its length."""
    out, rest = "", message
    while "{" in rest:
        before, _, rest = rest.partition("{")
        out += before
        _, _, rest = rest.partition("}")
    return (out + rest).rstrip(".")
