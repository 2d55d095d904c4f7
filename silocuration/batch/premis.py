"""A record's version history as PREMIS 3, made from its manifest (pure).

Each version is a representation, and each of its files a file with its SHA-256. Harvesting,
copying or creating the version is an event, and the person or program that did it is an agent.
"""

from collections.abc import Iterable, Iterator
from io import BytesIO

from infopackages.premis import Agent, Event, Id, Object, Relationship, write_premis
from infopackages.versions import version_event
from recordsilo.disk.digest import Digest
from recordsilo.disk.identifier import clean
from recordsilo.records.manifest import Manifest, Version

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
    written = BytesIO()
    write_premis(
        written,
        (found for one in versions for found in _objects(manifest.item_id, one)),
        (_event(manifest.item_id, one) for one in versions),
        _agents(versions),
    )
    return written.getvalue()


def _objects(identifier: str, version: Version) -> Iterator[Object]:
    files = [(path, known) for path, known in (version.digests or {}).items() if path != PATH]
    parts = [
        Relationship("structural", "has part", _file_id(identifier, version, p)) for p, _ in files
    ]
    derived = []
    if version.origin.of:
        source = _version_id(identifier, version.origin.of)
        derived = [Relationship("derivation", "has source", source)]
    made = _version_id(identifier, version.name)
    yield Object(
        (made,),
        "representation",
        version.name,
        relations=(*parts, *derived),
        events=(_event(identifier, version).id,),
    )
    for path, known in files:
        yield _file(identifier, version, path, known)


def _file(identifier: str, version: Version, path: str, known: Digest | None) -> Object:
    return Object(
        (_file_id(identifier, version, path),),
        "file",
        path,
        {"SHA-256": known.sha256} if known else {},
        known.size if known else None,
        path if path in version.metadata_files else "unknown",
    )


def _event(identifier: str, version: Version) -> Event:
    origin = version.origin
    return version_event(
        _version_id(identifier, version.name),
        origin.kind,
        origin.date or version.date,
        of=origin.of,
        datestamp=version.date if origin.kind == "harvest" else "",
        message=origin.message,
        agent=origin.agent,
        undated=not origin.date,
    )


def _agents(versions: Iterable[Version]) -> Iterator[Agent]:
    for agent in dict.fromkeys(one.origin.agent for one in versions if one.origin.agent):
        yield Agent(Id(agent), agent)


def _version_id(identifier: str, version: str) -> Id:
    return Id(f"{clean(identifier)}/{version}")


def _file_id(identifier: str, version: Version, path: str) -> Id:
    return Id(f"{_version_id(identifier, version.name).value}/{path}")
