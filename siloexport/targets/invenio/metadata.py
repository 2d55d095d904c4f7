"""A bibliography → the metadata of InvenioRDM (pure).

Nothing is made up: what the repository needs and the metadata does not say is left out, and the
repository names it when the record is to be published.

Source: InvenioRDM, "Metadata reference"; its vocabularies of roles, dates, relations and types.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from siloexport.bibliography import Bibliography, Identifier, Name, Rights

Json = dict[str, Any]
_ROLES = {
    "edt": "editor", "ths": "supervisor", "dgs": "supervisor", "dtm": "datamanager",
    "dtc": "datacollector", "cur": "datacurator", "dst": "distributor", "pro": "producer",
    "pdr": "projectleader", "rtm": "projectmember", "res": "researcher", "cph": "rightsholder",
    "spn": "sponsor", "fnd": "sponsor", "his": "hostinginstitution",
}  # fmt: skip
"""MARC relator → role of a contributor; others are ``other``."""
_DATES = {
    "accepted": "accepted", "available": "available", "collected": "collected",
    "copyrighted": "copyrighted", "created": "created", "submitted": "submitted",
    "modified": "updated", "valid": "valid", "other": "other",
}  # fmt: skip
_SCHEMES = {
    "handle": "handle", "issn": "issn", "isbn": "isbn", "url": "url", "urn": "urn",
    "pmid": "pmid", "arxiv": "arxiv", "doi": "doi",
}  # fmt: skip
_NAMED_BY = {"ISNI": "isni", "ROR": "ror"}
"""Kind of identifier → scheme of a person or organization; GND is left out, because the repository
may write it in another form than was sent."""
_TYPES = (
    ("chapter", "publication-section"), ("section", "publication-section"),
    ("proceedings", "publication-conferenceproceeding"),
    ("conference", "publication-conferencepaper"),
    ("working", "publication-workingpaper"), ("preprint", "publication-preprint"),
    ("thesis", "publication-thesis"), ("dissertation", "publication-thesis"),
    ("report", "publication-report"), ("article", "publication-article"),
    ("patent", "publication-patent"), ("book", "publication-book"), ("dataset", "dataset"),
    ("software", "software"), ("poster", "poster"), ("presentation", "presentation"),
    ("lecture", "lesson"), ("image", "image"), ("video", "video"), ("audio", "video"),
    ("sound", "video"), ("text", "publication"),
)  # fmt: skip
"""(a word in a type, in lower case; the resource type), the first that fits."""
_LICENCES = "creativecommons.org/licenses/"
_ZERO = "creativecommons.org/publicdomain/zero/1.0"


def metadata(identifier: str, found: Bibliography) -> Json:
    """Return the metadata of a record.

    Args:
        identifier: Of the record; it becomes one of the repository's identifiers, by which the
            record is found again.
        found: What its version says.
    """
    said: Json = {
        "resource_type": {"id": _type(found)},
        "title": found.title.text,
        "publication_date": found.issued,
        "publisher": found.publishers[0].text if found.publishers else "",
        "creators": [_creator(one) for one in found.creators],
        "contributors": [
            _creator(one) | {"role": {"id": _ROLES.get(one.role, "other")}}
            for one in found.contributors
        ],
        "additional_titles": [
            {"title": one.text, "type": {"id": "alternative-title"}} for one in found.alternatives
        ],
        "description": found.abstracts[0].text if found.abstracts else "",
        "additional_descriptions": [
            *({"description": one.text, "type": {"id": "abstract"}} for one in found.abstracts[1:]),
            *({"description": one.text, "type": {"id": "notes"}} for one in found.notes),
        ],
        "subjects": [{"subject": one.text} for one in found.subjects],
        "languages": [{"id": one} for one in _languages(found)],
        "dates": [
            {"date": one.w3c, "type": {"id": _DATES[one.kind]}}
            for one in found.dates
            if one.kind in _DATES and one.w3c
        ],
        "rights": [_right(one) for one in found.rights],
        "identifiers": [
            {"identifier": identifier, "scheme": "other"},
            *(_identifier(one) for one in found.identifiers if _is_alternate(one)),
        ],
        "related_identifiers": list(_related(found)),
    }
    return {name: value for name, value in said.items() if value}


def pids(found: Bibliography) -> Json:
    """Return the persistent identifiers: the DOI that the record has already."""
    return {"doi": {"identifier": found.doi, "provider": "external"}} if found.doi else {}


def is_within(sent: Any, there: Any) -> bool:
    """Whether all that was sent is there; repositories add titles of terms, and more."""
    if isinstance(sent, Mapping):
        return isinstance(there, Mapping) and all(
            name in there and is_within(value, there[name]) for name, value in sent.items()
        )
    if isinstance(sent, list):
        return (
            isinstance(there, list)
            and len(sent) == len(there)
            and all(is_within(one, other) for one, other in zip(sent, there, strict=True))
        )
    return bool(sent == there)


def _type(found: Bibliography) -> str:
    for one in found.types:
        text = one.text.casefold()
        for word, kind in _TYPES:
            if word in text:
                return kind
    return "other"


def _creator(name: Name) -> Json:
    if name.kind == "organization":
        who: Json = {"type": "organizational", "name": name.text}
    else:
        who = {"type": "personal", "family_name": name.family or name.text}
        if name.given:
            who["given_name"] = name.given
    numbers = {"orcid": name.orcid} if name.orcid else {}
    if name.meant and (scheme := _NAMED_BY.get(name.meant.scheme)):
        numbers[scheme] = name.meant.number
    if numbers:
        who["identifiers"] = [
            {"scheme": scheme, "identifier": number} for scheme, number in numbers.items()
        ]
    where = {"affiliations": [{"name": one} for one in name.affiliations]}
    return {"person_or_org": who} | (where if name.affiliations else {})


def _languages(found: Bibliography) -> list[str]:
    """Return the languages as ISO 639-3, which InvenioRDM needs."""
    import langcodes  # noqa: PLC0415 - takes 40 ms

    codes = []
    for tag in found.language_tags:
        try:
            codes.append(langcodes.get(tag).to_alpha3())
        except LookupError:
            continue
    return list(dict.fromkeys(codes))


def _right(right: Rights) -> Json:
    address = right.uri.casefold().removeprefix("https://").removeprefix("http://").rstrip("/")
    if address == _ZERO:
        return {"id": "cc0-1.0"}
    if address.startswith(_LICENCES) and address.count("/") == 3:
        kind, version = address.removeprefix(_LICENCES).split("/")
        return {"id": f"cc-{kind}-{version}"}
    title = {"title": {"en": right.text or right.uri}}
    return title | ({"link": right.uri} if right.uri else {})


def _is_alternate(identifier: Identifier) -> bool:
    return identifier.kind not in {"doi", "citation"}


def _identifier(identifier: Identifier) -> Json:
    return {"identifier": identifier.text, "scheme": _SCHEMES.get(identifier.kind, "other")}


def _related(found: Bibliography) -> Iterator[Json]:
    for one in found.relations:
        if one.identifier is not None and one.kind:
            yield _identifier(one.identifier) | {"relation_type": {"id": one.kind.casefold()}}
