"""Links of metadata files: addresses and their fields."""

import pytest

from recordsilo.formats import Link, links_of


def test_dublin_core_fields_are_named_as_people_write_them_whatever_the_prefix():
    content = b"""<metadata xmlns="http://www.openarchives.org/OAI/2.0/"><o:dc
      xmlns:o="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:x="http://purl.org/dc/elements/1.1/"
      xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
      xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/oai_dc/ http://x.example/oai_dc.xsd">
      <x:identifier> http://repo.example/1/a%20b.pdf
      </x:identifier>
      <x:identifier>http://repo.example/1/a%20b.pdf</x:identifier>
      <x:identifier>Adeyemi (2024) See http://repo.example/1.</x:identifier>
      <x:identifier>doi:10.1234/5</x:identifier>
      <x:relation>HTTPS://Repo.example/1/</x:relation></o:dc></metadata>"""
    assert links_of("oai_dc", content) == (
        Link("http://repo.example/1/a%20b.pdf", "dc:identifier"),
        Link("HTTPS://Repo.example/1/", "dc:relation"),
    )


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            (
                '<eprints xmlns="http://eprints.org/ep2/data/2.0"><eprint><documents><document><files>'
                "<file><filename>a.pdf</filename><mime_type>application/pdf</mime_type>"
                "<url>http://r.example/1/a.pdf</url></file></files></document></documents>"
                "<official_url>http://journal.example/a</official_url></eprint></eprints>"
            ),
            [
                Link("http://r.example/1/a.pdf", "eprints:file", "application/pdf"),
                Link("http://journal.example/a", "eprints:official_url"),
            ],
        ),
        (
            (
                '<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><self-uri'
                ' content-type="application/pdf" xlink:href="http://r.example/a.pdf"/>'
                '<ext-link ext-link-type="uri" xlink:href="http://other.example/">here</ext-link>'
                '<graphic xlink:href="local.png"/></front></article>'
            ),
            [
                Link("http://r.example/a.pdf", "jats:self-uri", "application/pdf"),
                Link("http://other.example/", "jats:ext-link"),
            ],
        ),
        (
            (
                '<mets xmlns="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink">'
                '<file MIMETYPE="image/png"><FLocat xlink:href="http://r.example/1.png"/></file></mets>'
            ),
            [Link("http://r.example/1.png", "mets:FLocat", "image/png")],
        ),
        (
            (
                '<m:record xmlns:m="http://www.loc.gov/MARC21/slim"><m:datafield tag="856">'
                '<m:subfield code="u">http://r.example/1.pdf</m:subfield></m:datafield></m:record>'
            ),
            [Link("http://r.example/1.pdf", "marc:856u")],
        ),
        (
            (
                '<entry xmlns="http://www.w3.org/2005/Atom"><link type="application/pdf"'
                ' rel="http://www.openarchives.org/ore/terms/aggregates" href="http://r.example/1.pdf"/>'
                "</entry>"
            ),
            [Link("http://r.example/1.pdf", "atom:link:aggregates", "application/pdf")],
        ),
        (
            (
                '<d:DIDL xmlns:d="urn:mpeg:mpeg21:2002:02-DIDL-NS">'
                '<d:Resource mimeType="application/pdf" ref="http://r.example/1.pdf"/></d:DIDL>'
            ),
            [Link("http://r.example/1.pdf", "didl:Resource", "application/pdf")],
        ),
        (
            (
                '<metadata xmlns="http://www.lyncode.com/xoai"><element name="dc">'
                '<element name="relation"><element name="uri"><element name="en">'
                '<field name="value">http://r.example/2</field></element></element></element>'
                '</element><element name="bundles"><element name="bundle"><field name="name">TEXT'
                '</field><element name="bitstreams"><element name="bitstream"><field name="url">'
                "http://r.example/1.txt</field></element></element></element></element></metadata>"
            ),
            [
                Link("http://r.example/2", "xoai:dc.relation.uri"),
                Link("http://r.example/1.txt", "xoai:bundle:TEXT"),
            ],
        ),
        ("<thing><where>http://r.example/x</where></thing>", [Link("http://r.example/x", "where")]),
    ],
)
def test_each_format_names_its_links(document, expected):
    assert list(links_of("any", document.encode())) == expected


@pytest.mark.parametrize("content", [b"", b"<a", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"])
def test_what_is_no_document_leads_nowhere(content):
    assert links_of("oai_dc", content) == ()


def test_about_containers_lead_nowhere():
    assert links_of("oai_dc.about", b"<baseURL>http://r.example/oai</baseURL>") == ()
