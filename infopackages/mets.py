"""METS 1.12 documents as the E-ARK CSIP profile has them, written as a stream.

Source: METS 1.12; E-ARK CSIP 2.2.0 and SIP 2.2.0, "Use of METS"; the numbers in comments are of
its requirements.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Final, Literal, NamedTuple
from urllib.parse import quote, unquote

from infopackages.elements import XLINK, XSI, Element, Elements, document, element, read_elements
from infopackages.files import PackagedFile

NAMESPACE = "http://www.loc.gov/METS/"
CSIP = "https://DILCIS.eu/XML/METS/CSIPExtensionMETS"
PROFILE = "https://earksip.dilcis.eu/profile/E-ARK-SIP-v2-2-0.xml"
SCHEMA = "http://www.loc.gov/standards/mets/version112/mets.xsd"
_VERSION: Final = "SOFTWARE VERSION"
EXTENSION = "DILCISExtensionMETS.xsd"
"""The schema of the attributes that CSIP adds to METS, in ``schemas/`` of a package."""


@dataclass(frozen=True, slots=True)
class MetsAgent:
    """An agent of the header; ``note`` is of a kind such as ``SOFTWARE VERSION``."""

    name: str
    type: Literal["ORGANIZATION", "INDIVIDUAL", "OTHER"] = "ORGANIZATION"
    role: Literal["CREATOR", "ARCHIVIST", "PRESERVATION", "OTHER"] = "CREATOR"
    other_type: str = ""
    note: str = ""
    note_kind: Literal["SOFTWARE VERSION", "IDENTIFICATIONCODE", ""] = ""

    @classmethod
    def software(cls, name: str, version: str) -> "MetsAgent":
        """Return a program, which made the package."""
        return cls(name, "OTHER", "CREATOR", "SOFTWARE", version, _VERSION)


@dataclass(frozen=True, slots=True)
class MetadataFile:
    """A file of metadata, which the document refers to.

    Attributes:
        section: ``dmdSec``, ``digiprovMD`` or ``rightsMD``.
        type: Of METS, such as ``DC`` or ``PREMIS``; others are ``OTHER`` and ``other_type``.
    """

    file: PackagedFile
    section: Literal["dmdSec", "digiprovMD", "rightsMD"]
    type: str
    other_type: str = ""
    version: str = ""

    @classmethod
    def premis(cls, file: PackagedFile) -> "MetadataFile":
        """Return a PREMIS document."""
        return cls(file, "digiprovMD", "PREMIS", version="3.0")


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files with a use: ``Data``, ``Schemas``, ``Documentation``, or ``Representations/NAME``.

    Attributes:
        files: Read once.
        represented: Whether its one file is the METS document of a representation.
    """

    use: str
    files: Iterable[PackagedFile]
    represented: bool = False


@dataclass(frozen=True, slots=True)
class Mets:
    """A document.

    Attributes:
        identifier: Of the package or the representation: the name of its directory.
        category: Of its content: a term of the CSIP vocabulary, such as ``Web Archives``.
        created: In ISO 8601, with a time zone.
        content_type: The specification that the content conforms to; usually ``MIXED``.
        schemas: Where ``schemas/`` of the package is, from the document; ``""`` for here.
        status: Of the package: ``NEW``, ``REPLACEMENT`` …
        document: Identifies what the document was made from; ``""`` for nothing.
    """

    identifier: str
    label: str
    category: str
    created: str
    agents: tuple[MetsAgent, ...] = ()
    metadata: tuple[MetadataFile, ...] = ()
    groups: tuple[FileGroup, ...] = ()
    content_type: str = "MIXED"
    schemas: str = ""
    status: str = "NEW"
    document: str = ""


def write_mets(out: IO[bytes], mets: Mets) -> None:
    """Write a document; each group of files is read once."""
    prefixes = {None: NAMESPACE, "xlink": XLINK, "xsi": XSI, "csip": CSIP}
    places = f"{NAMESPACE} {SCHEMA} {CSIP} {mets.schemas}schemas/{EXTENSION}"
    attributes = {
        "OBJID": mets.identifier,  # CSIP1
        "LABEL": mets.label,
        "TYPE": mets.category,  # CSIP2
        f"{{{CSIP}}}CONTENTINFORMATIONTYPE": mets.content_type,  # CSIP4
        "PROFILE": PROFILE,  # CSIP6
        f"{{{XSI}}}schemaLocation": places,
    }
    sections = tuple(_Section(number, one) for number, one in enumerate(mets.metadata, 1))
    with document(out, "mets", prefixes, attributes) as root:
        root.write(_header(mets))
        for section in sections:
            if section.of.section == "dmdSec":
                root.write(section.element(mets.created))
        administrative = [one for one in sections if one.of.section != "dmdSec"]
        if administrative:
            root.write(
                element("amdSec", *(one.element(mets.created) for one in administrative), ID="amd")
            )
        _write_files(root, mets)
        root.write(_structure(mets, sections))


class MetsHeader(NamedTuple):
    """What the header of a METS document says: when the package was made, the identifier of the
    document, and the version of the program that made it; each may be empty."""

    created: str = ""
    document: str = ""
    software: str = ""


