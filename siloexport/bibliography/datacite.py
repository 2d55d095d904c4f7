"""DataCite, read for a bibliography.

Source: DataCite Metadata Schema 4.6.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lxml import etree

from recordsilo.formats import Value
from recordsilo.formats.collect import children_of, first_text, fold, language_of, text_of
from siloexport.bibliography.texts import identifier_of, name_of, relation_of, rights_of
from siloexport.bibliography.values import Dated, HostItem, Name

DATE_KINDS = {
    "Issued": "issued", "Created": "created", "Available": "available", "Updated": "modified",
    "Accepted": "accepted", "Submitted": "submitted", "Copyrighted": "copyrighted",
    "Valid": "valid", "Collected": "collected",
}  # fmt: skip
"""dateType → kind of date."""
_NAME_KINDS = {"Personal": "person", "Organizational": "organization"}


def read(root: etree._Element) -> dict[str, Any]:
    """Return the fields that a ``<resource>`` says, by name (`Bibliography`)."""
    titles = list(_listed(root, "titles", "title"))
    titles.sort(key=lambda one: one.get("titleType") is not None)  # the main title has none
    texts = [_value(one) for one in titles]
    descriptions = list(_listed(root, "descriptions", "description"))
    abstracts = [one for one in descriptions if one.get("descriptionType") == "Abstract"]
    relations = [_relation(one) for one in _listed(root, "relatedIdentifiers", "relatedIdentifier")]
    return {
        "title": texts[0] if texts else Value(""),
        "alternatives": tuple(texts[1:]),
        "creators": tuple(_people(root, "creator")),
        "contributors": tuple(_people(root, "contributor")),
        "dates": tuple(_dates(root)),
        "identifiers": tuple(_identifiers(root)),
        "rights": _kept(
            rights_of(text_of(one), one.get("rightsURI", ""), language_of(one))
            for one in (*_listed(root, "rightsList", "rights"), *children_of(root, "rights"))
        ),
        "abstracts": tuple(_value(one) for one in abstracts),
        "notes": tuple(_value(one) for one in descriptions if one not in abstracts),
        "relations": _kept([*relations, *_related_items(root)]),
        "container": _container(root),
        "edition": first_text(root, "version"),
    }


def _listed(root: etree._Element, around: str, name: str) -> Iterator[etree._Element]:
    for parent in children_of(root, around):
        yield from children_of(parent, name)


def _kept(values: Any) -> tuple[Any, ...]:
    return tuple(one for one in values if one is not None)


def _value(element: etree._Element) -> Value:
    return Value(fold(text_of(element)), language_of(element))


def _people(root: etree._Element, role: str) -> Iterator[Name]:
    for person in _listed(root, f"{role}s", role):
        name = next(children_of(person, f"{role}Name"), None)
        identifiers = " ".join(text_of(one) for one in children_of(person, "nameIdentifier"))
        found = name_of(
            "" if name is None else text_of(name),
            role=person.get("contributorType", ""),
            orcid=identifiers,
            kind=_NAME_KINDS.get("" if name is None else name.get("nameType", ""), ""),
            family=first_text(person, "familyName"),
            given=first_text(person, "givenName"),
        )
        if found:
            affiliations = [fold(text_of(one)) for one in children_of(person, "affiliation")]
            yield replace(found, affiliations=tuple(filter(None, affiliations)))


def _dates(root: etree._Element) -> Iterator[Dated]:
    dates = [
        Dated(DATE_KINDS.get(one.get("dateType", ""), "other"), fold(text_of(one)))
        for one in _listed(root, "dates", "date")
    ]
    year = first_text(root, "publicationYear")
    yield from (one for one in dates if one.kind == "issued")
    if year and not any(one.kind == "issued" and one.w3c.startswith(year) for one in dates):
        yield Dated("issued", year)
    yield from (one for one in dates if one.kind != "issued" and one.text)


def _identifiers(root: etree._Element) -> Iterator[Any]:
    for one in children_of(root, "identifier"):
        if found := identifier_of(text_of(one), one.get("identifierType", "")):
            yield found
    for one in _listed(root, "alternateIdentifiers", "alternateIdentifier"):
        if found := identifier_of(text_of(one), one.get("alternateIdentifierType", "")):
            yield found


def _relation(one: etree._Element) -> Any:
    kind = one.get("relationType", "")
    return relation_of(text_of(one), kind, one.get("relatedIdentifierType", ""))


def _related_items(root: etree._Element) -> Iterator[Any]:
    for item in _listed(root, "relatedItems", "relatedItem"):
        for title in _listed(item, "titles", "title"):
            yield relation_of(text_of(title), item.get("relationType", ""))


def _container(root: etree._Element) -> HostItem:
    for item in _listed(root, "relatedItems", "relatedItem"):
        if item.get("relationType") in {"IsPublishedIn", "IsPartOf"}:
            title = next(_listed(item, "titles", "title"), None)
            number = next(children_of(item, "relatedItemIdentifier"), None)
            found = None if number is None else identifier_of(
                text_of(number), number.get("relatedItemIdentifierType", "")
            )  # fmt: skip
            said = {found.kind: found.text} if found and found.kind in {"issn", "isbn"} else {}
            return HostItem(
                title="" if title is None else fold(text_of(title)),
                issn=said.get("issn", ""),
                isbn=said.get("isbn", ""),
                volume=first_text(item, "volume"),
                issue=first_text(item, "issue"),
                first_page=first_text(item, "firstPage"),
                last_page=first_text(item, "lastPage"),
            )
    return HostItem()
