"""What takes long without being asked for is told in the log."""

import logging

import pytest

from recordsilo import progress


def test_a_long_count_is_logged_after_a_while_and_then_now_and_then(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = iter([0.0, 4.9, 5.0, 19.9, 20.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))

    tell = progress.logging_count("indexing /srv/repo", logging.getLogger("RecordSilo"))
    for done in (1000, 2000, 3000, 4000):
        tell(done)

    assert caplog.messages == [
        "indexing /srv/repo: 2,000 so far",
        "indexing /srv/repo: 4,000 so far",
    ]
