"""Faults of XML: 33 to 49 (OAI-PMH 2.0, section 3.2; XML 1.0)."""

import re

from misbehaving.faults import POISONED, fault, no_list_size
from misbehaving.faults_of_tokens import list_ends_after_two_pages
from misbehaving.repository import DC_NAMESPACES, Repository, changed, identifier, sample_items


def _titles(repository: Repository, change, *numbers: int) -> None:
    """Change the titles of some records, or of all, as they stand in the XML."""

    @changed(repository, "title")
    def title(step, item):
        text = step(item)
        return change(text) if not numbers or item.number in numbers else text


def _broken(repository: Repository, change) -> None:
    """Change the metadata of one record as it stands in the XML."""

    @changed(repository, "metadata")
    def metadata(step, item):
        return change(step(item)) if item.number == POISONED else step(item)


def _in_all(repository: Repository, change) -> None:
    """Change the text of all answers."""

    @changed(repository, "encoded")
    def encoded(step, text):
        return step(change(text))


def _with_titles(ending: str, *numbers: int) -> dict[str, str]:
    return {i.identifier: i.title + ending for i in sample_items() if i.number in numbers}


@fault(34)
def control_characters(repository: Repository) -> None:
    """34: vertical tabs, substitutes and zero bytes within titles."""
    _titles(
        repository, lambda text: text.replace("Sm", "S\x0b\x1am").replace("na", "n\x03\0a"), 3, 24
    )


@fault(35, titles=_with_titles(" 𝐀", 5, 23))
def references_to_no_characters(repository: Repository) -> None:
    """35: references to control characters, to U+FFFE, and to a pair of surrogates."""
    _titles(repository, lambda text: f"&#11;&#0;{text}&#xFFFE; &#55349;&#56320;&#x1F;", 5, 23)


@fault(35)
def references_to_half_a_pair(repository: Repository) -> None:
    """35: a reference to one surrogate alone."""
    _titles(repository, lambda text: f"{text}&#55349;", 5, 23)


@fault(36)
def bare_ampersands(repository: Repository) -> None:
    """36: & is not escaped."""
    _titles(repository, lambda text: text.replace("&amp;", "&"))


@fault(36)
def bare_less_than_signs(repository: Repository) -> None:
    """36: < is not escaped, in a few records, nor is &."""
    _titles(repository, lambda text: text.replace("&lt;", "<").replace("&amp;", "&"), 4, 22, 51)


@fault(37)
def windows_1252_throughout(repository: Repository) -> None:
    """37: the answer is in Windows-1252, and says it is in UTF-8."""

    @changed(repository, "encoded")
    def encoded(step, text):
        return text.encode("cp1252", "xmlcharrefreplace")


@fault(37)
def windows_1252_in_places(repository: Repository) -> None:
    """37: a few records are in Windows-1252, in an answer in UTF-8."""

    @changed(repository, "encoded")
    def encoded(step, text):
        parts = re.split(r"(?=<record>)|(?<=</record>)", text)
        return b"".join(
            part.encode("cp1252" if re.search(r":00[135]4<", part) else "utf-8") for part in parts
        )


@fault(37)
def declared_latin_1_sent_utf_8(repository: Repository) -> None:
    """37: the answer says ISO-8859-1 and is in UTF-8."""
    _in_all(repository, lambda text: text.replace('encoding="UTF-8"', 'encoding="ISO-8859-1"'))


@fault(37)
def declared_and_sent_latin_1(repository: Repository) -> None:
    """37: the answer is in ISO-8859-1 and says so; section 3.2 wants UTF-8."""

    @changed(repository, "encoded")
    def encoded(step, text):
        declared = text.replace('encoding="UTF-8"', 'encoding="ISO-8859-1"')
        return declared.encode("latin-1", "xmlcharrefreplace")


@fault(37)
def declared_utf_16_sent_utf_8(repository: Repository) -> None:
    """37: the answer says UTF-16 and is in UTF-8."""
    _in_all(repository, lambda text: text.replace('encoding="UTF-8"', 'encoding="utf-16"'))


