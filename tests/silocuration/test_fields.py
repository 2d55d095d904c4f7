"""Fields are read from a metadata file, and written back without touching the rest."""

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from recordsilo.formats import describe, title_of_main
from recordsilo.formats.documents import DocumentBytes
from silocuration.editing.fields import (
    Field,
    ReadDocument,
    differing,
    read_fields,
    said,
    sound_text,
    values_of,
    with_values,
    write_fields,
)
from silocuration.errors import NoFields, UnknownField

OAI_DC = b"""<metadata xmlns="http://www.openarchives.org/OAI/2.0/"><oai_dc:dc\
 xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"\
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:x="http://x.example/">
  <!-- from the old catalogue -->
  <dc:title xml:lang="en">On  the
   flow</dc:title>
  <dc:creator x:id="42">Ada, L.</dc:creator>
  <dc:creator>Babbage, C.</dc:creator>
  <dc:subject>tides</dc:subject>
  <dc:date>1843</dc:date>
</oai_dc:dc></metadata>"""


def lines(content: bytes) -> list[bytes]:
    return content.split(b"\n")


def test_fields_are_read_in_order_with_languages_and_folded_white_space() -> None:
    assert said(read_fields(OAI_DC)) == (
        ("title", "On the flow", "en"),
        ("creator", "Ada, L.", ""),
        ("creator", "Babbage, C.", ""),
        ("subject", "tides", ""),
        ("date", "1843", ""),
    )


def test_writing_the_fields_unchanged_gives_the_very_bytes() -> None:
    assert write_fields(OAI_DC, read_fields(OAI_DC)) is OAI_DC


def test_a_changed_value_changes_its_line_only() -> None:
    fields = list(read_fields(OAI_DC))
    fields[2] = Field("creator", "Babbage, Charles", "en", fields[2].place)
    written = write_fields(OAI_DC, tuple(fields))
    changed = [(a, b) for a, b in zip(lines(OAI_DC), lines(written), strict=True) if a != b]
    assert changed == [
        (
            b"  <dc:creator>Babbage, C.</dc:creator>",
            b'  <dc:creator xml:lang="en">Babbage, Charles</dc:creator>',
        )
    ]
    assert b'<dc:creator x:id="42">Ada, L.</dc:creator>' in written
    assert b"<!-- from the old catalogue -->" in written


def test_a_removed_value_takes_its_line_with_it() -> None:
    fields = tuple(field for field in read_fields(OAI_DC) if field.name != "subject")
    assert b"  <dc:creator>Babbage, C.</dc:creator>\n  <dc:date>" in write_fields(OAI_DC, fields)


def test_an_added_value_stands_where_it_was_put_and_is_indented_like_its_neighbours() -> None:
    fields = list(read_fields(OAI_DC))
    fields.insert(3, Field("creator", "Lovelace & sons", "fr"))
    written = write_fields(OAI_DC, tuple(fields))
    assert (
        b"Babbage, C.</dc:creator>\n"
        b'  <dc:creator xml:lang="fr">Lovelace &amp; sons</dc:creator>\n  <dc:subject>' in written
    )


def test_a_value_added_at_the_end_leaves_the_closing_tag_where_it_was() -> None:
    fields = (*read_fields(OAI_DC), Field("rights", "open"))
    written = write_fields(OAI_DC, fields)
    assert written.endswith(b"</dc:date>\n  <dc:rights>open</dc:rights>\n</oai_dc:dc></metadata>")


def test_all_values_can_go_and_new_ones_come() -> None:
    empty = write_fields(OAI_DC, ())
    assert read_fields(empty) == ()
    assert said(read_fields(write_fields(empty, (Field("title", "New"),)))) == (
        ("title", "New", ""),
    )


def test_a_value_moved_to_another_field_keeps_its_attributes() -> None:
    fields = list(read_fields(OAI_DC))
    fields[1] = Field("contributor", fields[1].text, "", fields[1].place)
    assert b'<dc:contributor x:id="42">Ada, L.</dc:contributor>' in write_fields(
        OAI_DC, tuple(fields)
    )


def test_refinements_are_named_with_their_prefix_and_can_be_added() -> None:
    thesis = (
        b'<d:uketddc xmlns:d="http://naca.central.cranfield.ac.uk/ethos-oai/2.0/"'
        b' xmlns:dcterms="http://purl.org/dc/terms/"><dcterms:issued>1999</dcterms:issued>'
        b"</d:uketddc>"
    )
    fields = read_fields(thesis)
    assert said(fields) == (("dcterms:issued", "1999", ""),)
    written = write_fields(thesis, (*fields, Field("dcterms:abstract", "Short.")))
    assert said(read_fields(written))[1] == ("dcterms:abstract", "Short.", "")


