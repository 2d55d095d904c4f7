"""Descriptions of metadata files: four kinds of formats, and unreadable bytes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo.formats import MAX_BYTES, Value, describe
from recordsilo.formats.collect import fold

DC = """<metadata xmlns="http://www.openarchives.org/OAI/2.0/">
<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
           xmlns:dc="http://purl.org/dc/elements/1.1/" xml:lang="en">
  <dc:title>Gulls
     of the   coast</dc:title>
  <dc:title xml:lang="de">Möwen der Küste</dc:title>
  <dc:creator>Vogel, Anna</dc:creator><dc:creator>Vogel, Anna</dc:creator>
  <dc:subject>birds</dc:subject><dc:description>Long &lt;text&gt;</dc:description>
  <dc:date>2004</dc:date><dc:type>Article</dc:type><dc:identifier>http://x/417</dc:identifier>
  <dc:language>en</dc:language><dc:rights>CC BY</dc:rights><dc:publisher/><!-- dc:title -->
</oai_dc:dc></metadata>"""

UKETD = """<uketd_dc:uketddc xmlns:uketd_dc="http://naca.central.cranfield.ac.uk/ethos-oai/2.0/"
  xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"
  xmlns:uketdterms="http://naca.central.cranfield.ac.uk/ethos-oai/terms/">
  <dc:title>A thesis</dc:title><dcterms:alternative>Other title</dcterms:alternative>
  <dc:creator>Möwe, M.</dc:creator><uketdterms:advisor>Prof. Tern</uketdterms:advisor>
  <dcterms:abstract>On terns.</dcterms:abstract><dcterms:issued>2008</dcterms:issued>
  <uketdterms:institution>Coast University</uketdterms:institution>
  <uketdterms:qualificationlevel>doctoral</uketdterms:qualificationlevel>
  <dcterms:isReferencedBy>http://x/1</dcterms:isReferencedBy>
  <uketdterms:embargodate>2010</uketdterms:embargodate><dcterms:unheard>of</dcterms:unheard>
</uketd_dc:uketddc>"""

JATS = """<article xmlns="https://jats.nlm.nih.gov/ns/archiving/1.3/" article-type="research"
 xml:lang="fr"><front><journal-meta><journal-title-group><journal-title>Coast</journal-title>
 </journal-title-group><publisher><publisher-name>Pier Press</publisher-name></publisher>
 </journal-meta><article-meta>
 <article-id pub-id-type="doi">10.5555/g</article-id><article-id pub-id-type="pmid">7</article-id>
 <title-group><article-title>Les <italic>Larus</italic>!</article-title>
 <trans-title-group xml:lang="en"><trans-title>The gulls</trans-title></trans-title-group>
 </title-group>
 <contrib-group><contrib contrib-type="author"><name><surname>Vogel</surname>
 <given-names>Anna</given-names></name></contrib><contrib contrib-type="editor"><name>
 <surname>Tern</surname></name></contrib><contrib contrib-type="author"><collab>The Gull Group
 </collab></contrib><contrib><string-name>M. Möwe</string-name></contrib></contrib-group>
 <pub-date><day>4</day><month>7</month><year>2011</year></pub-date>
 <pub-date><season>Spring</season></pub-date>
 <abstract><title>Aims</title><p>We count.</p><p>We wait.</p></abstract>
 <kwd-group><kwd>gulls</kwd></kwd-group>
 <permissions><copyright-statement>© 2011</copyright-statement></permissions>
