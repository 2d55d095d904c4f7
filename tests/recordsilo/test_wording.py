"""Small texts for people."""

import pytest

from recordsilo.wording import counted, cut_middle


def test_one_thing_is_in_the_singular() -> None:
    assert [counted(n, "record") for n in (0, 1, 1234)] == [
        "0 records",
        "1 record",
        "1,234 records",
    ]
    assert counted(2, "working copy", "working copies") == "2 working copies"


@pytest.mark.parametrize("most", [0, 1, 2, 5, 6, 7, 11, 12])
def test_a_text_is_cut_in_the_middle(most: int) -> None:
    cut = cut_middle("abcdefghijkl", most)
    assert len(cut) == max(most, 1)
    assert cut == "abcdefghijkl" if most == 12 else "…" in cut
