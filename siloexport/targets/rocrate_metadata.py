"""What an RO-Crate says of a record, as JSON-LD (pure).

Source: RO-Crate Metadata Specification 1.2.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import quote

from infopackages.bagit import safe_path
from siloexport.bibliography import Bibliography, Name, Relation, Rights
from siloexport.targets.media_types import media_type
from siloexport.values import Deposit, ExportedFile, ExportedVersion

METADATA = "ro-crate-metadata.json"
PACKAGED = "#packaged"
"""The identifier of the action that made the crate."""
_VERSION = "https://w3id.org/ro/crate/1.2"
_SOFTWARE = "#silo"
_PLAIN = "!$&'()*+,/:;=@~-._"
"""What a path may have beside letters and digits to be a relative IRI."""

Entity: TypeAlias = dict[str, Any]


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


def crate(
    deposit: Deposit, described: Bibliography, day: str, *, by_version: bool
) -> dict[str, Any]:
    """Return the content of ``ro-crate-metadata.json``.

    Args:
        deposit: The record.
        described: Its last version.
        day: On which the crate is made, and the release of silo that makes it.
        by_version: As for `placed_files`.
    """
    graph = _Graph()
    made, _, software = day.partition(" ")
    root = graph.add({"@id": "./", "@type": "Dataset"})
    root |= _about(deposit, described, made)
    root |= _people(graph, described)
    root["license"] = _licences(graph, described.rights)
    root |= _identified(graph, deposit, described)
    places = _Places(deposit, by_version)
    root["hasPart"] = _parts(graph, places)
    root["mentions"] = [*root["mentions"], *_history(graph, places, made, software)]
    head = {
        "@id": METADATA, "@type": "CreativeWork", "about": {"@id": "./"},
        "conformsTo": {"@id": _VERSION},
    }  # fmt: skip
    entities = [head, *map(_compact, graph)]
    return {"@context": f"{_VERSION}/context", "@graph": entities}


def _compact(entity: Entity) -> Entity:
    """Leave out what is empty; a list of one value is written as the value."""
    found = {name: value for name, value in entity.items() if value}
    return {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value
        for name, value in found.items()
    }


@dataclass(slots=True)
class _Graph:
    """The entities, each once."""

    _entities: dict[str, Entity] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Entity]:
        return iter(self._entities.values())

    def add(self, entity: Entity) -> Entity:
        """Add an entity if there is none with its identifier; return the one that is there."""
        return self._entities.setdefault(entity["@id"], entity)

    def refer(self, entity: Entity) -> Entity:
        """Add an entity, and return a reference to it."""
        return _to(self.add(entity))

    def count(self, kind: str) -> int:
        return sum(one["@type"] == kind for one in self)


def _to(entity: Entity) -> Entity:
    return {"@id": entity["@id"]}


def _about(deposit: Deposit, described: Bibliography, made: str) -> Entity:
    """What is said of the record itself; RO-Crate requires the first three."""
    version = deposit.version
    title = described.title.text or deposit.identifier
    notes = [one.text for one in (*described.abstracts, *described.notes)]
    return {
        "name": title,
        "description": "\n\n".join(notes) or f"The record {deposit.identifier}: {title}",
        "datePublished": described.issued or _moment(version)[:10] or made,
        "alternateName": [one.text for one in described.alternatives],
        "genre": _texts(one.text for one in described.types),
        "keywords": _texts(one.text for one in described.subjects),
        "inLanguage": list(described.language_tags),
        "version": version.name,
        "dateModified": _moment(version),
    }


def _moment(version: ExportedVersion) -> str:
    """Return when a version was made here, or else at the source; ``""`` if neither is known."""
    moment = version.origin.date or version.datestamp
    return f"{moment}Z" if moment else ""


def _texts(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


# -- people and licences -----------------------------------------------------------------


_PROPERTIES = {
    "edt": "editor", "trl": "translator", "fnd": "funder", "spn": "sponsor", "prd": "producer",
    "pro": "producer", "cph": "copyrightHolder", "com": "editor", "his": "provider",
    "dst": "provider", "pbl": "publisher", "aut": "author", "cre": "author",
}  # fmt: skip
"""Code of the MARC relators → property of Schema.org; other roles are contributors."""


def _people(graph: _Graph, described: Bibliography) -> dict[str, list[Entity]]:
    found: dict[str, list[Entity]] = {"author": []}

    def note(name: str, reference: Entity) -> None:
        if reference not in found.setdefault(name, []):
            found[name].append(reference)

    for one in described.creators:
        note("author", graph.refer(_agent(graph, one)))
    for one in described.contributors:
        note(_PROPERTIES.get(one.role, "contributor"), graph.refer(_agent(graph, one)))
    for publisher in described.publishers:
        note("publisher", graph.refer(_organization(graph, publisher.text)))
    return found


def _agent(graph: _Graph, name: Name) -> Entity:
    if name.kind == "organization":
        return _organization(graph, name.text)
    shown = " ".join(filter(None, [name.given, name.family])) or name.text
    known = next((one for one in graph if one["@type"] == "Person" and one["name"] == shown), None)
    person: Entity = {
        "@id": f"https://orcid.org/{name.orcid}" if name.orcid else _numbered(graph, "Person"),
        "@type": "Person",
        "name": shown,
        "givenName": name.given,
        "familyName": name.family,
        "affiliation": [
            _to(graph.add(_organization(graph, one))) for one in dict.fromkeys(name.affiliations)
        ],
    }
    return known if known is not None and not name.orcid else person


def _organization(graph: _Graph, name: str) -> Entity:
    for one in graph:
        if one["@type"] == "Organization" and one["name"] == name:
            return one
    return {"@id": _numbered(graph, "Organization"), "@type": "Organization", "name": name}


def _numbered(graph: _Graph, kind: str) -> str:
    return f"#{kind.lower()}-{graph.count(kind) + 1}"


def _licences(graph: _Graph, rights: tuple[Rights, ...]) -> list[Entity]:
    """Return references to the statements of rights; RO-Crate requires one."""
    found = []
    for number, one in enumerate(rights, 1):
        is_address = one.uri.startswith(("http://", "https://"))
        text = one.text or one.uri
        found.append(graph.refer({
            "@id": _iri(one.uri, safe="%#?[]") if is_address else f"#rights-{number}",
            "@type": "CreativeWork",
            "name": text,
            "description": text if len(rights) == 1 or not one.uri else "",
            "inLanguage": one.lang,
        }))  # fmt: skip
    unsaid = "The metadata states no licence."
    return found or [graph.refer({
        "@id": "#rights", "@type": "CreativeWork", "name": "No licence stated",
        "description": unsaid,
    })]  # fmt: skip


def _identified(graph: _Graph, deposit: Deposit, described: Bibliography) -> dict[str, Any]:
    """Return identifiers as property values, addresses, and related works."""
    values = [graph.refer({
        "@id": "#identifier", "@type": "PropertyValue", "propertyID": "OAI-PMH",
        "name": "OAI-PMH", "value": deposit.identifier,
    })]  # fmt: skip
    addresses, citations = [], []
    for number, one in enumerate(described.identifiers, 1):
        if one.kind == "url":
            addresses.append(one.text)
        elif one.kind == "citation":
            citations.append(one.text)
        elif one.text != deposit.identifier:
            said = one.said or one.kind
            values.append(graph.refer({
                "@id": f"#identifier-{number}", "@type": "PropertyValue", "propertyID": said,
                "name": said, "value": one.text, "url": one.address,
            }))  # fmt: skip
    related: dict[str, list[Entity]] = {"isPartOf": [], "mentions": []}
    if described.container.title:
        related["isPartOf"].append(_container(graph, described))
    for number, relation in enumerate(described.relations, 1):
        name = _RELATIONS.get(relation.kind, "mentions")
        related.setdefault(name, []).append(_related(graph, number, relation))
    return {
        "identifier": values,
        "url": _texts(addresses),
        "creditText": "; ".join(citations),
        **related,
    }


_RELATIONS = {
    "IsPartOf": "isPartOf", "IsPublishedIn": "isPartOf", "Cites": "citation",
    "References": "citation", "IsDerivedFrom": "isBasedOn", "IsNewVersionOf": "isBasedOn",
    "IsVersionOf": "isBasedOn", "IsVariantFormOf": "isBasedOn",
}  # fmt: skip
"""Relation type of DataCite → property of Schema.org; other works are mentioned."""


def _container(graph: _Graph, described: Bibliography) -> Entity:
    inside = described.container
    kind = "Periodical" if inside.issn or inside.volume or inside.issue else "CreativeWork"
    return graph.refer({
        "@id": "#container", "@type": kind, "name": inside.title, "issn": inside.issn,
    })  # fmt: skip


def _related(graph: _Graph, number: int, relation: Relation) -> Entity:
    address = relation.identifier.address if relation.identifier else ""
    is_address = address.startswith(("http://", "https://"))
    return graph.refer({
        "@id": _iri(address, safe="%#?[]") if is_address else f"#related-{number}",
        "@type": "CreativeWork",
        "name": relation.text,
        "description": relation.kind,
    })  # fmt: skip


# -- files and history -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the versions of a record are in its crate."""

    deposit: Deposit
    by_version: bool

    def of(self, name: str | None) -> Entity:
        """Return a reference to a version's directory; empty if it has none."""
        has_files = any(one.name == name and one.files for one in self.deposit.versions)
        return {"@id": f"{_iri(_below(name or ''))}/"} if self.by_version and has_files else {}


def _parts(graph: _Graph, places: _Places) -> list[Entity]:
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
            "dateModified": _moment(version),
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
        "@id": _iri(placed.path),
        "@type": "File",
        "name": file.path,
        "description": said,
        "contentSize": f"{file.size}",
        "encodingFormat": media_type(file.path, is_metadata=is_described),
        "sha256": file.sha256,
        "about": {"@id": "./"} if is_described else {},
        "dateModified": _moment(placed.version),
    }


def _history(graph: _Graph, places: _Places, made: str, software: str) -> list[Entity]:
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


def _action(graph: _Graph, places: _Places, version: ExportedVersion, silo: Entity) -> Entity:
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
        "endTime": _moment(version),
        "agent": graph.refer(_agent(graph, Name(origin.agent))) if is_person else {},
        "instrument": silo if is_ours else {},
        "object": places.of(origin.of),
        "result": places.of(version.name) or {"@id": "./"},
    }


def _below(name: str) -> str:
    return safe_path("data", name)


def _iri(path: str, safe: str = "") -> str:
    """Return a path as a relative IRI: letters of all languages stay as they are."""
    return "".join(
        char if char.isalnum() or char in _PLAIN or char in safe else quote(char, safe="")
        for char in path
    )
