"""The list of batch edits and their pages: what was changed, and undo."""

from pathlib import Path
from typing import Any

import pytest

from recordsilo import Silo
from recordsilo.selection import Selection
from silocuration.batch import job
from silocuration.batch.job import create_job, run_job
from silocuration.batch.journal import Doing, JobJournal
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Add
from webui.job_view import JobOutcome, undone_outcome
from webui.pages import bulk_report

from .conftest import HTML, RULE, content, finished, previewed_url


def test_applying_changes_what_was_previewed_and_undoing_restores_it(
    client: Any, silo: Silo
) -> None:
    before = content(silo, "oai:example.org:100")
    answer = client.post("/bulk", RULE | {"do": "apply", "message": "Items they are"})
    assert answer.status == 202
    report = finished(silo, answer.json["job"])
    assert report.counts == {"done": 55}
    assert "Item 100" in content(silo, "oai:example.org:100")
    assert content(silo, "oai:example.org:100", "1") == before
    assert silo["oai:example.org:100"].origin("workingcopy").agent == report.about["agent"]
    page = client.get(answer.json["url"])
    assert "Items they are" in page.text
    assert "Title: /^Record/ → " in page.text
    assert "pattern = &#34;^Record&#34;" in page.text
    assert "Undo" in page.text
    assert answer.json["job"] in client.get("/bulk/jobs").text
    silo["oai:example.org:101"].put_stream("note.txt", b"x", "workingcopy")
    assert client.post(answer.json["url"] + "/undo", {}).status == 202
    report = finished(silo, answer.json["job"], undone=True)
    assert report.counts == {"undone": 54, "kept": 1}
    assert "oai:example.org:101" in client.get(answer.json["url"]).text
    assert silo["oai:example.org:100"].versions == ["1"]


def test_the_list_of_changes_is_walked_page_by_page(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = rules_job(RuleSet("", Selection("nothing at all"), (Add("title", "More"),)))
    made = sorted((create_job(silo, spec, agent="ada") for _ in range(5)), reverse=True)
    monkeypatch.setattr(bulk_report, "PAGE", 2)
    found, url = [], "/bulk/jobs"
    while url:
        answer = client.json(url)
        found += [one["job"] for one in answer["jobs"]]
        url = answer["next"]
    assert found == made
    page = client.get("/bulk/jobs?before=" + made[1]).text
    assert '<a class="step" href="/bulk/jobs">First page</a>' in page
    assert f'rel="next" href="/bulk/jobs?before={made[3]}"' in page
    assert "The list has no more entries." in client.get("/bulk/jobs?before=0").text


def test_previews_that_were_not_applied_are_listed_apart(client: Any) -> None:
    url = previewed_url(client, RULE)
    page = client.get("/bulk/jobs").text
    assert "No batch edit was applied." in page
    _edits, previewed = page.split("Previewed, not applied")
    assert url in previewed
    assert client.post(f"{url}/discard", {}, accept=HTML).status == 303
    assert "No batch edits yet" in client.get("/bulk/jobs").text
    jobs = client.post("/bulk", RULE | {"do": "apply"}).json["job"]
    previewed_url(client, RULE)
    edits, previewed = client.get("/bulk/jobs").text.split("Previewed, not applied")
    assert jobs in edits
    assert jobs not in previewed


def test_changes_are_named_by_the_labels_of_the_page(client: Any) -> None:
    url = previewed_url(client, RULE | {"identifiers": "oai:example.org:100"})
    assert '<th scope="row">Title</th>' in client.get(url).text
    changes = client.get(f"{url}/changes?number=0").text
    assert "<h1>Title: " in changes
    assert "<title>Title: " in changes


def test_a_damaged_journal_hides_no_other_batch_edit(client: Any, silo: Silo) -> None:
    first, second = (client.post("/bulk", RULE | {"do": "look"}).json["job"] for _ in range(2))
    Path(silo.path, "curation", "jobs", f"{first}.sqlite").write_bytes(b"damaged")
    listed = client.json("/bulk/jobs.json")
    assert [one["job"] for one in listed["jobs"]] == [second]
    assert f"{first}.sqlite cannot be used" in listed["problems"][0]
    page = client.get("/bulk/jobs").text
    assert f"{first}.sqlite cannot be used" in page
    assert f'href="/bulk/jobs/{second}"' in page


def test_a_damaged_ledger_of_jobs_hides_no_batch_edit(client: Any, silo: Silo) -> None:
    edit = previewed_url(client, RULE)
    Path(silo.path, "curation", "jobs", "ledger.sqlite").write_bytes(b"damaged")
    for page in ("/bulk/jobs", edit, "/"):
        assert client.get(page).status == 200


def test_an_undo_that_was_cancelled_has_undone_a_part() -> None:
    told = undone_outcome({Doing.DONE: 19_840, Doing.UNDONE: 39_400})
    assert told == JobOutcome("partial", "Partly undone: 39,400 of 59,240")
    assert undone_outcome({Doing.UNDONE: 3}) == JobOutcome("undone", "Undone")
    assert undone_outcome({Doing.DONE: 3}) is None


def test_what_is_left_of_an_undo_is_undone_by_a_button(client: Any, silo: Silo) -> None:
    job_id = client.post("/bulk", RULE | {"do": "apply"}).json["job"]
    finished(silo, job_id)
    with JobJournal.open(silo.path, job_id) as journal:
        journal.move(["oai:example.org:100"], Doing.UNDONE)
    page = client.get(f"/bulk/jobs/{job_id}").text
    assert "Partly undone: 1 of " in page
    assert ">Continue undoing</button>" in page


def test_a_batch_edit_that_was_cancelled_is_undone_by_a_button(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = previewed_url(client, RULE)
    job_id = url.rsplit("/", 1)[1]
    assert client.post(url + "/undo", {}).status == 409
    asked = iter([False, True])
    with monkeypatch.context() as patch:
        patch.setattr(job, "PAGE", 20)
        run_job(silo, job_id, stop=lambda: next(asked))
    page = client.get(url).text
    assert "<dt>changed</dt><dd>20</dd>" in page
    assert ">Resume</button>" in page
    assert ">Undo</button>" in page
    assert client.post(url + "/undo", {}).status == 202
    finished(silo, job_id, undone=True)
    page = client.get(url).text
    assert "Undone</span>" in page
    assert "<dt>left out</dt><dd>35</dd>" in page
    assert ">Resume</button>" not in page
    assert ">Undo</button>" not in page
    assert "already undone" in client.post(url + "/undo", {}).text


def test_the_list_of_jobs_says_how_much_of_a_batch_edit_is_undone(client: Any, silo: Silo) -> None:
    job_id = client.post("/bulk", RULE | {"do": "apply"}).json["job"]
    finished(silo, job_id)
    with JobJournal.open(silo.path, job_id) as journal:
        journal.move(["oai:example.org:100"], Doing.UNDONE)
    for page in ("/jobs", "/bulk/jobs"):
        assert "Partly undone: 1 of 55" in client.get(page).text
