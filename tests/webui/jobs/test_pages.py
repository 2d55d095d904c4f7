"""The pages of jobs: started by a form, followed by events, never successful after a failure."""

import http.client
import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recordsilo import Silo
from silocuration.activity import ActivityFilter, activity
from silocuration.batch.job import create_job, job_report, undo_job
from silocuration.batch.job import run_job as change_records
from silocuration.batch.planned import preview_planned
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Add
from silocuration.jobs import begin_change
from silowork.broker import Broker
from silowork.embedded import EmbeddedWorker
from silowork.ledger import JobLedger
from silowork.running import run_job
from silowork.service import Jobs
from silowork.values import Advance, Ending, Problem, Wish
from webui.app import create_app
from webui.job_events import MOST_STREAMS
from webui.server import PageServer
from webui.site import SiteSettings

Until = Callable[..., None]
HTML = {"Accept": "text/html"}


@pytest.fixture
def page(silo: Silo) -> Iterator[Any]:
    """Asks a server whose jobs workers do; without a worker so far."""
    with PageServer(create_app(silo, SiteSettings(agent="ada", by_worker=True))) as server:
        yield lambda method, path, fields=None, accept="text/html": ask(
            server.port, method, path, fields, accept
        )


def ask(
    port: int, method: str, path: str, fields: Any = None, accept: str = "text/html"
) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Accept": accept, "Content-Type": "application/json"}
    try:
        body = None if fields is None else json.dumps(fields)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


def test_without_a_worker_a_job_waits_and_the_page_says_so(silo: Silo, page: Any) -> None:
    status, headers, _ = page("POST", "/jobs", {"kind": "audit", "share": "50"})
    assert status == 303
    _, _, text = page("GET", headers["Location"])
    assert "Jobs wait: no worker is running." in text
    assert (
        '<span class="outcome is-waiting"><span aria-hidden="true">…</span> Waiting</span>' in text
    )
    assert "Audit: 50% of the records byte for byte" in text
    _, _, listed = page("GET", "/jobs")
    assert "Jobs wait: no worker is running." in listed


@pytest.mark.long
def test_a_job_begun_from_the_page_is_done_and_its_receipt_shown(
    silo: Silo, page: Any, until: Until
) -> None:
    with EmbeddedWorker(Broker(silo.path)):
        fields = {"kind": "reindex"}
        status, headers, text = page("POST", "/jobs", fields, "application/json")
        assert status == 201
        url = headers["Location"]
        assert json.loads(text)["agent"] == "ada"
        until(lambda: json.loads(page("GET", url + ".json")[2])["state"] == "done")
    _, _, text = page("GET", url)
    assert "records indexed" in text
    assert "jobs.js" not in text
    assert "Refresh" not in text


@pytest.mark.long
def test_an_export_is_a_job_whose_files_are_beside_the_silo(
    silo: Silo, page: Any, until: Until
) -> None:
    with EmbeddedWorker(Broker(silo.path)):
        fields = {"kind": "export", "name": "handover", "form": "files"}
        url = page("POST", "/jobs", fields)[1]["Location"]
        until(lambda: json.loads(page("GET", url + ".json")[2])["state"] not in ACTIVE)
    job = json.loads(page("GET", url + ".json")[2])
    assert job["state"] == "done", job
    assert job["counts"]["records"] == len(silo) - 1
    assert job["counts"]["leave"] == 1
    assert len(os.listdir(silo.path + ".exports/handover")) >= len(silo) - 1


