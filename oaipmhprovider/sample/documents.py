"""Write a sample work in its metadata formats, as EPrints writes them.

Written as text, not as trees, so that a hundred documents take a few milliseconds.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from urllib.parse import quote

from oaipmhprotocol import MetadataFormat
from oaipmhprotocol.words import (
    DC_NAMESPACE,
    OAI_DC_NAMESPACE,
    OAI_DC_SCHEMA,
    XSI_NAMESPACE,
)
from oaipmhprovider.answers import escape, escape_attribute
from oaipmhprovider.sample.compose import LanguageText, Person, SampleWork
from oaipmhprovider.sample.vocabulary import UNIVERSITY

UKETD_NAMESPACE = "http://naca.central.cranfield.ac.uk/ethos-oai/2.0/"
UKETD_SCHEMA = "http://naca.central.cranfield.ac.uk/ethos-oai/2.0/uketd_dc.xsd"
UKETD_TERMS = "http://naca.central.cranfield.ac.uk/ethos-oai/terms/"
DCTERMS_NAMESPACE = "http://purl.org/dc/terms/"
JATS_NAMESPACE = "https://jats.nlm.nih.gov/ns/archiving/1.3/"
JATS_SCHEMA = "https://jats.nlm.nih.gov/archiving/1.3/xsd/JATS-archivearticle1-3.xsd"
PROVENANCE_NAMESPACE = "http://www.openarchives.org/OAI/2.0/provenance"
PROVENANCE_SCHEMA = "http://www.openarchives.org/OAI/2.0/provenance.xsd"
SITE = "http://eprints.example.org"

FORMATS = (
    MetadataFormat("oai_dc", OAI_DC_SCHEMA, OAI_DC_NAMESPACE),
    MetadataFormat("uketd_dc", UKETD_SCHEMA, UKETD_NAMESPACE),
    MetadataFormat("pmc_fm", JATS_SCHEMA, JATS_NAMESPACE),
)

_TYPES = {
    "article": "Article",
    "thesis": "Thesis",
    "conference_item": "Conference or Workshop Item",
    "book_section": "Book Section",
    "monograph": "Monograph",
    "book": "Book",
    "dataset": "Dataset",
}
_DEGREE_NAMES = {
    "phd": ("doctoral", "Ph.D."),
    "mphil": ("masters", "M.Phil."),
    "md": ("doctoral", "M.D."),
    "engd": ("doctoral", "Eng.D."),
}
_DC_OPENING = (
    f'<oai_dc:dc xmlns:oai_dc="{OAI_DC_NAMESPACE}" xmlns:dc="{DC_NAMESPACE}"'
    f' xmlns:xsi="{XSI_NAMESPACE}" xsi:schemaLocation="{OAI_DC_NAMESPACE} {OAI_DC_SCHEMA}">\n'
)
_UKETD_OPENING = (
    f'<uketd_dc:uketddc xmlns:uketd_dc="{UKETD_NAMESPACE}" xmlns:uketdterms="{UKETD_TERMS}"'
    f' xmlns:dc="{DC_NAMESPACE}" xmlns:dcterms="{DCTERMS_NAMESPACE}" xmlns:xsi="{XSI_NAMESPACE}"'
    f' xsi:schemaLocation="{UKETD_NAMESPACE} {UKETD_SCHEMA}">\n'
)
_JATS_OPENING = (
    f'<article xmlns="{JATS_NAMESPACE}" xmlns:xlink="http://www.w3.org/1999/xlink"'
    f' xmlns:xsi="{XSI_NAMESPACE}" xsi:schemaLocation="{JATS_NAMESPACE} {JATS_SCHEMA}"'
    ' article-type="research-article" dtd-version="1.3" xml:lang="{language}">\n<front>\n'
)


def document(work: SampleWork, prefix: str) -> bytes:
    """Return the metadata document of a work in one of its formats."""
    return _WRITERS[prefix](work).encode()


def page_of(work: SampleWork) -> str:
    """Return the address of the work's page."""
    return f"{work.site or SITE}/{work.number}/"


def file_of(work: SampleWork) -> str:
    """Return the address of the work's file."""
    name = quote(work.creators[0].family.replace(" ", "_"))
    return f"{work.site or SITE}/{work.number}/1/{name}_{work.published.year}.pdf"


