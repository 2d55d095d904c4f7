"""What landing pages say of their documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from landing_pages import DOI, LAYOUTS, TITLE

from silocrawl.found_links import links_of_header, links_of_html
from silocrawl.landing import Landing, TieRule, dois_in, iso_date, landing_of

PIECES = [
    b"", b"<a href='", b'<meta name="citation_doi" content="', b"<link rel=item href=",
    b'<script type="application/ld+json">{"@type":"Thesis","encoding":', b"<base href='",
]  # fmt: skip
PAGE, DOCUMENT = "https://repo.example.org/item/7", "https://repo.example.org/files/7.pdf"


def landing(layout: str, pdf: str = DOCUMENT) -> Landing:
    reply = LAYOUTS[layout](pdf)
    assert isinstance(reply.body, bytes)
    return landing_of(PAGE, reply.body, reply.headers.get("Link", ""))


@pytest.mark.parametrize(
    ("layout", "rule"),
    [
        ("eprints", TieRule.META), ("dspace_6", TieRule.META), ("dspace_7", TieRule.LINK_HEADER),
        ("ojs", TieRule.META), ("ojs_galley", TieRule.DOWNLOAD), ("arxiv", TieRule.META),
        ("schema_org", TieRule.JSON_LD), ("only_pdf", TieRule.ONLY_PDF), ("bare_list", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("written", [DOCUMENT, "/files/7.pdf", "../files/7.pdf"])
def test_each_layout_names_its_document_by_the_surest_rule(
    layout: str, rule: TieRule | None, written: str
) -> None:
    found = landing(layout, written)
    assert next(iter(found.named), None) is rule
    assert rule is None or found.named[rule] == (DOCUMENT,)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_crawl_follows_what_a_layout_names(layout: str) -> None:
    reply = LAYOUTS[layout]("/download/7")
    assert isinstance(reply.body, bytes)
    links = [
        *links_of_html(reply.body, PAGE),
        *links_of_header(reply.headers.get("Link", ""), PAGE),
    ]
    documents = {one.url for one in links if one.is_document}
    is_named = layout not in {"only_pdf", "bare_list"}
    assert ("https://repo.example.org/download/7" in documents) is is_named


def test_a_page_says_the_title_date_publisher_and_doi_of_its_document() -> None:
    found = landing("schema_org")
    assert (found.title, found.date, found.publisher, found.creators) == (
        TITLE, "2024-07-01", "Mines", ("Ada Ng",),
    )  # fmt: skip
    assert landing("dspace_6").date == "2024-07"
    assert (landing("eprints").date, landing("eprints").publisher) == (
        "2024", "University of Mines",
    )  # fmt: skip
    for layout in ("dspace_6", "dspace_7", "ojs", "arxiv", "schema_org"):
        assert landing(layout).dois == {DOI}


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2016", "2016"), ("2016/5", "2016-05"), ("2016-05-02T10:00:00Z", "2016-05-02"),
        ("2016.13.40", ""), ("20160502", ""), ("May 2016", ""), ("", ""), ("0000", ""),
    ],
)  # fmt: skip
def test_a_date_keeps_its_precision(text: str, date: str) -> None:
    assert iso_date(text) == date


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("doi:10.1234/AB.C.", "10.1234/ab.c"), ("(https://doi.org/10.1234/ab)", "10.1234/ab"),
        ("10.1016/S0140-6736(97)11096-0,", "10.1016/s0140-6736(97)11096-0"),
        ("[10.1234/a[1]]", "10.1234/a[1]"), ("10.1234/", ""), ("10.12/ab", ""),
    ],
)  # fmt: skip
def test_dois_end_where_punctuation_begins(text: str, doi: str) -> None:
    assert next(dois_in(text), "") == doi


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"\x00\xff" * 50,
        b"<a href='/a.pdf'>" * 30_000,
        b"<script type='application/ld+json'>[",
        b"<script type='application/ld+json'>" + b"[" * 100_000,
        (
            b'<script type="application/ld+json">{"@type":["Article",1],"encoding":[1,'
            b'{"contentUrl":{}}],"author":[null,3],"identifier":{"value":[]}}</script>'
        ),
        b"<meta name=citation_pdf_url content='http://['><link rel=item href=' '>",
        b"<a href='mailto:x'>",
    ],
)
def test_what_is_no_page_names_no_document(broken: bytes) -> None:
    found = landing_of(PAGE, broken, '<>; rel=item, ;;, <http://[>; rel="item"')
    assert set(found.named) <= {TieRule.ONLY_PDF}
    assert found.dois == frozenset()
    assert (found.title, found.date) == ("", "")


@given(content=st.binary(max_size=400), link=st.text(max_size=100), before=st.sampled_from(PIECES))
def test_no_page_of_anybody_is_an_error(content: bytes, link: str, before: bytes) -> None:
    found = landing_of(PAGE, before + content, link)
    assert found.dois is not None
    places = [*found.anchors, *(place for some in found.named.values() for place in some)]
    assert all(not place or place.startswith(("http://", "https://")) for place in places)