ACTIVE = ("queued", "running")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"kind": "change"}, "cannot be started here"),
        ({"kind": "harvest", "prefixes": " "}, "needs a metadata format"),
        ({"kind": "harvest", "prefixes": "oai_dc", "url": "file:///etc/passwd"}, "must begin with"),
        ({"kind": "harvest", "prefixes": "oai_dc", "url": "http://[bad/"}, "is not an http"),
        ({"kind": "harvest", "prefixes": "oai_dc", "url": "http://"}, "is not an http"),
        ({"kind": "harvest", "prefixes": "oai_dc", "from": "2026-13-45"}, "write YYYY-MM-DD"),
        ({"kind": "harvest", "prefixes": "oai_dc", "until": "yesterday"}, "write YYYY-MM-DD"),
        ({"kind": "export", "name": "../elsewhere"}, "the name of an export"),
        ({"kind": "export", "name": "a", "form": "tape"}, "the kind of an export must be one of"),
        ({"kind": "export", "name": "a", "versions": "none"}, "versions of an export"),
        ({"kind": "audit", "share": "-1"}, "share of an audit"),
        ({"kind": "audit", "share": "most"}, "share of an audit"),
        ({"kind": "audit", "shares": "5"}, "has no field 'shares' here; it has share"),
        ({"kind": "reindex", "share": "5"}, "has no field 'share' here; it has none"),
        ({"kind": "export", "name": "a", "filter": "x"}, "has no field 'filter'"),
        ({"kind": "export", "name": "a", "columns": "record"}, "has no field 'columns'"),
        (
            {"kind": "harvest", "prefixes": "oai_dc", "url": "http://a.example/", "sets": "1"},
            "has no field 'sets'",
        ),
    ],
)
def test_what_means_no_job_is_refused_in_a_sentence(
    page: Any, silo: Silo, fields: dict[str, str], sentence: str
) -> None:
    status, _, text = page("POST", "/jobs", fields, "application/json")
    assert status == 400
    assert sentence.lower() in json.loads(text)["error"]["message"].lower()
    assert JobLedger(silo.path).jobs() == []


def test_a_job_with_failures_is_not_shown_as_done(silo: Silo, page: Any) -> None:
    ledger = JobLedger(silo.path)
    job = ledger.add("change", "Types <in> one spelling", {"job": "x"}, "ada")
    ledger.claim(job.job_id, 3)
    ledger.end(job.job_id, Ending(False, problems=[Problem("oai:example.org:1", "<b>is gone</b>")]))
    _, _, text = page("GET", f"/jobs/{job.job_id}")
    assert "Finished, 1 failed" in text
    assert "&lt;b&gt;is gone&lt;/b&gt;" in text
    assert 'href="/records/oai+example,org+1"' in text
    assert "Retry failed records" in text
    assert "Finished, 1 failed" in page("GET", "/jobs")[2]


def test_an_export_that_names_only_the_first_failures_says_how_many_there_are(
    silo: Silo, page: Any
) -> None:
    ledger = JobLedger(silo.path)
    named = [Problem(f"oai:example.org:{number}", "is too long") for number in range(3)]
    counts = {"records": 1200, "failed": 1145}
    for preview in ({}, {"dry_run": True}):
        arguments = {"form": "files", "name": "out"} | preview
        job = ledger.add("export", "Export", arguments, "ada")
        ledger.claim(job.job_id, 3)
        ledger.end(job.job_id, Ending(False, counts=counts, problems=named))
        _, _, text = page("GET", f"/jobs/{job.job_id}")
        assert "Finished, 1,145 failed" in text
        assert 'Failed <span class="badge">1,145</span>' in text
        assert "<p>3 of 1,145 shown</p>" in text
        assert ("Retry failed records" in text) == (not preview)  # it wrote nothing
        assert "Dismiss" in text
        said = json.loads(page("GET", f"/jobs/{job.job_id}.json")[2])["actions"]
        assert said == (["dismiss"] if preview else ["retry", "dismiss"])
    led = page("POST", f"/jobs/{job.job_id}/dismiss", {}, "application/json")[2]
    assert json.loads(led)["actions"] == []


def test_a_job_that_fails_says_why_once_and_not_where_the_silo_is(silo: Silo, page: Any) -> None:
    silo.state["base_oai_url"] = "http://127.0.0.1:9/oai"
    silo.state.sync()
    told = {"prefixes": ["oai_dc"], "url": "http://127.0.0.1:8/oai"}
    job = JobLedger(silo.path).add("harvest", "Harvest", told, "ada")
    run_job(silo.path, job.job_id)
    text = page("GET", f"/jobs/{job.job_id}")[2]
    assert text.count("was harvested from http://127.0.0.1:9/oai") == 1
    assert os.path.dirname(silo.path) not in text


def test_an_action_that_the_state_does_not_allow_is_a_conflict(silo: Silo, page: Any) -> None:
    job = JobLedger(silo.path).add("audit", "Audit", {}, "ada")
    url = f"/jobs/{job.job_id}"
    accept = "application/json"
    assert page("POST", url + "/resume", {}, accept)[0] == 409
    assert json.loads(page("POST", url + "/pause", {}, accept)[2])["state"] == "paused"
    assert page("POST", url + "/pause", {}, accept)[0] == 409
    assert json.loads(page("POST", url + "/resume", {}, accept)[2])["state"] == "queued"
    assert json.loads(page("POST", url + "/stop", {}, accept)[2])["state"] == "stopped"
    done = [(one.agent, one.action, one.job) for _, one in activity(silo.path, ActivityFilter())]
    assert done == [("ada", action, job.job_id) for action in ("stop", "resume", "pause")]
    assert page("POST", url + "/explode", {}, accept)[0] == 404
    assert page("GET", "/jobs/20000101T000000Z-000000", None, accept)[0] == 404