def citation(work: SampleWork) -> str:
    """Return the citation that EPrints writes into dc:identifier."""
    names = " and ".join(str(person) for person in work.creators)
    text = f"{names} ({work.published.year}) {work.titles[0].content}."
    if work.journal is not None:
        text += f" {work.journal[0]}, {work.volume}. pp. {work.pages[0]}-{work.pages[1]}."
    elif work.traits.kind == "thesis":
        text += f" {_DEGREE_NAMES[work.degree][1]} thesis, {UNIVERSITY}."
    elif work.traits.kind == "conference_item":
        text += f" In: {work.discipline.names[-1].partition(' ')[2]} Workshop, {work.event}."
    else:
        text += f" {work.publisher}."
    return text


# --- oai_dc


def _oai_dc(work: SampleWork) -> str:
    return f"{_DC_OPENING}{''.join(_dublin_core(work))}</oai_dc:dc>"


def _dublin_core(work: SampleWork) -> Iterator[str]:
    if work.is_titled:
        for title in work.titles:
            yield _texted("dc:title", title)
    for person in work.creators:
        yield _element("dc:creator", str(person))
    if work.traits.kind == "thesis":
        for person in work.supervisors:
            yield _element("dc:contributor", str(person))
    yield _word("dc:subject", work.discipline.names[-1])
    for keyword in work.keywords:
        yield _word("dc:subject", keyword)
    for abstract in work.abstracts:
        yield _texted("dc:description", abstract)
    yield _word("dc:publisher", work.publisher)
    yield _element("dc:date", _date(work))
    yield _word("dc:type", work.type_as_entered or _TYPES[work.traits.kind])
    yield _word("dc:type", "NonPeerReviewed" if work.journal is None else "PeerReviewed")
    yield _word("dc:format", "application/pdf")
    yield _word("dc:language", work.language_as_entered or work.language_iso639_2)
    yield _word("dc:rights", work.rights)
    if work.is_file_linked:
        yield _element("dc:identifier", file_of(work))
    yield _element("dc:identifier", citation(work))
    if work.doi is not None:
        yield _element("dc:relation", f"https://doi.org/{work.doi}")
        yield _element("dc:identifier", f"doi:{work.doi}")
    yield _element("dc:relation", page_of(work))
    if work.further_link:
        yield _element("dc:relation", work.further_link)


def _date(work: SampleWork) -> str:
    """Return the date as entered, or to the year, the month or the day."""
    return work.date_as_entered or work.published.isoformat()[: (4, 7, 10)[work.number % 3]]


# --- uketd_dc


def _uketd_dc(work: SampleWork) -> str:
    return f"{_UKETD_OPENING}{''.join(_ethesis(work))}</uketd_dc:uketddc>"


def _ethesis(work: SampleWork) -> Iterator[str]:
    level, name = _DEGREE_NAMES[work.degree]
    yield _texted("dc:title", work.titles[0])
    for title in work.titles[1:]:
        yield _texted("dcterms:alternative", title)
    for person in work.creators:
        yield _element("dc:creator", str(person))
    for person in work.supervisors:
        yield _element("uketdterms:advisor", str(person))
    for abstract in work.abstracts:
        yield _texted("dcterms:abstract", abstract)
    yield _word("uketdterms:institution", UNIVERSITY)
    yield _word("uketdterms:department", work.discipline.school[1])
    if work.funder is not None:
        yield _element("uketdterms:sponsor", work.funder)
    yield _element("dcterms:issued", work.published.isoformat()[:7])
    yield _word("dc:type", "Thesis")
    yield _word("uketdterms:qualificationlevel", level)
    yield _word("uketdterms:qualificationname", name)
    yield _word("dc:language", work.language_iso639_2)
    yield _element("dcterms:isReferencedBy", page_of(work))
    if work.is_file_linked:
        yield _element("dc:identifier", file_of(work))
    yield _word("dc:subject", work.discipline.names[-1])
    for keyword in work.keywords:
        yield _word("dc:subject", keyword)
    yield _word("dc:rights", work.rights)


# --- pmc_fm


