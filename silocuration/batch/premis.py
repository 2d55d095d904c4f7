"""A record's version history as PREMIS 3, made from its manifest (pure).

Each version is a representation, and each of its files a file with its SHA-256. Harvesting,
copying or creating the version is an event, and the person or program that did it is an agent.

Source: PREMIS Data Dictionary 3.0; https://id.loc.gov/vocabulary/preservation/eventType
"""

from collections.abc import Iterable, Iterator
from typing import Any

from lxml import etree

from recordsilo.disk.digest import Digest
from recordsilo.disk.identifier import clean
from recordsilo.records.manifest import Manifest, Version

NAMESPACE = "http://www.loc.gov/premis/v3"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_PREFIXES: Any = {None: NAMESPACE, "xsi": _XSI}  # the stubs do not allow None here
_EVENTS = {"harvest": "capture", "clone": "replication", "local": "creation"}
PATH = "premis.xml"


def premis_of(manifest: Manifest, version: str | None = None) -> bytes:
    """Return a record's version history as a PREMIS document.

    Args:
        manifest: The record's.
        version: The last version to include, in the order of versions; by default all.

    Returns:
        Bytes that depend on the history alone, not on the current time. Files with the
        path `PATH`, the document itself, are left out.
    """
    versions = list(manifest.versions)
    if version is not None:
        versions = versions[: versions.index(manifest.version(version)) + 1]
    root = _element(
        "premis",
        *(element for one in versions for element in _objects(manifest.item_id, one)),
        *(_event(manifest.item_id, one) for one in versions),
        *_agents(versions),
    )
    root.set("version", "3.0")
    etree.indent(root)
    written: bytes = etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return written + b"\n"


def _element(name: str, *content: etree._Element | str, of_type: str = "") -> etree._Element:
    """Return a PREMIS element that contains a text, or elements."""
    element = etree.Element(f"{{{NAMESPACE}}}{name}", nsmap=_PREFIXES)
    for one in content:
        if isinstance(one, str):
            element.text = one
        else:
            element.append(one)
    if of_type:
        element.set(f"{{{_XSI}}}type", of_type)
    return element


def _objects(identifier: str, version: Version) -> Iterator[etree._Element]:
    files = [(path, known) for path, known in (version.digests or {}).items() if path != PATH]
    parts = [
        _relation("structural", "has part", _file_id(identifier, version, p)) for p, _ in files
    ]
    derived = []
    if version.origin.of:
        source = _version_id(identifier, version.origin.of)
        derived = [_relation("derivation", "has source", source)]
    yield _element(
        "object",
        _identifier("object", _version_id(identifier, version.name)),
        _element("originalName", version.name),
        *parts,
        *derived,
        _linking("Event", f"{_version_id(identifier, version.name)}#made"),
        of_type="representation",
    )
    for path, known in files:
        yield _file(identifier, version, path, known)


def _file(identifier: str, version: Version, path: str, known: Digest | None) -> etree._Element:
    fixity = []
    if known is not None:
        fixity = [
            _element(
                "fixity",
                _element("messageDigestAlgorithm", "SHA-256"),
                _element("messageDigest", known.sha256),
            ),
            _element("size", str(known.size)),
        ]
    name = path if path in version.metadata_files else "unknown"
    return _element(
        "object",
        _identifier("object", _file_id(identifier, version, path)),
        _element(
            "objectCharacteristics",
            *fixity,
            _element("format", _element("formatDesignation", _element("formatName", name))),
        ),
        _element("originalName", path),
        of_type="file",
    )


def _event(identifier: str, version: Version) -> etree._Element:
    origin = version.origin
    made = _version_id(identifier, version.name)
    details = [origin.message or {"clone": f"copied from version {origin.of}"}.get(origin.kind, "")]
    if origin.kind == "harvest" and version.date:
        details.append(f"datestamp of the source: {version.date}Z")
    if not origin.date:
        details.append("when it was made here is not known; the date is the version's of 2010")
    return _element(
        "event",
        _identifier("event", f"{made}#made"),
        _element("eventType", _EVENTS[origin.kind]),
        _element("eventDateTime", f"{origin.date or version.date}Z"),
        *(
            _element("eventDetailInformation", _element("eventDetail", detail))
            for detail in details
            if detail
        ),
        *([_linking("Agent", origin.agent)] if origin.agent else []),
        _linking("Object", made),
    )


def _agents(versions: Iterable[Version]) -> Iterator[etree._Element]:
    for agent in dict.fromkeys(one.origin.agent for one in versions if one.origin.agent):
        yield _element("agent", _identifier("agent", agent), _element("agentName", agent))


def _identifier(kind: str, value: str) -> etree._Element:
    return _element(
        f"{kind}Identifier",
        _element(f"{kind}IdentifierType", "local"),
        _element(f"{kind}IdentifierValue", value),
    )


def _linking(kind: str, value: str) -> etree._Element:
    name = f"linking{kind}Identifier"
    return _element(name, _element(f"{name}Type", "local"), _element(f"{name}Value", value))


def _relation(kind: str, subtype: str, value: str) -> etree._Element:
    return _element(
        "relationship",
        _element("relationshipType", kind),
        _element("relationshipSubType", subtype),
        _element(
            "relatedObjectIdentifier",
            _element("relatedObjectIdentifierType", "local"),
            _element("relatedObjectIdentifierValue", value),
        ),
    )


def _version_id(identifier: str, version: str) -> str:
    return f"{clean(identifier)}/{version}"


def _file_id(identifier: str, version: Version, path: str) -> str:
    return f"{_version_id(identifier, version.name)}/{path}"