</article-meta></front><body><title>Not this</title></body></article>"""


def texts(values: tuple[Value, ...]) -> list[str]:
    return [value.text for value in values]


def test_oai_dc_is_read_with_its_languages() -> None:
    found = describe("oai_dc", DC.encode())
    assert found
    assert found.title == "Gulls of the coast"
    assert found.titles == (Value("Gulls of the coast", "en"), Value("Möwen der Küste", "de"))
    assert texts(found.creators) == ["Vogel, Anna"]
    assert texts(found.descriptions) == ["Long <text>"]
    assert found.publishers == ()
    assert [name for name, _ in found.items()] == [
        "titles", "creators", "subjects", "descriptions", "dates", "types", "identifiers",
        "languages", "rights",
    ]  # fmt: skip


def test_uketd_dc_is_read_with_its_refinements() -> None:
    found = describe("uketd_dc", UKETD.encode())
    assert found
    assert texts(found.titles) == ["A thesis", "Other title"]
    assert texts(found.creators) == ["Möwe, M."]
    assert texts(found.contributors) == ["Prof. Tern"]
    assert texts(found.descriptions) == ["On terns."]
    assert texts(found.dates) == ["2008"]
    assert texts(found.publishers) == ["Coast University"]
    assert texts(found.types) == ["doctoral"]
    assert texts(found.relations) == ["http://x/1"]
    assert texts(found.rights) == ["2010"]


def test_jats_is_read_from_its_front_matter() -> None:
    found = describe("pmc_fm", f'<metadata xmlns="x">{JATS}</metadata>'.encode())
    assert found
    assert found.titles == (Value("Les Larus!", "fr"), Value("The gulls", "en"))
    assert texts(found.creators) == ["Vogel, Anna", "The Gull Group", "M. Möwe"]
    assert texts(found.contributors) == ["Tern"]
    assert texts(found.identifiers) == ["https://doi.org/10.5555/g", "7"]
    assert texts(found.dates) == ["2011-07-04"]
    assert texts(found.descriptions) == ["Aims We count. We wait."]
    assert texts(found.subjects) == ["gulls"]
    assert texts(found.sources) == ["Coast"]
    assert texts(found.publishers) == ["Pier Press"]
    assert texts(found.rights) == ["© 2011"]
    assert texts(found.types) == ["research"]
    assert texts(found.languages) == ["fr"]


def test_article_without_front_matter_says_nothing() -> None:
    found = describe("pmc", b"<article><body><title>x</title></body></article>")
    assert found
    assert list(found.items()) == []


@pytest.mark.parametrize(
    ("content", "title", "creators"),
    [
        ("<mods><titleInfo><title>M</title></titleInfo><name><namePart>N</namePart></name></mods>",
         "M", ["N"]),
        ("<resource><creator><creatorName>C</creatorName></creator><title>D</title></resource>",
         "D", ["C"]),
        ('<dim xmlns="x"><field element="title">F</field><field element="creator">G</field></dim>',
         "F", ["G"]),
        ("<unknown><thing/></unknown>", "", []),
    ],
)  # fmt: skip
def test_other_formats_are_read_by_common_names(
    content: str, title: str, creators: list[str]
) -> None:
    found = describe("any", content.encode())
    assert found
    assert (found.title, texts(found.creators)) == (title, creators)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"plain text",
        b"<dc><title>unclosed",
        b"\xff\xfe\x00",
        b'<!DOCTYPE dc><dc><title>x</title></dc>',
        b'<!DOCTYPE dc [<!ENTITY x SYSTEM "file:///etc/passwd">]><dc><title>&x;</title></dc>',
        b'<!DOCTYPE dc SYSTEM "http://127.0.0.1:9/x.dtd"><dc><title>x</title></dc>',
        b"<dc><title>&undefined;</title></dc>",
    ],
)  # fmt: skip
def test_bytes_that_are_no_sound_xml_say_nothing(content: bytes) -> None:
    assert describe("oai_dc", content) is None


@pytest.mark.parametrize("where", ["text", "attribute"])
def test_entity_bomb_says_nothing_and_costs_nothing(where: str) -> None:
    entities = "".join(
        f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x" * 1000}">' for n in range(9)
    )
    body = "<dc><title>&e8;</title></dc>" if where == "text" else '<dc x="&e8;"/>'
    assert describe("oai_dc", f"<!DOCTYPE dc [{entities}]>{body}".encode()) is None


def test_about_container_is_no_description() -> None:
    assert describe("oai_dc.about", DC.encode()) is None


def test_endless_file_says_nothing() -> None:
    assert describe("oai_dc", b"<dc>" + b" " * MAX_BYTES + b"</dc>") is None


def test_a_file_whose_document_would_take_too_much_memory_is_not_described():
    assert describe("oai_dc", b"<dc>" + b"<a/>" * 1_100_000 + b"</dc>") is None


@given(st.binary(max_size=100) | st.text(st.sampled_from("<>&;/abdc!?[]' \"=\n"), max_size=60))
def test_describing_never_raises(content: bytes | str) -> None:
    describe("oai_dc", content.encode() if isinstance(content, str) else content)


@pytest.mark.long
@given(st.text(st.sampled_from("ab  \t\n\u00a0\u2028\u00ad\u3000\u200b\x1f")) | st.text())
def test_white_space_is_folded_as_splitting_and_joining_would(text: str) -> None:
    assert fold(text) == " ".join(text.split())


def test_every_character_of_white_space_is_folded() -> None:
    white = [chr(number) for number in range(0x110000) if chr(number).isspace()]
    assert len(white) > 20
    assert {fold(f"a{one}b{one}") for one in white} == {"a b"}


def described_title(content: str) -> str:
    return describe("oai_dc", in_dc(f'<dc:title xml:lang="en">{content}</dc:title>')).title


def in_dc(elements: str) -> bytes:
    return (
        '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{elements}</oai_dc:dc>'
    ).encode()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("A <i>b</i> c", "A b c"),
        ("<i>Bufo bufo</i>", "Bufo bufo"),
        ("<b><i>Bufo</i> bufo</b>", "Bufo bufo"),
        ("H<sub>2</sub>O in <b><i>vivo</i></b>", "H2O in vivo"),
        ("One<br/>two", "One two"),
        ("  <i> </i>  ", ""),
        ("<i/>", ""),
        ("<i>Homo</i> <i>sapiens</i>", "Homo sapiens"),
        ("<i>Homo sapiens</i><sup>2</sup>", "Homo sapiens2"),
        ("<p>First <b>one</b></p><p>Second</p>", "First one Second"),
        ("<div><ul><li>a</li><li>b</li></ul></div>", "a b"),
        ('<m:p xmlns:m="http://www.w3.org/1999/xhtml">a</m:p> <m:p xmlns:m="x">b</m:p>', "a b"),
    ],
)
def test_text_with_markup_is_read_without_it(content: str, expected: str) -> None:
    assert described_title(content) == expected
    described = describe("oai_dc", in_dc(f'<dc:creator xml:lang="en">{content}</dc:creator>'))
    assert described.creators == ((Value(expected, "en"),) if expected else ())


def test_what_is_structured_in_an_element_is_no_text_of_it() -> None:
    found = describe(
        "oai_dc",
        in_dc(
            "<dc:creator><name>Vogel</name><mail>v@example.org</mail></dc:creator>"
            "<dc:creator><person><name>Vogel</name><mail>v</mail></person></dc:creator>"
            "<dc:creator><p><name>Vogel</name><mail>v</mail></p><p>w</p></dc:creator>"
            "<dc:subject><dc:subject>a</dc:subject> <dc:subject>b</dc:subject></dc:subject>"
            "<dc:subject><dc:subject>c</dc:subject></dc:subject>"
        ),
    )
    assert (found.creators, texts(found.subjects)) == ((), ["a", "b", "c"])


marked_up = st.recursive(
    st.text("ab \n", max_size=4),
    lambda inner: st.lists(
        st.tuples(st.sampled_from(["i", "b", "sub"]), inner, st.text("cd ", max_size=3)), max_size=3
    ).map(lambda parts: "".join(f"<{tag}>{text}</{tag}>{tail}" for tag, text, tail in parts)),
    max_leaves=8,
)


@given(marked_up)
def test_a_title_with_markup_is_the_text_of_its_element(content: str) -> None:
    text = re.sub("<[^>]*>", "", content)
    assert described_title(content) == fold(text)
    assert described_title(f"a{content}") == fold(f"a{text}")
