"""The people and organizations of an RO-Crate (pure)."""

from siloexport.bibliography import Name
from siloexport.targets.rocrate_graph import Entity, Graph


def agent(graph: Graph, name: Name) -> Entity:
    """Return a person or an organization, which may be in the graph already."""
    if name.kind == "organization":
        return organization(graph, name.text)
    shown = " ".join(filter(None, [name.given, name.family])) or name.text
    known = next((one for one in graph if one["@type"] == "Person" and one["name"] == shown), None)
    person: Entity = {
        "@id": f"https://orcid.org/{name.orcid}" if name.orcid else _numbered(graph, "Person"),
        "@type": "Person",
        "name": shown,
        "givenName": name.given,
        "familyName": name.family,
        "affiliation": [
            graph.refer(organization(graph, one)) for one in dict.fromkeys(name.affiliations)
        ],
    }
    return known if known is not None and not name.orcid else person


def organization(graph: Graph, name: str) -> Entity:
    """Return an organization, which may be in the graph already."""
    for one in graph:
        if one["@type"] == "Organization" and one["name"] == name:
            return one
    return {"@id": _numbered(graph, "Organization"), "@type": "Organization", "name": name}


def _numbered(graph: Graph, kind: str) -> str:
    return f"#{kind.lower()}-{graph.count(kind) + 1}"