def test_a_running_job_is_followed_as_events_until_it_is_over(silo: Silo) -> None:
    ledger = JobLedger(silo.path)
    job = ledger.add("audit", "Audit", {}, "ada")
    ledger.claim(job.job_id, 3)
    with PageServer(create_app(silo, SiteSettings(agent="ada", by_worker=True))) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request("GET", f"/jobs/{job.job_id}/events")
        answer = connection.getresponse()
        assert answer.getheader("Content-Type") == "text/event-stream; charset=utf-8"
        first = event_of(answer)
        ledger.advance(job.job_id, Advance(7, 60))
        second = event_of(answer)
        ledger.end(job.job_id, Ending(True))
        last = event_of(answer)
        assert answer.read().strip(b":\n") == b""
        connection.close()
    assert (first["progress"]["done"], second["progress"]["done"]) == (0, 7)
    assert last["state"] == "done"


def event_of(answer: Any) -> Any:
    """The next event of a stream."""
    while line := answer.readline():
        if line.startswith(b"data: "):
            return json.loads(line[6:])
    raise AssertionError("the stream ended")


def test_more_onlookers_than_streams_are_told_to_ask_for_json(silo: Silo) -> None:
    job = JobLedger(silo.path).add("audit", "Audit", {}, "ada")
    with PageServer(create_app(silo, SiteSettings(by_worker=True))) as server:
        open_ones = [http.client.HTTPConnection("127.0.0.1", server.port) for _ in range(3)]
        assert len(open_ones) == MOST_STREAMS
        answers = []
        for connection in open_ones:
            connection.request("GET", f"/jobs/{job.job_id}/events")
            answers.append(connection.getresponse())
            event_of(answers[-1])
        assert ask(server.port, "GET", f"/jobs/{job.job_id}/events")[0] == 503
        JobLedger(silo.path).end(job.job_id, Ending(True))
        for one in (*answers, *open_ones):
            one.close()


def test_without_javascript_a_link_refreshes_the_page(silo: Silo, page: Any) -> None:
    job = JobLedger(silo.path).add("audit", "Audit", {}, "ada")
    for path in (f"/jobs/{job.job_id}", "/jobs"):
        text = page("GET", path)[2]
        assert f'<p class="unscripted"><a href="{path}">Refresh</a></p>' in text
        assert "http-equiv" not in text


def test_the_list_says_what_each_job_did_in_all(silo: Silo, page: Any) -> None:
    ledger = JobLedger(silo.path)
    ends = {
        "harvest": ({"listed": 3666, "new": 3666}, "3,666 harvested"),
        "export": ({"records": 28, "create": 28}, "28 exported"),
        "change": ({"done": 152, "unchanged": 2957, "deleted": 91}, "152 changed"),
        "audit": ({"records": 0}, "0 checked"),
    }
    for kind, (counts, _said) in ends.items():
        job = ledger.add(kind, kind, {}, "ada")
        ledger.claim(job.job_id, 3)
        ledger.advance(job.job_id, Advance(100, 100, "the last step"))
        ledger.end(job.job_id, Ending(True, counts=counts))
    text = page("GET", "/jobs")[2]
    for _counts, said in ends.values():
        assert f">{said}" in text
    assert "91 deleted records left out" in text
    assert text.count('class="outcome is-done"') == 4
    listed = json.loads(page("GET", "/jobs.json")[2])["jobs"]
    assert {one["kind"]: one["done_in_all"] for one in listed} == {
        "harvest": 3666, "export": 28, "change": 152, "audit": 0
    }  # fmt: skip


