"""What an RO-Crate says of a record, as JSON-LD (pure).

Source: RO-Crate Metadata Specification 1.2.
"""

from collections.abc import Iterable
from typing import Any

from siloexport.bibliography import Bibliography, Relation, Rights
from siloexport.targets.rocrate_agents import agent, organization
from siloexport.targets.rocrate_files import CratePlaces, history, parts
from siloexport.targets.rocrate_graph import Entity, Graph, compact, iri
from siloexport.values import Deposit

METADATA = "ro-crate-metadata.json"
_VERSION = "https://w3id.org/ro/crate/1.2"


def crate(
    deposit: Deposit, described: Bibliography, day: str, *, by_version: bool
) -> dict[str, Any]:
    """Return the content of ``ro-crate-metadata.json``.

    Args:
        described: Its last version.
        day: On which the crate is made, and the release of silo that makes it.
        by_version: As for `placed_files`.
    """
    graph = Graph()
    made, _, software = day.partition(" ")
    root = graph.add({"@id": "./", "@type": "Dataset"})
    root |= _about(deposit, described, made)
    root |= _people(graph, described)
    root["about"] = _subjects(graph, described)
    root["license"] = _licences(graph, described.rights)
    root |= _identified(graph, deposit, described)
    places = CratePlaces(deposit, by_version)
    root["hasPart"] = parts(graph, places)
    root["mentions"] = [*root["mentions"], *history(graph, places, made, software)]
    head = {
        "@id": METADATA, "@type": "CreativeWork", "about": {"@id": "./"},
        "conformsTo": {"@id": _VERSION},
    }  # fmt: skip
    entities = [head, *map(compact, graph)]
    return {"@context": f"{_VERSION}/context", "@graph": entities}


def _about(deposit: Deposit, described: Bibliography, made: str) -> Entity:
    """What is said of the record itself; RO-Crate requires the first three."""
    version = deposit.version
    title = described.title.text or deposit.identifier
    notes = [one.text for one in (*described.abstracts, *described.notes)]
    return {
        "name": title,
        "description": "\n\n".join(notes) or f"The record {deposit.identifier}: {title}",
        "datePublished": described.issued or version.made[:10] or made,
        "alternateName": [one.text for one in described.alternatives],
        "genre": _texts(one.text for one in described.types),
        "keywords": _texts(one.text for one in described.subjects),
        "inLanguage": list(described.language_tags),
        "version": version.name,
        "dateModified": version.made,
    }


def _texts(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


# -- people and licences -----------------------------------------------------------------


_PROPERTIES = {
    "edt": "editor", "trl": "translator", "fnd": "funder", "spn": "sponsor", "prd": "producer",
    "pro": "producer", "cph": "copyrightHolder", "com": "editor", "his": "provider",
    "dst": "provider", "pbl": "publisher", "aut": "author", "cre": "author",
}  # fmt: skip
"""Code of the MARC relators → property of Schema.org; other roles are contributors."""


def _people(graph: Graph, described: Bibliography) -> dict[str, list[Entity]]:
    found: dict[str, list[Entity]] = {"author": []}

    def note(name: str, reference: Entity) -> None:
        if reference not in found.setdefault(name, []):
            found[name].append(reference)

    for one in described.creators:
        note("author", graph.refer(agent(graph, one, described)))
    for one in described.contributors:
        role = _PROPERTIES.get(one.role, "contributor")
        note(role, graph.refer(agent(graph, one, described)))
    for publisher in described.publishers:
        note("publisher", graph.refer(organization(graph, publisher.text, described)))
    return found


def _subjects(graph: Graph, described: Bibliography) -> list[Entity]:
    """Return references to the subjects that have an address; all are keywords, too."""
    meant = ((one.text, described.meant(one.text, "subject")) for one in described.subjects)
    found = [graph.refer({
        "@id": iri(one.address, safe="%#?[]"),
        "@type": "DefinedTerm",
        "name": text,
        "inDefinedTermSet": one.scheme_address,
    }) for text, one in meant if one and one.address]  # fmt: skip
    return [one for number, one in enumerate(found) if one not in found[:number]]


def _licences(graph: Graph, rights: tuple[Rights, ...]) -> list[Entity]:
    """Return references to the statements of rights; RO-Crate requires one."""
    found = []
    for number, one in enumerate(rights, 1):
        is_address = one.uri.startswith(("http://", "https://"))
        text = one.text or one.uri
        found.append(graph.refer({
            "@id": iri(one.uri, safe="%#?[]") if is_address else f"#rights-{number}",
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


def _identified(graph: Graph, deposit: Deposit, described: Bibliography) -> dict[str, Any]:
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


def _container(graph: Graph, described: Bibliography) -> Entity:
    inside = described.container
    kind = "Periodical" if inside.issn or inside.volume or inside.issue else "CreativeWork"
    return graph.refer({
        "@id": "#container", "@type": kind, "name": inside.title, "issn": inside.issn,
    })  # fmt: skip


def _related(graph: Graph, number: int, relation: Relation) -> Entity:
    address = relation.identifier.address if relation.identifier else ""
    is_address = address.startswith(("http://", "https://"))
    return graph.refer({
        "@id": iri(address, safe="%#?[]") if is_address else f"#related-{number}",
        "@type": "CreativeWork",
        "name": relation.text,
        "description": relation.kind,
    })  # fmt: skip