def header_of(document: IO[bytes]) -> MetsHeader:
    """Read the header of a METS document.

    Raises:
        ValueError: It is no METS document, or has no header.
    """
    for header in read_elements(document, NAMESPACE, "mets", "metsHdr"):
        notes = header.iterfind(f"{{{NAMESPACE}}}agent/{{{NAMESPACE}}}note")
        versions = (one.text for one in notes if one.get(f"{{{CSIP}}}NOTETYPE") == _VERSION)
        identifier = header.findtext(f"{{{NAMESPACE}}}metsDocumentID", "")
        return MetsHeader(header.get("CREATEDATE") or "", identifier, next(versions, None) or "")
    raise ValueError("it is a METS document without a header")


def described_files(document: IO[bytes]) -> Iterator[PackagedFile]:
    """Yield the files that a METS document describes, read as a stream.

    Yields:
        Each ``file`` and ``mdRef`` with its path as written, which may lead anywhere.

    Raises:
        ValueError: It is no METS document, or describes a file without size and SHA-512.
    """
    for one in read_elements(document, NAMESPACE, "mets", "file", "mdRef"):
        place = one if len(one) == 0 else one[0]
        if one.get("CHECKSUMTYPE") != "SHA-512":
            raise ValueError("a file is described without its SHA-512")
        yield PackagedFile(
            unquote(str(place.get(f"{{{XLINK}}}href"))),
            int(str(one.get("SIZE"))),
            str(one.get("CHECKSUM")).lower(),
            str(one.get("MIMETYPE")),
            one.get("CREATED") or "",
        )


def _header(mets: Mets) -> Element:
    def agents() -> Iterator[Element]:
        for one in mets.agents:
            parts = [element("name", one.name)]
            if one.note:
                parts.append(Element("note", {f"{{{CSIP}}}NOTETYPE": one.note_kind}, one.note))
            yield element(
                "agent", *parts, ROLE=one.role, TYPE=one.type, OTHERTYPE=one.other_type
            )  # CSIP10 to CSIP16
        if mets.document:
            yield element("metsDocumentID", mets.document)

    attributes = {
        "CREATEDATE": mets.created,  # CSIP7
        "RECORDSTATUS": mets.status,  # SIP3
        f"{{{CSIP}}}OAISPACKAGETYPE": "SIP",  # CSIP9, SIP4
    }
    return Element("metsHdr", attributes, agents())


@dataclass(frozen=True, slots=True)
class _Section:
    number: int
    of: MetadataFile

    @property
    def id(self) -> str:
        return f"{self.of.section}-{self.number}"

    def element(self, created: str) -> Element:
        file = self.of.file
        reference = {
            "LOCTYPE": "URL",
            **_link(file.path),
            "MDTYPE": self.of.type,
            "OTHERMDTYPE": self.of.other_type,
            "MDTYPEVERSION": self.of.version,
            **_described(file, created),
        }  # CSIP21 to CSIP30
        given = {key: value for key, value in reference.items() if value}
        given["ID"] = f"{self.id}-file"
        told = {"ID": self.id, "CREATED": created, "STATUS": "CURRENT"}
        return Element(self.of.section, told, [Element("mdRef", given)])


def _link(path: str) -> dict[str, str]:
    return {f"{{{XLINK}}}type": "simple", f"{{{XLINK}}}href": quote(path)}


def _described(file: PackagedFile, created: str) -> dict[str, str]:
    return {
        "MIMETYPE": file.media_type,
        "SIZE": str(file.size),
        "CREATED": file.created or created,
        "CHECKSUM": file.sha512,
        "CHECKSUMTYPE": "SHA-512",
    }


def _write_files(root: Elements, mets: Mets) -> None:
    if not mets.groups:
        return
    with root.within("fileSec", ID="fileSec") as section:
        for number, group in enumerate(mets.groups, 1):
            attributes = {"ID": _group_id(number), "USE": group.use}
            if group.represented:
                attributes[f"{{{CSIP}}}CONTENTINFORMATIONTYPE"] = mets.content_type
            section.write(Element("fileGrp", attributes, _files(number, group, mets.created)))


def _files(group: int, files: FileGroup, created: str) -> Iterator[Element]:
    for number, file in enumerate(files.files, 1):
        place = Element("FLocat", {"LOCTYPE": "URL", **_link(file.path)})
        attributes = {"ID": f"file-{group}-{number}", **_described(file, created)}
        yield Element("file", attributes, [place])


def _group_id(number: int) -> str:
    return f"group-{number}"


def _structure(mets: Mets, sections: tuple[_Section, ...]) -> Element:
    def parts() -> Iterator[Element]:
        if sections:
            described = [one.id for one in sections if one.of.section == "dmdSec"]
            kept = [one.id for one in sections if one.of.section != "dmdSec"]
            yield element(
                "div", ID="metadata", LABEL="Metadata", DMDID=" ".join(described),
                ADMID=" ".join(kept),
            )  # fmt: skip
        for number, group in enumerate(mets.groups, 1):
            id_ = _group_id(number)
            inside = element("fptr", FILEID=id_)
            if group.represented:
                (file,) = group.files
                link = {**_link(file.path), f"{{{XLINK}}}title": id_, "LOCTYPE": "URL"}
                inside = Element("mptr", link)
            yield element("div", inside, ID=f"div-{number}", LABEL=group.use)

    top = element("div", *parts(), ID="package", LABEL=mets.identifier)
    return element("structMap", top, ID="structure", TYPE="PHYSICAL", LABEL="CSIP")
