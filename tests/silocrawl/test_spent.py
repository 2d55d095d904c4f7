"""What a crawl has spent is known at once where it was noted, and soon elsewhere."""

from pathlib import Path

import pytest

from silocrawl import answers
from silocrawl.answers import Answers, Spent

SPENT = [("t/20261201T020000Z", "http://a.example/", 7)]


def test_what_was_spent_is_remembered_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(answers.time, "monotonic", lambda: now[0])
    place = SPENT[0][:2]
    path = str(tmp_path / "answers.sqlite")
    with Answers(path) as mine, Answers(path) as theirs:
        assert mine.spent(*place) == Spent()
        theirs.keep([], SPENT, [])
        assert mine.spent(*place) == Spent(), "of another process, a moment ago"
        assert theirs.spent(*place) == Spent(1, 7)
        now[0] += answers.SECONDS_OF_SPENT
        assert mine.spent(*place) == Spent(1, 7)
        mine.keep([], SPENT, [])
        assert mine.spent(*place) == Spent(2, 14)
