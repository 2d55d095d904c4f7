"""What the descriptions of an exported record say: its metadata, its versions and their history
(pure)."""

from collections.abc import Iterator

from infopackages.bagit import safe_path
from infopackages.elements import legible
from infopackages.files import PackagedFile
from infopackages.premis import Agent, Event, Id, Object, Relationship
from infopackages.versions import version_event
from siloexport.values import Deposit, ExportedFile, ExportedVersion

_METADATA_TYPES = {
    "oai_dc": "DC",
    "mods": "MODS",
    "marc21": "MARC",
    "marcxml": "MARC",
    "ead": "EAD",
}
"""Metadata prefixes that METS has a word for."""


def representation_of(version: ExportedVersion) -> str:
    """Return the name of a version's directory."""
    return safe_path(version.name)


def metadata_type(name: str) -> tuple[str, str]:
    """Return the type of a metadata file in METS, and the type that METS has no word for."""
    prefix = name.removesuffix(".xml")
    known = _METADATA_TYPES.get(prefix.lower())
    return (known, "") if known else ("OTHER", prefix)


def descriptive_files(version: ExportedVersion) -> Iterator[ExportedFile]:
    """Yield the metadata of a version: documents, and files that no document was taken from."""
    taken = {file.document_of for file in version.files}
    for file in version.files:
        is_taken = file.path in taken or file.path.endswith(".about")
        if file.document_of or (file.is_metadata and not is_taken):
            yield file


def about(deposit: Deposit) -> str:
    """Return a text for people that says what is where in the package."""
    of = f", harvested from {deposit.source}" if deposit.source else ""
    lines = [
        f"The record {deposit.identifier}{of}.",
        "",
        f"metadata/descriptive/ describes version {deposit.version.name}, the current one here.",
        "metadata/preservation/premis.xml says how each version was made.",
        "representations/ has the files of each version, with the metadata as it was harvested:",
    ]
    for version in deposit.versions:
        when = f", made at {version.made}" if version.made else ""
        lines.append(f"  {representation_of(version)}: version {version.name}{when}")
    return "".join(f"{legible(line)}\n" for line in lines)


def objects(deposit: Deposit, name: str) -> Iterator[Object]:
    """Yield the record, and its versions as representations of it.

    Args:
        name: Of the package.
    """
    record = Id(deposit.identifier, "OAI identifier")
    yield Object((record, Id(name)), "intellectualEntity", deposit.identifier)
    names = {version.name for version in deposit.versions}
    for version in deposit.versions:
        relations = [Relationship("structural", "represents", record)]
        if version.origin.of in names:
            relations.append(Relationship("derivation", "has source", _id(name, version.origin.of)))
        event = _event(version, name, "").id
        yield Object((_id(name, version.name),), "representation", version.name,
                     relations=tuple(relations), events=(event,))  # fmt: skip


def file_objects(
    version: ExportedVersion, name: str, files: list[tuple[ExportedFile, PackagedFile]]
) -> Iterator[Object]:
    """Yield the files of a version.

    Args:
        name: Of the package.
        files: Each as it is in the Silo, and in the representation.
    """
    of = Relationship("structural", "is included in", _id(name, version.name))
    for file, packaged in files:
        place = Id(f"{_id(name, version.name).value}/{packaged.path}")
        digests = {"SHA-512": packaged.sha512, "SHA-256": file.sha256}
        kind = packaged.media_type
        yield Object((place,), "file", file.path, digests, file.size, kind, relations=(of,))


def events(deposit: Deposit, name: str, created: str, software: str) -> Iterator[Event]:
    """Yield how each version was made, in their order, and that the package was made.

    Args:
        name: Of the package.
        created: When the package was made.
        software: What made it.
    """
    for version in deposit.versions:
        yield _event(version, name, created)
    yield Event(
        Id(f"{name}#packaged"),
        "information package creation",
        created,
        agents=((Id(software), "executing program"),),
        objects=(Id(deposit.identifier, "OAI identifier"),),
    )


def _event(version: ExportedVersion, name: str, created: str) -> Event:
    origin = version.origin
    return version_event(
        _id(name, version.name),
        origin.kind,
        (version.made or created).removesuffix("Z"),
        of=origin.of,
        datestamp=version.datestamp if origin.kind == "harvest" else "",
        message=origin.message,
        agent=origin.agent,
        undated=not origin.date,
    )


def agents(deposit: Deposit, software: str) -> Iterator[Agent]:
    """Yield who made the versions, and the program that made the package."""
    names = dict.fromkeys(one.origin.agent for one in deposit.versions if one.origin.agent)
    yield from (Agent(Id(one), one) for one in names if one != software)
    yield Agent(Id(software), software, "software")


def _id(name: str, version: str | None) -> Id:
    return Id(f"{name}/representations/{safe_path(version or '')}")
