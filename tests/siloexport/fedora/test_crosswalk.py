"""Metadata becomes the statements of the mapping, and nothing that a server refuses."""

import subprocess
import sys
from pathlib import Path

import pytest
from fedora_support import metadata
from hypothesis import given
from hypothesis import strategies as st
from rdflib import Graph, Literal, URIRef
from rdflib.namespace import DCTERMS, XSD

from siloexport.crosswalk import Crosswalk, CrosswalkError, ntriples

SUBJECT = URIRef("http://f.example/rest/x")
FIRST = Crosswalk.named("dcterms-1")


def terms(
    *elements: str, crosswalk: Crosswalk | None = None
) -> list[tuple[URIRef, URIRef | Literal]]:
    mapping = crosswalk or FIRST
    return [(p, o) for _, p, o in mapping.statements({"oai_dc": metadata(*elements)}, SUBJECT)]


def test_a_language_that_is_one_is_kept_and_another_is_not() -> None:
    assert terms('<dc:title xml:lang="pt_BR">Um</dc:title>') == [
        (DCTERMS.title, Literal("Um", lang="pt-BR"))
    ]
    assert terms('<dc:title xml:lang="gibberishlanguage">Um</dc:title>') == [
        (DCTERMS.title, Literal("Um"))
    ]


@pytest.mark.parametrize(
    ("date", "datatype"),
    [
        ("2004", XSD.gYear), ("2004-02", XSD.gYearMonth), ("2004-02-29", XSD.date),
        ("2004-02-29T10:00:00Z", XSD.dateTime), ("2004-02-30", None), ("2004-13", None),
        ("0000", None), ("c. 1900", None), ("20040229", None), ("2004-02-29T25:00:00Z", None),
    ],
)  # fmt: skip
def test_a_date_has_the_type_of_its_form(date: str, datatype: URIRef | None) -> None:
    expected = Literal(date, datatype=datatype, normalize=False) if datatype else Literal(date)
    assert terms(f"<dc:date>{date}</dc:date>") == [(DCTERMS.date, expected)]


@pytest.mark.parametrize(
    ("relation", "is_uri"),
    [
        ("https://doi.org/10.5555/12", True), ("urn:isbn:123", True), ("doi:10.5555/12", True),
        ("http://a.example/b c", False), ("http://", False), ("http://a.example/%zz", False),
        ("http://a.example/{x}", False), ("see: the book", False), ("http://[x/", False),
        ("http://müller.example/", False),
    ],
)  # fmt: skip
def test_only_what_is_a_uri_becomes_a_link(relation: str, is_uri: bool) -> None:
    expected = URIRef(relation) if is_uri else Literal(relation)
    assert terms(f"<dc:relation>{relation}</dc:relation>") == [(DCTERMS.relation, expected)]


def test_a_language_code_is_typed() -> None:
    assert terms("<dc:language>en</dc:language>", "<dc:language>English, old</dc:language>") == [
        (DCTERMS.language, Literal("en", datatype=DCTERMS.RFC5646)),
        (DCTERMS.language, Literal("English, old")),
    ]


@pytest.mark.parametrize(
    ("code", "tag"),
    [("deu", "de"), ("ger", "de"), ("en_us", "en-US"), ("iw", "he"), ("mul", "mul")],
)
def test_a_language_code_goes_in_its_standard_form(code: str, tag: str) -> None:
    found = terms(f"<dc:language>{code}</dc:language>", f'<dc:title xml:lang="{code}">T</dc:title>')
    assert set(found) == {
        (DCTERMS.language, Literal(tag, datatype=DCTERMS.RFC5646)),
        (DCTERMS.title, Literal("T", lang=tag)),
    }


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ("cc_by_nc_nd_4", "licenses/by-nc-nd/4.0/"), ("CC-BY-SA-3.0", "licenses/by-sa/3.0/"),
        ("CC BY 2.5", "licenses/by/2.5/"), ("cc0", "publicdomain/zero/1.0/"),
        ("CC0-1.0", "publicdomain/zero/1.0/"),
    ],
)  # fmt: skip
def test_the_code_of_a_licence_becomes_its_address(code: str, path: str) -> None:
    expected = URIRef(f"https://creativecommons.org/{path}")
    assert terms(f"<dc:rights>{code}</dc:rights>") == [(DCTERMS.rights, expected)]


