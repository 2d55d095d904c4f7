"""Crosswalks of version 2: several formats, tables of values, conditions, languages, files."""

import pytest
from fedora_support import metadata
from rdflib import Literal, URIRef
from rdflib.namespace import DC, DCTERMS

from siloexport.crosswalk import Crosswalk, CrosswalkError

SUBJECT = URIRef("http://f.example/rest/x")
TERMS = "http://naca.central.cranfield.ac.uk/ethos-oai/terms/"
THESIS = (
    b"<uketd_dc:uketddc xmlns:uketd_dc='http://naca.central.cranfield.ac.uk/ethos-oai/2.0/' "
    b"xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:uketdterms='http://naca.central.cranfield."
    b"ac.uk/ethos-oai/terms/'><dc:title>Other</dc:title><uketdterms:advisor>Adeyemi, T."
    b"</uketdterms:advisor><uketdterms:department>History</uketdterms:department>"
    b"<uketdterms:qualificationname>PhD</uketdterms:qualificationname></uketd_dc:uketddc>"
)
TOP = """
name = "mine"
version = 2
[prefixes]
dc = "http://purl.org/dc/elements/1.1/"
dcterms = "http://purl.org/dc/terms/"
oai_dc = "http://www.openarchives.org/OAI/2.0/oai_dc/"
pcdmuse = "http://pcdm.org/use#"
schema = "http://schema.org/"
[values.types]
Thesis = "http://schema.org/Thesis"
"""


def pairs(crosswalk: Crosswalk, **files: bytes) -> list[tuple[URIRef, URIRef | Literal]]:
    return [(to, term) for _, to, term in crosswalk.statements(files, SUBJECT)]


def of(fields: str, *elements: str, top: str = "") -> list[tuple[URIRef, URIRef | Literal]]:
    crosswalk = Crosswalk.parse(f'{top}{TOP}[[format]]\nroot = "oai_dc:dc"\nfields = [{fields}]')
    return pairs(crosswalk, oai_dc=metadata(*elements))


def test_texts_are_under_dc_and_links_under_dcterms() -> None:
    found = pairs(
        Crosswalk.default(),
        oai_dc=metadata(
            "<dc:title>One</dc:title>", "<dc:creator>Adeyemi, T.</dc:creator>",
            "<dc:creator>https://orcid.org/0000-0002-1825-0097</dc:creator>",
            "<dc:rights>cc_by_4</dc:rights>", "<dc:rights>All rights reserved</dc:rights>",
            "<dc:type>Dataset</dc:type>", "<dc:type>Article</dc:type>",
            "<dc:language>German</dc:language>", "<dc:language>deu</dc:language>",
        ),
    )  # fmt: skip
    assert found == [
        (DCTERMS.title, Literal("One")),
        (DC.creator, Literal("Adeyemi, T.")),
        (DCTERMS.creator, URIRef("https://orcid.org/0000-0002-1825-0097")),
        (DCTERMS.type, URIRef("http://purl.org/dc/dcmitype/Dataset")),
        (DC.type, Literal("Article")),
        (DC.language, Literal("de", datatype=DCTERMS.RFC5646)),
        (DCTERMS.rights, URIRef("https://creativecommons.org/licenses/by/4.0/")),
        (DC.rights, Literal("All rights reserved")),
    ]


def test_formats_that_are_described_as_on_the_page_follow_the_same_rule() -> None:
    article = (
        b"<article><front><article-meta><title-group><article-title>A title</article-title>"
        b"</title-group><contrib-group><contrib contrib-type='author'><name><surname>Adeyemi"
        b"</surname></name></contrib></contrib-group></article-meta></front></article>"
    )
    assert pairs(Crosswalk.default(), jats=article) == [
        (DCTERMS.title, Literal("A title")),
        (DC.creator, Literal("Adeyemi")),
    ]


def test_a_citation_among_the_identifiers_is_one() -> None:
    citation = "Adeyemi, Tunde (2014) On the archives of the sea. Wexcombe University Press."
    found = pairs(
        Crosswalk.default(),
        oai_dc=metadata(
            f"<dc:identifier>{citation}</dc:identifier>",
            "<dc:identifier>ISBN 3 16 148410 0</dc:identifier>",
        ),
    )
    assert found == [
        (DCTERMS.identifier, Literal("ISBN 3 16 148410 0")),
        (DCTERMS.bibliographicCitation, Literal(citation)),
    ]


def test_what_a_second_format_has_is_added_and_what_both_have_comes_from_the_first() -> None:
    found = pairs(Crosswalk.default(), uketd_dc=THESIS, oai_dc=metadata("<dc:title>One</dc:title>"))
    assert found == [
        (DCTERMS.title, Literal("One")),
        (URIRef(f"{TERMS}advisor"), Literal("Adeyemi, T.")),
        (URIRef(f"{TERMS}department"), Literal("History")),
        (URIRef(f"{TERMS}qualificationname"), Literal("PhD")),
    ]


TWO = """
[[format]]
root = "oai_dc:dc"
fields = [{ from = "dc:title", to = "schema:name" }]
[[format]]
root = "thing"
fields = [
    { from = "name", to = "schema:name" },
    { from = "also", to = "schema:name", merge = "union" },
]
"""


@pytest.mark.parametrize(
    ("merge", "names"),
    [
        ("", ["One", "Three"]),
        ('merge = "first"', ["One", "Three"]),
        ('merge = "union"', ["One", "Two", "Three"]),
        ('merge = "format"', ["One"]),
    ],
)
def test_values_are_merged_as_the_file_says(merge: str, names: list[str]) -> None:
    thing = b"<thing><name>Two</name><also>Three</also></thing>"
    crosswalk = Crosswalk.parse(f"{merge}{TOP}{TWO}")
    found = pairs(crosswalk, oai_dc=metadata("<dc:title>One</dc:title>"), thing=thing)
    assert [str(term) for _, term in found] == names