def test_each_outcome_has_its_colour_and_icon_and_word(silo: Silo, page: Any) -> None:
    ledger = JobLedger(silo.path)

    def job(*endings: Ending, claim: bool = True, **ask: Any) -> str:
        found = ledger.add("export", "Export", {}, "ada").job_id
        if claim:
            ledger.claim(found, 3)
        for one in endings:
            ledger.end(found, one)
        return found

    skipped = [Problem("oai:example.org:1", "has no version")]
    cases = {
        job(claim=False): ("waiting", "…", "Waiting"),
        job(): ("running", "▸", "Running"),
        job(Ending(True)): ("done", "✓", "Finished"),
        job(Ending(False, sentence="the disk is full")): ("failed", "✕", "Failed"),
        job(Ending(False, counts={"skipped": 1}, problems=skipped)): (
            "partial", "!", "Finished, 1 skipped",
        ),
        job(Ending(False, problems=skipped)): ("partial", "!", "Finished, 1 failed"),
    }  # fmt: skip
    stopped = job(claim=False)
    ledger.ask(stopped, Wish.STOP)
    cases[stopped] = ("cancelled", "■", "Cancelled")
    listed = page("GET", "/jobs")[2]
    for job_id, (name, icon, word) in cases.items():
        badge = f'class="outcome is-{name}"><span aria-hidden="true">{icon}</span> {word}</span>'
        assert badge in page("GET", f"/jobs/{job_id}")[2]
        assert badge in listed


def test_an_undo_that_undid_nothing_says_so_and_what_to_undo_first(silo: Silo, page: Any) -> None:
    rules = [RuleSet("", rules=(Add("type", kind),)) for kind in ("report", "book")]
    first, second = (create_job(silo, rules_job(one), agent="ada") for one in rules)
    for change in (first, second):
        change_records(silo, change)
    undo_job(silo, first, agent="ada")
    text = page("GET", f"/bulk/jobs/{first}")[2]
    assert re.search(r"Not undone, \d+ skipped</span>", text)
    assert "first undo what changed them later" in text
    undo_job(silo, second, agent="ada")
    undo_job(silo, first, agent="ada")
    assert "Undone</span>" in page("GET", f"/bulk/jobs/{first}")[2]


def test_a_receipt_is_made_of_tables(silo: Silo, page: Any) -> None:
    ledger = JobLedger(silo.path)
    job = ledger.add("harvest", "Harvest http://example.org/oai oai_dc", {}, "ada").job_id
    ledger.claim(job, 3)
    counts = {"listed": 3666, "new": 3200, "deleted": 91, "stored": 3575}
    one = {"metadata_prefix": "oai_dc", "set": "a<b", "counts": counts}
    report = {"base_url": "http://example.org/oai", "lists": [one], "notes": ["It was <slow>."]}
    ledger.end(job, Ending(True, "terminal text", report, counts))
    text = page("GET", f"/jobs/{job}")[2]
    assert "<dt>deleted at the source</dt><dd>91</dd>" in text
    assert '<th scope="row">oai_dc, a&lt;b</th>' in text
    assert '<td class="number" data-label="New">3,200</td>' in text
    assert "It was &lt;slow&gt;." in text
    assert "<pre" not in text
    assert "terminal text" not in text


def test_the_list_of_jobs_is_followed_as_events(silo: Silo) -> None:
    ledger = JobLedger(silo.path)
    job = ledger.add("audit", "Audit", {}, "ada")
    ledger.claim(job.job_id, 3)
    with PageServer(create_app(silo, SiteSettings(agent="ada", by_worker=True))) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request("GET", "/jobs/events")
        answer = connection.getresponse()
        assert [one["job"] for one in event_of(answer)["jobs"]] == [job.job_id]
        ledger.advance(job.job_id, Advance(7, 60, "records"))
        assert [one["share"] for one in event_of(answer)["jobs"]] == ["records: 7 of 60"]
        ledger.end(job.job_id, Ending(True))
        assert event_of(answer) == {"jobs": []}
        assert answer.read().strip(b":\n") == b""
        connection.close()


def test_a_previewed_batch_edit_that_was_started_no_longer_says_that_nothing_changed(
    silo: Silo, page: Any
) -> None:
    change = create_job(silo, rules_job(RuleSet("", rules=(Add("type", "report"),))), agent="ada")
    preview_planned(silo, change)
    path = f"/bulk/jobs/{change}"
    assert "Nothing has been changed yet." in page("GET", path)[2]
    assert page("POST", path + "/resume", {})[1]["Location"] == path
    text = page("GET", path)[2]
    assert "data-live" in text
    assert "Nothing has been changed yet." not in text


