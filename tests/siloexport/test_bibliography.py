"""What metadata says about a work, in all formats that the store knows."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from mangled import mangled

from recordsilo.formats import Value
from siloexport.bibliography import (
    Bibliography,
    Dated,
    Degree,
    Identifier,
    Name,
    Relation,
    Rights,
    merged,
    of_document,
    of_documents,
)
from siloexport.bibliography.merging import is_same
from siloexport.bibliography.texts import identifier_of, licence_of, name_of, orcid_in, role_code

GOLDEN = Path(__file__).parents[1] / "recordsilo/formats/golden"
DOCUMENTS = sorted(GOLDEN.glob("*.xml"))
_HEAD = '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/">'


def golden(name: str) -> Bibliography:
    found = of_document(name, (GOLDEN / f"{name}.xml").read_bytes())
    assert found is not None
    return found


def dublin_core(**values: str) -> Bibliography:
    content = "".join(f"<dc:{name}>{text}</dc:{name}>" for name, text in values.items())
    found = of_document("oai_dc", f"{_HEAD}{content}</oai_dc:dc>".encode())
    assert found is not None
    return found


def test_datacite_gives_names_with_their_orcid_and_kinds_of_dates_and_relations() -> None:
    found = golden("datacite")
    assert found.creators[0] == Name(
        "Lind, Astrid", "Lind", "Astrid", "0000-0002-1825-0097", kind="person",
        affiliations=("Coast University",),
    )  # fmt: skip
    assert found.creators[1] == Name("Tide Gauge Network", kind="organization")
    assert (found.contributors[0].role, found.contributors[0].role_text) == ("cur", "DataCurator")
    assert (found.issued, found.year, found.doi) == ("2019-04-02", 2019, "10.5555/tide.2019.4")
    assert Dated("available", "2019-05-01") in found.dates
    assert found.rights == (
        Rights("Creative Commons Attribution 4.0", "https://creativecommons.org/licenses/by/4.0/"),
    )
    assert found.relations[0] == Relation(
        "IsSupplementTo", "10.5555/coast.2", Identifier("doi", "10.5555/coast.2", "DOI")
    )
    assert found.edition == "1.1"


def test_mods_tells_authors_from_others_by_their_roles() -> None:
    found = golden("mods")
    assert [(one.text, one.role) for one in found.creators] == [
        ("Vogel, Anna", "aut"),
        ("M. Möwe", ""),
    ]
    assert [(one.text, one.role) for one in found.contributors] == [
        ("Møller, Jens", "ill"), ("Coast University, Department of Zoology", "dgg"),
    ]  # fmt: skip
    assert found.contributors[1].kind == "organization"
    assert (found.issued, found.language_tags) == ("2011-07", ("en",))
    assert found.abstracts == (Value("We count gulls. We wait for terns.", "eng"),)
    assert found.notes == (Value("Thesis (Ph.D.)"),)
    assert found.container.title == "Studies of the shore"


def test_a_related_item_without_a_title_is_left_out() -> None:
    related = '<relatedItem><titleInfo/><identifier type="issn"/></relatedItem>'
    document = f'<mods xmlns="http://www.loc.gov/mods/v3">{related}</mods>'
    assert of_document("mods", document.encode()) == Bibliography(source_formats=("MODS",))


def test_marc_gives_isbn_roles_and_the_year_in_brackets() -> None:
    found = golden("marc21")
    assert found.identified("isbn") == ("0152038655",)
    assert (found.doi, found.year, found.container.title) == (
        "10.5555/gull.1993", 1993, "Yearbook of the coast",
    )  # fmt: skip
    assert [one.role for one in (*found.creators, *found.contributors)] == ["aut", "ill"]


def test_jats_gives_the_journal_with_volume_and_pages() -> None:
    found = golden("pmc_fm")
    place = found.container
    assert (place.title, place.issn, place.volume) == ("Comparative Letters", "2049-2219", "68")
    assert (place.first_page, place.last_page) == ("857", "885")
    assert [one.family for one in found.creators] == ["ברק", "כהן", "Lacey", "פרידמן"]


def test_theses_have_their_degree_and_advisor() -> None:
    etd, uketd = golden("oai_etdms"), golden("uketd_dc")
    assert etd.degree == Degree("Doctor of Philosophy", "doctoral", "Zoology", "Coast University")
    assert uketd.degree == Degree(
        "Ph.D.", "doctoral", "", "University of Wexcombe", "School of Geography and Environment"
    )
    assert [one.role for one in (*etd.contributors, *uketd.contributors)] == ["ths", "ths"]
    assert [one.text for one in uketd.types] == ["Thesis"]
    assert uketd.publishers == (Value("University of Wexcombe"),)


def test_dublin_core_identifiers_are_told_apart() -> None:
    found = golden("oai_dc")
    assert [one.kind for one in found.identifiers] == ["url", "citation"]
    assert len(found.abstracts) == 1
    assert (found.issued, found.language_tags) == ("2012", ("he",))


def test_fields_of_dspace_are_read_by_their_qualifiers() -> None:
    fields = [
        ("dc", "title", "", "Tides"), ("dc", "title", "alternative", "Ebb and flow"),
        ("dc", "contributor", "author", "Lind, Astrid"),
        ("dc", "contributor", "editor", "Berg, O."),
        ("dc", "date", "accessioned", "2020-01-01"), ("dc", "date", "issued", "2019"),
        ("dc", "identifier", "issn", "2049-2219"), ("dc", "description", "abstract", "Low water."),
        ("thesis", "degree", "grantor", "Coast University"), ("dc", "language", "iso", "en_US"),
    ]  # fmt: skip
    dim = "".join(
        f'<dim:field mdschema="{a}" element="{b}" qualifier="{c}">{d}</dim:field>'
        for a, b, c, d in fields
    )
    root = f'<dim:dim xmlns:dim="http://www.dspace.org/xmlns/dspace/dim">{dim}</dim:dim>'
    found = of_document("dim", root.encode())
    assert found is not None
    assert (found.title.text, found.alternatives) == ("Tides", (Value("Ebb and flow"),))
    assert (found.creators[0].given, found.contributors[0].role) == ("Astrid", "edt")
    assert (found.issued, len(found.dates)) == ("2019", 1)
    assert found.identified("issn") == ("2049-2219",)
    assert (found.abstracts, found.degree.grantor) == ((Value("Low water."),), "Coast University")
    assert found.language_tags == ("en-US",)


def test_formats_of_a_version_are_merged_and_nothing_is_doubled() -> None:
    found = merged([golden("oai_dc"), golden("pmc_fm")])
    assert found.source_formats == ("JATS", "Dublin Core")
    assert found.alternatives == (Value("New Hebrew poetry", "en"),)
    assert len(found.creators) == 4
    assert all(one.role == "aut" for one in found.creators)
    assert found.dates == (Dated("issued", "2012-11-10"),)
    assert found.languages == ("he",)
    assert len(found.subjects) == 4
    assert [one.text for one in found.types] == ["research-article", "Article", "PeerReviewed"]


def test_the_poorer_format_adds_what_the_richer_one_lacks() -> None:
    poor = dublin_core(
        title="The birds of the coast", creator="Vogel, A. (0000-0002-1825-0097)",
        contributor="Berg, Olav", date="2011", subject="gulls", language="en",
        identifier="https://doi.org/10.5555/COAST.2", rights="cc_by_4",
    )  # fmt: skip
    rich = golden("mods")
    found = merged([poor, rich])
    assert (found.title, found.alternatives) == (rich.title, rich.alternatives)
    assert found.creators[0] == replace(rich.creators[0], orcid="0000-0002-1825-0097")
    assert [one.text for one in found.contributors][-1] == "Berg, Olav"
    assert (found.dates, found.subjects, found.rights) == (rich.dates, rich.subjects, rich.rights)
    assert (found.identifiers, found.languages) == (rich.identifiers, rich.languages)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_the_same_document_twice_says_nothing_new(path: Path) -> None:
    once = of_document(path.stem, path.read_bytes())
    assert once is not None
    assert merged([once, once]) == once


def test_two_persons_of_one_name_stay_two() -> None:
    two = Bibliography(creators=(Name("Wang, Y.", "Wang", "Y."), Name("Wang, Yi", "Wang", "Yi")))
    assert merged([two]).creators == two.creators
    assert merged([two, two]).creators == two.creators


def test_files_about_metadata_and_unreadable_ones_are_left_out() -> None:
    files = {"oai_dc": b"<broken", "oai_dc.about": b"<about/>", "mods": None}
    assert of_documents(files, files.get) == Bibliography()


@pytest.mark.parametrize(
    ("text", "said", "kind", "usual"),
    [
        ("https://doi.org/10.5555/12", "", "doi", "10.5555/12"),
        ("http://hdl.handle.net/1721.1/9", "", "handle", "1721.1/9"),
        ("1721.1/9", "hdl", "handle", "1721.1/9"),
        ("ISSN 2049-2219", "", "issn", "2049-2219"),
        ("2049-2210", "issn", "other", "2049-2210"),
        ("20492219", "publisher-id", "other", "20492219"),
        ("978-0-306-40615-7", "", "isbn", "9780306406157"),
        ("urn:isbn:0152038655", "", "isbn", "0152038655"),
        ("0152038655", "", "other", "0152038655"),
        ("arXiv:2101.00001", "", "arxiv", "2101.00001"),
        ("12345", "pmid", "pmid", "12345"),
        ("urn:nbn:de:101-1", "", "urn", "urn:nbn:de:101-1"),
        ("ftp://example.org/a", "", "url", "ftp://example.org/a"),
        ("Berg, O. (2012) Tides, 68.", "", "citation", "Berg, O. (2012) Tides, 68."),
    ],
)  # fmt: skip
def test_an_identifier_has_its_kind(text: str, said: str, kind: str, usual: str) -> None:
    assert identifier_of(text, said) == Identifier(kind, usual, said)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("cc_by_nc_nd_4", "https://creativecommons.org/licenses/by-nc-nd/4.0/"),
        ("CC BY 4.0", "https://creativecommons.org/licenses/by/4.0/"),
        ("CC-BY-SA-3.0", "https://creativecommons.org/licenses/by-sa/3.0/"),
        ("CC0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        ("CC BY", ""),
        ("All rights reserved", ""),
    ],
)
def test_a_licence_of_creative_commons_has_its_address(text: str, address: str) -> None:
    assert licence_of(text) == address


def test_an_orcid_needs_its_check_digit_and_leaves_the_name() -> None:
    assert orcid_in("https://orcid.org/0000-0002-1694-233x") == "0000-0002-1694-233X"
    assert orcid_in("0000-0002-1825-0098") == ""
    for text in (
        "Lind, Astrid [0000-0002-1825-0097]",
        "Lind, Astrid https://orcid.org/0000-0002-1825-0097",
    ):
        found = name_of(text)
        assert found == Name("Lind, Astrid", "Lind", "Astrid", "0000-0002-1825-0097")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Lind, Astrid", "Lind, A.", True),
        ("Lind, Astrid", "Astrid Lind", True),
        ("Lind, Astrid", "Lind, Berta", False),
        ("Univ. of X", "univ of x", True),
    ],
)
def test_names_are_compared_by_their_words(one: str, other: str, same: bool) -> None:
    first, second = name_of(one), name_of(other)
    assert first is not None
    assert second is not None
    assert is_same(first, second) is same


@pytest.mark.parametrize(
    ("role", "code"),
    [("Editor", "edt"), ("ed.", "edt"), ("edt", "edt"), ("thesis advisor.", "ths"),
     ("http://id.loc.gov/vocabulary/relators/ill", "ill"), ("gardener", "")],
)  # fmt: skip
def test_a_role_has_the_code_of_the_marc_relators(role: str, code: str) -> None:
    assert role_code(role) == code


@settings(max_examples=examples(60), deadline=None)
@given(path=st.sampled_from(DOCUMENTS), random=st.randoms(use_true_random=False))
def test_a_document_with_anything_missing_doubled_or_moved_is_read(
    path: Path, random: Random
) -> None:
    found = of_document(path.stem, mangled(path.read_bytes(), random, ["1234-567X"]))
    assert found is not None
    assert merged([found]) == found