def test_a_declared_document_stays_one() -> None:
    document = b'<?xml version="1.0" encoding="ISO-8859-1"?>\n<dc><title>\xe9t\xe9</title></dc>'
    written = write_fields(document, (Field("title", "été 2", "", 0),))
    assert written.startswith(b"<?xml version='1.0' encoding='UTF-8'?>")
    assert said(read_fields(written)) == (("title", "été 2", ""),)


def test_elements_with_elements_in_them_are_no_fields_and_stay() -> None:
    mixed = b"<dc><title>a</title><creator><given>A</given></creator><date>1</date></dc>"
    fields = read_fields(mixed)
    assert said(fields) == (("title", "a", ""), ("date", "1", ""))
    assert b"<creator><given>A</given></creator>" in write_fields(mixed, fields[:1])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<dc><title>", "is not well-formed XML"),
        (b"plain text", "is not well-formed XML"),
        (b"<!DOCTYPE dc [<!ENTITY x 'y'>]><dc><title>&x;</title></dc>", "has a document type"),
        (b"<mods><name><part>x</part></name></mods>", "has no flat fields"),
    ],
)
def test_what_has_no_fields_is_said(content: bytes, reason: str) -> None:
    with pytest.raises(NoFields, match=reason):
        read_fields(content)


@pytest.mark.parametrize("name", ["unknown:field", "a b", "<x>", ""])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(NoFields):
        write_fields(OAI_DC, (Field(name, "x"),))


ETD = "http://www.ndltd.org/standards/metadata/etdms/1.1/"
UKETD = "http://naca.central.cranfield.ac.uk/ethos-oai/2.0/"
TERMS = "http://purl.org/dc/terms/"
DATACITE = "http://datacite.org/schema/kernel-4"


@pytest.mark.parametrize(
    ("document", "name", "sentence"),
    [
        (OAI_DC.decode(), "rigths", "Dublin Core has no field 'rigths'; did you mean 'rights'?"),
        (OAI_DC.decode(), "quux", "Dublin Core has no field 'quux'"),
        (f'<thesis xmlns="{ETD}"><title>a</title></thesis>', "source",
         "ETD-MS has no field 'source'"),
        (f'<d:uketddc xmlns:d="{UKETD}" xmlns:dcterms="{TERMS}"/>', "dcterms:isued",
         "UKETD_DC has no field 'dcterms:isued'; did you mean 'dcterms:issued'"),
        (f'<resource xmlns="{DATACITE}"><version>1</version></resource>', "title",
         "DataCite has no field 'title'"),
        (f'<qdc xmlns="urn:x" xmlns:t="{TERMS}"/>', "t:isued", "another format has no field"),
    ],
)  # fmt: skip
def test_a_field_that_the_format_does_not_have_is_refused_with_the_nearest(
    document: str, name: str, sentence: str
) -> None:
    content = document.encode()
    before = read_fields(content)
    with pytest.raises(UnknownField, match=re.escape(sentence)):
        write_fields(content, (*before, Field(name, "x")))
    if before:
        renamed = before[0]._replace(name=name)
        with pytest.raises(UnknownField, match=re.escape(sentence)):
            write_fields(content, (renamed, *before[1:]))


def test_a_field_that_the_format_does_not_have_can_be_changed_and_taken_away() -> None:
    document = OAI_DC.replace(b"dc:date>", b"dc:dtae>")
    *others, wrong = read_fields(document)
    assert wrong.name == "dtae"
    changed = write_fields(document, (*others, wrong._replace(text="1843")))
    assert b"<dc:dtae>1843</dc:dtae>" in changed
    assert write_fields(document, (*others, wrong._replace(name="date"))) == OAI_DC
    with pytest.raises(UnknownField):
        write_fields(document, (*others, wrong, Field("dtae", "1844")))


@pytest.mark.parametrize(
    ("document", "name", "tag"),
    [
        (f'<thesis xmlns="{ETD}"><title>a</title></thesis>', "subject", f"{{{ETD}}}subject"),
        ("<dc><title>a</title></dc>", "subject", "subject"),
        (f'<uketddc xmlns="{UKETD}"/>', "subject", "{http://purl.org/dc/elements/1.1/}subject"),
        (f'<uketddc xmlns="{UKETD}"/>', "dcterms:issued", f"{{{TERMS}}}issued"),
        ('<item xmlns="urn:x"><title>a</title></item>', "subject", "{urn:x}subject"),
        ('<item xmlns="urn:x"><title>a</title></item>', "colour", "{urn:x}colour"),
        ('<item xmlns="urn:x" xmlns:dc="http://purl.org/dc/elements/1.1/"/>', "title",
         "{http://purl.org/dc/elements/1.1/}title"),
        ('<m:mods xmlns:m="http://www.loc.gov/mods/v3"/>', "m:genre",
         "{http://www.loc.gov/mods/v3}genre"),
    ],
)  # fmt: skip
def test_a_new_value_is_in_the_namespace_of_its_format(document: str, name: str, tag: str) -> None:
    content = document.encode()
    written = write_fields(content, (*read_fields(content), Field(name, "x")))
    assert etree.fromstring(written)[-1].tag == tag