def test_a_batch_edit_that_ends_while_its_page_is_made_is_followed_still(
    silo: Silo, page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = rules_job(RuleSet("Reports", rules=(Add("type", "report"),)))
    change = create_job(silo, spec, agent="ada")
    begin_change(Jobs.of(silo.path), change, "Reports", "ada")

    def read_before_the_end(*asked: Any) -> Any:
        found = job_report(*asked)
        run_job(silo.path, change)
        return found

    with monkeypatch.context() as patch:
        patch.setattr("webui.pages.bulk_report.job_report", read_before_the_end)
        text = page("GET", f"/bulk/jobs/{change}")[2]
    assert f'data-live="/jobs/{change}/events"' in text
    text = page("GET", f"/bulk/jobs/{change}")[2]
    assert ("data-live" in text, "Finished" in text) == (False, True)


def test_a_batch_edit_is_watched_and_undone_on_one_page(silo: Silo, page: Any) -> None:
    spec = rules_job(RuleSet("Reports", rules=(Add("type", "report"),)))
    change = create_job(silo, spec, agent="ada")
    path = f"/bulk/jobs/{change}"
    assert page("POST", path + "/resume", {})[1]["Location"] == path
    assert page("GET", f"/jobs/{change}")[1]["Location"] == path
    text = page("GET", path)[2]
    assert f'data-live="/jobs/{change}/events"' in text
    listed = page("GET", "/bulk/jobs")[2]
    assert 'data-live="/jobs/events" data-twin="/jobs.json" data-kinds="change undo ' in listed
    assert f'<tr data-job="{change}" data-state="Waiting" data-active>' in listed
    assert 'class="outcome is-waiting"' in text
    assert run_job(silo.path, change) == "done"
    text = page("GET", path)[2]
    assert "data-live" not in text
    listed = page("GET", "/bulk/jobs")[2]
    assert f'<tr data-job="{change}">' in listed
    assert "data-live" not in listed
    assert "<dt>deleted records left out</dt><dd>1</dd>" in text
    assert "Finished</span>" in text
    changed = len(silo) - 1
    assert f'<td class="number" data-label="Values">{changed}</td>' in text
    assert '<a href="/records/oai+example,org+1" dir="auto">On the keeping of records</a>' in text
    assert "<small>Type</small>" in text
    found = json.loads(page("GET", path + ".json")[2])
    (one,) = found["changes"]
    assert one == {
        "what": "type",
        "old": None,
        "new": "report",
        "count": changed,
        "left_out": False,
    }
    names = [one["identifier"] for one in found["records"]]
    while found["next"]:
        found = json.loads(page("GET", found["next"])[2])
        names += [one["identifier"] for one in found["records"]]
    assert len(names) == len(set(names)) == changed

    assert page("POST", path + "/undo", {})[1]["Location"] == path
    again = page("POST", path + "/undo", {})
    assert again[1]["Location"] == path + "?done=undoing"
    assert "This batch edit is already being undone." in page("GET", again[1]["Location"])[2]
    assert page("POST", path + "/undo", {}, "application/json")[0] == 409
    undos = [job for job in JobLedger(silo.path).jobs() if job.kind == "undo"]
    assert len(undos) == 1
    assert f'action="{path}/undo"' not in page("GET", path)[2]
    assert run_job(silo.path, undos[0].job_id) == "done"
    text = page("GET", path)[2]
    assert 'class="outcome is-undone"><span aria-hidden="true">↶</span> Undone</span>' in text
    assert f'action="{path}/undo"' not in text
    listed = page("GET", "/jobs")[2]
    assert 'class="outcome is-undone"' in listed
    assert f'<a href="{path}"' in listed


def test_an_application_without_workers_does_its_jobs_itself(silo: Silo, until: Until) -> None:
    spec = rules_job(RuleSet("Reports", rules=(Add("type", "report"),)))
    change = create_job(silo, spec, agent="ada")
    with PageServer(create_app(silo, SiteSettings(agent="ada"))) as server:
        path = f"/bulk/jobs/{change}"
        assert ask(server.port, "POST", path + "/resume", {}, "application/json")[0] == 202
        ledger = JobLedger(silo.path)
        until(lambda: ledger.job(change).is_over)
        assert ask(server.port, "POST", path + "/undo", {}, "application/json")[0] == 202
        until(lambda: [job.is_over for job in ledger.jobs()] == [True, True])
        again = ask(server.port, "POST", path + "/undo", {}, "application/json")
        assert (again[0], len(ledger.jobs())) == (409, 2)
        titles = {job.title for job in ledger.jobs()}
    what = "Reports (Type: add report)"
    assert titles == {f"Batch edit: {what}", f"Undo: {what}"}
    assert {job.agent for job in ledger.jobs()} == {"ada"}
