"""The pages of jobs: begun by a form, followed as events, and never well where something failed."""

import http.client
import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recordsilo import Silo
from silocuration.activity import Wanted, activity
from silocuration.batch.job import create_job
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Add
from silowork.embedded import EmbeddedWorker
from silowork.ledger import JobLedger
from silowork.queue import Broker
from silowork.values import Advance, Ending, Problem
from webui.app import create_app
from webui.job_events import MOST_STREAMS
from webui.server import PageServer
from webui.site import Settings

Until = Callable[..., None]
HTML = {"Accept": "text/html"}


@pytest.fixture
def page(silo: Silo) -> Iterator[Any]:
    """Asks a server whose jobs workers do; without a worker so far."""
    with PageServer(create_app(silo, Settings(agent="ada", by_worker=True))) as server:
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
    assert 'id="job-state">Waiting<' in text
    assert "Audit: 50 % of the records byte for byte" in text
    _, _, listed = page("GET", "/jobs")
    assert "Jobs wait: no worker is running." in listed


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


def test_an_export_is_a_job_whose_files_are_beside_the_silo(
    silo: Silo, page: Any, until: Until
) -> None:
    with EmbeddedWorker(Broker(silo.path)):
        fields = {"kind": "export", "name": "handover", "form": "files"}
        url = page("POST", "/jobs", fields)[1]["Location"]
        until(lambda: json.loads(page("GET", url + ".json")[2])["state"] not in ACTIVE)
    job = json.loads(page("GET", url + ".json")[2])
    assert job["state"] == "done", job
    assert job["counts"]["records"] == len(silo)
    assert len(os.listdir(silo.path + ".exports/handover")) >= len(silo) - 1


ACTIVE = ("queued", "running")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"kind": "change"}, "is not begun here"),
        ({"kind": "harvest", "prefixes": " "}, "needs a metadata format"),
        ({"kind": "harvest", "prefixes": "oai_dc", "url": "file:///etc/passwd"}, "begins with"),
        ({"kind": "harvest", "prefixes": "oai_dc", "url": "http://[bad/"}, "is not an http"),
        ({"kind": "harvest", "prefixes": "oai_dc", "url": "http://"}, "is not an http"),
        ({"kind": "export", "name": "../elsewhere"}, "the name of an export"),
        ({"kind": "export", "name": "a", "form": "tape"}, "an export is one of"),
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


def test_an_action_that_the_state_does_not_allow_is_a_conflict(silo: Silo, page: Any) -> None:
    job = JobLedger(silo.path).add("audit", "Audit", {}, "ada")
    url = f"/jobs/{job.job_id}"
    accept = "application/json"
    assert page("POST", url + "/resume", {}, accept)[0] == 409
    assert json.loads(page("POST", url + "/pause", {}, accept)[2])["state"] == "paused"
    assert page("POST", url + "/pause", {}, accept)[0] == 409
    assert json.loads(page("POST", url + "/resume", {}, accept)[2])["state"] == "queued"
    assert json.loads(page("POST", url + "/stop", {}, accept)[2])["state"] == "stopped"
    done = [(one.agent, one.action, one.job) for _, one in activity(silo.path, Wanted())]
    assert done == [("ada", action, job.job_id) for action in ("stop", "resume", "pause")]
    assert page("POST", url + "/explode", {}, accept)[0] == 404
    assert page("GET", "/jobs/20000101T000000Z-000000", None, accept)[0] == 404


def test_a_running_job_is_followed_as_events_until_it_is_over(silo: Silo) -> None:
    ledger = JobLedger(silo.path)
    job = ledger.add("audit", "Audit", {}, "ada")
    ledger.claim(job.job_id, 3)
    with PageServer(create_app(silo, Settings(agent="ada", by_worker=True))) as server:
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
    with PageServer(create_app(silo, Settings(by_worker=True))) as server:
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


def test_the_page_looks_again_without_javascript_only_where_that_is_asked_for(
    silo: Silo, page: Any
) -> None:
    job = JobLedger(silo.path).add("audit", "Audit", {}, "ada")
    refresh = '<noscript><meta http-equiv="refresh" content="5"></noscript>'
    assert refresh not in page("GET", f"/jobs/{job.job_id}")[2]
    assert refresh in page("GET", f"/jobs/{job.job_id}?every=5")[2]


def test_an_application_without_workers_does_its_jobs_itself(silo: Silo, until: Until) -> None:
    spec = rules_job(RuleSet("Reports", rules=(Add("type", "report"),)))
    change = create_job(silo, spec, agent="ada")
    with PageServer(create_app(silo, Settings(agent="ada"))) as server:
        path = f"/bulk/jobs/{change}"
        assert ask(server.port, "POST", path + "/resume", {}, "application/json")[0] == 202
        ledger = JobLedger(silo.path)
        until(lambda: ledger.job(change).is_over)
        assert ask(server.port, "POST", path + "/undo", {}, "application/json")[0] == 202
        until(lambda: [job.is_over for job in ledger.jobs()] == [True, True])
        again = ask(server.port, "POST", path + "/undo", {}, "application/json")
        assert (again[0], len(ledger.jobs())) == (409, 2)
        titles = {job.title for job in ledger.jobs()}
    assert titles == {"Reports", "Undo: Reports"}
    assert {job.agent for job in ledger.jobs()} == {"ada"}
