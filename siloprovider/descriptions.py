"""What a repository says of itself beyond what OAI-PMH asks for, and of rights (pure).

Source: OAI-PMH Implementation Guidelines: *OAI Identifier Format*, *Branding of metadata and
collections*, *Friends container*, *Conveying rights expressions about metadata*.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from lxml import etree

from oaipmhprotocol.words import XSI_NAMESPACE
from recordsilo.formats.documents import NoDocument, parsed_whole
from siloprovider.settings import Branding

_OAI = "http://www.openarchives.org/OAI/2.0/"
BRANDING, FRIENDS, RIGHTS = f"{_OAI}branding/", f"{_OAI}friends/", f"{_OAI}rights/"
OAI_IDENTIFIER = f"{_OAI}oai-identifier"
_METADATA = f"{_OAI}entity#metadata"


def rights_of(url: str) -> bytes:
    """The container that says which licence the metadata of a record is under.

    Args:
        url: Of the licence.
    """
    root = _root(RIGHTS, "rights", "rights.xsd")
    etree.SubElement(root, f"{{{RIGHTS}}}rightsReference").set("ref", url)
    return _written(root)


def is_rights(document: bytes) -> bool:
    """Whether a container is one of rights."""
    try:
        return parsed_whole(document).tag == f"{{{RIGHTS}}}rights"
    except NoDocument:
        return False


def rights_in(about: Sequence[bytes]) -> tuple[bytes, ...]:
    """The containers of rights among what the source said about a record."""
    found: list[bytes] = []
    for document in about:
        if RIGHTS.encode() in document:
            with suppress(NoDocument):
                found += map(_alone, parsed_whole(document).iter(f"{{{RIGHTS}}}rights"))
    return tuple(found)


def _alone(element: etree._Element) -> bytes:
    return etree.tostring(element, encoding="UTF-8", xml_declaration=False, with_tail=False)


def rights_manifest_of(url: str) -> bytes:
    """The description that says which licence the metadata of the repository is under."""
    root = _root(RIGHTS, "rightsManifest", "rightsManifest.xsd")
    root.set("appliesTo", _METADATA)
    rights = etree.SubElement(root, f"{{{RIGHTS}}}rights")
    etree.SubElement(rights, f"{{{RIGHTS}}}rightsReference").set("ref", url)
    return _written(root)


def branding_of(branding: Branding) -> bytes:
    """The description with the icon of the collection."""
    root = _root(BRANDING, "branding", "branding.xsd")
    icon = etree.SubElement(root, f"{{{BRANDING}}}collectionIcon")
    texts = (
        ("url", branding.icon), ("link", branding.link), ("title", branding.title),
        ("width", str(branding.width or "")), ("height", str(branding.height or "")),
    )  # fmt: skip
    for name, text in texts:
        if text:
            etree.SubElement(icon, f"{{{BRANDING}}}{name}").text = text
    return _written(root)


def friends_of(base_urls: Sequence[str]) -> bytes:
    """The description with the addresses of other repositories."""
    root = _root(FRIENDS, "friends", "friends.xsd")
    for url in base_urls:
        etree.SubElement(root, f"{{{FRIENDS}}}baseURL").text = url
    return _written(root)


def oai_identifier_of(prefix: str, sample: str) -> bytes:
    """The description of the form of the identifiers.

    Args:
        prefix: See `identifiers.check_prefix`.
        sample: The identifier that a record is given with.
    """
    root = _root(OAI_IDENTIFIER, "oai-identifier", "oai-identifier.xsd")
    texts = (
        ("scheme", "oai"), ("repositoryIdentifier", prefix.split(":")[1]), ("delimiter", ":"),
        ("sampleIdentifier", sample),
    )  # fmt: skip
    for name, text in texts:
        etree.SubElement(root, f"{{{OAI_IDENTIFIER}}}{name}").text = text
    return _written(root)


def _root(namespace: str, name: str, schema: str) -> etree._Element:
    names: dict[Any, str] = {None: namespace, "xsi": XSI_NAMESPACE}
    root = etree.Element(f"{{{namespace}}}{name}", nsmap=names)
    root.set(f"{{{XSI_NAMESPACE}}}schemaLocation", f"{namespace} {_OAI}{schema}")
    return root


def _written(root: etree._Element) -> bytes:
    return etree.tostring(root, encoding="UTF-8", xml_declaration=False)
