"""What of a title and of an abstract is marked as found."""

import pytest

from webui.search.highlight import FoundWords


def shown(pieces: list[tuple[str, bool]]) -> str:
    return "".join(f"[{text}]" if is_found else text for text, is_found in pieces)


@pytest.mark.parametrize(
    ("query", "title", "marked"),
    [
        ("solar cells", "Solar cells, solar", "[Solar] [cells], [solar]"),
        ('"solar cells"', "Solar cells, solar", "[Solar cells], solar"),
        ("phot*", "Photography of photos", "[Photography] of [photos]"),
        ("elan", "Élan vital", "[Élan] vital"),
        ("title:vital abstract:elan", "Élan vital", "Élan [vital]"),
        ("solar OR wind -cells", "Wind and cells", "[Wind] and cells"),
        ("東京", "東京大学 Tokyo", "[東京]大学 Tokyo"),
        ("<b>", "a <b> c", "a <[b]> c"),
        ("", "Solar", "Solar"),
        ("solar", "", ""),
    ],
)
def test_words_that_were_found_are_marked_in_a_title(query: str, title: str, marked: str) -> None:
    assert shown(FoundWords.of(query, {}).title(title)) == marked


def test_the_part_of_an_abstract_around_the_first_word_is_shown() -> None:
    long = "word " * 60 + "the solar cell and solar heat " + "more " * 60
    found = FoundWords.of("solar", {"a": long, "b": "Solar.", "c": "wind"})
    part = shown(found.snippet("a"))
    assert part.startswith("… word")
    assert part.endswith("more …")
    assert part.count("[solar]") == 2
    assert len(part) < 250
    assert shown(found.snippet("b")) == "[Solar]."
    assert found.snippet("a", "Solar heat") == []
    assert (found.snippet("c"), found.snippet("d")) == ([], [])
