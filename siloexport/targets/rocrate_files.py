"""The files of an RO-Crate, its versions and their history (pure)."""

from dataclasses import dataclass

from infopackages.bagit import safe_path
from recordsilo.media_types import media_type
from siloexport.bibliography import Name
from siloexport.targets.rocrate_agents import agent
from siloexport.targets.rocrate_graph import Entity, Graph, iri
from siloexport.values import Deposit, ExportedFile, ExportedVersion

PACKAGED = "#packaged"
"""The identifier of the action that made the crate."""
_SOFTWARE = "#silo"


@dataclass(frozen=True, slots=True)
class Placed:
    """A file of a version, and its path in the crate."""

    version: ExportedVersion
    file: ExportedFile
    path: str


def placed_files(deposit: Deposit, *, by_version: bool) -> tuple[Placed, ...]:
    """Return the files of a crate.

    Args:
        by_version: Whether each version has a directory; else only the last is in the crate.
    """
    versions = deposit.versions if by_version else deposit.versions[-1:]
    return tuple(
        Placed(version, file, safe_path(_below(version.name) if by_version else "data", file.path))
        for version in versions
        for file in version.files
    )


@dataclass(frozen=True, slots=True)
class CratePlaces:
    """Where the versions of a record are in its crate."""

    deposit: Deposit
    by_version: bool

    def of(self, name: str | None) -> Entity:
        """Return a reference to a version's directory; empty if it has none."""
        has_files = any(one.name == name and one.files for one in self.deposit.versions)
        return {"@id": f"{iri(_below(name or ''))}/"} if self.by_version and has_files else {}


def parts(graph: Graph, places: CratePlaces) -> list[Entity]:
    """Add the files; return what the record consists of: them, or the versions that have them."""
    held: dict[str, list[Entity]] = {}
    for one in placed_files(places.deposit, by_version=places.by_version):
        held.setdefault(one.version.name, []).append(graph.refer(_file(one)))
    if not places.by_version:
        return held.get(places.deposit.version.name, [])
    return [
        graph.refer({
            **places.of(version.name),
            "@type": "Dataset",
            "name": f"Version {version.name}",
            "description": f"Version {version.name} of {places.deposit.identifier}",
            "version": version.name,
            "dateModified": version.made,
            "hasPart": held[version.name],
        })
        for version in places.deposit.versions
        if version.name in held
    ]  # fmt: skip


def _file(placed: Placed) -> Entity:
    file = placed.file
    is_metadata = file.is_metadata or file.path.endswith(".about")
    is_described = bool(file.document_of or is_metadata)
    said = "A file of the record"
    if file.document_of:
        said = f"Metadata of the record: {file.document_of} as a document of its own"
    elif is_metadata:
        said = "Metadata of the record, as in the Silo"
    return {
        "@id": iri(placed.path),
        "@type": "File",
        "name": file.path,
        "description": said,
        "contentSize": f"{file.size}",
        "encodingFormat": media_type(file.path, is_metadata=is_described),
        "sha256": file.sha256,
        "about": {"@id": "./"} if is_described else {},
        "dateModified": placed.version.made,
    }


def history(graph: Graph, places: CratePlaces, made: str, software: str) -> list[Entity]:
    """Return how each version was made, in their order, and that the crate was made."""
    silo = graph.refer({
        "@id": _SOFTWARE, "@type": "CreativeWork", "name": "silo", "version": software,
        "description": "The program that made this crate",
    })  # fmt: skip
    actions = [
        graph.refer({"@id": f"#made-{number}", **_action(graph, places, version, silo)})
        for number, version in enumerate(places.deposit.versions, 1)
    ]
    return [*actions, graph.refer({
        "@id": PACKAGED, "@type": "CreateAction", "name": "RO-Crate made", "endTime": made,
        "instrument": silo, "result": {"@id": "./"}, "identifier": places.deposit.key,
    })]  # fmt: skip


_MADE = {
    "harvest": "harvested", "clone": "copied", "import": "imported", "local": "made here",
}  # fmt: skip


def _action(graph: Graph, places: CratePlaces, version: ExportedVersion, silo: Entity) -> Entity:
    origin = version.origin
    is_ours = origin.agent.startswith("silo ")
    is_person = bool(origin.agent) and not is_ours and origin.kind in {"clone", "local"}
    told = [origin.message]
    if origin.kind == "harvest":
        where = places.deposit.source or "the source"
        told.append(f"Harvested from {where}, datestamp {version.datestamp}Z")
    elif origin.of:
        told.append(f"Copied from version {origin.of}")
    return {
        "@type": "CreateAction",
        "name": f"Version {version.name} {_MADE[origin.kind]}",
        "description": ". ".join(filter(None, told)),
        "endTime": version.made,
        "agent": graph.refer(agent(graph, Name(origin.agent))) if is_person else {},
        "instrument": silo if is_ours else {},
        "object": places.of(origin.of),
        "result": places.of(version.name) or {"@id": "./"},
    }


def _below(name: str) -> str:
    return safe_path("data", name)