@pytest.mark.parametrize("value", [Field("title", "a\0b"), Field("title", "a", "\0")])
def test_a_control_character_is_refused(value: Field) -> None:
    with pytest.raises(NoFields, match="cannot hold a control character"):
        write_fields(OAI_DC, (value,))


def test_characters_that_xml_cannot_hold_are_left_out() -> None:
    assert sound_text(" a\x00b\ud800 \x0b c\n") == "ab  c"


names = st.sampled_from(["title", "creator", "subject", "rights"])
texts = st.text(max_size=20).map(sound_text)
added = st.builds(Field, names, texts, st.sampled_from(["", "en", "zh-Hant"]), st.none())


@st.composite
def changed_fields(draw: st.DrawFn) -> tuple[Field, ...]:
    before = read_fields(OAI_DC)
    kept = draw(st.lists(st.sampled_from(before), unique=True, max_size=len(before)))
    edited = [
        Field(field.name, draw(texts), field.lang, field.place) if draw(st.booleans()) else field
        for field in kept
    ]
    return tuple(draw(st.permutations(edited + draw(st.lists(added, max_size=4)))))


@given(changed_fields())
def test_whatever_is_written_is_read_again(fields: tuple[Field, ...]) -> None:
    written = write_fields(OAI_DC, fields)
    assert said(read_fields(written)) == said(fields)
    assert b"<!-- from the old catalogue -->" in written
    assert etree.fromstring(written).tag.endswith("metadata")
    again = write_fields(written, read_fields(written))
    assert again is written


@given(changed_fields())
def test_a_written_document_is_described_as_its_bytes_are(fields: tuple[Field, ...]) -> None:
    written = write_fields(OAI_DC.replace(b"<!-- from the old catalogue -->", b""), fields)
    assert describe("oai_dc", written) == describe("oai_dc", bytes(written))


@pytest.mark.parametrize(
    "document",
    [
        "<dc><title> </title><alternative>a  b</alternative><title>c</title></dc>",
        "<dc><title>a <i>b</i></title><title>c</title></dc>",
        "<dc><x:title xmlns:x='urn:x'>a</x:title><title>b</title></dc>",
        "<metadata><dc><creator>a</creator></dc></metadata>",
        "<thesis xmlns='http://www.ndltd.org/standards/metadata/etdms/1.1/'><title>a</title></thesis>",
    ],
)
def test_the_title_that_is_kept_with_the_bytes_is_that_of_the_document(document: str) -> None:
    content = DocumentBytes(document.encode())
    read = ReadDocument(content)
    read.with_fields(read.fields[:-1])
    assert content.known_title == title_of_main(["oai_dc"], lambda _: bytes(content))


def test_a_text_that_differs_in_white_space_only_leaves_the_value_as_it_is() -> None:
    title = read_fields(OAI_DC)[0]
    assert title.with_text("On the flow") is title
    assert title.with_text("On the flow\x00!").folded == "On the flow!"


def test_values_put_in_place_of_others_take_over_their_elements() -> None:
    before = read_fields(OAI_DC)
    wanted = [Field("creator", "Babbage, C."), Field("creator", "Eve"), Field("creator", "Mal")]
    found = with_values(before, lambda one: one.name == "creator", wanted)
    assert [(one.text, one.place) for one in found if one.name == "creator"] == [
        ("Babbage, C.", 2), ("Eve", 1), ("Mal", None),
    ]  # fmt: skip
    assert [one.name for one in found] == [
        "title", "creator", "creator", "creator", "subject", "date",
    ]  # fmt: skip


def test_the_values_of_one_field_can_be_asked_for() -> None:
    assert [field.text for field in values_of(read_fields(OAI_DC), "creator")] == [
        "Ada, L.",
        "Babbage, C.",
    ]


def test_a_document_is_written_again_from_what_it_was() -> None:
    document = ReadDocument(OAI_DC)
    without_creators = tuple(one for one in document.fields if one.name != "creator")
    first = document.with_fields(without_creators)
    assert b"creator" not in first
    assert document.with_fields(document.fields) is OAI_DC
    assert document.with_fields(document.fields[1:]) == write_fields(OAI_DC, document.fields[1:])
    assert document.with_fields(without_creators) == first


values = st.lists(
    st.builds(
        Field,
        st.sampled_from(["title", "type"]),
        st.sampled_from(["a", "a ", "b", ""]),
        st.just(""),
        st.none(),
    )
)


@given(values, values, st.randoms())
def test_what_differs_is_what_one_says_more_often(
    some: list[Field], others: list[Field], random: Random
) -> None:
    before = tuple(some)
    after = [*(one for one in some if random.random() < 0.7), *others]
    random.shuffle(after)
    gone, come = differing(before, tuple(after))
    left, right = Counter(said(before)), Counter(said(after))
    assert (Counter(gone), Counter(come)) == (left - right, right - left)
