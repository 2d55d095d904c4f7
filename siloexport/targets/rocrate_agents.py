"""The people and organizations of an RO-Crate (pure)."""

from recordsilo.value_identifiers import ValueIdentifier
from siloexport.bibliography import Bibliography, Name
from siloexport.targets.rocrate_graph import Entity, Graph, iri

_INSTITUTIONS = ("publisher", "affiliation", "creator", "contributor")
_NOTHING = Bibliography()


def agent(graph: Graph, name: Name, described: Bibliography = _NOTHING) -> Entity:
    """Return a person or an organization, which may be in the graph already.

    Args:
        graph: Gets the organizations that a person belongs to.
        name: Of the person or the organization.
        described: What has the identifiers of organizations.
    """
    if name.kind == "organization":
        return organization(graph, name.text, described)
    shown = " ".join(filter(None, [name.given, name.family])) or name.text
    known = next((one for one in graph if one["@type"] == "Person" and one["name"] == shown), None)
    own = f"https://orcid.org/{name.orcid}" if name.orcid else _address(name.meant)
    if known is not None and not own:
        return known
    return {
        "@id": own or _numbered(graph, "Person"),
        "@type": "Person",
        "name": shown,
        "givenName": name.given,
        "familyName": name.family,
        "affiliation": [
            graph.refer(organization(graph, one, described))
            for one in dict.fromkeys(name.affiliations)
        ],
        **_identified(name.meant, own),
    }


def organization(graph: Graph, name: str, described: Bibliography) -> Entity:
    """Return an organization, which may be in the graph already.

    Args:
        described: What has its identifier.
    """
    for one in graph:
        if one["@type"] == "Organization" and one["name"] == name:
            return one
    meant = described.meant(name, *_INSTITUTIONS)
    own = _address(meant)
    return {
        "@id": own or _numbered(graph, "Organization"),
        "@type": "Organization",
        "name": name,
        **_identified(meant, own),
    }


def _address(meant: ValueIdentifier | None) -> str:
    return iri(meant.address, safe="%#?[]") if meant else ""


def _identified(meant: ValueIdentifier | None, own: str) -> Entity:
    """Return a further identifier of an entity that has another address, or none."""
    if meant is None or (meant.address and _address(meant) == own):
        return {}
    return {"identifier": meant.address or meant.id}


def _numbered(graph: Graph, kind: str) -> str:
    return f"#{kind.lower()}-{graph.count(kind) + 1}"
