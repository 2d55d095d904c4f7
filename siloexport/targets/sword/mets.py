"""METS and MODS of the packaging METSDSpaceSIP (pure).

Source: the DSpace METS SIP Profile; METS 1.12; MODS 3.8.
"""

from collections.abc import Mapping, Sequence
from hashlib import md5
from typing import Any

from lxml import etree

from infopackages.elements import XLINK, legible
from recordsilo.media_types import media_type
from recordsilo.value_identifiers import ValueIdentifier
from siloexport.bibliography import Bibliography, Name
from siloexport.values import Deposit, ExportedFile

METS = "mets.xml"
_PROFILE = "DSpace METS SIP Profile 1.0"
"""DSpace accepts only profiles whose names begin so."""
_METS, _MODS = "http://www.loc.gov/METS/", "http://www.loc.gov/mods/v3"
_RELATED = {
    "IsPartOf": "host", "HasPart": "constituent", "References": "references",
    "IsReferencedBy": "isReferencedBy", "IsVersionOf": "otherVersion",
}  # fmt: skip


def mets_document(
    deposit: Deposit,
    files: Sequence[tuple[str, ExportedFile]],
    own: Mapping[str, bytes],
    mods: bytes,
) -> bytes:
    """Return the METS document of a package.

    Args:
        files: (name in the package, file).
        own: Name → content of files that the package has besides.
        mods: The description.
    """
    prefixes: Any = {None: _METS, "xlink": XLINK}  # the stubs do not allow None here
    root = etree.Element(_name("mets"), nsmap=prefixes)
    root.set("OBJID", legible(deposit.identifier))
    root.set("PROFILE", _PROFILE)
    section = etree.SubElement(root, _name("dmdSec"), ID="description")
    wrap = etree.SubElement(section, _name("mdWrap"), MDTYPE="MODS")
    etree.SubElement(wrap, _name("xmlData")).append(etree.fromstring(mods))
    listed = [(name, _kind(file), file.size, file) for name, file in files]
    groups: dict[str, list[etree._Element]] = {"CONTENT": [], "METADATA": []}
    for number, (name, kind, size, file) in enumerate(listed):
        use = "METADATA" if file.is_metadata or file.document_of else "CONTENT"
        groups[use].append(_file(f"file-{number}", name, kind, size, ("SHA-256", file.sha256)))
    for number, (name, content) in enumerate(own.items()):
        digest = md5(content, usedforsecurity=False).hexdigest()
        given = ("MD5", digest)
        groups["METADATA"].append(
            _file(f"own-{number}", name, media_type(name), len(content), given)
        )
    section = etree.SubElement(root, _name("fileSec"))
    for use, elements in groups.items():
        if elements:
            etree.SubElement(section, _name("fileGrp"), USE=use).extend(elements)
    structure = etree.SubElement(root, _name("structMap"), TYPE="LOGICAL")
    division = etree.SubElement(structure, _name("div"), TYPE="DSpace Object", DMDID="description")
    for element in (one for elements in groups.values() for one in elements):
        etree.SubElement(division, _name("fptr"), FILEID=str(element.get("ID")))
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True)


def _file(name: str, place: str, kind: str, size: int, checksum: tuple[str, str]) -> etree._Element:
    element = etree.Element(_name("file"), ID=name, MIMETYPE=kind, SIZE=str(size))
    element.set("CHECKSUMTYPE", checksum[0])
    element.set("CHECKSUM", checksum[1])
    location = etree.SubElement(element, _name("FLocat"), LOCTYPE="URL")
    location.set(f"{{{XLINK}}}href", legible(place))  # DSpace looks for a member of this very name
    return element


def _kind(file: ExportedFile) -> str:
    return media_type(file.path, is_metadata=file.is_metadata or bool(file.document_of))


def _name(name: str) -> str:
    return f"{{{_METS}}}{name}"


def mods_document(deposit: Deposit, found: Bibliography) -> bytes:
    """Return the MODS of a deposit.

    Args:
        found: What its last version says.
    """
    root = etree.Element(f"{{{_MODS}}}mods", nsmap={"mods": _MODS})
    for number, title in enumerate((found.title, *found.alternatives)):
        if title.text or not number:
            info = _add(root, "titleInfo", type="alternative" if number else "")
            _add(info, "title", title.text or "[untitled]", lang=title.lang)
    for name in found.creators:
        _agent(root, name, name.role or "aut")
    for name in found.contributors:
        _agent(root, name, name.role or "ctb")
    for one in found.types:
        _add(root, "genre", one.text)
    _origin(root, found)
    for tag in found.language_tags:
        _add(_add(root, "language"), "languageTerm", tag, type="code", authority="rfc5646")
    for field, values in (("abstract", found.abstracts), ("note", found.notes)):
        for one in values:
            _add(root, field, one.text, lang=one.lang)
    for one in found.subjects:
        subject = _add(root, "subject")
        _add(
            subject, "topic", one.text, lang=one.lang, **_meaning(found.meant(one.text, "subject"))
        )
    _related(root, found)
    _add(root, "identifier", deposit.identifier, type="oai")
    for identifier in found.identifiers:
        kind = "uri" if identifier.kind == "url" else identifier.kind
        _add(root, "identifier", identifier.text, type=kind)
    for right in found.rights:
        _add(root, "accessCondition", right.text or right.uri, type="use and reproduction")
    return etree.tostring(root, encoding="UTF-8")


def _origin(root: etree._Element, found: Bibliography) -> None:
    if found.publishers or found.issued:
        origin = _add(root, "originInfo")
        for one in found.publishers:
            _add(origin, "publisher", one.text, **_meaning(found.meant(one.text, "publisher")))
        if found.issued:
            _add(origin, "dateIssued", found.issued, encoding="w3cdtf")


def _related(root: etree._Element, found: Bibliography) -> None:
    for relation in found.relations:
        related = _add(root, "relatedItem", type=_RELATED.get(relation.kind, ""))
        address = relation.identifier.address if relation.identifier else ""
        if address:
            _add(related, "identifier", address, type="uri")
        else:
            _add(_add(related, "titleInfo"), "title", relation.text)


def _agent(root: etree._Element, name: Name, role: str) -> None:
    kind = "corporate" if name.kind == "organization" else "personal"
    agent = _add(root, "name", type=kind, **_meaning(name.meant))
    if name.family or name.given:
        _add(agent, "namePart", name.family, type="family")
        _add(agent, "namePart", name.given, type="given")
    else:
        _add(agent, "namePart", name.text)
    _add(_add(agent, "role"), "roleTerm", role, type="code", authority="marcrelator")
    if name.orcid:
        _add(agent, "nameIdentifier", name.orcid, type="orcid")


def _meaning(meant: ValueIdentifier | None) -> dict[str, str]:
    """Return the attributes that say what a name or a topic means."""
    if meant is None or not meant.address:
        return {}
    return {"authorityURI": meant.scheme_address, "valueURI": legible(meant.address)}


def _add(
    above: etree._Element, name: str, text: str = "", *, lang: str = "", **attributes: str
) -> etree._Element:
    element = etree.SubElement(above, f"{{{_MODS}}}{name}")
    for key, value in attributes.items():
        if value:
            element.set(key, value)
    if lang:
        element.set("{http://www.w3.org/XML/1998/namespace}lang", legible(lang))
    if text:
        element.text = legible(text)
    return element
