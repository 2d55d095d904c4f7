"""What is said of a record → a document of DataCite, as its REST API takes it in JSON (pure).

Source: DataCite Metadata Schema 4.5; its JSON representation as in the package datacite 1.4.1.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from infopackages.elements import legible
from recordsilo.value_identifiers import ValueIdentifier
from siloexport.bibliography import (
    Bibliography,
    Dated,
    HostItem,
    Identifier,
    Name,
    Relation,
    Rights,
    Value,
    language_tag,
)
from siloexport.targets.datacite_dois import DataciteSettings, doi_of
from siloexport.targets.datacite_words import (
    CONTRIBUTOR_TYPES,
    CONTRIBUTORS,
    DATE_TYPES,
    RELATIONS,
    RENAMED,
    SCHEMES,
    STATUS,
    WORDS,
)

Document = Mapping[str, Any]
NAMESPACE = "http://datacite.org/schema/kernel-4"
_RANGE = re.compile(r"(\d{4}(?:-\d{2}){0,2})/(\d{4}(?:-\d{2}){0,2})", re.ASCII)
_MIME = re.compile(r"[a-z]+/[\w.+-]+")
_SPDX = re.compile(
    r"https?://creativecommons\.org/(licenses/([a-z-]+)|publicdomain/(zero))/([\d.]+)/?"
)
_ADDRESS = re.compile(r"https?://[^\s<>\"{}|\\^`]+")


class PropertiesMissing(Exception):
    """Properties that DataCite requires are missing; the message is a predicate."""


def document_of(identifier: str, found: Bibliography, settings: DataciteSettings) -> Document:
    """Return the document of a record.

    Args:
        found: What its metadata says.
        settings: For what it does not say.

    Raises:
        PropertiesMissing: A document would be invalid; the message names all that is missing.
    """
    doi = doi_of(identifier, found, settings)
    publisher = _publisher(found, settings)
    types = _types(found.types, settings.type)
    required = {
        "a DOI (or give --prefix)": doi,
        "a creator": found.creators,
        "a title": found.title.text,
        "a publisher (or give --publisher)": publisher,
        "a year of publication": found.year,
        "a type (or give --type)": types,
    }
    if missing := [name for name, value in required.items() if not value]:
        raise PropertiesMissing(f"lacks what DataCite requires: {', '.join(missing)}")
    document = {
        "doi": doi,
        "types": types,
        "creators": [_person(one, found) for one in found.creators],
        "titles": list(_titles(found)),
        "publisher": publisher,
        "publicationYear": f"{found.year:04}",
        "subjects": _distinct(_subjects(found)),
        "contributors": [
            {**_person(one, found), "contributorType": _contributor_type(one)}
            for one in found.contributors
            if one.role not in {"fnd", "pbl"}
        ],
        "dates": _distinct(_dates(found.dates)),
        "language": next(iter(found.language_tags), ""),
        "alternateIdentifiers": _distinct(_alternates(identifier, doi, found)),
        "relatedIdentifiers": _distinct(_related(found.relations)),
        "relatedItems": list(_items(found.container)),
        "sizes": _distinct(one.text for one in found.formats if _is_size(one.text)),
        "formats": _distinct(one.text for one in found.formats if not _is_size(one.text)),
        "version": found.edition,
        "rightsList": _distinct(map(_rights, found.rights)),
        "descriptions": _distinct(_descriptions(found)),
        "geoLocations": _distinct(
            {"geoLocationPlace": one.text} for one in found.coverages if _is_place(one.text)
        ),
        "fundingReferences": _distinct(
            {"funderName": one.text} for one in found.contributors if one.role == "fnd"
        ),
        "schemaVersion": NAMESPACE,
    }
    kept: Document = _legible({name: value for name, value in document.items() if value})
    return kept


def _legible(value: Any) -> Any:
    """Return a value with U+FFFD for each character that XML cannot hold."""
    if isinstance(value, str):
        return legible(value)
    if isinstance(value, dict):
        return {key: _legible(one) for key, one in value.items()}
    return [_legible(one) for one in value]


def _distinct(values: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for one in values:
        if one and one not in found:
            found.append(one)
    return found


def _given(**values: str) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}


# -- required ----------------------------------------------------------------------------------


def _publisher(found: Bibliography, settings: DataciteSettings) -> dict[str, str]:
    if found.publishers:
        text, lang = found.publishers[0]
        said = _identified(found.meant(text, "publisher"), "publisherIdentifier")
        return _given(name=text, lang=_lang(lang)) | said
    grantor = found.degree.grantor
    said = _identified(found.meant(grantor, "affiliation"), "publisherIdentifier")
    return _given(name=grantor or settings.publisher) | said


def _types(types: tuple[Value, ...], usual: str) -> dict[str, str]:
    texts = [one.text for one in types]
    general = next(filter(None, map(_general, texts)), usual or ("Other" if texts else ""))
    if not general:
        return {}
    own = (one for one in texts if one.casefold() not in {general.casefold(), *STATUS})
    return {"resourceTypeGeneral": general, **_given(resourceType=next(own, ""))}


def _general(text: str) -> str:
    return WORDS.get(re.sub(r"[\W_]+", "", text.rpartition("/")[2]).casefold(), "")


def _identified(meant: ValueIdentifier | None, name: str) -> dict[str, str]:
    """Return an identifier as members; DataCite has to name its kind."""
    if meant is None or not meant.scheme:
        return {}
    return {name: meant.address, f"{name}Scheme": meant.scheme, "schemeUri": meant.scheme_address}


def _person(name: Name, said: Bibliography) -> dict[str, Any]:
    has_parts = bool(name.family and name.given)
    kind = {"person": "Personal", "organization": "Organizational"}.get(name.kind, "")
    found: dict[str, Any] = _given(
        name=f"{name.family}, {name.given}" if has_parts else name.text,
        nameType=kind or ("Personal" if has_parts else ""),
        givenName=name.given,
        familyName=name.family,
    )
    numbers = []
    if name.orcid:
        numbers.append({
            "nameIdentifier": f"https://orcid.org/{name.orcid}",
            "nameIdentifierScheme": "ORCID",
            "schemeUri": "https://orcid.org",
        })  # fmt: skip
    if name.meant and name.meant.scheme != "ORCID":
        numbers.append(_identified(name.meant, "nameIdentifier"))
    if numbers := _distinct(numbers):
        found["nameIdentifiers"] = numbers
    if name.affiliations:
        found["affiliation"] = _distinct(
            {"name": one} | _identified(said.meant(one, "affiliation"), "affiliationIdentifier")
            for one in name.affiliations
        )
    return found


def _titles(found: Bibliography) -> Iterator[dict[str, str]]:
    main = _lang(found.title.lang)
    yield _given(title=found.title.text, lang=main)
    for text, lang in found.alternatives:
        own = _lang(lang)
        is_translation = main and own and main != own
        kind = "TranslatedTitle" if is_translation else "AlternativeTitle"
        yield _given(title=text, titleType=kind, lang=own)


# -- the rest ----------------------------------------------------------------------------------


def _lang(lang: str) -> str:
    return language_tag(lang)


def _contributor_type(name: Name) -> str:
    if name.role_text in CONTRIBUTOR_TYPES:
        return name.role_text
    return CONTRIBUTORS.get(name.role, "Other")


def _subjects(found: Bibliography) -> Iterator[dict[str, str]]:
    places = (one for one in found.coverages if not _is_place(one.text))
    for text, lang in (*found.subjects, *places):
        yield _given(subject=text, lang=_lang(lang)) | _meaning(found.meant(text, "subject"))


def _meaning(meant: ValueIdentifier | None) -> dict[str, str]:
    if meant is None or not meant.address:
        return {}
    scheme = _given(subjectScheme=meant.scheme, schemeUri=meant.scheme_address)
    return scheme | {"valueUri": meant.address}


def _is_place(text: str) -> bool:
    """Whether a coverage is a place: one with a number is a time or coordinates."""
    return not any(one.isdigit() for one in text)


def _dates(dates: Iterable[Dated]) -> Iterator[dict[str, str]]:
    for one in dates:
        match = _RANGE.fullmatch(one.text)
        is_range = match is not None and all(map(_is_date, match.groups()))
        text = one.text if is_range else one.w3c
        if text:
            kind = DATE_TYPES.get(one.kind, "Issued" if not one.kind else "Other")
            yield {"date": text, "dateType": kind}


def _is_date(text: str) -> bool:
    return Dated("", text).w3c == text


def _alternates(identifier: str, doi: str, found: Bibliography) -> Iterator[dict[str, str]]:
    for one in found.identifiers:
        if one.kind != "citation" and one.text != doi:
            kind = one.said if one.kind == "other" and one.said else _scheme(one)
            yield {"alternateIdentifier": one.text, "alternateIdentifierType": kind}
    yield {"alternateIdentifier": identifier, "alternateIdentifierType": "oai"}


def _scheme(one: Identifier) -> str:
    return SCHEMES.get(one.kind, "PMCID" if one.kind == "pmcid" else "Other")


def _related(relations: Iterable[Relation]) -> Iterator[dict[str, str]]:
    """Yield the relations that DataCite has a word for, to what it has a scheme for."""
    for one in relations:
        kind = RENAMED.get(one.kind, one.kind)
        scheme = SCHEMES.get(one.identifier.kind) if one.identifier else None
        if one.identifier and scheme and kind in RELATIONS:
            yield {
                "relatedIdentifier": one.identifier.text,
                "relatedIdentifierType": scheme,
                "relationType": kind,
            }


def _items(place: HostItem) -> Iterator[dict[str, Any]]:
    if not place.title:
        return
    kind = "Journal" if place.issn or not place.isbn else "Book"
    item: dict[str, Any] = {
        "relationType": "IsPublishedIn",
        "relatedItemType": kind,
        "titles": [{"title": place.title}],
    }
    scheme, number = ("ISSN", place.issn) if place.issn else ("ISBN", place.isbn)
    if number:
        item["relatedItemIdentifier"] = {
            "relatedItemIdentifier": number,
            "relatedItemIdentifierType": scheme,
        }
    yield item | _given(
        volume=place.volume, issue=place.issue, firstPage=place.first_page, lastPage=place.last_page
    )


def _is_size(text: str) -> bool:
    return text[:1].isdigit() and not _MIME.fullmatch(text)


def _rights(one: Rights) -> dict[str, str]:
    found = _given(rights=one.text, rightsUri=one.uri if _ADDRESS.fullmatch(one.uri) else "")
    if not found:
        return _given(rights=one.uri)
    if one.text and one.lang:
        found |= _given(lang=_lang(one.lang))
    if match := _SPDX.fullmatch(one.uri):
        name = "cc0" if match[3] else f"cc-{match[2]}"
        found |= {
            "rightsIdentifier": f"{name}-{match[4]}".upper(),
            "rightsIdentifierScheme": "SPDX",
            "schemeUri": "https://spdx.org/licenses/",
        }
    return found


def _descriptions(found: Bibliography) -> Iterator[dict[str, str]]:
    for kind, values in (("Abstract", found.abstracts), ("Other", found.notes)):
        for text, lang in values:
            yield _given(description=text, descriptionType=kind, lang=_lang(lang))
    for text in found.identified("citation"):
        yield {"description": text, "descriptionType": "Other"}
