"""The total and the title of a job, in the language of the page."""

import pytest

from silowork.values import Job, State
from webui.job_view import said_in_all, title_of
from webui.words.texts import speak


@pytest.mark.parametrize(
    ("language", "total", "title"),
    [
        ("de", "2.425 angefragt", "Abgleich: creator: staff"),
        ("en", "2,425 asked for", "Reconcile creator: staff"),
    ],
)
def test_a_job_is_told_in_the_language_of_the_page(language: str, total: str, title: str) -> None:
    job = Job(
        "1", "reconcile", "Reconcile creator: staff", {}, "ada", "2026-01-02T03:04:05Z",
        state=State.DONE, counts={"values asked for": 2425},
    )  # fmt: skip
    speak(language)
    try:
        assert (said_in_all(job), title_of(job)) == (total, title)
    finally:
        speak("en")
