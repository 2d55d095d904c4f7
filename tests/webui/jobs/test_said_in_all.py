"""The total and the title of a job, in the language of the page."""

import pytest

from silowork.values import Job, State
from webui.job_view import receipt_of, said_in_all, title_of
from webui.words.texts import speak, spoken


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


@pytest.mark.parametrize(
    ("kind", "result", "number", "total"),
    [
        ("harvest", "listed", 1, "1 moissonnée"),
        ("harvest", "listed", 1200, "1\u202f200 moissonnées"),
        ("crawl-match", "links", 1, "1 lien"), ("crawl-match", "links", 2, "2 liens"),
    ],
)  # fmt: skip
def test_one_and_many_differ_as_the_language_has_it(
    kind: str, result: str, number: int, total: str
) -> None:
    job = Job("1", kind, "", {}, "ada", "2026-01-02T03:04:05Z", state=State.DONE,
              counts={result: number})  # fmt: skip
    with spoken("fr"):
        assert said_in_all(job) == total


def test_what_a_harvest_remarks_is_in_the_language_of_the_page() -> None:
    why = "the repository did not say how many records there are"
    note = f"oai_dc: the number of records was checked with a list of all identifiers ({why})"
    job = Job("1", "harvest", "", {}, "ada", "2026-01-02T03:04:05Z", state=State.DONE,
              report={"notes": [note]})  # fmt: skip
    assert receipt_of(job).notes == [note]
    with spoken("de"):
        (said,) = receipt_of(job).notes
    assert said.startswith("oai_dc: Die Zahl der Datensätze wurde")
    assert "wie viele Datensätze" in said


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Update all formats and sets", "Alle Formate und Sets aktualisieren"),
        ("Harvest oai_dc, set a", "Ernten: oai_dc, set a"),
        ("Import access logs", "Zugriffsprotokolle importieren"),
        ("Import table.csv", "Importieren: table.csv"),
        ('Preview: Export "x": Files', "Vorschau: Export „x“: Dateien"),
        ("Audit: 5% of the records byte for byte", "Prüfung: 5 % der Datensätze Byte für Byte"),
    ],
)
def test_titles_of_jobs_are_in_the_language_of_the_page(title: str, expected: str) -> None:
    job = Job("1", "audit", title, {}, "ada", "2026-01-02T03:04:05Z", state=State.DONE)
    assert title_of(job) == title
    with spoken("de"):
        assert title_of(job).replace("\N{NO-BREAK SPACE}", " ") == expected
