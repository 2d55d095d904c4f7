"""Whether a document is that of a record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from landing_pages import DOI, KINDS, TITLE

from silocrawl.landing import TieRule
from silocrawl.papers import DocumentVerdict, Expected, KnownDocument, title_score, verdict
from silocrawl.pdf_pages import FirstPages, PdfFault
from silocrawl.proposals import ProposalState, Reason

EXPECTED = Expected((TITLE,), frozenset({DOI}))
END = b"%%EOF\n"


def judged(
    text: str, expected: Expected = EXPECTED, rule: TieRule = TieRule.META, pages: int = 3
) -> DocumentVerdict:
    return verdict(expected, KnownDocument(b"%PDF-1.4", END, FirstPages(text, pages)), rule)


RIGHT = f"{TITLE}\nAda Ng\nhttps://doi.org/{DOI}\nWe dug, and then we dug more."


def test_title_and_doi_on_the_first_page_make_the_right_paper() -> None:
    assert judged(RIGHT) == DocumentVerdict(ProposalState.ATTACHED, Reason.RIGHT, 100.0, (DOI,))


@pytest.mark.parametrize(
    "text",
    [
        RIGHT.replace("abandoned mines", "aban-\r\ndoned mines"),
        RIGHT.replace("abandoned mines", "aban\ufffe\r\ndoned mines"),
        RIGHT.replace("field", "\ufb01eld").upper(),
        RIGHT.replace("Seasonal storage", "Se\u0301asonal\n\n  storage"),
        RIGHT.replace(DOI, f"{DOI}."),
        RIGHT.replace("2024.07", "\r\n2024.07"),
    ],
)
def test_typesetting_does_not_hide_the_right_paper(text: str) -> None:
    assert judged(text).reason is Reason.RIGHT


def test_who_cites_a_paper_is_not_it() -> None:
    citing = "Heat pumps in the northern sea, a long view\n" + "word " * 400
    assert judged(f"{citing} {RIGHT}").reason is Reason.OTHER_PAPER


@pytest.mark.parametrize(
    ("title", "text", "is_same"),
    [
        ("Report on the state of the mines 2015", "Report on the state of the mines 2016", False),
        (
            "Measuring solar heat in mines, part II",
            "Measuring solar heat in mines, part III",
            False,
        ),
        ("Measuring solar heat in mines, part II", "Measuring solar heat in mines. Part II", True),
        ("A very long title of a paper about the storage of solar heat", "solar heat", False),
        ("Editorial", "Editorial of a journal", False),
    ],
)
def test_a_title_that_differs_in_a_number_is_another(title: str, text: str, is_same: bool) -> None:
    assert (title_score((title,), f"{text}\nby somebody") >= 97) is is_same


@pytest.mark.parametrize(
    ("expected", "text", "reason"),
    [
        (Expected((TITLE,)), RIGHT, Reason.TITLE_ONLY),
        (Expected(("Editorial",), frozenset({DOI})), RIGHT, Reason.NO_TITLE),
        (Expected(("Editorial",)), RIGHT, Reason.NO_TITLE),
        (Expected((), frozenset()), RIGHT, Reason.NO_TITLE),
        (EXPECTED, RIGHT.replace(DOI, f"{DOI}0"), Reason.OTHER_DOI),
        (EXPECTED, f"{RIGHT} 10.9999/other", Reason.SEVERAL_DOIS),
    ],
)
def test_what_is_less_sure_is_never_attached(expected: Expected, text: str, reason: Reason) -> None:
    found = judged(text, expected)
    assert found.reason is reason
    assert found.state is not ProposalState.ATTACHED


def test_one_of_many_documents_is_at_most_proposed() -> None:
    assert judged(RIGHT, rule=TieRule.LISTED) == DocumentVerdict(
        ProposalState.PROPOSED, Reason.SEVERAL_DOCUMENTS, 100.0, (DOI,)
    )


@pytest.mark.parametrize(
    ("document", "state", "reason"),
    [
        (KnownDocument(b"PK\3\4", b"", None), ProposalState.PROPOSED, Reason.NOT_PDF),
        (
            KnownDocument(b"%PDF-", END, FirstPages(RIGHT, 3), is_cut=True),
            ProposalState.REJECTED,
            Reason.CUT_SHORT,
        ),
        (
            KnownDocument(b"%PDF-", b"x", FirstPages(RIGHT, 3)),
            ProposalState.PROPOSED,
            Reason.CUT_SHORT,
        ),
        (
            KnownDocument(b"%PDF-", b"x", FirstPages(fault=PdfFault.DAMAGED)),
            ProposalState.REJECTED,
            Reason.CUT_SHORT,
        ),
        (
            KnownDocument(b"<html>", b"x", FirstPages(fault=PdfFault.DAMAGED)),
            ProposalState.REJECTED,
            Reason.DAMAGED,
        ),
        (
            KnownDocument(b"%PDF-", END, FirstPages(fault=PdfFault.ENCRYPTED)),
            ProposalState.PROPOSED,
            Reason.ENCRYPTED,
        ),
        (
            KnownDocument(b"%PDF-", END, FirstPages(fault=PdfFault.LIMITS)),
            ProposalState.PROPOSED,
            Reason.UNREADABLE,
        ),
    ],
)
def test_what_cannot_be_read_is_named_as_such(
    document: KnownDocument, state: ProposalState, reason: Reason
) -> None:
    assert verdict(EXPECTED, document, TieRule.META) == DocumentVerdict(state, reason)


def test_every_kind_of_the_trials_is_a_reason() -> None:
    for kind in KINDS.values():
        assert Reason.named(kind.reason).sentence.endswith(".")


@given(
    text=st.text(max_size=300), titles=st.lists(st.text(max_size=60), max_size=3),
    begin=st.binary(max_size=60), pages=st.integers(0, 5), rule=st.sampled_from(list(TieRule)),
)  # fmt: skip
def test_no_document_of_anybody_is_attached_by_chance(
    text: str, titles: list[str], begin: bytes, pages: int, rule: TieRule
) -> None:
    document = KnownDocument(begin, END, FirstPages(text, pages))
    found = verdict(Expected(tuple(titles), frozenset({DOI})), document, rule)
    assert found.state is not ProposalState.ATTACHED
    assert 0 <= found.score <= 100
