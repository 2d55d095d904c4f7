"""Small texts for people."""

from datetime import datetime, timedelta, timezone

import pytest

from recordsilo.wording import counted, cut_middle, minute


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


def test_when_something_happened_is_written_in_one_form() -> None:
    east = timezone(timedelta(hours=2))
    for at in ("2026-11-29T18:54:09.936881", "2026-11-29T18:54:09Z", "2026-11-29T20:54+02:00"):
        assert minute(at) == "2026-11-29 18:54 UTC"
    assert minute(datetime(2026, 11, 30, 1, 5, tzinfo=east)) == "2026-11-29 23:05 UTC"
    assert minute("in print") == "in print"
