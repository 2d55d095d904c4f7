"""The pages and documents of the sample repository."""

import re

import pypdfium2
import pytest
import requests

from oaipmhprovider.sample.pages import GONE_SITE, PageLayout, Trap, layout_of
from oaipmhprovider.sample.pdf import pdf_of
from oaipmhprovider.sample.repository import SampleRepository, sample_repository
from oaipmhprovider.server import SampleServer
from recordsilo.formats import links_of


@pytest.fixture
def sample() -> SampleRepository:
    found = sample_repository(40)
    found.site = "http://localhost:9"
    return found


def test_all_links_of_the_records_lead_to_the_site_or_to_nobody(sample: SampleRepository) -> None:
    for number in range(3000, 3040):
        name = f"oai:eprints.example.org:{number}"
        for one in sample.formats_of(name):
            metadata = sample.record(name, one.prefix).metadata or b""
            for link in links_of(one.prefix, metadata):
                assert link.url.startswith((f"{sample.site}/", f"{GONE_SITE}/"))


def test_every_trap_is_at_a_work_and_every_layout_is_there(sample: SampleRepository) -> None:
    works = [work for number in range(3000, 3040) if (work := sample.work(number))]
    assert {one.value for one in Trap} <= {one.number for one in works}
    assert {layout_of(one) for one in works} == set(PageLayout)


def test_a_document_has_its_pages_and_the_table_of_its_objects() -> None:
    content = pdf_of("Latin (text) \\ é", "שירה", "", title="A title")
    assert content.count(b"/Type /Page ") == 3
    assert rb"Latin \(text\) \\ " + "é".encode("cp1252") in content
    letters = "שירה".encode("utf-16-be").hex().encode()
    assert b"/Span << /ActualText <feff%s> >> BDC (shyrh) Tj EMC" % letters in content
    (table,) = re.findall(rb"startxref\n(\d+)", content)
    places = re.findall(rb"^(\d{10}) 00000 n $", content[int(table) :], re.MULTILINE)
    for number, place in enumerate(places, 1):
        assert content[int(place) :].startswith(b"%d 0 obj\n" % number)


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("שירה עברית – מחקר", "mhqr – abryt shyrh"),  # from the right, as it stands
        ("Северные морские пути", "Severnye morskie puti"),
        ("Θαλάσσια του Αιγαίου", "Thalassia tou Aigaiou"),
        ("जल संरक्षण", "jala sarakssanna"),
        ("儿童阅读", "[Chinese characters]"),
        ("XVIIIᵉ siècle", "XVIIIe siècle"),
    ],
)
def test_titles_in_all_scripts_are_shown_in_latin_letters_and_read_as_they_are(
    title: str, shown: str
) -> None:
    content = pdf_of(title)
    words = re.findall(rb"\((.*?)\) Tj", content)
    assert b"".join(words).decode("cp1252") == shown
    (page,) = pypdfium2.PdfDocument(content)
    assert page.get_textpage().get_text_bounded() == title


def test_the_pages_are_served_beside_the_repository() -> None:
    with SampleServer(size=40, with_pages=True) as server:
        found = requests.get(f"{server.site_url}/3002/", timeout=10)
        place = re.findall("<(/[^>]+)>", found.headers["Link"])[0]
        document = requests.get(server.site_url + place, timeout=10)
        assert document.content.startswith(b"%PDF")
        assert requests.get(f"{server.site_url}/nope", timeout=10).status_code == 404
        asked = {"verb": "Identify"}
        assert "with Documents" in requests.get(server.base_url, asked, timeout=10).text
