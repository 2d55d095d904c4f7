"""MODS 3, in which libraries describe books, articles and digital objects.

Only the object itself is described; titles and names in a related item belong to that item.

Source: MODS 3.8 (Library of Congress); the mapping follows the "MODS to Dublin Core
Metadata Element Set Mapping" of the Library of Congress.
"""

from collections.abc import Callable, Mapping

from lxml import etree

from recordsilo.formats.collect import (
    Collector,
    children_of,
    first_text,
    language_of,
    local_name,
    text_of,
)
from recordsilo.formats.format import Format, Root
from recordsilo.formats.values import Description, doi_address

_Reader = Callable[[Collector, etree._Element], None]
_CREATORS = frozenset({"", "aut", "author", "cre", "creator"})
"""Roles (MARC relators) of names that are creators; a name without a role is one too."""
_DATES = ("dateIssued", "copyrightDate", "dateCreated", "dateValid", "dateCaptured", "dateOther")
"""The date elements, the best evidence of publication first."""
_RELATED_AS_SOURCE = frozenset({"original"})


def read(root: etree._Element) -> Description:
    """Describe a ``<mods>`` document, or the first in a ``<modsCollection>``."""
    if local_name(root) == "modsCollection":
        root = next(children_of(root, "mods"), root)
    found = Collector()
    _titles(found, root)
    for element in root.iterchildren(etree.Element):
        if reader := _READERS.get(local_name(element)):
            reader(found, element)
    return found.description()


def _lang(element: etree._Element) -> str:
    return element.get("lang") or language_of(element)


def _titles(found: Collector, root: etree._Element) -> None:
    titles = list(children_of(root, "titleInfo"))
    titles.sort(key=lambda one: one.get("type") is not None)  # the main title has no type
    for title in titles:
        found.add("titles", _title(title), _lang(title))


def _title(element: etree._Element) -> str:
    title = " ".join(filter(None, [first_text(element, "nonSort"), first_text(element, "title")]))
    if subtitle := first_text(element, "subTitle"):
        title = f"{title}: {subtitle}"
    parts = [first_text(element, name) for name in ("partNumber", "partName")]
    return ". ".join(filter(None, [title, *parts]))


def _name(found: Collector, element: etree._Element) -> None:
    roles = {
        text_of(term).strip().rstrip(".").lower()
        for role in children_of(element, "role")
        for term in children_of(role, "roleTerm")
    } or {""}
    field = "contributors" if roles.isdisjoint(_CREATORS) else "creators"
    found.add(field, name_text(element))


def name_text(element: etree._Element) -> str:
    """The name of a ``<name>``, as ``Family, Given``."""
    parts: dict[str, list[str]] = {}
    for part in children_of(element, "namePart"):
        parts.setdefault(part.get("type", ""), []).append(" ".join(text_of(part).split()))
    given = " ".join(parts.get("given", ()))
    family = " ".join(parts.get("family", ()))
    if family or given:
        return ", ".join(filter(None, [family, given]))
    return ", ".join(parts.get("", ())) or first_text(element, "displayForm")


def _subject(found: Collector, element: etree._Element) -> None:
    for part in element.iterchildren(etree.Element):
        name = local_name(part)
        if name == "name":
            found.add("subjects", name_text(part))
        elif name == "titleInfo":
            found.add("subjects", _title(part))
        elif name in {"geographic", "temporal", "geographicCode"}:
            found.add("coverages", text_of(part), _lang(part))
        elif name == "hierarchicalGeographic":
            places = [" ".join(text_of(one).split()) for one in part.iterchildren(etree.Element)]
            found.add("coverages", "--".join(filter(None, places)))
        elif name == "cartographics":
            found.add("coverages", first_text(part, "coordinates"))
        elif name in {"topic", "occupation", "genre"}:
            found.add("subjects", text_of(part), _lang(part))


def _origin(found: Collector, element: etree._Element) -> None:
    for publisher in children_of(element, "publisher"):
        found.add("publishers", text_of(publisher), _lang(publisher))
    for agent in children_of(element, "agent"):
        found.add("publishers", name_text(agent))
    for name in _DATES:
        dates = list(children_of(element, name))
        points = {date.get("point"): " ".join(text_of(date).split()) for date in dates}
        if "start" in points and "end" in points:
            found.add("dates", f"{points['start']}/{points['end']}")
            continue
        for date in dates:
            found.add("dates", text_of(date))


def _language(found: Collector, element: etree._Element) -> None:
    terms = list(children_of(element, "languageTerm"))
    codes = [term for term in terms if term.get("type") == "code"]
    for term in codes or terms:
        found.add("languages", text_of(term))


def _physical(found: Collector, element: etree._Element) -> None:
    for part in children_of(element, "internetMediaType", "extent", "form"):
        found.add("formats", text_of(part))


def _identifier(found: Collector, element: etree._Element) -> None:
    if element.get("invalid") == "yes":
        return
    text = " ".join(text_of(element).split())
    found.add("identifiers", doi_address(text) if element.get("type") == "doi" else text)


def _location(found: Collector, element: etree._Element) -> None:
    for url in children_of(element, "url"):
        found.add("identifiers", text_of(url))


def _related(found: Collector, element: etree._Element) -> None:
    field = "sources" if element.get("type") in _RELATED_AS_SOURCE else "relations"
    for title in children_of(element, "titleInfo"):
        found.add(field, _title(title))
    for identifier in children_of(element, "identifier"):
        text = " ".join(text_of(identifier).split())
        found.add(field, doi_address(text) if identifier.get("type") == "doi" else text)
    for location in children_of(element, "location"):
        for url in children_of(location, "url"):
            found.add(field, text_of(url))


def _text(field: str) -> _Reader:
    """A reader that adds the whole text of an element to a field."""

    def add(found: Collector, element: etree._Element) -> None:
        found.add(field, text_of(element), _lang(element))

    return add


_READERS: Mapping[str, _Reader] = {
    "name": _name,
    "subject": _subject,
    "originInfo": _origin,
    "language": _language,
    "physicalDescription": _physical,
    "identifier": _identifier,
    "location": _location,
    "relatedItem": _related,
    "abstract": _text("descriptions"),
    "tableOfContents": _text("descriptions"),
    "note": _text("descriptions"),
    "typeOfResource": _text("types"),
    "genre": _text("types"),
    "classification": _text("subjects"),
    "accessCondition": _text("rights"),
}
"""Local name of an element in ``<mods>`` → its reader."""

_NAMESPACE = "http://www.loc.gov/mods/"
MODS = Format(
    name="MODS",
    version=1,
    roots=(Root("mods", (_NAMESPACE,)), Root("modsCollection", (_NAMESPACE,))),
    prefixes=("mods", "mods_full", "oai_mods"),
    preference=2,
    read=read,
    link_prefixes={"http://www.loc.gov/mods/v3": "mods"},
    names={
        "": (
            "abstract", "accessCondition", "classification", "genre", "identifier", "note",
            "tableOfContents", "targetAudience", "typeOfResource",
        ),
    },
)  # fmt: skip
FORMATS = (MODS,)