@fault(38)
def html_entities(repository: Repository) -> None:
    """38: entities of HTML, which nothing declares."""
    names = {"é": "&eacute;", "–": "&ndash;", "€": "&euro;", "ï": "&iuml;"}
    _titles(repository, lambda text: re.sub("[é–€ï]", lambda found: names[found[0]], text))


@fault(39)
def declarations_in_records(repository: Repository) -> None:
    """39: an XML declaration begins the metadata of every record (Dataverse)."""

    @changed(repository, "metadata")
    def metadata(step, item):
        return f"<?xml version='1.0' encoding='UTF-8'?>\n{step(item)}"


@fault(40, lost=[POISONED])
def crossed_tags_in_a_record(repository: Repository) -> None:
    """40: in one record, elements end in the wrong order."""
    _broken(
        repository,
        lambda xml: xml.replace("</dc:title>", "").replace(
            "</dc:creator>", "</dc:creator></dc:titel>"
        ),
    )


@fault(40, lost=[POISONED])
def an_attribute_cut_short(repository: Repository) -> None:
    """40: in one record, the quotes of an attribute do not end (Dataverse)."""
    _broken(repository, lambda xml: xml.replace("<dc:creator>", '<dc:creator xml:lang="en>'))


@fault(40, lost=[POISONED])
def a_record_cut_short(repository: Repository) -> None:
    """40: one record ends in the middle of a title, and the next begins."""

    @changed(repository, "record")
    def record(step, item):
        text = step(item)
        return text[: text.index("Smith")] if item.number == POISONED else text


@fault(41, titles=_with_titles(" ]]> b", 5, 23))
def cdata_ends_in_text(repository: Repository) -> None:
    """41: ]]> as text."""
    _titles(repository, lambda text: f"{text} ]]> b", 5, 23)


@fault(41)
def a_doctype_in_a_record(repository: Repository) -> None:
    """41: a document type, harmless but out of place."""
    _broken(repository, lambda xml: f'<!DOCTYPE oai_dc PUBLIC "-//X//Y" "http://x.example/">{xml}')


def _document_type(repository: Repository, declarations: str, reference: str) -> None:
    _in_all(
        repository,
        lambda text: text.replace("?>", f"?>\n<!DOCTYPE OAI-PMH [{declarations}]>", 1),
    )
    _titles(repository, lambda text: f"{text} {reference}", POISONED)


@fault(41, lost=[POISONED])
def a_file_as_an_entity(repository: Repository) -> None:
    """41: one record wants a file of ours to be read into it."""
    _document_type(repository, '<!ENTITY theft SYSTEM "file:///etc/hostname">', "&theft;")


@fault(41, lost=[POISONED])
def an_entity_bomb(repository: Repository) -> None:
    """41: one record would be gigabytes, were its entities replaced."""
    steps = "".join(f'<!ENTITY b{n} "{f"&b{n - 1};" * 10}">' for n in range(1, 12))
    _document_type(repository, f'<!ENTITY b0 "boom">{steps}', "&b11;")


@fault(42)
def blanks_before_the_declaration(repository: Repository) -> None:
    """42: a byte order mark and lines before the XML declaration."""
    _in_all(repository, lambda text: f"\ufeff\n  \n{text}")