@pytest.mark.parametrize(
    "text", ["cc_by", "CC BY 4.0 except for the maps", "cc_by_5", "all_rights"]
)
def test_what_names_no_version_of_a_licence_stays_a_text(text: str) -> None:
    assert terms(f"<dc:rights>{text}</dc:rights>") == [(DCTERMS.rights, Literal(text))]


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1))
def test_any_text_can_be_read_back(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    made = Crosswalk.default().statements(
        {
            "oai_dc": metadata(
                f"<dc:title>{escaped}</dc:title>", f"<dc:relation>{escaped}</dc:relation>"
            )
        },
        SUBJECT,
    )
    graph = Graph().parse(data=ntriples(made), format="nt")
    assert set(graph) == set(made)


def test_other_formats_give_what_the_page_shows() -> None:
    article = (
        b"<article><front><article-meta><title-group><article-title>A title</article-title>"
        b"</title-group></article-meta></front></article>"
    )
    found = Crosswalk.default().statements({"jats": article}, SUBJECT)
    assert (SUBJECT, DCTERMS.title, Literal("A title")) in found


def test_oai_dc_goes_before_other_formats() -> None:
    other = b"<thing xmlns='urn:x'><title>Other</title></thing>"
    files = {"a_format": other, "oai_dc": metadata("<dc:title>One</dc:title>")}
    assert Crosswalk.default().statements(files, SUBJECT) == (
        (SUBJECT, DCTERMS.title, Literal("One")),
    )


@pytest.mark.parametrize(
    "content", [b"", b"no xml", b"<a", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"]
)
def test_what_is_no_metadata_says_nothing(content: bytes) -> None:
    assert Crosswalk.default().statements({"oai_dc": content}, SUBJECT) == ()


MAPPING = """
name = "mods"
[prefixes]
mods = "http://www.loc.gov/mods/v3"
schema = "http://schema.org/"
[[format]]
root = "mods:mods"
fields = [
    { from = "mods:titleInfo/mods:title", to = "schema:name" },
    { from = "mods:titleInfo/mods:title/@lang", to = "schema:inLanguage", as = "plain" },
    { from = "count(mods:name)", to = "http://example.org/names", as = "plain" },
]
"""


def test_a_mapping_of_ones_own_takes_any_format() -> None:
    crosswalk = Crosswalk.parse(MAPPING)
    mods = (
        b"<mods xmlns='http://www.loc.gov/mods/v3'><titleInfo><title lang='de'>Ein Buch</title>"
        b"</titleInfo></mods>"
    )
    found = {(str(p), str(o)) for _, p, o in crosswalk.statements({"mods": mods}, SUBJECT)}
    assert found == {
        ("http://schema.org/name", "Ein Buch"),
        ("http://schema.org/inLanguage", "de"),
        ("http://example.org/names", "0.0"),
    }


def test_the_id_changes_with_what_a_mapping_says_and_not_with_its_comments() -> None:
    assert Crosswalk.parse(MAPPING).id == Crosswalk.parse(f"# a remark\n{MAPPING}").id
    assert Crosswalk.parse(MAPPING).id != Crosswalk.parse(MAPPING.replace('name"', 'title"')).id


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[[format]]", "[[farmat]]", "no [[format]]"),
        ('"mods:mods"', "7", "without a root"),
        ('"mods:mods"', '"dc:mods"', "prefix of dc:mods"),
        ('to = "schema:name"', 'too = "x"', "without from or to"),
        ('as = "plain"', 'as = "datum"', 'as = "datum"'),
        ("count(mods:name)", "mods:a[", "invalid XPath"),
        ("[prefixes]", "[prefixes", "not TOML"),
        ("fields = [", "felder = [", "line 8, has the unknown key 'felder' in a [[format]]"),
        ("[[format]]", "[[formats]]\n[[format]]", "unknown key 'formats'"),
        ('as = "plain"', 'lang = "en"', "unknown key 'lang' in a field"),
        ('as = "plain"', 'split = ";"', "the key 'split' in a field, which needs version = 2"),
        ('"mods:mods"', '"mods:mod"', "which no document has"),
        ("count(mods:name)", "mods:name[lower(.)]", "uses the function lower()"),
        ("count(mods:name)", "mods:name[sum('x')]", "cannot evaluate from"),
        ("[prefixes]", "version = 3\n[prefixes]", "this release knows 1 and 2"),
        ("count(mods:name)", "mods:name[foo:bar]", "uses the prefix of foo:"),
    ],
)
def test_a_mapping_that_cannot_be_is_refused_with_its_reason(old: str, new: str, said: str) -> None:
    with pytest.raises(CrosswalkError) as raised:
        Crosswalk.parse(MAPPING.replace(old, new, 1), "mine.toml")
    assert "mine.toml" in str(raised.value)
    assert said in str(raised.value)


def test_quoted_texts_axes_and_xml_are_no_prefixes() -> None:
    select = "child::mods:name[. = 'foo:bar']/@xml:lang"
    Crosswalk.parse(MAPPING.replace("count(mods:name)", select, 1))


def test_what_cannot_be_evaluated_is_named_with_its_line() -> None:
    mapping = MAPPING.replace("count(mods:name)", "sum('x')", 1)
    with pytest.raises(CrosswalkError, match=r"mine.toml, line \d+, cannot evaluate from = .sum"):
        Crosswalk.parse(mapping, "mine.toml")


def test_a_mapping_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CrosswalkError, match="cannot be read"):
        Crosswalk.read(str(tmp_path / "none.toml"))


def test_rdflib_is_loaded_only_for_fedora() -> None:
    code = (
        "import sys, siloexport.commands.export, recordsilo.cli; sys.exit('rdflib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