def test_values_are_split_and_looked_up_whatever_the_case() -> None:
    field = '{ from = "dc:type", to = "dc:type", to_uri = "dcterms:type", as = "uri", '
    field += 'split = ";", values = "types" }'
    assert of(field, "<dc:type>thesis ; Book;</dc:type>") == [
        (DCTERMS.type, URIRef("http://schema.org/Thesis")),
        (DC.type, Literal("Book")),
    ]
    dropping = field.replace("}", ', unlisted = "drop" }')
    assert of(dropping, "<dc:type>Thesis;Book</dc:type>") == [
        (DCTERMS.type, URIRef("http://schema.org/Thesis"))
    ]
    table = '{ from = "dc:language", to = "dc:language", values = { deu = "de" } }'
    assert of(table, "<dc:language>deu</dc:language>") == [(DC.language, Literal("de"))]


def test_a_default_language_is_that_of_texts_without_one() -> None:
    title = '{ from = "dc:title", to = "dcterms:title" }, '
    found = of(
        title + '{ from = "dc:subject", to = "dc:subject", language = "de" }',
        '<dc:title>One</dc:title><dc:title xml:lang="fr">Un</dc:title>',
        "<dc:subject>Kunst</dc:subject>",
        top='language = "en"\n',
    )
    assert found == [
        (DCTERMS.title, Literal("One", lang="en")),
        (DCTERMS.title, Literal("Un", lang="fr")),
        (DC.subject, Literal("Kunst", lang="de")),
    ]


def test_constants_and_conditions() -> None:
    field = '{ value = "schema-thesis", to = "dc:type", if = "dc:type = \'Thesis\'" }'
    assert of(field, "<dc:type>Thesis</dc:type>") == [(DC.type, Literal("schema-thesis"))]
    assert of(field, "<dc:type>Article</dc:type>") == []
    link = '{ value = "http://schema.org/Thing", to = "dc:type", to_uri = "dcterms:type",'
    assert of(f'{link} as = "uri" }}') == [(DCTERMS.type, URIRef("http://schema.org/Thing"))]


def test_a_format_with_a_condition_leaves_the_document_to_the_next() -> None:
    crosswalk = Crosswalk.parse(f"""{TOP}
[[format]]
root = "oai_dc:dc"
if = "dc:type"
fields = [{{ from = "dc:type", to = "dc:type" }}]
[[format]]
root = "oai_dc:dc"
fields = [{{ from = "dc:title", to = "dcterms:title" }}]
""")
    one, two = metadata("<dc:title>One</dc:title>"), metadata("<dc:type>Book</dc:type>")
    assert pairs(crosswalk, oai_dc=one) == [(DCTERMS.title, Literal("One"))]
    assert pairs(crosswalk, oai_dc=two) == [(DC.type, Literal("Book"))]


def test_files_have_titles_and_uses_by_their_names() -> None:
    crosswalk = Crosswalk.parse(f"""{TOP}{TWO}
[[file]]
name = "*.PDF"
title = "Full text"
language = "en"
use = ["pcdmuse:OriginalFile", "http://pcdm.org/use#ServiceFile"]
""")
    rule = crosswalk.file_rule("docs/a.pdf")
    assert (rule.title, rule.language, len(rule.uses)) == ("Full text", "en", 2)
    assert crosswalk.file_rule("a.txt").title == ""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('merge = "union"', 'merge = "all"', 'has merge = "all"; there are'),
        ('merge = "union"', 'values = "kinds"', "no [values.kinds]; there are types"),
        ('merge = "union"', 'unlisted = "drop"', "in a field without values"),
        ('merge = "union"', 'language = "no language"', "which is not a language tag"),
        ('merge = "union"', "split = 7", "has split = 7, which must be a text"),
        ('merge = "union"', 'if = "lower(.)"', 'the function lower() in if = "lower(.)"'),
        ('merge = "union"', 'value = "x"', "without one of from and value"),
        ('from = "also", to', 'from = "also", too', "without to"),
        ('"oai_dc:dc"', '"oai_dc:dcc"', "which no document has; the root of"),
        ('from = "also"', "from = \"also[sum('x')]\"", "line 20, cannot evaluate from"),
        ("[values.types]", "[values]\ntypes = 1\n[other]", "unknown key 'other' at its top"),
        ("[[format]]", '[[file]]\ntitle = "x"\n[[format]]', "has a [[file]] without a name"),
        ("[[format]]", '[[file]]\nname = "*"\nuse = "x:y"\n[[format]]', "the prefix of x:y"),
    ],
)
def test_what_would_be_ignored_or_fail_is_named_with_file_and_key(
    old: str, new: str, said: str
) -> None:
    text = f"{TOP}{TWO}"
    assert old in text
    with pytest.raises(CrosswalkError, match=r"mine\.toml") as raised:
        Crosswalk.parse(text.replace(old, new, 1), "mine.toml")
    assert said in str(raised.value)


def test_operators_before_brackets_are_no_functions() -> None:
    for select in ("dc:title[(@a or (@b)) and (1 mod (2) = 1)]", "dc:title[. = 'f(x)']"):
        Crosswalk.parse(f"{TOP}{TWO}".replace('"dc:title"', f'"{select}"'))


def test_the_default_of_earlier_releases_has_its_identifier() -> None:
    """So nothing has to be described again with ``--crosswalk dcterms-1``."""
    assert Crosswalk.named("dcterms-1").id == "dcterms 6a5593b07af0a238"
