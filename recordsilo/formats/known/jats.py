"""JATS, the front matter of articles: the formats ``pmc`` and ``pmc_fm`` of PubMed Central.

Source: JATS Journal Archiving and Interchange Tag Set, ``<article-meta>`` and
``<journal-meta>``. Elements are matched by local name, because repositories declare
different namespaces, or none.
"""

from lxml import etree

from recordsilo.formats.collect import Collector, language_of, local_name, text_of, within
from recordsilo.formats.documents import OAI_NAMESPACES
from recordsilo.formats.format import Format, Root
from recordsilo.formats.values import Description, doi_address


def read(root: etree._Element) -> Description:
    """Describe an article by its front matter."""
    found = Collector()
    meta = next(within(root, "article-meta"), None)
    if meta is None:
        return found.description()
    _titles(found, meta)
    _people(found, meta)
    _identifiers(found, meta)
    for name, field in (
        ("kwd", "subjects"),
        ("subject", "subjects"),
        ("abstract", "descriptions"),
        ("trans-abstract", "descriptions"),
        ("license-p", "rights"),
        ("copyright-statement", "rights"),
    ):
        for element in within(meta, name):
            found.add_element(field, element)
    for element in within(meta, "pub-date"):
        found.add("dates", _date(element))
    for element in within(root, "journal-title"):
        found.add_element("sources", element)
    for element in within(root, "publisher-name"):
        found.add_element("publishers", element)
    found.add("types", root.get("article-type", ""))
    found.add("languages", language_of(root))
    return found.description()


def _titles(found: Collector, meta: etree._Element) -> None:
    for group in within(meta, "title-group"):
        for name in ("article-title", "trans-title"):
            for element in within(group, name):
                found.add_element("titles", element)


def _people(found: Collector, meta: etree._Element) -> None:
    for person in within(meta, "contrib"):
        role = person.get("contrib-type", "author")
        field = "creators" if role == "author" else "contributors"
        names = [*within(person, "name"), *within(person, "string-name")]
        for name in names or list(within(person, "collab")):
            found.add(field, _name(name))


def _name(element: etree._Element) -> str:
    surname = next((text_of(part) for part in within(element, "surname")), "")
    given = next((text_of(part) for part in within(element, "given-names")), "")
    if not surname:
        return text_of(element)
    return f"{surname}, {given}" if given else surname


def _identifiers(found: Collector, meta: etree._Element) -> None:
    for element in within(meta, "article-id"):
        text = text_of(element).strip()
        if element.get("pub-id-type") == "doi":
            text = doi_address(text)
        found.add("identifiers", text)


def _date(element: etree._Element) -> str:
    parts = {local_name(part): text_of(part).strip() for part in element if part.tag}
    year = parts.get("year", "")
    rest = [parts[key].zfill(2) for key in ("month", "day") if parts.get(key, "").isdigit()]
    return "-".join([year, *rest]) if year else ""


JATS = Format(
    name="JATS",
    version=1,
    roots=(
        Root(
            "article",
            ("", OAI_NAMESPACES, "http://dtd.nlm.nih.gov/", "https://jats.nlm.nih.gov/",
             "http://jats.nlm.nih.gov/"),
        ),
    ),
    prefixes=("pmc", "pmc_fm", "jats", "nlm"),
    preference=5,
    read=read,
    link_prefixes={"": "jats"},
    names={},
)  # fmt: skip
FORMATS = (JATS,)
