"""What the sources of items say of the journal or book that they are in."""

import pytest

from usagestats.entities.metadata import Metadata
from usagestats.reports.items import item_of
from usagestats.reports.parents import ParentItem, parent_of, title_of, titles_of


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("Journal of Weather", "Journal of Weather"),
        ("Journal of Weather; Vol 3 No 1 (2019); 1-20", "Journal of Weather"),
        ("Journal of Weather, ISSN 1234-567X", "Journal of Weather"),
        ("Journal of Weather (print ISSN 1234-567X)", "Journal of Weather"),
        ("Journal of Weather 12(3), 2019, pp. 1-20", "Journal of Weather"),
        ("Journal of Weather, vol. 12, no. 3", "Journal of Weather"),
        ("Journal of Weather, 2019", "Journal of Weather"),
        ("Wind, Rain and Weather. Band 3", "Wind, Rain and Weather"),
        ("In: The Big Book, pp. 3-9", "The Big Book"),
        ("Nature 2000", "Nature 2000"),
        ("مجلة الطقس; 3 (2019)", "مجلة الطقس"),
        ("  Two\n lines ; 3", "Two lines"),
        ("1234-567X", ""),
        ("ISSN: 1234-5678", ""),
        ("2019", ""),
        ("https://journal.example.org/1", ""),
        ("doi:10.5555/1", ""),
        ("", ""),
    ],
)
def test_the_title_that_a_source_begins_with(source: str, title: str) -> None:
    assert title_of(source) == title


def test_only_items_of_some_types_have_a_parent() -> None:
    sources = ("1234-5678", "Journal of Weather; 3")
    found = parent_of("Article", sources, "1234-5678")
    assert found == ParentItem("Journal of Weather", "Journal", "1234-5678")
    assert parent_of("Thesis_or_Dissertation", sources, "1234-5678") is None
    assert parent_of("Article", ()) is None
    assert parent_of("Article", (), "1234-5678") == ParentItem("", "Journal", "1234-5678")
    book = parent_of("Book_Segment", ("In: A Book, ISBN 978-3-16-148410-0",))
    assert book == ParentItem("A Book", "Book", "", "978-3-16-148410-0")


def test_one_issn_is_one_parent() -> None:
    spellings = ("JOURNAL OF WEATHER", "Journal of weather", "Journal of Weather", "")
    parents = [ParentItem(one, "Journal", "1234-5678") for one in spellings]
    assert list(titles_of(parents).values()) == ["Journal of Weather"]
    assert len(titles_of([ParentItem("A", "Journal"), ParentItem("B", "Journal")])) == 2


def test_a_creator_with_a_semicolon_is_several_authors() -> None:
    creators = ("Smith, A.; Jones, B.", "M&uuml;ller, C.", "Fourth, D.")
    assert item_of("x", Metadata({"creators": creators})).authors == (
        "Smith, A.", "Jones, B.", "Müller, C.",
    )  # fmt: skip
    assert item_of("x", Metadata({"creators": ("Ben;", "; Ben")})).authors == ("Ben",)


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"dates": ("2001-02-31", "2001-02-03")}, "publication_date", "2001-02-03"),
        ({"dates": ("2001-02-31",)}, "publication_date", ""),
        ({"identifiers": ("http://a.example/b|c", "http://a/b")}, "uri", ""),
        ({"identifiers": ("http://a.example/b%7Cc?d=e#f",)}, "uri", "http://a.example/b%7Cc?d=e#f"),
        ({"types": ("Book",)}, "data_type", "Book_Segment"),
        ({"types": ("info:eu-repo/semantics/acceptedVersion",)}, "version", "AM"),
        ({"rights": ("http://purl.org/coar/version/c_970fb48d4fbd8a85",)}, "version", "VoR"),
        ({"types": ("Article",)}, "version", ""),
    ],
)
def test_what_an_item_says(fields: dict[str, tuple[str, ...]], name: str, value: str) -> None:
    assert getattr(item_of("x", Metadata(fields)), name) == value