HUGE = "full text " * (11 * 1024 * 1024 // 10)


@fault(43)
def a_huge_text(repository: Repository) -> None:
    """43: one text has 11 MB; libxml2 stops at ten unless told otherwise."""
    huge = f"<dc:description>{HUGE}</dc:description></oai_dc:dc>"
    _broken(repository, lambda xml: xml.replace("</oai_dc:dc>", huge))


@fault(43)
def deep_elements(repository: Repository) -> None:
    """43: elements 400 deep; libxml2 stops at 256 unless told otherwise."""
    deep = f"{'<dc:relation>' * 400}{'</dc:relation>' * 400}</oai_dc:dc>"
    _broken(repository, lambda xml: xml.replace("</oai_dc:dc>", deep))


@fault(44)
def prefixed_elements(repository: Repository) -> None:
    """44: the protocol's elements have the prefix oai:."""
    names = (
        "OAI-PMH|responseDate|request|error|Identify|List[A-Za-z]+|GetRecord|record|header|metadata"
        "|identifier|datestamp|setSpec|resumptionToken|set|setName|repositoryName|baseURL"
        "|protocolVersion|adminEmail|earliestDatestamp|deletedRecord|granularity|metadataFormat"
        "|metadataPrefix|schema|metadataNamespace"
    )
    repository.root_attributes = repository.root_attributes.replace("xmlns=", "xmlns:oai=")
    _in_all(repository, lambda text: re.sub(rf"<(/?)(?=(?:{names})[ >])", r"<\1oai:", text))


def _namespace(repository: Repository, attribute: str) -> None:
    own = re.compile(r' xmlns="[^"]*"')
    repository.root_attributes = own.sub(attribute, repository.root_attributes)


@fault(45)
def no_namespace(repository: Repository) -> None:
    """45: the protocol's elements are in no namespace."""
    _namespace(repository, "")


@fault(45)
def https_namespace(repository: Repository) -> None:
    """45: the namespace begins with https."""
    _namespace(repository, ' xmlns="https://www.openarchives.org/OAI/2.0/"')


@fault(45)
def namespace_of_1_1(repository: Repository) -> None:
    """45: the namespace is that of OAI-PMH 1.1."""
    _namespace(repository, ' xmlns="http://www.openarchives.org/OAI/1.1/OAI_ListRecords"')


@fault(46)
def namespaces_on_the_root(repository: Repository) -> None:
    """46: the namespaces of the metadata are declared on the root, once for all records."""
    repository.root_attributes += DC_NAMESPACES
    repository.dc_attributes = ""


@fault(46)
def xsi_missing_on_later_pages(repository: Repository) -> None:
    """46: records use xsi:, which only the first page declares (OPUS 4)."""
    repository.dc_attributes += (
        ' xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/oai_dc/ x"'
    )
    later = re.compile(' xmlns:xsi="[^"]*"')
    _in_all(repository, lambda text: text if ":0001<" in text else later.sub("", text))


@fault(47, lost=[POISONED])
def undeclared_prefix(repository: Repository) -> None:
    """47: one record has elements of a prefix that nothing declares."""
    _broken(repository, lambda xml: xml.replace("<dc:creator>", "<foo:bar>x</foo:bar><dc:creator>"))


@fault(40)
def crossed_tags_the_first_time(repository: Repository) -> None:
    """40: one record's tags are crossed the first time it is sent, and sound from then on."""
    sent: list[int] = []

    @changed(repository, "metadata")
    def metadata(step, item):
        text = step(item)
        if item.number != POISONED:
            return text
        sent.append(item.number)
        return text.replace("</dc:title>", "</dc:creator>", 1) if len(sent) == 1 else text


@fault(48)
def headers_inside_records(repository: Repository) -> None:
    """48: ListIdentifiers wraps its headers in records, with dateStamp; and it is needed."""
    list_ends_after_two_pages(repository)
    no_list_size(repository)

    @changed(repository, "entries")
    def entries(step, page):
        text = step(page)
        if page.place.verb == "ListRecords":
            return text
        wrapped = re.sub(r"<header.*?</header>", r"<record>\g<0></record>", text, flags=re.DOTALL)
        return wrapped.replace("datestamp>", "dateStamp>")


@fault(48)
def all_identifiers_the_same(repository: Repository) -> None:
    """48: every header of ListIdentifiers has the same identifier (pycsw 2.6.2)."""

    @changed(repository, "entries")
    def entries(step, page):
        text = step(page)
        if page.place.verb == "ListRecords":
            return text
        return re.sub(r"<identifier>[^<]*", f"<identifier>{identifier(1)}", text)


@fault(49)
def errors_beside_records(repository: Repository) -> None:
    """49: every page of records has error elements as well."""

    @changed(repository, "listing")
    def listing(step, place):
        return (
            '<error code="badArgument">ignored</error><error code="badVerb">likewise</error>'
            + step(place)
        )