def _pmc_fm(work: SampleWork) -> str:
    assert work.journal is not None
    opening = _JATS_OPENING.replace("{language}", work.language)
    journal = (
        "<journal-meta>\n"
        f'<journal-id journal-id-type="publisher-id">{work.journal[1].replace("-", "")}'
        "</journal-id>\n<journal-title-group>\n"
        f"{_word('journal-title', work.journal[0])}</journal-title-group>\n"
        f'<issn pub-type="epub">{work.journal[1]}</issn>\n'
        f"<publisher>\n{_word('publisher-name', work.publisher)}</publisher>\n</journal-meta>\n"
    )
    return (
        f"{opening}{journal}<article-meta>\n{''.join(_article_meta(work))}</article-meta>\n"
        "</front>\n</article>"
    )


def _article_meta(work: SampleWork) -> Iterator[str]:
    yield f'<article-id pub-id-type="publisher-id">{work.number}</article-id>\n'
    if work.doi is not None:
        yield f'<article-id pub-id-type="doi">{escape(work.doi)}</article-id>\n'
    yield (
        '<article-categories>\n<subj-group subj-group-type="heading">\n'
        f"{_word('subject', work.discipline.names[-1])}</subj-group>\n</article-categories>\n"
    )
    yield f"<title-group>\n{_element('article-title', work.titles[0].content)}"
    for title in work.titles[1:]:
        inner = _element("trans-title", title.content)
        yield f'<trans-title-group xml:lang="{title.language}">\n{inner}</trans-title-group>\n'
    yield "</title-group>\n<contrib-group>\n"
    for person in work.creators:
        yield _contributor(person)
    yield "</contrib-group>\n"
    yield f'<pub-date pub-type="epub">\n{_word("day", str(work.published.day))}'
    yield f"{_word('month', str(work.published.month))}"
    yield f"{_word('year', str(work.published.year))}</pub-date>\n"
    yield _element("volume", str(work.volume))
    yield f"{_element('fpage', str(work.pages[0]))}{_element('lpage', str(work.pages[1]))}"
    yield f"<permissions>\n{_element('license-p', work.rights, 'license')}</permissions>\n"
    address = file_of(work) if work.is_file_linked else page_of(work)
    yield f'<self-uri xlink:href="{escape_attribute(address)}"/>\n'
    yield f"<abstract>\n{_paragraphs(work.abstracts[0])}</abstract>\n"
    yield f'<kwd-group kwd-group-type="author">\n{"".join(_keywords(work))}</kwd-group>\n'


def _contributor(person: Person) -> str:
    return (
        '<contrib contrib-type="author">\n<name>\n'
        f"{_word('surname', person.family)}{_word('given-names', person.given)}"
        "</name>\n</contrib>\n"
    )


def _keywords(work: SampleWork) -> Iterator[str]:
    return (_word("kwd", keyword) for keyword in work.keywords)


def _paragraphs(text: LanguageText) -> str:
    return "".join(_element("p", paragraph) for paragraph in text.content.split("\n\n"))


# --- about containers


def provenance(identifier: str, harvested: str, changed: str) -> bytes:
    """Return the provenance of a record that this repository harvested elsewhere.

    Source: "Implementation Guidelines for the OAI-PMH: Guidelines for Aggregators,
    Cache Providers and Proxies", section 3.
    """
    return (
        f'<provenance xmlns="{PROVENANCE_NAMESPACE}" xmlns:xsi="{XSI_NAMESPACE}"'
        f' xsi:schemaLocation="{PROVENANCE_NAMESPACE} {PROVENANCE_SCHEMA}">'
        f'<originDescription harvestDate="{harvested}" altered="false">'
        "<baseURL>http://college.example.org/oai</baseURL>"
        f"<identifier>{escape(identifier)}</identifier><datestamp>{changed}</datestamp>"
        f"<metadataNamespace>{OAI_DC_NAMESPACE}</metadataNamespace>"
        "</originDescription></provenance>"
    ).encode()


# --- elements


def _element(name: str, content: str, around: str | None = None) -> str:
    element = f"<{name}>{escape(content)}</{name}>\n"
    return element if around is None else f"<{around}>\n{element}</{around}>\n"


@lru_cache(maxsize=4096)
def _word(name: str, content: str) -> str:
    """Cached `_element`, for contents that many records share."""
    return _element(name, content)


def _texted(name: str, text: LanguageText) -> str:
    if text.language == "en":
        return _element(name, text.content)
    return f'<{name} xml:lang="{text.language}">{escape(text.content)}</{name}>\n'


_WRITERS: dict[str, Callable[[SampleWork], str]] = {
    "oai_dc": _oai_dc,
    "uketd_dc": _uketd_dc,
    "pmc_fm": _pmc_fm,
}
